//! The harness on real programs.

mod command;
mod fork_server;
mod kit;
mod languages;
