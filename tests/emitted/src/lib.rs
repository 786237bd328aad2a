//! Producers that the Rust backend emitted at build time: the suite's grammars and some random ones.

// Emitted code has no warnings, however strict the crate around it is.
#![deny(dead_code, missing_docs, unreachable_pub, unused, rust_2018_idioms, clippy::all, clippy::pedantic)]

/// An emitted producer.
pub struct Emitted {
    /// The name of the grammar in `gramjet_testkit::emitted`.
    pub name: &'static str,
    /// Whether it was emitted without `unsafe`.
    pub forbid_unsafe: bool,
    /// Makes a producer.
    pub producer: fn() -> Box<dyn gramjet::Producer>,
}

include!(concat!(env!("OUT_DIR"), "/table.rs"));
