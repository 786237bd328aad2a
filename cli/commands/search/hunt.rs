//! The state that the workers of a search share: its plan, the texts that cost most, and counts.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock};
use std::time::{Duration, Instant};

use gramjet_search::{Front, Place, SaffronSettings, State};
use gramjet_session::Language;

use super::behaviours::Behaviours;
use super::log::{self, Line};
use super::meter::{Meter, Objectives};
use super::operators::Operators;
use super::totals::{self, Totals};
use crate::cores::Cores;
use crate::failure::Failure;
use crate::stop::Stop;
use crate::subject::Surroundings;

/// Facts that a search needs to know.
pub(super) struct Plan {
    pub(super) language: Language,
    /// Language with whole repetitions, for what is said of the best text.
    pub(super) studied: Language,
    pub(super) command: Vec<OsString>,
    pub(super) surroundings: Surroundings,
    pub(super) objectives: Objectives,
    pub(super) strategy: String,
    pub(super) is_paper: bool,
    /// The settings of SAFFRON, if they are not its own.
    pub(super) saffron: Option<SaffronSettings>,
    /// Texts with new coverage are varied more than costly ones.
    pub(super) explores: bool,
    /// The texts of earlier searches in the folder are left aside.
    pub(super) is_fresh: bool,
    pub(super) max_len: usize,
    pub(super) seed: u64,
    /// Salt by which the texts of nodes of a shared folder differ.
    pub(super) salt: u64,
    pub(super) jobs: usize,
    pub(super) cores: Cores,
    pub(super) runs: u64,
    pub(super) edge_budget: u64,
    /// The time of the search, without that for the texts of earlier ones.
    pub(super) time: Option<Duration>,
    /// Texts to begin with.
    pub(super) seeds: Vec<Vec<u8>>,
}

/// A search with what its workers share.
pub(super) struct Hunt {
    pub(super) plan: Plan,
    pub(super) state: State,
    pub(super) stop: Stop,
    /// Totals of the searches that were in the folder before.
    before: Totals,
    begin: Instant,
    /// Time that it took, once it has ended.
    took: OnceLock<Duration>,
    /// The texts of earlier searches and the seeds were run, so the time of the search has begun.
    is_loaded: Once,
    shared: Apart<Mutex<Shared>>,
    /// Best texts are written in turn.
    turn: Mutex<()>,
    begun: Apart<AtomicU64>,
    pub(super) runs: Apart<AtomicU64>,
    pub(super) edges_executed: Apart<AtomicU64>,
    /// Edges that count for the budget: also those of runs that nothing was learned from yet.
    pub(super) edges_spent: Apart<AtomicU64>,
    pub(super) stopped: AtomicU64,
    pub(super) failed: AtomicU64,
    /// The runs that an exception has ended.
    pub(super) raised: AtomicU64,
    /// The first exception.
    pub(super) exception: OnceLock<String>,
    /// All texts were run.
    is_exhausted: AtomicBool,
    /// A worker has failed: it says why in what is shared.
    has_failed: Apart<AtomicBool>,
}

/// Value that is written for each text, with cache lines of its own. Otherwise a thread that makes texts and one that
/// runs them would wait for lines from each other's core.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Apart<T>(T);

impl<T> Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// If fewer runs have the same cost, that may be chance.
const MANY: u64 = 100;

/// State that changes while workers run.
pub(super) struct Shared {
    /// Texts for all workers, and the worker that found each.
    pub(super) texts: Vec<(Arc<[u8]>, usize)>,
    pub(super) best: Option<Found>,
    /// Better texts that were not printed yet.
    pub(super) news: Vec<Found>,
    /// Other notes for the user, which were not printed yet.
    notes: Vec<String>,
    /// With several costs, the texts that no other beats in all of them.
    pub(super) front: Front<Found>,
    /// The costliest text for each edge that is the hottest one of some text.
    pub(super) behaviours: Behaviours,
    /// The number of runs by the class of their cost.
    pub(super) costs: [u64; 65],
    /// Operators with the numbers of their texts.
    pub(super) operators: Operators,
    /// The least and the greatest cost of a run, however it ended.
    pub(super) range: (u64, u64),
    pub(super) edges: usize,
    pub(super) repeats: u64,
    /// Keys of failures.
    pub(super) failures: HashSet<String>,
    /// Number of failures by their key, of those of which one did not happen again.
    pub(super) doubts: HashMap<String, u64>,
    /// The texts on which the program was stopped, those in the folder included, once one was.
    pub(super) timeouts: Option<HashSet<Vec<u8>>>,
    failure: Option<Failure>,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            texts: Vec::new(),
            best: None,
            news: Vec::new(),
            notes: Vec::new(),
            front: Front::default(),
            behaviours: Behaviours::default(),
            costs: [0; 65],
            operators: Operators::default(),
            range: (u64::MAX, 0),
            edges: 0,
            repeats: 0,
            failures: HashSet::new(),
            doubts: HashMap::new(),
            timeouts: None,
            failure: None,
        }
    }
}

