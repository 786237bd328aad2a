//! The threads of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gramjet_harness::Outcome;
use gramjet_search::{Coverage, Ending, Gain, Measured, Place, Search, Siblings};
use gramjet_session::decisions::{Derivation, Fit};

use super::hunt::{Found, Hunt};
use super::meter::{Meter, Reading};
use crate::failure::Failure;

/// At most this many texts on which the program was stopped are kept.
const TIMEOUTS: u64 = 100;

/// Searches until it is stopped, or the budget is used up. `look` is called now and then, from this thread.
pub(super) fn run(
    hunt: &Hunt,
    meter: Meter,
    siblings: Vec<Siblings>,
    mut look: impl FnMut(&Hunt),
) -> Result<(), Failure> {
    let mut first = Some((meter, siblings));
    let active = AtomicUsize::new(hunt.plan.jobs);
    std::thread::scope(|scope| {
        for number in 0..hunt.plan.jobs {
            let (first, active) = (first.take(), Active(&active));
            scope.spawn(move || {
                // A worker that panics is no longer active.
                let _active = active;
                if let Err(failure) = work(hunt, number, first) {
                    hunt.shared().failure.get_or_insert(failure);
                }
            });
        }
        while active.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(20));
            look(hunt);
        }
    });
    hunt.end_time();
    look(hunt);
    hunt.shared().failure.take().map_or(Ok(()), Err)
}

/// The first worker has a program that runs already, and looks at the other searches in a shared folder.
fn work(hunt: &Hunt, number: usize, first: Option<(Meter, Vec<Siblings>)>) -> Result<(), Failure> {
    let plan = &hunt.plan;
    let surroundings = plan.surroundings.on(plan.cores.of(number));
    let (meter, mut siblings) = match first {
        Some(first) => first,
        None => (Meter::new(&plan.command, surroundings, &plan.objectives)?, Vec::new()),
    };
    meter.tested.stay_beside(surroundings);
    let mut worker = Worker::new(hunt, number, meter)?;
    worker.begin()?;
    hunt.begin_time();
    while worker.step(&mut siblings)? {}
    Ok(())
}

/// Counts a worker as active while it lives.
struct Active<'a>(&'a AtomicUsize);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a run of a text says of it.
struct Ran {
    cost: u64,
    costs: Vec<u64>,
    hottest: u64,
    ending: Ending,
    gain: Gain,
}

impl Ran {
    fn of(measured: &Measured<'_>, gain: Gain) -> Ran {
        let &Measured { cost, costs, hottest, ending, .. } = measured;
        Ran { cost, costs: costs.to_vec(), hottest, ending, gain }
    }
}

/// Where a text comes from.
enum Origin {
    /// An operator of this search has made it, or the user has given it.
    Own(&'static str),
    /// Another search in a shared folder has it, as AFL++ says it.
    Other(String),
    /// This search has kept it already, so it is not written again.
    Known,
}

impl Origin {
    /// What made it, and where it comes from.
    fn parts(self) -> (Option<&'static str>, Option<String>) {
        match self {
            Origin::Own(operator) => (Some(operator), None),
            Origin::Other(source) => (Some("sync"), Some(source)),
            Origin::Known => (None, None),
        }
    }
}

/// One of the threads, with a program and a search of its own.
///
/// Where the strategy allows, the next text is made while the program runs on one. It runs as soon as that run has
/// ended, and what the run says is learned meanwhile. So each text is made with the results of all but the last one,
/// however fast the program is.
struct Worker<'h> {
    hunt: &'h Hunt,
    number: usize,
    meter: Meter,
    search: Search,
    is_ahead: bool,
    /// Texts of others to run, once the program is free.
    imports: Vec<(Arc<[u8]>, Origin)>,
    /// How many of the shared texts it has looked at.
    imported: usize,
    told_repeats: u64,
    /// The text on which the program runs, if it does, and the one on which it ran before.
    text: Vec<u8>,
    is_running: bool,
    last: Vec<u8>,
    /// The next text was proposed.
    has_next: bool,
}

