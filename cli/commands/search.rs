//! `gramjet search`: finds the short texts of a grammar that cost a program most.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueHint};
use gramjet_campaign::costly::{Depth, Hunt, Meter, Objectives, Plan, REPORT, StrategyKind, Studied, Study, refresh};
use gramjet_campaign::strategies::{self, SaffronSettings};
use gramjet_campaign::{Place, State, View};
use gramjet_search::report::{Report, html};
use gramjet_search::{Effort, STRATEGIES, Seed};
use gramjet_session::Language;
use gramjet_session::decisions::Derivation;

use crate::arguments::grammar::{GrammarArgs, ZERO_WEIGHTS};
use crate::arguments::node::NodeArgs;
use crate::arguments::program::{CountArgs, ProgramArgs};
use crate::arguments::run::{RunArgs, parse_timeout};
use crate::failure::{Failure, say};
use crate::files::shown;
use crate::prepared::Prepared;
use crate::seeds::seeds;
use crate::source::Source;
use crate::stop::{Stopping, on_signals_in_preparation, unless_cut};
use crate::units::{self, plural};
use gramjet_campaign::subject::{Tested, quoted};
use gramjet_campaign::{StopReason, Watch};

mod conclusion;
mod course;
mod page;
mod replay;
mod reporter;

use reporter::Reporter;

/// Find the short texts of a grammar that cost a program most.
///
/// The program is run on one text after another, and what each one costs guides the search. If it was built by
/// `gramjet cc`, `gramjet c++`, `gramjet cargo` or AFL++, or is a function of Python, Node or Java, the cost is the
/// number of edges that it executes: exact, and the same on each run. Else it is processor time.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The folder for the texts and the report. If it has a search with the same grammar, program, length and cost,
    /// that search is resumed.
    #[arg(short, long, value_name = "DIR", default_value = "search-out", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    #[command(flatten)]
    node: NodeArgs,

    /// No text is longer than this, in bytes (60, 4KiB).
    #[arg(long, value_name = "SIZE", default_value = "60", value_parser = units::parse_size)]
    max_len: u64,

    /// End after this long, with the study.
    #[arg(long, value_name = "DURATION", value_parser = units::parse_duration)]
    time: Option<Duration>,

    /// End after this many runs.
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    runs: Option<u64>,

    /// End once the runs have executed this many edges in all: a budget that does not depend on the machine.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    edge_budget: Option<u64>,

    /// The cost of a text; by default `edges` where they are counted, else `cpu`.
    ///
    /// `edges` (how many the program executes in all), `hottest` (how often it executes the edge that it executes
    /// most), `cpu` (processor time in microseconds; time by the clock for programs that AFL++ has built), `memory` or
    /// `rss` (peak in KiB, of programs with a process for each text), `alloc` (bytes that a program allocates, all
    /// together), `stack` (bytes of its stack at the deepest, of programs with a process for each text), `output`
    /// (bytes of standard output), or `command:COMMAND`, the number that this command of the shell prints for the
    /// text. Of several, with commas between them or by several options, the first decides which text is the best;
    /// texts that no other beats in all of them are kept as well.
    #[arg(long, value_name = "COST", value_parser = Objectives::parse)]
    cost: Vec<Objectives>,

    /// Explore: vary texts with new coverage more than those that cost most.
    #[arg(long)]
    new_coverage: bool,

    /// Strategy that makes and chooses the texts.
    #[arg(long, value_name = "NAME", default_value = "portfolio",
        value_parser = PossibleValuesParser::new(strategies::all().map(|kind| PossibleValue::new(kind.name).help(kind.about))))]
    strategy: String,

    /// Use the constants of the publications, also where others are better. For all strategies but `portfolio` and
    /// `random`, which are not published.
    #[arg(long)]
    paper: bool,

    /// With `--strategy saffron`: what its paper leaves open, by name. `batch=100,kept=10,tournament=3,depth=32` are
    /// the defaults.
    #[arg(long, value_name = "NAME=N,..", value_parser = SaffronSettings::parse)]
    saffron: Option<SaffronSettings>,

    /// Leave the texts aside that are in the folder. So several strategies can be compared in one report.
    #[arg(long)]
    from_scratch: bool,

    /// Make N searches at once, each with a process of the program, or `auto` for one per processor. A search takes a
    /// second thread to make texts where that is faster.
    #[arg(short, long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = units::parse_jobs)]
    jobs: usize,

    /// Begin with the files in this folder that conform to the grammar and are short enough.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    seeds: Option<PathBuf>,

    /// The number that the choices depend on.
    #[arg(short, long, value_name = "SEED", default_value = "0", allow_negative_numbers = true, value_parser = units::parse_seed)]
    seed: u64,

    /// A run that takes more processor time is stopped, or five times as much by the clock. Its cost is what it has
    /// executed by then; it is listed apart.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_timeout)]
    timeout: Duration,

    /// A run that executes more edges is stopped, like one that takes longer than the timeout, but at the same texts on
    /// any machine. It counts as this many edges (10G).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    edge_limit: Option<u64>,

    /// End as soon as it is proved that the cost of a text grows faster than n to this power, where n counts how often
    /// a part of the text is repeated. Tried every few seconds: first with the best text, then with the costliest text
    /// of each other hottest edge.
    #[arg(long, value_name = "EXPONENT", value_parser = parse_exponent)]
    until_exponent: Option<f64>,

    /// In the end, look at the best text for no longer than this: make it smaller, find its causes, and prove how its
    /// cost grows. What is left of the time is for up to two texts with another hottest edge. 0 leaves that out.
    /// By default 60 seconds; with `--time` no more than a quarter of that time, or with this option half of it.
    #[arg(long, value_name = "DURATION", value_parser = units::parse_duration)]
    study: Option<Duration>,

    /// Before that, look for no longer than this at the processor time of texts of some kilobytes that repeat a few
    /// bytes, also texts that are not of the grammar: it shows growth where nothing is counted, as in regular
    /// expressions. 0 leaves that out, as does `--study 0`. By default as long as the search before it, at most 60
    /// seconds; with `--time` a quarter of that time, at most two minutes.
    #[arg(long, value_name = "DURATION", value_parser = units::parse_duration)]
    survey: Option<Duration>,

    /// Measure growth by texts of at most this many bytes.
    #[arg(long, value_name = "SIZE", default_value = "16KiB", value_parser = units::parse_size)]
    growth_len: u64,

    /// Run the families of texts again by which the search has proved growth, and do nothing else.
    #[arg(long, conflicts_with_all = ["json", "time", "runs", "seeds", "until_exponent"])]
    replay: bool,

    /// Write one JSON object a line to standard output: better texts (`best`), once a second how far the search is
    /// (`status`, at last `end`), with several costs the texts that no other beats (`front`), and the study of the
    /// best text and of some others (`study`).
    #[arg(long)]
    json: bool,

    /// Show no progress line.
    #[arg(long)]
    no_progress: bool,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    count: CountArgs,

    #[command(flatten)]
    program: ProgramArgs,
}

