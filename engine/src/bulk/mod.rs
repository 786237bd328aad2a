//! The bulk engine: tables for a branch-free pushdown machine.

mod chunks;
mod classes;
mod fill;
mod frames;
mod lanes;
mod plan;
mod producer;
mod random;
mod simd;
mod tables;
mod unfold;

pub use producer::{Bulk, Effort, Framing, Inputs, NotInBulk};
pub use simd::Simd;
