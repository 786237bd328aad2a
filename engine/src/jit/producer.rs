//! The JIT as a [`Producer`].

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use gramjet::rt::raw::native::Input;
use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;

use super::assemble::{Features, Kind, assemble};
use super::code::Code;
use super::context::Context;
use super::{NotCompiled, listing};
use crate::directives::first_limits;
use crate::vm::Vm;

/// Code and tables of one kind of limits have at most this many bytes together.
const MAX_CODE: usize = 256 << 20;

/// Runs the residual form of a grammar as machine code. A clone shares the code.
#[derive(Clone)]
pub struct Jit {
    grammar: Arc<Grammar>,
    limits: Limits,
    /// The limits as the code counts them.
    depth: i64,
    slack: u64,
    min_len: u64,
    code: Arc<Code>,
    /// Runs in place of the code where there is none for the limits in force.
    other: Option<Vm>,
}

struct Grammar {
    compiled: Compiled,
    /// Code by kind of limits, compiled when it is first asked for.
    codes: [OnceLock<Result<Arc<Code>, NotCompiled>>; 4],
}

impl Grammar {
    fn code(&self, limits: Limits) -> Result<Arc<Code>, NotCompiled> {
        let kind = Kind { depth: limits.depth().is_some(), length: limits.length().is_some() };
        let place = usize::from(kind.depth) + 2 * usize::from(kind.length);
        let made = self.codes[place].get_or_init(|| {
            let draft = assemble(&self.compiled.residual, &self.compiled.pools, kind, Features::detect(), MAX_CODE)?;
            Ok(Arc::new(draft.finish().map_err(|error| NotCompiled::Memory(error.to_string()))?))
        });
        made.clone()
    }
}

impl Jit {
    /// A producer with the limits that the grammar file asks for, else with the default depth limit.
    ///
    /// # Errors
    ///
    /// If the code would be too large or the system refuses executable memory; the engine `vm` takes every grammar.
    pub fn new(compiled: &Compiled) -> Result<Jit, NotCompiled> {
        let grammar = Grammar { compiled: compiled.clone(), codes: Default::default() };
        let limits = first_limits(compiled);
        let code = grammar.code(limits)?;
        let min_len = compiled.min_len();
        let mut jit = Jit { grammar: Arc::new(grammar), limits, depth: 0, slack: 0, min_len, code, other: None };
        jit.count_limits();
        Ok(jit)
    }

    fn count_limits(&mut self) {
        self.depth = self.limits.depth().map_or(i64::MAX, i64::from);
        self.slack = self.limits.length().map_or(u64::MAX, |bound| bound - self.min_len);
    }

    /// The code in force, disassembled, with the names of rules.
    pub fn listing(&self) -> String {
        listing::listing(&self.code)
    }

    /// Bytes of instructions and tables of the code in force.
    pub fn code_len(&self) -> usize {
        self.code.len()
    }

    /// Names the functions of the code in force for the profiler `perf`: appends them to `/tmp/perf-PID.map`, where it
    /// looks for them, and returns this path.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_perf_map(&self) -> io::Result<PathBuf> {
        let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
        let mut map = Vec::new();
        listing::write_perf_map(&self.code, &mut map)?;
        OpenOptions::new().create(true).append(true).open(&path)?.write_all(&map)?;
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
            Err(_) => {
                let mut other = Vm::new(compiled);
                other.set_limits(limits)?;
                self.other = Some(other);
            }
        }
        self.limits = limits;
        self.count_limits();
        Ok(())
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        if let Some(other) = &mut self.other {
            return other.produce(choices, output);
        }
        let (input, cursor) = Input::new(choices, self.limits, output);
        let mut context = Context::new(&self.code, input, cursor, self.slack);
        let ends = self.code.run(&mut context, self.depth);
        // SAFETY: the code has left these pointers.
        unsafe { context.end(ends.choice, ends.output) }
    }
}
