//! `gramjet gen`: plans a run, opens its output, sets the workers to it and says how it went.

mod bulk;
mod choice;
mod counted;
mod coverage;
mod destination;
mod ordered;
mod shown;
mod suite;
mod unique;
mod worker;

use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueHint};
use gramjet::BLOCK_INPUTS;
use gramjet_compiler::Compiled;
use gramjet_engine::bulk::{Bulk, Effort};

use crate::arguments::engine::EngineArgument;
use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::engine::Engine;
use crate::failure::{Failure, say};
use crate::output::separator::Separator;
use crate::output::shown::Shown;
use crate::plan::{Amount, Plan, Shard, ShardArgument, is_large};
use crate::prepared::Prepared;
use crate::progress::Progress;
use crate::tally::Tally;
use crate::units::{self, display_size};
use bulk::InBulk;
use choice::{Choice, Wish};
use counted::{Counted, End};
use destination::{Destination, OutputArgs};
use gramjet_campaign::{Stop, StopReason};
use suite::SuiteArgs;
use unique::Ended;
use worker::Orders;

/// Generate inputs.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    #[command(flatten)]
    amount: AmountArgs,

    /// Write no input twice: of equal inputs, only the first one is written.
    ///
    /// The run ends early, with a message, when there are no other inputs within the limits, or when no new one was
    /// found 100000 times in a row. It remembers up to 29360128 inputs, with 570 MB.
    #[arg(long, conflicts_with_all = ["jobs", "shard", "coverage", "optimise"])]
    unique: bool,

    /// The number that the whole run depends on: same seed, same output; decimal or 0x and hexadecimal.
    ///
    /// Without it the seed is random, and -v shows it.
    #[arg(short, long, value_name = "SEED", allow_negative_numbers = true, value_parser = units::parse_seed)]
    seed: Option<u64>,

    /// The engine that runs the grammar; the output does not depend on it, except for `bulk`.
    #[arg(long, value_enum, default_value_t = EngineArgument::AUTO)]
    engine: EngineArgument,

    /// Make the bulk engine's tables up to N times as large, with N times the work: more bytes a second for some
    /// grammars, for runs that are long enough. The inputs may be others.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=64))]
    optimise: u32,

    /// The number of threads, or `auto` for one per processor; the output does not depend on it.
    #[arg(short, long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = units::parse_jobs)]
    jobs: usize,

    /// Make only the I-th part (from 0) of a run that N processes share, or `auto`.
    ///
    /// With -n each shard makes a contiguous part, and all parts in order are byte for byte the run without --shard.
    /// With --bytes and --time shard I makes the blocks I, I+N, ... of 256 inputs each, and its N-th part of the bytes.
    /// `auto` reads SLURM_ARRAY_TASK_ID, _COUNT and _MIN, or JOB_COMPLETION_INDEX with JOB_COMPLETIONS or
    /// GRAMJET_SHARDS.
    #[arg(long, value_name = "I/N", requires = "seed")]
    shard: Option<ShardArgument>,

    /// Say what is done, and sum it up at the end.
    #[arg(short, long)]
    verbose: bool,

    /// Show no progress line.
    #[arg(long)]
    no_progress: bool,

    /// Say which rules and alternatives the inputs came to; as JSON, too, with --coverage=FILE.
    ///
    /// The inputs are made a second time for this, by a slow interpreter, until nothing is left to be reached.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    coverage: Option<Option<PathBuf>>,

    #[command(flatten)]
    suite: SuiteArgs,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// Options for the amount to generate.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct AmountArgs {
    /// Generate this many inputs (100, 10k, 2M); 1 if no amount is given.
    #[arg(short = 'n', long = "count", value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    count: Option<u64>,

    /// Generate until at least this many bytes are written, separators included; inputs are never cut.
    ///
    /// k, M, G, T (and kB, MB, ...) are powers of 1000; KiB, MiB, GiB, TiB are powers of 1024.
    #[arg(short, long, value_name = "SIZE", allow_negative_numbers = true, value_parser = units::parse_size)]
    bytes: Option<u64>,

    /// Generate for this long (500ms, 30s, 2m, 1h30m), up to the end of an input.
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = units::parse_duration)]
    time: Option<Duration>,
}

const EXAMPLES: &str = "\
Examples:
  gramjet gen json                                 one JSON document
  gramjet gen my.ebnf -n 1000 --seed 7 -o corpus/ --ext txt
  gramjet gen json --bytes 10G --jobs auto -o big.json
  gramjet gen css --time 30s --separator nul | xargs -0 -n 1 ./my-parser
  gramjet gen json -n 1M --seed 7 --shard 2/8 -o part2.json";

