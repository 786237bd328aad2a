//! The gramjet compiler: translates grammar text to an optimised intermediate representation and to Rust source.
//!
//! Data flows through the modules in the order below. The crate does not depend on the runtime, the engines, files or
//! terminals.

#![forbid(unsafe_code)]

pub mod ordered;

pub mod diagnostics;

pub mod charset;

pub mod limits;

pub mod ast;

pub mod tokens;

pub mod formats;

pub mod print;

pub mod check;

pub mod shape;

pub mod sources;

pub mod lower;

pub mod ir;

pub mod analysis;

pub mod passes;

pub mod machine;

pub mod reference;

pub mod backend;

mod pipeline;

pub use diagnostics::{Diagnostics, SourceFile};
pub use pipeline::{Compiled, Examined, Fingerprints, Learned, Options, compile, dump, examine, learned, stages};
