//! Executable code: the draft that the assembler makes, and the code in its own memory.

use std::io;

use super::context::Context;
use super::memory::{Executable, Writable};
use super::sites::Site;

/// Code in the making: instructions and tables, not yet executable.
#[derive(Default)]
pub(super) struct Draft {
    /// The instructions, filled up to whole pages; they refer to each other and to the tables right after them by
    /// relative addresses.
    pub instructions: Vec<u8>,
    /// The end of the last instruction.
    pub end: usize,
    /// The functions that C code may call: their places in the instructions.
    pub entries: Entries,
    /// Constant tables.
    pub tables: Vec<u8>,
    /// Places in the tables that hold the distance from the beginning of the tables to an instruction.
    pub jumps: Vec<(usize, usize)>,
    /// Names of places in the instructions.
    pub symbols: Vec<Symbol>,
    pub sites: Vec<Site>,
    pub literals: Vec<Box<[u8]>>,
    /// Bytes of stack that the code uses at most once every site takes option 0.
    pub finishing: usize,
    /// Whether its slow paths need the labelled parts of a text.
    pub keeps_labels: bool,
}

/// The name of a place in the code.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub at: usize,
    pub name: String,
}

/// Executable code with its tables.
pub(super) struct Code {
    memory: Executable,
    /// The addresses of the entries.
    entries: Entries,
    /// The end of the last instruction.
    end: usize,
    /// Bytes of instructions and tables.
    len: usize,
    pub symbols: Vec<Symbol>,
    pub sites: Vec<Site>,
    pub literals: Vec<Box<[u8]>>,
    pub finishing: usize,
    pub keeps_labels: bool,
}

impl Draft {
    /// Copies instructions and tables to memory of their own and makes the instructions executable.
    pub fn finish(mut self) -> io::Result<Code> {
        let tables = self.instructions.len();
        for (place, target) in self.jumps {
            // Code and tables are bounded far below 2^31 bytes.
            let distance = target as i32 - tables as i32;
            self.tables[place..place + 4].copy_from_slice(&distance.to_le_bytes());
        }
        let mut memory = Writable::map(tables + self.tables.len())?;
        memory.bytes()[..tables].copy_from_slice(&self.instructions);
        memory.bytes()[tables..][..self.tables.len()].copy_from_slice(&self.tables);
        let memory = memory.protect(tables)?;
        let base = memory.instructions().as_ptr() as usize;
        Ok(Code {
            entries: Entries { one: base + self.entries.one, batch: base + self.entries.batch },
            end: self.end,
            len: self.end + self.tables.len(),
            memory,
            symbols: self.symbols,
            sites: self.sites,
            literals: self.literals,
            finishing: self.finishing,
            keeps_labels: self.keeps_labels,
        })
    }
}

impl Code {
    /// Returns the instructions.
    pub fn instructions(&self) -> &[u8] {
        &self.memory.instructions()[..self.end]
    }

    /// Returns the size of instructions and tables in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Runs the code from these pointers on, with `depth` levels left; returns where the pointers are then.
    #[inline]
    pub fn run(&self, context: &mut Context<'_, '_>, depth: i64) -> Ends {
        self.enter(self.entries.one, context, depth)
    }

    /// Runs the code for one input after the other, as the context says.
    #[inline]
    pub fn run_batch(&self, context: &mut Context<'_, '_>, depth: i64) -> Ends {
        self.enter(self.entries.batch, context, depth)
    }

    /// Returns the one door from memory to a function, which is at `entry`.
    #[inline]
    fn enter(&self, entry: usize, context: &mut Context<'_, '_>, depth: i64) -> Ends {
        // SAFETY: both entries are functions of this signature that the assembler wrote, in memory that is executable
        // and lives as long as `self`. They and all that they call keep the calling convention, move the pointers over
        // bytes that the context reserved, and leave the stack as it was.
        unsafe {
            let entry: Entry = std::mem::transmute(entry as *const u8);
            entry(context, context.choice, context.output, depth)
        }
    }
}

/// Places of the pointers at the end of a run.
#[repr(C)]
pub(super) struct Ends {
    pub choice: *const u8,
    pub output: *mut u8,
}

/// The places of the functions that machine code offers.
#[derive(Clone, Copy, Default)]
pub(super) struct Entries {
    /// Runs the start rule once.
    pub one: usize,
    /// Runs it for one input after the other.
    pub batch: usize,
}

/// The entry of machine code: runs the start rule for a context, from these pointers on, with a number of levels left.
pub(super) type Entry = unsafe extern "sysv64" fn(*mut Context<'_, '_>, *const u8, *mut u8, i64) -> Ends;
