//! `gramjet infer`: a grammar from samples and a program.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::Resettable;
use clap::{Args, ValueHint};
use gramjet::{Choices, Producer as _};
use gramjet_compiler::SourceFile;
use gramjet_harness::{Error, Outcome, Target as _};
use gramjet_infer::{Inferred, Options, Oracle, Unusable, infer};
use gramjet_session::{Bound, Language, Settings};

use crate::arguments::run::{RunArgs, parse_timeout};
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::output::whole::write_output;
use crate::samples;
use crate::stop::{Stop, StopReason};
use crate::subject::Tested;
use crate::units::{self, plural};

/// Infer a grammar from samples and a program that accepts or rejects texts.
///
/// The program is run on variants of the samples. It accepts a text if it exits with status 0; a function accepts it if
/// it returns.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The samples: a file, or a folder with files. The option may be given more than once.
    #[arg(long, value_name = "DIR", required = true, value_hint = ValueHint::AnyPath)]
    samples: Vec<PathBuf>,

    /// Write the grammar to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Report how many of the files in this folder conform to the grammar.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::AnyPath)]
    held_out: Vec<PathBuf>,

    /// Run the program at most this many times.
    #[arg(long, value_name = "N", default_value = "100k", value_parser = units::parse_count)]
    max_tests: u64,

    /// Ask no more questions after this long; what is not known by then is not generalised.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = units::parse_duration)]
    time: Duration,

    /// A run that takes longer rejects its text.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = parse_timeout)]
    timeout: Duration,

    /// The number that random checks depend on.
    #[arg(short, long, value_name = "SEED", default_value = "0", allow_negative_numbers = true, value_parser = units::parse_seed)]
    seed: u64,

    #[command(flatten)]
    run: RunArgs,

    /// The program, after `--`. `@@` stands for the name of a file with the text; without it, the text is standard
    /// input. Or a function: `python:MODULE:FUNCTION`, `node:FILE#FUNCTION`, `java:CLASSPATH:CLASS#METHOD`.
    #[arg(value_name = "PROGRAM", required = true, last = true, help_heading = Resettable::Reset)]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  gramjet infer --samples examples/ -o mine.ebnf -- ./my-parser @@
  gramjet infer --samples examples/ --held-out more/ -- python:json:loads
  gramjet infer --samples formulas/ --time 1m -- sh -c 'bc 2>&1 | grep -q error && exit 1 || exit 0'

Exit status: 0 if there is a grammar; 1 if none can be inferred: the program rejects a sample, accepts every text, or
cannot be run; 2 if the arguments cannot be used.";

/// Inputs of the grammar that the program is run on in the end.
const INPUTS: u64 = 200;
/// Limits of these inputs.
const MAX_LEN: u64 = 2000;
const MAX_DEPTH: u32 = 20;
/// Timeouts in a row that end the inference.
const TIMEOUTS: u32 = 50;

/// The program as an oracle.
struct Asking<'s> {
    tested: Tested,
    stop: &'s Stop,
    /// The latest runs that took too long.
    timeouts: u32,
    failure: Option<Failure>,
}

impl Asking<'_> {
    fn ask(&mut self, text: &[u8]) -> Result<Outcome, Error> {
        Ok(self.tested.run(text)?.outcome)
    }
}

impl Oracle for Asking<'_> {
    /// After a failure and after a signal it rejects what it is asked, so that the inference ends.
    fn accepts(&mut self, text: &[u8]) -> bool {
        if self.failure.is_some() || self.stop.is_signalled() {
            return false;
        }
        match self.ask(text) {
            Ok(Outcome::Timeout) => {
                self.timeouts += 1;
                if self.timeouts == TIMEOUTS {
                    let problem =
                        format!("the program took too long {TIMEOUTS} times in a row; `--timeout` gives it more time");
                    self.failure = Some(Failure::Found(problem));
                }
                false
            }
            Ok(outcome) => {
                self.timeouts = 0;
                outcome == Outcome::Exit(0)
            }
            Err(error) => {
                self.failure = Some(error.into());
                false
            }
        }
    }
}

