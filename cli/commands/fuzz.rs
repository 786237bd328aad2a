//! `gramjet fuzz`: finds texts of a grammar on which a program fails.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum, ValueHint};
use gramjet::{Choices, Producer as _};
use gramjet_campaign::strategies::FOR_COVERAGE;
use gramjet_campaign::{Place, State};
use gramjet_search::{Seed, Words};
use gramjet_session::Language;

use crate::arguments::grammar::{GrammarArgs, ZERO_WEIGHTS};
use crate::arguments::limits::LimitArgs;
use crate::arguments::node::NodeArgs;
use crate::arguments::program::{CountArgs, ProgramArgs};
use crate::arguments::run::RunArgs;
use crate::failure::{Failure, say};
use crate::files::shown;
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::seeds::seeds;
use crate::source::Source;
use crate::stop::{Stopping, on_signals_in_preparation, unless_cut};
use crate::units::{self, Bound, plural};
use gramjet_campaign::{StopReason, Watch};

mod beside_afl;
mod dictionary;
mod evolved;
mod judging;
mod replay;
mod reporter;

use beside_afl::{BesideAfl, MAX_LEN, Orders};
use evolved::Weights;
use gramjet_campaign::failing::{Call, Campaign, GUIDED, Judge, Making, Plan};
use gramjet_campaign::subject::{Tested, quoted};
use judging::{FailureArgs, How};
use reporter::Reporter;

/// Find texts of a grammar on which a program fails.
///
/// The program is run on one text after another. If it was built by `gramjet cc`, `gramjet c++`, `gramjet cargo` or
/// AFL++, the code that it executes guides the search. Else its exit status, its messages, the amount of its output and
/// its time do. Each failure is run again in a new process, made smaller within the grammar, and written to a folder of
/// its own.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The folder for texts and failures. A search in it goes on where it was.
    #[arg(short, long, value_name = "DIR", default_value = "fuzz-out", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    #[command(flatten)]
    node: NodeArgs,

    /// Let an instance of afl-fuzz search in the shared folder, too, as `DIR/afl`, as long as this search goes on. Each
    /// takes over what the other finds. The program has to be built by AFL++.
    #[arg(long, requires = "name")]
    with_afl: bool,

    /// End after this long.
    #[arg(long, value_name = "DURATION", value_parser = units::parse_duration)]
    time: Option<Duration>,

    /// End after this many runs, without those that make failures smaller.
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    runs: Option<u64>,

    /// Strategy that makes the texts.
    #[arg(long, value_name = "NAME", default_value = GUIDED, value_parser = strategies())]
    strategy: String,

    /// With `--strategy evolve`: as published, with its constants and its fitness.
    #[arg(long)]
    paper: bool,

    /// Run texts that are broken in some bytes, too. They show how the program treats mistakes. `auto` does so for
    /// programs that are instrumented, unless an exit status, a message, another program or an oracle tells failures.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_enum)]
    broken: Broken,

    /// Do not begin with texts of great depth and length and with values at bounds. `--max-depth` and `--max-choices`
    /// leave them out, too; `--max-len` bounds them.
    #[arg(long)]
    no_extremes: bool,

    /// Words that the program may know, in a dictionary of AFL: each is put at the places of the grammar that can hold
    /// it, and anywhere in broken texts.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    dict: Option<PathBuf>,

    /// Do not use the constants that the program compares as words. They are looked for in the sources of functions of
    /// Python and Node, and in the files of other programs.
    #[arg(long)]
    no_words: bool,

    /// Use N threads, each with a process of the program, or `auto` for one per processor.
    #[arg(short, long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = units::parse_jobs)]
    jobs: usize,

    /// Begin with the files in this folder. Those that do not conform to the grammar are run, but the grammar does not
    /// vary them.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    seeds: Option<PathBuf>,

    /// The number that the choices depend on.
    #[arg(short, long, value_name = "SEED", default_value = "0", allow_negative_numbers = true, value_parser = units::parse_seed)]
    seed: u64,

    /// Make each failure smaller by at most this many runs; 0 leaves it as it is.
    #[arg(long, value_name = "N", default_value = "2000", value_parser = units::parse_count)]
    max_tests: u64,

    /// Run the failures in the folder again, or this file, and nothing else. The folder may also be that of one
    /// failure. Each failure is run under the options that it was found with; options of the command line replace them.
    #[arg(long, value_name = "FILE|DIR", num_args = 0..=1, value_hint = ValueHint::FilePath)]
    replay: Option<Option<PathBuf>>,

    /// Write a report for continuous integration to this file: a test case for each failure, in the format of JUnit.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    junit: Option<PathBuf>,

    /// Write one JSON object a line to standard output: failures, and how far the search is. With `--replay`, each
    /// failure and whether it is still there.
    #[arg(long)]
    json: bool,

    /// Show no progress line.
    #[arg(long)]
    no_progress: bool,

    #[command(flatten)]
    failures: FailureArgs,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    count: CountArgs,

    #[command(flatten)]
    program: ProgramArgs,

    // The last, as its heading holds for all that follows.
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  gramjet cc -O2 -g my-parser.c -o my-parser && gramjet fuzz json --time 10m -- ./my-parser @@
  gramjet fuzz sql -o out --jobs auto -- sqlite3 :memory:
  gramjet fuzz json --expect JSONDecodeError -- python:my_module:parse
  gramjet fuzz json --compare 'jq . @@' --time 5m -- ./my-parser @@
  gramjet fuzz json -o shared --name grammar -- ./my-parser @@
  gramjet fuzz json -o out --replay --junit report.xml -- ./my-parser @@

