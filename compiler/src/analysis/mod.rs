//! Analyses of grammars. Each is one file with a function from the IR (or the Ast) to facts.

pub mod alike;
pub mod alphabet;
pub mod copies;
pub mod fingerprint;
pub mod form;
pub mod guards;
pub mod jumps;
pub mod least;
pub mod pools;
pub mod reach;
pub mod recursion;
pub mod runs;
pub mod shortest;
