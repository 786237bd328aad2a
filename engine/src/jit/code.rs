//! Executable code: the draft that the assembler makes, and what becomes of it in memory of its own.

use std::io;

use super::context::Context;
use super::memory::{Executable, Writable};
use super::sites::Site;

/// Code in the making: instructions and tables, not yet executable.
#[derive(Default)]
pub(super) struct Draft {
    /// The instructions, filled up to whole pages; they refer to each other and to the tables right behind them by relative
    /// addresses.
    pub instructions: Vec<u8>,
    /// Behind the last instruction.
    pub end: usize,
    /// Where in the instructions the function is that C code may call.
    pub entry: usize,
    /// Constant tables.
    pub tables: Vec<u8>,
    /// Places in the tables that hold the distance from the beginning of the tables to an instruction.
    pub jumps: Vec<(usize, usize)>,
    /// What begins where in the instructions.
    pub symbols: Vec<Symbol>,
    pub sites: Vec<Site>,
    pub literals: Vec<Box<[u8]>>,
    /// Bytes of stack that the code uses at most once every site takes option 0.
    pub finishing: usize,
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
    /// The address of the entry.
    entry: usize,
    /// Behind the last instruction.
    end: usize,
    /// Bytes of instructions and tables.
    len: usize,
    pub symbols: Vec<Symbol>,
    pub sites: Vec<Site>,
    pub literals: Vec<Box<[u8]>>,
    pub finishing: usize,
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
        Ok(Code {
            entry: memory.instructions().as_ptr() as usize + self.entry,
            end: self.end,
            len: self.end + self.tables.len(),
            memory,
            symbols: self.symbols,
            sites: self.sites,
            literals: self.literals,
            finishing: self.finishing,
        })
    }
}

impl Code {
    /// The instructions.
    pub fn instructions(&self) -> &[u8] {
        &self.memory.instructions()[..self.end]
    }

    /// The size of instructions and tables in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Runs the code, from these pointers on, with so many levels left; returns where the pointers are then. This is the one
    /// door from memory to a function.
    #[inline]
    pub fn run(&self, context: &mut Context<'_, '_>, depth: i64) -> Ends {
        // SAFETY: the entry is the function of this signature that the assembler wrote, in memory that is executable and
        // lives as long as `self`. It and all that it calls keep the calling convention, move the pointers over bytes
        // that the context reserved, and leave the stack as it was.
        unsafe {
            let entry: Entry = std::mem::transmute(self.entry as *const u8);
            entry(context, context.choice, context.output, depth)
        }
    }
}

/// Where the pointers are at the end of a run.
#[repr(C)]
pub(super) struct Ends {
    pub choice: *const u8,
    pub output: *mut u8,
}

/// What machine code offers: runs the start rule for a context, from these pointers on, with so many levels left.
pub(super) type Entry = unsafe extern "sysv64" fn(*mut Context<'_, '_>, *const u8, *mut u8, i64) -> Ends;