const EXAMPLES: &str = "\
Examples:
  gramjet cc -O2 -g my-parser.c -o my-parser && gramjet search json --time 10m -- ./my-parser @@
  gramjet search regex --max-len 30 --cost hottest -- python:re:compile
  gramjet search regex --until-exponent 1.5 -- python:my_module:match
  gramjet search dot --strategy slackline-mc --paper --time 1h -- ./dot

Exit status: 0 if the search was made; 1 if it could not go on; 2 if the arguments or the grammar cannot be used;
130 or 143 if a signal has ended it.";

/// Searches.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let stopping = on_signals_in_preparation();
    let stop = stopping.stop();
    unless_cut(search(args, stopping), &stop)
}

fn search(args: &Arguments, stopping: Stopping) -> Result<(), Failure> {
    let times = Times::new(args);
    let folder = args.node.folder(&args.output);
    let siblings = [Place::Best, Place::Queue].map(|place| args.node.siblings(&args.output, place));
    let siblings = siblings.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let source = Source::load(&args.grammar)?;
    // Texts are bounded by their length alone: costly ones are often deep.
    let limits = crate::arguments::limits::LimitArgs::at(None, Some(args.max_len));
    let grammar = args.grammar.for_search(args.seeds.is_some(), State::fact(&folder, ZERO_WEIGHTS));
    let prepared = Prepared::new(source, &grammar, &limits)?.with_own_weights();
    let language = Language::unlimited(prepared.compile()?, &prepared.options);
    let studied = if prepared.has_own_weights() { language.clone() } else { prepared.with_whole_repetitions()? };
    let max_len = usize::try_from(args.max_len).unwrap_or(usize::MAX);
    let counted = args.count.modules(&args.program)?;
    let mut surroundings = args.run.surroundings(args.timeout).counting(counted);
    surroundings.limits = surroundings.limits.with_edges(args.edge_limit);
    let tested = Tested::new(&args.program.command, surroundings)?;
    // Cost guides the search, not coverage.
    say!("gramjet: {}", tested.describe().split(',').next().unwrap_or_default());
    let objectives = Objectives::of(&args.cost, &tested)?;
    drop(tested);
    let cores = args.run.cores(args.jobs);
    if language.min_len() > args.max_len {
        let (least, most) = (language.min_len(), args.max_len);
        return Err(Failure::Usage(format!(
            "every text of the grammar is longer than {most} bytes: give at least `--max-len {least}`"
        )));
    }
    let stop = stopping.stop();
    if let Some(end) = times.search {
        stop.after(end.saturating_duration_since(Instant::now()));
    }
    let _watch = Watch::new(&stop, times.all);
    let mut meter = Meter::new(&args.program.command, surroundings.on(cores.of(0)), &objectives)?;
    if meter.lacks_cpu() {
        say!("gramjet: the processor time of this program is not known: the cost `cpu` is its time by the clock");
    }
    args.run.warn_of_confinement();
    if args.edge_limit.is_some() && !meter.tested.sums_edges() {
        return Err(Failure::Usage(
            "--edge-limit needs a program built by gramjet cc, gramjet c++ or gramjet cargo, or a function".to_string(),
        ));
    }
    if args.replay {
        if !folder.join("search").exists() {
            return Err(Failure::Usage(format!("{} has no search in it", shown(&folder))));
        }
        let state = State::open(&folder, &facts(args, &prepared, &language, &objectives, counted))?;
        return replay::run(state.view(), &mut meter, &objectives, &stopping.end_preparation());
    }
    if args.edge_budget.is_some() && !meter.tested.counts_edges() {
        return Err(Failure::Usage("--edge-budget needs a program that counts its edges".to_string()));
    }
    if args.new_coverage && !meter.tested.counts_edges() {
        return Err(Failure::Usage("--new-coverage needs a program that counts its edges".to_string()));
    }
    if args.new_coverage && args.strategy != STRATEGIES[0].name {
        return Err(Failure::Usage(format!("--new-coverage needs --strategy {}", STRATEGIES[0].name)));
    }
    if args.saffron.is_some() && args.strategy != "saffron" {
        return Err(Failure::Usage("--saffron needs --strategy saffron".to_string()));
    }
    if args.paper && strategies::all().any(|kind| kind.name == args.strategy && !kind.is_published) {
        let published = strategies::all().filter(|kind| kind.is_published).map(|kind| kind.name);
        let published: Vec<&str> = published.collect();
        return Err(Failure::Usage(format!("--paper needs a published --strategy: {}", published.join(", "))));
    }
    if args.until_exponent.is_some() && times.study.is_zero() {
        return Err(Failure::Usage("--until-exponent needs time for --study".to_string()));
    }
    // What cannot be measured is said before a folder is made.
    let mut sample = Derivation::default();
    language.deriver(Some(args.max_len)).replay(&[], &mut sample);
    meter.read(&sample.text)?;
    let seeds = args.seeds.as_deref().map_or(Ok(Vec::new()), |folder| seeds(folder, &language, "left out"))?;
    let too_long = seeds.iter().filter(|text| text.len() as u64 > args.max_len).count() as u64;
    if too_long > 0 {
        say!("gramjet: {} with more than {} bytes left out", plural(too_long, "file"), args.max_len);
    }
    let mut state = State::open(&folder, &facts(args, &prepared, &language, &objectives, counted))?;
    if args.node.is_shared() {
        state.wait_for_disk();
    }
    let plan = Plan {
        language,
        studied,
        command: args.program.command.clone(),
        surroundings,
        objectives,
        strategy: strategy(args)?,
        explores: args.new_coverage,
        is_fresh: args.from_scratch,
        max_len,
        seed: Seed::new(args.seed).of_node(args.node.salt()),
        jobs: args.jobs,
        cores,
        runs: args.runs.unwrap_or(u64::MAX),
        edge_budget: args.edge_budget.unwrap_or(u64::MAX),
        end: times.search,
        seeds,
    };
    let hunt = Hunt::open(plan, state, stopping.end_preparation())?;
    // So `gramjet report` makes a page of the folder, however the search ends.
    if hunt.state.view().file(REPORT).is_none() {
        write_page(args, &hunt, &[])?;
    }
    let mut reporter = Reporter::new(args.json, args.json || args.no_progress);
    let mut depth = depth(args, &times);
    let ran = hunt.run(meter, siblings, &depth, |hunt| reporter.look(hunt));
    reporter.end(&hunt);
    depth.survey = times.survey.unwrap_or_else(|| hunt.elapsed().min(STUDY));
    study(args, &hunt, &depth, ran?, &mut reporter)?;
    reporter.failure.take().map_or(Ok(()), Err)?;
    conclude(&hunt)
}

