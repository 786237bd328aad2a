//! One of the threads of a search: it runs texts and learns from what they do.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::siblings::Siblings;
use crate::state::Place;
use gramjet_harness::{Edges, Outcome, Target};
use gramjet_search::{Coverage, Maxima};
use gramjet_session::ParseError;
use gramjet_session::decisions::Deriver;

use super::campaign::{Campaign, Plan};
use super::evidence::{Again, Evidence, Standing};
use super::finding::INPUT;
use super::history::History;
use super::maker::{Maker, Yields, no_yields};
use super::verdict::{Judge, Verdict};
use crate::error::Error;
use crate::subject::Tested;

/// A program of at most this many edges that this many texts in turn have not changed is taken for one that counts
/// none: they are the edges of a wrapper around code that is not instrumented.
const FEW: (usize, u32) = (32, 64);

/// The origin of texts to begin with.
const SEED: &str = "op:seed";

/// Does the work of a worker until the search is over: runs the texts that are known, then those that it makes.
pub(crate) fn work(campaign: &Campaign, number: usize) -> Result<(), Error> {
    let mut worker = Worker::new(campaign, number)?;
    for text in &campaign.kept {
        worker.add(text, None)?;
    }
    let kept: HashSet<&Vec<u8>> = campaign.kept.iter().collect();
    for text in campaign.plan.seeds.iter().filter(|text| !kept.contains(text)) {
        worker.add(text, Some(SEED))?;
    }
    if number == 0 {
        for key in &campaign.unfinished {
            worker.look_at_unfinished(key, &campaign.state.failure(key, INPUT)?)?;
        }
    }
    // What other workers find from now on is no sample.
    worker.maker.begin();
    worker.run_extremes()?;
    while !campaign.is_over() && campaign.begun.fetch_add(1, Ordering::Relaxed) < campaign.plan.runs {
        worker.import()?;
        worker.import_from_siblings()?;
        worker.step()?;
        worker.tell_recent(false);
    }
    worker.tell_yields();
    worker.tell_recent(true);
    Ok(())
}

/// One of the threads, with a program of its own.
pub(crate) struct Worker<'c> {
    pub(crate) campaign: &'c Campaign,
    pub(crate) number: usize,
    pub(crate) tested: Tested,
    pub(crate) judge: Judge,
    /// Texts that its process has run on.
    pub(crate) history: History,
    /// Time at which the program was made to begin a new process, and the duration of the first run in it.
    pub(crate) renewed: (Instant, Duration),
    pub(crate) maker: Maker,
    /// Knows the rule of each symbol.
    deriver: Deriver,
    pub(crate) coverage: Maxima,
    /// Coverage of the runs on texts that may not be in the language. They must not hide what texts of the language do:
    /// only these can be varied by their derivation (after the validity coverage of Padhye and others, *Semantic
    /// Fuzzing with Zest*, ISSTA 2019).
    pub(crate) broken: Maxima,
    /// All of it, with the runs that failed.
    executed: Maxima,
    behaviours: HashSet<u64>,
    /// Number of texts of the language since one did something new.
    unchanged: u32,
    /// Number of the shared texts that it has looked at.
    imported: usize,
    /// The other searches in a shared folder.
    siblings: Option<Siblings>,
    /// Texts that its operators had made when that was said last.
    told: Yields,
    /// The text that is run.
    text: Vec<u8>,
}

/// Effect of a text on the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Something new.
    New,
    /// Nothing new.
    Known,
    /// The program failed.
    Fails,
}

/// Relation of a text to the language, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text that is in the language.
    OfLanguage,
    /// Text that may not be in the language, as bytes of it were changed, or it does not conform.
    Broken,
}

/// A run as the search sees it.
struct Seen {
    verdict: Verdict,
    /// Whether it did something that no run before has done.
    is_new: bool,
    /// Evidence of a run that failed.
    evidence: Option<Evidence>,
    /// Whether the run was cut short, so that it says nothing.
    is_cut: bool,
}

