//! The search itself: workers that run texts and share what they find.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use gramjet_harness::{Coverage, Outcome, Target};
use gramjet_search::{Place, State};
use gramjet_session::Language;

use super::evidence::{Again, Evidence};
use super::exceptions::Exceptions;
use super::finding::{Call, Finding};
use super::maker::{Maker, Making, Yields, no_yields};
use super::recent::Recent;
use super::verdict::{Judge, Rules, Verdict};
use crate::cores::Cores;
use crate::failure::Failure;
use crate::stop::Stop;
use crate::subject::{Surroundings, Tested};

/// What a search needs to know.
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
    pub(super) begin: Instant,
    shared: Mutex<Shared>,
    /// Workers that run.
    active: AtomicUsize,
    begun: AtomicU64,
    pub(super) runs: AtomicU64,
    valid: AtomicU64,
    failing: AtomicU64,
}

#[derive(Default)]
pub(super) struct Shared {
    /// Texts that did something new, and the worker that found each.
    texts: Vec<(Arc<[u8]>, usize)>,
    /// Keys of failures.
    pub(super) keys: HashSet<String>,
    /// Edges of the failures that were made smaller, by key, where nothing but edges tells failures apart.
    pub(super) bare: HashMap<String, HashSet<u64>>,
    /// How many failures of each kind were looked at.
    pub(super) looked: HashMap<String, usize>,
    /// How many of them were made smaller a second time.
    pub(super) repeated: HashMap<String, usize>,
    /// Lines for the user that were not printed yet.
    pub(super) news: Vec<News>,
    edges: usize,
    yields: Yields,
    exceptions: Exceptions,
    /// The last texts of a strategy, by worker.
    pub(super) recent: BTreeMap<usize, Recent>,
    /// What the log says last: the numbers of edges and of failures.
    logged: (usize, usize),
    failure: Option<Failure>,
}

/// What the user is to hear.
pub(super) struct News {
    pub(super) finding: Finding,
    pub(super) place: std::path::PathBuf,
}

/// How far a search has come.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) elapsed: Duration,
    pub(super) runs: u64,
    /// Runs that ended with exit status 0, or returned.
    pub(super) valid: u64,
    /// Runs that failed.
    pub(super) failing: u64,
    /// Texts that did something new.
    pub(super) texts: usize,
    /// Edges that were executed, also by runs that failed; 0 if the program counts none.
    pub(super) edges: usize,
    /// Failures that are told apart, those of earlier runs on the folder included.
    pub(super) failures: usize,
    /// For each operator how many texts it has made, and how many of them did something new.
    pub(super) yields: Yields,
    /// The number of classes of exceptions, and of those that are not expected.
    pub(super) exceptions: (usize, usize),
}

/// The log has coverage over time.
const LOG: (&str, &str) = ("log.csv", "seconds,runs,edges,texts,failing,failures,exceptions");

impl Campaign {
    pub(super) fn new(plan: Plan, state: State, stop: Stop) -> Result<Campaign, Failure> {
        let keys = state.failures()?.into_iter().collect();
        let active = AtomicUsize::new(plan.jobs);
        let (yields, exceptions) = (no_yields(plan.making), Exceptions::of(&plan.call.command));
        let shared = Mutex::new(Shared { keys, yields, exceptions, ..Shared::default() });
        let (begun, runs, valid, failing) = Default::default();
        Ok(Campaign { plan, state, stop, begin: Instant::now(), shared, active, begun, runs, valid, failing })
    }

