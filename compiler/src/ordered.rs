//! Ordered maps and sets. Those of the standard library do the same, and are a third of the code that a compiler has to
//! make of this crate, which has a hundred types of them.

mod chunks;
mod map;
mod set;
mod sort;
#[cfg(test)]
mod tests;

pub use map::{Entry, Map, OccupiedEntry, VacantEntry};
pub use set::Set;
pub(crate) use sort::{sort_by, sort_by_key};
