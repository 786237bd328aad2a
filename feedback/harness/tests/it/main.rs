//! The harness on real programs.

mod ahead;
mod carries;
mod command;
mod confine;
mod constants;
mod disk;
mod fork_server;
mod hostile;
mod instrument;
mod kit;
mod languages;
mod processes;
mod scratch;
mod trust;
mod usage;
