//! The inverse of producers, on random and shipped grammars and on difficult cases for parsers.

mod automaton;
mod codings;
mod costs;
mod errors;
mod files;
mod generated;
mod inverse;
mod kit;
mod labelled;
mod labels;
mod memory;
mod parameters;
mod relaxed;
