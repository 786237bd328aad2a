//! The state that the workers of a search share: its plan, the texts that cost most, and counts.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use crate::state::{Place, State};
use gramjet_search::{Front, STRATEGIES, Seed};
use gramjet_session::Language;

use super::behaviours::Behaviours;
use super::log::{self, Line};
use super::meter::{Meter, Objectives};
use super::note::Note;
use super::operators::Operators;
use super::own::StrategyKind;
use super::survey::Surveyed;
use super::totals::{self, Totals};
use crate::cores::Cores;
use crate::error::Error;
use crate::stop::Stop;
use crate::subject::Surroundings;

/// Facts that a search needs to know.
pub struct Plan {
    /// Language that texts are of, with the limits on what is made.
    pub language: Language,
    /// Language with whole repetitions, for what is said of the best text.
    pub studied: Language,
    /// Words of the program under test; `@@` stands for the input.
    pub command: Vec<OsString>,
    /// Limits and confinement of the program.
    pub surroundings: Surroundings,
    /// Costs that are maximised.
    pub objectives: Objectives,
    /// Strategy that makes texts.
    pub strategy: StrategyKind,
    /// Texts with new coverage are varied more than costly ones.
    pub explores: bool,
    /// The texts of earlier searches in the folder are left aside.
    pub is_fresh: bool,
    /// Greatest length of a text, in bytes.
    pub max_len: usize,
    /// Seed that the choices depend on.
    pub seed: Seed,
    /// Number of workers.
    pub jobs: usize,
    /// Cores of the workers.
    pub cores: Cores,
    /// Greatest number of runs.
    pub runs: u64,
    /// Number of executed edges, in all runs, at which the search ends.
    pub edge_budget: u64,
    /// Time at which the search ends, if it has one. Runs that are still in hand a moment later are ended.
    pub end: Option<Instant>,
    /// Texts to begin with.
    pub seeds: Vec<Vec<u8>>,
}

impl Plan {
    /// Returns the plan of a search for the texts of at most `max_len` bytes that cost a program most: by the usual
    /// strategy, on one core, without an end.
    pub fn new(language: Language, command: Vec<OsString>, objectives: Objectives, max_len: usize) -> Plan {
        Plan {
            studied: language.clone(),
            language,
            command,
            surroundings: Surroundings::default(),
            objectives,
            strategy: StrategyKind::of(&STRATEGIES[0], false),
            explores: false,
            is_fresh: false,
            max_len,
            seed: Seed::default(),
            jobs: 1,
            cores: Cores::any(1),
            runs: u64::MAX,
            edge_budget: u64::MAX,
            end: None,
            seeds: Vec::new(),
        }
    }
}

/// A search with what its workers share.
pub struct Hunt {
    /// Plan that it follows.
    pub plan: Plan,
    /// Folder that it writes to.
    pub state: State,
    /// Request to end it.
    pub stop: Stop,
    /// Totals of the searches that were in the folder before.
    before: Totals,
    begin: Instant,
    /// Time that it took, once it has ended.
    took: OnceLock<Duration>,
    shared: Apart<Mutex<Shared>>,
    /// Best texts are written in turn.
    turn: Mutex<()>,
    begun: Apart<AtomicU64>,
    pub(crate) runs: Apart<AtomicU64>,
    pub(crate) edges_executed: Apart<AtomicU64>,
    /// Edges that count for the budget: also those of runs that nothing was learned from yet.
    pub(crate) edges_spent: Apart<AtomicU64>,
    pub(crate) stopped: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// The runs that an exception has ended.
    pub(crate) raised: AtomicU64,
    /// The first exception.
    pub(crate) exception: OnceLock<String>,
    /// Numbers that say how far the survey of long texts has looked, once it was made.
    surveyed: OnceLock<Surveyed>,
    /// All texts were run.
    is_exhausted: AtomicBool,
    /// A worker has failed: it says why in what is shared.
    has_failed: Apart<AtomicBool>,
}

/// Value that is written for each text, with cache lines of its own. Otherwise a thread that makes texts and one that
/// runs them would wait for lines from each other's core.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(T);

impl<T> Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// If fewer runs have the same cost, that may be chance.
const MANY: u64 = 100;

