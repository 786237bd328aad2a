//! `gramjet gen`: plans a run, opens its output, sets the workers to it and says how it went.

mod bulk;
mod chunk;
mod coverage;
mod engine;
mod ordered;
mod output;
mod worker;

use std::num::NonZero;
use std::path::Path;
use std::time::{Duration, Instant};

pub use chunk::{Chunk, InputTooLong, Tally};

use bulk::InBulk;
use gramjet::BLOCK_INPUTS;
use gramjet_engine::bulk::Bulk;

use crate::args::{GenArgs, OutputArgs, SeparatorArgument, WriteMode};
use crate::engines;
use crate::failure::{Failure, quoted, say};
use crate::grammar;
use crate::limits;
use crate::progress::Progress;
use crate::shard::{Amount, Plan, Shard, ShardArgument};
use crate::sinks::{self, Directory, Sink, Stream};
use crate::stop::{Stop, StopReason};
use crate::units::display_size;
use chunk::Separator;
use engine::Choice;
use output::{End, Output};
use worker::Orders;

/// Generates inputs.
pub fn run(args: &GenArgs) -> Result<(), Failure> {
    let amount = match (args.amount.count, args.amount.bytes, args.amount.time) {
        (_, Some(bytes), _) => Amount::Bytes(bytes),
        (_, _, Some(time)) => Amount::Time(time),
        (count, ..) => Amount::Inputs(count.unwrap_or(1)),
    };
    let shard = match args.shard {
        None => Shard::WHOLE,
        Some(ShardArgument::Given(shard)) => shard,
        Some(ShardArgument::Auto) => {
            Shard::from_environment(|name| std::env::var(name).ok()).map_err(Failure::Usage)?
        }
    };
    let destination = Destination::of(&args.output)?;
    if matches!(destination, Destination::StandardOutput)
        && args.coverage.as_ref().is_some_and(|path| path.as_ref().is_some_and(|path| path.as_os_str() == "-"))
    {
        let both = "the inputs and `--coverage=-` cannot both go to standard output; give one of them a file";
        return Err(Failure::Usage(both.to_string()));
    }
    let separator = Separator::of(args.output.separator.unwrap_or(match destination {
        Destination::Directory(_) => SeparatorArgument::None,
        _ => SeparatorArgument::Newline,
    }));
    let seed = args.seed.unwrap_or_else(random_seed);

    let stop = Stop::on_signals_in_preparation();
    let source = grammar::load(&args.grammar)?;
    let mut engine = engines::prepare(&source, &args.grammar, args.engine, &args.limits)?;
    let limits = limits::apply(&mut engine, &args.limits)?;
    let Choice { mut engine, bulk, description } = engine::choose(engine, &source, args, amount, separator)?;
    let plan = Plan::new(amount, shard, bulk.as_ref().map_or(BLOCK_INPUTS, Bulk::block_inputs));
    let jobs = usize::try_from(plan.blocks()).unwrap_or(usize::MAX).clamp(1, args.jobs);
    if args.verbose {
        let origin = if args.seed.is_some() { "" } else { " (random)" };
        say!("gramjet: seed {seed}{origin}, engine {description}, {limits}");
        if shard != Shard::WHOLE {
            say!("gramjet: shard {shard}");
        }
    }

    if let Some(path) = engine.write_perf_map()? {
        say!("gramjet: the machine code is named for perf in {}", path.display());
    }

    // What was opened is to be closed.
    stop.end_preparation();
    let sink = destination.open(&args.output, &plan, amount)?;
    let progress = if args.no_progress {
        Progress::hidden()
    } else {
        Progress::on_terminal(&plan, matches!(destination, Destination::StandardOutput))
    };
    let start = Instant::now();
    if let Some(time) = plan.time {
        stop.after(time);
    }
    // A processor that has nothing else to do writes.
    let spare = jobs < std::thread::available_parallelism().map_or(1, NonZero::get);
    let has_writer = spare && amount.is_large() && sink.takes_time();
    let output = Output::new(sink, plan.bytes, progress);
    let orders = Orders { plan, seed, separator, longest: engine.limits().output(), stop: stop.clone() };
    let (output, end) = match bulk {
        Some(bulk) => worker::run((0..jobs).map(|_| InBulk(bulk.fork())).collect(), orders, output, has_writer),
        None => worker::run((0..jobs).map(|_| engine.producer()).collect(), orders, output, has_writer),
    };
    let elapsed = start.elapsed();
    let concluded = conclude(output, end, &stop);
    if let (Ok(written), true) = (&concluded, args.verbose) {
        summarise(*written, separator, elapsed);
    }
    if let (Some(path), Some(written)) = (&args.coverage, covered(&concluded)) {
        let covering = engines::covering(&mut engine, &source, &args.grammar)?;
        let coverage = coverage::of_run(&covering, &plan, seed, written.inputs, args.jobs);
        coverage::report(&coverage, &source.file, written.inputs, path.as_deref())?;
    }
    concluded.map(|_| ())
}

