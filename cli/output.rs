//! The output of commands: whole texts, and runs of inputs in chunks, with separators, to sinks.

pub mod chunk;
pub mod directory;
pub mod file;
#[cfg(target_os = "linux")]
pub mod mapped;
pub mod separator;
pub mod shown;
pub mod sink;
pub mod stream;
pub mod whole;
