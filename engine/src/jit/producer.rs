//! The JIT as a [`Producer`].

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use gramjet::rt::raw::native::Input;
use gramjet::{Batch, Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::ir::Ir;
use gramjet_compiler::labels::Labels;

use super::assemble::{Features, KeptLimits, assemble};
use super::code::{Code, Draft};
use super::context::{Context, Deep, MAX_SEPARATOR};
#[cfg(feature = "listing")]
use super::listing;
use super::stack::{FINISHING_HERE, REGION};
use super::{NotCompiled, perf_map};
use crate::directives::{first_limits, or_first};
use crate::unfolded::Unfolded;
use crate::vm::Vm;

/// Code and tables for the same kept limits have at most this many bytes together.
const MAX_CODE: usize = 256 << 20;

/// An unfolded depth limit is not used if its code and tables have more bytes than this.
const MAX_UNFOLDED_CODE: usize = 384 << 10;

/// Larger residual grammars, written as trees, are not compiled.
const MAX_NODES: u64 = 8 << 20;

/// At most this much stack is kept for finishing.
const MAX_FINISHING: usize = 256 << 20;

/// Runs the residual form of a grammar as machine code. A clone shares the code.
#[derive(Clone)]
pub struct Jit {
    grammar: Arc<Grammar>,
    limits: Limits,
    /// The limits as the code counts them.
    depth: i64,
    slack: u64,
    min_len: u64,
    /// Bytes of stack that a deep recursion may have.
    stack: usize,
    code: Arc<Code>,
    /// Runs in place of the code where there is none for the limits in force.
    other: Option<Vm>,
    /// The labelled parts, kept from input to input.
    labels: Kept,
}

/// The memory of labelled parts between two inputs. A clone has its own.
#[derive(Default)]
struct Kept(Option<Box<Labels>>);

/// The memory for longer texts is not kept, in bytes of output.
const KEPT_OUTPUT: usize = 1 << 22;

impl Kept {
    /// Keeps labelled parts after this number of bytes of output.
    fn keep(&mut self, labels: Option<Box<Labels>>, output: usize) {
        self.0 = labels.filter(|_| output <= KEPT_OUTPUT);
    }
}

impl Clone for Kept {
    fn clone(&self) -> Kept {
        Kept::default()
    }
}

struct Grammar {
    compiled: Compiled,
    features: Features,
    /// Code by the limits that it keeps, compiled when it is first asked for.
    codes: [OnceLock<Result<Arc<Code>, NotCompiled>>; 4],
    unfolded: Unfolded<Code>,
}

impl Grammar {
    fn code(&self, limits: Limits) -> Result<Arc<Code>, NotCompiled> {
        if let Some(code) = self.unfolded(limits) {
            return Ok(code);
        }
        let length = Labels::limit(&self.compiled.residual, limits.length());
        let kept = KeptLimits { depth: limits.depth().is_some(), length: length.is_some() };
        let place = usize::from(kept.depth) + 2 * usize::from(kept.length);
        let made = self.codes[place].get_or_init(|| {
            let draft = self.draft(&self.compiled.residual, &self.compiled.pools, kept, MAX_CODE)?;
            if draft.finishing > MAX_FINISHING {
                return Err(NotCompiled::TooDeep);
            }
            Ok(Arc::new(draft.finish().map_err(|error| NotCompiled::Memory(error.to_string()))?))
        });
        made.clone()
    }
}

impl Grammar {
    /// Returns code for a depth limit that is unfolded.
    fn unfolded(&self, limits: Limits) -> Option<Arc<Code>> {
        self.unfolded.get(limits, |unfolded| {
            let draft = self.draft(unfolded, &Pools::none(), KeptLimits::default(), MAX_UNFOLDED_CODE).ok()?;
            // The code does not check how much stack is left.
            (draft.finishing <= FINISHING_HERE).then(|| draft.finish().ok())?
        })
    }

    fn draft(&self, residual: &Ir, pools: &Pools, kept: KeptLimits, max_code: usize) -> Result<Draft, NotCompiled> {
        let shapes = || residual.bodies().map(|(_, body)| residual.shape(body));
        if shapes().map(|shape| u64::from(shape.size)).sum::<u64>() > MAX_NODES {
            return Err(NotCompiled::TooLarge { bytes: max_code });
        }
        let make = || assemble(residual, pools, kept, self.features, max_code);
        // The assembler recurses over the nodes.
        if shapes().all(|shape| shape.nesting <= NESTING_HERE) {
            return make();
        }
        let on_helper = std::thread::scope(|scope| {
            let helper = std::thread::Builder::new().stack_size(HELPER_STACK);
            helper.spawn_scoped(scope, make).ok()?.join().ok()
        });
        on_helper.unwrap_or(Err(NotCompiled::TooDeep))
    }
}

/// Bodies with more levels of nodes than this are assembled on a thread with a stack of its own.
const NESTING_HERE: u32 = 24;
const HELPER_STACK: usize = 256 << 20;

impl Jit {
    /// Returns a producer with the limits that the grammar file asks for, else with the default depth limit.
    ///
    /// # Errors
    ///
    /// If the code would be too large or the system refuses executable memory; the engine `vm` takes every grammar.
    pub fn new(compiled: &Compiled) -> Result<Jit, NotCompiled> {
        Jit::with_limits(compiled, first_limits(compiled))
    }

    /// Returns a producer with these limits; if the grammar cannot keep them, with those of [`Jit::new`]. Code for
    /// other limits is not made before they are set.
    ///
    /// # Errors
    ///
    /// As for [`Jit::new`].
    pub fn with_limits(compiled: &Compiled, limits: Limits) -> Result<Jit, NotCompiled> {
        Jit::for_processor(compiled, limits, Features::detect(), Unfolded::new(compiled))
    }

    /// Returns the same producer as [`Jit::new`], but code for depth limits counts levels at run time, however few
    /// there are.
    ///
    /// # Errors
    ///
    /// As for [`Jit::new`].
    pub fn without_unfolding(compiled: &Compiled) -> Result<Jit, NotCompiled> {
        Jit::for_processor(compiled, first_limits(compiled), Features::detect(), Unfolded::never())
    }

    fn for_processor(
        compiled: &Compiled,
        limits: Limits,
        features: Features,
        unfolded: Unfolded<Code>,
    ) -> Result<Jit, NotCompiled> {
        let grammar = Grammar { compiled: compiled.clone(), features, codes: Default::default(), unfolded };
        let limits = or_first(limits, compiled);
        let code = grammar.code(limits)?;
        let min_len = compiled.min_len();
        let mut jit = Jit {
            grammar: Arc::new(grammar),
            limits,
            depth: 0,
            slack: 0,
            min_len,
            stack: REGION,
            code,
            other: None,
            labels: Kept::default(),
        };
        jit.count_limits();
        Ok(jit)
    }

    /// Returns the producer with another bound on the memory that the stack of a deep recursion may take. An input uses
    /// 192 KiB of its caller's stack, then `bytes` bytes (1 GiB if this is not called), which the system maps as they
    /// are touched. Where they end, the machine finishes: option 0 at every site.
    #[must_use]
    pub fn with_stack(self, bytes: usize) -> Jit {
        Jit { stack: bytes, ..self }
    }

    /// Returns the table interpreter, from now on in place of the code.
    #[cold]
    fn on_vm(&mut self) -> &mut Vm {
        self.other.insert(Vm::with_limits(&self.grammar.compiled, self.limits))
    }

    /// Takes the labelled parts of a run, if the grammar has some. They are not given back if the run panics.
    #[inline]
    fn labels(&mut self) -> Option<Box<Labels>> {
        let ir = &self.grammar.compiled.residual;
        self.code.keeps_labels.then(|| self.labels.0.take().unwrap_or_else(|| Box::new(Labels::new(ir))))
    }

    fn count_limits(&mut self) {
        self.depth = self.limits.depth().map_or(i64::MAX, i64::from);
        let length = Labels::limit(&self.grammar.compiled.residual, self.limits.length());
        self.slack = length.map_or(u64::MAX, |bound| bound.saturating_sub(self.min_len));
    }

    /// Returns the code in force, disassembled, with the names of rules; with the feature `listing`.
    #[cfg(feature = "listing")]
    pub fn listing(&self) -> String {
        listing::listing(&self.code)
    }

    /// Returns the bytes of instructions and tables of the code in force.
    pub fn code_len(&self) -> usize {
        self.code.len()
    }

    /// Names the functions of the code in force for the profiler `perf`: appends them to `/tmp/perf-PID.map`, where it
    /// looks for them, and returns this path.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or is not a regular file of this user alone: others may write to `/tmp`, too.
    pub fn write_perf_map(&self) -> io::Result<PathBuf> {
        let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
        perf_map::append(&path, &perf_map::lines(&self.code))?;
        Ok(path)
    }
}

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("limits", &self.limits).field("code", &self.code.len()).finish_non_exhaustive()
    }
}