fn parse_exponent(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(exponent) if (1.0..100.0).contains(&exponent) => Ok(exponent),
        _ => Err("use a number from 1 on, such as 1.5".to_string()),
    }
}

/// Options that tell one run of a search from the next.
const ONCE: [&str; 7] = ["--time", "--runs", "--edge-budget", "--study", "--survey", "--until-exponent", "--seeds"];

/// Returns the command of this search, as a shell takes it, without the options that hold for one run only; with
/// `--replay` if it is to run the families again.
fn again(is_replay: bool) -> String {
    let mut words = vec![OsString::from("gramjet")];
    let mut given = std::env::args_os().skip(1);
    while let Some(word) = given.next() {
        if word == "--" {
            words.extend(is_replay.then(|| "--replay".into()));
            words.push(word);
            break;
        }
        let text = word.to_string_lossy();
        if ONCE.contains(&&*text) || text == "-n" {
            given.next();
        } else if !is_once(&text) {
            words.push(word);
        }
    }
    words.extend(given);
    quoted(&words).to_string_lossy().into_owned()
}

/// Returns true if a word is an option of one run, with its value or without one.
fn is_once(word: &str) -> bool {
    let has_value = |name: &&str| word.strip_prefix(*name).is_some_and(|rest| rest.starts_with('='));
    let is_short =
        word.strip_prefix("-n").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '='));
    ONCE.iter().any(has_value) || is_short || ["--replay", "--json", "--no-progress", "--from-scratch"].contains(&word)
}

