//! Arguments that several commands share, and their values.

#[cfg(target_os = "linux")]
pub mod accept;
pub mod engine;
pub mod grammar;
pub mod limits;
pub mod node;
#[cfg(target_os = "linux")]
pub mod program;
#[cfg(target_os = "linux")]
pub mod run;
pub mod values;
