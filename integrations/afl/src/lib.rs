//! A custom mutator for AFL++: the queue, crashes and imports from other instances are texts, and every mutant is a
//! text of the grammar. `docs/afl.md` describes its use.
//!
//! [`custom_mutator`] is the interface to C. It uses a [`Mutator`] and its [`Configuration`], which know nothing of
//! pointers.

mod configuration;
pub mod custom_mutator;
mod mutator;
mod seeds;

pub use configuration::Configuration;
pub use mutator::Mutator;