impl<'h> Worker<'h> {
    fn new(hunt: &'h Hunt, number: usize, meter: Meter) -> Result<Worker<'h>, Failure> {
        let plan = &hunt.plan;
        let strategy = match plan.saffron {
            Some(settings) => Some(settings.strategy(plan.is_paper)),
            None => gramjet_search::by_name(&plan.strategy, plan.is_paper),
        };
        let strategy =
            strategy.ok_or_else(|| Failure::Internal(format!("the strategy `{}` is missing", plan.strategy)))?;
        // A search that goes on does not begin with the same texts again.
        let seed = plan.seed ^ (number as u64) << 40 ^ hunt.state.session() << 52;
        let mut search = Search::new(&plan.language, strategy, plan.max_len, seed).ok_or_else(|| {
            Failure::Usage(format!("every text of the grammar is longer than {} bytes", plan.max_len))
        })?;
        if plan.explores {
            search.explore();
        }
        let is_ahead = search.proposes_ahead() && meter.is_exact();
        let (imports, imported, told_repeats, text, is_running, last, has_next) = Default::default();
        Ok(Worker {
            hunt,
            number,
            meter,
            search,
            is_ahead,
            imports,
            imported,
            told_repeats,
            text,
            is_running,
            last,
            has_next,
        })
    }

    /// Measures the empty text, and runs the texts of earlier searches and the seeds.
    fn begin(&mut self) -> Result<(), Failure> {
        let empty = self.meter.read(b"")?.measured.cost;
        self.search.set_empty_cost(empty);
        // The best texts first: a search never knows less than its folder has.
        for place in [Place::Best, Place::Queue].into_iter().filter(|_| !self.hunt.plan.is_fresh) {
            for text in self.hunt.state.texts(place)?.iter().rev() {
                self.adopt(text, Origin::Known)?;
            }
        }
        for text in &self.hunt.plan.seeds {
            self.adopt(text, Origin::Own("seed"))?;
        }
        self.search.begin();
        Ok(())
    }

    /// Runs a text; false if none is to be run any more.
    fn step(&mut self, siblings: &mut [Siblings]) -> Result<bool, Failure> {
        if !self.is_running {
            if !self.hunt.may_begin() {
                return Ok(false);
            }
            self.gather(siblings)?;
            for (text, origin) in std::mem::take(&mut self.imports) {
                self.adopt(&text, origin)?;
            }
            self.propose();
            if self.search.is_exhausted() {
                self.hunt.exhaust();
                return Ok(false);
            }
            self.start()?;
        }
        if self.is_ahead {
            self.gather(siblings)?;
            self.propose();
        }
        self.meter.finish()?;
        self.is_running = false;
        std::mem::swap(&mut self.text, &mut self.last);
        self.count();
        let is_free = self.is_ahead && self.imports.is_empty() && !self.search.is_exhausted();
        let started = if is_free && self.hunt.may_begin() { self.start() } else { Ok(()) };
        self.learn()?;
        started.map(|()| true)
    }

    /// Makes the next text, unless there is one.
    fn propose(&mut self) {
        if !std::mem::replace(&mut self.has_next, true) {
            self.search.propose();
        }
    }

    /// Lets the program run on the next text.
    fn start(&mut self) -> Result<(), Failure> {
        self.text.clone_from(&self.search.start().text);
        self.has_next = false;
        self.meter.start(&self.text)?;
        self.is_running = true;
        Ok(())
    }

    /// Learns from the run that was measured last.
    fn learn(&mut self) -> Result<(), Failure> {
        let text = std::mem::take(&mut self.last);
        let Reading { measured, outcome } = self.meter.reading();
        let gain = self.search.observe(&measured);
        let (ran, outcome) = (Ran::of(&measured, gain), outcome.clone());
        self.settle(&text, &ran, &outcome, Origin::Own(self.search.strategy().operator()))?;
        self.last = text;
        Ok(())
    }

    /// Counts the run that was measured last.
    fn count(&mut self) {
        let (cost, executed) = (self.meter.reading().measured.cost, self.meter.executed());
        self.hunt.edges_executed.fetch_add(executed, Ordering::Relaxed);
        self.hunt.runs.fetch_add(1, Ordering::Relaxed);
        let mut shared = self.hunt.shared();
        shared.costs[(u64::BITS - cost.leading_zeros()) as usize] += 1;
        shared.repeats += self.search.repeats() - self.told_repeats;
        self.told_repeats = self.search.repeats();
    }

    /// Runs a text from elsewhere.
    fn adopt(&mut self, text: &[u8], origin: Origin) -> Result<(), Failure> {
        if text.len() > self.hunt.plan.max_len || self.hunt.stop.is_signalled() {
            return Ok(());
        }
        let Some(derivation) = self.derive(text) else { return Ok(()) };
        let Reading { measured, outcome } = self.meter.read(text)?;
        let gain = self.search.adopt(&derivation, &measured);
        let (ran, outcome) = (Ran::of(&measured, gain), outcome.clone());
        self.count();
        self.settle(text, &ran, &outcome, origin)
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

    /// Keeps a text that is worth it.
    fn settle(&mut self, text: &[u8], ran: &Ran, outcome: &Outcome, origin: Origin) -> Result<(), Failure> {
        let (operator, source) = origin.parts();
        let (hunt, &Ran { cost, hottest, gain, .. }) = (self.hunt, ran);
        if let Outcome::Exception(_) = outcome {
            hunt.raised.fetch_add(1, Ordering::Relaxed);
            hunt.exception.get_or_init(|| outcome.to_string());
        }
        match ran.ending {
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
        }
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
            hunt.shared().front.add(&ran.costs, found.clone());
        }
        // Files are written once the others can go on.
        if self.share(&found, gain.is_best) {
            if operator.is_some() {
                hunt.keep_best(&mut found)?;
            }
            hunt.shared().news.push(found);
        }
        Ok(())
    }

    /// Shows a text to the other workers; says whether it is the best of all.
    fn share(&mut self, found: &Found, is_best_here: bool) -> bool {
        let edges = self.search.maxima().edges();
        let mut shared = self.hunt.shared();
        if self.hunt.plan.jobs > 1 {
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

    fn keep_timeout(&mut self, text: &[u8], about: &str) -> Result<(), Failure> {
        let hunt = self.hunt;
        if hunt.state.count(Place::Timeouts) < TIMEOUTS {
            hunt.state.keep(Place::Timeouts, text, None, about)?;
        }
        Ok(())
    }

    /// Keeps one text for each way to fail. `gramjet fuzz` tells failures apart.
    fn keep_failure(&mut self, text: &[u8], outcome: &Outcome) -> Result<(), Failure> {
        let words = outcome.to_string();
        let key: String = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let is_first = self.hunt.shared().failures.insert(key.clone());
        if is_first && !self.hunt.state.failures()?.contains(&key) {
            self.hunt.state.fail(&key, &[("input", text.to_vec()), ("outcome", format!("{words}\n").into_bytes())])?;
        }
        Ok(())
    }

    /// Gathers what others have found: all that other threads have, and a text that each of the other searches in a
    /// shared folder has kept, if there is one.
    fn gather(&mut self, siblings: &mut [Siblings]) -> Result<(), Failure> {
        if self.hunt.plan.jobs > 1 {
            let shared = self.hunt.shared();
            let others = shared.texts[self.imported..].iter().filter(|(_, finder)| *finder != self.number);
            self.imports.extend(others.map(|(text, _)| (Arc::clone(text), Origin::Known)));
            self.imported = shared.texts.len();
        }
        for siblings in siblings {
            if let Some(import) = siblings.import()? {
                self.imports.push((import.text.as_slice().into(), Origin::Other(import.about())));
            }
        }
        Ok(())
    }
}