/// State that changes while workers run.
pub(crate) struct Shared {
    /// Texts for all workers, and the worker that found each.
    pub(crate) texts: Vec<(Arc<[u8]>, usize)>,
    pub(crate) best: Option<Found>,
    /// Better texts that were not printed yet.
    pub(crate) news: Vec<Found>,
    /// Notes that the user was not told yet.
    notes: Vec<Note>,
    /// With several costs, the texts that no other beats in all of them.
    pub(crate) front: Front<Found>,
    /// The costliest text for each edge that is the hottest one of some text.
    pub(crate) behaviours: Behaviours,
    /// The number of runs by the class of their cost.
    pub(crate) costs: [u64; 65],
    /// Operators with the numbers of their texts.
    pub(crate) operators: Operators,
    /// The least and the greatest cost of a run, however it ended.
    pub(crate) range: (u64, u64),
    pub(crate) edges: usize,
    pub(crate) repeats: u64,
    /// Keys of failures.
    pub(crate) failures: HashSet<String>,
    /// Number of failures by their key, of those of which one did not happen again.
    pub(crate) doubts: HashMap<String, u64>,
    /// The texts on which the program was stopped, those in the folder included, once one was.
    pub(crate) timeouts: Option<HashSet<Vec<u8>>>,
    failure: Option<Error>,
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
pub struct Found {
    /// Bytes of the text.
    pub text: Vec<u8>,
    /// Cost by the first objective.
    pub cost: u64,
    /// Count of the edge that it executes most.
    pub hottest: u64,
    /// Time of the search when it was found.
    pub after: Duration,
    /// Number of runs until then.
    pub runs: u64,
    /// Operator that made it.
    pub operator: &'static str,
    /// The search that has found it, in a shared folder, as AFL++ says it.
    pub source: Option<String>,
    /// File that it was written to, if it was.
    pub file: Option<PathBuf>,
}

/// Progress of a search.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Time of the search, without that of its study.
    pub elapsed: Duration,
    /// Number of runs.
    pub runs: u64,
    /// Number of edges that all runs have executed, each counted as often as it was executed.
    pub edges_executed: u64,
    /// Number of texts that were made once more, and not run.
    pub repeats: u64,
    /// Number of different edges.
    pub edges: usize,
    /// Number of runs that a limit has stopped.
    pub stopped: u64,
    /// Number of runs that failed.
    pub failed: u64,
    /// Text that costs most, if one has ended by itself.
    pub best: Option<Found>,
    /// Texts that each operator has made.
    pub operators: Operators,
    /// Whether all texts of the language were run.
    pub is_exhausted: bool,
}

impl Hunt {
    pub(crate) fn new(plan: Plan, state: State, stop: Stop, before: Totals) -> Hunt {
        let (shared, begun, runs, edges_executed, edges_spent) = Default::default();
        let (stopped, failed, raised, is_exhausted, has_failed) = Default::default();
        let (begin, took, turn) = (Instant::now(), OnceLock::new(), Mutex::default());
        Hunt {
            plan,
            state,
            stop,
            before,
            begin,
            took,
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
            surveyed: OnceLock::new(),
            is_exhausted,
            has_failed,
        }
    }

    /// Ends the time of the search.
    pub(crate) fn end_time(&self) {
        self.took.get_or_init(|| self.begin.elapsed());
    }

    /// Keeps a text that costs more than the best one, by its cost and the count of its hottest edge.
    pub(crate) fn improve(&self, text: &[u8], (cost, hottest): (u64, u64)) -> Result<Found, Error> {
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

    pub(crate) fn about(&self, cost: u64, operator: &str, source: Option<&str>) -> String {
        let (time, runs) = (self.elapsed().as_millis(), self.runs.load(Ordering::Relaxed));
        let source = source.map_or(String::new(), |source| format!(",{source}"));
        format!("time:{time},execs:{runs},op:{operator},cost:{cost}{source}")
    }

    /// Writes a text that costs more than all before.
    pub(crate) fn keep_best(&self, found: &mut Found) -> Result<(), Error> {
        let choices = self.choices_of(&found.text);
        let about = self.about(found.cost, found.operator, found.source.as_deref());
        found.file = Some(self.state.keep(Place::Best, &found.text, choices.as_deref(), &about)?);
        self.log(found)
    }

    /// Returns the choice bytes of a text, for `gramjet render`; `None` if it does not conform to the grammar.
    pub(crate) fn choices_of(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.plan.language.choices_beside(text)
    }

    /// Writes a line of the log.
    fn log(&self, found: &Found) -> Result<(), Error> {
        let line = Line {
            seconds: found.after.as_secs_f64(),
            runs: found.runs,
            edges: self.edges_executed.load(Ordering::Relaxed),
            cost: found.cost,
            hottest: found.hottest,
            bytes: found.text.len() as u64,
            strategy: self.plan.strategy.name().to_string(),
            operator: found.operator.to_string(),
            session: self.state.session(),
        };
        Ok(self.state.append(log::FILE, log::HEADING, &line.to_string())?)
    }

    /// Says in the log how long the search went on after its last better text.
    pub(crate) fn log_end(&self) -> Result<(), Error> {
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
            totals.add(seconds, runs, &shared.costs, self.plan.strategy.name(), &shared.operators);
        }
        totals
    }

