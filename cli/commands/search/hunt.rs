//! The search itself: workers that run texts and share those that cost most.

use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use gramjet_harness::Outcome;
use gramjet_search::{Coverage, Ending, Gain, Place, Search, State};
use gramjet_session::Language;
use gramjet_session::decisions::{Derivation, Fit};

use super::meter::{Meter, Objective, Reading};
use crate::cores::Cores;
use crate::failure::Failure;
use crate::stop::Stop;
use crate::subject::Surroundings;

/// What a search needs to know.
pub(super) struct Plan {
    pub(super) language: Language,
    pub(super) command: Vec<OsString>,
    pub(super) surroundings: Surroundings,
    pub(super) objective: Objective,
    pub(super) strategy: String,
    pub(super) is_paper: bool,
    pub(super) max_len: usize,
    pub(super) seed: u64,
    pub(super) jobs: usize,
    pub(super) cores: Cores,
    pub(super) runs: u64,
    pub(super) edge_budget: u64,
    /// Texts to begin with.
    pub(super) seeds: Vec<Vec<u8>>,
}

/// A search with what its workers share.
pub(super) struct Hunt {
    pub(super) plan: Plan,
    pub(super) state: State,
    pub(super) stop: Stop,
    begin: Instant,
    shared: Mutex<Shared>,
    /// Workers that run.
    active: AtomicUsize,
    begun: AtomicU64,
    runs: AtomicU64,
    edges_executed: AtomicU64,
    stopped: AtomicU64,
    failed: AtomicU64,
}

struct Shared {
    /// Texts for all workers, and the worker that found each.
    texts: Vec<(Arc<[u8]>, usize)>,
    best: Option<Found>,
    /// Better texts that were not printed yet.
    news: Vec<Found>,
    /// All texts that were the best for a while.
    history: Vec<Found>,
    /// How many runs had a cost of so many bits.
    costs: [u64; 65],
    edges: usize,
    repeats: u64,
    /// Keys of failures, and how many texts that timed out were kept.
    failures: HashSet<String>,
    timeouts: usize,
    failure: Option<Failure>,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            texts: Vec::new(),
            best: None,
            news: Vec::new(),
            history: Vec::new(),
            costs: [0; 65],
            edges: 0,
            repeats: 0,
            failures: HashSet::new(),
            timeouts: 0,
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
    /// What made it.
    pub(super) operator: &'static str,
}

/// How far a search has come.
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
}

/// At most this many texts that time out are kept.
const TIMEOUTS: usize = 100;
/// The heading of the log.
const LOG: &str = "seconds,runs,edges,cost,hottest,bytes,strategy,operator";

impl Hunt {
    pub(super) fn new(plan: Plan, state: State, stop: Stop) -> Hunt {
        let active = AtomicUsize::new(plan.jobs);
        let (shared, begun, runs, edges_executed, stopped, failed) = Default::default();
        let begin = Instant::now();
        Hunt { plan, state, stop, begin, shared, active, begun, runs, edges_executed, stopped, failed }
    }

