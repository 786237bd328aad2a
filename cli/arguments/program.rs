//! The program under test, as the user names it.

use std::ffi::OsString;

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, Resettable};

use crate::failure::Failure;
use gramjet_campaign::subject;

/// The program, and its arguments.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// The program, after `--`. `@@` stands for the name of a file with the text; without it, the text is standard
    /// input. Or a function: `python:MODULE:FUNCTION`, `node:FILE#FUNCTION`, `java:CLASSPATH:CLASS#METHOD`.
    #[arg(value_name = "PROGRAM", required = true, last = true, help_heading = Resettable::Reset)]
    pub command: Vec<OsString>,
}

/// Options for what is counted of the program.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of the program")]
pub struct CountArgs {
    /// Also count the code of this module or package of Python's standard library, such as `html` or `json`; several
    /// with commas between them. Without it, what the function executes in such a module is not counted.
    #[arg(long, value_name = "MODULE", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub count_module: Vec<String>,
}

impl CountArgs {
    /// Returns the modules by name, each once. They are kept as long as the command runs.
    pub fn modules(&self, program: &ProgramArgs) -> Result<&'static [String], Failure> {
        if !self.count_module.is_empty() && !subject::is_python(&program.command) {
            return Err(Failure::Usage(
                "--count-module needs a function of Python: `python:MODULE:FUNCTION`".to_string(),
            ));
        }
        let mut modules = self.count_module.clone();
        modules.sort();
        modules.dedup();
        Ok(Box::leak(modules.into_boxed_slice()))
    }
}
