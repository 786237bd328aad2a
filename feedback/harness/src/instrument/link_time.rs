//! Optimisation at link time, with which the run time is inlined into the program and counting costs less.

use super::arguments::{Arguments, Step};
use super::compiler::{Compiler, CompilerKind};

/// Objects then have both machine code and the linker's input, so that every tool reads them: `ar`, `nm`, `strip`,
/// `ld`.
pub(super) const FLAGS: [&str; 2] = ["-flto=thin", "-ffat-lto-objects"];

/// The first clang that makes such objects.
const FIRST: u32 = 18;

fn chosen() -> String {
    std::env::var("GRAMJET_LTO").unwrap_or_default()
}

/// Returns true if the user wants it, so that a failure is to be seen.
pub(super) fn required() -> bool {
    chosen() == "on"
}

/// Returns true if instrumentation at link time is to be added to the user's own options.
pub(super) fn wanted(compiler: &Compiler, given: &Arguments) -> bool {
    let is_possible = matches!(compiler.kind, CompilerKind::Clang(version) if version >= FIRST) && compiler.has_lld;
    let makes_objects = match given.step {
        Step::Compile => given.has_sources && given.makes_object,
        Step::Link => !given.is_relocatable && !given.reads_stdin,
        Step::Ask | Step::Preprocess => false,
    };
    chosen() != "off" && is_possible && makes_objects && !given.forbids_link_time
}
