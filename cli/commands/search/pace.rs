//! Whether texts run faster in the thread of the search or in one beside it.

use std::cmp::Ordering;
use std::mem;
use std::time::{Duration, Instant};

/// How long the chosen thread is kept before the other one is tried.
const KEPT: Duration = Duration::from_secs(3);
/// The same for the beginning of a search, in its own thread. At first it writes many files, and neither thread is
/// fast.
const BEGINNING: Duration = Duration::from_millis(500);
/// How long the other thread is tried.
const TRIAL: Duration = Duration::from_millis(100);
/// The thread beside is chosen if it is faster by at least this factor, because it takes a second core.
const WORTH: f64 = 1.1;
/// The number of runs between two looks at the clock.
pub(super) const LOOK: u64 = 32;

/// Which way is faster.
#[derive(Debug)]
pub(super) struct Pace {
    pub(super) is_beside: bool,
    since: Instant,
    is_trial: bool,
    /// How long this way is kept.
    period: Duration,
    runs: u64,
    /// How long each [`LOOK`] runs took, and when the current ones have begun.
    rounds: Vec<Duration>,
    round: Instant,
    /// The median of these times here and beside. A machine that stands still now and then does not change it.
    medians: [Duration; 2],
    /// When the run before the one that is looked at was at its end, if one is looked at now.
    pub(super) looked: Option<Instant>,
    /// How long the program has taken since then.
    pub(super) program: Duration,
    /// By what factor the runs that were looked at would be shorter if the making of texts took no time.
    pub(super) gains: Vec<f64>,
}

impl Pace {
    pub(super) fn new() -> Pace {
        let (is_beside, is_trial, runs, rounds, medians, looked, program, gains) = Default::default();
        let (since, round) = (Instant::now(), Instant::now());
        Pace { is_beside, since, is_trial, period: BEGINNING, runs, rounds, round, medians, looked, program, gains }
    }

    /// Counts a run. Whether the other way is to be taken.
    pub(super) fn is_to_change(&mut self) -> bool {
        self.runs += 1;
        match self.runs % LOOK {
            0 => {
                let now = Instant::now();
                if let Some(begin) = self.looked.take() {
                    self.gains.push((now - begin).as_secs_f64() / self.program.as_secs_f64().max(f64::MIN_POSITIVE));
                }
                self.rounds.push(now - mem::replace(&mut self.round, now));
                now - self.since >= self.period && self.judge()
            }
            before => {
                if before == LOOK - 1 {
                    (self.looked, self.program) = (Some(Instant::now()), Duration::ZERO);
                }
                false
            }
        }
    }

    fn judge(&mut self) -> bool {
        self.medians[usize::from(self.is_beside)] = median(&mut self.rounds).unwrap_or_default();
        let gain = median(&mut self.gains).unwrap_or(1.0);
        self.rounds.clear();
        self.gains.clear();
        self.since = Instant::now();
        let was_trial = self.is_trial;
        // At best a thread beside saves all the time in which texts are made.
        self.is_trial = !was_trial && (self.is_beside || gain > WORTH);
        self.period = if self.is_trial { TRIAL } else { KEPT };
        if !was_trial {
            return self.is_trial;
        }
        self.is_beside != (self.medians[0] > self.medians[1].mul_f64(WORTH))
    }
}

/// The middle one of some values, by their order.
fn median<T: PartialOrd + Copy>(values: &mut [T]) -> Option<T> {
    let middle = values.len() / 2;
    let order = |one: &T, other: &T| one.partial_cmp(other).unwrap_or(Ordering::Equal);
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, order).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thread that is used in each period, and the length of the period. `micros` has the time of a run in the
    /// thread of the search and in the one beside; `making` is how much of the first is for the making of a text.
    fn course(micros: [f64; 2], making: f64, periods: usize) -> Vec<(bool, Duration)> {
        let mut pace = Pace::new();
        (0..periods)
            .map(|_| {
                let (way, time) = (pace.is_beside, pace.period);
                let took = micros[usize::from(way)];
                pace.rounds = vec![Duration::from_nanos((took * 1e3) as u64) * LOOK as u32; 9];
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
