//! The commands that print a text: dump, emit, grammars, completions, man.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use clap::CommandFactory;
use gramjet::Limits;

use crate::args::{Cli, DumpArgs, EmitArgs, EmitLanguage};
use crate::engines::{self, EmitOptions};
use crate::failure::Failure;
use crate::grammar;
use crate::sinks::standard_output;

/// Writes `bytes` to the file `path`, or to standard output if there is none or it is `-`.
pub fn write_output(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        Some(path) if path.as_os_str() != "-" => {
            fs::write(path, bytes).map_err(|source| Failure::writing(path, source))
        }
        _ => standard_output()
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|source| Failure::Write { what: "standard output".to_string(), source }),
    }
}

/// Prints what a stage of the compiler makes of a grammar.
pub fn dump(args: &DumpArgs) -> Result<(), Failure> {
    let source = grammar::load(&args.grammar)?;
    let (text, result) = engines::dump(&source, &args.grammar, &args.stage, args.max_depth);
    write_output(None, text.as_bytes())?;
    result
}

/// Prints the source code or the machine code of a producer.
pub fn emit(args: &EmitArgs) -> Result<(), Failure> {
    let source = grammar::load(&args.grammar)?;
    let text = match args.language {
        EmitLanguage::Rust => {
            let options = EmitOptions {
                forbid_unsafe: args.forbid_unsafe,
                max_depth: args.max_depth,
                max_len: args.max_len,
                library: args.library.clone(),
            };
            engines::emit_rust(&source, &args.grammar, &options)?
        }
        EmitLanguage::Asm => {
            let limits = Limits::new().max_depth(args.max_depth).max_len(args.max_len);
            engines::emit_asm(&source, &args.grammar, limits)?
        }
    };
    write_output(args.output.as_deref(), text.as_bytes())
}

/// Lists the shipped grammars.
pub fn grammars() -> Result<(), Failure> {
    let width = engines::shipped().map(|grammar| grammar.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for grammar in engines::shipped() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {}", grammar.name, grammar.description);
        let _ = writeln!(text, "{:width$}  source: {}", "", grammar.source);
    }
    write_output(None, text.as_bytes())
}

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gramjet", &mut script);
    write_output(None, &script)
}

/// Prints the manual page of gramjet or of one of its commands.
pub fn man(command: Option<&str>) -> Result<(), Failure> {
    let mut root = Cli::command();
    // Gives the commands their full names.
    root.build();
    let page = match command {
        None => root,
        Some(name) => {
            let names: Vec<&str> = root.get_subcommands().map(clap::Command::get_name).collect();
            let Some(found) = root.find_subcommand(name) else {
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
