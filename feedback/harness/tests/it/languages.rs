//! Functions of other languages.

mod java;
pub(crate) mod kit;
mod node;
mod python;
