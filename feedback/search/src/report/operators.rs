//! The section on operators: which of them make the texts, and which find better ones.

use super::data::{Operator, Report};
use super::markup::{Column, count, share, table};
use super::text;

/// Operators that are shown.
const OPERATORS: usize = 100;

/// Returns the content of the section, if a strategy has several operators. Those of one strategy stand together, the
/// one with most texts first.
pub(super) fn section(report: &Report) -> Option<String> {
    use Column::{Number, Text};
    let mut shown: Vec<&Operator> =
        report.operators.iter().filter(|made| of(report, &made.strategy).nth(1).is_some()).collect();
    shown.sort_by(|one, other| one.strategy.cmp(&other.strategy).then(other.runs.cmp(&one.runs)));
    shown.truncate(OPERATORS);
    let row = |made: &&Operator| {
        let all: f64 = of(report, &made.strategy).map(|made| made.runs as f64).sum();
        vec![
            text::line(&made.strategy),
            format!("<code>{}</code>", text::line(&made.operator)),
            share(made.runs as f64 / all.max(1.0)),
            count(made.runs),
            count(made.better),
        ]
    };
    let columns =
        [Text("Strategy"), Text("Operator"), Text("Share of runs"), Number("Runs"), Number("Better texts found")];
    (!shown.is_empty()).then(|| table(&columns, shown.iter().map(row)))
}

/// Returns the operators of a strategy.
fn of<'r>(report: &'r Report, strategy: &'r str) -> impl Iterator<Item = &'r Operator> {
    report.operators.iter().filter(move |made| made.strategy == strategy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_within_a_strategy() {
        let made = |strategy: &str, operator: &str, runs| Operator {
            strategy: strategy.to_string(),
            operator: operator.to_string(),
            runs,
            better: 0,
        };
        let operators = vec![made("portfolio", "copy", 25), made("random", "random", 9), made("portfolio", "next", 75)];
        let html = section(&Report { operators, ..Report::default() }).expect("a table");
        let at = |what: &str| html.find(what).unwrap_or_else(|| panic!("{what} in {html}"));
        assert!(at("<code>next</code>") < at("75.0\u{A0}%") && at("75.0\u{A0}%") < at("<code>copy</code>"));
        assert!(at("<code>copy</code>") < at("25.0\u{A0}%") && !html.contains("random"), "{html}");
        // A strategy with a single operator has no shares.
        let operators = vec![made("random", "random", 9), made("treeline", "treeline", 9)];
        assert_eq!(section(&Report { operators, ..Report::default() }), None);
    }
}
