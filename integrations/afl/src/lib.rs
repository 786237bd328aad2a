//! A custom mutator for AFL++: the queue, crashes and what other instances import are texts, and every mutant is a text of the
//! grammar. `docs/afl.md` tells how to use it.
//!
//! [`custom_mutator`] is the door to C; behind it are a [`Mutator`] and its [`Configuration`], which know nothing of pointers.

mod configuration;
pub mod custom_mutator;
mod mutator;
mod seeds;
mod streams;

pub use configuration::Configuration;
pub use mutator::Mutator;
