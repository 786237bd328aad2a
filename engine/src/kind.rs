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
pub enum Kind {
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

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Auto, Kind::Jit, Kind::Vm, Kind::Reference];

    /// Returns the name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Auto => "auto",
            Kind::Jit => "jit",
            Kind::Vm => "vm",
            Kind::Reference => "reference",
        }
    }

    /// Returns a description, for the help of a command.
    pub const fn about(self) -> &'static str {
        match self {
            Kind::Auto => "The fastest engine that can run this grammar",
            Kind::Jit => "Compiled to machine code at once; on x86-64 under Unix",
            Kind::Vm => "The table interpreter; runs every grammar",
            Kind::Reference => "The plain interpreter that the others are judged by",
        }
    }

    /// Returns true if this build has it. A grammar may be too large for one that it has.
    pub const fn is_available(self) -> bool {
        match self {
            Kind::Jit => jit::is_available(),
            Kind::Auto | Kind::Vm | Kind::Reference => true,
        }
    }

    /// Returns true if an input ends where it has more bytes than [`Limits::output`].
    pub const fn bounds_output(self) -> bool {
        !matches!(self, Kind::Reference)
    }

    /// Returns a producer with the limits that the grammar file asks for, else with the default depth limit.
    ///
    /// # Errors
    ///
    /// If the grammar cannot run on this engine, or if this build does not have it.
    pub fn make(self, compiled: &Compiled) -> Result<Engine, NotCompiled> {
        self.make_with_limits(compiled, first_limits(compiled))
    }

    /// Returns a producer with these limits; if the grammar cannot keep them, with those of [`Kind::make`]. Code for
    /// other limits is not made before they are set.
    ///
    /// # Errors
    ///
    /// If the grammar cannot run on this engine, or if this build does not have it.
    pub fn make_with_limits(self, compiled: &Compiled, limits: Limits) -> Result<Engine, NotCompiled> {
        Ok(match self {
            Kind::Auto => Engine::fastest(compiled, limits),
            Kind::Jit => Engine::Jit(Jit::with_limits(compiled, limits)?),
            Kind::Vm => Engine::Vm(Vm::with_limits(compiled, limits), None),
            Kind::Reference => Engine::Reference(Reference::with_limits(compiled, limits)),
        })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Kind, String> {
        let names = Kind::ALL.map(Kind::name);
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
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
    /// those of [`Kind::make`].
    pub fn fastest(compiled: &Compiled, limits: Limits) -> Engine {
        match Jit::with_limits(compiled, limits) {
            Ok(jit) => Engine::Jit(jit),
            Err(refusal) => Engine::Vm(Vm::with_limits(compiled, limits), Some(refusal)),
        }
    }

    /// Returns the kind, which is never [`Kind::Auto`].
    pub fn kind(&self) -> Kind {
        match self {
            Engine::Jit(_) => Kind::Jit,
            Engine::Vm(..) => Kind::Vm,
            Engine::Reference(_) => Kind::Reference,
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
