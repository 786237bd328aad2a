//! Runs a program under test on inputs, within limits, and measures the cost of each input.
//!
//! A [`Target`] takes an input and returns a [`Run`]: how the program ended, what it used, what it wrote, and, where
//! it is instrumented, how often each of its edges was executed. This crate knows nothing of grammars.
//!
//! No process, file or shared memory outlives its run, also if this process is killed, or if the program starts
//! further processes, ignores signals or writes without end.

#![cfg(target_os = "linux")]

mod cache;
mod command;
mod confine;
mod constants;
mod cores;
mod demand;
mod disk;
mod edges;
mod error;
mod fork_server;
mod guard;
pub mod instrument;
mod interrupt;
mod languages;
mod limits;
#[cfg(feature = "lines")]
mod lines;
mod locations;
mod run;
mod scratch;
mod shared;
mod target;
mod watch;

pub use command::{Command, FILE, Program};
pub use confine::{Confinement, Offered, Permission, Protection, offered, protections, refusal};
pub use constants::words_of;
pub use cores::{free_cores, stay_on};
pub use demand::Demanded;
pub use edges::{Edge, Edges};
pub use error::Error;
pub use fork_server::{ForkServer, Instrumentation, instrumentation};
pub use interrupt::{go_on, interrupt};
pub use languages::{Counting, EdgePlace, Function, Language, RegularExpression, Subject, Telling};
pub use limits::Limits;
#[cfg(feature = "lines")]
pub use lines::{Line, Lines};
pub use locations::Locations;
pub use run::{Captured, Exception, Measures, Outcome, Run, Usage, signal_name};
pub use scratch::{Left, left_behind};
pub use target::Target;
