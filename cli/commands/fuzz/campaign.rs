//! The search itself: what its workers share, and how far it has come.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use gramjet_search::{Siblings, State};
use gramjet_session::Language;

use super::evidence::Evidence;
use super::exceptions::Exceptions;
use super::finding::{Call, Finding, REPORT};
use super::maker::{Making, Yields, no_yields};
use super::recent::Recent;
use super::unconfirmed::{Doubts, Unconfirmed};
use super::verdict::Rules;
use crate::cores::Cores;
use crate::failure::Failure;
use crate::stop::Stop;
use crate::subject::Surroundings;

/// Facts that a search needs to know.
pub(super) struct Plan {
    pub(super) language: Language,
    pub(super) rules: Rules,
    pub(super) surroundings: Surroundings,
    pub(super) call: Call,
    pub(super) making: Making,
    pub(super) max_len: usize,
    pub(super) seed: u64,
    pub(super) jobs: usize,
    pub(super) cores: Cores,
    /// At most this many runs, without those that make failures smaller.
    pub(super) runs: u64,
    /// At most this many runs make one failure smaller.
    pub(super) shrinks: u32,
    /// For no longer than this.
    pub(super) shrinking: Duration,
    /// Texts to begin with.
    pub(super) seeds: Vec<Vec<u8>>,
}

/// A search with what its workers share.
pub(super) struct Campaign {
    pub(super) plan: Plan,
    pub(super) state: State,
    pub(super) stop: Stop,
    /// The other searches in a shared folder, for the worker that looks at them.
    siblings: Mutex<Option<Siblings>>,
    pub(super) begin: Instant,
    shared: Mutex<Shared>,
    /// Held while the folder of a failure is written, renamed or removed: two workers may come to the same key.
    folders: Mutex<()>,
    /// The number of rules of the grammar.
    rules: usize,
    /// Keys of failures that a killed search has not made smaller.
    pub(super) unfinished: Vec<String>,
    /// Workers that run.
    active: AtomicUsize,
    pub(super) begun: AtomicU64,
    pub(super) runs: AtomicU64,
    pub(super) valid: AtomicU64,
    pub(super) broken: AtomicU64,
    pub(super) failing: AtomicU64,
}

#[derive(Default)]
pub(super) struct Shared {
    /// Texts that did something new, and the worker that found each.
    pub(super) texts: Vec<(Arc<[u8]>, usize)>,
    /// Keys of failures.
    pub(super) keys: HashSet<String>,
    /// Edges of the failures that were made smaller, by key, where nothing but edges tells failures apart.
    pub(super) bare: HashMap<String, HashSet<u64>>,
    /// Number of failures of each kind that were looked at.
    pub(super) looked: HashMap<String, usize>,
    /// Keys of those that workers look at now.
    pub(super) pending: HashSet<String>,
    /// Classes of failures that did not happen again.
    pub(super) doubts: Doubts,
    /// Number of failures of each kind that were made smaller a second time.
    pub(super) repeated: HashMap<String, usize>,
    /// Lines for the user that were not printed yet.
    pub(super) news: Vec<News>,
    pub(super) edges: usize,
    /// Rules of the grammar in the texts.
    pub(super) rules: HashSet<usize>,
    pub(super) yields: Yields,
    pub(super) exceptions: Exceptions,
    /// The last texts of a strategy, by worker.
    pub(super) recent: BTreeMap<usize, Recent>,
    /// Numbers of edges and of failures in the last line of the log.
    logged: (usize, usize),
    failure: Option<Failure>,
}

impl Shared {
    /// Returns true if a failure with this key is known, or looked at now.
    pub(super) fn is_taken(&self, key: &str) -> bool {
        self.keys.contains(key) || self.pending.contains(key)
    }

    /// Returns the edges of failures that only edges tell from this one. Those of texts of the language also count
    /// where the text of this one is not in it.
    fn alike(&self, evidence: &Evidence) -> impl Iterator<Item = &HashSet<u64>> {
        let key = &evidence.failed.key;
        let broken = evidence.is_broken.then(|| self.bare.get(&evidence.named(key))).flatten();
        self.bare.get(key).into_iter().chain(broken)
    }

    /// Returns true if there is such a failure.
    pub(super) fn knows(&self, evidence: &Evidence) -> bool {
        self.alike(evidence).next().is_some()
    }

    /// Returns true if one of them has executed this edge.
    pub(super) fn has_executed(&self, evidence: &Evidence, identity: u64) -> bool {
        self.alike(evidence).any(|edges| edges.contains(&identity))
    }
}

/// News that the user is to hear.
pub(super) struct News {
    pub(super) finding: Finding,
    pub(super) place: std::path::PathBuf,
}

/// Progress of a search.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) elapsed: Duration,
    pub(super) runs: u64,
    /// Runs of texts of the language that ended with exit status 0, or returned.
    pub(super) valid: u64,
    /// Runs of texts that may not be in the language.
    pub(super) broken: u64,
    /// Runs that failed.
    pub(super) failing: u64,
    /// Texts that did something new.
    pub(super) texts: usize,
    /// Edges that were executed, also by runs that failed; 0 if the program counts none.
    pub(super) edges: usize,
    /// Failures that are told apart, those of earlier runs on the folder included.
    pub(super) failures: usize,
    /// Classes of failures that did not happen again.
    pub(super) unconfirmed: usize,
    /// For each operator how many texts it has made, and how many of them did something new.
    pub(super) yields: Yields,
    /// The number of rules of the grammar in the texts that did something new, and of all rules.
    pub(super) rules: (usize, usize),
    /// The number of classes of exceptions, and of those that are not expected.
    pub(super) exceptions: (usize, usize),
}