    /// Runs until it is stopped, or the budget is used up. `look` is called now and then, from this thread.
    pub(super) fn run(&self, meter: Meter, mut look: impl FnMut(&Hunt)) -> Result<(), Failure> {
        let mut first = Some(meter);
        std::thread::scope(|scope| {
            for number in 0..self.plan.jobs {
                let meter = first.take();
                scope.spawn(move || {
                    // A worker that panics is no longer active.
                    let _active = Active(self);
                    if let Err(failure) = self.work(number, meter) {
                        self.shared().failure.get_or_insert(failure);
                    }
                });
            }
            while self.active.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(Duration::from_millis(20));
                look(self);
            }
        });
        look(self);
        self.shared().failure.take().map_or(Ok(()), Err)
    }

    /// Keeps a text that costs more than the best one.
    pub(super) fn improve(&self, text: Vec<u8>, meter: &mut Meter) -> Result<Found, Failure> {
        let measured = meter.read(&text)?.measured;
        let found = Found {
            text,
            cost: measured.cost,
            hottest: measured.hottest,
            after: self.begin.elapsed(),
            runs: self.runs.load(Ordering::Relaxed),
            operator: "study",
        };
        self.keep_best(&found)?;
        let mut shared = self.shared();
        shared.best = Some(found.clone());
        shared.history.push(found.clone());
        Ok(found)
    }

    fn about(&self, cost: u64, operator: &str) -> String {
        let (time, runs) = (self.begin.elapsed().as_millis(), self.runs.load(Ordering::Relaxed));
        format!("time:{time},execs:{runs},op:{operator},cost:{cost}")
    }

    /// Writes a text that costs more than all before.
    fn keep_best(&self, found: &Found) -> Result<(), Failure> {
        let language = &self.plan.language;
        let choices = language.parse(&found.text).ok().map(|choices| language.with_header(&choices));
        let about = self.about(found.cost, found.operator);
        self.state.keep(Place::Best, &found.text, choices.as_deref(), &about)?;
        let line = format!(
            "{:.3},{},{},{},{},{},{},{}",
            found.after.as_secs_f64(),
            found.runs,
            self.edges_executed.load(Ordering::Relaxed),
            found.cost,
            found.hottest,
            found.text.len(),
            self.plan.strategy,
            found.operator,
        );
        Ok(self.state.append("log.csv", LOG, &line)?)
    }

    /// A program of its own, to run texts besides those of the search.
    pub(super) fn meter(&self) -> Result<Meter, Failure> {
        let Plan { command, surroundings, objective, .. } = &self.plan;
        Meter::new(command, *surroundings, objective)
    }

    /// How far it has come.
    pub(super) fn progress(&self) -> Progress {
        let shared = self.shared();
        Progress {
            elapsed: self.begin.elapsed(),
            runs: self.runs.load(Ordering::Relaxed),
            edges_executed: self.edges_executed.load(Ordering::Relaxed),
            repeats: shared.repeats,
            edges: shared.edges,
            stopped: self.stopped.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            best: shared.best.clone(),
        }
    }

    /// Better texts since the last call.
    pub(super) fn news(&self) -> Vec<Found> {
        std::mem::take(&mut self.shared().news)
    }

    /// All texts that were the best for a while, in the order in which they were found.
    pub(super) fn history(&self) -> Vec<Found> {
        self.shared().history.clone()
    }

    /// How many runs had which cost: the least and the greatest cost of each class, and their number.
    pub(super) fn costs(&self) -> Vec<(u64, u64, u64)> {
        let costs = self.shared().costs;
        let class = |bits: usize| match bits {
            0 => (0, 0),
            _ => (1 << (bits - 1), u64::MAX >> (64 - bits)),
        };
        let classes = costs.iter().enumerate().map(|(bits, &runs)| (class(bits).0, class(bits).1, runs));
        let first = costs.iter().position(|&runs| runs > 0).unwrap_or(0);
        let last = costs.iter().rposition(|&runs| runs > 0).map_or(0, |last| last + 1);
        classes.take(last).skip(first).collect()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn is_over(&self) -> bool {
        let is_used_up = self.edges_executed.load(Ordering::Relaxed) >= self.plan.edge_budget;
        is_used_up || self.stop.is_requested() || self.shared().failure.is_some()
    }

    fn work(&self, number: usize, meter: Option<Meter>) -> Result<(), Failure> {
        let plan = &self.plan;
        let surroundings = plan.surroundings.on(plan.cores.of(number));
        let meter = match meter {
            Some(meter) => meter,
            None => Meter::new(&plan.command, surroundings, &plan.objective)?,
        };
        meter.tested.stay_beside(surroundings);
        let mut worker = Worker::new(self, number, meter)?;
        worker.begin()?;
        while !self.is_over() && self.begun.fetch_add(1, Ordering::Relaxed) < plan.runs {
            worker.import()?;
            worker.step()?;
        }
        Ok(())
    }
}

/// Counts a worker as active while it lives.
struct Active<'h>(&'h Hunt);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One of the threads, with a program and a search of its own.
struct Worker<'h> {
    hunt: &'h Hunt,
    number: usize,
    meter: Meter,
    search: Search,
    /// How many of the shared texts it has looked at.
    imported: usize,
    told_repeats: u64,
    candidate: Derivation,
}

