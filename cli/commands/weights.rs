//! `gramjet weights`: finds the weights of a shape, or those that a search has found to pay, and writes them to a file.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gramjet_compiler::shape::learn::How;
use gramjet_parse::Budget;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::commands::learn;
use crate::failure::{Failure, say};
use crate::files::shown;
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::report;
use crate::samples::{self, Reading};
use crate::source::Source;

/// Find weights that give inputs a shape, or those that have paid in a search, and write them to a file.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// Learn the weights from the inputs that `gramjet fuzz` or `gramjet search` has kept in this folder.
    ///
    /// `search` keeps the inputs that cost more than all before, `fuzz` those with new coverage and those that failed.
    /// All alternatives stay possible.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    from_run: Option<PathBuf>,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitArgs,
}

/// Writes the weights.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    if let Some(folder) = &args.from_run {
        return learn_from_run(args, folder);
    }
    let source = Source::load(&args.grammar)?;
    let how = &args.grammar.how;
    if how.shape.shape.is_none() && how.shape.weights.is_none() {
        return Err(Failure::Usage(
            "which weights? Give a shape, such as `--shape balanced`, or `--from-run DIR`".to_string(),
        ));
    }
    let prepared = Prepared::new(source, &args.grammar, &args.limits)?;
    let file = &prepared.source.file;
    let (examined, diagnostics) = prepared.examine();
    report::print(file, &diagnostics);
    let examined = examined.ok_or_else(|| report::does_not_compile(file, &diagnostics))?;
    say!("gramjet: {}", report::growth(&examined.growth));
    write_output(args.output.as_deref(), examined.weights.as_bytes())
}

/// Returns the setting for alternatives of weight 0 that a search has begun with, as its folder says.
#[cfg(target_os = "linux")]
fn begun_with(run: &Path) -> Option<String> {
    gramjet_campaign::State::fact(run, crate::arguments::grammar::ZERO_WEIGHTS)
}

/// Returns `None`: there are no searches on other systems.
#[cfg(not(target_os = "linux"))]
fn begun_with(_: &Path) -> Option<String> {
    None
}

/// Number that is added to the count of each alternative, so that all stay possible.
const SMOOTHING: f64 = 0.5;

/// Writes the weights that the inputs of a search have, as its language was read.
fn learn_from_run(args: &Arguments, run: &Path) -> Result<(), Failure> {
    let places = ["best", "queue", "failures"].map(|place| run.join(place));
    let there: Vec<PathBuf> = places.into_iter().filter(|place| place.is_dir()).collect();
    if there.is_empty() {
        let folder = shown(run);
        let message = format!("{folder} is not the folder of a search: it has no `best`, `queue` or `failures`");
        return Err(Failure::Usage(message));
    }
    // The queue of a search for cost has inputs that led to others; its best ones are what paid.
    let has_best = there[0].ends_with("best") && fs::read_dir(&there[0]).is_ok_and(|mut files| files.next().is_some());
    let samples = samples::find(if has_best { &there[..1] } else { &there })?;
    let mut grammar = args.grammar.clone();
    let setting = &mut grammar.how.reading.zero_weights;
    *setting = setting.take().or_else(|| begun_with(run));
    let prepared = learn::prepare(&grammar, false)?;
    let reading = Reading { budget: Budget::default(), jobs: 1, is_strict: false };
    let found = learn::learn(&prepared, &samples, &reading)?;
    let how = How { smoothing: SMOOTHING, ..How::COMMON };
    learn::finish(prepared, &found, &how, args.output.as_deref())
}