/// Infers.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let paths = samples::find(&args.samples)?;
    let held_out = samples::find(&args.held_out)?;
    let texts = paths.iter().map(|path| files::read_bytes(path)).collect::<Result<Vec<_>, _>>()?;
    let surroundings = args.run.surroundings(args.timeout);
    let tested = Tested::new(&args.command, surroundings)?;
    args.run.warn_of_confinement();
    let stop = Stop::on_signals();
    let mut asking = Asking { tested, stop: &stop, timeouts: 0, failure: None };
    let options = Options { max_calls: args.max_tests, time: Some(args.time), seed: args.seed };
    let inferred = infer(&texts, &mut asking, &options);
    if let Some(failure) = asking.failure.take() {
        return Err(failure);
    }
    if let Some(StopReason::Signal(name, signal)) = stop.reason() {
        let reached = "before there was a grammar; nothing is written".to_string();
        return Err(Failure::Stopped { name, signal, reached });
    }
    let inferred = inferred.map_err(|unusable| refuse(unusable, &paths, &texts, &mut asking))?;
    write_output(args.output.as_deref(), inferred.grammar.as_bytes())?;
    report(args, texts.len(), &inferred);
    judge(&inferred, args.seed, &held_out, &mut asking)
}

/// Why there is no grammar.
fn refuse(unusable: Unusable, paths: &[PathBuf], texts: &[Vec<u8>], asking: &mut Asking<'_>) -> Failure {
    let problem = match unusable {
        Unusable::NoSamples => return Failure::Usage("there is no sample that is not empty".to_string()),
        Unusable::Rejected(number) => {
            let outcome = asking.ask(&texts[number]).map_or_else(|error| error.to_string(), |end| end.to_string());
            format!("the program rejects the sample {}: {outcome}", shown(&paths[number]))
        }
        Unusable::AcceptsEverything => {
            "the program accepts every text, also noise; it must end with another exit status than 0 on texts that are not valid"
                .to_string()
        }
    };
    Failure::Found(problem)
}

fn report(args: &Arguments, samples: usize, inferred: &Inferred) {
    let (rules, samples) = (plural(inferred.rules as u64, "rule"), plural(samples as u64, "sample"));
    say!("gramjet: {rules} from {samples} and {}", plural(inferred.calls, "run"));
    if inferred.is_exhausted {
        let bound = if inferred.calls >= args.max_tests { "--max-tests" } else { "--time" };
        say!("gramjet: `{bound}` ended the questions, so the grammar may be less general than it could be");
    }
}

/// Reports how many inputs of the grammar the program accepts, and how many of other files the grammar takes.
fn judge(inferred: &Inferred, seed: u64, held_out: &[PathBuf], asking: &mut Asking<'_>) -> Result<(), Failure> {
    let file = SourceFile::new("inferred.ebnf", inferred.grammar.as_str());
    let settings =
        Settings { max_depth: Bound::At(MAX_DEPTH.into()), max_len: Bound::At(MAX_LEN), ..Settings::default() };
    let language = Language::compile(&file, &settings).map_err(|error| Failure::Internal(error.to_string()))?;
    let mut producer = language.producer();
    let mut accepted = 0;
    for number in 0..INPUTS {
        let mut text = Vec::new();
        producer.produce(&mut Choices::of_block(seed, number), &mut text);
        accepted += u64::from(asking.accepts(&text));
    }
    if let Some(failure) = asking.failure.take() {
        return Err(failure);
    }
    say!("gramjet: precision: the program accepts {accepted} of {INPUTS} inputs of the grammar");
    if !held_out.is_empty() {
        let mut parsed = 0;
        for path in held_out {
            parsed += u64::from(language.parse(&files::read_bytes(path)?).is_ok());
        }
        say!("gramjet: recall: {parsed} of {} conform to the grammar", plural(held_out.len() as u64, "other file"));
    }
    Ok(())
}
