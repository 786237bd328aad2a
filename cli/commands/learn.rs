//! `gramjet learn`: weights from samples.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use gramjet::{Choices, Producer as _};
use gramjet_compiler::shape::Weighting;
use gramjet_compiler::shape::learn::{How, Inversion};
use gramjet_compiler::{Learned, SourceFile};
use gramjet_parse::Budget;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::engine::Engine;
use crate::failure::{Failure, say};
use crate::files::read_stdin_once;
use crate::limits::Applied;
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::samples::{self, Found, Reading};
use crate::source::Source;
use crate::units::{self, plural};

/// Learn weights from samples, for inputs that are like them or unlike them.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The samples: files, folders with files, `-` for standard input.
    ///
    /// In a folder of failures of `gramjet fuzz`, the inputs that failed are the samples.
    #[arg(value_name = "FILE|DIR", required = true, value_hint = ValueHint::AnyPath)]
    samples: Vec<PathBuf>,

    /// Write the weights to this file, for `--weights` of the other commands.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Prefer what is frequent in the samples, or what is rare there.
    #[arg(long, value_enum, value_name = "MODE", default_value = "common")]
    mode: Mode,

    /// With `--mode uncommon`: probabilities become `(p + damping)^similarity`. -1, the default, inverts them, 0 makes
    /// all equal.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = similarity)]
    similarity: Option<f64>,

    /// With `--mode uncommon`: is added to each probability, so that those of 0 can be inverted; 0.01 by default.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = damping)]
    damping: Option<f64>,

    /// Add this to the count of each alternative; `none`, the default, for nothing.
    ///
    /// Without smoothing, an alternative that no sample has is hardly ever taken (once in 65536 times).
    #[arg(long, value_name = "K", default_value = "none", allow_negative_numbers = true, value_parser = smoothing)]
    smoothing: f64,

    /// With 1, learn probabilities for each place that refers to a rule, in place of one for the rule.
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=1))]
    context: u32,

    /// Stop at the first sample that does not conform to the grammar, in place of leaving it out.
    #[arg(long = "strict-samples")]
    strict_samples: bool,

    /// Read this many samples at the same time, or `auto` for one per processor.
    #[arg(short, long, value_name = "N", default_value = "auto", allow_negative_numbers = true, value_parser = units::parse_jobs)]
    jobs: usize,

    /// Leave a sample out that needs more memory than this.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", allow_negative_numbers = true, value_parser = units::parse_size)]
    max_memory: u64,
}

/// Probabilities that are learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// The probabilities of the samples.
    Common,
    /// Inverted probabilities, by a power.
    Uncommon,
    /// Inverted probabilities: the most frequent alternative gets the least, and so on.
    RankSwap,
}

