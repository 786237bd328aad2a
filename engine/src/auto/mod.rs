//! Finds the engine that makes an amount of inputs soonest. Engines are measured for some milliseconds on this
//! processor, with this grammar and these limits. The time to make an engine ready counts, too. `docs/bulk.md` gives
//! the details.

mod measure;

use std::time::Duration;

pub use measure::{Clock, Engine, Timed, choose, in_bulk, pace};

use crate::bulk::NotInBulk;

/// Amount to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// This number of inputs.
    Inputs(u64),
    /// Inputs until they have at least this number of bytes.
    Bytes(u64),
    /// As much as can be made in this time.
    Time(Duration),
}

/// Amount to be made, and the number of threads that make it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// By all threads together.
    pub amount: Amount,
    /// The number of threads.
    pub jobs: usize,
}

/// Pace of an engine that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Bytes a second, including the text between inputs.
    pub speed: f64,
    /// The mean length of an input, including the text between inputs.
    pub mean_input: f64,
}

/// The bytes a second of two engines that were measured in turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Bytes a second of the engine that is in use.
    pub own: f64,
    /// Bytes a second of the engine that might be used in its place.
    pub other: f64,
}

/// A measurement of small tables for the bulk engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sketch {
    /// Time that it took to make them, in seconds.
    pub made_in: f64,
    /// Bytes a second.
    pub speed: f64,
}

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The one that is in use.
    Own,
    /// The other one, whose output is the same.
    Replaying,
    /// The bulk engine, whose output is another.
    Bulk,
}

/// Reason why it is not the bulk engine, or why it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// Amount too small for another engine to be worth being made ready.
    Little,
    /// The bulk engine does not take the grammar or the limits.
    Refused(NotInBulk),
    /// Full tables are not worth their time. Bytes a second of the engine that replays, and of the bulk engine with
    /// small tables.
    Sketched {
        /// Bytes a second of the engine that replays.
        replay: f64,
        /// Bytes a second of the bulk engine with small tables.
        sketch: f64,
    },
    /// Bytes a second of the engine that replays, and of the bulk engine.
    Measured {
        /// Bytes a second of the engine that replays.
        replay: f64,
        /// Bytes a second of the bulk engine.
        bulk: f64,
    },
}

/// The chosen engine, and the reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The engine.
    pub chosen: Chosen,
    /// The reason.
    pub why: Why,
}

/// The engines to choose from. Each is made ready when it is asked for.
pub trait Candidates {
    /// Returns another engine with the same output, measured together with the one in use; `None` if there is none.
    fn replaying(&mut self) -> Option<Pair>;

    /// Returns the bulk engine with small tables.
    ///
    /// # Errors
    ///
    /// Why there are none.
    fn sketch(&mut self) -> Result<Sketch, NotInBulk>;

    /// Returns the bulk engine with its full tables, measured together with the chosen engine that replays.
    ///
    /// # Errors
    ///
    /// Why there are none.
    fn bulk(&mut self, chosen: Chosen) -> Result<Pair, NotInBulk>;
}

/// No other engine is considered for a run that takes fewer seconds than this.
const LEAST: f64 = 0.3;
/// Another engine must be this many times as fast: less may be noise.
const CLEARLY: f64 = 1.05;
/// Full tables are at most this many times as fast as those of a sketch, as their steps make up to this many times as
/// many bytes.
const HOPE: f64 = 2.5;
/// Full tables take this many times as long to make.
const FULL: f64 = 4.5;

impl Wanted {
    /// Returns the bytes that each thread has to make.
    fn bytes(self, pace: Pace) -> f64 {
        let jobs = self.jobs.max(1) as f64;
        match self.amount {
            Amount::Inputs(inputs) => inputs as f64 * pace.mean_input / jobs,
            Amount::Bytes(bytes) => bytes as f64 / jobs,
            Amount::Time(time) => time.as_secs_f64() * pace.speed,
        }
    }

    /// Returns the seconds that this takes at a pace.
    pub fn seconds(self, pace: Pace) -> f64 {
        self.bytes(pace) / pace.speed
    }

