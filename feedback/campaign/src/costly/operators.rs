//! The numbers of texts that each operator of a search has made, and the operators that make most texts now.

use std::time::Duration;

/// Shares are those of about this much time.
const LATELY: Duration = Duration::from_secs(2);
/// At most this many operators have a place in the line of the terminal.
const SHOWN: usize = 3;

/// The operators of a search, in the order in which they were first used.
#[derive(Clone, Debug, Default)]
pub struct Operators(Vec<Made>);

/// Operator with the numbers of its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The name of the operator.
    pub operator: &'static str,
    /// Number of its texts that were run.
    pub runs: u64,
    /// Number of its texts that cost more than all before, or as much with fewer bytes.
    pub better: u64,
}

impl Operators {
    /// Counts a run of a text of an operator.
    pub fn add_run(&mut self, operator: &'static str) {
        self.made(operator).runs += 1;
    }

    /// Counts a text of an operator that was better than all before.
    pub fn add_better(&mut self, operator: &'static str) {
        self.made(operator).better += 1;
    }

    /// Returns all that were used.
    pub fn all(&self) -> &[Made] {
        &self.0
    }

    /// Returns the entry of an operator. Operators are few, so this takes less time than a table.
    fn made(&mut self, operator: &'static str) -> &mut Made {
        let place = self.0.iter().position(|made| made.operator == operator);
        let place = place.unwrap_or_else(|| {
            self.0.push(Made { operator, runs: 0, better: 0 });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

/// Operators that have made most texts lately.
#[derive(Debug, Default)]
pub struct Lately {
    /// Operators as they were some time ago, and that time.
    before: Operators,
    then: Duration,
    shares: String,
}

impl Lately {
    /// Takes note of what was made up to this time since the search began.
    pub fn at(&mut self, elapsed: Duration, operators: &Operators) {
        if elapsed < self.then + LATELY {
            return;
        }
        let before = |now: &Made| self.before.0.iter().find(|made| made.operator == now.operator);
        let lately = operators.0.iter().map(|now| (now.runs - before(now).map_or(0, |made| made.runs), now.operator));
        self.shares = shares(lately.filter(|&(runs, _)| runs > 0).collect());
        (self.before, self.then) = (operators.clone(), elapsed);
    }

    /// Returns the greatest shares, for people; empty if one operator has made all texts.
    pub fn shares(&self) -> &str {
        &self.shares
    }
}

fn shares(mut lately: Vec<(u64, &str)>) -> String {
    if lately.len() < 2 {
        return String::new();
    }
    let all: u64 = lately.iter().map(|&(runs, _)| runs).sum();
    lately.sort_by_key(|&(runs, _)| std::cmp::Reverse(runs));
    let share = |&(runs, operator): &(u64, &str)| format!("{operator} {:.0} %", 100.0 * runs as f64 / all as f64);
    lately.iter().take(SHOWN).map(share).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_last_seconds() {
        let (mut operators, mut lately) = (Operators::default(), Lately::default());
        (0..1000).for_each(|_| operators.add_run("fresh"));
        lately.at(Duration::from_secs(2), &operators);
        // There is nothing to compare.
        assert_eq!(lately.shares(), "");
        for (operator, runs) in [("fresh", 10), ("next", 60), ("copy", 25), ("swap", 5)] {
            (0..runs).for_each(|_| operators.add_run(operator));
        }
        operators.add_better("copy");
        lately.at(Duration::from_secs(3), &operators);
        assert_eq!(lately.shares(), "");
        lately.at(Duration::from_secs(4), &operators);
        assert_eq!(lately.shares(), "next 60 %, copy 25 %, fresh 10 %");
        assert_eq!(operators.all()[0], Made { operator: "fresh", runs: 1010, better: 0 });
        assert_eq!(operators.all()[2], Made { operator: "copy", runs: 25, better: 1 });
        // A slow program may have run on none.
        lately.at(Duration::from_secs(6), &operators);
        assert_eq!(lately.shares(), "");
    }
}
