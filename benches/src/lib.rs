//! Benchmarks with paired baselines: the textbook producer and its emitter, and the parts of the harness.

pub mod candidate;
pub mod measure;
pub mod remote;
pub mod report;
pub mod textbook;
pub mod textbook_runtime;

// The tests include an emitted producer, which names the package from outside.
#[cfg(test)]
extern crate self as gramjet_benches;
