//! Finds out whether texts run faster in the thread of the search or in one beside it.

use std::cmp::Ordering;
use std::mem;
use std::time::{Duration, Instant};

/// Time for which the chosen thread is kept before the other one is tried.
const KEPT: Duration = Duration::from_secs(3);
/// Time for which the thread of the search is kept at first. A search writes many files at its beginning, and neither
/// thread is fast.
const BEGINNING: Duration = Duration::from_millis(500);
/// Time for which the other thread is tried.
const TRIAL: Duration = Duration::from_millis(100);
/// The thread beside is chosen if it is faster by at least this factor, because it takes a second core.
const WORTH: f64 = 1.1;
/// The number of runs whose time is measured together.
pub(crate) const ROUND: u64 = 32;
/// The time of the program is measured apart in the second of each this many rounds, and in each slow one.
const APART: usize = 8;

/// Choice between two ways of running texts, by their speed.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) is_beside: bool,
    since: Instant,
    is_trial: bool,
    /// Time for which this way is kept.
    pub(crate) period: Duration,
    runs: u64,
    /// Time that each [`ROUND`] took, and time when the current one has begun.
    rounds: Vec<Duration>,
    round: Instant,
    /// The median of these times here and beside. A machine that stands still now and then does not change it.
    medians: [Duration; 2],
    /// Time that the program has taken in the current round, if that is measured.
    pub(crate) program: Option<Duration>,
    /// Factors by which the measured rounds would have been faster if texts took no time to make.
    pub(crate) gains: Vec<f64>,
}

impl Pace {
    pub(crate) fn new() -> Pace {
        let (is_beside, is_trial, runs, rounds, medians, program, gains) = Default::default();
        let (since, round) = (Instant::now(), Instant::now());
        Pace { is_beside, since, is_trial, period: BEGINNING, runs, rounds, round, medians, program, gains }
    }

    /// Counts a run. Returns true if the other way is to be taken.
    pub(crate) fn is_to_change(&mut self) -> bool {
        self.runs += 1;
        if !self.runs.is_multiple_of(ROUND) {
            return false;
        }
        let now = Instant::now();
        let took = now - mem::replace(&mut self.round, now);
        self.rounds.push(took);
        if let Some(program) = self.program.take() {
            self.gains.push(took.as_secs_f64() / program.as_secs_f64().max(f64::MIN_POSITIVE));
        }
        let is_to_change = now - self.since >= self.period && self.judge();
        let is_measured = self.rounds.len() % APART == 1 || took >= KEPT / APART as u32;
        self.program = is_measured.then_some(Duration::ZERO);
        is_to_change
    }

    fn judge(&mut self) -> bool {
        // In the first round the threads may have changed.
        let first = usize::from(self.rounds.len() > 1);
        self.medians[usize::from(self.is_beside)] = median(&mut self.rounds[first..]).unwrap_or_default();
        let gain = median(&mut self.gains).unwrap_or(1.0);
        self.rounds.clear();
        self.gains.clear();
        self.since = Instant::now();
        let was_trial = self.is_trial;
        // A thread beside saves at most the time in which texts are made, for most rounds.
        self.is_trial = !was_trial && (self.is_beside || gain > WORTH);
        self.period = if self.is_trial { TRIAL } else { KEPT };
        if !was_trial {
            return self.is_trial;
        }
        self.is_beside != (self.medians[0] > self.medians[1].mul_f64(WORTH))
    }
}

/// Returns the middle one of some values, by their order.
fn median<T: PartialOrd + Copy>(values: &mut [T]) -> Option<T> {
    let middle = values.len() / 2;
    let order = |one: &T, other: &T| one.partial_cmp(other).unwrap_or(Ordering::Equal);
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, order).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the thread that is used in each period, and the length of the period. `micros` has the time of a run in
    /// the thread of the search and in the one beside; `making` is how much of the first is for the making of a text.
    fn course(micros: [f64; 2], making: f64, periods: usize) -> Vec<(bool, Duration)> {
        let mut pace = Pace::new();
        (0..periods)
            .map(|_| {
                let (way, time) = (pace.is_beside, pace.period);
                let took = micros[usize::from(way)];
                pace.rounds = vec![Duration::from_nanos((took * 1e3) as u64) * ROUND as u32; 9];
                // The machine has stood still.
                pace.rounds[4] += Duration::from_secs(1);
                // Some runs are followed by much work, such as writing a file.
                pace.gains = vec![100.0, took / (took - making).max(1.0), 1.0];
                pace.is_beside ^= pace.judge();
                (way, time)
            })
            .collect()
    }

    #[test]
    fn the_faster_way_is_kept_and_the_other_one_tried() {
        let (here, beside) = (false, true);
        let beside_is_faster = course([20.0, 10.0], 10.0, 6);
        assert_eq!(beside_is_faster[..3], [(here, BEGINNING), (beside, TRIAL), (beside, KEPT)]);
        assert_eq!(beside_is_faster[3..], [(here, TRIAL), (beside, KEPT), (here, TRIAL)]);
        for slower in [9.5, 20.0] {
            let periods = course([10.0, slower], 2.0, 4);
            assert_eq!(periods, [(here, BEGINNING), (beside, TRIAL), (here, KEPT), (beside, TRIAL)], "{slower}");
        }
    }

    #[test]
    fn a_thread_beside_is_not_tried_where_the_runs_take_nearly_all_the_time() {
        assert!(course([200.0, 10.0], 15.0, 4)[1..].iter().all(|way| *way == (false, KEPT)));
        assert_eq!(course([200.0, 170.0], 25.0, 3)[1..], [(true, TRIAL), (true, KEPT)]);
    }
}
