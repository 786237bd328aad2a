//! Functions of other languages.

mod kit;
mod python;
