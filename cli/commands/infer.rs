//! `gramjet infer`: a grammar from samples and a program.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueHint};
use gramjet::{Choices, Producer as _};
use gramjet_campaign::Watch;
use gramjet_compiler::SourceFile;
use gramjet_infer::{Exhausted, Inferred, Options, Unusable, infer};
use gramjet_session::{Bound, Language, Settings};

use crate::arguments::accept::OracleArgs;
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::oracle::Oracle;
use crate::output::whole::write_output;
use crate::samples;
use crate::units::{self, plural};

/// Infer a grammar from samples and a program that accepts or rejects texts.
///
/// The program is run on variants of the samples, and the grammar takes what it accepts. All samples conform to the
/// grammar.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The samples: a file, or a folder with files. The option may be given more than once.
    #[arg(long, value_name = "DIR", required = true, value_hint = ValueHint::AnyPath)]
    samples: Vec<PathBuf>,

    /// Report how many of the files in this folder conform to the grammar.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::AnyPath)]
    held_out: Vec<PathBuf>,

    /// Write the grammar to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// End after this long; what is not known by then is not generalised.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = units::parse_duration)]
    time: Duration,

    /// Run the program at most this many times.
    #[arg(long, value_name = "N", default_value = "100k", value_parser = units::parse_count)]
    max_tests: u64,

    /// Leave out samples that are longer.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = units::parse_size)]
    max_sample: u64,

    /// The number that random checks depend on.
    #[arg(short, long, value_name = "SEED", default_value = "0", allow_negative_numbers = true, value_parser = units::parse_seed)]
    seed: u64,

    #[command(flatten)]
    oracle: OracleArgs,
}

const EXAMPLES: &str = "\
Examples:
  gramjet infer --samples examples/ -o mine.ebnf -- ./my-parser @@
  gramjet infer --samples examples/ --held-out more/ -- python:json:loads
  gramjet infer --samples formulas/ --time 1m --reject-regex error -- bc

Exit status: 0 if there is a grammar; 1 if none can be inferred: the program rejects a sample, accepts every text, or
cannot be run; 2 if the arguments cannot be used.";

/// Inputs of the grammar that the program is run on in the end.
const INPUTS: u64 = 200;
/// The longest of these inputs.
const MAX_LEN: u64 = 400;
/// The samples have no more bytes in all.
const MAX_SAMPLES: usize = 64 << 10;

impl gramjet_infer::Oracle for Oracle {
    fn accepts(&mut self, text: &[u8]) -> Option<bool> {
        Oracle::accepts(self, text)
    }
}

/// Infers.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let paths = samples::find(&args.samples)?;
    let held_out = if args.held_out.is_empty() { Vec::new() } else { samples::find(&args.held_out)? };
    let texts = read(args, &paths)?;
    let stop = crate::stop::on_signals();
    stop.after(args.time);
    let _watch = Watch::new(&stop, Instant::now().checked_add(args.time));
    let mut oracle = Oracle::new(&args.oracle, args.max_tests, stop)?;
    args.oracle.run.warn_of_confinement();
    say!("gramjet: {}", oracle.describe());
    let inferred = infer(&texts, &mut oracle, &options(args));
    // Nothing was written yet.
    oracle.finish("nothing is written")?;
    let inferred = inferred.map_err(|unusable| refuse(unusable, args, (&paths, &texts), &mut oracle))?;
    report(args, &paths, &inferred, &oracle);
    let measured = measure(&inferred, args.seed, &held_out, &mut oracle)?;
    write_output(args.output.as_deref(), inferred.grammar.as_bytes())?;
    measured.say();
    oracle.finish("the grammar is written")?;
    Ok(())
}

/// Returns the samples. Those that are too long are not read.
fn read(args: &Arguments, paths: &[PathBuf]) -> Result<Vec<Vec<u8>>, Failure> {
    let read = |path: &PathBuf| {
        // Whatever has one byte more is too long.
        let most = options(args).max_sample.min(MAX_SAMPLES);
        let is_long = std::fs::metadata(path).is_ok_and(|file| file.len() > most as u64);
        if is_long { Ok(vec![b' '; most + 1]) } else { files::read_bytes(path) }
    };
    paths.iter().map(read).collect()
}

/// Returns the options. They leave a part of the runs and of the time for the inputs in the end.
fn options(args: &Arguments) -> Options {
    Options {
        max_calls: args.max_tests.saturating_sub(INPUTS).max(args.max_tests / 2),
        time: Some(args.time.mul_f64(0.9)),
        max_sample: usize::try_from(args.max_sample).unwrap_or(usize::MAX),
        max_samples: MAX_SAMPLES,
        seed: args.seed,
    }
}

