//! `gramjet cc`: a C compiler that instruments programs.

use clap::Args;
use gramjet_harness::instrument::{Language, compile};

use crate::failure::Failure;
use crate::wrapped::{CompilerArgs, ended};

/// Compile C so that `gramjet fuzz` sees which code an input reaches.
///
/// Stands in for the C compiler: `CC="gramjet cc" ./configure`. The compiler itself is `$GRAMJET_CC`, else the newest
/// clang, else gcc.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct Arguments {
    #[command(flatten)]
    compiler: CompilerArgs,
}

/// Compiles.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    ended(compile(Language::C, &args.compiler.arguments))
}
