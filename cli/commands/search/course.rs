//! The best cost over the time of a search, for a line of the terminal.

use std::time::Duration;

/// At most this many costs; when there are more, every second one is dropped.
const MOST: usize = 12;
/// The first interval between two of them.
const INTERVAL: Duration = Duration::from_millis(250);

/// The best cost at moments that are equally far apart.
#[derive(Debug)]
pub(crate) struct Course {
    costs: Vec<u64>,
    interval: Duration,
}

impl Default for Course {
    fn default() -> Course {
        Course { costs: Vec::new(), interval: INTERVAL }
    }
}

impl Course {
    /// Takes note that this is the best cost at this time since the search began.
    pub(crate) fn at(&mut self, elapsed: Duration, cost: u64) {
        while self.interval * self.costs.len() as u32 <= elapsed {
            self.costs.push(cost);
            if self.costs.len() > MOST {
                let mut number = 0;
                self.costs.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.interval *= 2;
            }
        }
    }

    /// Returns how far each cost lies above the first one.
    pub(crate) fn heights(&self) -> Vec<u64> {
        let first = self.costs.iter().copied().find(|&cost| cost > 0).unwrap_or(0);
        self.costs.iter().map(|cost| cost.saturating_sub(first)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_of_any_time_has_the_first_and_the_last_cost() {
        let mut course = Course::default();
        for second in 0..4000 {
            course.at(Duration::from_secs(second), 100 + second);
        }
        let heights = course.heights();
        assert!((MOST / 2..=MOST).contains(&heights.len()), "{heights:?}");
        assert!(heights[0] == 0 && heights[heights.len() - 1] > 3500 && heights.is_sorted(), "{heights:?}");
    }
}
