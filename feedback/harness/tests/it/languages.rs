//! Functions of other languages.

mod java;
mod kit;
mod node;
mod python;
