//! Commands that stand in for a compiler: their arguments are the compiler's.

use std::ffi::OsString;

use clap::Args;
use gramjet_harness::Error;

use crate::failure::Failure;

/// All that follows the name of the command.
#[derive(Debug, Args)]
pub struct CompilerArgs {
    /// The arguments of the compiler, or of cargo.
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Ends as the compiler did.
pub fn ended(result: Result<i32, Error>) -> Result<(), Failure> {
    match result? {
        0 => Ok(()),
        // The compiler has said what is wrong.
        status => std::process::exit(status),
    }
}
