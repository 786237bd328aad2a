//! Benchmarks with paired baselines: the textbook producer and its emitter, and the parts of the harness.

pub mod candidate;
pub mod measure;
pub mod report;
pub mod textbook;
pub mod textbook_runtime;
