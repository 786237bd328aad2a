//! The engines that a language can run on.

use std::str::FromStr;

use gramjet::Producer;
use gramjet_compiler::Compiled;
use gramjet_compiler::check::closest;
use gramjet_engine::{Fastest, Jit, Reference, Vm};

/// What runs a grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineName {
    /// The fastest engine that takes the grammar.
    #[default]
    Auto,
    /// Machine code.
    Jit,
    /// The table interpreter.
    Vm,
    /// The plain interpreter.
    Reference,
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(name: &str) -> Result<EngineName, String> {
        match name {
            "auto" => Ok(EngineName::Auto),
            "jit" => Ok(EngineName::Jit),
            "vm" => Ok(EngineName::Vm),
            "reference" => Ok(EngineName::Reference),
            _ => {
                let similar = closest(name, ["auto", "jit", "vm", "reference"])
                    .map_or_else(String::new, |similar| format!("; did you mean `{similar}`?"));
                Err(format!("unknown engine `{}`{similar} (known: auto, jit, vm, reference)", name.escape_debug()))
            }
        }
    }
}

/// A producer that can be had often.
#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Fastest(Fastest),
    Jit(Jit),
    Vm(Vm),
    Reference(Reference),
}

impl Engine {
    pub fn new(compiled: &Compiled, name: EngineName) -> Result<Engine, String> {
        Ok(match name {
            EngineName::Auto => Engine::Fastest(Fastest::new(compiled)),
            EngineName::Jit => Engine::Jit(Jit::new(compiled).map_err(|refusal| refusal.to_string())?),
            EngineName::Vm => Engine::Vm(Vm::new(compiled)),
            EngineName::Reference => Engine::Reference(Reference::new(compiled)),
        })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Engine::Fastest(fastest) => fastest.name(),
            Engine::Jit(_) => "jit",
            Engine::Vm(_) => "vm",
            Engine::Reference(_) => "reference",
        }
    }

    pub fn producer(&self) -> Box<dyn Producer + Send> {
        match self {
            Engine::Fastest(fastest) => Box::new(fastest.clone()),
            Engine::Jit(jit) => Box::new(jit.clone()),
            Engine::Vm(vm) => Box::new(vm.clone()),
            Engine::Reference(reference) => Box::new(reference.clone()),
        }
    }
}
