//! The threads of a search.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Scope, Thread};
use std::time::{Duration, Instant};

use crate::siblings::Siblings;
use crate::state::Place;
use gramjet_harness::Outcome;
use gramjet_search::{Coverage, Ending, Gain, Search};
use gramjet_session::decisions::Derivation;

use super::behaviours::first_with;
use super::folder_report;
use super::hunt::{Found, Hunt};
use super::meter::{Meter, REPEATED, Records};
use super::noise;
use super::note::Note;
use super::records;
use super::runner::{Job, Runner};
use super::totals::class;
use crate::error::Error;

/// The most texts that are made before their runs are learned from, by strategies that may, where the program takes
/// fewer at a time.
const AHEAD: usize = 3;

/// The time between two looks at what was found. A look takes as long as a run of a fast program.
const LOOK: Duration = Duration::from_millis(50);

/// Searches until it is stopped, or the budget is used up. `look` is called now and then, from this thread.
pub(crate) fn run(hunt: &Hunt, meter: Meter, siblings: Vec<Siblings>, mut look: impl FnMut()) -> Result<(), Error> {
    let mut first = Some((meter, siblings));
    let active = AtomicUsize::new(hunt.plan.jobs);
    let main = std::thread::current();
    std::thread::scope(|scope| {
        for number in 0..hunt.plan.jobs {
            let (first, active) = (first.take(), Active { all: &active, waits: main.clone() });
            scope.spawn(move || {
                // A worker that panics is no longer active.
                let _active = active;
                match work(hunt, number, first, scope) {
                    // A run that was cut short may be none at all.
                    Err(Error::Target(_)) if hunt.stop.is_cut() => {}
                    Err(failure) => hunt.fail(failure),
                    Ok(()) => {}
                }
            });
        }
        while active.load(Ordering::SeqCst) > 0 {
            std::thread::park_timeout(LOOK);
            look();
        }
    });
    hunt.end_time();
    look();
    hunt.result()
}

/// Does the work of a worker. The first one has a program that runs already, and looks at the other searches in a
/// shared folder.
fn work<'scope>(
    hunt: &'scope Hunt,
    number: usize,
    first: Option<(Meter, Vec<Siblings>)>,
    scope: &'scope Scope<'scope, '_>,
) -> Result<(), Error> {
    let plan = &hunt.plan;
    let surroundings = plan.surroundings.on(plan.cores.of(number));
    let (mut meter, mut siblings) = match first {
        Some(first) => first,
        None => (hunt.meter_in(surroundings)?, Vec::new()),
    };
    let mut search = Worker::search(hunt, number)?;
    let is_ahead = search.proposes_ahead() && meter.is_exact();
    if !meter.is_exact() {
        search.use_times();
    }
    search.set_empty_cost(meter.read(b"")?);
    meter.tested.stay_beside(surroundings);
    let ahead = if is_ahead { meter.room().max(AHEAD) } else { 1 };
    let mut runner = Runner::new(hunt, meter);
    if is_ahead && plan.cores.has_spare() {
        runner.try_beside(hunt, surroundings, plan.cores.spare_of(number), scope);
    }
    let mut worker = Worker::new(hunt, number, search, runner, ahead);
    worker.begin()?;
    while worker.step(&mut siblings)? {}
    Ok(())
}

/// Counts a worker as active while it lives. The thread that waits for the last one is woken.
struct Active<'a> {
    all: &'a AtomicUsize,
    waits: Thread,
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        if self.all.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.waits.unpark();
        }
    }
}

/// The program has changed if exact costs of the best texts, at most this many, differ by more than this share from the
/// costs before.
const CHECKED: usize = 3;
const CHANGED: f64 = 0.1;

/// Name that stands for the operator of texts that the user gives.
const SEED: &str = "seed";

