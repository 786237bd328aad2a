//! The gramjet compiler: translates grammar text to an optimised intermediate representation and to Rust source.
//!
//! Data flows through the modules in the order below. The crate does not depend on the runtime, the engines or
//! terminals, and only [`files`] reads files. With the feature `build`, the module `build` compiles grammars from build
//! scripts.
//!
//! # What is stable
//!
//! The functions and types at the root ([`compile`], [`examine`], [`dump`], [`Options`], [`Diagnostics`],
//! [`SourceFile`] and so on) and the modules [`diagnostics`], [`formats`], [`files`], [`print`](mod@print),
//! [`limits`] and `build` follow Semantic Versioning. So do the settings in [`tokens`] and [`shape`] that [`Options`]
//! has. A [`Compiled`] grammar can be handed to gramjet's engines; its fields are theirs.
//!
//! All else is public for gramjet's own crates: the [`ast`], the [`ir`], [`analysis`], [`passes`], [`lower`],
//! [`machine`], [`reference`](mod@reference), [`outline`], [`backend`], [`sources`], [`charset`], [`check`], [`fnv`]
//! and [`ordered`]. It may change in any version, so a crate that uses it must depend on one exact version.

#![forbid(unsafe_code)]

pub mod ordered;

pub mod fnv;

pub mod diagnostics;

pub mod charset;

pub mod derived;

pub mod coding;

pub mod naming;

pub mod limits;

pub mod ast;

mod levels;

pub mod tokens;

pub mod formats;

pub mod print;

pub mod check;

pub mod shape;

pub mod sources;

pub mod files;

pub mod lower;

pub mod ir;

pub mod analysis;

pub mod passes;

pub mod labels;

pub mod machine;

pub mod reference;

pub mod outline;

pub mod backend;

#[cfg(feature = "build")]
pub mod build;

mod residual;

mod pipeline;

pub use diagnostics::{Diagnostics, SourceFile};
pub use pipeline::{Compiled, Examined, Fingerprints, Learned, Options, compile, dump, examine, learned, stages};
pub use residual::Residual;
