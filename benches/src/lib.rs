//! Benchmarks with paired baselines.
