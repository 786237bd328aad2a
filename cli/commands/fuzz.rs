//! `gramjet fuzz`: finds texts of a grammar on which a program fails.

use std::ffi::OsString;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueHint};
use gramjet_harness::{Confinement, Limits, Offered, offered};
use gramjet_search::{Operator, State};
use gramjet_session::Language;
use regex_lite::Regex;
use serde_json::json;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::progress::Progress;
use crate::stop::{Stop, StopReason};
use crate::texts::describe;
use crate::units::{self, Bound, plural};

mod campaign;
mod finding;
mod gist;
mod replay;
mod subject;
mod verdict;

use campaign::{Campaign, News, Plan};
use finding::Call;
use subject::{Surroundings, Tested};
use verdict::Rules;

/// Find texts of a grammar on which a program fails.
///
/// The program is run on one text after another. One that was built by `gramjet cc`, `gramjet c++`, `gramjet cargo` or
/// AFL++ guides the search by the code that it executes; of any other program, what can be seen from outside does.
/// Each way to fail is run again, made smaller within the grammar, and written to a folder of its own.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The folder for texts and failures. A search in it goes on where it was.
    #[arg(short, long, value_name = "DIR", default_value = "fuzz-out", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    /// End after this long.
    #[arg(long, value_name = "DURATION", value_parser = units::parse_duration)]
    time: Option<Duration>,

    /// End after this many runs, without those that make failures smaller.
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    runs: Option<u64>,

    /// Use N threads, each with a process of the program, or `auto` for one per processor.
    #[arg(short, long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = units::parse_jobs)]
    jobs: usize,

    /// Begin with the files in this folder. The grammar is read as by `gramjet parse` then.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    seeds: Option<PathBuf>,

    /// The number that the choices depend on.
    #[arg(short, long, value_name = "SEED", default_value = "0", allow_negative_numbers = true, value_parser = units::parse_seed)]
    seed: u64,

    /// Make each failure smaller by at most this many runs; 0 leaves it as it is.
    #[arg(long, value_name = "N", default_value = "2000", value_parser = units::parse_count)]
    max_tests: u64,

    /// Run the failures in the folder again, and nothing else; or run this file.
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_hint = ValueHint::FilePath)]
    replay: Option<Option<PathBuf>>,

    /// Write a report for continuous integration to this file: a test case for each failure, in the format of JUnit.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    junit: Option<PathBuf>,

    /// Write one JSON object a line to standard output: failures, and how far the search is.
    #[arg(long)]
    json: bool,

    /// Show no progress line.
    #[arg(long)]
    no_progress: bool,

    #[command(flatten)]
    failures: FailureArgs,

    #[command(flatten)]
    run: RunArgs,

    /// The program, after `--`. `@@` stands for the name of a file with the text; without it, the text is standard
    /// input. Or a function: `python:MODULE:FUNCTION`, `node:FILE#FUNCTION`, `java:CLASSPATH:CLASS#METHOD`.
    #[arg(value_name = "PROGRAM", required = true, last = true)]
    command: Vec<OsString>,

    // The last, as its heading holds for all that follows.
    #[command(flatten)]
    limits: LimitArgs,
}

/// What a failure is, besides signals, uncaught exceptions, reports of sanitizers, and limits of the program that are
/// exceeded.
#[derive(Debug, Args)]
#[command(next_help_heading = "What a failure is")]
struct FailureArgs {
    /// These exit statuses are failures: numbers and ranges with commas between, or `any` for all but 0.
    #[arg(long, value_name = "STATUSES", value_parser = parse_exits)]
    fail_exit: Option<Exits>,

    /// A match of this regular expression in standard error is a failure.
    #[arg(long, value_name = "REGEX", value_parser = parse_regex)]
    fail_stderr: Option<Regex>,

    /// Exceptions of these classes are no failures, as they say that an input is invalid; with commas between.
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    allow: Vec<String>,

    /// It is a failure if this command of the shell, run on the same text, succeeds where the program reports an error,
    /// or the other way round.
    #[arg(long, value_name = "COMMAND")]
    compare: Option<String>,

    /// With `--compare`, different output is a failure, too.
    #[arg(long, requires = "compare")]
    compare_output: bool,

    /// Compare the output of both programs after this command of the shell, a filter.
    #[arg(long, value_name = "COMMAND", requires = "compare")]
    normalise: Option<String>,

    /// It is a failure if this command of the shell exits with 1. It gets the text as the program does, and the
    /// program's output in the file that `$GRAMJET_OUTPUT` names.
    #[arg(long, value_name = "COMMAND")]
    oracle: Option<String>,
}

/// How the program is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of the program")]
struct RunArgs {
    /// A run that takes longer is a failure.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = units::parse_duration)]
    timeout: Duration,

    /// A run whose processes need more memory is a failure; `none` for no limit.
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = units::parse_size_bound)]
    memory: Bound<u64>,

    /// Let the program write to files and open connections. Without it, it may write to its temporary folder only, and
    /// open no TCP connection.
    #[arg(long)]
    unconfined: bool,
}

