//! Failures that did not happen again, by class: how often each was seen, and how often it was tried in vain.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use gramjet_search::{State, StateError};
use serde_json::{Value, json};

use super::evidence::Evidence;
use super::finding::{Call, Finding, INPUT, REPORT};

/// The first texts of a class are all tried; then those whose number is a power of two. So a failure that happens now
/// and then has its chance, and one that does not takes little time.
const TRIED: u64 = 8;
/// At most this many sequences are looked for in a class.
const SEQUENCES: u32 = 4;

/// What is known of the classes of failures that did not happen again in a new process.
#[derive(Debug, Default)]
pub(super) struct Doubts(BTreeMap<String, Doubt>);

/// A class of failures that did not happen again with their text alone.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    pub(super) what: String,
    /// How many texts have failed in this way, and how many runs in new processes have not.
    pub(super) seen: u64,
    pub(super) tried: u64,
    /// The two counts of earlier searches in the folder.
    before: (u64, u64),
    /// A sequence of texts fails in this way. The edges of those that were found here.
    sequences: Option<(u32, HashSet<u64>)>,
    report: Option<Value>,
}

impl Doubts {
    /// Reads what earlier searches in the folder have found.
    pub(super) fn read(state: &State) -> Result<Doubts, StateError> {
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
            let report = report(state.failure(&key, REPORT));
            let class = report.and_then(|report| report["class"].as_str().map(str::to_string));
            if let Some(class) = class {
                // Which edges it has executed is not kept: others are looked for again.
                doubts.0.entry(class).or_default().sequences.get_or_insert_default().0 += 1;
            }
        }
        Ok(doubts)
    }

    /// Returns the class of a failure: its key, whatever edges it has executed. A text that is not in the language adds
    /// nothing to a sequence of texts on which the program fails in the same way.
    pub(super) fn class_of(&self, evidence: &Evidence) -> String {
        let key = &evidence.failed.key;
        let has_sequence = self.0.get(key).is_some_and(|doubt| doubt.sequences.is_some());
        if has_sequence { key.clone() } else { evidence.named(key) }
    }

    /// Takes note of another failure if its class is known. Returns `None` if it is not, else whether to try this one.
    pub(super) fn see(&mut self, evidence: &Evidence) -> Option<bool> {
        let doubt = self.0.get_mut(&self.class_of(evidence))?;
        doubt.seen += 1;
        Some(doubt.seen <= TRIED || doubt.seen.is_power_of_two())
    }

    /// Returns true if it is known that failures of the same class need not happen again.
    pub(super) fn knows(&self, evidence: &Evidence) -> bool {
        self.0.contains_key(&self.class_of(evidence))
    }

    /// Whether to look for a sequence on which a failure of this class happens: there is none, or the failure has
    /// executed edges that none of those before has.
    pub(super) fn wants_sequence(&self, class: &str, edges: &[(u64, u32)]) -> bool {
        let Some((count, known)) = self.0.get(class).and_then(|doubt| doubt.sequences.as_ref()) else { return true };
        *count < SEQUENCES && edges.iter().any(|(identity, _)| !known.contains(identity))
    }

    /// Takes note of a sequence on which a failure of this class happens.
    pub(super) fn add_sequence(&mut self, class: &str, edges: &[(u64, u32)]) {
        let doubt = self.0.entry(class.to_string()).or_insert_with(|| Doubt { seen: 1, ..Doubt::default() });
        let (count, known) = doubt.sequences.get_or_insert_default();
        *count += 1;
        known.extend(edges.iter().map(|&(identity, _)| identity));
    }

    /// Takes note of a failure that did not happen again.
    fn add(&mut self, class: &str, what: &str, tried: u32) -> &mut Doubt {
        let doubt = self.0.entry(class.to_string()).or_default();
        doubt.seen = doubt.seen.max(1);
        doubt.tried += u64::from(tried);
        doubt.what = what.to_string();
        doubt
    }

    /// Forgets a class of which a failure has happened again.
    pub(super) fn forget(&mut self, class: &str) {
        if self.0.get(class).is_some_and(|doubt| doubt.sequences.is_none()) {
            self.0.remove(class);
        }
    }

    /// The classes that were seen in this search, and of which no sequence is known.
    fn seen(&self) -> impl Iterator<Item = (&String, &Doubt)> {
        self.0.iter().filter(|(_, doubt)| doubt.seen > 0 && doubt.sequences.is_none())
    }

    /// How many classes were seen in this search.
    pub(super) fn count(&self) -> usize {
        self.seen().count()
    }

    /// Keeps a failure that did not happen again in any of so many runs: the first text of its class, and the counts.
    pub(super) fn set_aside(
        &mut self,
        state: &State,
        call: &Call,
        class: &str,
        finding: &Finding,
        tried: u32,
    ) -> Result<(), StateError> {
        let doubt = self.add(class, &finding.failed.what, tried);
        if doubt.sequences.is_some() {
            return Ok(());
        }
        let is_first = doubt.report.is_none();
        let report = doubt.report.get_or_insert_with(|| {
            json!({
                "key": class,
                "what": finding.failed.what,
                "in_language": !finding.is_broken,
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

    /// Writes the counts of this search. Returns the classes that were seen, and where each is.
    pub(super) fn end(&self, state: &State) -> Result<Vec<Unconfirmed>, StateError> {
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

/// A class of failures that did not happen again, as it is told.
#[derive(Clone, Debug)]
pub(super) struct Unconfirmed {
    pub(super) key: String,
    pub(super) what: String,
    pub(super) seen: u64,
    pub(super) tried: u64,
    pub(super) place: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Failed;
    use super::*;

    fn failed(key: &str, is_broken: bool) -> Evidence {
        let (key, kind, what) = (key.to_string(), String::new(), String::new());
        let failed = Failed { key, kind, what, is_bare: true, is_limit: false };
        let (edges, stdout, stderr) = Default::default();
        Evidence { failed, edges, is_hottest: false, is_broken, stdout, stderr }
    }

    #[test]
    fn fewer_and_fewer_texts_of_a_class_are_tried() {
        let mut doubts = Doubts::default();
        let one = failed("a", false);
        assert_eq!((doubts.see(&one), doubts.knows(&one)), (None, false));
        doubts.add("a", "timeout", 3);
        let tried: Vec<u64> = (2..100).filter(|_| doubts.see(&one) == Some(true)).collect();
        assert_eq!(tried, [2, 3, 4, 5, 6, 7, 8, 16, 32, 64]);
        assert_eq!(doubts.count(), 1);
        doubts.forget("a");
        assert_eq!((doubts.see(&one), doubts.count()), (None, 0));
    }

    #[test]
    fn a_class_with_a_sequence_is_known_unless_it_executes_something_else() {
        let mut doubts = Doubts::default();
        assert!(doubts.wants_sequence("a", &[]));
        doubts.add_sequence("a", &[(1, 1), (2, 2)]);
        doubts.forget("a");
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
