//! `gramjet minimise`: a smaller file of the grammar on which a command ends in the same way.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, ValueHint};
use gramjet::choices::minimise;
use gramjet::{Choices, Producer};
use gramjet_parse::{Budget, Parser};

use crate::args::{EngineArgument, GrammarArgs, LimitArgs};
use crate::engines;
use crate::failure::{Failure, quoted, say};
use crate::generate::Tally;
use crate::grammar::{self, Source};
use crate::limits;
use crate::parse::{describe, shown};
use crate::recorded;
use crate::stop::{Stop, StopReason};
use crate::texts::write_output;
use crate::units::{self, plural};

/// `gramjet minimise`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct MinimiseArgs {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The file.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    /// The file has choice bytes, as the artefacts of libFuzzer and LibAFL have, and so has what the command gets; what is
    /// written is the text.
    #[arg(long)]
    choices: bool,

    /// Write the choice bytes of the result to this file, besides the text.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    choices_output: Option<PathBuf>,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Run the command at most so often.
    #[arg(long, value_name = "N", default_value = "10k", value_parser = units::parse_count)]
    max_tests: u64,

    /// End the command after this long; that counts as a way to end of its own.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = units::parse_duration)]
    timeout: Duration,

    /// Say how it went.
    #[arg(short, long)]
    verbose: bool,

    /// The command, behind `--`. For `@@` stands the name of a file with the text; without it, the text is standard input.
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,

    // The last, as its heading holds for all that follows.
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  gramjet minimise json crash.json -o small.json -- ./my-parser @@
  gramjet minimise json crash-1f2e --choices --max-depth 1000 -- ./my-fuzz-target @@
  gramjet minimise my.ebnf crash -- sh -c './my-parser 2>&1 | grep -q \"assertion failed\" && exit 1'

Kept is what the command ends with on the file as it is: its exit code, which must not be 0, a signal, or the timeout.";

impl MinimiseArgs {
    /// Tells the grammar's arguments under which limits the choice bytes were made.
    pub fn assume_limits(&mut self) {
        if self.choices {
            self.grammar.how.limits = self.limits.assumed();
        }
    }
}

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Status(ExitStatus),
    Timeout,
    /// It was not run, as the choice bytes of the text were not found within the parser's budget.
    Unparsed,
    /// A signal to gramjet was its end.
    Stopped,
}

/// Minimises a file.
pub fn run(args: &MinimiseArgs) -> Result<(), Failure> {
    if args.grammar.grammar == "-" && args.file.as_os_str() == "-" {
        return Err(Failure::Usage("the grammar and the file cannot both come from standard input".to_string()));
    }
    let source = grammar::load(&args.grammar)?;
    let (parser, mut tracer, _) = match args.choices {
        true => engines::unlimited_as_read(&source, &of_fuzz_target(&args.grammar))?,
        false => engines::unlimited(&source, &args.grammar)?,
    };
    let text = text(args, &source)?;
    let parsed = parser.parse(&text, &Budget::default()).map_err(|error| {
        say!("{}", describe(&args.file, &text, &error));
        Failure::Nonconforming(format!("{} was not parsed", shown(&args.file)))
    })?;
    let stop = Stop::on_signals();
    let place = Place::new(stop.clone(), args.choices.then_some(&parser))?;
    let expected = place.ending(args, &text)?;
    if let Some(StopReason::Signal(name, signal)) = stop.reason() {
        return Err(Failure::Interrupted { name, signal, written: Tally::default() });
    }
    if expected == Ending::Status(ExitStatus::default()) {
        return Err(Failure::Usage(format!("the command succeeds on {}: there is nothing to keep", shown(&args.file))));
    }
    let mut failure = None;
    let mut test = |output: &[u8]| match place.ending(args, output) {
        Ok(ending) => failure.is_none() && ending == expected,
        Err(error) => {
            failure.get_or_insert(error);
            false
        }
    };
    let found = minimise(&mut tracer, &parsed.choices, args.max_tests, &mut test);
    if let Some(failure) = failure {
        return Err(failure);
    }
    write_output(args.output.as_deref(), &found.output)?;
    if let Some(path) = &args.choices_output {
        write_output(Some(path), &found.choices)?;
    }
    if let Some(StopReason::Signal(name, signal)) = stop.reason() {
        let written = Tally { inputs: 1, bytes: found.output.len() as u64 };
        return Err(Failure::Interrupted { name, signal, written });
    }
    if args.verbose || found.exhausted {
        let end = if found.exhausted { "; `--max-tests` ended the search" } else { "" };
        let (before, after) = (plural(text.len() as u64, "byte"), plural(found.output.len() as u64, "byte"));
        say!("gramjet: from {before} to {after} in {}{end}", plural(found.tests, "test"));
    }
    Ok(())
}

