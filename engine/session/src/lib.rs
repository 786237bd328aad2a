//! Tools for fuzzers and tests that keep *texts* and not choice bytes. A [`Language`] is a grammar, found by its path
//! or name, with its parser and producer. A [`Session`] looks up or finds the derivation of a text, makes valid
//! variants of it, and remembers the parts of all texts that it has seen.
//!
//! ```
//! use gramjet_session::{Language, Session, Settings};
//!
//! let language = Language::load("json".as_ref(), &Settings::default())?;
//! let mut session = Session::new(&language, 1);
//! let mut variant = Vec::new();
//! for _ in 0..100 {
//!     session.mutate(b"[[true], 1, 2]", 1000, &mut variant);
//!     assert!(language.parse(&variant).is_ok() && variant.len() <= 1000);
//! }
//! # Ok::<(), gramjet_session::LanguageError>(())
//! ```

#![forbid(unsafe_code)]

mod language;
mod parsing;
mod random;
mod session;
pub mod streams;
pub mod suite;
mod trees;
mod trim;

pub use language::{Bound, Language, LanguageError, ReplayError, Settings};
pub use parsing::ParsingTracer;
pub use random::Random;
pub use session::{Mutation, Parts, Session, Statistics};
pub use trees::hash;
pub use trim::Trim;

pub use gramjet::choices::SpanKind;
pub use gramjet_compiler::formats::{FormatOptions, ZeroWeights};
pub use gramjet_compiler::shape::Shape;
pub use gramjet_compiler::tokens::{Alphabet, Indent, SeparatorPolicy};
pub use gramjet_engine::{EngineKind, decisions};
pub use gramjet_parse::{Budget, Mismatch, ParseError, place};
