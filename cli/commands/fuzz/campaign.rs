//! The search itself: workers that run texts and share what they find.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use gramjet_harness::{Coverage, Target};
use gramjet_search::{Fuzzer, Goal, Observation, Operator, State};
use gramjet_session::Language;

use super::finding::{Call, Finding};
use super::subject::{Surroundings, Tested};
use super::verdict::{Failed, Judge, Rules, Verdict, key_with};
use crate::failure::Failure;
use crate::stop::Stop;

/// Failures of one outcome that nothing but their edges tell apart.
const BARE: usize = 16;
/// A failure is made smaller for no longer than this.
const SHRINKING: Duration = Duration::from_secs(60);
/// Runs of a failure that show whether it always fails.
const CONFIRMING: u32 = 3;

/// What a search needs to know.
pub(super) struct Plan {
    pub(super) language: Language,
    pub(super) rules: Rules,
    pub(super) surroundings: Surroundings,
    pub(super) call: Call,
    pub(super) max_len: usize,
    pub(super) seed: u64,
    pub(super) jobs: usize,
    /// At most this many runs, without those that make failures smaller.
    pub(super) runs: u64,
    /// At most this many runs make one failure smaller.
    pub(super) shrinks: u32,
    /// Texts to begin with.
    pub(super) seeds: Vec<Vec<u8>>,
}

/// A search with what its workers share.
pub(super) struct Campaign {
    pub(super) plan: Plan,
    pub(super) state: State,
    pub(super) stop: Stop,
    begin: Instant,
    shared: Mutex<Shared>,
    /// Workers that run.
    active: AtomicUsize,
    begun: AtomicU64,
    runs: AtomicU64,
    valid: AtomicU64,
    failing: AtomicU64,
}

#[derive(Default)]
struct Shared {
    /// Texts that did something new, and the worker that found each.
    texts: Vec<(Arc<[u8]>, usize)>,
    /// Keys of failures.
    keys: HashSet<String>,
    /// For outcomes of which nothing else is known: the edges of failures that were looked at, and how many these were.
    bare: HashMap<String, (HashSet<u32>, usize)>,
    /// Lines for the user that were not printed yet.
    news: Vec<News>,
    edges: usize,
    yields: [(u64, u64); Operator::ALL.len()],
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
    /// Edges that were executed; 0 if the program counts none.
    pub(super) edges: usize,
    /// Failures that are told apart, those of earlier runs on the folder included.
    pub(super) failures: usize,
    /// For each operator how many texts it has made, and how many of them did something new.
    pub(super) yields: [(u64, u64); Operator::ALL.len()],
}

impl Campaign {
    pub(super) fn new(plan: Plan, state: State, stop: Stop) -> Result<Campaign, Failure> {
        let keys = state.failures()?.into_iter().collect();
        let active = AtomicUsize::new(plan.jobs);
        let shared = Mutex::new(Shared { keys, ..Shared::default() });
        let (begun, runs, valid, failing) = Default::default();
        Ok(Campaign { plan, state, stop, begin: Instant::now(), shared, active, begun, runs, valid, failing })
    }

    /// Runs until it is stopped, or all runs are done. `look` is called now and then, from this thread.
    pub(super) fn run(&self, mut look: impl FnMut(&Campaign)) -> Result<(), Failure> {
        std::thread::scope(|scope| {
            for number in 0..self.plan.jobs {
                scope.spawn(move || {
                    // A worker that panics is none that runs.
                    let _active = Active(self);
                    if let Err(failure) = self.work(number) {
                        self.shared().failure.get_or_insert(failure);
                    }
                });
            }
            while self.active.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(Duration::from_millis(50));
                look(self);
            }
        });
        look(self);
        self.shared().failure.take().map_or(Ok(()), Err)
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
            yields: shared.yields,
        }
    }

    /// What was found since the last call.
    pub(super) fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.shared().news)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn is_over(&self) -> bool {
        self.stop.is_requested() || self.shared().failure.is_some()
    }

    fn work(&self, number: usize) -> Result<(), Failure> {
        let mut worker = Worker::new(self, number)?;
        for text in self.state.texts()? {
            worker.add(&text, false)?;
        }
        for text in &self.plan.seeds {
            worker.add(text, number == 0)?;
        }
        while !self.is_over() && self.begun.fetch_add(1, Ordering::Relaxed) < self.plan.runs {
            worker.import()?;
            worker.step()?;
        }
        worker.tell_yields();
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
struct Worker<'c> {
    campaign: &'c Campaign,
    number: usize,
    tested: Tested,
    judge: Judge,
    fuzzer: Fuzzer,
    coverage: Coverage,
    behaviours: HashSet<u64>,
    /// How many of the shared texts it has looked at.
    imported: usize,
    /// What its operators had made when that was said last.
    told: [(u64, u64); Operator::ALL.len()],
}

