//! Counts of what a program asks for in a run: bytes that it allocates, and its stack. A library that is loaded before
//! all others counts, so any program will do whose libraries are loaded when it begins.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::error::Error;
use crate::guard::Parts;
use crate::instrument::demand_library;
use crate::run::Usage;
use crate::shared::Memory;

/// The file descriptor of the memory that the library shares.
const DESCRIPTOR: i32 = 194;
/// First number in it, once the library is loaded.
const GREETING: u32 = 0x474a_4401;
/// First number in it if another allocator stands before the library.
const IS_BEHIND: u32 = 0x474a_4402;
/// Offset of what is wanted: the depth of the stack, and that of each process which a fork server makes.
const WANTED: usize = 4;
const WANTS_STACK: u32 = 1;
const SERVES: u32 = 2;
/// Offset of the first process, which the library writes.
const SERVER: usize = 24;
/// Offsets of the bytes that were allocated, and of the bytes of stack.
const ALLOCATED: usize = 8;
const STACK: usize = 16;
const SIZE: usize = 4096;

/// The variable that names the library.
const VARIABLE: &str = "LD_PRELOAD";
/// The variable that lets the loader look up all functions before a program begins.
const AT_ONCE: &str = "LD_BIND_NOW";

/// Marks of programs whose allocator stands before that of any library.
const SANITIZERS: [&[u8]; 4] = [b"\0__asan_init\0", b"\0__hwasan_init\0", b"\0__msan_init\0", b"\0__tsan_init\0"];

/// Kinds of what a program asks for that are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demanded {
    /// Bytes that are allocated: [`Usage::allocated`].
    pub allocations: bool,
    /// Bytes of the stack at its deepest: [`Usage::stack`].
    pub stack: bool,
}

impl Demanded {
    /// Returns true if anything is counted.
    pub(crate) fn is_any(self) -> bool {
        self.allocations || self.stack
    }
}

/// Counts of what a program asks for, in memory that it shares.
#[derive(Debug)]
pub(crate) struct Demand {
    memory: Memory,
    demanded: Demanded,
    library: PathBuf,
    program: PathBuf,
}

impl Demand {
    /// Returns counts for a program. The library is compiled on first use.
    ///
    /// # Errors
    ///
    /// If the program loads no libraries, or has an allocator of a sanitizer, or if there is no compiler.
    pub(crate) fn new(program: &Path, demanded: Demanded) -> Result<Demand, Error> {
        let refused = |what: &str| Error::Uncounted { program: program.to_path_buf(), what: what.to_string() };
        let bytes = fs::read(program).map_err(|source| Error::Program { program: program.to_path_buf(), source })?;
        if is_static(&bytes) {
            return Err(refused("it is linked statically; build it without `-static`"));
        }
        if SANITIZERS.iter().any(|mark| memchr::memmem::find(&bytes, mark).is_some()) {
            return Err(refused(
                "it seems to be built with a sanitizer, whose allocator stands before others; build it without",
            ));
        }
        let library = demand_library()?;
        if library.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b':' | b'$')) {
            let folder = library.parent().unwrap_or(&library).display();
            return Err(refused(&format!(
                "the loader takes no path with a blank, a colon or a dollar sign, as `{folder}` has; set \
                 XDG_CACHE_HOME to another folder"
            )));
        }
        let memory = Memory::new(SIZE)?;
        memory.number(WANTED).store(if demanded.stack { WANTS_STACK } else { 0 }, Ordering::Relaxed);
        Ok(Demand { memory, demanded, library, program: program.to_path_buf() })
    }

    /// Takes note that the program is started anew.
    pub(crate) fn start(&self) {
        for at in [0, SERVER] {
            self.memory.number(at).store(0, Ordering::Relaxed);
        }
    }

    /// Adds the library to what a program begins with, before those that the user has named.
    pub(crate) fn add_to(&self, parts: &mut Parts) -> Result<(), Error> {
        parts.descriptors.push((self.memory.descriptor()?, DESCRIPTOR));
        let mut all = OsString::from(&self.library);
        if let Some(at) = parts.variables.iter().position(|(name, _)| name == VARIABLE) {
            let (_, known) = parts.variables.remove(at);
            all.push(OsStr::new(":"));
            all.push(known);
        }
        parts.variables.push((VARIABLE.into(), all));
        // A function that is looked up in the middle of a run takes kilobytes of the stack, and not always as many.
        parts.variables.retain(|(name, _)| name != AT_ONCE);
        parts.variables.push((AT_ONCE.into(), "1".into()));
        Ok(())
    }

    /// Begins to count for a run, while the program waits.
    pub(crate) fn begin(&self) {
        for at in [ALLOCATED, STACK] {
            self.memory.large_number(at).store(0, Ordering::Relaxed);
        }
    }

    /// Says that the program is a fork server: the stack of each process that it makes is measured anew.
    pub(crate) fn serves(&self) {
        self.memory.number(WANTED).fetch_or(SERVES, Ordering::Relaxed);
    }

    /// Reports an error if what is wanted was not counted.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let what = match self.memory.number(0).load(Ordering::Relaxed) {
            GREETING => return Ok(()),
            IS_BEHIND if !self.demanded.allocations => return Ok(()),
            IS_BEHIND => "it has an allocator of its own, which stands before the library that counts".to_string(),
            _ => format!(
                "no process of it has loaded `{}`; it may be for another machine or C library, run as another user, be \
                 linked statically, or have closed all descriptors; use another cost, such as `memory`",
                self.library.display()
            ),
        };
        Err(Error::Uncounted { program: self.program.clone(), what })
    }

    /// Adds what was counted in a run.
    pub(crate) fn tell(&self, usage: Usage) -> Usage {
        let number = |at| self.memory.large_number(at).load(Ordering::Relaxed);
        let allocated = self.demanded.allocations.then(|| number(ALLOCATED));
        Usage { allocated, stack: Some(number(STACK)).filter(|&stack| stack > 0), ..usage }
    }
}

/// Returns true for a program in the format ELF that names no loader. A script is loaded by its interpreter.
fn is_static(bytes: &[u8]) -> bool {
    const INTERPRETER: u64 = 3;
    let is_large = bytes.get(4) == Some(&2);
    let number = |at: usize, len: usize| {
        let bytes = bytes.get(at..at.checked_add(len)?)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    };
    let names_none = || {
        let [headers, word, size, count] = if is_large { [32, 8, 54, 56] } else { [28, 4, 42, 44] };
        let (headers, size, count) = (number(headers, word)?, number(size, 2)?, number(count, 2)?);
        let kind = |header: u64| number(usize::try_from(headers.checked_add(header * size)?).ok()?, 4);
        Some((0..count).all(|header| kind(header) != Some(INTERPRETER)))
    };
    bytes.starts_with(b"\x7fELF") && names_none().unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_a_loader_are_known() {
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(!is_static(&own));
        assert!(!is_static(b"#!/bin/sh\n"));
        // Whatever a file holds.
        for len in 0..own.len().min(200) {
            is_static(&own[..len]);
        }
        let mut none = own;
        // It has no headers.
        none[56..58].fill(0);
        assert!(is_static(&none));
    }
}
