//! The C interface as C programs see it.

#[cfg(unix)]
mod programs;
