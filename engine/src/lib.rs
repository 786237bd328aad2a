//! Engines that run a compiled grammar: [`jit`], which makes machine code of it; [`vm`], the portable table interpreter; the
//! reference interpreter as a [`gramjet::Producer`]; [`tracer`], which records what it does; [`coverage`], which
//! says what inputs came to; [`libfuzzer`], mutators for libFuzzer. [`Grammar`] is the short way from a grammar's text to inputs.

pub mod bulk;
pub mod coverage;
#[cfg(all(target_arch = "x86_64", unix))]
pub mod jit;
#[cfg(not(all(target_arch = "x86_64", unix)))]
#[path = "jit/elsewhere.rs"]
pub mod jit;
pub mod libfuzzer;
pub mod reference;
pub mod tracer;
pub mod vm;

mod directives;
mod fastest;
mod unfolded;

pub use fastest::{Fastest, Grammar, GrammarError};
pub use jit::Jit;
pub use reference::Reference;
pub use tracer::Tracer;
pub use vm::Vm;

#[doc = include_str!("../../docs/choices.md")]
#[cfg(doctest)]
struct ChoicesExamples;
