//! Searches the texts of a grammar for those on which a subject fails, does something new, or takes long.
//!
//! In tests, [`check`] runs a property, [`Check::costs_at_most`] checks a bound on cost, and [`Check::grows_at_most`]
//! one on its growth.
//!
//! [`Fuzzer`] is the search for failures, and [`Search`] the one for costly texts by a [`Strategy`], for callers that
//! run the texts on their own: each proposes a text, and gets the subject's reaction. [`Search::run`] is the loop over
//! both in one process, within a [`Budget`]. [`prove`] measures how cost grows when parts of a text are repeated,
//! [`Growth`] fits laws to it, and [`report`] makes a page of all that.
//!
//! The crate has two strategies, [`STRATEGIES`]. The published ones are in `gramjet-campaign`, where they use only what
//! this crate exports, as strategies of a caller do.
//!
//! This crate knows nothing of processes; `gramjet-harness` runs programs.

#![forbid(unsafe_code)]

mod bandit;
mod breaker;
mod check;
mod corpus;
mod delta_debugging;
mod digest;
mod enumeration;
mod extremes;
mod front;
mod fuzzer;
mod growth;
mod havoc;
mod maxima;
mod proof;
mod pump;
mod random;
mod ranks;
pub mod report;
mod run;
mod search;
mod strategies;
mod strategy;
mod survey;

pub use check::{Check, check};
pub use corpus::{Corpus, Entry};
pub use delta_debugging::{Cut, Shorter};
pub use extremes::{Extreme, Words, extremes};
pub use front::Front;
pub use fuzzer::{Fuzzer, Goal, Observation, Operator, STOPPED};
pub use growth::{EdgeGrowth, Estimate, Fit, Growth, Law, Measurement, edges_by_growth};
pub use havoc::{Blocks, havoc};
pub use maxima::{Coverage, Edge, Maxima, Novelty, count_class};
pub use proof::{Effort, Family, Member, REPEATS, Repeated, Runs, prove, prove_bytes};
pub use pump::{Copies, Pump};
pub use random::Seed;
pub use ranks::Ranks;
pub use run::Budget;
pub use search::{Best, Gain, Search};
pub use strategies::{Kind, STRATEGIES};
pub use strategy::{Desk, Ending, Evenly, Making, Measured, Repeats, Strategy};
pub use survey::{Promising, Survey, Timed, Timer};
