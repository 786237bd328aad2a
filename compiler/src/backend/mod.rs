//! Backends: residual IR to source text.

#[cfg(feature = "rust")]
pub mod rust;