/// What was written by a run that ended as planned, or was interrupted.
fn covered(concluded: &Result<Tally, Failure>) -> Option<Tally> {
    match concluded {
        Ok(written) | Err(Failure::Interrupted { written, .. }) => Some(*written),
        Err(_) => None,
    }
}

/// Ends the output, and says what kept it from being complete.
fn conclude(output: Option<Output>, end: Option<End>, stop: &Stop) -> Result<Tally, Failure> {
    let Some(mut output) = output else {
        return Err(Failure::Internal("a worker was lost".to_string()));
    };
    let finished = output.finish();
    let written = output.written();
    let what = output.description();
    match end {
        Some(End::Failed(source)) => return Err(Failure::Output { what, source, written }),
        Some(End::TooLong(reason)) => return Err(Failure::TooLong { reason, written }),
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

/// Where the inputs go.
enum Destination<'a> {
    StandardOutput,
    File(&'a Path),
    Directory(&'a Path),
}

impl<'a> Destination<'a> {
    fn of(args: &'a OutputArgs) -> Result<Destination<'a>, Failure> {
        let destination = match &args.output {
            Some(path) if path.as_os_str() != "-" => {
                let ends_as_directory = path.as_os_str().as_encoded_bytes().ends_with(b"/")
                    || cfg!(windows) && path.as_os_str().as_encoded_bytes().ends_with(b"\\");
                if ends_as_directory || args.ext.is_some() || path.is_dir() {
                    Destination::Directory(path)
                } else {
                    Destination::File(path)
                }
            }
            _ => Destination::StandardOutput,
        };
        match destination {
            Destination::Directory(path) if path.exists() && !path.is_dir() => Err(Failure::Usage(format!(
                "{} is not a directory; `--ext` and a slash at the end ask for one",
                quoted(path)
            ))),
            Destination::StandardOutput if args.ext.is_some() => {
                Err(Failure::Usage("`--ext` needs a directory to write to".to_string()))
            }
            Destination::StandardOutput | Destination::Directory(_) if mode(args) == WriteMode::Mmap => {
                Err(Failure::Usage("only a file can be written through a memory map: give one with `-o`".to_string()))
            }
            destination => Ok(destination),
        }
    }

    fn open(&self, args: &OutputArgs, plan: &Plan, amount: Amount) -> Result<Box<dyn Sink>, Failure> {
        match *self {
            Destination::StandardOutput => {
                let stream = Stream::standard_output()
                    .map_err(|source| Failure::Write { what: "standard output".to_string(), source })?;
                Ok(Box::new(stream))
            }
            Destination::File(path) => sinks::file(path, mode(args)),
            Destination::Directory(path) => {
                let greatest = match amount {
                    Amount::Inputs(count) => Some(count.saturating_sub(1)),
                    _ => None,
                };
                let directory = Directory::create(path, args.ext.as_deref(), *plan, greatest)
                    .map_err(|source| Failure::writing(path, source))?;
                Ok(Box::new(directory))
            }
        }
    }
}

fn mode(args: &OutputArgs) -> WriteMode {
    match (args.mmap, args.no_mmap) {
        (true, _) => WriteMode::Mmap,
        (_, true) => WriteMode::Write,
        _ => args.write_mode,
    }
}

/// A seed that nobody chose: the standard library seeds its hashers from the operating system.
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
