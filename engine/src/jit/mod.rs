//! The JIT: from residual IR to x86-64 machine code, in milliseconds.

mod assemble;
mod code;
mod context;
mod regs;
mod sites;
mod stack;
mod tables;
mod producer;

pub use producer::Jit;

/// Whether this build can run machine code.
pub const fn is_available() -> bool {
    true
}

/// Why a grammar has no machine code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCompiled {
    /// Code and tables would be larger than their budget.
    #[error("the machine code of the grammar would be too large")]
    TooLarge,
    /// The system gives no memory that can be made executable.
    #[error("no executable memory: {0}")]
    Memory(String),
}