Exit status: 0 if nothing new failed; 1 if something did, or if the search could not go on;
2 if the arguments or the grammar cannot be used.";

/// Choice whether texts that are not in the language are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Broken {
    Auto,
    Always,
    Never,
}

/// Returns the names of the strategies.
fn strategies() -> PossibleValuesParser {
    let guided = PossibleValue::new(GUIDED).help("variants of texts that did something new, and new texts");
    let others = FOR_COVERAGE.iter().map(|kind| PossibleValue::new(kind.name).help(kind.about));
    PossibleValuesParser::new(std::iter::once(guided).chain(others))
}

/// The first texts, which are the longest, have at most this many bytes if the command line does not say otherwise.
const LONGEST: u64 = 4 << 20;

/// A failure is made smaller for no longer than this, and no longer than an eighth of the time of the search.
const SHRINKING: Duration = Duration::from_secs(60);

/// Searches, or runs what was found before again.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let mut how = How::new(&args.failures, &args.run);
    how.surroundings = how.surroundings.counting(args.count.modules(&args.program)?);
    let Some(file) = &args.replay else { return search(args, how) };
    let own = args.node.folder(&args.output);
    let (folder, junit) = (file.as_deref().unwrap_or(&own), args.junit.as_deref());
    if file.is_some() && !folder.is_dir() {
        return replay::file(folder, junit, args.json, &args.program.command, &how);
    }
    replay::all(folder, junit, args.json, &args.program.command, &judging::options(&args.failures, &args.run))
}

fn search(args: &Arguments, how: How) -> Result<(), Failure> {
    let stopping = on_signals_in_preparation();
    let stop = stopping.stop();
    unless_cut(search_until(args, how, stopping), &stop)
}

fn search_until(args: &Arguments, how: How, stopping: Stopping) -> Result<(), Failure> {
    let stop = stopping.stop();
    let end = args.time.and_then(|time| Instant::now().checked_add(time));
    if let Some(time) = args.time {
        stop.after(time);
    }
    let _watch = Watch::new(&stop, end);
    let siblings = args.node.siblings(&args.output, Place::Queue)?;
    let folder = args.node.folder(&args.output);
    let grammar = args.grammar.for_search(args.seeds.is_some(), State::fact(&folder, ZERO_WEIGHTS));
    let prepared = Prepared::new(Source::load(&args.grammar)?, &grammar, &args.limits)?;
    let mut making = making(args)?;
    let (language, max_len) = language(&prepared)?;
    // What is wrong with the arguments is said before a folder is made.
    let (breaks, found) = try_out(args, &how, making, &language)?;
    making.breaks = breaks;
    let seeds = begin_with(args, making, &language)?;
    let words = Words { given: args.dict.as_deref().map_or(Ok(Vec::new()), dictionary::read)?, found };
    if args.with_afl {
        beside_afl::check(&args.program.command)?;
    }
    let mut state = State::open(&folder, &facts(args, &prepared, &language))?;
    if args.node.is_shared() {
        state.wait_for_disk();
    }
    let timeout = how.surroundings.limits.longest;
    let mut plan = plan(args, how, making, (language, max_len), (seeds, words))?;
    plan.end = end;
    let beside = args.with_afl.then(|| start_afl(args, &plan, timeout)).transpose()?;
    let campaign = Campaign::new(plan, state, siblings, stopping.end_preparation())?;
    let grammar = read_as(&args.grammar, &prepared);
    let weights = making.kind.map(|_| Weights::new(prepared, grammar, &campaign.state, args.jobs));
    hunt(args, &campaign, weights.transpose()?, beside)
}