fn strategy(args: &Arguments) -> Result<StrategyKind, Failure> {
    let kind = strategies::by_name(&args.strategy)
        .ok_or_else(|| Failure::Internal(format!("the strategy `{}` is missing", args.strategy)))?;
    let is_paper = args.paper;
    Ok(match args.saffron {
        None => StrategyKind::of(kind, is_paper),
        Some(settings) => {
            let strategy = StrategyKind::new(kind.name, move || settings.strategy(is_paper));
            if is_paper { strategy.with_paper() } else { strategy }
        }
    })
}

/// The times of a search and of its study.
struct Times {
    /// Ends of the search and of all, if there are any.
    search: Option<Instant>,
    all: Option<Instant>,
    /// Time for the survey of long texts; `None` if it follows from the time of the search.
    survey: Option<Duration>,
    /// Time for the study.
    study: Duration,
}

impl Times {
    /// Divides the time. A search that makes no text has all that it needs.
    fn new(args: &Arguments) -> Times {
        let begin = Instant::now();
        let Some(time) = args.time.filter(|_| args.runs != Some(0)) else {
            let survey = args.survey.or_else(|| (args.runs == Some(0)).then_some(Duration::ZERO));
            return Times { search: None, all: None, survey, study: args.study.unwrap_or(STUDY) };
        };
        let study = args.study.map_or(STUDY.min(time / 4), |study| study.min(time / 2));
        let usual = if study.is_zero() { Duration::ZERO } else { SURVEY.min(time / 4) };
        // The survey is a part of the study.
        let survey = args.survey.map_or(usual, |survey| if study.is_zero() { usual } else { survey.min(time / 2) });
        // A time beyond the range of clocks is none.
        let search = begin.checked_add(time.saturating_sub(study + survey));
        Times { search, all: begin.checked_add(time), survey: Some(survey), study }
    }
}

