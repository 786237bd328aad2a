//! The evidence of a run that failed: what it did.

use gramjet_harness::{Edge, Outcome, Run};

use super::depth::Depth;
use super::verdict::Failed;
use crate::subject::Tested;

/// A run that is stopped with no edge executed this often has waited, or spent its time in code without edges.
const HOT: u64 = 10_000;

/// Names of failures of texts that are not in the language begin with it.
const BROKEN: &str = "broken-";

/// Evidence of a run that failed: what it did.
#[derive(Clone)]
pub(crate) struct Evidence {
    pub(crate) failed: Failed,
    /// The edges that it executed: what identifies each everywhere, and its number in this worker.
    pub(crate) edges: Vec<(u64, u32)>,
    /// The only edge, if there is one, is the hottest one.
    pub(crate) is_hottest: bool,
    /// The text is not in the language. A failure of a text of the language says more, so the two are kept apart.
    pub(crate) is_broken: bool,
    /// Depth of the text, if there is none at a lesser depth that fails. The text is not made smaller then.
    pub(crate) depth: Option<Depth>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// A run of a text that is like one that failed.
pub(crate) enum Again {
    Failed(Evidence),
    /// Run that did not fail, with the numbers of the edges that it executed.
    Passed(Vec<u32>),
    /// Run that was cut short, so that it says nothing.
    Cut,
}

impl Evidence {
    /// Returns what can be said while the run is at hand; [`Evidence::identified`] says the rest.
    pub(crate) fn new(failed: Failed, run: &Run<'_>) -> Evidence {
        let numbers = |edges: &[Edge]| edges.iter().map(|edge| (u64::from(edge.number), edge.number)).collect();
        let is_hottest = run.outcome == Outcome::Timeout;
        let edges = match run.edges {
            None => Vec::new(),
            // How far a run came before its time was over differs; where it spent the time does not.
            Some(edges) if is_hottest => {
                let hottest = edges.hottest().filter(|edge| edge.count >= HOT);
                numbers(hottest.as_slice())
            }
            Some(edges) => numbers(edges.executed()),
        };
        let (stdout, stderr) = (run.stdout.bytes.clone(), run.stderr.bytes.clone());
        Evidence { failed, edges, is_hottest, is_broken: false, depth: None, stdout, stderr }
    }

    /// Returns the evidence with the note that its text is broken, or is not.
    pub(crate) fn broken(self, is_broken: bool) -> Evidence {
        Evidence { is_broken, ..self }
    }

    /// Returns the evidence as that of a failure which needs this depth.
    pub(crate) fn at_depth(self, depth: &Depth) -> Evidence {
        Evidence { failed: self.failed.at_depth(depth), depth: Some(depth.clone()), ..self }
    }

    /// Returns the evidence as that of a failure of the class that a key names.
    pub(crate) fn of_class_of(self, key: &str) -> Evidence {
        Evidence { failed: self.failed.of_class_of(key), ..self }
    }

    /// Returns the evidence of another run of the same text, as that of the same depth.
    pub(crate) fn with_depth_of(self, other: &Evidence) -> Evidence {
        match &other.depth {
            Some(depth) => self.at_depth(depth),
            None => self,
        }
    }

    /// Returns true if both are of one kind, or also have the same key.
    pub(crate) fn is_like(&self, other: &Evidence, keeps_key: bool) -> bool {
        let (one, two) = (&self.failed, &other.failed);
        one.kind == two.kind && (!keeps_key || one.key == two.key)
    }

    /// Returns the name of a failure, or of a kind of them.
    pub(crate) fn named(&self, name: &str) -> String {
        if self.is_broken { format!("{BROKEN}{name}") } else { name.to_string() }
    }

    /// Returns the evidence with edges as any worker identifies them.
    pub(crate) fn identified(mut self, tested: &Tested) -> Evidence {
        for (identity, number) in &mut self.edges {
            *identity = tested.identity(*number);
        }
        self.edges.sort_unstable();
        self
    }
}
