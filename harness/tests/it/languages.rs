//! Functions of other languages.

mod kit;
mod node;
mod python;
