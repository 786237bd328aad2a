//! Failures that did not happen again, by class: how often each was seen, and how often it was tried in vain.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use crate::state::{State, StateError};
use serde_json::{Value, json};

use super::evidence::Evidence;
use super::finding::{Call, Finding, INPUT, REPORT};

/// The first texts of a class are all tried; then those whose number is a power of two. So a failure that happens now
/// and then has its chance, and one that does not takes little time.
const TRIED: u64 = 8;
/// At most this many texts of a class are tried beyond these because they execute edges that no tried one has executed:
/// they may fail for another reason.
const NOVEL: u32 = 64;
/// At most this many sequences are looked for in a class, by one search.
const SEQUENCES: u32 = 4;

/// Facts about the classes of failures that did not happen again in a new process.
#[derive(Debug, Default)]
pub(crate) struct Doubts(BTreeMap<String, Doubt>);

/// A class of failures that did not happen again with their text alone.
#[derive(Debug, Default)]
pub(crate) struct Doubt {
    pub(crate) what: String,
    /// Number of texts that have failed in this way.
    pub(crate) seen: u64,
    /// Number of runs in new processes that have not.
    pub(crate) tried: u64,
    /// Numbers of such texts and runs in earlier searches in the folder.
    before: (u64, u64),
    /// Edges that the texts have executed which were tried in this search.
    edges: HashSet<u64>,
    /// Number of texts that were tried because they executed others.
    novel: u32,
    /// Sequences of texts that fail in this way, if there are any.
    sequences: Option<Sequences>,
    /// The report of the first text that did not happen again, if there is one.
    report: Option<Value>,
}

/// Sequences of texts on which failures of a class happen.
#[derive(Debug, Default)]
struct Sequences {
    /// Number of those that this search has found.
    found: u32,
    /// Edges that they have executed.
    edges: HashSet<u64>,
}

impl Doubts {
    /// Reads what earlier searches in the folder have found.
    pub(crate) fn read(state: &State) -> Result<Doubts, StateError> {
        let mut doubts = Doubts::default();
        let report =
            |bytes: Result<Vec<u8>, StateError>| -> Option<Value> { serde_json::from_slice(&bytes.ok()?).ok() };
        for key in state.unconfirmed()? {
            let report = report(state.unconfirmed_file(&key, REPORT));
            let Some(report) = report else { continue };
            let count = |name: &str| report[name].as_u64().unwrap_or(0);
            let what = report["what"].as_str().unwrap_or_default().to_string();
            let before = (count("seen"), count("tried"));
            doubts.0.insert(key, Doubt { what, before, report: Some(report), ..Doubt::default() });
        }
        for key in state.failures()? {
            let Some(report) = report(state.failure(&key, REPORT)) else { continue };
            if let (Some(class), Some(_)) = (report["class"].as_str(), report["sequence"].as_u64()) {
                // Which edges it has executed is not kept: it is looked for again.
                doubts.0.entry(class.to_string()).or_default().sequences.get_or_insert_default();
            }
        }
        Ok(doubts)
    }

    /// Returns the class of a failure: its key, whatever edges it has executed. A text that is not in the language adds
    /// nothing to a sequence of texts on which the program fails in the same way.
    pub(crate) fn class_of(&self, evidence: &Evidence) -> String {
        let key = &evidence.failed.key;
        let has_sequence = self.0.get(key).is_some_and(|doubt| doubt.sequences.is_some());
        if has_sequence { key.clone() } else { evidence.named(key) }
    }

    /// Takes note of another failure if its class is known. Returns `None` if it is not, else true if this one is to be
    /// tried.
    pub(crate) fn see(&mut self, evidence: &Evidence) -> Option<bool> {
        let doubt = self.0.get_mut(&self.class_of(evidence))?;
        doubt.seen += 1;
        let is_novel = doubt.novel < NOVEL && doubt.has_others(&evidence.edges);
        let is_tried = doubt.seen <= TRIED || doubt.seen.is_power_of_two() || is_novel;
        if is_tried {
            doubt.novel += u32::from(is_novel);
            doubt.edges.extend(identities(&evidence.edges));
        }
        Some(is_tried)
    }

    /// Returns true if it is known that failures of the same class need not happen again.
    pub(crate) fn knows(&self, evidence: &Evidence) -> bool {
        self.0.contains_key(&self.class_of(evidence))
    }

    /// Returns true if a sequence is to be looked for on which a failure of this class happens: there is none, or the
    /// failure has executed edges that none of those before has.
    pub(crate) fn wants_sequence(&self, class: &str, edges: &[(u64, u32)]) -> bool {
        let Some(sequences) = self.0.get(class).and_then(|doubt| doubt.sequences.as_ref()) else { return true };
        sequences.found < SEQUENCES && !sequences.explain(edges)
    }

