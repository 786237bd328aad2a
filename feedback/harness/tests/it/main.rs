//! The harness on real programs.

mod command;
mod fork_server;
mod instrument;
mod kit;
mod languages;
