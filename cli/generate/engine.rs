//! Which engine makes a run: the one that was asked for, or for `auto` the one that is likely to be done first.

use std::time::Instant;

use gramjet_engine::auto::{self, Pace, Timed, Wanted, Why};
use gramjet_engine::bulk::{Bulk, Effort, Framing, NotInBulk};

use super::bulk;
use super::chunk::Separator;
use crate::args::{EngineArgument, GenArgs};
use crate::engines::{self, Engine};
use crate::failure::Failure;
use crate::grammar::Source;
use crate::shard::Amount;

/// The engine of a run.
pub struct Choice {
    /// What replays.
    pub engine: Engine,
    /// What makes the inputs in its place, if that is the bulk engine.
    pub bulk: Option<Bulk>,
    /// What is to be said of it.
    pub description: String,
}

/// Chooses what makes a run, where `engine` is ready.
pub fn choose(
    mut engine: Engine,
    source: &Source,
    args: &GenArgs,
    amount: Amount,
    separator: Separator,
) -> Result<Choice, Failure> {
    let (framing, effort) = (bulk::framing(separator), Effort::times(args.optimise));
    match args.engine {
        EngineArgument::Bulk if args.coverage.is_some() => Err(Failure::Usage(
            "`--coverage` is not possible with `--engine bulk`, whose inputs no other engine makes".to_string(),
        )),
        EngineArgument::Bulk => match in_bulk(&mut engine, source, args, framing, effort)? {
            Ok(made) => {
                let description = engines::bulk_description(&made);
                Ok(Choice { engine, bulk: Some(made), description })
            }
            Err(refusal) => Err(Failure::Usage(format!("`--engine bulk` is not possible: {refusal}"))),
        },
        // Who gives a seed gets the same inputs from any engine, however many.
        EngineArgument::Auto if args.seed.is_none() && args.coverage.is_none() && amount.may_take_long() => {
            let wanted = Wanted { amount: amount.into(), jobs: args.jobs };
            let pace = auto::pace(wanted, engine.producer(), &framing, &Instant::now());
            if wanted.is_long(pace) {
                fastest(engine, source, args, wanted, pace, framing, effort)
            } else {
                Ok(Choice { description: engine.description(), engine, bulk: None })
            }
        }
        _ => Ok(Choice { description: engine.description(), engine, bulk: None }),
    }
}

fn in_bulk(
    engine: &mut Engine,
    source: &Source,
    args: &GenArgs,
    framing: Framing,
    effort: Effort,
) -> Result<Result<Bulk, NotInBulk>, Failure> {
    let (compiled, limits) = (engine.compiled(source, &args.grammar)?, engine.limits());
    Ok(auto::in_bulk(&compiled, limits, framing, effort))
}

/// What was measured to be done first, where `engine` has this pace.
fn fastest(
    mut engine: Engine,
    source: &Source,
    args: &GenArgs,
    wanted: Wanted,
    pace: Pace,
    framing: Framing,
    effort: Effort,
) -> Result<Choice, Failure> {
    let compiled = engine.compiled(source, &args.grammar)?;
    let (chosen, why) = auto::choose(
        wanted,
        pace,
        &Timed {
            own: &|| engine.producer(),
            is_generated: engine.is_generated(),
            compiled: &compiled,
            limits: engine.limits(),
            framing,
            effort,
            clock: Instant::now(),
        },
    );
    let (engine, bulk) = match chosen {
        auto::Engine::Own => (engine, None),
        auto::Engine::Jit(jit) => (engine.on(&compiled, jit), None),
        auto::Engine::Bulk(bulk) => (engine, Some(*bulk)),
    };
    let description = match (&bulk, why) {
        (_, Why::Little) => engine.description(),
        (None, Why::Refused(refusal)) => format!("{}, not bulk, as {refusal}", engine.description()),
        (_, Why::Sketched { replay, sketch }) => format!(
            "{}, not bulk, whose tables are not worth their time here: {} against {} MiB/s with small ones",
            engine.description(),
            mib(replay),
            mib(sketch)
        ),
        (None, Why::Measured { replay, bulk }) => {
            format!("{}, not bulk: {} against {} MiB/s", engine.description(), mib(replay), mib(bulk))
        }
        (Some(made), Why::Measured { replay, bulk }) => {
            format!(
                "{}, not {}: {} against {} MiB/s",
                engines::bulk_description(made),
                engine.name(),
                mib(bulk),
                mib(replay)
            )
        }
        (Some(made), Why::Refused(_)) => engines::bulk_description(made),
    };
    Ok(Choice { engine, bulk, description })
}

/// Whole MiB.
fn mib(bytes: f64) -> String {
    format!("{:.0}", bytes / f64::from(1 << 20))
}