const EXAMPLES: &str = "\
Examples:
  gramjet learn json corpus/ -o common.weights && gramjet gen json --weights common.weights -n 1000
  gramjet learn css styles/*.css --mode uncommon --smoothing 1 -o uncommon.weights
  gramjet learn json found/failures -o failing.weights

Exit status: 0 if there are weights; 1 if no sample conforms to the grammar; 2 if the arguments or the grammar cannot
be used.";

fn number(text: &str, is_good: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && is_good(*number)).ok_or_else(|| expected.to_string())
}

fn similarity(text: &str) -> Result<f64, String> {
    number(text, |number| (-1.0..=1.0).contains(&number), "a similarity is a number from -1 to 1")
}

fn damping(text: &str) -> Result<f64, String> {
    number(text, |number| (1e-9..=1e9).contains(&number), "a damping is a number from 1e-9 to 1e9")
}

fn smoothing(text: &str) -> Result<f64, String> {
    match text {
        "none" => Ok(0.0),
        _ => number(text, |number| (0.0..=1e9).contains(&number), "a smoothing is `none` or a number from 0 to 1e9"),
    }
}

impl Arguments {
    fn how(&self) -> Result<How, Failure> {
        let given = [("--similarity", self.similarity), ("--damping", self.damping)];
        if let (Some((option, _)), true) =
            (given.iter().find(|(_, value)| value.is_some()), self.mode != Mode::Uncommon)
        {
            return Err(Failure::Usage(format!("`{option}` needs `--mode uncommon`: other modes do not use it")));
        }
        let inversion = match self.mode {
            Mode::Common => How::COMMON.inversion,
            Mode::Uncommon => {
                Inversion::Power { similarity: self.similarity.unwrap_or(-1.0), damping: self.damping.unwrap_or(0.01) }
            }
            Mode::RankSwap => Inversion::Ranks,
        };
        Ok(How { smoothing: self.smoothing, inversion })
    }
}

/// Learns.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let how = args.how()?;
    read_stdin_once(&args.grammar.grammar, &args.samples)?;
    let samples = samples::find(&args.samples)?;
    let reading = Reading {
        budget: Budget { max_memory: usize::try_from(args.max_memory).unwrap_or(usize::MAX), ..Budget::default() },
        jobs: args.jobs,
        is_strict: args.strict_samples,
    };
    let prepared = prepare(&args.grammar, args.context > 0)?;
    let found = learn(&prepared, &samples, &reading)?;
    say_how_to_read(&prepared, &args.grammar);
    if args.context > 0 {
        let rules = prepared.compiled()?.lowered.rules().len();
        say!("gramjet: {} for the contexts of the grammar's rules", plural(rules as u64, "rule"));
    }
    finish(prepared, &found, &how, args.output.as_deref())
}

/// Says with which options the weights can be used, if some are needed.
pub fn say_how_to_read(prepared: &Prepared, grammar: &GrammarArgs) {
    if prepared.source.has_lexer(&grammar.how) && grammar.how.reading.separator_policy.is_none() {
        say!("gramjet: the samples are read with `--separator-policy any`; `gramjet gen` needs it, too");
    }
}

/// Returns a grammar to learn from texts. It has its own weights: those of a shape would split its repetitions.
pub fn prepare(grammar: &GrammarArgs, contexts: bool) -> Result<Prepared, Failure> {
    if grammar.how.shape.shape.is_some() || grammar.how.shape.weights.is_some() {
        return Err(Failure::Usage("weights are learned: leave out `--shape` and `--weights`".to_string()));
    }
    prepare_source(Source::load(grammar)?, grammar, contexts)
}

/// Returns a grammar to learn from texts, made of a source that was read.
pub fn prepare_source(source: Source, grammar: &GrammarArgs, contexts: bool) -> Result<Prepared, Failure> {
    let mut prepared = Prepared::new(source, &grammar.for_texts(), &LimitArgs::default())?;
    prepared.options.weighting = Weighting::Own;
    prepared.options.contexts = contexts;
    Ok(prepared)
}

/// Counts what samples use, and says how many there were.
pub fn learn(prepared: &Prepared, samples: &[PathBuf], reading: &Reading) -> Result<Found, Failure> {
    let found = samples::count(prepared.compile()?, samples, reading)?;
    let (files, bytes) = found.parsed;
    if files == 0 {
        let all = plural(samples.len() as u64, "sample");
        return Err(Failure::Nonconforming(format!("nothing was learned: none of {all} conforms to the grammar")));
    }
    let left_out = match found.left_out {
        0 => String::new(),
        left_out => format!("; {} left out", plural(left_out, "sample")),
    };
    say!("gramjet: learned from {} of {}{left_out}", plural(files, "sample"), plural(bytes, "byte"));
    Ok(found)
}

/// A mean length in bytes from which on the command advises a limit.
const LONG: f64 = 100_000.0;

/// Writes the file of weights, and says how long inputs will be.
pub fn finish(prepared: Prepared, found: &Found, how: &How, output: Option<&Path>) -> Result<(), Failure> {
    let learned = weigh(&prepared, found, how)?;
    describe(prepared, &learned)?;
    write_output(output, learned.weights.as_bytes())
}

/// Returns the weights of what was found.
pub fn weigh(prepared: &Prepared, found: &Found, how: &How) -> Result<Learned, Failure> {
    gramjet_compiler::learned(&prepared.source.file, &prepared.options, &found.counts, how)
        .map_err(|diagnostics| prepared.refuse(&diagnostics))
}

/// Says how fine weights are, and how long inputs with them.
pub fn describe(prepared: Prepared, learned: &Learned) -> Result<(), Failure> {
    if learned.are_coarse {
        say!("gramjet: the weights are coarse: finer ones would make too many copies of what is repeated");
    }
    let prepared = prepared.with_weights(SourceFile::new("weights", learned.weights.as_str()));
    let (mean, wanted) = mean_length(&prepared)?;
    say!("gramjet: 100 random inputs have {mean:.0} bytes on average ({wanted})");
    if mean > LONG {
        say!("gramjet: that is long: give `gramjet gen` a lower `--max-depth`, or a `--max-len`");
    }
    Ok(())
}

/// Returns the mean length of some random inputs, in bytes, and their limits. Each input is completed in a short way
/// after a million choice bytes.
fn mean_length(prepared: &Prepared) -> Result<(f64, Applied), Failure> {
    const INPUTS: u64 = 100;
    let compiled = prepared.compiled()?;
    let wanted = prepared.wanted();
    let engine = Engine::fastest(compiled, wanted)?;
    let mut producer = engine.producer();
    producer.set_limits(producer.limits().max_choices(1_000_000)).map_err(|error| Failure::Usage(error.to_string()))?;
    let (mut sum, mut input) = (0, Vec::new());
    for number in 0..INPUTS {
        input.clear();
        producer.produce(&mut Choices::of_block(0, number), &mut input);
        sum += input.len();
    }
    Ok((sum as f64 / INPUTS as f64, wanted))
}
