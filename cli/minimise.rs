//! `gramjet minimise`: a smaller file of the grammar on which a command ends in the same way.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueHint};
use gramjet::Choices;
use gramjet::choices::{Minimiser, Tracer};
use gramjet_parse::Budget;
use gramjet_session::ParsingTracer;

use crate::args::{GrammarArgs, LimitArgs};
use crate::engines;
use crate::failure::{Failure, say};
use crate::grammar;
use crate::parse::{describe, shown};
use crate::progress::Progress;
use crate::recorded;
use crate::stop::{Stop, StopReason};
use crate::texts::write_output;
use crate::units::{self, plural};

mod trials;

use trials::{Artefact, Ending, Trials};

/// `gramjet minimise`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct MinimiseArgs {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The file.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    /// The file has choice bytes, as the artefacts of libFuzzer and LibAFL have. The command gets choice bytes, too; what is written is
    /// the text.
    #[arg(long)]
    choices: bool,

    /// Write the choice bytes of the result to this file, besides the text: with a header, as `gramjet render` takes them, or with
    /// `--choices` as they are.
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
    /// Each has a file of its own for the text. What else a command writes must not be in the way of another one.
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

/// Minimises a file.
pub fn run(args: &MinimiseArgs) -> Result<(), Failure> {
    if args.grammar.grammar == "-" && args.file.as_os_str() == "-" {
        return Err(Failure::Usage("the grammar and the file cannot both come from standard input".to_string()));
    }
    let is_standard_output = |path: &Option<PathBuf>| path.as_ref().is_none_or(|path| path.as_os_str() == "-");
    if args.choices_output.is_some() && is_standard_output(&args.choices_output) && is_standard_output(&args.output) {
        return Err(Failure::Usage("the text and its choice bytes cannot both go to standard output".to_string()));
    }
    let source = grammar::load(&args.grammar)?;
    let bytes = bytes(args)?;
    let (parser, tracer, producer, limited, recorder) = match args.choices {
        true => {
            let (parser, tracer, producer, limited) = engines::of_fuzz_target(&source, &args.grammar, &args.limits)?;
            (parser, tracer, producer, Some(limited), None)
        }
        false => {
            let (parser, tracer, producer, recorder) = engines::unlimited(&source, &args.grammar)?;
            (parser, tracer, producer, None, Some(recorder))
        }
    };
    let parser = Arc::new(parser);
    let (text, artefact) = match limited {
        None => (bytes, None),
        Some(mut producer) => {
            let mut text = Vec::new();
            producer.produce(&mut Choices::replay(&bytes), &mut text);
            (text.clone(), Some(Artefact { choices: bytes, text, parser: Arc::clone(&parser), producer }))
        }
    };
    let parsed = parser.parse(&text, &Budget::default()).map_err(|error| {
        say!("{}", describe(&args.file, &text, &error));
        Failure::Nonconforming(format!("{} was not parsed", shown(&args.file)))
    })?;
    let mut tracer = ParsingTracer::new(tracer, producer, parser);
    let stop = Stop::on_signals();
    let mut trials = Trials::new(&args.command, args.timeout, args.jobs, artefact, stop.clone())?;
    let expected = trials.ending(&text, &mut || {})?;
    if let Some(StopReason::Signal(name, signal)) = stop.reason() {
        let reached = format!("before the command had ended on {}; nothing is written", shown(&args.file));
        return Err(Failure::Stopped { name, signal, reached });
    }
    if expected == Ending::Status(ExitStatus::default()) {
        return Err(Failure::Usage(format!("the command succeeds on {}: there is nothing to keep", shown(&args.file))));
    }
    let mut search = Search {
        minimiser: Minimiser::new(&mut tracer, &parsed.choices),
        ahead: None,
        tests: 0,
        proposed: 0,
        max_tests: args.max_tests,
    };
    let mut progress = if args.no_progress { Progress::hidden() } else { Progress::of_search(text.len()) };
    let end = search.run(&mut tracer, &mut trials, expected, &mut progress)?;
    progress.finish();
    let best = search.minimiser.best();
    write_output(args.output.as_deref(), best.output())?;
    if let Some(path) = &args.choices_output {
        let choices = match &recorder {
            Some(recorder) => recorder.with_header(best.choices(), recorded::unlimited()),
            // What was tested is replayed by the target.
            None => trials.choices(best.output()).unwrap_or_default(),
        };
        write_output(Some(path), &choices)?;
    }
    let (before, after) = (plural(text.len() as u64, "byte"), plural(best.output().len() as u64, "byte"));
    let tests = plural(search.tests, "test");
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

/// A search whose tests are run by a command.
struct Search {
    minimiser: Minimiser,
    /// The same search under the assumption that nothing holds of what runs: it says what to run beside.
    ahead: Option<Minimiser>,
    /// Texts that were tested, and those that `ahead` has come to.
    tests: u64,
    proposed: u64,
    max_tests: u64,
}

/// Why a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nothing helps any more.
    Found,
    /// The number of tests.
    Exhausted,
    /// A signal to gramjet.
    Stopped,
}

impl Search {
    /// Looks for ever simpler texts on which the command ends as it is expected to. The search is the one that a single job makes,
    /// whatever runs ahead of it.
    fn run(
        &mut self,
        tracer: &mut impl Tracer,
        trials: &mut Trials<'_>,
        expected: Ending,
        progress: &mut Progress,
    ) -> Result<End, Failure> {
        while self.tests < self.max_tests {
            let Some(proposed) = self.minimiser.propose(tracer) else { return Ok(End::Found) };
            let text = proposed.to_vec();
            trials.start(&text)?;
            self.fill(tracer, trials)?;
            let (tests, len) = (self.tests, self.minimiser.best().output().len());
            let ending = trials.ending(&text, &mut || progress.update_search(tests, len))?;
            if ending == Ending::Stopped {
                return Ok(End::Stopped);
            }
            self.tests += 1;
            let holds = ending == expected;
            if holds {
                // What runs are parts of a text that is given up.
                trials.drop_all();
                self.ahead = None;
            }
            self.minimiser.judge(tracer, holds);
        }
        Ok(End::Exhausted)
    }

    /// Starts commands while there is room beside the one that the search waits for.
    fn fill(&mut self, tracer: &mut impl Tracer, trials: &mut Trials<'_>) -> Result<(), Failure> {
        while trials.has_room_beside() {
            if self.ahead.is_none() {
                self.proposed = self.tests + 1;
            }
            let ahead = self.ahead.get_or_insert_with(|| self.minimiser.clone());
            if self.proposed >= self.max_tests {
                break;
            }
            ahead.judge(tracer, false);
            let Some(next) = ahead.propose(tracer) else { break };
            self.proposed += 1;
            let next = next.to_vec();
            trials.start(&next)?;
        }
        Ok(())
    }
}

/// What the file holds.
fn bytes(args: &MinimiseArgs) -> Result<Vec<u8>, Failure> {
    let bytes = grammar::read_bytes(&args.file)?;
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
