//! The engines that replay choice bytes, by name: the one list that the command, sessions, the doors to other programs
//! and the tests read. A new engine is a file of its own and its lines here.

use std::str::FromStr;

use gramjet::{Batch, Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::check::closest;

use crate::directives::first_limits;
use crate::jit::{self, Jit, NotCompiled};
use crate::reference::Reference;
use crate::vm::Vm;

/// An engine that replays choice bytes; all kinds give the same output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// The fastest that takes the grammar: machine code, else the table interpreter.
    #[default]
    Auto,
    /// Machine code.
    Jit,
    /// The table interpreter.
    Vm,
    /// The plain interpreter that the others are judged by.
    Reference,
}

impl EngineKind {
    /// All kinds.
    pub const ALL: [EngineKind; 4] = [EngineKind::Auto, EngineKind::Jit, EngineKind::Vm, EngineKind::Reference];

    /// Returns the name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Auto => "auto",
            EngineKind::Jit => "jit",
            EngineKind::Vm => "vm",
            EngineKind::Reference => "reference",
        }
    }

    /// Returns a description, for the help of a command.
    pub const fn about(self) -> &'static str {
        match self {
            EngineKind::Auto => "The fastest engine that can run this grammar",
            EngineKind::Jit => "Compiled to machine code at once; on x86-64 under Unix",
            EngineKind::Vm => "The table interpreter; runs every grammar",
            EngineKind::Reference => "The plain interpreter that the others are judged by",
        }
    }

    /// Returns true if this build has it. A grammar may be too large for one that it has.
    pub const fn is_available(self) -> bool {
        match self {
            EngineKind::Jit => jit::is_available(),
            EngineKind::Auto | EngineKind::Vm | EngineKind::Reference => true,
        }
    }

    /// Returns true if an input ends where it has more bytes than [`Limits::output`].
    pub const fn bounds_output(self) -> bool {
        !matches!(self, EngineKind::Reference)
    }

    /// Returns a producer with the limits that the grammar file asks for, else with the default depth limit.
    ///
    /// # Errors
    ///
    /// If the grammar cannot run on this engine, or if this build does not have it.
    pub fn make(self, compiled: &Compiled) -> Result<Engine, NotCompiled> {
        self.make_with_limits(compiled, first_limits(compiled))
    }

    /// Returns a producer with these limits; if the grammar cannot keep them, with those of [`EngineKind::make`]. Code
    /// for other limits is not made before they are set.
    ///
    /// # Errors
    ///
    /// If the grammar cannot run on this engine, or if this build does not have it.
    pub fn make_with_limits(self, compiled: &Compiled, limits: Limits) -> Result<Engine, NotCompiled> {
        Ok(match self {
            EngineKind::Auto => Engine::fastest(compiled, limits),
            EngineKind::Jit => Engine::Jit(Jit::with_limits(compiled, limits)?),
            EngineKind::Vm => Engine::Vm(Vm::with_limits(compiled, limits), None),
            EngineKind::Reference => Engine::Reference(Reference::with_limits(compiled, limits)),
        })
    }
}

impl FromStr for EngineKind {
    type Err = String;

    fn from_str(name: &str) -> Result<EngineKind, String> {
        let names = EngineKind::ALL.map(EngineKind::name);
        EngineKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let similar =
                closest(name, names).map_or_else(String::new, |similar| format!("; did you mean `{similar}`?"));
            format!("unknown engine `{}`{similar} (known: {})", name.escape_debug(), names.join(", "))
        })
    }
}

/// A grammar on an engine. A clone shares the compiled form.
#[derive(Clone, Debug)]
pub enum Engine {
    /// Machine code.
    Jit(Jit),
    /// The table interpreter, and why it is not machine code where that was tried.
    Vm(Vm, Option<NotCompiled>),
    /// The plain interpreter.
    Reference(Reference),
}

impl Engine {
    /// Returns the fastest engine that takes the grammar, with these limits; if the grammar cannot keep them, with
    /// those of [`EngineKind::make`].
    pub fn fastest(compiled: &Compiled, limits: Limits) -> Engine {
        match Jit::with_limits(compiled, limits) {
            Ok(jit) => Engine::Jit(jit),
            Err(refusal) => Engine::Vm(Vm::with_limits(compiled, limits), Some(refusal)),
        }
    }

    /// Returns the kind, which is never [`EngineKind::Auto`].
    pub fn kind(&self) -> EngineKind {
        match self {
            Engine::Jit(_) => EngineKind::Jit,
            Engine::Vm(..) => EngineKind::Vm,
            Engine::Reference(_) => EngineKind::Reference,
        }
    }

    /// Returns why it is not machine code, where that was tried.
    pub fn refusal(&self) -> Option<&NotCompiled> {
        match self {
            Engine::Vm(_, refusal) => refusal.as_ref(),
            Engine::Jit(_) | Engine::Reference(_) => None,
        }
    }

    /// Returns the machine code, if it is that.
    pub fn as_jit(&self) -> Option<&Jit> {
        match self {
            Engine::Jit(jit) => Some(jit),
            Engine::Vm(..) | Engine::Reference(_) => None,
        }
    }

    fn producer(&self) -> &dyn Producer {
        match self {
            Engine::Jit(jit) => jit,
            Engine::Vm(vm, _) => vm,
            Engine::Reference(reference) => reference,
        }
    }

    fn producer_mut(&mut self) -> &mut dyn Producer {
        match self {
            Engine::Jit(jit) => jit,
            Engine::Vm(vm, _) => vm,
            Engine::Reference(reference) => reference,
        }
    }
}

impl Producer for Engine {
    fn min_len(&self) -> u64 {
        self.producer().min_len()
    }

    fn limits(&self) -> Limits {
        self.producer().limits()
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        self.producer_mut().set_limits(limits)
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        self.producer_mut().produce(choices, output)
    }

    fn produce_batch(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>, batch: &mut Batch<'_>) -> u64 {
        self.producer_mut().produce_batch(choices, output, batch)
    }
}
