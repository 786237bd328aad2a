//! Grammars that come at run time, and the engines that run them.
//!
//! [`Grammar`] is the short way from a grammar's text to a producer of inputs:
//!
//! ```
//! use gramjet_engine::Grammar;
//! use gramjet_engine::gramjet::{Inputs, Limits, Producer};
//!
//! let mut lists = Grammar::compile("list ::= '[' (item (',' item)*)? ']'  item ::= [0-9] | list  other ::= 'x'")?;
//! assert!(lists.warnings().contains("rule `other` cannot be reached"));
//! lists.set_limits(Limits::new().max_depth(8).max_len(60))?;
//! for list in Inputs::new(lists, 7).take(1000) {
//!     assert!(list.starts_with(b"[") && list.len() <= 60);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The long way compiles once, with a place for the grammar's diagnostics, and then makes what is needed of the result:
//!
//! ```
//! use gramjet_engine::gramjet::{Choices, Limits, Producer};
//! use gramjet_engine::{Fastest, Options, Shape, SourceFile, Tracer, Weighting, compile};
//!
//! let file = SourceFile::new("list.ebnf", "list ::= '[' (list (',' list)*)? ']'");
//! let options = Options { weighting: Weighting::Shape(Shape::TargetSize(200)), ..Options::default() };
//! let (compiled, warnings) = compile(&file, &options).map_err(|errors| errors.to_plain_text(&file))?;
//! assert!(warnings.is_empty());
//!
//! let (mut producer, mut text) = (Fastest::new(&compiled), Vec::new());
//! producer.produce(&mut Choices::replay(&[255, 0, 0]), &mut text);
//! let mut tracer = Tracer::new(&compiled);
//! tracer.set_limits(Limits::new())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! | wanted | found |
//! |---|---|
//! | a producer, whatever the machine | [`Grammar`], [`Fastest`] |
//! | an engine by its name | [`EngineKind`] |
//! | machine code, on x86-64 under Unix | [`Jit`] |
//! | the portable table interpreter | [`Vm`] |
//! | gigabytes from a seed, without replay | [`bulk::Bulk`] |
//! | the interpreter that the others are compared with | [`Reference`] |
//! | the derivation of a choice string, for mutators and minimisers ([`gramjet::choices`]) | [`Tracer`] |
//! | the faster of several engines, as measured | [`auto`] |
//! | derivations as lists of decisions, for searches | [`decisions`] |
//! | which rules and alternatives inputs came to | [`coverage::Covering`] |
//! | mutators for libFuzzer, by one line of a fuzz target | [`fuzz_mutator!`], [`libfuzzer`] |
//! | what all these take: a compiled grammar, the options of its compilation | [`compile`], [`Compiled`], [`Options`], [`compiler`] |
//! | what all these are: producers, their runs, choice bytes, limits | [`gramjet`] |
//!
//! # Features
//!
//! - `listing`: `Jit::listing` shows machine code as text.
//! - `macros`: for crates that use `gramjet::grammar!`, too. The compiler is built with the same features for both, so
//!   a debug build has one of it instead of two.

pub mod auto;
pub mod bulk;
pub mod coverage;
pub mod decisions;
#[cfg(all(target_arch = "x86_64", unix))]
pub mod jit;
#[cfg(not(all(target_arch = "x86_64", unix)))]
#[path = "jit/elsewhere.rs"]
pub mod jit;
pub mod kind;
pub mod libfuzzer;
pub mod recorded;
pub mod reference;
pub mod tracer;
pub mod vm;

mod directives;
mod fastest;
mod unfolded;

pub use fastest::{Fastest, Grammar, GrammarError};
pub use jit::Jit;
pub use kind::EngineKind;
pub use reference::Reference;
pub use tracer::Tracer;
pub use vm::Vm;

/// The library of producers: [`Producer`](gramjet::Producer), [`Inputs`](gramjet::Inputs),
/// [`Choices`](gramjet::Choices), [`Limits`](gramjet::Limits).
pub use gramjet;
/// The compiler, for its parts that are not re-exported here.
pub use gramjet_compiler as compiler;
pub use gramjet_compiler::formats::{Format, FormatOptions, Loader};
pub use gramjet_compiler::limits::AssumedLimits;
pub use gramjet_compiler::shape::{Shape, Weighting};
pub use gramjet_compiler::tokens::{Alphabet, SeparatorPolicy};
pub use gramjet_compiler::{Compiled, Diagnostics, Options, SourceFile, compile};