/// How fuzz targets read the grammar: with its own weights, unless others are asked for.
fn of_fuzz_target(args: &GrammarArgs) -> GrammarArgs {
    let mut args = args.clone();
    let shape = &mut args.how.shape;
    shape.own = shape.shape.is_none() && shape.weights.is_none();
    args
}

/// The text to begin with: that of the file, or what its choice bytes stand for under the limits.
fn text(args: &MinimiseArgs, source: &Source) -> Result<Vec<u8>, Failure> {
    let bytes = grammar::read_bytes(&args.file)?;
    if !args.choices {
        let limits = &args.limits;
        if limits.max_depth.is_some() || limits.max_len.is_some() || limits.max_choices.is_some() {
            return Err(Failure::Usage("limits belong to choice bytes: they need `--choices`".to_string()));
        }
        return Ok(bytes);
    }
    if let (Some(_), _) = recorded::split(&bytes, false)? {
        return Err(Failure::Usage(format!(
            "{} has a header, as `gramjet parse --choices` writes it; `--choices` is for the choice bytes of a fuzz target: render \
             the file, and minimise the text",
            shown(&args.file)
        )));
    }
    let mut engine = engines::prepare(source, &of_fuzz_target(&args.grammar), EngineArgument::Auto, &args.limits)?;
    limits::apply(&mut engine, &args.limits)?;
    let mut text = Vec::new();
    engine.producer().produce(&mut Choices::replay(&bytes), &mut text);
    Ok(text)
}

/// A directory of this process alone, for the file that the command reads; removed at the end.
struct Place<'p> {
    directory: PathBuf,
    stop: Stop,
    /// What finds the choice bytes of a text, if the command gets these.
    parser: Option<&'p Parser>,
}

impl<'p> Place<'p> {
    fn new(stop: Stop, parser: Option<&'p Parser>) -> Result<Place<'p>, Failure> {
        let directory = std::env::temp_dir().join(format!("gramjet-minimise-{}", std::process::id()));
        fs::create_dir(&directory).map_err(|error| Failure::writing(&directory, error))?;
        Ok(Place { directory, stop, parser })
    }

    /// How the command ends on a text.
    fn ending(&self, args: &MinimiseArgs, text: &[u8]) -> Result<Ending, Failure> {
        if self.stop.is_requested() {
            return Ok(Ending::Stopped);
        }
        let path = self.directory.join("input");
        let parsed = self.parser.map(|parser| parser.parse(text, &Budget::default()));
        let bytes = match &parsed {
            None => text,
            Some(Ok(parsed)) => &parsed.choices,
            // A text of the grammar that costs too much to parse.
            Some(Err(_)) => return Ok(Ending::Unparsed),
        };
        fs::write(&path, bytes).map_err(|error| Failure::writing(&path, error))?;
        let program = &args.command[0];
        run_command(program, &args.command[1..], &path, args.timeout, &self.stop)
            .map_err(|error| Failure::Usage(format!("cannot run {}: {error}", quoted(program))))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // A directory that is left over harms nobody.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn run_command(
    program: &OsString,
    arguments: &[OsString],
    path: &Path,
    timeout: Duration,
    stop: &Stop,
) -> io::Result<Ending> {
    let mut names_file = false;
    let arguments = arguments.iter().map(|argument| match argument.to_str() {
        Some(text) if text.contains("@@") => {
            names_file = true;
            OsString::from(text.replace("@@", &path.to_string_lossy()))
        }
        _ => argument.clone(),
    });
    let arguments: Vec<OsString> = arguments.collect();
    let stdin = if names_file { Stdio::null() } else { File::open(path)?.into() };
    let mut command = Command::new(program);
    command.args(arguments).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
    // What the command starts itself is ended with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ending::Status(status));
        }
        if stop.is_requested() || begin.elapsed() >= timeout {
            kill(&mut child)?;
            return Ok(if stop.is_requested() { Ending::Stopped } else { Ending::Timeout });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Ends a command and all that it has started.
fn kill(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Not waited for yet, so the number of the group is still its own. If it has gone, that is what is wanted.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    child.kill()?;
    child.wait().map(|_| ())
}
