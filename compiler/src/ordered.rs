//! Ordered maps and sets. Those of the standard library do the same, and are a third of the code that a compiler has to
//! make of this crate, which has a hundred types of them.

mod chunks;
mod map;
mod set;
#[cfg(test)]
mod tests;

pub use map::{Entry, Map, OccupiedEntry, VacantEntry};
pub use set::Set;