/// The arguments of a run, checked and completed by defaults.
struct Asked<'a> {
    args: &'a Arguments,
    amount: Amount,
    shard: Shard,
    destination: Destination<'a>,
    separator: Separator,
    seed: u64,
}

/// Plan of a run with the choice of its engine and the number of its threads.
struct Planned {
    choice: Choice,
    plan: Plan,
    jobs: usize,
}

/// Generates inputs.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    if args.suite.is_asked() {
        let common = suite::Common {
            grammar: &args.grammar,
            limits: &args.limits,
            output: &args.output,
            seed: args.seed.unwrap_or(0),
            count: args.amount.count,
        };
        return suite::run(&args.suite, &common);
    }
    let asked = Asked::new(args)?;
    let stopping = crate::stop::on_signals_in_preparation();
    let prepared = Prepared::load(&args.grammar, &args.limits)?;
    let planned = asked.plan(&prepared)?;
    asked.announce(&planned);
    if let Some(path) = planned.choice.engine.write_perf_map()? {
        say!("gramjet: the machine code is named for perf in {}", path.display());
    }
    // Opened files must be closed.
    let stop = stopping.end_preparation();
    let (written, elapsed) = asked.make(&planned, &prepared, &stop)?;
    if let (Ok(written), true) = (&written, args.verbose) {
        summarise(*written, asked.separator, elapsed);
    }
    asked.cover(&planned, &prepared, &written)?;
    written.map(|_| ())
}

impl<'a> Asked<'a> {
    /// Refuses arguments that do not go together.
    fn new(args: &'a Arguments) -> Result<Asked<'a>, Failure> {
        let shard = match args.shard {
            None => Shard::WHOLE,
            Some(ShardArgument::Given(shard)) => shard,
            Some(ShardArgument::Auto) => {
                Shard::from_environment(|name| std::env::var(name).ok()).map_err(Failure::Usage)?
            }
        };
        let destination = Destination::of(&args.output)?;
        let to_stdout = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| path.as_os_str() == "-");
        if destination.is_standard_output() && args.coverage.as_ref().is_some_and(to_stdout) {
            let both = "the inputs and `--coverage=-` cannot both go to standard output; give one of them a file";
            return Err(Failure::Usage(both.to_string()));
        }
        let separator = destination.separator(&args.output);
        let seed = args.seed.unwrap_or_else(random_seed);
        Ok(Asked { args, amount: args.amount.amount(), shard, destination, separator, seed })
    }

    /// Decides what makes the inputs, and plans the run in its blocks.
    fn plan(&self, prepared: &Prepared) -> Result<Planned, Failure> {
        let args = self.args;
        let engine = Engine::start(prepared, args.engine)?;
        let wish = Wish {
            engine: args.engine,
            is_seeded: args.seed.is_some(),
            is_covered: args.coverage.is_some(),
            is_unique: args.unique,
            amount: self.amount,
            jobs: args.jobs,
            framing: bulk::framing(self.separator),
            effort: Effort::times(args.optimise),
        };
        let choice = choice::choose(engine, prepared, wish)?;
        let plan = Plan::new(self.amount, self.shard, choice.bulk.as_ref().map_or(BLOCK_INPUTS, Bulk::block_inputs));
        let jobs = usize::try_from(plan.blocks()).unwrap_or(usize::MAX).clamp(1, args.jobs);
        Ok(Planned { choice, plan, jobs })
    }

    fn announce(&self, planned: &Planned) {
        if self.args.verbose {
            let origin = if self.args.seed.is_some() { "" } else { " (random)" };
            let (engine, limits) = (&planned.choice.description, planned.choice.engine.applied());
            say!("gramjet: seed {}{origin}, engine {engine}, {limits}", self.seed);
            if self.shard != Shard::WHOLE {
                say!("gramjet: shard {}", self.shard);
            }
        }
    }

