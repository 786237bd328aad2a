//! Executable code. Memory is writable first and executable then, never both: each stage is a type of its own.

use std::io;

use dynasmrt::mmap::{ExecutableBuffer, MutableBuffer};

use super::context::Context;
use super::sites::{Members, Site};

/// Code in the making: instructions and tables, not yet executable.
#[derive(Default)]
pub(super) struct Draft {
    /// The instructions; they refer to each other and to the tables by relative addresses.
    pub instructions: Vec<u8>,
    /// Where in the instructions the function is that C code may call.
    pub entry: usize,
    /// Constant tables.
    pub tables: Vec<u8>,
    /// Places in the tables that hold the distance from the beginning of the tables to an instruction.
    pub jumps: Vec<(usize, usize)>,
    /// What begins where in the instructions.
    pub symbols: Vec<Symbol>,
    pub sites: Vec<Site>,
    pub classes: Vec<Members>,
    pub literals: Vec<Box<[u8]>>,
}

/// The name of a place in the code.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub at: usize,
    pub name: String,
}

/// Executable code with its tables.
pub(super) struct Code {
    buffer: ExecutableBuffer,
    entry: usize,
    tables: usize,
    pub symbols: Vec<Symbol>,
    pub sites: Vec<Site>,
    pub classes: Vec<Members>,
    pub literals: Vec<Box<[u8]>>,
}

/// Tables begin at multiples of this, at least a line of the cache away from instructions.
const TABLE_ALIGNMENT: usize = 128;

impl Draft {
    /// Copies the code to memory of its own and makes that executable.
    pub fn finish(mut self) -> io::Result<Code> {
        let tables = (self.instructions.len() + 64).next_multiple_of(TABLE_ALIGNMENT);
        for (place, target) in self.jumps {
            // Code and tables are bounded far below 2^31 bytes.
            let distance = target as i32 - tables as i32;
            self.tables[place..place + 4].copy_from_slice(&distance.to_le_bytes());
        }
        let mut writable = MutableBuffer::new(tables + self.tables.len())?;
        writable.set_len(tables + self.tables.len());
        writable[..self.instructions.len()].copy_from_slice(&self.instructions);
        // What is between them is never reached; int3 shows if it is.
        writable[self.instructions.len()..tables].fill(0xCC);
        writable[tables..].copy_from_slice(&self.tables);
        Ok(Code {
            buffer: writable.make_exec()?,
            entry: self.entry,
            tables,
            symbols: self.symbols,
            sites: self.sites,
            classes: self.classes,
            literals: self.literals,
        })
    }
}

impl Code {
    /// The constant tables.
    pub fn tables(&self) -> *const u8 {
        self.buffer[self.tables..].as_ptr()
    }

    /// The instructions.
    pub fn instructions(&self) -> &[u8] {
        &self.buffer[..self.tables]
    }

    /// The size of instructions and tables in bytes.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Runs the code: the one door from the buffer to a function.
    pub fn run(&self, context: &mut Context<'_>) {
        // SAFETY: the entry is the function of this signature that the assembler wrote, in memory that is executable and
        // lives as long as `self`. It and all that it calls keep the calling convention, move the cursor of the context
        // over bytes that the context reserved, and leave the stack as it was.
        unsafe {
            let entry: unsafe extern "sysv64" fn(*mut Context<'_>) =
                std::mem::transmute(self.buffer[self.entry..].as_ptr());
            entry(context);
        }
    }
}
