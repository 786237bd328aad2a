//! `gramjet parse`: whether texts conform to a grammar, their trees, and the choice bytes that produce them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gramjet::{Choices, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::reference::{self, Trace};
use gramjet_parse::{Budget, ParseError, Parsed, place};

use crate::args::{GrammarArgs, LimitArgs};
use crate::engines;
use crate::failure::{Failure, quoted, say};
use crate::grammar;
use crate::limits;
use crate::recorded;
use crate::texts::write_output;
use crate::units::{self, plural};

mod tree;

/// `gramjet parse`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ParseArgs {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The files, `-` for standard input.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    form: FormArgs,

    /// Write the choice bytes without the header that says which grammar, options and limits they belong to.
    #[arg(long, requires = "choices")]
    raw: bool,

    /// Write to this file; to one file per input, with an extension of its own, if it is a directory or ends with a slash.
    #[arg(short, long, value_name = "FILE|DIR/", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// Give a file up that needs more memory than this.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", allow_negative_numbers = true, value_parser = units::parse_size)]
    max_memory: u64,

    /// Give a file up that takes more steps than this; by default 2048 per byte, and 64 Mi.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    max_steps: Option<u64>,

    /// Say of each file how large it is and what it took.
    #[arg(short, long)]
    verbose: bool,
}

/// What is written of a file that conforms; nothing by default.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct FormArgs {
    /// Print the tree, a line for each instance of a rule: its name, where it stands in bytes, its text.
    #[arg(long)]
    tree: bool,

    /// Print the tree as JSON.
    #[arg(long)]
    json: bool,

    /// Write the choice bytes, which `gramjet render` takes.
    #[arg(long)]
    choices: bool,
}

