//! Arguments that several commands share, and their values.

pub mod engine;
pub mod grammar;
pub mod limits;
#[cfg(target_os = "linux")]
pub mod run;
pub mod values;
