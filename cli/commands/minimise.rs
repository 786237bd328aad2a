//! `gramjet minimise`: a smaller file of the grammar on which a command ends in the same way.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use clap::{Args, ValueHint};
use gramjet::{Choices, Producer};
use gramjet_session::Language;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::engine::Engine;
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::progress::Progress;
use crate::recorded;
use crate::source::Source;
use crate::texts::describe;
use crate::units::{self, plural};
use gramjet_campaign::{Stop, StopReason};

mod search;
mod trials;

use search::{End, Search};
use trials::{Artefact, Ending, Trials};

/// Make a file smaller that a command fails on, within the grammar.
#[derive(Debug, Args)]
#[command(visible_alias = "tmin", after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The file.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    /// The file has choice bytes, as the artefacts of libFuzzer and LibAFL have. The command gets choice bytes, too;
    /// the result is written as text.
    #[arg(long)]
    choices: bool,

    /// Write the choice bytes of the result to this file, in addition to the text: with a header, as `gramjet render`
    /// takes them, or with `--choices` as they are.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    choices_output: Option<PathBuf>,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Test at most this many texts.
    #[arg(long, value_name = "N", default_value = "10k", value_parser = units::parse_count)]
    max_tests: u64,

    /// Run up to N commands at the same time, or `auto` for one per processor; the result does not depend on it.
    ///
    /// Each command gets its own file for the text. Other files that commands write must not conflict.
    #[arg(short, long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = units::parse_jobs)]
    jobs: usize,

    /// End the command after this long; that counts as a way to end of its own.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = units::parse_duration)]
    timeout: Duration,

    /// Say how it went.
    #[arg(short, long)]
    verbose: bool,

    /// Show no progress line.
    #[arg(long)]
    no_progress: bool,

    /// The command, after `--`. It gets the name of a file with the text in place of `@@`; without `@@`, it reads the
    /// text from standard input.
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,

    // The last field, as its heading holds for all arguments that follow.
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  gramjet minimise json crash.json -o small.json -- ./my-parser @@
  gramjet minimise json crash-1f2e --choices --max-depth 1000 -- ./my-fuzz-target @@
  gramjet minimise my.ebnf crash -- sh -c './my-parser 2>&1 | grep -q \"assertion failed\" && exit 1'

Kept is what the command ends with on the file as it is: its exit code, which must not be 0, a signal, or the timeout.";

/// Minimises a file.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    refuse_shared_streams(args)?;
    let source = Source::load(&args.grammar)?;
    let bytes = bytes(args)?;
    let (language, text, artefact) = read(args, source, bytes)?;
    let choices = language.parse(&text).map_err(|error| {
        say!("{}", describe(&args.file, &text, &error));
        Failure::Nonconforming(format!("{} was not parsed", shown(&args.file)))
    })?;
    let mut tracer = language.parsing_tracer();
    let stop = crate::stop::on_signals();
    let mut trials = Trials::new(&args.command, args.timeout, args.jobs, artefact, stop.clone())?;
    let expected = expected_ending(&mut trials, &text, &args.file, &stop)?;
    let mut search = Search::new(&mut tracer, &choices, args.max_tests);
    let mut progress = if args.no_progress { Progress::hidden() } else { Progress::of_search(text.len()) };
    let end = search.run(&mut tracer, &mut trials, expected, &mut progress)?;
    progress.finish();
    write(args, &search, &language, &mut trials)?;
    conclude(args, &search, end, text.len(), &stop)
}

/// Refuses arguments that name standard input or output twice.
fn refuse_shared_streams(args: &Arguments) -> Result<(), Failure> {
    if args.grammar.grammar == "-" && args.file.as_os_str() == "-" {
        return Err(Failure::Usage("the grammar and the file cannot both come from standard input".to_string()));
    }
    let is_standard_output = |path: &Option<PathBuf>| path.as_ref().is_none_or(|path| path.as_os_str() == "-");
    if args.choices_output.is_some() && is_standard_output(&args.choices_output) && is_standard_output(&args.output) {
        return Err(Failure::Usage("the text and its choice bytes cannot both go to standard output".to_string()));
    }
    Ok(())
}