/// A text that costs more than all before.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) text: Vec<u8>,
    pub(super) cost: u64,
    pub(super) hottest: u64,
    pub(super) after: Duration,
    pub(super) runs: u64,
    /// Operator that made it.
    pub(super) operator: &'static str,
    /// The search that has found it, in a shared folder, as AFL++ says it.
    pub(super) source: Option<String>,
    /// File that it was written to, if it was.
    pub(super) file: Option<PathBuf>,
}

/// Progress of a search.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) elapsed: Duration,
    pub(super) runs: u64,
    pub(super) edges_executed: u64,
    pub(super) repeats: u64,
    pub(super) edges: usize,
    pub(super) stopped: u64,
    pub(super) failed: u64,
    pub(super) best: Option<Found>,
    pub(super) operators: Operators,
    pub(super) is_exhausted: bool,
}

impl Hunt {
    pub(super) fn new(plan: Plan, state: State, stop: Stop, before: Totals) -> Hunt {
        let (shared, begun, runs, edges_executed, edges_spent) = Default::default();
        let (stopped, failed, raised, is_exhausted, has_failed) = Default::default();
        let (begin, took, is_loaded, turn) = (Instant::now(), OnceLock::new(), Once::new(), Mutex::default());
        Hunt {
            plan,
            state,
            stop,
            before,
            begin,
            took,
            is_loaded,
            shared,
            turn,
            begun,
            runs,
            edges_executed,
            edges_spent,
            stopped,
            failed,
            raised,
            exception: OnceLock::new(),
            is_exhausted,
            has_failed,
        }
    }

    /// Begins the time of the search, if it has not begun.
    pub(super) fn begin_time(&self) {
        if let Some(time) = self.plan.time {
            self.is_loaded.call_once(|| self.stop.after(time));
        }
    }

    /// Ends the time of the search.
    pub(super) fn end_time(&self) {
        self.took.get_or_init(|| self.begin.elapsed());
    }

    /// Keeps a text that costs more than the best one, by its cost and the count of its hottest edge.
    pub(super) fn improve(&self, text: &[u8], (cost, hottest): (u64, u64)) -> Result<Found, Failure> {
        let mut found = Found {
            text: text.to_vec(),
            cost,
            hottest,
            after: self.elapsed(),
            runs: self.runs.load(Ordering::Relaxed),
            operator: "study",
            source: None,
            file: None,
        };
        self.keep_best(&mut found)?;
        self.shared().best = Some(found.clone());
        Ok(found)
    }

    pub(super) fn about(&self, cost: u64, operator: &str, source: Option<&str>) -> String {
        let (time, runs) = (self.elapsed().as_millis(), self.runs.load(Ordering::Relaxed));
        let source = source.map_or(String::new(), |source| format!(",{source}"));
        format!("time:{time},execs:{runs},op:{operator},cost:{cost}{source}")
    }

    /// Writes a text that costs more than all before.
    pub(super) fn keep_best(&self, found: &mut Found) -> Result<(), Failure> {
        let choices = self.choices_of(&found.text);
        let about = self.about(found.cost, found.operator, found.source.as_deref());
        found.file = Some(self.state.keep(Place::Best, &found.text, choices.as_deref(), &about)?);
        self.log(found)
    }

    /// Returns the choice bytes of a text, for `gramjet render`; `None` if it does not conform to the grammar.
    pub(super) fn choices_of(&self, text: &[u8]) -> Option<Vec<u8>> {
        let language = &self.plan.language;
        language.parse(text).ok().map(|choices| language.with_header(&choices))
    }

    /// Writes a line of the log.
    fn log(&self, found: &Found) -> Result<(), Failure> {
        let line = Line {
            seconds: found.after.as_secs_f64(),
            runs: found.runs,
            edges: self.edges_executed.load(Ordering::Relaxed),
            cost: found.cost,
            hottest: found.hottest,
            bytes: found.text.len() as u64,
            strategy: self.plan.strategy.clone(),
            operator: found.operator.to_string(),
            session: self.state.session(),
        };
        Ok(self.state.append(log::FILE, log::HEADING, &line.to_string())?)
    }

    /// Says in the log how long the search went on after its last better text.
    pub(super) fn log_end(&self) -> Result<(), Failure> {
        let runs = self.runs.load(Ordering::Relaxed);
        let best = self.shared().best.clone();
        match best {
            Some(best) if self.has_begun() => {
                self.log(&Found { after: self.elapsed(), runs, operator: log::END, ..best })
            }
            _ => Ok(()),
        }
    }

    /// Returns what all searches in the folder have done. One that has made no text is not counted.
    fn totals(&self) -> Totals {
        let mut totals = self.before.clone();
        if self.has_begun() {
            let shared = self.shared();
            let (seconds, runs) = (self.elapsed().as_secs_f64(), self.runs.load(Ordering::Relaxed));
            totals.add(seconds, runs, &shared.costs, &self.plan.strategy, &shared.operators);
        }
        totals
    }

