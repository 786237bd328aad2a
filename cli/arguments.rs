//! Arguments that several commands share, and their values.

pub mod engine;
pub mod grammar;
pub mod limits;
pub mod values;
