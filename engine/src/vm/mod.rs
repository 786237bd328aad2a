//! The portable table interpreter: a compiled grammar as a [`Producer`] without generated code.

use std::fmt;
use std::sync::{Arc, OnceLock};

use gramjet::{Batch, Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::ir::Ir;

use crate::directives::{first_limits, or_first};
use crate::unfolded::Unfolded;
use program::Program;

mod build;
mod draft;
mod interpret;
mod labels;
mod layout;
mod merge;
mod program;
mod tables;
mod text;
mod verify;

/// Runs the residual form of a grammar. A clone shares the programs.
pub struct Vm {
    grammar: Arc<Grammar>,
    limits: Limits,
    /// The program that keeps the limits in force, and those of them that it keeps at run time.
    program: Arc<Program>,
    counted: Limits,
    /// The interpreter's stack, kept from input to input.
    stack: Box<[interpret::Frame]>,
}

struct Grammar {
    compiled: Compiled,
    min_len: u64,
    /// For runs without a depth limit and for runs with one, built when it is first asked for.
    programs: [OnceLock<Arc<Program>>; 2],
    unfolded: Unfolded<Program>,
}

impl Vm {
    /// Returns a producer with the limits that the grammar file asks for, else with the default depth limit.
    pub fn new(compiled: &Compiled) -> Vm {
        Vm::with_limits(compiled, first_limits(compiled))
    }

    /// Returns a producer with these limits; if the grammar cannot keep them, with those of [`Vm::new`]. Programs for
    /// other limits are not built before they are set.
    pub fn with_limits(compiled: &Compiled, limits: Limits) -> Vm {
        Vm::with(compiled, limits, Unfolded::new(compiled))
    }

    /// Returns the same producer as [`Vm::new`], but programs for depth limits count levels at run time, however few
    /// there are.
    pub fn without_unfolding(compiled: &Compiled) -> Vm {
        Vm::with(compiled, first_limits(compiled), Unfolded::never())
    }

    fn with(compiled: &Compiled, limits: Limits, unfolded: Unfolded<Program>) -> Vm {
        let (compiled, min_len) = (compiled.clone(), compiled.min_len());
        let limits = or_first(limits, &compiled);
        let grammar = Grammar { compiled, min_len, programs: Default::default(), unfolded };
        let (program, counted) = grammar.program(limits);
        Vm { grammar: Arc::new(grammar), limits, program, counted, stack: Box::default() }
    }
}

impl Clone for Vm {
    fn clone(&self) -> Vm {
        Vm {
            grammar: self.grammar.clone(),
            limits: self.limits,
            program: self.program.clone(),
            counted: self.counted,
            stack: Box::default(),
        }
    }
}

impl fmt::Debug for Vm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops = self.program.ops.len();
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
        limits.check(self.grammar.min_len, self.grammar.compiled.rule_without_pool())?;
        self.limits = limits;
        (self.program, self.counted) = self.grammar.program(limits);
        Ok(())
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        let Vm { grammar, program, counted, stack, .. } = self;
        let ir = &*grammar.compiled.residual;
        interpret::produce(program, ir, grammar.min_len, *counted, choices, output, stack)
    }

    fn produce_batch(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>, batch: &mut Batch<'_>) -> u64 {
        let Vm { grammar, program, counted, stack, .. } = self;
        if grammar.compiled.residual.has_labels() {
            // What follows from labelled parts is filled in after each input.
            let mut read = 0;
            while batch.has_room(output.len()) {
                read += self.produce(choices, output);
                output.extend_from_slice(batch.between());
                batch.close(output.len());
            }
            return read;
        }
        interpret::produce_batch(program, grammar.min_len, *counted, choices, output, batch, stack)
    }
}

impl Grammar {
    /// Returns the program that keeps `limits`, which must be such that can be kept, and those of them that it keeps at
    /// run time.
    fn program(&self, limits: Limits) -> (Arc<Program>, Limits) {
        let unfolded = |unfolded: &Ir| Some(build::build(unfolded, &Pools::none(), false));
        if let Some(unfolded) = self.unfolded.get(limits, unfolded) {
            return (unfolded, limits.max_depth(None));
        }
        let with_depth = limits.depth().is_some();
        let Compiled { residual, pools, .. } = &self.compiled;
        let build = || Arc::new(build::build(residual, pools, with_depth));
        (self.programs[usize::from(with_depth)].get_or_init(build).clone(), limits)
    }
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::{Options, SourceFile, compile};

    use super::*;

    #[test]
    fn only_programs_that_are_asked_for_are_built() {
        let file = SourceFile::new("g.ebnf", "s ::= [ab] | '(' s s ')'");
        let Ok((compiled, _)) = compile(&file, &Options::default()) else { panic!("the grammar compiles") };
        let built = |limits: Limits| {
            let vm = Vm::with_limits(&compiled, limits);
            vm.grammar.programs.each_ref().map(|program| program.get().is_some())
        };
        assert_eq!(built(Limits::new()), [true, false]);
        assert_eq!(built(Limits::new().max_depth(17u32)), [false, true]);
        // Unfolded.
        assert_eq!(built(Limits::new().max_depth(16u32)), [false, false]);
    }
}