const EXAMPLES: &str = "\
Examples:
  gramjet cc -O2 -g my-parser.c -o my-parser && gramjet fuzz json --time 10m -- ./my-parser @@
  gramjet fuzz sql -o out --jobs auto -- sqlite3 :memory:
  gramjet fuzz json --allow ValueError -- python:my_module:parse
  gramjet fuzz json --compare 'jq . @@' --time 5m -- ./my-parser @@
  gramjet fuzz json -o out --replay --junit report.xml -- ./my-parser @@

Exit status 0 says that nothing failed, 1 that something did.";

/// Texts have at most this many bytes if neither the command line nor the grammar says otherwise.
const MAX_LEN: u64 = 4096;

/// Exit statuses.
#[derive(Clone, Debug)]
struct Exits(Vec<RangeInclusive<i32>>);

fn parse_exits(text: &str) -> Result<Exits, String> {
    verdict::parse_exits(text).map(Exits)
}

fn parse_regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| error.to_string())
}

/// Searches, or runs what was found before again.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let grammar = if args.seeds.is_some() { args.grammar.for_texts() } else { args.grammar.clone() };
    let (rules, surroundings) = (rules(args), surroundings(args));
    if let Some(Some(file)) = &args.replay {
        return replay::file(file, &args.command, &rules, surroundings);
    }
    if args.replay.is_some() {
        return replay::all(&args.output, args.junit.as_deref(), &args.command, &rules, surroundings);
    }
    let prepared = Prepared::load(&grammar, &args.limits)?;
    let (language, max_len) = language(&prepared)?;
    // What is wrong with the program is said before a folder is made.
    let tested = Tested::new(&args.command, surroundings)?;
    say!("gramjet: {}", tested.describe());
    drop(tested);
    warn_of_confinement(args);
    let state = State::open(&args.output, &facts(args, &language))?;
    let seeds = args.seeds.as_deref().map_or(Ok(Vec::new()), |folder| seeds(folder, &language))?;
    let stop = Stop::on_signals();
    if let Some(time) = args.time {
        stop.after(time);
    }
    let plan = Plan {
        language,
        rules,
        surroundings,
        call: call(args)?,
        max_len: usize::try_from(max_len).unwrap_or(usize::MAX),
        seed: args.seed,
        jobs: args.jobs,
        runs: args.runs.unwrap_or(u64::MAX),
        shrinks: u32::try_from(args.max_tests).unwrap_or(u32::MAX),
        seeds,
    };
    let campaign = Campaign::new(plan, state, stop)?;
    let mut reporter = Reporter::new(args);
    let ran = campaign.run(|campaign| reporter.look(campaign));
    reporter.end(&campaign);
    ran?;
    if let Some(file) = &args.junit {
        let cases: Vec<replay::Case> =
            reporter.found.iter().map(|(key, what)| replay::Case::failed(key, what)).collect();
        write_output(Some(file), replay::junit(&cases).as_bytes())?;
    }
    conclude(&campaign, reporter.found.len())
}

fn rules(args: &Arguments) -> Rules {
    let FailureArgs { fail_exit, fail_stderr, allow, compare, compare_output, normalise, oracle } = &args.failures;
    Rules {
        exits: fail_exit.as_ref().map(|exits| exits.0.clone()).unwrap_or_default(),
        stderr: fail_stderr.clone(),
        allowed: allow.clone(),
        compare: compare.clone(),
        compare_output: *compare_output,
        normalise: normalise.clone(),
        oracle: oracle.clone(),
    }
}

fn surroundings(args: &Arguments) -> Surroundings {
    let limits = Limits::default().with_time(args.run.timeout).with_memory(args.run.memory.number());
    let confinement = if args.run.unconfined { Confinement::Unconfined } else { Confinement::Confined };
    Surroundings { limits, confinement }
}

fn warn_of_confinement(args: &Arguments) {
    if !args.run.unconfined && offered() < Offered::Network {
        say!(
            "gramjet: this kernel does not keep the program from all files and connections; run what you do not trust in a container"
        );
    }
}

/// The language, with the limits of what is made, and the greatest length of a text.
fn language(prepared: &Prepared) -> Result<(Language, u64), Failure> {
    let compiled = prepared.compile_for_inputs()?;
    let language = Language::unlimited(compiled, &prepared.options);
    let mut limited = None;
    let applied = prepared.wanted().set(&mut |limits| {
        limited = Some(language.clone().with_limits(limits)?);
        Ok(())
    })?;
    let max_len = applied.limits().length().unwrap_or(MAX_LEN);
    Ok((limited.unwrap_or(language), max_len))
}