/// Returns the language, the text to minimise, and for a fuzz target the choice bytes that stand for it under the
/// target's limits.
fn read(args: &Arguments, source: Source, bytes: Vec<u8>) -> Result<(Language, Vec<u8>, Option<Artefact>), Failure> {
    let grammar = if args.choices { args.grammar.clone() } else { args.grammar.for_texts() };
    // No input is random.
    let prepared = Prepared::new(source, &grammar, &args.limits)?.with_own_weights();
    let compiled = prepared.compile()?;
    let language = Language::unlimited(compiled, &prepared.options);
    if !args.choices {
        return Ok((language, bytes, None));
    }
    let mut producer = Engine::fastest(compiled, prepared.wanted())?.producer();
    let mut text = Vec::new();
    producer.produce(&mut Choices::replay(&bytes), &mut text);
    let artefact = Artefact { choices: bytes, text: text.clone(), language: language.clone(), producer };
    Ok((language, text, Some(artefact)))
}

/// Returns how the command ends on the file as it is. The search keeps this ending.
fn expected_ending(trials: &mut Trials<'_>, text: &[u8], file: &Path, stop: &Stop) -> Result<Ending, Failure> {
    let expected = trials.ending(text, &mut || {})?;
    if let Some(StopReason::Signal(name, signal)) = stop.reason() {
        let reached = format!("before the command had ended on {}; nothing is written", shown(file));
        return Err(Failure::Stopped { name, signal, reached });
    }
    if expected == Ending::Status(ExitStatus::default()) {
        return Err(Failure::Usage(format!("the command succeeds on {}: there is nothing to keep", shown(file))));
    }
    Ok(expected)
}

/// Writes the simplest text, and its choice bytes if they are asked for.
fn write(args: &Arguments, search: &Search, language: &Language, trials: &mut Trials<'_>) -> Result<(), Failure> {
    let best = search.best();
    write_output(args.output.as_deref(), best.output())?;
    let Some(path) = &args.choices_output else { return Ok(()) };
    let choices = if args.choices {
        // The choice bytes with which the target was tested.
        trials.choices(best.output()).unwrap_or_default()
    } else {
        language.with_header(best.choices())
    };
    write_output(Some(path), &choices)
}

/// Reports how a search ended that began with a text of `len` bytes.
fn conclude(args: &Arguments, search: &Search, end: End, len: usize, stop: &Stop) -> Result<(), Failure> {
    let (before, after) = (plural(len as u64, "byte"), plural(search.best().output().len() as u64, "byte"));
    let tests = plural(search.tests(), "test");
    if let (End::Stopped, Some(StopReason::Signal(name, signal))) = (end, stop.reason()) {
        let reached = format!("after {tests}: from {before} to {after}, which are written");
        return Err(Failure::Stopped { name, signal, reached });
    }
    if args.verbose || end == End::Exhausted {
        let end = if end == End::Exhausted { "; `--max-tests` ended the search" } else { "" };
        say!("gramjet: from {before} to {after} in {tests}{end}");
    }
    Ok(())
}

/// Reads the file: a text, or with `--choices` the choice bytes of a fuzz target.
fn bytes(args: &Arguments) -> Result<Vec<u8>, Failure> {
    let bytes = files::read_bytes(&args.file)?;
    if !args.choices {
        let limits = &args.limits;
        if limits.max_depth.is_some() || limits.max_len.is_some() || limits.max_choices.is_some() {
            return Err(Failure::Usage("limits belong to choice bytes: they need `--choices`".to_string()));
        }
        return Ok(bytes);
    }
    if let (Some(_), _) = recorded::split(&bytes)? {
        return Err(Failure::Usage(format!(
            "{} has a header, as `gramjet parse --choices` writes it; `--choices` is for the choice bytes of a fuzz target: render \
             the file, and minimise the text",
            shown(&args.file)
        )));
    }
    Ok(bytes)
}
