//! Engines that run a compiled grammar: the reference interpreter as a [`gramjet::Producer`], and [`vm`], the portable
//! table interpreter.

pub mod reference;
pub mod vm;

mod directives;

pub use reference::Reference;
pub use vm::Vm;