impl FormArgs {
    /// The extension of output files.
    fn extension(&self) -> &'static str {
        match self {
            FormArgs { choices: true, .. } => ".choices",
            FormArgs { tree: true, .. } => ".tree",
            _ => ".json",
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  gramjet parse my.ebnf corpus/*                         which files conform?
  gramjet parse json text.json --tree
  gramjet parse json text.json --choices | gramjet render json -
  gramjet parse my.ebnf corpus/* --choices -o streams/

The exit code is 1 if a file does not conform or cannot be read; the others are done all the same.";

/// The names of the output files: those of the files, with the extension of the form. Where files in several directories have
/// the same name, the later ones get a number.
fn output_names(files: &[PathBuf], extension: &str) -> Vec<PathBuf> {
    let mut taken = BTreeSet::new();
    let name_of = |file: &PathBuf| {
        let name = match file.as_os_str() == "-" {
            true => "stdin".into(),
            false => file.file_name().unwrap_or_default().to_os_string(),
        };
        let numbered = (1..).map(|number| {
            let mut numbered = name.clone();
            if number > 1 {
                numbered.push(format!("-{number}"));
            }
            numbered.push(extension);
            PathBuf::from(numbered)
        });
        // There are more numbers than files.
        numbered.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default()
    };
    files.iter().map(name_of).collect()
}

/// Refuses arguments that name standard input twice.
pub fn read_stdin_once(grammar: &GrammarArgs, files: &[PathBuf]) -> Result<(), Failure> {
    let from_stdin = files.iter().filter(|file| file.as_os_str() == "-").count();
    match from_stdin + usize::from(grammar.grammar == "-") {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage("standard input can be read only once".to_string())),
    }
}

/// Parses files.
pub fn run(args: &ParseArgs) -> Result<(), Failure> {
    read_stdin_once(&args.grammar, &args.files)?;
    let folder = args.output.as_deref().filter(|output| output.is_dir() || ends_with_slash(output));
    if args.files.len() > 1 && folder.is_none() && (args.form.choices || args.form.json) {
        let form = if args.form.choices { "--choices" } else { "--json" };
        return Err(Failure::Usage(format!("`{form}` of several files needs a directory: `-o DIR/`")));
    }
    let source = grammar::load(&args.grammar)?;
    let (parser, compiled, mut engine, recorder) = engines::parser(&source, &args.grammar)?;
    limits::apply(&mut engine, &LimitArgs::default())?;
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, error))?;
    }
    let max_memory = usize::try_from(args.max_memory).unwrap_or(usize::MAX / 2);
    let budget = Budget { max_memory, max_steps: args.max_steps };
    let mut wrong = 0;
    let mut has_raw = false;
    let mut together = Vec::new();
    let names = output_names(&args.files, args.form.extension());
    for (file, name) in args.files.iter().zip(names) {
        let text = match grammar::read_bytes(file) {
            Ok(text) => text,
            Err(failure) => {
                say!("gramjet: {failure}");
                wrong += 1;
                continue;
            }
        };
        let parsed = match parser.parse(&text, &budget) {
            Ok(parsed) => parsed,
            Err(error) => {
                say!("{}", describe(file, &text, &error));
                wrong += 1;
                continue;
            }
        };
        if args.verbose {
            report(file, &text, &parsed);
        }
        let bytes = match &args.form {
            FormArgs { choices: true, .. } if !args.raw => recorder.with_header(&parsed.choices, recorded::unlimited()),
            FormArgs { choices: true, .. } => {
                let mut output = Vec::new();
                engine.producer().produce(&mut Choices::replay(&parsed.choices), &mut output);
                if output != text {
                    say!(
                        "gramjet: {} lies outside the limits that `gramjet render` keeps by itself: \
                         render it with `--max-depth none --max-len none --max-choices {}`",
                        shown(file),
                        parsed.choices.len()
                    );
                }
                has_raw = true;
                parsed.choices
            }
            FormArgs { tree: true, .. } => tree::lines(&compiled, &trace(&compiled, &parsed), &text),
            FormArgs { json: true, .. } => tree::json(&compiled, &trace(&compiled, &parsed)),
            _ => continue,
        };
        match folder {
            Some(folder) => write_output(Some(&folder.join(name)), &bytes)?,
            None => together.extend(bytes),
        }
    }
    if folder.is_none() && wrong < args.files.len() && (args.form.choices || args.form.tree || args.form.json) {
        write_output(args.output.as_deref(), &together)?;
    }
    if has_raw && compiled.by_default.is_some_and(|decision| decision.is_shaped) {
        say!(
            "gramjet: the choice bytes mean this under {} alone, which `gramjet render` takes under the same limits only: leave out \
             `--raw`, or give both commands `--shape uniform`",
            compiled.weights
        );
    }
    if has_raw && let Some(options) = engines::reading_of_others(&source, &args.grammar) {
        say!("gramjet: texts of this grammar are parsed with `{options}`; `gramjet render` needs it, too");
    }
    match (wrong, args.files.len()) {
        (0, _) => Ok(()),
        (1, 1) => Err(Failure::Nonconforming(format!("{} was not parsed", shown(&args.files[0])))),
        (wrong, all) => Err(Failure::Nonconforming(format!("{wrong} of {all} files were not parsed"))),
    }
}

pub fn ends_with_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// The instances of rules that the choice bytes make, without limits.
fn trace(compiled: &Compiled, parsed: &Parsed) -> Trace {
    let mut trace = Trace::default();
    let mut bytes = parsed.choices.iter().copied();
    let limits = reference::Limits::default();
    let mut output = Vec::new();
    reference::run(&compiled.lowered, &compiled.pools, limits, &mut || bytes.next(), &mut output, Some(&mut trace));
    trace
}

pub fn shown(file: &Path) -> String {
    if file.as_os_str() == "-" { "standard input".to_string() } else { quoted(file) }
}

fn report(file: &Path, text: &[u8], parsed: &Parsed) {
    say!(
        "gramjet: {} conforms: {}, {}, {}",
        shown(file),
        plural(text.len() as u64, "byte"),
        plural(parsed.choices.len() as u64, "choice byte"),
        plural(parsed.work.steps, "step")
    );
}

/// `name:line:column: ...`, lines and columns from 1, columns in characters.
pub fn describe(file: &Path, text: &[u8], error: &ParseError) -> String {
    let name = if file.as_os_str() == "-" { "<stdin>".to_string() } else { file.display().to_string() };
    let name = name.escape_debug();
    match error {
        ParseError::Mismatch(mismatch) => {
            let within = mismatch.within.as_ref().map_or_else(String::new, |(rule, offset)| {
                let (line, column) = place(text, *offset);
                format!("\n  in `{rule}`, which begins at {line}:{column}")
            });
            let (line, column) = place(text, mismatch.offset);
            format!("{name}:{line}:{column}: byte {}: {}{within}", mismatch.offset, mismatch.message())
        }
        ParseError::Steps { offset, .. } | ParseError::Memory { offset, .. } => {
            let (line, column) = place(text, *offset);
            let bound = if matches!(error, ParseError::Steps { .. }) { "--max-steps" } else { "--max-memory" };
            format!("{name}:{line}:{column}: {error}; `{bound}` raises the bound")
        }
        ParseError::TooLong { .. } => format!("{name}: {error}"),
    }
}
