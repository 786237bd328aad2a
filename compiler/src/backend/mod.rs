//! Backends: residual IR to source text.

pub mod rust;
