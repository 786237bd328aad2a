//! The search itself: what its workers share, and how far it has come.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::siblings::Siblings;
use crate::state::{Place, State};
use gramjet_search::{Seed, Words};
use gramjet_session::Language;

use super::evidence::Evidence;
use super::exceptions::Exceptions;
use super::finding::{Call, Finding, REPORT};
use super::maker::{Making, Yields, no_yields};
use super::recent::Recent;
use super::unconfirmed::{Doubts, Unconfirmed};
use super::verdict::{Advice, Rules};
use super::worker;
use crate::cores::Cores;
use crate::error::Error;
use crate::folder::LeftAlone;
use crate::stop::Stop;
use crate::subject::Surroundings;
use crate::watch::Watch;

/// Facts that a search needs to know.
pub struct Plan {
    /// Language that texts are of, with the limits on what is made.
    pub language: Language,
    /// Rules by which runs are judged.
    pub rules: Rules,
    /// Limits and confinement of the program.
    pub surroundings: Surroundings,
    /// Words that call the program, for scripts that run a failure again.
    pub call: Call,
    /// Strategy that makes texts.
    pub making: Making,
    /// Greatest length of a text, in bytes.
    pub max_len: usize,
    /// Greatest length of the first texts, of great depth and with values at bounds; `None` for none of them.
    pub extremes: Option<usize>,
    /// Words that the program may know.
    pub words: Words,
    /// Number that the choices depend on.
    pub seed: Seed,
    /// Number of workers.
    pub jobs: usize,
    /// Cores of the workers.
    pub cores: Cores,
    /// At most this many runs, without those that make failures smaller.
    pub runs: u64,
    /// At most this many runs make one failure smaller.
    pub shrinks: u32,
    /// For no longer than this.
    pub shrinking: Duration,
    /// Time at which the search ends, if it has one. Runs that are still in hand a moment later are ended.
    pub end: Option<Instant>,
    /// Texts to begin with.
    pub seeds: Vec<Vec<u8>>,
}

/// A search with what its workers share.
pub struct Campaign {
    /// Plan that it follows.
    pub plan: Plan,
    /// Folder that it writes to.
    pub state: State,
    /// Request to end it.
    pub stop: Stop,
    /// The other searches in a shared folder, for the worker that looks at them.
    siblings: Mutex<Option<Siblings>>,
    pub(crate) begin: Instant,
    shared: Mutex<Shared>,
    /// Held while the folder of a failure is written, renamed or removed: two workers may come to the same key.
    folders: Mutex<()>,
    /// The number of rules of the grammar.
    rules: usize,
    /// Texts that earlier searches have kept. What a worker keeps before another one has begun is none of them.
    pub(crate) kept: Vec<Vec<u8>>,
    /// Keys of failures that a killed search has not made smaller.
    pub(crate) unfinished: Vec<String>,
    /// Workers that run.
    active: AtomicUsize,
    pub(crate) begun: AtomicU64,
    pub(crate) runs: AtomicU64,
    pub(crate) valid: AtomicU64,
    pub(crate) broken: AtomicU64,
    pub(crate) failing: AtomicU64,
}

#[derive(Default)]
pub(crate) struct Shared {
    /// Texts that did something new, and the worker that found each.
    pub(crate) texts: Vec<(Arc<[u8]>, usize)>,
    /// Keys of failures.
    pub(crate) keys: HashSet<String>,
    /// Edges of the failures that were made smaller, by key, where nothing but edges tells failures apart.
    pub(crate) bare: HashMap<String, HashSet<u64>>,
    /// Number of failures of each kind that were looked at.
    pub(crate) looked: HashMap<String, usize>,
    /// Keys of those that workers look at now.
    pub(crate) pending: HashSet<String>,
    /// Classes of failures that did not happen again.
    pub(crate) doubts: Doubts,
    /// Number of failures of each kind that were made smaller a second time.
    pub(crate) repeated: HashMap<String, usize>,
    /// Failures that were not told yet.
    pub(crate) news: Vec<News>,
    /// Advice that was given, and advice that was not told yet.
    given: Vec<Advice>,
    advice: Vec<Advice>,
    /// Number of failures that were kept as they were found, as the search had to end.
    pub(crate) left_unfinished: usize,
    /// Entries of folders of other searches that were left alone and not told yet.
    pub(crate) left: Vec<LeftAlone>,
    pub(crate) edges: usize,
    /// Rules of the grammar in the texts.
    pub(crate) rules: HashSet<usize>,
    pub(crate) yields: Yields,
    pub(crate) exceptions: Exceptions,
    /// The last texts of a strategy, by worker.
    pub(crate) recent: BTreeMap<usize, Recent>,
    /// Numbers of edges and of failures in the last line of the log.
    logged: (usize, usize),
    failure: Option<Error>,
}

impl Shared {
    /// Returns true if a failure with this key is known, or looked at now.
    pub(crate) fn is_taken(&self, key: &str) -> bool {
        self.keys.contains(key) || self.pending.contains(key)
    }

    /// Returns the edges of failures that only edges tell from this one. Those of texts of the language also count
    /// where the text of this one is not in it.
    fn alike(&self, evidence: &Evidence) -> impl Iterator<Item = &HashSet<u64>> {
        let key = &evidence.failed.key;
        let broken = evidence.standing.is_broken().then(|| self.bare.get(&evidence.named(key))).flatten();
        self.bare.get(key).into_iter().chain(broken)
    }

