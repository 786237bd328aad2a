//! `gramjet refine`: a grammar is repaired by a program that accepts or rejects texts.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueHint};
use gramjet_campaign::Watch;
use gramjet_compiler::Diagnostics;
use gramjet_compiler::formats::ZeroWeights;
use gramjet_infer::refine::{
    Apply, Notation, Report, Settings, Share, Source as Given, recall, refine, survey, unified,
};

use crate::arguments::accept::OracleArgs;
use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::oracle::{End, Oracle};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::samples;
use crate::source::Source;
use crate::units::{self, plural};

mod reporter;

use reporter::Telling;

/// Repair a grammar by a program that accepts or rejects texts.
///
/// Texts near the grammar's language are sought that the program accepts and the grammar does not, and texts of the
/// grammar that the program rejects. Edits of the grammar are proposed where these texts fail, and judged by texts that
/// show what is new, or what is gone. The edits are written to standard output as a unified diff; comments and layout
/// stay.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// Write the edited grammar to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Texts that the program may accept: files, and folders with files. What the grammar lacks is sought near them,
    /// too.
    #[arg(long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    samples: Vec<PathBuf>,

    /// Files, and folders with files, of which the share is measured that conforms to the grammar before and after.
    /// Nothing is learned from them.
    #[arg(long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    held_out: Vec<PathBuf>,

    /// End after this long.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = units::parse_duration)]
    time: Duration,

    /// Run the program at most this often.
    #[arg(long, value_name = "N", default_value = "100k", value_parser = units::parse_count)]
    max_tests: u64,

    /// End after this many rounds; it ends before if a round brings nothing.
    #[arg(long, value_name = "N", default_value = "6", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Changes that the edited grammar gets: `needed`, those that a sample or a rejected text needs, or without samples
    /// many accepted texts; `all`; or the numbers of some, as a run with equal options and the same seed has told them
    /// (`1,3`). A change has the ones before it of its rule. Runs that `--time` ends can have other numbers.
    #[arg(long, value_name = "CHANGES", default_value = "needed", value_parser = parse_apply)]
    apply: Apply,

    /// The number that the choices depend on.
    #[arg(short, long, value_name = "SEED", default_value = "0", allow_negative_numbers = true, value_parser = units::parse_seed)]
    seed: u64,

    /// Write one JSON object a line to standard output: each edit with its evidence (`edit`), each change in the end
    /// (`change`), and what came of it (`end`, with the diff).
    #[arg(long)]
    json: bool,

    /// Show no progress line.
    #[arg(long)]
    no_progress: bool,

    #[command(flatten)]
    oracle: OracleArgs,
}

const EXAMPLES: &str = "\
Examples:
  gramjet refine my.ebnf -- ./my-parser @@ | patch
  gramjet refine calculator.ebnf -o better.ebnf --reject-regex 'syntax error' -- bc -q
  gramjet refine json.ebnf --samples corpus/ --held-out others/ -- python:json:loads

Exit status: 0 if the search was made, whether there are edits or not; 1 if the program tells nothing, or something failed;
2 if the arguments or the grammar cannot be used; 130 or 143 if a signal has ended it.";

fn parse_apply(text: &str) -> Result<Apply, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|&number| number > 0);
    match text {
        "needed" => Ok(Apply::Needed),
        "all" => Ok(Apply::All),
        numbers => {
            let numbers: Option<Vec<usize>> = numbers.split(',').map(number).collect();
            numbers
                .map(Apply::These)
                .ok_or_else(|| "`needed`, `all`, or numbers such as `1,3` are expected".to_string())
        }
    }
}

/// Longer samples are left out: their mutants would be as long.
const LONGEST_SAMPLE: usize = 1 << 20;

/// Repairs.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    if args.json && is_standard_output(args) {
        return Err(Failure::Usage("the grammar and JSON cannot both go to standard output".to_string()));
    }
    files::read_stdin_once(&args.grammar.grammar, &[&args.samples[..], &args.held_out].concat())?;
    let prepared = Prepared::new(Source::load(&args.grammar)?, &args.grammar.for_texts(), &LimitArgs::default())?;
    let given = given(&prepared, args)?;
    let held_out = texts(&args.held_out, usize::MAX)?;
    let samples = texts(&args.samples, LONGEST_SAMPLE)?;
    let stop = crate::stop::on_signals();
    stop.after(args.time);
    let _watch = Watch::new(&stop, Instant::now().checked_add(args.time));
    let mut oracle = Oracle::new(&args.oracle, args.max_tests, stop.clone())?;
    say!("gramjet: {}", oracle.describe());
    args.oracle.run.warn_of_confinement();
    let settings = Settings { seed: args.seed, rounds: args.rounds, apply: args.apply.clone(), ..Settings::default() };
    let valid = [&samples[..samples.len().min(32)], &survey(&given, args.seed, 64)].concat();
    oracle.probe(&valid, "of the grammar, or samples")?;
    let mut telling = Telling::new(args.json, args.no_progress);
    let report = {
        let (telling, oracle) = (std::cell::RefCell::new(&mut telling), std::cell::RefCell::new(&mut oracle));
        let mut ask = |text: &[u8]| {
            let answer = oracle.borrow_mut().accepts(text);
            telling.borrow_mut().look(oracle.borrow().counts());
            answer
        };
        refine(&given, &samples, &settings, &mut ask, &|| stop.is_requested(), &mut |edit| {
            telling.borrow_mut().edit(edit)
        })
    };
    conclude(args, &prepared, &given, &report, &held_out, (&mut oracle, &mut telling))
}