/// Starts an instance of afl-fuzz beside the search.
fn start_afl(args: &Arguments, plan: &Plan, timeout: Duration) -> Result<BesideAfl, Failure> {
    let (shared, call) = (args.output.as_path(), &plan.call);
    let orders = Orders { shared, grammar: &call.grammar, command: &call.command, timeout, seeds: &plan.seeds };
    BesideAfl::start(&orders, &plan.language)
}

/// Runs the program once, in the way that failures are judged. Says whether broken texts are run, too, and which words
/// the program has.
fn try_out(args: &Arguments, how: &How, making: Making, language: &Language) -> Result<(bool, Vec<Vec<u8>>), Failure> {
    let takes_words = making.kind.is_none() && !args.no_words;
    let surroundings = if takes_words { how.surroundings.telling_words() } else { how.surroundings };
    let tested = Tested::new(&args.program.command, surroundings)?;
    let words = if takes_words { tested.words() } else { Vec::new() };
    say!("gramjet: {}", tested.describe());
    if !words.is_empty() {
        say!("gramjet: {} of the program", plural(words.len() as u64, "word"));
    }
    let breaks = match args.broken {
        Broken::Auto => making.kind.is_none() && tested.is_guided_program() && !args.failures.judge_texts(),
        Broken::Always => true,
        Broken::Never => false,
    };
    drop(tested);
    let mut sample = Vec::new();
    language.producer().produce(&mut Choices::replay(&[]), &mut sample);
    Judge::new(&how.rules, how.surroundings)?.try_out(&sample)?;
    args.run.warn_of_confinement();
    // Nothing has failed so far.
    report(args, &[])?;
    Ok((breaks, words))
}

/// Returns the texts to begin with.
fn begin_with(args: &Arguments, making: Making, language: &Language) -> Result<Vec<Vec<u8>>, Failure> {
    let others = match (making.kind.is_none(), making.breaks) {
        (true, true) => "run, and varied only in their bytes",
        (true, false) => "run, but not varied",
        (false, _) => "run, but nothing is learned from them",
    };
    args.seeds.as_deref().map_or(Ok(Vec::new()), |folder| seeds(folder, language, others))
}

/// Returns what the search needs to know.
fn plan(
    args: &Arguments,
    how: How,
    making: Making,
    (language, max_len): (Language, u64),
    (seeds, words): (Vec<Vec<u8>>, Words),
) -> Result<Plan, Failure> {
    Ok(Plan {
        language,
        rules: how.rules,
        surroundings: how.surroundings,
        call: call(args)?,
        making,
        max_len: usize::try_from(max_len).unwrap_or(usize::MAX),
        extremes: longest_extreme(args),
        words,
        seed: Seed::new(args.seed).of_node(args.node.salt()),
        jobs: args.jobs,
        cores: args.run.cores(args.jobs),
        runs: args.runs.unwrap_or(u64::MAX),
        shrinks: u32::try_from(args.max_tests).unwrap_or(u32::MAX),
        shrinking: args.time.map_or(SHRINKING, |time| SHRINKING.min(time / 8)),
        end: None,
        seeds,
    })
}

/// Returns the greatest length of texts of great depth, if they are wanted.
fn longest_extreme(args: &Arguments) -> Option<usize> {
    let limits = &args.limits;
    let is_wanted = !args.no_extremes && limits.max_depth.is_none() && limits.max_choices.is_none();
    let longest = limits.max_len.and_then(Bound::number).unwrap_or(LONGEST);
    is_wanted.then_some(usize::try_from(longest).unwrap_or(usize::MAX))
}

