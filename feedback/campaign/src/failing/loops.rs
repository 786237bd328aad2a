//! The loop in which a run has spent its time.

use gramjet_harness::{Edge, Outcome, Run};

/// A run that is stopped with no edge executed this often has waited, or spent its time in code without edges: those
/// that it has executed say how it came there.
const HOT: u64 = 10_000;

/// Returns the edges of the loop in which a run has spent its time, if it was stopped for that. They have about the
/// same count, of which the last round decides which is greatest.
pub(crate) fn hottest(run: &Run<'_>) -> Option<Vec<Edge>> {
    let edges = run.edges.filter(|_| run.outcome == Outcome::Timeout)?;
    let most = edges.hottest().filter(|edge| edge.count >= HOT)?.count;
    Some(edges.executed().iter().filter(|edge| edge.count >= most / 2).copied().collect())
}