    /// Writes what all searches in the folder have done.
    pub(super) fn write_totals(&self) -> Result<(), Failure> {
        let json = serde_json::to_vec(&self.totals()).map_err(|error| Failure::Internal(error.to_string()))?;
        self.state.write(totals::FILE, &json)?;
        Ok(())
    }

    /// Ends the search, as all texts were run.
    pub(super) fn exhaust(&self) {
        self.is_exhausted.store(true, Ordering::Relaxed);
        self.stop.after(Duration::ZERO);
    }

    /// Returns a meter with a program of its own, to run texts besides those of the search.
    pub(super) fn meter(&self) -> Result<Meter, Failure> {
        self.meter_in(self.plan.surroundings)
    }

    /// Returns a meter with a program of its own, in other surroundings than those of the search. The commands of costs
    /// have printed a number before the search began.
    pub(super) fn meter_in(&self, surroundings: Surroundings) -> Result<Meter, Failure> {
        Ok(Meter::new(&self.plan.command, surroundings, &self.plan.objectives)?.with_checked_commands())
    }

    /// Returns the time of the search, without that of the study after it.
    pub(super) fn elapsed(&self) -> Duration {
        self.took.get().copied().unwrap_or_else(|| self.begin.elapsed())
    }

    /// Returns how far it has come.
    pub(super) fn progress(&self) -> Progress {
        let shared = self.shared();
        Progress {
            elapsed: self.elapsed(),
            runs: self.runs.load(Ordering::Relaxed),
            edges_executed: self.edges_executed.load(Ordering::Relaxed),
            repeats: shared.repeats,
            edges: shared.edges,
            stopped: self.stopped.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            best: shared.best.clone(),
            operators: shared.operators.clone(),
            is_exhausted: self.is_exhausted.load(Ordering::Relaxed),
        }
    }

    /// Returns the first exception, if each run was ended by one.
    pub(super) fn only_raises(&self) -> Option<&str> {
        let has_only = self.raised.load(Ordering::Relaxed) == self.runs.load(Ordering::Relaxed);
        self.exception.get().filter(|_| has_only).map(String::as_str)
    }

    /// Returns the cost of all runs, if it is the same, and there were many.
    pub(super) fn only_cost(&self) -> Option<u64> {
        let (least, most) = self.shared().range;
        (least == most && self.runs.load(Ordering::Relaxed) >= MANY).then_some(least)
    }

    /// Returns the better texts since the last call.
    pub(super) fn news(&self) -> Vec<Found> {
        std::mem::take(&mut self.shared().news)
    }

    /// Tells the user something, once the thread that prints looks.
    pub(super) fn note(&self, note: String) {
        self.shared().notes.push(note);
    }

    /// Returns what the user is to know since the last call.
    pub(super) fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.shared().notes)
    }

    /// Returns the texts that no other beats in all costs, those that cost most by the first measure first.
    pub(super) fn front(&self) -> Vec<(Vec<u64>, Found)> {
        let shared = self.shared();
        let mut front: Vec<_> = shared.front.members().map(|(costs, found)| (costs.to_vec(), found.clone())).collect();
        front.sort_by(|one, other| other.0.cmp(&one.0));
        front
    }

    /// Returns texts that differ in the edge that they execute most, the one that costs most first.
    pub(super) fn behaviours(&self) -> Vec<Vec<u8>> {
        self.shared().behaviours.costliest()
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits for the turn of this thread to say that a text is the best one, and to write it.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns true if it has made a text. One with `-n 0` makes none.
    fn has_begun(&self) -> bool {
        self.plan.runs > 0 && self.begun.load(Ordering::Relaxed) > 0
    }

    /// Returns true if another text may be run, which is counted then.
    pub(super) fn may_begin(&self) -> bool {
        !self.is_over() && self.begun.fetch_add(1, Ordering::Relaxed) < self.plan.runs
    }

    /// Returns true if no worker begins a text any more, or soon none does.
    pub(super) fn is_ending(&self) -> bool {
        self.is_over() || self.took.get().is_some() || self.begun.load(Ordering::Relaxed) >= self.plan.runs
    }

    pub(super) fn is_over(&self) -> bool {
        let has_budget = self.plan.edge_budget < u64::MAX;
        let is_used_up = has_budget && self.edges_spent.load(Ordering::Relaxed) >= self.plan.edge_budget;
        is_used_up || self.stop.is_requested() || self.has_failed.load(Ordering::Relaxed)
    }

    /// Ends the search because a worker has failed. The first failure is the one that is reported.
    pub(super) fn fail(&self, failure: Failure) {
        self.shared().failure.get_or_insert(failure);
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Returns the error by which the search has failed, if it has.
    pub(super) fn result(&self) -> Result<(), Failure> {
        self.shared().failure.take().map_or(Ok(()), Err)
    }
}