/// The usual time for the study, and for the survey.
const STUDY: Duration = Duration::from_secs(60);
const SURVEY: Duration = Duration::from_secs(120);

fn depth(args: &Arguments, times: &Times) -> Depth {
    let effort = Effort { max_len: usize::try_from(args.growth_len).unwrap_or(usize::MAX), ..Effort::default() };
    let survey = times.survey.unwrap_or_default();
    Depth { time: times.study, survey, end: times.all, effort, until_exponent: args.until_exponent }
}

/// Looks closely at what was found, and says what that shows. The page is there whatever interrupts the study: that of
/// a search that is interrupted can be completed by `-n 0`.
fn study(
    args: &Arguments,
    hunt: &Hunt,
    depth: &Depth,
    proved: Option<Vec<u8>>,
    reporter: &mut Reporter,
) -> Result<(), Failure> {
    let studied = hunt.study(depth, proved, |hunt, studies| write_page(args, hunt, studies).map(drop))?;
    let place = hunt.state.path().join(PAGE);
    match studied {
        Studied::Nothing => say!("gramjet: no text ended by itself; report: {}", shown(&place)),
        Studied::LeftOut => {}
        Studied::Texts(best, studies) => reporter.conclude(hunt, &best, &studies, &place),
    }
    Ok(())
}

/// The report as a page.
pub(super) const PAGE: &str = "report.html";

fn write_page(args: &Arguments, hunt: &Hunt, studies: &[Study]) -> Result<PathBuf, Failure> {
    let grammar = args.grammar.grammar.to_string_lossy().into_owned();
    let earlier = hunt.state.view().file(REPORT).and_then(|json| serde_json::from_slice(&json).ok());
    let mut report = page::page(hunt, studies, (&grammar, &again(false), &again(true)), earlier);
    hunt.write_totals()?;
    refresh(&mut report, hunt.state.view())?;
    let json = serde_json::to_vec(&report).map_err(|error| Failure::Internal(error.to_string()))?;
    hunt.state.write(REPORT, &json)?;
    Ok(hunt.state.write(PAGE, html(&report).as_bytes())?)
}

/// Returns the page of the search in a folder, made anew from all that is there; and the folder.
pub(super) fn page_of(folder: &Path) -> Result<(String, View), Failure> {
    let view = View::open(folder)?;
    let json = view.file(REPORT);
    let json = json.ok_or_else(|| Failure::Usage(format!("{} has no report of `gramjet search`", shown(folder))))?;
    let mut report: Report = serde_json::from_slice(&json)
        .map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", shown(&folder.join(REPORT)))))?;
    refresh(&mut report, &view)?;
    let page = html(&report);
    Ok((page, view))
}

/// Returns what tells this search from others in the same folder.
fn facts(
    args: &Arguments,
    prepared: &Prepared,
    language: &Language,
    objectives: &Objectives,
    counted: &[String],
) -> [(&'static str, String); 5] {
    let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(['\n', '\r'], " ");
    let counted = match counted {
        [] => String::new(),
        modules => format!(" with {}", modules.join(",")),
    };
    let cost = format!("{objectives}{counted}");
    [
        ("grammar", format!("{:016x}", language.fingerprint())),
        ("program", line(quoted(&args.program.command).as_encoded_bytes())),
        ("length", args.max_len.to_string()),
        ("cost", line(cost.as_bytes())),
        (ZERO_WEIGHTS, prepared.zero_weights().to_string()),
    ]
}

fn conclude(hunt: &Hunt) -> Result<(), Failure> {
    let folder = shown(hunt.state.path());
    match hunt.stop.reason() {
        Some(StopReason::Signal(name, signal)) => {
            let runs = plural(hunt.progress().runs, "run");
            let reached = format!("after {runs}; the search in {folder} can go on, and `-n 0` completes its report");
            Err(Failure::Stopped { name, signal, reached })
        }
        _ => Ok(()),
    }
}