impl<'h> Worker<'h> {
    fn new(hunt: &'h Hunt, number: usize, meter: Meter) -> Result<Worker<'h>, Failure> {
        let plan = &hunt.plan;
        let strategy = gramjet_search::by_name(&plan.strategy, plan.is_paper)
            .ok_or_else(|| Failure::Internal(format!("the strategy `{}` is missing", plan.strategy)))?;
        // A search that goes on does not begin with the same texts again.
        let seed = plan.seed.wrapping_add(number as u64).wrapping_add(hunt.state.session() << 32);
        let search = Search::new(&plan.language, strategy, plan.max_len, seed).ok_or_else(|| {
            Failure::Usage(format!("every text of the grammar is longer than {} bytes", plan.max_len))
        })?;
        let candidate = Derivation::default();
        Ok(Worker { hunt, number, meter, search, imported: 0, told_repeats: 0, candidate })
    }

    /// Measures the empty text, and runs the texts of earlier searches and the seeds.
    fn begin(&mut self) -> Result<(), Failure> {
        let empty = self.meter.read(b"")?.measured.cost;
        self.search.set_empty_cost(empty);
        for place in [Place::Queue, Place::Best] {
            for text in self.hunt.state.texts(place)? {
                self.adopt(&text, false)?;
            }
        }
        for text in &self.hunt.plan.seeds {
            self.adopt(text, true)?;
        }
        Ok(())
    }

    /// Runs the next text.
    fn step(&mut self) -> Result<(), Failure> {
        self.search.propose().clone_into(&mut self.candidate);
        let candidate = std::mem::take(&mut self.candidate);
        let Reading { measured, outcome } = self.meter.read(&candidate.text)?;
        let gain = self.search.observe(&measured);
        let (cost, hottest, ending) = (measured.cost, measured.hottest, measured.ending);
        let executed = measured.edges.iter().map(|edge| edge.1).sum();
        self.hunt.edges_executed.fetch_add(executed, Ordering::Relaxed);
        self.hunt.runs.fetch_add(1, Ordering::Relaxed);
        let operator = self.search.strategy().operator();
        self.hunt.shared().costs[(u64::BITS - cost.leading_zeros()) as usize] += 1;
        self.settle(&candidate.text, (cost, hottest, ending), &outcome, gain, Some(operator))?;
        self.candidate = candidate;
        Ok(())
    }

    /// Runs a text from elsewhere.
    fn adopt(&mut self, text: &[u8], is_seed: bool) -> Result<(), Failure> {
        if text.len() > self.hunt.plan.max_len || self.hunt.is_over() {
            return Ok(());
        }
        let Some(derivation) = self.derive(text) else { return Ok(()) };
        let Reading { measured, outcome } = self.meter.read(text)?;
        let gain = self.search.adopt(&derivation, &measured);
        let (cost, hottest, ending) = (measured.cost, measured.hottest, measured.ending);
        // What was found before is kept already.
        let operator = is_seed.then_some("seed");
        self.settle(text, (cost, hottest, ending), &outcome, gain, operator)
    }

    /// The derivation of a text, under the limit on length. Texts that do not conform are of use to searches that
    /// change bytes alone.
    fn derive(&mut self, text: &[u8]) -> Option<Derivation> {
        let plan = &self.hunt.plan;
        let Ok(choices) = plan.language.parse(text) else {
            let changes_bytes = plan.strategy == "bytes";
            return changes_bytes.then(|| Derivation { text: text.to_vec(), ..Derivation::default() });
        };
        let deriver = &mut self.search.desk().deriver;
        let (mut free, mut bounded) = (Derivation::default(), Derivation::default());
        deriver.decode(&choices, &mut free);
        let options: Vec<u32> = free.options().collect();
        (deriver.replay(&options, &mut bounded) == Fit::Exact).then_some(bounded)
    }

    /// Keeps a text that is worth it; one that was not made here is not written again.
    fn settle(
        &mut self,
        text: &[u8],
        (cost, hottest, ending): (u64, u64, Ending),
        outcome: &Outcome,
        gain: Gain,
        operator: Option<&'static str>,
    ) -> Result<(), Failure> {
        let hunt = self.hunt;
        match ending {
            Ending::Done => {}
            Ending::Stopped => {
                hunt.stopped.fetch_add(1, Ordering::Relaxed);
                return operator.map_or(Ok(()), |operator| self.keep_timeout(text, cost, operator));
            }
            Ending::Failed => {
                hunt.failed.fetch_add(1, Ordering::Relaxed);
                return self.keep_failure(text, outcome);
            }
        }
        let is_new = gain.novelty.coverage > Coverage::Known;
        if !gain.is_best && !is_new {
            return Ok(());
        }
        if let Some(operator) = operator.filter(|_| is_new) {
            hunt.state.keep(Place::Queue, text, None, &hunt.about(cost, operator))?;
        }
        let mut shared = hunt.shared();
        shared.texts.push((text.into(), self.number));
        shared.edges = shared.edges.max(self.search.maxima().edges());
        shared.repeats += self.search.repeats() - self.told_repeats;
        self.told_repeats = self.search.repeats();
        let is_best = gain.is_best
            && shared
                .best
                .as_ref()
                .is_none_or(|best| best.cost < cost || best.cost == cost && text.len() < best.text.len());
        if !is_best {
            return Ok(());
        }
        let found = Found {
            text: text.to_vec(),
            cost,
            hottest,
            after: hunt.begin.elapsed(),
            runs: hunt.runs.load(Ordering::Relaxed),
            operator: operator.unwrap_or("before"),
        };
        shared.best = Some(found.clone());
        if operator.is_some() {
            hunt.keep_best(&found)?;
        }
        shared.history.push(found.clone());
        shared.news.push(found);
        Ok(())
    }

    fn keep_timeout(&mut self, text: &[u8], cost: u64, operator: &str) -> Result<(), Failure> {
        let mut shared = self.hunt.shared();
        shared.timeouts += 1;
        if shared.timeouts <= TIMEOUTS {
            self.hunt.state.keep(Place::Timeouts, text, None, &self.hunt.about(cost, operator))?;
        }
        Ok(())
    }

    /// Keeps one text for each way to fail. `gramjet fuzz` tells failures apart.
    fn keep_failure(&mut self, text: &[u8], outcome: &Outcome) -> Result<(), Failure> {
        let words = outcome.to_string();
        let key: String = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let mut shared = self.hunt.shared();
        let is_new = shared.failures.insert(key.clone()) && !self.hunt.state.failures()?.contains(&key);
        if is_new {
            self.hunt.state.fail(&key, &[("input", text.to_vec()), ("outcome", format!("{words}\n").into_bytes())])?;
        }
        Ok(())
    }

    /// Runs what others have found.
    fn import(&mut self) -> Result<(), Failure> {
        loop {
            let next = self.hunt.shared().texts.get(self.imported).cloned();
            let Some((text, finder)) = next else { return Ok(()) };
            self.imported += 1;
            if finder != self.number {
                self.adopt(&text, false)?;
            }
        }
    }
}
