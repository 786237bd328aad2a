//! One cell of the table: all candidates for one grammar, depth limit and sink, measured in paired rounds.

use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::candidate::{Candidate, Distinct, Sink, Stats};

/// Returns the CPU time of the calling thread.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock starts at 0 and counts up.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Amount of measuring for a cell.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds; every candidate runs once in each.
    pub runs: usize,
    /// CPU time that one run takes, about.
    pub run_time: Duration,
    /// Inputs that are compared for the share of distinct outputs.
    pub distinct_inputs: u64,
}

/// The results of a candidate in a cell.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of the engine.
    pub engine: String,
    /// Median throughput in MiB of output per second of CPU time.
    pub mib_per_second: f64,
    /// Median over the rounds of the throughput divided by that of the first candidate in the same round.
    pub ratio: f64,
    /// Mean length of an input in bytes.
    pub mean_len: f64,
    /// Distinct outputs among the first inputs.
    pub distinct: Distinct,
    /// Choice bytes per byte of output, if the engine counts them.
    pub choices_per_byte: Option<f64>,
}

/// After this number of bytes of the first inputs no more are compared.
const DISTINCT_BYTES: u64 = 64 << 20;

/// Measures all candidates against the first, interleaved: in each round all run one after the other. A candidate that
/// cannot make inputs, because the grammar or the limit is beyond it, is left out with a message.
///
/// # Errors
///
/// If a candidate fails later.
pub fn measure(candidates: Vec<Box<dyn Candidate>>, sink: &mut Sink, effort: Effort) -> io::Result<Vec<Row>> {
    let mut entrants = Vec::new();
    for mut candidate in candidates {
        match Entrant::prepare(candidate.as_mut(), sink, effort) {
            Ok((distinct, target)) => entrants.push(Entrant { candidate, distinct, target, runs: Vec::new() }),
            Err(problem) => eprintln!("{} is left out: {problem}", candidate.name()),
        }
    }
    for _ in 0..effort.runs.max(1) {
        for entrant in &mut entrants {
            let stats = entrant.candidate.run(entrant.target, sink)?;
            entrant.runs.push(stats);
        }
    }
    let Some(first) = entrants.first() else { return Ok(Vec::new()) };
    let base = first.speeds();
    Ok(entrants.iter().map(|entrant| entrant.row(&base)).collect())
}

struct Entrant {
    candidate: Box<dyn Candidate>,
    distinct: Distinct,
    /// Bytes to make in a run.
    target: u64,
    runs: Vec<Stats>,
}

impl Entrant {
    /// Compares the engine's very first inputs, so that the result does not depend on the calibration that follows.
    fn prepare(candidate: &mut dyn Candidate, sink: &mut Sink, effort: Effort) -> io::Result<(Distinct, u64)> {
        let distinct = candidate.distinct(effort.distinct_inputs, DISTINCT_BYTES)?;
        Ok((distinct, calibrated(candidate, sink, effort.run_time)?))
    }

    fn speeds(&self) -> Vec<f64> {
        self.runs.iter().map(Stats::mib_per_second).collect()
    }

    fn row(&self, base: &[f64]) -> Row {
        let sum = |value: fn(&Stats) -> u64| self.runs.iter().map(value).sum::<u64>() as f64;
        let bytes = sum(|stats| stats.bytes);
        let counted = self.runs.iter().all(|stats| stats.choices.is_some());
        let speeds = self.speeds();
        Row {
            engine: self.candidate.name().to_string(),
            ratio: median(speeds.iter().zip(base).map(|(own, base)| own / base).collect()),
            mib_per_second: median(speeds),
            mean_len: bytes / sum(|stats| stats.inputs).max(1.0),
            distinct: self.distinct,
            choices_per_byte: counted.then(|| sum(|stats| stats.choices.unwrap_or(0)) / bytes.max(1.0)),
        }
    }
}

/// Returns the number of bytes that takes about `run_time`; the runs that find it also warm the engine up.
fn calibrated(candidate: &mut dyn Candidate, sink: &mut Sink, run_time: Duration) -> io::Result<u64> {
    let mut target = 1 << 18;
    loop {
        let stats = candidate.run(target, sink)?;
        let share = stats.time.as_secs_f64() / run_time.as_secs_f64();
        if share > 0.2 {
            return Ok((stats.bytes as f64 / share) as u64);
        }
        target *= 4;
    }
}

/// Returns the median; the mean of the two middle values if there is no single one, 0 if there are no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[count / 2],
        count => (values[count / 2 - 1] + values[count / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn median_of_even_and_odd_counts() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(vec![]), 0.0);
    }
}
