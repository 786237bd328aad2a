//! The evidence of a run that failed: what it did.

use gramjet_harness::{Edge, Outcome, Run};

use super::depth::Depth;
use super::loops::hottest;
use super::verdict::Failed;
use crate::subject::Tested;

/// Names of failures of texts that are not in the language, and of texts of which that is not known, begin with these.
const BROKEN: &str = "broken-";
const UNPARSED: &str = "unparsed-";

/// Relation of a text that failed to the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The text is in the language.
    Inside,
    /// The text is not in the language.
    Outside,
    /// Neither is known: the text is too long or too ambiguous to be parsed.
    Unknown,
}

impl Standing {
    /// Returns true unless the text is known to be in the language. A failure of a text of the language says more, so
    /// the two are kept apart.
    pub fn is_broken(self) -> bool {
        match self {
            Standing::Inside => false,
            Standing::Outside | Standing::Unknown => true,
        }
    }

    /// Returns whether the text is in the language; `None` if that is not known.
    pub fn is_inside(self) -> Option<bool> {
        match self {
            Standing::Inside => Some(true),
            Standing::Outside => Some(false),
            Standing::Unknown => None,
        }
    }
}

/// Evidence of a run that failed: what it did.
#[derive(Clone)]
pub(crate) struct Evidence {
    pub(crate) failed: Failed,
    /// The edges that it executed: what identifies each everywhere, and its number in this worker.
    pub(crate) edges: Vec<(u64, u32)>,
    /// Whether the limit on time has ended the run.
    pub(crate) is_timeout: bool,
    /// Whether the edges are those of the loop in which it has spent its time: one of them, once they are identified.
    pub(crate) is_hottest: bool,
    /// Relation of the text to the language.
    pub(crate) standing: Standing,
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
        let hottest = hottest(run);
        let edges = match run.edges {
            None => Vec::new(),
            // How far a run came before its time was over differs; where it spent the time does not.
            Some(edges) => numbers(hottest.as_deref().unwrap_or(edges.executed())),
        };
        let (stdout, stderr) = (run.stdout.bytes.clone(), run.stderr.bytes.clone());
        Evidence {
            failed,
            edges,
            is_timeout: run.outcome == Outcome::Timeout,
            is_hottest: hottest.is_some(),
            standing: Standing::Inside,
            depth: None,
            stdout,
            stderr,
        }
    }

    /// Returns the evidence with the note whether its text is in the language.
    pub(crate) fn standing(self, standing: Standing) -> Evidence {
        Evidence { standing, ..self }
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
        match self.standing {
            Standing::Inside => name.to_string(),
            Standing::Outside => format!("{BROKEN}{name}"),
            Standing::Unknown => format!("{UNPARSED}{name}"),
        }
    }

    /// Returns the evidence with edges as any worker identifies them.
    pub(crate) fn identified(mut self, tested: &Tested) -> Evidence {
        for (identity, number) in &mut self.edges {
            *identity = tested.identity(*number);
        }
        self.edges.sort_unstable();
        if self.is_hottest {
            // Numbers are those of this worker. Which edge stands for the loop is the same for all.
            self.edges.truncate(1);
        } else if self.is_timeout && !tested.sums_edges() {
            // It may have spent its time anywhere.
            self.edges.clear();
        }
        self
    }
}