/// Lets the workers search, tells what they find, and concludes.
fn hunt(
    args: &Arguments,
    campaign: &Campaign,
    mut weights: Option<Weights>,
    mut beside: Option<BesideAfl>,
) -> Result<(), Failure> {
    let mut reporter = Reporter::new(args.json, args.json || args.no_progress);
    let ran = campaign.run(|campaign| {
        reporter.look(campaign);
        weights.iter_mut().for_each(|weights| weights.look(campaign));
        beside.iter_mut().for_each(BesideAfl::look);
    });
    drop(beside);
    let unconfirmed = campaign.end_unconfirmed();
    reporter.end(campaign, unconfirmed.as_deref().unwrap_or_default());
    let weighed = weights.map_or(Ok(()), |weights| weights.end(campaign));
    let cases: Vec<replay::Case> = reporter.found.iter().map(|(key, what)| replay::Case::failed(key, what)).collect();
    report(args, &cases)?;
    ran?;
    unconfirmed?;
    match (conclude(campaign, reporter.found.len()), weighed) {
        (Ok(()), weighed) => weighed,
        (concluded, weighed) => {
            weighed.unwrap_or_else(|failure| say!("gramjet: {failure}"));
            concluded
        }
    }
}

/// Writes the report for continuous integration, if one is wanted.
fn report(args: &Arguments, cases: &[replay::Case]) -> Result<(), Failure> {
    match &args.junit {
        Some(file) => write_output(Some(file), replay::junit(cases).as_bytes()),
        None => Ok(()),
    }
}

/// Returns how texts are made.
fn making(args: &Arguments) -> Result<Making, Failure> {
    let making = Making::new(FOR_COVERAGE.iter().find(|kind| kind.name == args.strategy), args.paper);
    let (is_guided, limits) = (making.kind.is_none(), &args.limits);
    let is_free = limits.max_depth.is_none() && limits.max_choices.is_none();
    let making = Making { draws: is_free.then_some(gramjet_campaign::strategies::DRAWN), ..making };
    if args.paper && args.strategy != "evolve" {
        return Err(Failure::Usage("`--paper` needs `--strategy evolve`: other strategies do not use it".to_string()));
    }
    if !is_guided && args.broken == Broken::Always {
        let strategy = &args.strategy;
        return Err(Failure::Usage(format!(
            "`--strategy {strategy}` makes no broken texts: leave out `--broken always`, or take `--strategy {GUIDED}`"
        )));
    }
    if !is_guided && (limits.max_depth.is_some() || limits.max_choices.is_some()) {
        let strategy = &args.strategy;
        return Err(Failure::Usage(format!(
            "texts of `--strategy {strategy}` have no limit but `--max-len`: leave out `--max-depth` and \
             `--max-choices`, or take `--strategy {GUIDED}`"
        )));
    }
    Ok(making)
}

/// Returns the language, with the limits of what is made, and the greatest length of a text.
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

/// Returns the arguments for the same grammar, with the setting of zero weights that is in force.
fn read_as(grammar: &GrammarArgs, prepared: &Prepared) -> GrammarArgs {
    let mut grammar = grammar.clone();
    grammar.how.reading.zero_weights = Some(prepared.zero_weights().to_string());
    grammar
}

/// Returns what tells this search from others in the same folder.
fn facts(args: &Arguments, prepared: &Prepared, language: &Language) -> [(&'static str, String); 3] {
    let grammar = format!("{:016x}", language.fingerprint());
    let program = quoted(&args.program.command);
    let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(['\n', '\r'], " ");
    [
        ("grammar", line(grammar.as_bytes())),
        ("program", line(program.as_encoded_bytes())),
        (ZERO_WEIGHTS, prepared.zero_weights().to_string()),
    ]
}

fn call(args: &Arguments) -> Result<Call, Failure> {
    let folder =
        std::env::current_dir().map_err(|source| Failure::Read { what: "the current folder".to_string(), source })?;
    let options = judging::options(&args.failures, &args.run);
    let needs_us = args.failures.need_us();
    Ok(Call { grammar: args.grammar.grammar.clone(), command: args.program.command.clone(), options, needs_us, folder })
}

fn conclude(campaign: &Campaign, found: usize) -> Result<(), Failure> {
    let folder = shown(campaign.state.path());
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