/// The log has coverage over time.
const LOG: (&str, &str) = ("log.csv", "seconds,runs,edges,texts,failing,failures,exceptions");

impl Campaign {
    pub(super) fn new(plan: Plan, state: State, siblings: Option<Siblings>, stop: Stop) -> Result<Campaign, Failure> {
        let mut keys: HashSet<String> = state.failures()?.into_iter().collect();
        let unfinished: Vec<String> = keys.iter().filter(|key| !is_finished(&state, key)).cloned().collect();
        keys.retain(|key| !unfinished.contains(key));
        let active = AtomicUsize::new(plan.jobs);
        let (yields, exceptions) = (no_yields(plan.making), Exceptions::of(&plan.call.command));
        let shared =
            Mutex::new(Shared { keys, yields, exceptions, doubts: Doubts::read(&state)?, ..Shared::default() });
        let (begun, runs, valid, broken, failing) = Default::default();
        let (siblings, begin) = (Mutex::new(siblings), Instant::now());
        let rules = plan.language.deriver(None).rule_count();
        Ok(Campaign {
            plan,
            state,
            stop,
            siblings,
            begin,
            shared,
            folders: Mutex::default(),
            rules,
            unfinished,
            active,
            begun,
            runs,
            valid,
            broken,
            failing,
        })
    }

    /// Lets all workers `work`, each by its number, until they end. `look` is called now and then, from this thread.
    pub(super) fn run(
        &self,
        work: impl Fn(&Campaign, usize) -> Result<(), Failure> + Sync,
        mut look: impl FnMut(&Campaign),
    ) -> Result<(), Failure> {
        let work = &work;
        std::thread::scope(|scope| {
            for number in 0..self.plan.jobs {
                scope.spawn(move || {
                    // A worker that panics is no longer active.
                    let _active = Active(self);
                    match work(self, number) {
                        // A run that was cut short may be none at all.
                        Err(Failure::Target(_)) if self.stop.is_signalled() => {}
                        Err(failure) => drop(self.shared().failure.get_or_insert(failure)),
                        Ok(()) => {}
                    }
                });
            }
            while self.active.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(Duration::from_millis(50));
                if self.stop.is_signalled() {
                    gramjet_harness::interrupt();
                }
                look(self);
                self.log(false);
            }
        });
        look(self);
        self.log(true);
        self.shared().failure.take().map_or(Ok(()), Err)
    }

    /// Writes a line to the log if there are new edges or failures, or the search has ended.
    fn log(&self, is_end: bool) {
        let now = self.progress();
        let Progress { runs, edges, texts, failing, failures, exceptions: (exceptions, _), .. } = now;
        let last = std::mem::replace(&mut self.shared().logged, (edges, failures));
        if last == (edges, failures) && !is_end {
            return;
        }
        let seconds = now.elapsed.as_secs_f64();
        let line = format!("{seconds:.3},{runs},{edges},{texts},{failing},{failures},{exceptions}");
        if let Err(error) = self.state.append(LOG.0, LOG.1, &line) {
            self.shared().failure.get_or_insert(error.into());
        }
    }

    /// Returns how far it has come.
    pub(super) fn progress(&self) -> Progress {
        let shared = self.shared();
        Progress {
            elapsed: self.begin.elapsed(),
            runs: self.runs.load(Ordering::Relaxed),
            valid: self.valid.load(Ordering::Relaxed),
            broken: self.broken.load(Ordering::Relaxed),
            failing: self.failing.load(Ordering::Relaxed),
            texts: shared.texts.len(),
            edges: shared.edges,
            failures: shared.keys.len(),
            unconfirmed: shared.doubts.count(),
            yields: shared.yields.clone(),
            rules: (shared.rules.len(), self.rules),
            exceptions: shared.exceptions.counts(),
        }
    }

    /// Returns what was found since the last call.
    pub(super) fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.shared().news)
    }

    /// Writes how often failures were seen that did not happen again, and returns them.
    pub(super) fn end_unconfirmed(&self) -> Result<Vec<Unconfirmed>, Failure> {
        Ok(self.shared().doubts.end(&self.state)?)
    }

    /// Returns the other searches in a shared folder, for the first who asks.
    pub(super) fn siblings(&self) -> Option<Siblings> {
        self.siblings.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn folders(&self) -> MutexGuard<'_, ()> {
        self.folders.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn is_over(&self) -> bool {
        self.stop.is_requested() || self.shared().failure.is_some()
    }
}

/// Counts a worker as active while it lives.
struct Active<'c>(&'c Campaign);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns true if a failure was run again and made smaller. Searches of earlier versions wrote no others.
fn is_finished(state: &State, key: &str) -> bool {
    let report = state.failure(key, REPORT).ok();
    let report: Option<serde_json::Value> = report.and_then(|report| serde_json::from_slice(&report).ok());
    report.is_none_or(|report| report["finished"] != false)
}
