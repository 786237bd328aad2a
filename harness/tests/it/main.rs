//! The harness on real programs.

mod command;
mod kit;