/// Returns the grammar with the text that edits change.
fn given(prepared: &Prepared, args: &Arguments) -> Result<Given, Failure> {
    // Says what is wrong with it.
    prepared.compile()?;
    let mut grammar = prepared.read(&mut Diagnostics::default());
    if prepared.options.zero_weights() == ZeroWeights::Keep {
        grammar.keep_zero_weights();
    }
    let format = prepared.source.format(&args.grammar.how);
    if format.name() == "ebnf" {
        return Ok(Given::new(prepared.source.file.text(), grammar));
    }
    if let Some(notation) = Notation::by_name(format.name()) {
        return Ok(Given::in_notation(prepared.source.file.text(), grammar, notation, prepared.reader()));
    }
    say!(
        "gramjet: edits are written in gramjet's EBNF, as a whole grammar without comments: this one is read as {}",
        format.name()
    );
    Ok(Given::converted(grammar))
}

/// Returns the texts of the files.
fn texts(paths: &[PathBuf], longest: usize) -> Result<Vec<Vec<u8>>, Failure> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    let mut long = 0;
    for file in samples::find(paths)? {
        let text = files::read_bytes(&file)?;
        if text.len() <= longest { texts.push(text) } else { long += 1 }
    }
    if long > 0 {
        say!("gramjet: {} of more than {longest} bytes left out", plural(long, "sample"));
    }
    Ok(texts)
}

/// Returns true if the edited grammar goes to standard output.
fn is_standard_output(args: &Arguments) -> bool {
    args.output.as_ref().is_some_and(|output| output.as_os_str() == "-")
}

/// Writes the result, and says what came of it.
fn conclude(
    args: &Arguments,
    prepared: &Prepared,
    given: &Given,
    report: &Report,
    held_out: &[Vec<u8>],
    (oracle, telling): (&mut Oracle, &mut Telling),
) -> Result<(), Failure> {
    // What is written anew in EBNF is compared with what EBNF says of the grammar before.
    let is_converted = !report.edited.is_in_place && report.changes.iter().any(|change| change.is_applied);
    let name = prepared.source.file.name();
    let diff = if is_converted {
        let name = format!("{name}.ebnf");
        unified(&given.as_ebnf(), &report.edited.text, &name, &name)
    } else {
        unified(&given.text(), &report.edited.text, name, name)
    };
    let recall: [Option<Share>; 2] = match held_out {
        [] => [None, None],
        _ => [recall(given.grammar(), held_out), recall(&report.edited.grammar, held_out)],
    };
    if let Some(output) = &args.output {
        write_output(Some(output), report.edited.text.as_bytes())?;
    }
    if is_converted {
        let why = if given.is_editable() { "the edits do not fit the text of the grammar: it" } else { "the grammar" };
        say!("gramjet: {why} is written as a whole in gramjet's EBNF, without comments: read it with `--format ebnf`");
    }
    telling.end(report, recall, &diff, (oracle.counts(), (&args.apply, !args.samples.is_empty())))?;
    if let Apply::These(numbers) = &args.apply {
        let missing = numbers.iter().filter(|&&number| number > report.changes.len());
        let missing: Vec<String> = missing.map(usize::to_string).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            say!("gramjet: there is no change {missing}: the numbers are those of a run that found as many changes");
        }
    }
    if !args.json && !is_standard_output(args) {
        write_output(None, diff.as_bytes())?;
    }
    let place = args.output.as_ref().map_or("the diff".to_string(), |output| shown(output));
    match oracle.finish(&format!("what was found by then is written: {place}"))? {
        Some(End::Runs) => say!("gramjet: ended by `--max-tests`; more may be found with more"),
        Some(End::Time) => {
            say!("gramjet: ended by `--time`; more may be found in more, and changes may have other numbers then");
        }
        _ => {}
    }
    Ok(())
}