    /// Makes the inputs. Returns how many inputs and bytes were written, or why the output is incomplete; and the time
    /// taken.
    fn make(
        &self,
        planned: &Planned,
        prepared: &Prepared,
        stop: &Stop,
    ) -> Result<(Result<Tally, Failure>, Duration), Failure> {
        let Planned { choice, plan, jobs } = planned;
        let mut sink = self.destination.open(&self.args.output, plan, self.amount)?;
        if self.destination.is_watched(&self.args.output) {
            let describe = shown::describing(prepared.compiled()?.clone());
            sink = Box::new(Shown::new(sink, self.separator.len() as usize, describe));
        }
        let progress = if self.args.no_progress {
            Progress::hidden()
        } else {
            Progress::on_terminal(plan, self.destination.is_standard_output())
        };
        let start = Instant::now();
        if let Some(time) = plan.time {
            stop.after(time);
        }
        // A processor that has nothing else to do writes.
        let spare = *jobs < std::thread::available_parallelism().map_or(1, NonZero::get);
        let has_writer = spare && is_large(self.amount) && sink.takes_time();
        let output = Counted::new(sink, plan.bytes, progress);
        if self.args.unique {
            return Ok((self.make_unique(&choice.engine, prepared.compiled()?, output, stop), start.elapsed()));
        }
        let longest = choice.engine.limits().output();
        let orders = Orders { plan: *plan, seed: self.seed, separator: self.separator, longest, stop: stop.clone() };
        let (output, end) = match &choice.bulk {
            Some(bulk) => worker::run((0..*jobs).map(|_| InBulk(bulk.fork())).collect(), orders, output, has_writer),
            None => worker::run((0..*jobs).map(|_| choice.engine.producer()).collect(), orders, output, has_writer),
        };
        let elapsed = start.elapsed();
        Ok((conclude(output, end, stop), elapsed))
    }

    /// Makes inputs of which no two are equal.
    fn make_unique(
        &self,
        engine: &Engine,
        compiled: &Compiled,
        output: Counted,
        stop: &Stop,
    ) -> Result<Tally, Failure> {
        let count = if let Amount::Inputs(count) = self.amount { Some(count) } else { None };
        let (limits, stopping) = (engine.limits(), stop.clone());
        let (seed, separator) = (self.seed, self.separator);
        let orders = unique::Orders { compiled, limits, count, seed, separator, stop: stopping };
        let (output, end, ended) = unique::run(orders, engine.producer(), output);
        let written = conclude(output, end, stop)?;
        match ended {
            None => Ok(written),
            Some(Ended::UsedUp) => {
                say!("gramjet: {written} are all: {}", Ended::UsedUp);
                Ok(written)
            }
            Some(ended) => Err(Failure::Ended(format!("the run ends after {written}: {ended}"))),
        }
    }

    /// Says what the inputs of a run that ended as planned, or was interrupted, came to.
    fn cover(&self, planned: &Planned, prepared: &Prepared, written: &Result<Tally, Failure>) -> Result<(), Failure> {
        let (Some(path), Ok(written) | Err(Failure::Interrupted { written, .. })) = (&self.args.coverage, written)
        else {
            return Ok(());
        };
        let covering = coverage::covering(prepared.compiled()?, planned.choice.engine.limits())?;
        let coverage = coverage::of_run(&covering, &planned.plan, self.seed, written.inputs, self.args.jobs);
        coverage::report(&coverage, &prepared.source.file, written.inputs, path.as_deref())
    }
}

impl AmountArgs {
    fn amount(&self) -> Amount {
        match (self.count, self.bytes, self.time) {
            (_, Some(bytes), _) => Amount::Bytes(bytes),
            (_, _, Some(time)) => Amount::Time(time),
            (count, ..) => Amount::Inputs(count.unwrap_or(1)),
        }
    }
}

/// Ends the output, and says what kept it from being complete.
fn conclude(output: Option<Counted>, end: Option<End>, stop: &Stop) -> Result<Tally, Failure> {
    let Some(mut output) = output else {
        return Err(Failure::Internal("a worker was lost".to_string()));
    };
    let finished = output.finish();
    let written = output.written();
    let what = output.description();
    match end {
        Some(End::Failed(source)) => return Err(Failure::Output { what, source, written }),
        Some(End::TooLong(reason)) => return Err(Failure::TooLong { reason: reason.to_string(), written }),
        Some(End::Panicked) => return Err(Failure::Internal("a worker panicked".to_string())),
        Some(End::Full | End::Stopped) | None => {}
    }
    finished.map_err(|source| Failure::Output { what, source, written })?;
    match (end, stop.reason()) {
        (Some(End::Stopped), Some(StopReason::Signal(name, signal))) => {
            Err(Failure::Interrupted { name, signal, written })
        }
        _ => Ok(written),
    }
}

/// Returns a random seed: the standard library seeds its hashers from the operating system.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}

fn summarise(written: Tally, separator: Separator, elapsed: Duration) {
    let seconds = elapsed.as_secs_f64();
    let of_inputs = written.bytes - written.inputs * separator.len();
    let mean = if written.inputs == 0 { 0.0 } else { of_inputs as f64 / written.inputs as f64 };
    let rate = if seconds > 0.0 { written.bytes as f64 / seconds / f64::from(1 << 20) } else { 0.0 };
    say!(
        "gramjet: {written}, {}, mean length {mean:.1} bytes, {seconds:.3} s, {rate:.1} MiB/s",
        display_size(written.bytes)
    );
}