    /// Takes note of a sequence on which a failure of this class happens.
    pub(crate) fn add_sequence(&mut self, class: &str, edges: &[(u64, u32)]) {
        let doubt = self.0.entry(class.to_string()).or_insert_with(|| Doubt { seen: 1, ..Doubt::default() });
        let sequences = doubt.sequences.get_or_insert_default();
        sequences.found += 1;
        sequences.edges.extend(identities(edges));
    }

    /// Takes note of a failure that did not happen again in `tried` runs.
    fn add(&mut self, class: &str, what: &str, edges: &[(u64, u32)], tried: u32) -> &mut Doubt {
        let doubt = self.0.entry(class.to_string()).or_default();
        doubt.seen = doubt.seen.max(1);
        doubt.tried += u64::from(tried);
        doubt.what = what.to_string();
        doubt.edges.extend(identities(edges));
        doubt
    }

    /// Forgets a class of which a failure has happened again with these edges. Returns false if edges may tell it from
    /// those that did not: they have executed others, or an earlier search has seen them.
    pub(crate) fn forget(&mut self, class: &str, edges: &[(u64, u32)]) -> bool {
        let Some(doubt) = self.0.get(class) else { return false };
        let own: HashSet<u64> = identities(edges).collect();
        let is_same = own.is_empty() || doubt.before == (0, 0) && doubt.edges.is_subset(&own);
        let is_forgotten = is_same && doubt.sequences.is_none();
        if is_forgotten {
            self.0.remove(class);
        }
        is_forgotten
    }

    /// Returns the classes that were seen in this search, and of which a failure did not happen again.
    fn seen(&self) -> impl Iterator<Item = (&String, &Doubt)> {
        self.0.iter().filter(|(_, doubt)| doubt.seen > 0 && doubt.report.is_some())
    }

    /// Counts the classes that were seen in this search.
    pub(crate) fn count(&self) -> usize {
        self.seen().count()
    }

    /// Keeps a failure that did not happen again in `tried` runs: the first text of its class, and the counts. One that
    /// a sequence explains is not kept.
    pub(crate) fn set_aside(
        &mut self,
        state: &State,
        call: &Call,
        class: &str,
        finding: &Finding,
        (edges, tried): (&[(u64, u32)], u32),
    ) -> Result<(), StateError> {
        let doubt = self.add(class, &finding.failed.what, edges, tried);
        let is_explained = doubt.sequences.as_ref().is_some_and(|sequences| sequences.explain(edges));
        if is_explained && !(edges.is_empty() && finding.is_left) {
            return Ok(());
        }
        let is_first = doubt.report.is_none();
        let report = doubt.report.get_or_insert_with(|| {
            json!({
                "key": class,
                "what": finding.failed.what,
                "in_language": finding.standing.is_inside(),
                "command": call.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>(),
                "options": call.options,
                "input_bytes": finding.input.len(),
                "runs": finding.runs,
                "seconds": finding.after.as_secs_f64(),
            })
        });
        let mut files = Vec::new();
        if is_first {
            files.push((INPUT, finding.input.clone()));
            files.push(("stdout", finding.stdout.clone()));
            files.push(("stderr", finding.stderr.clone()));
        }
        let (seen, tried) = (doubt.before.0 + doubt.seen, doubt.before.1 + doubt.tried);
        (report["seen"], report["tried"]) = (seen.into(), tried.into());
        files.push((REPORT, format!("{report:#}\n").into_bytes()));
        state.set_aside(class, &files).map(drop)
    }

    /// Writes the counts of this search. Returns the classes that were seen, each with its folder.
    pub(crate) fn end(&self, state: &State) -> Result<Vec<Unconfirmed>, StateError> {
        let mut all = Vec::new();
        for (key, doubt) in self.seen() {
            let (seen, tried) = (doubt.before.0 + doubt.seen, doubt.before.1 + doubt.tried);
            let mut report = doubt.report.clone().unwrap_or_default();
            (report["seen"], report["tried"]) = (seen.into(), tried.into());
            let place = state.set_aside(key, &[(REPORT, format!("{report:#}\n").into_bytes())])?;
            let (key, what) = (key.clone(), doubt.what.clone());
            all.push(Unconfirmed { key, what, seen: doubt.seen, tried: doubt.tried, place });
        }
        Ok(all)
    }
}

impl Doubt {
    /// Returns true if one of these edges was executed by no text that was tried.
    fn has_others(&self, edges: &[(u64, u32)]) -> bool {
        identities(edges).any(|identity| !self.edges.contains(&identity))
    }
}

