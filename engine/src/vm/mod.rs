//! The portable table interpreter: a compiled grammar as a [`Producer`] without generated code.

use std::fmt;
use std::sync::Arc;

use gramjet::{Batch, Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::analysis::pools::Pools;

use crate::directives::first_limits;
use crate::unfolded::Unfolded;
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
    /// In place of the grammar's programs, where the depth limit in force is unfolded.
    unfolded: Option<Arc<Program>>,
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
    unfolded: Unfolded<Program>,
}

impl Vm {
    /// A producer with the limits that the grammar file asks for, else with the default depth limit.
    pub fn new(compiled: &Compiled) -> Vm {
        Vm::with(compiled, Unfolded::new(compiled))
    }

    /// The same, but programs for depth limits count levels at run time, however few there are.
    pub fn without_unfolding(compiled: &Compiled) -> Vm {
        Vm::with(compiled, Unfolded::never())
    }

    fn with(compiled: &Compiled, unfolded: Unfolded<Program>) -> Vm {
        let rule_without_pool = compiled.rule_without_pool().map(str::to_string);
        let build = |with_depth| build::build(&compiled.residual, &compiled.pools, with_depth);
        let grammar = Grammar {
            min_len: compiled.min_len(),
            unlimited: build(false),
            limited: rule_without_pool.is_none().then(|| build(true)),
            rule_without_pool,
            unfolded,
        };
        let limits = first_limits(compiled);
        Vm { unfolded: grammar.unfolded(limits), grammar: Arc::new(grammar), limits, stack: Box::default() }
    }
}

impl Clone for Vm {
    fn clone(&self) -> Vm {
        Vm {
            grammar: self.grammar.clone(),
            limits: self.limits,
            unfolded: self.unfolded.clone(),
            stack: Box::default(),
        }
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
        self.unfolded = self.grammar.unfolded(limits);
        Ok(())
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        let Vm { grammar, limits, unfolded, stack } = self;
        let (program, limits) = grammar.program(unfolded.as_deref(), *limits);
        interpret::produce(program, grammar.min_len, limits, choices, output, stack)
    }

    fn produce_batch(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>, batch: &mut Batch<'_>) -> u64 {
        let Vm { grammar, limits, unfolded, stack } = self;
        let (program, limits) = grammar.program(unfolded.as_deref(), *limits);
        interpret::produce_batch(program, grammar.min_len, limits, choices, output, batch, stack)
    }
}

impl Grammar {
    /// The program that keeps `limits`, and the limits that it keeps at run time.
    fn program<'g>(&'g self, unfolded: Option<&'g Program>, limits: Limits) -> (&'g Program, Limits) {
        match (unfolded, &self.limited, limits.depth()) {
            (Some(unfolded), ..) => (unfolded, limits.max_depth(None)),
            (None, Some(limited), Some(_)) => (limited, limits),
            _ => (&self.unlimited, limits),
        }
    }

    /// The program for a depth limit that is unfolded.
    fn unfolded(&self, limits: Limits) -> Option<Arc<Program>> {
        self.unfolded.get(limits, |unfolded| Some(build::build(unfolded, &Pools::none(), false)))
    }
}
