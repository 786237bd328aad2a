//! Stands in for the JIT where there is none: on processors other than x86-64, and on systems other than Unix.

use std::io;
use std::path::PathBuf;

use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;

#[path = "refusal.rs"]
mod refusal;

pub use refusal::NotCompiled;

/// Returns true if this build can run machine code.
pub const fn is_available() -> bool {
    false
}

/// Would run machine code. There is none here.
#[derive(Clone, Debug)]
pub struct Jit {
    never: Never,
}

#[derive(Clone, Copy, Debug)]
enum Never {}

impl Jit {
    /// Always refuses.
    ///
    /// # Errors
    ///
    /// [`NotCompiled::NotHere`].
    pub fn new(_: &Compiled) -> Result<Jit, NotCompiled> {
        Err(NotCompiled::NotHere)
    }

    /// Always refuses.
    ///
    /// # Errors
    ///
    /// [`NotCompiled::NotHere`].
    pub fn with_limits(_: &Compiled, _: Limits) -> Result<Jit, NotCompiled> {
        Err(NotCompiled::NotHere)
    }

    /// Always refuses.
    ///
    /// # Errors
    ///
    /// [`NotCompiled::NotHere`].
    pub fn without_unfolding(_: &Compiled) -> Result<Jit, NotCompiled> {
        Err(NotCompiled::NotHere)
    }

    /// Returns the producer with another bound on the memory of a deep recursion.
    #[must_use]
    pub fn with_stack(self, _: usize) -> Jit {
        match self.never {}
    }

    /// Returns the code in force, disassembled; with the feature `listing`.
    #[cfg(feature = "listing")]
    pub fn listing(&self) -> String {
        match self.never {}
    }

    /// Returns the bytes of instructions and tables of the code in force.
    pub fn code_len(&self) -> usize {
        match self.never {}
    }

    /// Names the functions of the code in force for the profiler `perf`.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_perf_map(&self) -> io::Result<PathBuf> {
        match self.never {}
    }
}

impl Producer for Jit {
    fn min_len(&self) -> u64 {
        match self.never {}
    }

    fn limits(&self) -> Limits {
        match self.never {}
    }

    fn set_limits(&mut self, _: Limits) -> Result<(), LimitsError> {
        match self.never {}
    }

    fn produce(&mut self, _: &mut Choices<'_>, _: &mut Vec<u8>) -> u64 {
        match self.never {}
    }
}
