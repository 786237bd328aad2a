//! Ordered maps and sets. The standard library has the same, but they would be a third of the code that is compiled for
//! this crate, which has a hundred types of them.

mod chunks;
mod map;
mod set;
mod sort;
#[cfg(test)]
mod tests;

pub use map::{Entry, Map, OccupiedEntry, VacantEntry};
pub use set::Set;
pub(crate) use sort::{sort_by, sort_by_key};
