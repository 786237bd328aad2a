//! Waits until the machine is as fast as before, so that a slow run means a slow text.
//!
//! Other work on a machine, or on the host of a virtual one, can make all runs several times slower for some tens of
//! milliseconds. A text that is run again at once is as slow again. So a text whose cost is known is run first.

use std::time::{Duration, Instant};

use crate::error::Error;

/// The first wait between two runs of the known text, which doubles each time. A single slow run is mostly followed by
/// one that is not.
const PAUSE: Duration = Duration::from_micros(100);
/// The longest of these waits.
const LONGEST: Duration = Duration::from_millis(20);
/// The wait before each repeat: the machine can be fast for a moment between slow times.
const BETWEEN: Duration = Duration::from_millis(2);
/// The wait before each repeat where no cost is known.
const UNKNOWN: Duration = Duration::from_millis(100);
/// The longest wait for one text.
pub const PATIENCE: Duration = Duration::from_millis(300);
/// Mostly, the machine is not slow for the whole of longer runs.
const SHORT: Duration = Duration::from_millis(50);
/// The part of a search that waits at most.
const SHARE: u32 = 4;
/// Differences of fewer units, such as microseconds, say nothing.
const GRAIN: u64 = 5;

/// Returns true if a run is so short that the machine can be slow for all of it.
pub fn is_short(took: Duration) -> bool {
    took < SHORT
}

/// Returns how long to wait for one text, after a search has waited this long in this time.
pub fn patience(waited: Duration, elapsed: Duration) -> Duration {
    if waited <= elapsed / SHARE + PATIENCE { PATIENCE } else { Duration::ZERO }
}

/// Waits where no cost is known.
pub fn pause() {
    std::thread::sleep(UNKNOWN);
}

/// A text whose cost is known.
#[derive(Clone, Debug)]
pub struct Reference {
    pub text: Vec<u8>,
    /// The least cost that was measured.
    pub cost: u64,
}

impl Reference {
    pub fn new(text: &[u8], cost: u64) -> Reference {
        Reference { text: text.to_vec(), cost }
    }

    /// Waits until a run of the text costs at most about twice as much as before. `read` gives no cost if the text is
    /// of no use any more. Takes the time that it waits from `patience`. When that is used up, the machine is taken for
    /// one that is slow from now on.
    pub fn await_calm(
        &mut self,
        patience: &mut Duration,
        mut read: impl FnMut(&[u8]) -> Result<Option<u64>, Error>,
    ) -> Result<(), Error> {
        let (mut pause, mut least) = (BETWEEN, u64::MAX);
        while !patience.is_zero() {
            let wait = pause.min(*patience);
            std::thread::sleep(wait);
            *patience -= wait;
            pause = if least == u64::MAX { PAUSE } else { LONGEST.min(pause * 2) };
            let begin = Instant::now();
            let Some(cost) = read(&self.text)? else { return Ok(()) };
            least = least.min(cost);
            self.cost = self.cost.min(cost);
            if self.is_usual(cost) || !is_short(begin.elapsed()) {
                return Ok(());
            }
        }
        if least < u64::MAX {
            self.cost = least;
        }
        Ok(())
    }

    fn is_usual(&self, cost: u64) -> bool {
        cost <= self.cost.saturating_mul(2).saturating_add(GRAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits with the text's costs. Returns how many of them were read, and the cost that is known then.
    fn waited(known: u64, costs: &[Option<u64>]) -> (usize, u64) {
        let (mut reference, mut read) = (Reference::new(b"text", known), 0);
        let next = |text: &[u8]| {
            assert_eq!(text, b"text");
            read += 1;
            Ok(costs[(read - 1).min(costs.len() - 1)])
        };
        let mut patience = PATIENCE;
        reference.await_calm(&mut patience, next).expect("no failure");
        (read, reference.cost)
    }

    #[test]
    fn a_slow_machine_is_waited_for() {
        assert_eq!(waited(20, &[Some(20)]), (1, 20));
        assert_eq!(waited(20, &[Some(45)]), (1, 20));
        assert_eq!(waited(20, &[Some(300), Some(250), Some(46), Some(18)]), (4, 18));
        assert_eq!(waited(0, &[Some(6), Some(5)]), (2, 0));
        // The text that is known was itself measured on a slow machine.
        assert_eq!(waited(200, &[Some(20)]), (1, 20));
    }

    #[test]
    fn a_run_that_fails_ends_the_wait() {
        assert_eq!(waited(20, &[Some(300), None]), (2, 20));
    }

    #[test]
    fn a_machine_that_stays_slow_is_waited_for_once() {
        let (mut reference, mut patience, mut read) = (Reference::new(b"text", 20), PATIENCE, 0);
        for expected in [10.., 1..] {
            let before = read;
            let slow = |_: &[u8]| {
                read += 1;
                Ok(Some(200))
            };
            reference.await_calm(&mut patience, slow).expect("no failure");
            assert!(expected.contains(&(read - before)), "{}", read - before);
            assert_eq!(reference.cost, 200);
            patience = PATIENCE;
        }
        assert!(read < 50, "{read}");
        // Without patience nothing is run.
        patience = Duration::ZERO;
        reference.await_calm(&mut patience, |_| panic!("a run")).expect("no failure");
    }

    #[test]
    fn a_search_waits_for_a_part_of_its_time() {
        let seconds = Duration::from_secs;
        assert_eq!(patience(seconds(0), seconds(0)), PATIENCE);
        assert_eq!(patience(seconds(2), seconds(8)), PATIENCE);
        assert_eq!(patience(seconds(3), seconds(8)), Duration::ZERO);
    }
}
