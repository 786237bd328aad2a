//! Engines that run a compiled grammar: the reference interpreter as a [`gramjet::Producer`], and [`vm`], the portable
//! table interpreter.

pub mod jit;
pub mod reference;
pub mod vm;

mod directives;

pub use jit::Jit;
pub use reference::Reference;
pub use vm::Vm;
