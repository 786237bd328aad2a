//! `gramjet cargo`: cargo, with crates instrumented.

use clap::Args;
use gramjet_harness::instrument;

use crate::failure::Failure;
use crate::wrapped::{CompilerArgs, ended};

/// Run cargo so that `gramjet fuzz` sees which code an input reaches.
///
/// `gramjet cargo build --release` builds as cargo does, with all crates instrumented, but neither build scripts nor
/// macros.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct Arguments {
    #[command(flatten)]
    compiler: CompilerArgs,
}

/// Runs cargo.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    ended(instrument::cargo(&args.compiler.arguments))
}
