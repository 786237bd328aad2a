//! The search for the texts that cost a program most.

mod anew;
mod behaviours;
mod early_proof;
mod failures;
mod folder_report;
mod hunt;
mod log;
mod meter;
mod noise;
mod note;
mod operators;
mod own;
mod records;
mod runner;
mod second_core;
mod stages;
mod study;
mod survey;
mod totals;
mod verdict;
mod worker;

pub use folder_report::refresh;
pub use hunt::{Found, Hunt, Plan, Progress};
pub use meter::{Meter, Objective, Objectives};
pub use note::Note;
pub use operators::{Lately, Made, Operators};
pub use own::{Measure, StrategyKind};
pub use records::{ABOUT, FAMILIES, Laws, TOO_LITTLE};
pub use stages::{Depth, REPORT, Studied};
pub use study::{Cause, EdgeLaw, Grown, Hot, Study, families, fastest};
pub use survey::Surveyed;
