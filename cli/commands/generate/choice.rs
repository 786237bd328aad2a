//! The choice of the engine for a run: the requested one, or for `auto` the one that is likely to finish first.

use std::time::Instant;

use gramjet_engine::auto::{self, Pace, Timed, Wanted, Why};
use gramjet_engine::bulk::{Bulk, Effort, Framing};

use super::bulk;
use crate::arguments::engine::EngineArgument;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::plan::{Amount, may_take_long};
use crate::prepared::Prepared;

/// The engine of a run.
pub struct Choice {
    /// The engine that replays choice bytes.
    pub engine: Engine,
    /// The bulk engine, if it makes the inputs instead.
    pub bulk: Option<Bulk>,
    /// A description of the choice, for `--verbose`.
    pub description: String,
}

/// The facts on which the choice depends.
pub struct Wish {
    /// The engine that is asked for.
    pub engine: EngineArgument,
    /// Whether the seed is given.
    pub is_seeded: bool,
    /// Whether the coverage is to be reported.
    pub is_covered: bool,
    /// Whether no input is to be written twice.
    pub is_unique: bool,
    /// Amount that is made.
    pub amount: Amount,
    /// By how many threads.
    pub jobs: usize,
    /// The text between inputs.
    pub framing: Framing,
    /// The effort that tables may cost.
    pub effort: Effort,
}

/// Chooses what makes a run, where `engine` is ready.
pub fn choose(engine: Engine, prepared: &Prepared, wish: Wish) -> Result<Choice, Failure> {
    match wish.engine {
        EngineArgument::Bulk if wish.is_covered => Err(Failure::Usage(
            "`--coverage` is not possible with `--engine bulk`, whose inputs no other engine makes".to_string(),
        )),
        EngineArgument::Bulk if wish.is_unique => {
            Err(Failure::Usage("`--unique` is not possible with `--engine bulk`".to_string()))
        }
        EngineArgument::Bulk => match auto::in_bulk(prepared.compiled()?, engine.limits(), wish.framing, wish.effort) {
            Ok(made) => Ok(Choice { description: bulk::description(&made), engine, bulk: Some(made) }),
            Err(refusal) => Err(Failure::Usage(format!("`--engine bulk` is not possible: {refusal}"))),
        },
        // With a given seed the inputs are the same for any engine, however many there are.
        EngineArgument::AUTO
            if !wish.is_seeded && !wish.is_covered && !wish.is_unique && may_take_long(wish.amount) =>
        {
            let wanted = Wanted { amount: wish.amount, jobs: wish.jobs };
            let pace = auto::pace(wanted, engine.producer(), &wish.framing, &Instant::now());
            if wanted.is_long(pace) {
                fastest(engine, prepared, wanted, pace, wish)
            } else {
                Ok(Choice { description: engine.description(), engine, bulk: None })
            }
        }
        _ => Ok(Choice { description: engine.description(), engine, bulk: None }),
    }
}

/// Chooses the engine that measurements expect to finish first; `engine` has this pace.
fn fastest(engine: Engine, prepared: &Prepared, wanted: Wanted, pace: Pace, wish: Wish) -> Result<Choice, Failure> {
    let compiled = prepared.compiled()?;
    let (chosen, why) = auto::choose(
        wanted,
        pace,
        &Timed {
            own: &|| engine.producer(),
            is_generated: engine.is_generated(),
            compiled,
            limits: engine.limits(),
            framing: wish.framing,
            effort: wish.effort,
            clock: Instant::now(),
        },
    );
    let (engine, bulk) = match chosen {
        auto::Engine::Own => (engine, None),
        auto::Engine::Jit(jit) => (engine.on(jit), None),
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
            format!("{}, not {}: {} against {} MiB/s", bulk::description(made), engine.name(), mib(bulk), mib(replay))
        }
        (Some(made), Why::Refused(_)) => bulk::description(made),
    };
    Ok(Choice { engine, bulk, description })
}

/// Writes a number of bytes in whole MiB.
fn mib(bytes: f64) -> String {
    format!("{:.0}", bytes / f64::from(1 << 20))
}
