//! Searches the texts of a grammar for those on which a subject fails, does something new, or takes long.
//!
//! In tests, [`check`] runs a property, [`Check::costs_at_most`] checks a bound on cost, and [`Check::grows_at_most`]
//! one on its growth.
//!
//! [`Fuzzer`] is the search for failures, and [`Search`] the one for costly texts by a [`Strategy`], for callers that
//! run the texts on their own: each proposes a text, and gets the subject's reaction. [`prove`] measures how cost grows
//! when parts of a text are repeated, [`Growth`] fits laws to it, and [`report`] makes a page of all that.
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
mod search;
mod strategies;
mod strategy;

pub use check::{Check, check};
pub use corpus::{Corpus, Entry};
pub use delta_debugging::{Cut, Shorter};
pub use extremes::{Extreme, extremes};
pub use front::Front;
pub use fuzzer::{Fuzzer, Goal, Observation, Operator};
pub use growth::{EdgeGrowth, Estimate, Fit, Growth, Law, Measurement, edges_by_growth};
pub use maxima::{Coverage, Edge, Maxima, Novelty};
pub use proof::{Effort, Family, Member, Reading, prove};
pub use pump::{Copies, Pump};
pub use ranks::Ranks;
pub use search::{Best, Gain, Search};
pub use strategies::{FOR_COVERAGE, Kind, STRATEGIES, SaffronSettings, by_name};
pub use strategy::{Desk, Ending, Measured, Repeats, Strategy};
