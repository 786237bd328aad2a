//! Tests of the library as its users see it: the macro, producers, runs.

mod doc;
mod grammar_macro;
mod recursion;
mod runs;