impl Sequences {
    /// Returns true if all of these edges are executed by a sequence.
    fn explain(&self, edges: &[(u64, u32)]) -> bool {
        identities(edges).all(|identity| self.edges.contains(&identity))
    }
}

fn identities(edges: &[(u64, u32)]) -> impl Iterator<Item = u64> {
    edges.iter().map(|&(identity, _)| identity)
}

/// A class of failures that did not happen again, as it is told.
#[derive(Clone, Debug)]
pub struct Unconfirmed {
    /// Name of the class, and of its folder.
    pub key: String,
    /// Line that says how runs failed.
    pub what: String,
    /// Number of texts that failed in this way in this search.
    pub seen: u64,
    /// Number of runs in new processes that did not fail.
    pub tried: u64,
    /// Folder that it is kept in.
    pub place: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::super::evidence::Standing;
    use super::super::verdict::Failed;
    use super::*;

    fn failed(key: &str, is_broken: bool) -> Evidence {
        let (key, kind, what) = (key.to_string(), String::new(), String::new());
        let failed = Failed { key, kind, what, is_bare: true, is_limit: false };
        let (edges, stdout, stderr) = Default::default();
        let standing = if is_broken { Standing::Outside } else { Standing::Inside };
        Evidence { failed, edges, is_timeout: false, is_hottest: false, standing, depth: None, stdout, stderr }
    }

    #[test]
    fn fewer_and_fewer_texts_of_a_class_are_tried() {
        let mut doubts = Doubts::default();
        let one = failed("a", false);
        assert_eq!((doubts.see(&one), doubts.knows(&one)), (None, false));
        doubts.add("a", "timeout", &[], 3);
        let tried: Vec<u64> = (2..100).filter(|_| doubts.see(&one) == Some(true)).collect();
        assert_eq!(tried, [2, 3, 4, 5, 6, 7, 8, 16, 32, 64]);
        assert!(doubts.forget("a", &[]));
        assert_eq!((doubts.see(&one), doubts.count()), (None, 0));
    }

    #[test]
    fn one_that_did_not_happen_again_hides_no_other_failure() {
        let mut doubts = Doubts::default();
        doubts.add("a", "SIGSEGV", &[(1, 1)], 3);
        let with = |edges: &[(u64, u32)]| Evidence { edges: edges.to_vec(), ..failed("a", false) };
        while doubts.see(&with(&[(1, 1)])) == Some(true) {}
        // Others that execute other edges are tried, each once, and not without end.
        assert_eq!(doubts.see(&with(&[(1, 1), (2, 2)])), Some(true));
        assert_eq!(doubts.see(&with(&[(1, 1), (2, 2)])), Some(false));
        let tried = (10..1000).filter(|&edge| doubts.see(&with(&[(edge, 0)])) == Some(true)).count();
        assert!((NOVEL as usize - 1..NOVEL as usize + 10).contains(&tried), "{tried}");
        // One that happens again says nothing about those with other edges, or of earlier searches.
        let mut doubts = Doubts::default();
        doubts.add("a", "SIGSEGV", &[(1, 1)], 3);
        assert!(!doubts.forget("a", &[(2, 2)]) && doubts.knows(&failed("a", false)));
        doubts.0.get_mut("a").expect("the class").before = (1, 3);
        assert!(!doubts.forget("a", &[(1, 1), (2, 2)]));
        doubts.0.get_mut("a").expect("the class").before = (0, 0);
        assert!(doubts.forget("a", &[(1, 1), (2, 2)]) && !doubts.knows(&failed("a", false)));
    }

    #[test]
    fn a_class_with_a_sequence_is_known_unless_it_executes_something_else() {
        let mut doubts = Doubts::default();
        assert!(doubts.wants_sequence("a", &[]));
        doubts.add_sequence("a", &[(1, 1), (2, 2)]);
        assert!(!doubts.forget("a", &[]));
        assert!(!doubts.wants_sequence("a", &[]) && !doubts.wants_sequence("a", &[(2, 7)]));
        assert!(doubts.wants_sequence("a", &[(2, 2), (3, 3)]));
        (0..SEQUENCES).for_each(|_| doubts.add_sequence("a", &[]));
        assert!(!doubts.wants_sequence("a", &[(3, 3)]));
        assert_eq!(doubts.count(), 0);
        // Nor does a text that is not in the language make another class.
        assert_eq!(doubts.class_of(&failed("a", true)), "a");
        assert_eq!(doubts.class_of(&failed("b", true)), "broken-b");
    }
}