/// A run as the search sees it.
struct Seen {
    verdict: Verdict,
    /// It did something that no run before has done.
    is_new: bool,
    /// The numbers of the edges that a failing run executed.
    edges: Vec<u32>,
}

impl<'c> Worker<'c> {
    fn new(campaign: &'c Campaign, number: usize) -> Result<Worker<'c>, Failure> {
        let Plan { language, rules, surroundings, call, max_len, seed, .. } = &campaign.plan;
        let tested = Tested::new(&call.command, *surroundings)?;
        let judge = Judge::new(rules, *surroundings, number)?;
        let fuzzer = Fuzzer::new(language, Goal::New, *max_len, seed.wrapping_add(number as u64));
        let (coverage, behaviours) = (Coverage::new(), HashSet::new());
        let told = Default::default();
        Ok(Worker { campaign, number, tested, judge, fuzzer, coverage, behaviours, imported: 0, told })
    }

    /// Runs a text.
    fn run(&mut self, text: &[u8]) -> Result<Seen, Failure> {
        let run = self.tested.run(text)?;
        let verdict = self.judge.judge(text, &run)?;
        let is_new_behaviour = self.behaviours.insert(verdict.behaviour);
        let edges = run.edges.filter(|_| verdict.failed.is_some());
        let edges = edges.map(|edges| edges.executed().iter().map(|edge| edge.number).collect()).unwrap_or_default();
        let is_new = match run.edges {
            Some(edges) => self.coverage.add(edges).is_new_coverage(),
            None => is_new_behaviour,
        };
        Ok(Seen { verdict, is_new, edges })
    }

    /// The same, counted as a run of the search.
    fn run_and_count(&mut self, text: &[u8]) -> Result<Seen, Failure> {
        let seen = self.run(text)?;
        let campaign = self.campaign;
        campaign.runs.fetch_add(1, Ordering::Relaxed);
        campaign.valid.fetch_add(u64::from(seen.verdict.is_valid), Ordering::Relaxed);
        if let Some(failed) = seen.verdict.failed.clone() {
            campaign.failing.fetch_add(1, Ordering::Relaxed);
            self.examine(text, failed, &seen.edges)?;
        }
        Ok(seen)
    }

    /// Tries the next text.
    fn step(&mut self) -> Result<(), Failure> {
        let max_len = self.campaign.plan.max_len;
        let Some(text) = self.fuzzer.propose() else {
            return Err(Failure::Usage(format!("every text of the grammar is longer than {max_len} bytes")));
        };
        let text = text.to_vec();
        let mut seen = self.run_and_count(&text)?;
        if self.coverage.edges() == 0 {
            // The program says little of what it did; the derivation stands for the rest.
            seen.is_new |= self.fuzzer.has_new_derivation();
        }
        let is_new = seen.is_new && seen.verdict.failed.is_none();
        let operator = self.fuzzer.operator();
        if self.fuzzer.observe(Observation { is_new, cost: 0 }) {
            self.keep(&text, &format!("op:{}", operator.name()), true)?;
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
            campaign.state.keep(text, &about)?;
        }
        let mut shared = campaign.shared();
        shared.texts.push((text.into(), self.number));
        shared.edges = shared.edges.max(self.coverage.edges());
        drop(shared);
        self.tell_yields();
        Ok(())
    }

    /// Adds what its operators have done to what all have done.
    fn tell_yields(&mut self) {
        let mut shared = self.campaign.shared();
        for (index, (_, made, kept)) in self.fuzzer.yields().enumerate() {
            let told = std::mem::replace(&mut self.told[index], (made, kept));
            shared.yields[index].0 += made - told.0;
            shared.yields[index].1 += kept - told.1;
        }
    }

    /// Runs a text that was not made here, and keeps it if it does something new.
    fn add(&mut self, text: &[u8], is_written: bool) -> Result<(), Failure> {
        if self.campaign.is_over() {
            return Ok(());
        }
        let seen = self.run_and_count(text)?;
        if seen.is_new && seen.verdict.failed.is_none() && self.fuzzer.add(text, 0) && self.number == 0 {
            self.keep(text, "op:seed", is_written)?;
        }
        Ok(())
    }

    /// Runs what others have found.
    fn import(&mut self) -> Result<(), Failure> {
        loop {
            let next = {
                let shared = self.campaign.shared();
                let next = shared.texts.get(self.imported).cloned();
                next
            };
            let Some((text, finder)) = next else { return Ok(()) };
            self.imported += 1;
            if finder != self.number && self.run(&text)?.is_new {
                self.fuzzer.add(&text, 0);
                let mut shared = self.campaign.shared();
                shared.edges = shared.edges.max(self.coverage.edges());
            }
        }
    }

    /// Looks at a failure: whether it is a new one, whether it always fails, how small it can be. Writes it.
    fn examine(&mut self, text: &[u8], failed: Failed, edges: &[u32]) -> Result<(), Failure> {
        if !self.claim(&failed, edges) {
            return Ok(());
        }
        let campaign = self.campaign;
        let (runs, after) = (campaign.runs.load(Ordering::Relaxed), campaign.begin.elapsed());
        let mut reproduced = 1;
        for _ in 1..CONFIRMING {
            reproduced += u32::from(self.fails_alike(text, &failed)?);
        }
        let minimised = if reproduced == CONFIRMING { self.shrink(text, &failed)? } else { text.to_vec() };
        let (stdout, stderr, edges) = {
            let run = self.tested.run(&minimised)?;
            let edges = run.edges.map(|edges| edges.executed().iter().map(|edge| edge.number).collect::<Vec<u32>>());
            (run.stdout.bytes.clone(), run.stderr.bytes.clone(), edges)
        };
        let mut failed = failed;
        if let (true, Some(edges)) = (failed.is_bare, edges) {
            failed.key = key_with(&failed, edges.into_iter());
            if !campaign.shared().keys.insert(failed.key.clone()) {
                return Ok(());
            }
        }
        let language = &campaign.plan.language;
        let choices = language.parse(&minimised).ok().map(|choices| language.with_header(&choices));
        let reproduced = (reproduced, CONFIRMING);
        let input = text.to_vec();
        let finding = Finding { failed, input, minimised, choices, stdout, stderr, reproduced, runs, after };
        let place = finding.write(&campaign.state, &campaign.plan.call)?;
        campaign.shared().news.push(News { finding, place });
        Ok(())
    }

    /// Whether no other run has failed like this one, as far as it is known now; from here on this one has.
    fn claim(&self, failed: &Failed, edges: &[u32]) -> bool {
        let mut shared = self.campaign.shared();
        if failed.is_bare && !edges.is_empty() {
            let (known, count) = shared.bare.entry(failed.key.clone()).or_default();
            let before = known.len();
            known.extend(edges);
            let is_new = known.len() > before && *count < BARE;
            *count += usize::from(is_new);
            return is_new;
        }
        shared.keys.insert(failed.key.clone())
    }

    fn fails_alike(&mut self, text: &[u8], failed: &Failed) -> Result<bool, Failure> {
        Ok(self.run(text)?.verdict.failed.is_some_and(|again| again.key == failed.key))
    }

    /// The smallest text that was found which fails in the same way.
    fn shrink(&mut self, text: &[u8], failed: &Failed) -> Result<Vec<u8>, Failure> {
        let begin = Instant::now();
        let Some(mut trim) = self.fuzzer.session().minimise(text) else { return Ok(text.to_vec()) };
        for _ in 0..self.campaign.plan.shrinks {
            // A search that is to end soon still writes what it has.
            if begin.elapsed() > SHRINKING || self.campaign.stop.is_requested() {
                break;
            }
            let Some(proposed) = trim.propose() else { break };
            let proposed = proposed.to_vec();
            let fails = self.fails_alike(&proposed, failed)?;
            trim.judge(fails);
        }
        Ok(trim.text().to_vec())
    }
}