    /// Returns true if there is such a failure.
    pub(crate) fn knows(&self, evidence: &Evidence) -> bool {
        self.alike(evidence).next().is_some()
    }

    /// Returns true if one of them has executed this edge.
    pub(crate) fn has_executed(&self, evidence: &Evidence, identity: u64) -> bool {
        self.alike(evidence).any(|edges| edges.contains(&identity))
    }
}

/// News that the user is to hear.
pub struct News {
    /// Failure, with what is known of it.
    pub finding: Finding,
    /// Folder that it is kept in.
    pub place: std::path::PathBuf,
}

/// Progress of a search.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Time since the search began.
    pub elapsed: Duration,
    /// Number of runs, without those that make failures smaller.
    pub runs: u64,
    /// Runs of texts of the language that ended with exit status 0, or returned.
    pub valid: u64,
    /// Runs of texts that may not be in the language.
    pub broken: u64,
    /// Runs that failed.
    pub failing: u64,
    /// Texts that did something new.
    pub texts: usize,
    /// Edges that were executed, also by runs that failed; 0 if the program counts none.
    pub edges: usize,
    /// Failures that are told apart, those of earlier runs on the folder included.
    pub failures: usize,
    /// Classes of failures that did not happen again.
    pub unconfirmed: usize,
    /// For each operator how many texts it has made, and how many of them did something new.
    pub yields: Yields,
    /// The number of rules of the grammar in the texts that did something new, and of all rules.
    pub rules: (usize, usize),
    /// The number of classes of exceptions, and of those that are not expected.
    pub exceptions: (usize, usize),
}

/// The log has coverage over time.
const LOG: (&str, &str) = ("log.csv", "seconds,runs,edges,texts,failing,failures,exceptions");

impl Campaign {
    /// Begins a search in a folder, in which others may have been before.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn new(plan: Plan, state: State, siblings: Option<Siblings>, stop: Stop) -> Result<Campaign, Error> {
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
        let kept = state.texts(Place::Queue)?;
        Ok(Campaign {
            plan,
            state,
            stop,
            siblings,
            begin,
            shared,
            folders: Mutex::default(),
            rules,
            kept,
            unfinished,
            active,
            begun,
            runs,
            valid,
            broken,
            failing,
        })
    }

    /// Searches until it is stopped, or the budget is used up. `look` is called now and then, from this thread, and in
    /// the end.
    ///
    /// # Errors
    ///
    /// If the program or the folder can no longer be used. What was found is written even so.
    pub fn run(&self, mut look: impl FnMut(&Campaign)) -> Result<(), Error> {
        let watch = Watch::new(&self.stop, self.plan.end);
        std::thread::scope(|scope| {
            for number in 0..self.plan.jobs {
                scope.spawn(move || {
                    // A worker that panics is no longer active.
                    let _active = Active(self);
                    match worker::work(self, number) {
                        // A run that was cut short may be none at all.
                        Err(Error::Target(_)) if self.stop.is_cut() => {}
                        Err(failure) => drop(self.shared().failure.get_or_insert(failure)),
                        Ok(()) => {}
                    }
                });
            }
            while self.active.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(Duration::from_millis(50));
                look(self);
                self.log(false);
            }
        });
        look(self);
        self.log(true);
        watch.end(&self.stop);
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
    pub fn progress(&self) -> Progress {
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

    /// Gives advice to the user, unless another worker has given it.
    pub(crate) fn advise(&self, advice: Advice) {
        let mut shared = self.shared();
        let is_known = |given: &Advice| std::mem::discriminant(given) == std::mem::discriminant(&advice);
        if !shared.given.iter().any(is_known) {
            shared.given.push(advice.clone());
            shared.advice.push(advice);
        }
    }

    /// Returns the last texts of a strategy, of each worker that has some.
    pub fn recent(&self) -> Vec<Recent> {
        self.shared().recent.values().cloned().collect()
    }

    /// Returns the number of failures that were kept as they were found, as the search had to end. Another search in
    /// the folder runs them again.
    pub fn left_unfinished(&self) -> usize {
        self.shared().left_unfinished
    }

    /// Takes the entries of its folder, and of those of other searches, that were left alone since the last call.
    pub fn left_alone(&self) -> Vec<LeftAlone> {
        let mut left = self.state.view().left_alone();
        left.append(&mut self.shared().left);
        left
    }

    /// Takes the advice that was given since the last call.
    pub fn advice(&self) -> Vec<Advice> {
        std::mem::take(&mut self.shared().advice)
    }

    /// Returns what was found since the last call.
    pub fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.shared().news)
    }

    /// Writes how often failures were seen that did not happen again, and returns them.
    pub fn end_unconfirmed(&self) -> Result<Vec<Unconfirmed>, Error> {
        Ok(self.shared().doubts.end(&self.state)?)
    }

    /// Returns the other searches in a shared folder, for the first who asks.
    pub(crate) fn siblings(&self) -> Option<Siblings> {
        self.siblings.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    pub(crate) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn folders(&self) -> MutexGuard<'_, ()> {
        self.folders.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn is_over(&self) -> bool {
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