/// Origin of a text.
enum Origin {
    /// An operator of this search has made it, or the user has given it.
    Own(&'static str),
    /// Another search in a shared folder has it, as AFL++ says it.
    Other(String),
    /// This search has kept it already, so it is not written again.
    Known,
    /// Text in the queue. A search that was killed may not have written it to the best texts.
    Queue,
}

impl Origin {
    /// Returns what made it, and where it comes from.
    fn parts(self) -> (Option<&'static str>, Option<String>) {
        match self {
            Origin::Own(operator) => (Some(operator), None),
            Origin::Other(source) => (Some("sync"), Some(source)),
            Origin::Known | Origin::Queue => (None, None),
        }
    }
}

/// One of the threads, with a program and a search of its own.
///
/// Where the strategy allows, up to `ahead` texts are made before the first of them returns. Where it awaits a run, no
/// text is made before that run returns. Neither depends on how fast the program is.
pub(crate) struct Worker<'h> {
    pub(crate) hunt: &'h Hunt,
    number: usize,
    search: Search,
    runner: Runner<'h>,
    /// The most texts that are made and were not returned yet, and how many there are.
    ahead: usize,
    given: usize,
    /// Whether it runs what it begins with: the texts of earlier searches, and those that the user gives.
    is_loading: bool,
    #[expect(clippy::vec_box, reason = "boxes are handed on")]
    spare: Vec<Box<Job>>,
    /// Number of the shared texts that it has looked at.
    imported: usize,
    told_repeats: u64,
    /// The greatest costs that this search has seen, and for how long it has waited to be sure of them.
    records: Records,
    waited: Duration,
}

impl<'h> Worker<'h> {
    fn search(hunt: &Hunt, number: usize) -> Result<Search, Error> {
        let plan = &hunt.plan;
        let strategy = plan.strategy.make();
        let seed = plan.seed.of_worker(number, hunt.state.session());
        let mut search = Search::new(&plan.language, strategy, plan.max_len, seed)
            .ok_or_else(|| Error::Internal(format!("no text of the grammar has at most {} bytes", plan.max_len)))?;
        if plan.explores {
            search.explore();
        }
        Ok(search)
    }

