//! Finds the instrumentation of a program by marks in its file.

use std::path::Path;
use std::{fs, io};

/// Way in which a program is instrumented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instrumentation {
    /// Maker of the compiler wrapper that built it; `None` if it is not known.
    pub by: Option<By>,
    /// Whether it takes many inputs in one process.
    pub is_persistent: bool,
    /// Whether it starts its fork server itself, at a place that its author has chosen.
    pub is_deferred: bool,
    /// Whether it is a libFuzzer harness that was linked with our driver.
    pub is_libfuzzer: bool,
}

impl Instrumentation {
    /// Returns true if AFL++'s compiler has built the program.
    pub fn is_by_afl(&self) -> bool {
        self.by == Some(By::Afl)
    }
}

/// Whose compiler wrapper a program was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// `gramjet cc`, `gramjet c++` or `gramjet cargo`.
    Gramjet,
    /// AFL++.
    Afl,
}

/// Returns how the program in a file is instrumented.
///
/// # Errors
///
/// If the file cannot be read.
pub fn instrumentation(program: &Path) -> io::Result<Instrumentation> {
    let bytes = fs::read(program)?;
    let has = |mark: &[u8]| memchr::memmem::find(&bytes, mark).is_some();
    let by = match () {
        () if has(b"##SIG_GRAMJET_RUNTIME_1##") => Some(By::Gramjet),
        () if has(b"__AFL_SHM_ID") && has(b"##SIG_AFL_") || has(b"__AFL_SHM_FUZZ_ID") => Some(By::Afl),
        () => None,
    };
    let is_driven = has(b"##SIG_GRAMJET_DRIVER##");
    Ok(Instrumentation {
        by,
        is_persistent: has(b"##SIG_AFL_PERSISTENT##") || is_driven || has(b"##SIG_GRAMJET_PERSISTENT##"),
        is_deferred: has(b"##SIG_AFL_DEFER_FORKSRV##") || is_driven || has(b"##SIG_GRAMJET_DEFERRED##"),
        is_libfuzzer: is_driven,
    })
}
