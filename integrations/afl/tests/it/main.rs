//! The custom mutator: its steps, and AFL++ with it.

#[cfg(unix)]
mod fuzzer;
mod steps;