impl Producer for Jit {
    fn min_len(&self) -> u64 {
        self.min_len
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        let compiled = &self.grammar.compiled;
        limits.check(self.min_len, compiled.rule_without_pool())?;
        match self.grammar.code(limits) {
            Ok(code) => (self.code, self.other) = (code, None),
            Err(_) => self.other = Some(Vm::with_limits(compiled, limits)),
        }
        self.limits = limits;
        self.count_limits();
        Ok(())
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        if let Some(other) = &mut self.other {
            return other.produce(choices, output);
        }
        let Ok(deep) = Deep::beforehand(&self.code, self.stack) else {
            return self.on_vm().produce(choices, output);
        };
        let base = output.len();
        let (input, cursor) = Input::new(choices, self.limits, output);
        let mut labels = self.labels();
        let mut context = Context::new(&self.code, input, cursor, self.slack, (self.stack, deep));
        context.set_labels(&self.grammar.compiled.residual, labels.as_deref_mut());
        let ends = self.code.run(&mut context, self.depth);
        // SAFETY: the code has left these pointers.
        let read = unsafe { context.end(ends.choice, ends.output) };
        if let Some(labels) = &mut labels {
            labels.settle(&self.grammar.compiled.residual, output, base);
            labels.restart();
        }
        self.labels.keep(labels, output.len() - base);
        read
    }

    fn produce_batch(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>, batch: &mut Batch<'_>) -> u64 {
        if let Some(other) = &mut self.other {
            return other.produce_batch(choices, output, batch);
        }
        let mut read = 0;
        let separator = batch.between();
        while batch.has_room(output.len()) {
            if separator.len() > MAX_SEPARATOR {
                read += self.produce(choices, output);
                output.extend_from_slice(separator);
                batch.close(output.len());
                continue;
            }
            let Ok(deep) = Deep::beforehand(&self.code, self.stack) else {
                return read + self.on_vm().produce_batch(choices, output, batch);
            };
            let base = output.len();
            let (input, cursor) = Input::new(choices, self.limits, output);
            let mut labels = self.labels();
            let mut context = Context::new(&self.code, input, cursor, self.slack, (self.stack, deep));
            context.set_labels(&self.grammar.compiled.residual, labels.as_deref_mut());
            read += context.run_batch(self.depth, batch);
            self.labels.keep(labels, output.len() - base);
        }
        read
    }
}

#[cfg(test)]
mod tests;
