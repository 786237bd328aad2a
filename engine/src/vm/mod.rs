//! The portable table interpreter: a compiled grammar as a [`Producer`] without generated code.

use std::fmt;
use std::sync::Arc;

use gramjet::{Batch, Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;

use crate::directives::first_limits;
use program::Program;

mod build;
mod draft;
mod interpret;
mod layout;
mod merge;
mod program;
mod tables;
mod text;
mod verify;

/// Runs the residual form of a grammar. A clone shares the program.
pub struct Vm {
    grammar: Arc<Grammar>,
    limits: Limits,
    /// The interpreter's stack, kept from input to input.
    stack: Box<[interpret::Frame]>,
}

struct Grammar {
    min_len: u64,
    rule_without_pool: Option<String>,
    /// For runs without a depth limit.
    unlimited: Program,
    /// For runs with one; missing if none can be kept.
    limited: Option<Program>,
}

impl Vm {
    /// A producer with the limits that the grammar file asks for, else with the default depth limit.
    pub fn new(compiled: &Compiled) -> Vm {
        let rule_without_pool = compiled.rule_without_pool().map(str::to_string);
        let build = |with_depth| build::build(&compiled.residual, &compiled.pools, with_depth);
        let grammar = Grammar {
            min_len: compiled.min_len(),
            unlimited: build(false),
            limited: rule_without_pool.is_none().then(|| build(true)),
            rule_without_pool,
        };
        Vm { grammar: Arc::new(grammar), limits: first_limits(compiled), stack: Box::default() }
    }
}

impl Clone for Vm {
    fn clone(&self) -> Vm {
        Vm { grammar: self.grammar.clone(), limits: self.limits, stack: Box::default() }
    }
}

impl fmt::Debug for Vm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops = self.grammar.unlimited.ops.len();
        f.debug_struct("Vm").field("limits", &self.limits).field("ops", &ops).finish_non_exhaustive()
    }
}

impl Producer for Vm {
    fn min_len(&self) -> u64 {
        self.grammar.min_len
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        limits.check(self.grammar.min_len, self.grammar.rule_without_pool.as_deref())?;
        self.limits = limits;
        Ok(())
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        let (program, min_len) = self.grammar.program(self.limits);
        interpret::produce(program, min_len, self.limits, choices, output, &mut self.stack)
    }

    fn produce_batch(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>, batch: &mut Batch<'_>) -> u64 {
        let (program, min_len) = self.grammar.program(self.limits);
        interpret::produce_batch(program, min_len, self.limits, choices, output, batch, &mut self.stack)
    }
}

impl Grammar {
    /// The program that keeps `limits`, and the length of the shortest output.
    fn program(&self, limits: Limits) -> (&Program, u64) {
        let program = match (&self.limited, limits.depth()) {
            (Some(limited), Some(_)) => limited,
            _ => &self.unlimited,
        };
        (program, self.min_len)
    }
}
