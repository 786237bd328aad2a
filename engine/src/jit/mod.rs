//! The JIT: from residual IR to x86-64 machine code, in milliseconds.
//!
//! `assemble` writes the code of each residual rule into a draft, `code` makes the draft executable, `producer` runs
//! it. `regs` describes the use of registers. `context` describes the data in memory and the slow paths that machine
//! code calls. `docs/jit.md` explains the design.

mod assemble;
mod code;
mod context;
#[cfg(feature = "listing")]
mod listing;
mod memory;
mod pages;
mod perf_map;
mod producer;
mod refusal;
mod regs;
mod sites;
mod stack;
mod tables;

pub use producer::Jit;
pub use refusal::NotCompiled;

/// Returns true if this build can run machine code.
pub const fn is_available() -> bool {
    true
}
