//! The log of a search: a line each time that the best cost rose, and one for the end.

use std::fmt;

/// Its file.
pub(crate) const FILE: &str = "log.csv";
/// Its first line.
pub(crate) const HEADING: &str = "seconds,runs,edges,cost,hottest,bytes,strategy,operator,session";
/// Name that stands for the operator in the line for the end of a search.
pub(crate) const END: &str = "end";

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Since the search began.
    pub(crate) seconds: f64,
    pub(crate) runs: u64,
    /// Edges executed by all runs.
    pub(crate) edges: u64,
    pub(crate) cost: u64,
    pub(crate) hottest: u64,
    pub(crate) bytes: u64,
    pub(crate) strategy: String,
    pub(crate) operator: String,
    /// Number of the search, among those in the folder.
    pub(crate) session: u64,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line { seconds, runs, edges, cost, hottest, bytes, strategy, operator, session } = self;
        write!(f, "{seconds:.3},{runs},{edges},{cost},{hottest},{bytes},{strategy},{operator},{session}")
    }
}

/// Returns the lines of a log; those that are not whole are left out.
pub(crate) fn lines(log: &str) -> Vec<Line> {
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
