//! Test kit: random grammars, exact enumeration of languages and probabilities, a second implementation of the choice
//! map, and the engine-neutral suite.
//!
//! Everything here is computed from the Ast by the plainest method, so that it can be compared with the compiler.

pub mod amount;

pub mod draw;

pub mod grammar;

pub mod form;

pub mod language;

pub mod naive;

pub mod labelled;

pub mod settled;

pub mod digests;

pub mod probability;

pub mod statistics;

pub mod subjects;

pub mod suite;

pub mod emitted;

pub mod tools;

mod compiling;

pub use compiling::{Passes, compiled, lowered, passes};
pub use draw::{Draw, Rng};
pub use grammar::{Shape, random_grammar};

/// The examples in Rust of pages outside of packages.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/choices.md")]
    struct Choices;

    #[doc = include_str!("../../../docs/rust.md")]
    struct Rust;
}