    /// Returns true if it takes so long that other engines are worth a look.
    pub fn is_long(self, pace: Pace) -> bool {
        let seconds = self.seconds(pace);
        // It is not a number where nothing was made.
        seconds >= LEAST || seconds.is_nan()
    }
}

/// Returns true if full tables may finish `bytes` bytes before an engine that is ready.
fn is_worth_tables(bytes: f64, replay: f64, sketch: Sketch) -> bool {
    FULL * sketch.made_in + bytes / (HOPE * sketch.speed) < bytes / replay
}

/// Chooses the engine that makes the amount soonest, where the engine in use has this pace. The result depends only on
/// the candidates' measurements.
pub fn decide(wanted: Wanted, pace: Pace, candidates: &mut impl Candidates) -> Decision {
    if !wanted.is_long(pace) {
        return Decision { chosen: Chosen::Own, why: Why::Little };
    }
    let (mut chosen, mut replay) = (Chosen::Own, pace.speed);
    if let Some(pair) = candidates.replaying() {
        replay = pair.own;
        if pair.other > CLEARLY * pair.own {
            (chosen, replay) = (Chosen::Replaying, pair.other);
        }
    }
    match candidates.sketch() {
        Ok(sketch) if !is_worth_tables(wanted.bytes(pace), replay, sketch) => {
            return Decision { chosen, why: Why::Sketched { replay, sketch: sketch.speed } };
        }
        // A grammar that does not fit a sketch may fit larger tables.
        Ok(_) | Err(NotInBulk::TooLarge) => {}
        Err(reason) => return Decision { chosen, why: Why::Refused(reason) },
    }
    match candidates.bulk(chosen) {
        Ok(Pair { own, other }) => {
            let chosen = if other > CLEARLY * own { Chosen::Bulk } else { chosen };
            Decision { chosen, why: Why::Measured { replay: own, bulk: other } }
        }
        Err(reason) => Decision { chosen, why: Why::Refused(reason) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    /// Candidates whose speeds are known, in MiB a second, and the requests to them.
    struct Known {
        own: Pace,
        replaying: Option<f64>,
        sketch: Result<Sketch, NotInBulk>,
        bulk: Result<f64, NotInBulk>,
        asked: Vec<&'static str>,
    }

    fn known(own: f64, sketch: f64, bulk: f64) -> Known {
        Known {
            own: Pace { speed: own * MIB, mean_input: 100.0 },
            replaying: None,
            sketch: Ok(Sketch { made_in: 0.015, speed: sketch * MIB }),
            bulk: Ok(bulk),
            asked: Vec::new(),
        }
    }

    impl Candidates for Known {
        fn replaying(&mut self) -> Option<Pair> {
            self.asked.push("replaying");
            self.replaying.map(|other| Pair { own: self.own.speed, other: other * MIB })
        }

        fn sketch(&mut self) -> Result<Sketch, NotInBulk> {
            self.asked.push("sketch");
            self.sketch
        }

        fn bulk(&mut self, chosen: Chosen) -> Result<Pair, NotInBulk> {
            self.asked.push("bulk");
            let own = match chosen {
                Chosen::Replaying => self.replaying.unwrap_or_default() * MIB,
                _ => self.own.speed,
            };
            self.bulk.map(|other| Pair { own, other: other * MIB })
        }
    }

    fn decision(amount: Amount, jobs: usize, mut known: Known) -> (Chosen, Why, String) {
        let Decision { chosen, why } = decide(Wanted { amount, jobs }, known.own, &mut known);
        (chosen, why, known.asked.join(" "))
    }

    #[test]
    fn the_engine_that_is_done_first_is_chosen() {
        let gigabyte = Amount::Bytes(1_000_000_000);
        for (name, own, sketch, bulk, expected, asked) in [
            // Few bytes a step: the sketch says enough.
            ("smt", 290.0, 60.0, 90.0, Chosen::Own, "replaying sketch"),
            ("long literals", 6000.0, 1200.0, 1500.0, Chosen::Own, ""),
            ("json", 190.0, 100.0, 155.0, Chosen::Own, "replaying sketch bulk"),
            ("the paper's json", 240.0, 500.0, 700.0, Chosen::Bulk, "replaying sketch bulk"),
            ("as fast, about", 240.0, 200.0, 245.0, Chosen::Own, "replaying sketch bulk"),
        ] {
            let (chosen, _, was_asked) = decision(gigabyte, 1, known(own, sketch, bulk));
            assert_eq!((chosen, &*was_asked), (expected, asked), "{name}");
        }
    }

    #[test]
    fn what_is_made_ready_counts_against_what_is_to_be_made() {
        let slow_tables =
            |made_in| Known { sketch: Ok(Sketch { made_in, speed: 400.0 * MIB }), ..known(200.0, 400.0, 600.0) };
        let asked = |amount, jobs, made_in| decision(amount, jobs, slow_tables(made_in)).2;
        let (with, without) = ("replaying sketch bulk", "replaying sketch");
        // 0.48 s by the engine in use, 0.1 s at best by tables that take 4.5 times as long as their sketch.
        assert_eq!(asked(Amount::Bytes(100_000_000), 1, 0.07), with);
        assert_eq!(asked(Amount::Bytes(100_000_000), 1, 0.1), without);
        assert_eq!(asked(Amount::Inputs(1_000_000), 1, 0.07), with);
        assert_eq!(asked(Amount::Inputs(1_000_000), 1, 0.1), without);
        assert_eq!(asked(Amount::Time(Duration::from_millis(480)), 1, 0.07), with);
        assert_eq!(asked(Amount::Time(Duration::from_millis(480)), 1, 0.1), without);
        // Several threads are done earlier, but for a time that is given.
        assert_eq!(asked(Amount::Bytes(1_000_000_000), 2, 0.4), with);
        assert_eq!(asked(Amount::Bytes(1_000_000_000), 8, 0.4), without);
        assert_eq!(asked(Amount::Time(Duration::from_secs(5)), 8, 0.4), with);
        for amount in [Amount::Bytes(10_000_000), Amount::Inputs(100_000), Amount::Time(Duration::from_millis(200))] {
            let (chosen, why, asked) = decision(amount, 1, slow_tables(0.0));
            assert_eq!((chosen, why, &*asked), (Chosen::Own, Why::Little, ""), "{amount:?}");
        }
    }

    #[test]
    fn engines_with_the_same_output_are_compared_too() {
        let gigabyte = Amount::Bytes(1_000_000_000);
        let with = |other, bulk| Known { replaying: Some(other), ..known(200.0, 250.0, bulk) };
        assert_eq!(decision(gigabyte, 1, with(300.0, 290.0)).0, Chosen::Replaying);
        assert_eq!(decision(gigabyte, 1, with(150.0, 190.0)).0, Chosen::Own);
        assert_eq!(decision(gigabyte, 1, with(300.0, 400.0)).0, Chosen::Bulk);
        let why = decision(gigabyte, 1, with(300.0, 290.0)).1;
        assert_eq!(why, Why::Measured { replay: 300.0 * MIB, bulk: 290.0 * MIB });
    }

    #[test]
    fn what_the_bulk_engine_refuses_stays_with_the_others() {
        let gigabyte = Amount::Bytes(1_000_000_000);
        let refused = Known { sketch: Err(NotInBulk::MaxLen), ..known(200.0, 0.0, 900.0) };
        assert_eq!(
            decision(gigabyte, 1, refused),
            (Chosen::Own, Why::Refused(NotInBulk::MaxLen), "replaying sketch".to_string())
        );
        let no_sketch = Known { sketch: Err(NotInBulk::TooLarge), ..known(200.0, 0.0, 900.0) };
        assert_eq!(decision(gigabyte, 1, no_sketch).0, Chosen::Bulk);
        let too_large = Known { bulk: Err(NotInBulk::TooLarge), ..known(200.0, 400.0, 0.0) };
        assert_eq!(decision(gigabyte, 1, too_large).1, Why::Refused(NotInBulk::TooLarge));
        // An engine that makes nothing but empty inputs.
        let empty = Known { own: Pace { speed: 0.0, mean_input: 0.0 }, ..known(0.0, 400.0, 400.0) };
        assert_eq!(decision(gigabyte, 1, empty).0, Chosen::Bulk);
    }
}
