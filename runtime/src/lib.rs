//! gramjet: producers of valid inputs, compiled from context-free grammars.
//!
//! A producer is a pure function from *choice bytes* and limits to output bytes: every byte string is a valid choice
//! string, and every output is a sentence of the grammar. Feed it pseudo-random bytes to generate, a fuzzer's bytes to
//! explore, recorded bytes to replay.
//!
//! ```
//! gramjet::grammar! {
//!     // A file, relative to Cargo.toml, would be: pub mod json = "grammars/json.ebnf";
//!     pub mod list = ebnf "list ::= '[' (item (',' item)*)? ']'  item ::= [a-z] | list";
//! }
//!
//! use gramjet::{Inputs, Limits, Producer};
//!
//! assert_eq!(list::render(&[]), b"[]"); // an input from choice bytes: every byte string is one
//! let mut producer = list::Producer::new();
//! producer.set_limits(Limits::new().max_depth(8).max_len(40))?;
//! for list in Inputs::new(producer, 7).take(1000) {
//!     // ... and inputs from a seed.
//!     assert!(list.starts_with(b"[") && list.len() <= 40);
//! }
//! # Ok::<(), gramjet::LimitsError>(())
//! ```
//!
//! # Where things are
//!
//! | wanted | found |
//! |---|---|
//! | a producer of a grammar that is known at build time | [`grammar!`], or `gramjet_compiler::build` in a build script |
//! | one of a grammar that comes at run time | `gramjet_engine::Grammar` |
//! | the contract of producers | [`Producer`] |
//! | a run of inputs from a seed | [`Inputs`]; many at once: [`Batch`] |
//! | choice bytes, pseudo-random or replayed | [`Choices`] |
//! | bounds on depth, length and choice bytes | [`Limits`] |
//! | inputs as arguments of property tests and fuzz targets | [`Doc`], and the features below |
//! | mutating and minimising choice bytes by their structure | [`choices`] |
//! | from a text back to choice bytes | `gramjet_parse::Parser` |
//! | the interface for generated code | [`rt`], which is not for other uses |
//!
//! # Features
//!
//! - `macros` (default): [`grammar!`]. Without it the compiler is not built.
//! - `arbitrary`: [`Doc`] implements `arbitrary::Arbitrary`, for fuzz targets.
//! - `proptest`: [`Doc`] implements `proptest::arbitrary::Arbitrary`, and there is a strategy, for property tests.
//! - `quickcheck`: [`Doc`] implements `quickcheck::Arbitrary`, for properties.

// Emitted code names the library by its public path, also in this crate's own tests.
#[allow(unused_extern_crates)]
extern crate self as gramjet;

pub mod choices;
pub mod doc;
pub mod limits;
pub mod producer;
pub mod rt;

pub use choices::{BLOCK_INPUTS, ChoiceSource, Choices};
pub use doc::Doc;
pub use limits::{Limits, LimitsError};
pub use producer::{Batch, Inputs, Producer};

/// Compiles grammars, at build time, to modules with producers.
///
/// ```
/// gramjet::grammar! {
///     /// Arithmetic.
///     pub mod sum = ebnf "sum ::= number ('+' number)*  number ::= [1-9] [0-9]*" { max_len: 20 };
/// }
///
/// use gramjet::{Choices, Limits, Producer};
///
/// assert!(sum::generate(7).len() <= 20);
/// assert_eq!(sum::render(&[]), b"1");
///
/// let mut producer = sum::Producer::new();
/// producer.set_limits(Limits::new().max_len(8))?;
/// let mut choices = Choices::random(1);
/// let mut output = Vec::new();
/// for _ in 0..100 {
///     output.clear();
///     producer.produce(&mut choices, &mut output);
///     assert!(!output.is_empty() && output.len() <= 8);
/// }
/// # Ok::<(), gramjet::LimitsError>(())
/// ```
///
/// Each item is `mod NAME = SOURCE;` with optional attributes and visibility, or `mod NAME = SOURCE { OPTIONS }`. The
/// source is `"path"` of a grammar file, relative to the package's manifest (a change of the file compiles anew), or
/// `FORMAT "text"`. Options, separated by commas:
///
/// | option | meaning |
/// |---|---|
/// | `start: "rule"` | the start rule, instead of the grammar's own |
/// | `format: "ebnf"` | the format of a file, instead of that of its extension |
/// | `tokens: "file"` | a second grammar with a rule for each token, in formats that leave tokens out (yacc, Lark, tree-sitter, ANTLR) |
/// | `separator_policy: "auto"` | where separators stand between tokens, in formats with a lexer: `auto`, `space`, `none`, `any` |
/// | `alphabet: "ascii"` | the characters that complements of sets draw from, in formats with a lexer: `readable`, `ascii`, `unicode`, `bytes`, `all`; else `all` with the policy `any`, and `readable` with others |
/// | `indent: "unit=2,levels=5"` | how tokens for indentation are read, in formats whose grammars leave them to code: `auto` by their names, `none` not at all, or some of `unit=4` (or `unit=tab`), `levels=8`, `tokens=NEWLINE/INDENT/DEDENT` |
/// | `zero_weights: "keep"` | whether alternatives of weight 0 belong to the language (`keep`) or not (`drop`, the default). Choice bytes of texts that have them need `keep` |
/// | `strict: true` | what a context-free grammar cannot say is an error, not left out |
/// | `shape: "balanced"` | weights for inputs of a shape: `uniform`, `balanced`, `deep`, `target-size=BYTES` |
/// | `weights: "path"` | a file of weights that `gramjet weights` has written, relative to the package's manifest |
/// | `max_depth: 16` | the depth limit of new producers; else the grammar's own, or 32 if it sets no limit. Up to 16 there is separate code for this limit alone, which is faster |
/// | `max_len: 4096` | the length limit of new producers in bytes; else the grammar's own |
/// | `forbid_unsafe: true` | emits no `unsafe` code, at about half to two thirds of the speed |
///
/// A module has `generate(seed)`, `render(choice_bytes)`, `MIN_LEN`, `DEFAULT_LIMITS` and `Producer`, which implements
/// [`Producer`] and has no state but its limits. A grammar with errors is a compilation error that shows them. Warnings
/// about a grammar are shown as the use of something deprecated, the one way in which macros can warn on stable Rust;
/// `#[allow(deprecated)]` before `mod` silences them.
#[cfg(feature = "macros")]
#[macro_export]
macro_rules! grammar {
    // The code finds the library by `$crate`, whatever it is called where the macro is used.
    ($($modules:tt)*) => { $crate::__grammar! { $crate $($modules)* } };
}

#[cfg(feature = "macros")]
#[doc(hidden)]
pub use gramjet_macros::grammar as __grammar;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct ReadmeExamples;