    fn new(hunt: &'h Hunt, number: usize, search: Search, runner: Runner<'h>, ahead: usize) -> Worker<'h> {
        let (given, is_loading, spare, imported, told_repeats, records, waited) = Default::default();
        Worker {
            hunt,
            number,
            search,
            runner,
            ahead,
            given,
            is_loading,
            spare,
            imported,
            told_repeats,
            records,
            waited,
        }
    }

    /// Runs the texts of earlier searches and the seeds.
    fn begin(&mut self) -> Result<(), Error> {
        self.is_loading = true;
        if !self.hunt.plan.is_fresh {
            self.resume()?;
        }
        for text in &self.hunt.plan.seeds {
            self.adopt(text, Origin::Own(SEED))?;
        }
        self.is_loading = false;
        self.search.begin();
        Ok(())
    }

    /// Runs the texts of earlier searches in the folder. The first worker says what that shows.
    fn resume(&mut self) -> Result<(), Error> {
        let view = self.hunt.state.view();
        let (mut best, queue, studied) = (view.texts(Place::Best)?, view.texts(Place::Queue)?, records::studied(view)?);
        let texts: HashSet<&Vec<u8>> = best.iter().chain(&queue).map(|(_, text)| text).collect();
        if !texts.is_empty() && self.number == 0 {
            self.hunt.note(Note::Resumed { texts: texts.len() as u64 });
        }
        // The best texts first: a search never knows less than its folder has.
        best.reverse();
        let mut costs = Vec::new();
        for (name, text) in &best {
            let cost = self.adopt(text, Origin::Known)?;
            if let (Some(cost), Some(before)) = (cost, folder_report::cost(name)) {
                costs.push((name, cost, before));
            }
        }
        // The page shows those first that cost most when they were found.
        costs.sort_by_key(|&(_, _, before)| Reverse(before));
        costs.truncate(CHECKED);
        let has_changed = |(_, cost, before): &(_, u64, u64)| cost.abs_diff(*before) as f64 > CHANGED * *before as f64;
        if self.number == 0
            && self.hunt.plan.objectives.first().is_exact()
            && costs.iter().all(has_changed)
            && let Some(&(name, cost, before)) = costs.first()
        {
            self.note_change(name, cost, before);
        }
        let known: HashSet<&Vec<u8>> = best.iter().map(|(_, text)| text).collect();
        for (_, text) in queue.iter().rev() {
            self.adopt(text, if known.contains(text) { Origin::Known } else { Origin::Queue })?;
        }
        for (studied, _) in studied {
            self.adopt(&studied.text, Origin::Known)?;
        }
        Ok(())
    }

    /// Says that the program seems to have changed since an earlier search: the page has the costs of both.
    fn note_change(&self, name: &str, cost: u64, before: u64) {
        let file = self.hunt.state.path().join("best").join(name);
        self.hunt.note(Note::Changed { file, cost, before });
    }

    /// Learns from the run of one text; false if none is to be run any more.
    fn step(&mut self, siblings: &mut [Siblings]) -> Result<bool, Error> {
        // A text of another search is run only when no text of this search is running.
        let mut has_news = !self.hunt.is_over() && self.has_news(siblings);
        if has_news && self.given == 0 {
            self.import(siblings)?;
            has_news = false;
        }
        while !has_news && self.has_room() && self.may_propose() {
            self.search.propose();
            if !self.search.is_exhausted() {
                let mut job = self.spare.pop().unwrap_or_default();
                job.text.clone_from(&self.search.start().text);
                job.repeats = self.search.repeats() - self.told_repeats;
                self.told_repeats = self.search.repeats();
                self.give(job, false);
            }
        }
        if self.given == 0 {
            if self.search.is_exhausted() {
                self.hunt.exhaust();
            }
            return Ok(false);
        }
        let job = self.take()?;
        if !job.was_run {
            return Ok(false);
        }
        let job = self.confirm(job)?;
        let gain = self.search.observe(&job.measured);
        self.settle(&job, gain, Origin::Own(self.search.operator()))?;
        self.spare.push(job);
        Ok(true)
    }

    /// Returns true if another text may be made now.
    fn has_room(&self) -> bool {
        self.given == 0 || self.given < self.ahead && !self.search.awaits_run()
    }

    fn may_propose(&self) -> bool {
        !self.search.is_exhausted() && self.hunt.may_begin()
    }

    /// Has a text run, after those before it.
    fn give(&mut self, mut job: Box<Job>, is_due: bool) {
        self.given += 1;
        (job.is_due, job.is_free, job.was_run) = (is_due, self.is_loading, false);
        self.runner.push(job);
    }

    /// Waits for the first text that is to be run.
    fn take(&mut self) -> Result<Box<Job>, Error> {
        let job = self.returned()?;
        self.hunt.runs.fetch_add(u64::from(job.was_run), Ordering::Relaxed);
        Ok(job)
    }

    fn returned(&mut self) -> Result<Box<Job>, Error> {
        self.given -= 1;
        let mut job = self.runner.next()?;
        // A run that was cut short says nothing.
        job.was_run &= !self.hunt.stop.is_cut();
        if job.was_run {
            self.hunt.edges_executed.fetch_add(job.measured.executed, Ordering::Relaxed);
        }
        Ok(job)
    }

    /// Repeats a run that costs more than all before it, or as much with a shorter text, where costs are not exact: the
    /// least of its costs holds. A repeat that fails or is stopped says nothing. No other text is to be run meanwhile
    /// but the one that was best before, which shows whether the machine is slow. Once the user has enough, the run
    /// costs no more than those before it.
    fn confirm(&mut self, mut job: Box<Job>) -> Result<Box<Job>, Error> {
        let mut patience = None;
        for repeat in 0..REPEATED {
            if !self.records.are_beaten(&job.measured, job.text.len(), &self.hunt.plan.objectives) {
                break;
            }
            // Mostly the first repeat tells.
            if repeat > 0 && noise::is_short(job.measured.took) {
                let patience = patience.get_or_insert_with(|| noise::patience(self.waited, self.hunt.elapsed()));
                self.await_calm(patience)?;
            }
            if self.hunt.stop.is_cut() {
                self.records.bound(&mut job.measured);
                break;
            }
            let (earlier, outcome) = (std::mem::take(&mut job.measured), job.outcome.clone());
            self.give(job, true);
            job = self.returned()?;
            if !job.was_run {
                (job.measured, job.outcome, job.was_run) = (earlier, outcome, true);
                self.records.bound(&mut job.measured);
                break;
            }
            if job.measured.ending == Ending::Done {
                job.measured.lower(earlier.costs.iter().copied());
                job.measured.seconds = job.measured.seconds.min(earlier.seconds);
            } else {
                (job.measured, job.outcome) = (earlier, outcome);
                break;
            }
        }
        // A run that has failed or was stopped sets no record.
        if job.measured.ending == Ending::Done {
            self.records.add(&job.measured, &job.text);
        }
        Ok(job)
    }

    /// Waits until the text with the greatest cost costs about as much as before, by the cost that a slow machine
    /// raises, if there is one. A run of it that fails is not kept: it was run before.
    fn await_calm(&mut self, patience: &mut Duration) -> Result<(), Error> {
        let Some(at) = self.hunt.plan.objectives.slowed() else { return Ok(()) };
        let begin = Instant::now();
        match self.records.reference(at).cloned() {
            None => noise::pause(),
            Some(mut reference) => {
                reference.await_calm(patience, |text| {
                    if self.hunt.is_over() {
                        return Ok(None);
                    }
                    self.give(Box::new(Job { text: text.to_vec(), ..Job::default() }), true);
                    let job = self.returned()?;
                    if !job.was_run {
                        return Ok(None);
                    }
                    let measured = job.measured;
                    Ok(measured.costs.get(at).copied().filter(|_| measured.ending == Ending::Done))
                })?;
                self.records.refer(at, reference);
            }
        }
        self.waited += begin.elapsed();
        Ok(())
    }

    /// Counts a text that was run.
    fn count(&self, job: &Job, operator: Option<&'static str>) {
        let measured = &job.measured;
        let cost = measured.cost;
        let is_done = measured.ending == Ending::Done;
        let hottest = is_done.then(|| first_with(&measured.edges, measured.hottest)).flatten();
        let mut shared = self.hunt.shared();
        if let Some((edge, _)) = hottest {
            shared.behaviours.add(self.number, edge, cost, &job.text);
        }
        shared.costs[class(cost)] += 1;
        shared.range = (shared.range.0.min(cost), shared.range.1.max(cost));
        shared.repeats += job.repeats;
        if let Some(operator) = operator {
            shared.operators.add_run(operator);
        }
    }

    /// Runs a text from elsewhere, while no other one is to be run. Returns its cost if it was run and ended.
    fn adopt(&mut self, text: &[u8], origin: Origin) -> Result<Option<u64>, Error> {
        if text.len() > self.hunt.plan.max_len || self.hunt.stop.is_cut() {
            return Ok(None);
        }
        let Some(derivation) = self.derive(text) else { return Ok(None) };
        let mut job = self.spare.pop().unwrap_or_default();
        job.text.clear();
        job.text.extend_from_slice(text);
        job.repeats = 0;
        self.give(job, true);
        let job = self.take()?;
        if !job.was_run {
            self.spare.push(job);
            return Ok(None);
        }
        let job = self.confirm(job)?;
        let measured = &job.measured;
        let cost = (measured.ending == Ending::Done).then_some(measured.cost);
        let gain = self.search.adopt(&derivation, measured);
        self.settle(&job, gain, origin)?;
        self.spare.push(job);
        Ok(cost)
    }

    /// Returns the derivation of a text, under the limit on length. Texts that do not conform are of use to searches
    /// that change bytes alone.
    fn derive(&mut self, text: &[u8]) -> Option<Derivation> {
        let plan = &self.hunt.plan;
        let deriver = &mut self.search.desk().deriver;
        match plan.language.derivation(text, deriver) {
            Some(free) => deriver.limited(&free),
            None => {
                let changes_bytes = self.search.takes_any_text();
                changes_bytes.then(|| Derivation { text: text.to_vec(), ..Derivation::default() })
            }
        }
    }

    /// Counts a text, and keeps it if it is worth it.
    fn settle(&mut self, job: &Job, gain: Gain, origin: Origin) -> Result<(), Error> {
        let is_best_written = matches!(origin, Origin::Known);
        let (operator, source) = origin.parts();
        self.count(job, operator);
        let Job { text, measured, outcome, .. } = job;
        let hunt = self.hunt;
        let (cost, hottest) = (measured.cost, measured.hottest);
        if let Outcome::Exception(_) = outcome {
            hunt.raised.fetch_add(1, Ordering::Relaxed);
            hunt.exception.get_or_init(|| outcome.to_string());
        }
        match measured.ending {
            Ending::Done => {}
            Ending::Stopped => {
                hunt.stopped.fetch_add(1, Ordering::Relaxed);
                return operator.map_or(Ok(()), |operator| {
                    self.keep_timeout(text, &hunt.about(cost, operator, source.as_deref()))
                });
            }
            Ending::Failed => {
                hunt.failed.fetch_add(1, Ordering::Relaxed);
                return self.keep_failure(text, outcome);
            }
        }
        let is_new = gain.novelty.coverage > Coverage::Known || gain.is_trade_off;
        if !gain.is_best && !is_new {
            return Ok(());
        }
        let mut file = None;
        if let Some(operator) = operator.filter(|_| is_new) {
            let about = hunt.about(cost, operator, source.as_deref());
            file = Some(hunt.state.keep(Place::Queue, text, None, &about)?);
            if let Ok(choices) = hunt.plan.language.parse(text) {
                hunt.state.keep_choices(&hunt.plan.language, text, &choices);
            }
        }
        // What costs more is written and reported later.
        let _turn = gain.is_best.then(|| hunt.turn());
        let mut found = Found {
            text: text.to_vec(),
            cost,
            hottest,
            after: hunt.elapsed(),
            runs: hunt.runs.load(Ordering::Relaxed),
            operator: operator.unwrap_or("before"),
            source,
            file,
        };
        if gain.is_trade_off {
            hunt.shared().front.add(measured.several(), found.clone());
        }
        // Files are written once the others can go on.
        let is_new = operator.is_some_and(|operator| operator != SEED);
        if self.share(&found, gain.is_best, is_new) {
            if !is_best_written {
                hunt.keep_best(&mut found)?;
            }
            let mut shared = hunt.shared();
            if let Some(operator) = operator {
                shared.operators.add_better(operator);
            }
            shared.news.push(found);
        }
        Ok(())
    }

    /// Shows a text to the other workers, unless it comes from them, or from the folder or the seeds that all have
    /// read; says whether it is the best of all.
    fn share(&mut self, found: &Found, is_best_here: bool, is_new: bool) -> bool {
        let edges = self.search.maxima().edges();
        let mut shared = self.hunt.shared();
        if self.hunt.plan.jobs > 1 && is_new {
            shared.texts.push((found.text.as_slice().into(), self.number));
        }
        shared.edges = shared.edges.max(edges);
        let is_better =
            |best: &Found| best.cost < found.cost || best.cost == found.cost && found.text.len() < best.text.len();
        let is_best = is_best_here && shared.best.as_ref().is_none_or(is_better);
        if is_best {
            shared.best = Some(found.clone());
        }
        is_best
    }

    /// Returns true if others may have texts that this search does not know.
    fn has_news(&self, siblings: &[Siblings]) -> bool {
        siblings.iter().any(Siblings::is_due)
            || self.hunt.plan.jobs > 1 && self.hunt.shared().texts.len() > self.imported
    }

    /// Runs what others have found: all that other threads have, and some texts that the other searches in a shared
    /// folder have kept, if there are any. Each is run as soon as it is noted as seen.
    fn import(&mut self, siblings: &mut [Siblings]) -> Result<(), Error> {
        // The number of texts that this search has run since it had news.
        for siblings in siblings {
            for _ in 0..self.ahead {
                if self.hunt.is_over() {
                    return Ok(());
                }
                let import = siblings.import();
                siblings.left_alone().into_iter().for_each(|left| self.hunt.note(Note::LeftAlone(left)));
                let Some(import) = import else { break };
                self.adopt(&import.text, Origin::Other(import.about()))?;
            }
        }
        while self.hunt.plan.jobs > 1 && !self.hunt.is_over() {
            let next = self.hunt.shared().texts.get(self.imported).cloned();
            let Some((text, finder)) = next else { break };
            self.imported += 1;
            if finder != self.number {
                self.adopt(&text, Origin::Known)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