impl<'c> Worker<'c> {
    fn new(campaign: &'c Campaign, number: usize) -> Result<Worker<'c>, Error> {
        let Plan { language, rules, surroundings, call, making, words, max_len, seed, cores, .. } = &campaign.plan;
        let surroundings = surroundings.on(cores.of(number));
        let tested = Tested::new(&call.command, surroundings)?;
        let judge = Judge::new(rules, surroundings)?;
        tested.stay_beside(surroundings);
        let seed = seed.of_worker(number, campaign.state.session());
        let maker = Maker::new(language, *making, words, *max_len, seed)?;
        let (coverage, broken, executed, behaviours) = Default::default();
        let told = no_yields(*making);
        let siblings = if number == 0 { campaign.siblings() } else { None };
        let imported = 0;
        let (history, renewed) = (History::new(tested.has_history()), (Instant::now(), Duration::ZERO));
        Ok(Worker {
            campaign,
            number,
            tested,
            judge,
            history,
            renewed,
            maker,
            deriver: language.deriver(None),
            coverage,
            broken,
            executed,
            behaviours,
            unchanged: 0,
            imported,
            siblings,
            told,
            text: Vec::new(),
        })
    }

    /// Runs a text. A run that fails does nothing that is new to the search, as failures are not varied.
    fn run(&mut self, text: &[u8], kind: Kind) -> Result<Seen, Error> {
        self.maker.compare(None, false);
        let run = self.tested.run(text)?;
        self.history.push(text, run.earlier);
        let mut verdict = self.judge.judge(text, &run)?;
        let advice = self.judge.advice();
        if self.campaign.stop.is_cut() {
            return Ok(Seen { verdict, is_new: false, evidence: None, is_cut: true });
        }
        advice.into_iter().for_each(|advice| self.campaign.advise(advice));
        self.maker.measure(&run, &verdict);
        if let Outcome::Exception(exception) = &run.outcome {
            self.campaign.shared().exceptions.add(&exception.class);
        }
        if let Some(failed) = verdict.failed.take() {
            self.maker.count(&run);
            if let Some(edges) = run.edges {
                add(&mut self.executed, edges);
            }
            let evidence = Evidence::new(failed, &run).identified(&self.tested);
            let standing = match kind {
                Kind::OfLanguage => Standing::Inside,
                Kind::Broken => self.standing(text),
            };
            let evidence = Some(evidence.standing(standing));
            return Ok(Seen { verdict, is_new: false, evidence, is_cut: false });
        }
        let is_new = match run.edges {
            Some(edges) => match kind {
                Kind::OfLanguage => {
                    let is_new = add(&mut self.coverage, edges);
                    if is_new {
                        add(&mut self.executed, edges);
                    }
                    self.unchanged = if is_new { 0 } else { self.unchanged.saturating_add(1) };
                    is_new
                }
                Kind::Broken => add(&mut self.broken, edges) && add(&mut self.executed, edges),
            },
            None => self.behaviours.insert(verdict.behaviour),
        };
        self.maker.compare(run.edges, is_new);
        Ok(Seen { verdict, is_new, evidence: None, is_cut: false })
    }

    /// Runs a text as one of the runs of the search; a failure is looked at.
    pub(crate) fn run_and_count(&mut self, text: &[u8], kind: Kind) -> Result<Effect, Error> {
        let seen = self.run(text, kind)?;
        if seen.is_cut {
            return Ok(Effect::Known);
        }
        let campaign = self.campaign;
        campaign.runs.fetch_add(1, Ordering::Relaxed);
        match kind {
            Kind::OfLanguage => campaign.valid.fetch_add(u64::from(seen.verdict.is_valid), Ordering::Relaxed),
            Kind::Broken => campaign.broken.fetch_add(1, Ordering::Relaxed),
        };
        if let Some(evidence) = seen.evidence {
            campaign.failing.fetch_add(1, Ordering::Relaxed);
            self.tell_edges();
            self.examine(text, evidence)?;
            return Ok(Effect::Fails);
        }
        if seen.is_new {
            return Ok(Effect::New);
        }
        // Where edges tell little of the run, a new derivation counts as new, too.
        let is_new = kind == Kind::OfLanguage && self.is_blind() && self.maker.is_new_derivation(text);
        if is_new {
            // Shorter texts have the same edges, but not the derivation.
            self.maker.compare(None, false);
        }
        Ok(if is_new { Effect::New } else { Effect::Known })
    }

    /// Returns true if the program counts no edges, or only a few that no text changes.
    fn is_blind(&self) -> bool {
        let edges = self.coverage.edges();
        edges == 0 || edges <= FEW.0 && self.unchanged >= FEW.1
    }

    /// Tries the next text.
    fn step(&mut self) -> Result<(), Error> {
        let max_len = self.campaign.plan.max_len;
        let Some(text) = self.maker.propose() else {
            return Err(Error::Usage(format!("every text of the grammar is longer than {max_len} bytes")));
        };
        let mut memory = std::mem::take(&mut self.text);
        memory.clear();
        memory.extend_from_slice(text);
        let text = memory;
        let kind = if self.maker.has_broken() { Kind::Broken } else { Kind::OfLanguage };
        let is_new = self.run_and_count(&text, kind)? == Effect::New;
        let operator = self.maker.operator();
        if self.maker.observe(is_new) {
            self.keep(&text, &format!("op:{operator}"), true)?;
        }
        self.text = text;
        Ok(())
    }

    /// Keeps a text for all workers.
    pub(crate) fn keep(&mut self, text: &[u8], origin: &str, is_written: bool) -> Result<(), Error> {
        let campaign = self.campaign;
        if is_written {
            let about = format!(
                "time:{},execs:{},{origin}",
                campaign.begin.elapsed().as_millis(),
                campaign.runs.load(Ordering::Relaxed)
            );
            campaign.state.keep(Place::Queue, text, None, &about)?;
            if let Some(choices) = self.maker.session().choices(text) {
                campaign.state.keep_choices(&campaign.plan.language, text, choices);
            }
        }
        let symbols = self.maker.session().symbols(text).unwrap_or_default();
        let rules = symbols.iter().filter_map(|&(symbol, _)| self.deriver.rule_of(symbol));
        let mut shared = campaign.shared();
        shared.rules.extend(rules);
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

    /// Runs a text that was not made here, and learns from it if it conforms. If it has an origin and does something
    /// new, it is kept; those of the queue have none.
    fn add(&mut self, text: &[u8], origin: Option<&str>) -> Result<(), Error> {
        let campaign = self.campaign;
        if campaign.is_over() {
            return Ok(());
        }
        let kind = self.kind_of(text);
        if kind == Kind::Broken && !campaign.plan.making.breaks {
            // The search learns nothing from it, but it may fail. One worker runs it.
            return if self.number == 0 { self.look_again(text) } else { Ok(()) };
        }
        let effect = if self.number == 0 {
            self.run_and_count(text, kind)?
        } else {
            match self.run(text, kind)? {
                Seen { evidence: Some(_), .. } => Effect::Fails,
                Seen { is_new: true, .. } => Effect::New,
                Seen { .. } => Effect::Known,
            }
        };
        // Seeds of the language are varied whatever they do.
        if kind == Kind::OfLanguage || effect == Effect::New {
            self.maker.add(text, effect == Effect::Fails, origin == Some(SEED));
        }
        // All workers run these texts. One of them keeps those that do something new.
        if effect == Effect::New && self.number == 0 {
            self.keep(text, origin.unwrap_or_default(), origin.is_some())?;
        }
        Ok(())
    }

    /// Takes over the choice bytes that were kept for a text, as it may be too ambiguous to be parsed.
    fn recall(&mut self, text: &[u8]) {
        let Campaign { plan, state, .. } = self.campaign;
        if self.maker.session().knows(text) {
            return;
        }
        let own = state.view().choices(&plan.language, text);
        let found = own.or_else(|| self.siblings.as_ref()?.choices(&plan.language, text));
        if let Some(choices) = found {
            self.maker.session().offer(text, &choices);
        }
    }

    /// Returns what is known of a text that this worker has not made.
    fn kind_of(&mut self, text: &[u8]) -> Kind {
        self.recall(text);
        if self.maker.session().remember(text) { Kind::OfLanguage } else { Kind::Broken }
    }

    /// Returns whether a text is in the language, if that is known.
    pub(crate) fn standing(&mut self, text: &[u8]) -> Standing {
        let session = self.maker.session();
        if session.remember(text) {
            return Standing::Inside;
        }
        match session.check(text) {
            Ok(()) => Standing::Inside,
            Err(ParseError::Mismatch(_)) => Standing::Outside,
            Err(ParseError::Steps { .. } | ParseError::Memory { .. } | ParseError::TooLong { .. }) => Standing::Unknown,
        }
    }

    /// Runs a text that may fail.
    fn look_again(&mut self, text: &[u8]) -> Result<(), Error> {
        match self.try_again(text)? {
            Again::Failed(evidence) => {
                let standing = self.standing(text);
                self.examine(text, evidence.standing(standing))
            }
            Again::Passed(_) | Again::Cut => Ok(()),
        }
    }

    /// Runs a text that another search in the shared folder has kept, if there is one.
    fn import_from_siblings(&mut self) -> Result<(), Error> {
        let Some(siblings) = &mut self.siblings else { return Ok(()) };
        let import = siblings.import();
        let mut left = siblings.left_alone();
        if !left.is_empty() {
            self.campaign.shared().left.append(&mut left);
        }
        match import {
            Some(import) => self.add(&import.text, Some(&import.about())),
            None => Ok(()),
        }
    }

    /// Runs what others have found.
    fn import(&mut self) -> Result<(), Error> {
        let breaks = self.campaign.plan.making.breaks;
        loop {
            let next = self.campaign.shared().texts.get(self.imported).cloned();
            let Some((text, finder)) = next else { return Ok(()) };
            self.imported += 1;
            if finder == self.number {
                continue;
            }
            // Takes over its choice bytes, too.
            let known = self.kind_of(&text);
            // All texts are of the language where none is broken, even if they are too ambiguous to be parsed.
            let kind = if breaks { known } else { Kind::OfLanguage };
            if self.run(&text, kind)?.is_new {
                self.maker.add(&text, false, false);
                self.tell_edges();
            }
        }
    }
}

/// Adds the edges of a run to the coverage of earlier runs. Returns true if an edge, or a class of counts, is new.
fn add(coverage: &mut Maxima, edges: &Edges) -> bool {
    coverage.add_each(edges.counts()).coverage > Coverage::Known
}
