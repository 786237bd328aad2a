//! The textbook producer: the baseline of every ratio. It turns a grammar into the Rust that a good engineer would
//! write by hand after reading *Building Fast Fuzzers* (Gopinath & Zeller 2019), in its plain variant: one recursive
//! function a rule, a `match` over the alternatives, pooled random bytes, stores through a bare pointer, a pool of
//! short strings beyond the depth limit. It has no other analysis, and no optimisation other than the Rust compiler's.
//!
//! `build.rs` includes this module by its path, so it knows nothing of the rest of the package.

pub mod emit;
pub mod flat;
pub mod mean;
pub mod pools;
#[cfg(test)]
mod tests;

pub use emit::emit;