    /// Runs until it is stopped, or all runs are done. `look` is called now and then, from this thread.
    pub(super) fn run(&self, mut look: impl FnMut(&Campaign)) -> Result<(), Failure> {
        std::thread::scope(|scope| {
            for number in 0..self.plan.jobs {
                scope.spawn(move || {
                    // A worker that panics is no longer active.
                    let _active = Active(self);
                    if let Err(failure) = self.work(number) {
                        self.shared().failure.get_or_insert(failure);
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

    /// How far it has come.
    pub(super) fn progress(&self) -> Progress {
        let shared = self.shared();
        Progress {
            elapsed: self.begin.elapsed(),
            runs: self.runs.load(Ordering::Relaxed),
            valid: self.valid.load(Ordering::Relaxed),
            failing: self.failing.load(Ordering::Relaxed),
            texts: shared.texts.len(),
            edges: shared.edges,
            failures: shared.keys.len(),
            yields: shared.yields.clone(),
            exceptions: shared.exceptions.counts(),
        }
    }

    /// What was found since the last call.
    pub(super) fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.shared().news)
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn is_over(&self) -> bool {
        self.stop.is_requested() || self.shared().failure.is_some()
    }

    fn work(&self, number: usize) -> Result<(), Failure> {
        let mut worker = Worker::new(self, number)?;
        let kept = self.state.texts(Place::Queue)?;
        for text in &kept {
            worker.add(text, false)?;
        }
        let kept: HashSet<&Vec<u8>> = kept.iter().collect();
        for text in self.plan.seeds.iter().filter(|text| !kept.contains(text)) {
            worker.add(text, true)?;
        }
        // What other workers find from now on is no sample.
        worker.maker.begin();
        while !self.is_over() && self.begun.fetch_add(1, Ordering::Relaxed) < self.plan.runs {
            worker.import()?;
            worker.step()?;
            worker.tell_recent(false);
        }
        worker.tell_yields();
        worker.tell_recent(true);
        Ok(())
    }
}

/// Counts a worker as active while it lives.
struct Active<'c>(&'c Campaign);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One of the threads, with a program of its own.
pub(super) struct Worker<'c> {
    pub(super) campaign: &'c Campaign,
    number: usize,
    pub(super) tested: Tested,
    pub(super) judge: Judge,
    pub(super) maker: Maker,
    pub(super) coverage: Coverage,
    /// The same with the runs that failed.
    executed: Coverage,
    behaviours: HashSet<u64>,
    /// How many of the shared texts it has looked at.
    imported: usize,
    /// What its operators had made when that was said last.
    told: Yields,
}

/// What a text did to the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Something new.
    New,
    /// Nothing new.
    Known,
    /// The program failed.
    Fails,
}

/// A run as the search sees it.
struct Seen {
    verdict: Verdict,
    /// It did something that no run before has done.
    is_new: bool,
    /// What a run that failed did.
    evidence: Option<Evidence>,
}

impl<'c> Worker<'c> {
    fn new(campaign: &'c Campaign, number: usize) -> Result<Worker<'c>, Failure> {
        let Plan { language, rules, surroundings, call, making, max_len, seed, cores, .. } = &campaign.plan;
        let surroundings = surroundings.on(cores.of(number));
        let tested = Tested::new(&call.command, surroundings)?;
        let judge = Judge::new(rules, surroundings)?;
        tested.stay_beside(surroundings);
        // A search that goes on does not begin with the same texts again.
        let seed = seed.wrapping_add(number as u64).wrapping_add(campaign.state.session() << 32);
        let maker = Maker::new(language, *making, *max_len, seed)?;
        let (coverage, executed, behaviours) = (Coverage::new(), Coverage::new(), HashSet::new());
        let told = no_yields(*making);
        Ok(Worker { campaign, number, tested, judge, maker, coverage, executed, behaviours, imported: 0, told })
    }

    /// Runs a text. A run that fails does nothing that is new to the search, as failures are not varied.
    fn run(&mut self, text: &[u8]) -> Result<Seen, Failure> {
        let run = self.tested.run(text)?;
        let mut verdict = self.judge.judge(text, &run)?;
        self.maker.measure(&run, &verdict);
        if let Outcome::Exception(exception) = &run.outcome {
            self.campaign.shared().exceptions.add(&exception.class);
        }
        if let Some(failed) = verdict.failed.take() {
            if let Some(edges) = run.edges {
                self.executed.add(edges);
            }
            let evidence = Evidence::new(failed, &run);
            return Ok(Seen { verdict, is_new: false, evidence: Some(evidence.identified(&self.tested)) });
        }
        let is_new = match run.edges {
            Some(edges) => {
                let is_new = self.coverage.add(edges).is_new_coverage();
                if is_new {
                    self.executed.add(edges);
                }
                is_new
            }
            None => self.behaviours.insert(verdict.behaviour),
        };
        Ok(Seen { verdict, is_new, evidence: None })
    }

    /// Runs a text as one of the runs of the search; a failure is looked at.
    fn run_and_count(&mut self, text: &[u8]) -> Result<Effect, Failure> {
        let seen = self.run(text)?;
        let campaign = self.campaign;
        campaign.runs.fetch_add(1, Ordering::Relaxed);
        campaign.valid.fetch_add(u64::from(seen.verdict.is_valid), Ordering::Relaxed);
        if let Some(evidence) = seen.evidence {
            campaign.failing.fetch_add(1, Ordering::Relaxed);
            self.tell_edges();
            self.examine(text, evidence)?;
            return Ok(Effect::Fails);
        }
        // Without edges little is known of the run. A new derivation counts as new, too.
        let is_new = seen.is_new || self.coverage.edges() == 0 && self.maker.is_new_derivation(text);
        Ok(if is_new { Effect::New } else { Effect::Known })
    }

    /// Tries the next text.
    fn step(&mut self) -> Result<(), Failure> {
        let max_len = self.campaign.plan.max_len;
        let Some(text) = self.maker.propose() else {
            return Err(Failure::Usage(format!("every text of the grammar is longer than {max_len} bytes")));
        };
        let text = text.to_vec();
        let is_new = self.run_and_count(&text)? == Effect::New;
        let operator = self.maker.operator();
        if self.maker.observe(is_new) {
            self.keep(&text, &format!("op:{operator}"), true)?;
        }
        Ok(())
    }

    /// Keeps a text for all workers.
    fn keep(&mut self, text: &[u8], origin: &str, is_written: bool) -> Result<(), Failure> {
        let campaign = self.campaign;
        if is_written {
            let about = format!(
                "time:{},execs:{},{origin}",
                campaign.begin.elapsed().as_millis(),
                campaign.runs.load(Ordering::Relaxed)
            );
            campaign.state.keep(Place::Queue, text, None, &about)?;
        }
        let mut shared = campaign.shared();
        shared.texts.push((text.into(), self.number));
        drop(shared);
        self.tell_edges();
        self.tell_yields();
        Ok(())
    }

    fn tell_edges(&self) {
        let mut shared = self.campaign.shared();
        shared.edges = shared.edges.max(self.executed.edges());
    }

    /// Shows its last texts, now and then and at the end.
    fn tell_recent(&mut self, is_end: bool) {
        if let Some(recent) = self.maker.recent(is_end) {
            self.campaign.shared().recent.insert(self.number, recent);
        }
    }

    /// Adds what its operators have done to what all have done.
    fn tell_yields(&mut self) {
        let mut shared = self.campaign.shared();
        let yields = self.maker.yields();
        for (all, (now, told)) in shared.yields.iter_mut().zip(yields.iter().zip(&self.told)) {
            all.1 += now.1 - told.1;
            all.2 += now.2 - told.2;
        }
        self.told = yields;
    }

    /// Runs a text that was not made here, and learns from it if it conforms. If it is a seed and does something new,
    /// it is kept.
    fn add(&mut self, text: &[u8], is_seed: bool) -> Result<(), Failure> {
        let campaign = self.campaign;
        if campaign.is_over() {
            return Ok(());
        }
        if !self.maker.session().remember(text) {
            // The search learns nothing from it, but it may fail. One worker runs it.
            if self.number == 0
                && let Again::Failed(evidence) = self.try_again(text)?
            {
                self.examine(text, evidence)?;
            }
            return Ok(());
        }
        let effect = if self.number == 0 {
            self.run_and_count(text)?
        } else if self.run(text)?.evidence.is_some() {
            Effect::Fails
        } else {
            Effect::Known
        };
        self.maker.add(text, effect == Effect::Fails);
        if effect == Effect::New {
            self.keep(text, "op:seed", is_seed)?;
        }
        Ok(())
    }

    /// Runs what others have found.
    fn import(&mut self) -> Result<(), Failure> {
        loop {
            let next = self.campaign.shared().texts.get(self.imported).cloned();
            let Some((text, finder)) = next else { return Ok(()) };
            self.imported += 1;
            if finder != self.number && self.run(&text)?.is_new {
                self.maker.add(&text, false);
                self.tell_edges();
            }
        }
    }
}
