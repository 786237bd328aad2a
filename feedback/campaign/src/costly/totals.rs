//! What all searches in a folder have done together: time, runs, their costs, and what operators have made.
//!
//! A file has the sums, so that a search that goes on adds to them. It is written now and then and in the end: a search
//! that is killed loses its last seconds.

use crate::state::{StateError, View};
use gramjet_search::report::{Bucket, Operator, Report};
use serde::{Deserialize, Serialize};

use super::operators::Operators;

/// Its file.
pub(crate) const FILE: &str = "totals.json";

/// Classes of costs: the class of a cost is the number of its bits.
const CLASSES: usize = 65;

/// The sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Totals {
    /// The time of the searches, without that of the studies.
    pub(crate) seconds: f64,
    pub(crate) runs: u64,
    /// Number of runs that had a cost of each class.
    pub(crate) costs: Vec<u64>,
    /// Numbers of texts that operators have made, by the strategy and the operator.
    pub(crate) operators: Vec<Operator>,
}

impl Totals {
    /// Returns the totals of a folder, if it has any.
    pub(crate) fn read(view: &View) -> Result<Option<Totals>, StateError> {
        Ok(view.file(FILE).and_then(|json| serde_json::from_slice(&json).ok()))
    }

    /// Returns the totals that a report has. Searches of earlier versions have no others.
    pub(crate) fn of_report(report: &Report) -> Totals {
        let mut totals = Totals { seconds: report.seconds, runs: report.executions, ..Totals::default() };
        for bucket in &report.costs {
            totals.add_costs(class(bucket.least), bucket.runs);
        }
        totals
    }

    /// Adds a search.
    pub(crate) fn add(&mut self, seconds: f64, runs: u64, costs: &[u64; CLASSES], strategy: &str, made: &Operators) {
        self.seconds += seconds;
        self.runs = self.runs.saturating_add(runs);
        for (class, &runs) in costs.iter().enumerate() {
            self.add_costs(class, runs);
        }
        for made in made.all() {
            let is_it = |known: &Operator| known.strategy == strategy && known.operator == made.operator;
            let place = self.operators.iter().position(is_it).unwrap_or_else(|| {
                let (strategy, operator) = (strategy.to_string(), made.operator.to_string());
                self.operators.push(Operator { strategy, operator, ..Operator::default() });
                self.operators.len() - 1
            });
            let known = &mut self.operators[place];
            known.runs = known.runs.saturating_add(made.runs);
            known.better = known.better.saturating_add(made.better);
        }
    }

    fn add_costs(&mut self, class: usize, runs: u64) {
        self.costs.resize(CLASSES, 0);
        self.costs[class] = self.costs[class].saturating_add(runs);
    }

    /// Puts them into a report.
    pub(crate) fn fill(self, report: &mut Report) {
        (report.seconds, report.executions) = (self.seconds, self.runs);
        let runs = self.costs.iter().enumerate().take(CLASSES).filter(|&(_, &runs)| runs > 0);
        report.costs = runs.map(|(class, &runs)| bucket(class, runs)).collect();
        report.operators = self.operators;
    }
}

/// Returns the class of a cost.
pub(crate) fn class(cost: u64) -> usize {
    (u64::BITS - cost.leading_zeros()) as usize
}

/// Returns the bucket for the runs of a class, with its least and its greatest cost.
fn bucket(class: usize, runs: u64) -> Bucket {
    match class {
        0 => Bucket { least: 0, most: 0, runs },
        _ => Bucket { least: 1 << (class - 1), most: u64::MAX >> (CLASSES - 1 - class), runs },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_all_costs() {
        for cost in [0, 1, 2, 3, 4, 1 << 40, u64::MAX] {
            let Bucket { least, most, runs } = bucket(class(cost), 7);
            assert!((least..=most).contains(&cost) && runs == 7, "{cost}");
            assert_eq!((class(least), class(most)), (class(cost), class(cost)));
        }
    }

    #[test]
    fn searches_add_up() {
        let (mut totals, mut made, mut costs) = (Totals::default(), Operators::default(), [0; CLASSES]);
        made.add_run("copy");
        made.add_better("copy");
        costs[3] = 5;
        totals.add(1.5, 5, &costs, "portfolio", &made);
        costs[64] = 1;
        totals.add(2.0, 6, &costs, "portfolio", &made);
        totals.add(1.0, 1, &[0; CLASSES], "evolve", &made);
        let json = serde_json::to_vec(&totals).expect("a file");
        assert_eq!(serde_json::from_slice::<Totals>(&json).expect("a file"), totals);
        let mut report = Report::default();
        totals.clone().fill(&mut report);
        assert_eq!((report.seconds, report.executions), (4.5, 12));
        let runs: Vec<(u64, u64)> = report.costs.iter().map(|bucket| (bucket.least, bucket.runs)).collect();
        assert_eq!(runs, [(4, 10), (1 << 63, 1)]);
        let made: Vec<(&str, u64, u64)> =
            report.operators.iter().map(|made| (made.strategy.as_str(), made.runs, made.better)).collect();
        assert_eq!(made, [("portfolio", 2, 2), ("evolve", 1, 1)]);
        let again = Totals { operators: totals.operators.clone(), ..Totals::of_report(&report) };
        assert_eq!(again, totals);
    }
}
