//! The C interface as C programs see it.

mod header;
#[cfg(unix)]
mod programs;
