//! `gramjet man`: manual pages.

use clap::Args;

use crate::failure::Failure;
use crate::output::whole::write_output;

/// Print the manual page, in roff.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The command whose page to print; without it, the page of gramjet itself.
    command: Option<String>,
}

/// Prints the page of a command line or of one of its commands.
pub fn run(args: &Arguments, mut command_line: clap::Command) -> Result<(), Failure> {
    // Gives the commands their full names.
    command_line.build();
    let page = match args.command.as_deref() {
        None => command_line,
        Some(name) => {
            let names: Vec<&str> = command_line.get_subcommands().map(clap::Command::get_name).collect();
            let Some(found) = command_line.find_subcommand(name) else {
                let reason =
                    format!("there is no command `{}`; the commands are {}", name.escape_debug(), names.join(", "));
                return Err(Failure::Usage(reason));
            };
            found.clone()
        }
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut roff)
        .map_err(|source| Failure::Write { what: "the manual page".to_string(), source })?;
    write_output(None, &roff)
}