/// What tells this search from others in the same folder.
fn facts(args: &Arguments, language: &Language) -> [(&'static str, String); 2] {
    [
        ("grammar", format!("{:016x}", language.fingerprint())),
        ("program", verdict::quoted(&args.command).replace('\n', " ")),
    ]
}

fn call(args: &Arguments) -> Result<Call, Failure> {
    let folder =
        std::env::current_dir().map_err(|source| Failure::Read { what: "the current folder".to_string(), source })?;
    Ok(Call { grammar: args.grammar.grammar.clone(), command: args.command.clone(), folder })
}

/// The files of a folder. Says how many of them conform, and where the first one does not.
fn seeds(folder: &Path, language: &Language) -> Result<Vec<Vec<u8>>, Failure> {
    let failed = |source| Failure::Read { what: shown(folder).to_string(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    let (mut texts, mut conforming, mut first) = (Vec::new(), 0, None);
    for path in &paths {
        let text = files::read_bytes(path)?;
        match language.parse(&text) {
            Ok(_) => conforming += 1,
            Err(error) => {
                first.get_or_insert_with(|| describe(path, &text, &error));
            }
        }
        texts.push(text);
    }
    let count = plural(texts.len() as u64, "file");
    match first {
        None => say!("gramjet: {count} in {}, all conform to the grammar", shown(folder)),
        Some(first) => say!(
            "gramjet: {conforming} of {count} in {} conform to the grammar; the others are run, but not varied. The first one:\n{first}",
            shown(folder)
        ),
    }
    Ok(texts)
}

/// Tells the user what is found and how far the search is.
struct Reporter {
    progress: Progress,
    is_json: bool,
    /// Keys and descriptions of the failures.
    found: Vec<(String, String)>,
    said: std::time::Instant,
}

impl Reporter {
    fn new(args: &Arguments) -> Reporter {
        let is_shown = !args.no_progress && !args.json;
        let progress = if is_shown { Progress::of_campaign() } else { Progress::hidden() };
        Reporter { progress, is_json: args.json, found: Vec::new(), said: std::time::Instant::now() }
    }

    fn look(&mut self, campaign: &Campaign) {
        for news in campaign.news() {
            self.tell(&news);
            self.found.push((news.finding.failed.key, news.finding.failed.what));
        }
        let progress = campaign.progress();
        self.progress.update_campaign(|| line(&progress));
        if self.is_json && self.said.elapsed() >= Duration::from_secs(1) {
            self.said = std::time::Instant::now();
            print(&status("status", &progress));
        }
    }

    fn tell(&self, News { finding, place }: &News) {
        if self.is_json {
            print(&json!({
                "event": "failure",
                "key": finding.failed.key,
                "what": finding.failed.what,
                "bytes": finding.minimised.len(),
                "reproduced": finding.reproduced.0,
                "of_runs": finding.reproduced.1,
                "runs": finding.runs,
                "seconds": finding.after.as_secs_f64(),
                "folder": place.to_string_lossy(),
            }));
            return;
        }
        let flaky = match finding.is_reproducible() {
            true => String::new(),
            false => format!(", in {} of {} runs", finding.reproduced.0, finding.reproduced.1),
        };
        let (before, after) = (finding.input.len(), plural(finding.minimised.len() as u64, "byte"));
        let size = if before == finding.minimised.len() { after } else { format!("{after} (from {before})") };
        self.progress.suspend(|| say!("{}{flaky}; {size}: {}", finding.failed.what, place.display()));
    }

    fn end(&mut self, campaign: &Campaign) {
        self.progress.finish();
        let progress = campaign.progress();
        if self.is_json {
            print(&status("end", &progress));
        } else {
            say!("gramjet: {}", line(&progress));
        }
    }
}

/// How far a search is, for people.
fn line(progress: &campaign::Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    let rate = progress.runs as f64 / seconds.max(1e-3);
    let edges = match progress.edges {
        0 => String::new(),
        edges => format!(", {edges} edges"),
    };
    let valid = 100.0 * progress.valid as f64 / (progress.runs as f64).max(1.0);
    format!(
        "{} in {seconds:.0} s ({rate:.0}/s), {valid:.0} % valid{edges}, {} kept, {}",
        plural(progress.runs, "run"),
        plural(progress.texts as u64, "text"),
        plural(progress.failures as u64, "failure")
    )
}

/// How far a search is, for machines.
fn status(event: &str, progress: &campaign::Progress) -> serde_json::Value {
    let operators = Operator::ALL.iter().zip(progress.yields);
    let operators = operators.map(|(operator, (made, kept))| (operator.name(), json!({ "made": made, "kept": kept })));
    json!({
        "event": event,
        "seconds": progress.elapsed.as_secs_f64(),
        "runs": progress.runs,
        "valid": progress.valid,
        "failing": progress.failing,
        "edges": progress.edges,
        "texts": progress.texts,
        "failures": progress.failures,
        "operators": operators.collect::<std::collections::BTreeMap<_, _>>(),
    })
}

fn print(value: &serde_json::Value) {
    use std::io::Write as _;
    // Who no longer reads it does not want it.
    let _ = writeln!(std::io::stdout(), "{value}");
}

fn conclude(campaign: &Campaign, found: usize) -> Result<(), Failure> {
    let folder = shown(campaign.state.folder());
    match campaign.stop.reason() {
        Some(StopReason::Signal(name, signal)) => {
            let reached =
                format!("after {}; the search in {folder} can go on", plural(campaign.progress().runs, "run"));
            Err(Failure::Stopped { name, signal, reached })
        }
        _ if found > 0 => Err(Failure::Found(format!("{} in {folder}", plural(found as u64, "new failure")))),
        _ => Ok(()),
    }
}