/// Returns why there is no grammar.
fn refuse(
    unusable: Unusable,
    args: &Arguments,
    (paths, texts): (&[PathBuf], &[Vec<u8>]),
    oracle: &mut Oracle,
) -> Failure {
    let rule = oracle.rule();
    match unusable {
        Unusable::NoSamples => Failure::Usage(unusable.to_string()),
        Unusable::TooLong => {
            let limit = units::display_size(args.max_sample);
            Failure::Usage(format!(
                "all samples are longer than {limit}; short samples work best, `--max-sample` allows longer ones"
            ))
        }
        Unusable::Rejected(number) if oracle.counts().stopped > 0 => {
            let sample = shown(&paths[number]);
            Failure::Useless(format!(
                "the program exceeded a limit on the sample {sample}: raise `--timeout` or `--memory`, or see what it waits for"
            ))
        }
        Unusable::Rejected(number) => {
            let why = oracle.why(&texts[number]).unwrap_or_else(|| rule.to_string());
            Failure::Useless(format!("the program rejects the sample {}: {why}", shown(&paths[number])))
        }
        Unusable::AcceptsEverything => {
            Failure::Useless(format!("the program accepts whatever it gets, also nonsense: {rule}"))
        }
        Unusable::Unanswered => {
            Failure::Useless("`--time` or `--max-tests` ended before the program was run on all samples".to_string())
        }
        Unusable::Defect(problem) => Failure::Internal(problem),
    }
}

fn report(args: &Arguments, paths: &[PathBuf], inferred: &Inferred, oracle: &Oracle) {
    let (each, all) = (units::display_size(args.max_sample), units::display_size(MAX_SAMPLES as u64));
    for &number in &inferred.left_out {
        let path = shown(&paths[number]);
        say!("gramjet: {path} is left out: samples have at most {each} (`--max-sample`), and {all} together");
    }
    let used = (paths.len() - inferred.left_out.len()) as u64;
    let (rules, used) = (plural(inferred.rules as u64, "rule"), plural(used, "sample"));
    let counts = oracle.counts();
    say!("gramjet: {rules} from {used} and {} in {:.1} s", plural(counts.runs, "run"), counts.time.as_secs_f64());
    let bound = match inferred.exhausted {
        Some(Exhausted::Calls) => "--max-tests",
        Some(Exhausted::Time | Exhausted::Oracle) => "--time",
        None => "",
    };
    if !bound.is_empty() {
        say!("gramjet: `{bound}` ended the questions, so the grammar may be less general than it could be");
    }
    if inferred.verbatim > 0 {
        let some = plural(inferred.verbatim as u64, "sample");
        say!("gramjet: {some} in the grammar as they are, as the other rules do not derive them");
    }
}

/// Measures of how good a grammar is.
struct Measured {
    /// Inputs of the grammar that the program accepts, of how many.
    accepted: (u64, u64),
    /// Other files that conform to the grammar, of how many.
    parsed: (u64, u64),
}

/// Runs the program on inputs of the grammar, and parses other files.
fn measure(inferred: &Inferred, seed: u64, held_out: &[PathBuf], oracle: &mut Oracle) -> Result<Measured, Failure> {
    let file = SourceFile::new("inferred.ebnf", inferred.grammar.as_str());
    // As deep as `gramjet gen` goes, so that its inputs are as good as is said.
    let settings = Settings { max_len: Bound::At(MAX_LEN), ..Settings::default() };
    let language = Language::compile(&file, &settings).map_err(|error| Failure::Internal(error.to_string()))?;
    let mut producer = language.producer();
    let mut accepted = (0, 0);
    for number in 0..INPUTS {
        let mut text = Vec::new();
        producer.produce(&mut Choices::of_block(seed, number), &mut text);
        let Some(answer) = oracle.accepts(&text) else { break };
        accepted = (accepted.0 + u64::from(answer), accepted.1 + 1);
    }
    let conforms = |path: &PathBuf| Ok(language.parse(&files::read_bytes(path)?).is_ok());
    let parsed = held_out.iter().map(conforms).collect::<Result<Vec<bool>, Failure>>()?;
    let parsed = (parsed.iter().filter(|&&is_parsed| is_parsed).count() as u64, parsed.len() as u64);
    Ok(Measured { accepted, parsed })
}

impl Measured {
    fn say(&self) {
        let share = |(some, all): (u64, u64)| some as f64 / all.max(1) as f64;
        let (accepted, inputs) = self.accepted;
        if inputs == 0 {
            say!("gramjet: no run was left to measure the precision");
        } else {
            let precision = share(self.accepted);
            say!("gramjet: precision {precision:.3}: the program accepts {accepted} of {inputs} inputs of the grammar");
        }
        let (parsed, files) = self.parsed;
        if files > 0 {
            let (precision, recall) = (share(self.accepted), share(self.parsed));
            say!("gramjet: recall {recall:.3}: {parsed} of {} conform to the grammar", plural(files, "other file"));
            say!("gramjet: F1 {:.3}", 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE));
        }
    }
}
