//! The log of a search: a line each time that the best cost rose, and one for the end.

use std::fmt;

/// Its file.
pub(super) const FILE: &str = "log.csv";
/// Its first line.
pub(super) const HEADING: &str = "seconds,runs,edges,cost,hottest,bytes,strategy,operator,session";
/// Name that stands for the operator in the line for the end of a search.
pub(super) const END: &str = "end";

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Since the search began.
    pub(super) seconds: f64,
    pub(super) runs: u64,
    /// Edges executed by all runs.
    pub(super) edges: u64,
    pub(super) cost: u64,
    pub(super) hottest: u64,
    pub(super) bytes: u64,
    pub(super) strategy: String,
    pub(super) operator: String,
    /// Number of the search, among those in the folder.
    pub(super) session: u64,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line { seconds, runs, edges, cost, hottest, bytes, strategy, operator, session } = self;
        write!(f, "{seconds:.3},{runs},{edges},{cost},{hottest},{bytes},{strategy},{operator},{session}")
    }
}

/// Returns the lines of a log; those that are not whole are left out.
pub(super) fn lines(log: &str) -> Vec<Line> {
    log.lines().skip(1).filter_map(line).collect()
}

fn line(text: &str) -> Option<Line> {
    let fields: Vec<&str> = text.split(',').collect();
    let [seconds, runs, edges, cost, hottest, bytes, strategy, operator, session @ ..] = &fields[..] else {
        return None;
    };
    let number = |text: &str| text.parse::<u64>().ok();
    Some(Line {
        seconds: seconds.parse().ok()?,
        runs: number(runs)?,
        edges: number(edges)?,
        cost: number(cost)?,
        hottest: number(hottest)?,
        bytes: number(bytes)?,
        strategy: strategy.to_string(),
        operator: operator.to_string(),
        // Logs of earlier versions do not have it.
        session: session.first().map_or(Some(0), |session| number(session))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let one = "1.500,20,3000,99,7,12,treeline,treeline,2";
        let log = format!("{HEADING}\n{one}\n2.000,30,4000,99,7,12,treeline,end\n3.0,");
        let read = lines(&log);
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].to_string().as_str(), read[0].session, read[1].session), (one, 2, 0));
    }
}