    /// Writes what all searches in the folder have done.
    pub fn write_totals(&self) -> Result<(), Error> {
        let json = serde_json::to_vec(&self.totals()).map_err(|error| Error::Internal(error.to_string()))?;
        self.state.write(totals::FILE, &json)?;
        Ok(())
    }

    /// Takes note of how far the survey of long texts has looked.
    pub(super) fn note_survey(&self, surveyed: Surveyed) {
        self.surveyed.get_or_init(|| surveyed);
    }

    /// Returns how far the survey of long texts has looked, if it was made.
    pub fn surveyed(&self) -> Option<Surveyed> {
        self.surveyed.get().copied()
    }

    /// Ends the search, as all texts were run.
    pub(crate) fn exhaust(&self) {
        self.is_exhausted.store(true, Ordering::Relaxed);
        self.stop.after(Duration::ZERO);
    }

    /// Returns a meter with a program of its own, to run texts besides those of the search.
    pub fn meter(&self) -> Result<Meter, Error> {
        self.meter_in(self.plan.surroundings)
    }

    /// Returns a meter with a program of its own, in other surroundings than those of the search. The commands of costs
    /// have printed a number before the search began.
    pub(crate) fn meter_in(&self, surroundings: Surroundings) -> Result<Meter, Error> {
        Ok(Meter::new(&self.plan.command, surroundings, &self.plan.objectives)?.with_checked_commands())
    }

    /// Returns the time of the search, without that of the study after it.
    pub fn elapsed(&self) -> Duration {
        self.took.get().copied().unwrap_or_else(|| self.begin.elapsed())
    }

    /// Returns how far it has come.
    pub fn progress(&self) -> Progress {
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
    pub fn only_raises(&self) -> Option<&str> {
        let has_only = self.raised.load(Ordering::Relaxed) == self.runs.load(Ordering::Relaxed);
        self.exception.get().filter(|_| has_only).map(String::as_str)
    }

    /// Returns the cost of all runs, if it is the same, and there were many.
    pub fn only_cost(&self) -> Option<u64> {
        let (least, most) = self.shared().range;
        (least == most && self.runs.load(Ordering::Relaxed) >= MANY).then_some(least)
    }

    /// Returns the better texts since the last call.
    pub fn news(&self) -> Vec<Found> {
        std::mem::take(&mut self.shared().news)
    }

    /// Tells the user something, once the thread that prints looks.
    pub(crate) fn note(&self, note: Note) {
        self.shared().notes.push(note);
    }

    /// Takes the notes since the last call.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = std::mem::take(&mut self.shared().notes);
        notes.extend(self.state.view().left_alone().into_iter().map(Note::LeftAlone));
        notes
    }

    /// Returns the texts that no other beats in all costs, those that cost most by the first measure first.
    pub fn front(&self) -> Vec<(Vec<u64>, Found)> {
        let shared = self.shared();
        let mut front: Vec<_> = shared.front.members().map(|(costs, found)| (costs.to_vec(), found.clone())).collect();
        front.sort_by(|one, other| other.0.cmp(&one.0));
        front
    }

    /// Returns texts that differ in the edge that they execute most, the one that costs most first.
    pub fn behaviours(&self) -> Vec<Vec<u8>> {
        self.shared().behaviours.costliest()
    }

    pub(crate) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits for the turn of this thread to say that a text is the best one, and to write it.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns true if it has made a text. One with `-n 0` makes none.
    fn has_begun(&self) -> bool {
        self.plan.runs > 0 && self.begun.load(Ordering::Relaxed) > 0
    }

    /// Returns true if another text may be run, which is counted then.
    pub(crate) fn may_begin(&self) -> bool {
        !self.is_over() && self.begun.fetch_add(1, Ordering::Relaxed) < self.plan.runs
    }

    /// Returns true if no worker begins a text any more, or soon none does.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_over() || self.took.get().is_some() || self.begun.load(Ordering::Relaxed) >= self.plan.runs
    }

    pub(crate) fn is_over(&self) -> bool {
        let has_budget = self.plan.edge_budget < u64::MAX;
        let is_used_up = has_budget && self.edges_spent.load(Ordering::Relaxed) >= self.plan.edge_budget;
        is_used_up || self.stop.is_requested() || self.has_failed.load(Ordering::Relaxed)
    }

    /// Ends the search because a worker has failed. The first failure is the one that is reported.
    pub(crate) fn fail(&self, failure: Error) {
        self.shared().failure.get_or_insert(failure);
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Returns the error by which the search has failed, if it has.
    pub(crate) fn result(&self) -> Result<(), Error> {
        self.shared().failure.take().map_or(Ok(()), Err)
    }
}
