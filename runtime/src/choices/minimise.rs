//! Makes choice bytes simpler while a test of their output holds.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::choices::trace::Lifted;
use crate::choices::{Choices, TracedInput, Tracer};

mod candidate;
mod need;
mod plain;
mod pool;
mod yields;

use candidate::{Candidate, Group};
use need::{MOST_COMPARED, Need, Range, common, decay};
use plain::Plain;
use pool::{Reach, candidates};
use yields::{ChangeKind, Yields};

/// The result of [`minimise`].
#[derive(Clone, Debug)]
pub struct Minimised {
    /// The simplest choice bytes found, all of which are read.
    pub choices: Vec<u8>,
    /// Output of these choice bytes.
    pub output: Vec<u8>,
    /// Number of times that the test was run.
    pub tests: u64,
    /// Whether the number of tests ended the search.
    pub exhausted: bool,
}

/// Searches for simpler choice bytes for whose output `test` holds; it must hold for the output of `choices`. Runs the
/// test at most `max_tests` times. [`Minimiser`] describes the search.
pub fn minimise(
    tracer: &mut (impl Tracer + ?Sized),
    choices: &[u8],
    max_tests: u64,
    test: &mut dyn FnMut(&[u8]) -> bool,
) -> Minimised {
    let mut minimiser = Minimiser::new(tracer, choices);
    let mut tests = 0;
    while tests < max_tests
        && let Some(output) = minimiser.propose(tracer)
    {
        tests += 1;
        let holds = test(output);
        minimiser.judge(tracer, holds);
    }
    let (output, choices) = (minimiser.best().output().to_vec(), minimiser.choices(tracer));
    Minimised { exhausted: tests >= max_tests, tests, output, choices }
}

/// A search for simpler choice bytes, one candidate at a time, for callers who run the test themselves.
///
/// A shorter output is simpler; among equally long ones fewer choice bytes are, then lower ones. First the search
/// shortens the output. It finds the possible changes from the spans: a part becomes as short as it can be, replaces a
/// part around it, or is removed; a choice takes another option and keeps its contents; a few bytes anywhere are
/// removed. If the tracer has a parser, parts of any symbols can replace each other, and any range can be removed that
/// leaves a text of the grammar. The change with the greatest expected gain comes next: each failed test shows which
/// bytes are needed (Wang et al. 2021). Then sites read lower values, all at once, then fewer. No text is tested twice.
///
/// Under a length limit, the search changes the choice bytes without the limit: no candidate is longer than the input.
#[derive(Clone, Debug)]
pub struct Minimiser {
    best: TracedInput,
    /// Whether the tracer's length limit is lifted.
    lifts: bool,
    proposal: Proposal,
    /// The trace of a proposal for which the test holds.
    tried: TracedInput,
    most: usize,
    need: Need,
    pool: Pool,
    stage: Stage,
    /// Texts for which the test has failed, and texts that do not conform, by hash.
    tested: BTreeSet<u64>,
    refused: BTreeSet<u64>,
    /// Bytes of candidates made since the last one that was tested.
    idle: usize,
    /// Whether only whole parts are changed, and only for shorter outputs.
    parts_only: bool,
    yields: Yields,
    /// Groups of equal parts that are needed.
    needed: BTreeSet<Group>,
    /// Memory for what a candidate lacks.
    missing: Vec<Range>,
}

/// A candidate for the test; it is traced only if the test holds for it.
#[derive(Clone, Debug, Default)]
struct Proposal {
    choices: Vec<u8>,
    output: Vec<u8>,
    waits: Option<Waiting>,
}

/// The possible changes of the best input.
#[derive(Clone, Debug)]
struct Pool {
    candidates: Vec<Candidate>,
    reach: Reach,
    /// Whether the pool was made from the best input.
    is_filled: bool,
}

/// The stage of the search.
#[derive(Clone, Debug)]
enum Stage {
    /// The output gets shorter.
    Shorter,
    /// Sites read lower values.
    Plainer(Plain),
    /// Nothing helps.
    Done,
}

/// The proposal that waits for its verdict.
#[derive(Clone, Debug)]
enum Waiting {
    /// A shorter output.
    Shorter(Trial),
    /// Lower values.
    Plainer,
}

/// A test of a shorter output.
#[derive(Clone, Debug)]
struct Trial {
    /// If the test fails, one of these bytes is likely to be needed, or it is not known which.
    missing: Option<Box<[Range]>>,
    /// Equal parts that are all missing.
    group: Option<Group>,
    kind: ChangeKind,
    /// Probability that no missing byte is needed.
    probability: f64,
}

/// The search ends after candidates of this many bytes in a row that are no simpler: where many parts cannot get
/// shorter, each would cost a run. Parsing a byte costs as much as making this number of bytes.
const MAX_IDLE: usize = 1 << 27;
const PARSING: usize = 32;
/// A change that should only remove has at most this number of new bytes, those of a shortest part.
const MAX_NEWS: usize = 2;
/// A test is made only if it is expected to shorten the text by this part of it.
const LEAST_GAIN: f64 = 1.0 / 256.0;
/// Less is enough for new text: it comes last, and is the way out where nothing can be removed.
const LESS_OF_NEW: f64 = 0.25;
/// At most this number of texts that do not conform is remembered.
const MAX_REFUSED: usize = 1 << 16;

/// Returns the tracer without its length limit, but with its bound on choice bytes.
fn lifted<T: Tracer + ?Sized>(tracer: &mut T) -> Lifted<'_, T> {
    let max_choices = tracer.limits().choices();
    Lifted::new(tracer, max_choices)
}

impl Minimiser {
    /// Returns a search that begins with `choices`.
    pub fn new(tracer: &mut (impl Tracer + ?Sized), choices: &[u8]) -> Minimiser {
        let most = choices.len().max(1 << 20);
        let mut best = TracedInput::new(tracer, choices, most);
        // A text has no more choice bytes under the limit than without it.
        let limits = tracer.limits();
        let has_room = best.without_max_len().len() as u64 <= limits.choices();
        let lifts = limits.length().is_some() && best.exists_without_max_len() && has_room;
        if lifts {
            best.lift();
        }
        let len = best.output().len();
        Minimiser {
            need: Need::new(len),
            best,
            lifts,
            proposal: Proposal::default(),
            tried: TracedInput::default(),
            most,
            pool: Pool { candidates: Vec::new(), reach: Reach::first(len), is_filled: false },
            stage: Stage::Shorter,
            tested: BTreeSet::new(),
            refused: BTreeSet::new(),
            idle: 0,
            parts_only: false,
            yields: Yields::default(),
            needed: BTreeSet::new(),
            missing: Vec::new(),
        }
    }

    /// Takes only the steps that change whole parts, and only to shorter outputs. They reach most of the result in far
    /// fewer tests.
    #[must_use]
    pub fn parts_only(self) -> Minimiser {
        let pool = Pool { reach: self.pool.reach.min(Reach::Parts), ..self.pool };
        Minimiser { parts_only: true, pool, ..self }
    }

    /// Returns the simplest input for which the test has held. Under a length limit its choice bytes are those without
    /// the limit.
    pub fn best(&self) -> &TracedInput {
        &self.best
    }

    /// Returns the choice bytes of the simplest input under the limits in force, which are those that the search began
    /// with.
    pub fn choices(&self, tracer: &mut (impl Tracer + ?Sized)) -> Vec<u8> {
        if !self.lifts {
            return self.best.choices().to_vec();
        }
        let mut choices = Vec::new();
        // No input of the search is longer than the first one.
        tracer.within_max_len(self.best.choices(), &mut choices);
        choices
    }

    /// Returns the next candidate's output, to be tested; `None` if nothing helps any more. A candidate that was not
    /// judged is dropped. Candidates are rendered by the tracer's [`Producer::produce`](crate::Producer::produce), and
    /// traced only if they are accepted.
    pub fn propose(&mut self, tracer: &mut (impl Tracer + ?Sized)) -> Option<&[u8]> {
        let is_found = if self.lifts { self.advance(&mut *lifted(tracer)) } else { self.advance(tracer) };
        is_found.then_some(&self.proposal.output)
    }

    /// Makes the next candidate; says whether there is one.
    fn advance(&mut self, tracer: &mut (impl Tracer + ?Sized)) -> bool {
        if self.proposal.waits.is_some() {
            self.decide(tracer, false);
        }
        self.idle = 0;
        loop {
            match &mut self.stage {
                Stage::Shorter => match self.shorter(tracer) {
                    Some(trial) => {
                        self.proposal.waits = Some(Waiting::Shorter(trial));
                        break;
                    }
                    None if self.parts_only => self.stage = Stage::Done,
                    None => self.stage = Stage::Plainer(Plain::new(&self.best, tracer, &self.need)),
                },
                Stage::Plainer(plain) => {
                    let tested = |text: &[u8]| self.tested.contains(&hash(text));
                    if plain.propose(
                        &mut self.best,
                        tracer,
                        &self.need,
                        &tested,
                        &mut self.proposal.choices,
                        &mut self.proposal.output,
                    ) {
                        self.proposal.waits = Some(Waiting::Plainer);
                        break;
                    }
                    self.stage = Stage::Done;
                }
                Stage::Done => return false,
            }
        }
        true
    }

    /// Returns the output that was proposed last.
    pub(crate) fn output(&self) -> &[u8] {
        &self.proposal.output
    }

    /// Returns the choice bytes of the last proposal.
    pub(crate) fn candidate(&self) -> &[u8] {
        &self.proposal.choices
    }

    /// Makes the candidate that is likely to shorten the output most; `None` if there is none that is worth a test.
    fn shorter(&mut self, tracer: &mut (impl Tracer + ?Sized)) -> Option<Trial> {
        loop {
            if !self.pool.is_filled {
                self.fill(tracer);
            }
            while let Some((at, probability)) = self.most_promising() {
                let mut candidate = self.pool.candidates.swap_remove(at);
                let group = candidate.group(self.best.output());
                if group.is_some_and(|group| self.needed.contains(&group)) {
                    continue;
                }
                if self.idle > MAX_IDLE {
                    return None;
                }
                if self.is_made(&mut candidate, tracer) {
                    candidate.missing(&mut self.missing);
                    let missing = candidate.teaches().then(|| self.missing.as_slice().into());
                    return Some(Trial { missing, group, kind: candidate.kind(), probability });
                }
            }
            let reach = self.pool.reach.further().filter(|&reach| !self.parts_only || reach <= Reach::Parts)?;
            self.pool.reach = reach;
            self.pool.is_filled = false;
        }
    }

    /// Returns the place in the pool of the candidate with the greatest expected gain, and the probability that the
    /// test holds for it as far as it depends on the missing bytes; `None` if too little is expected of each.
    fn most_promising(&mut self) -> Option<(usize, f64)> {
        let least = LEAST_GAIN * (self.best.output().len() as f64).min(1.0 / LEAST_GAIN);
        let (mut best, mut most) = (None, 0.0);
        let mut missing = std::mem::take(&mut self.missing);
        for (at, candidate) in self.pool.candidates.iter_mut().enumerate() {
            let kind = candidate.kind();
            let least = match kind {
                // It is not known how likely this is.
                _ if candidate.takes_all => 0.0,
                ChangeKind::New => least * LESS_OF_NEW,
                _ => least,
            };
            let factor = f64::from(candidate.gain) * self.yields.factor(kind);
            // Multiplying by a probability cannot make it larger.
            if factor <= most || factor < least {
                continue;
            }
            candidate.missing(&mut missing);
            let mut probability = decay(self.need.rate_without(&missing));
            if factor * probability <= most || factor * probability < least {
                continue;
            }
            if candidate.has_failed(&missing, &self.need) {
                probability *= candidate.second_chance();
            }
            let gain = factor * probability;
            if gain > most && gain >= least {
                (best, most) = (Some((at, probability)), gain);
            }
        }
        self.missing = missing;
        best
    }

    /// Finds changes that may make the best output shorter.
    fn fill(&mut self, tracer: &mut (impl Tracer + ?Sized)) {
        self.pool.is_filled = true;
        let mut pool = std::mem::take(&mut self.pool.candidates);
        candidates(&self.best, tracer, &self.need, self.pool.reach, &mut pool);
        let mut texts = BTreeSet::new();
        pool.retain_mut(|candidate| {
            if !candidate.is_blind() {
                return true;
            }
            if self.idle > MAX_IDLE || !self.is_made(candidate, tracer) || !texts.insert(hash(&self.proposal.output)) {
                return false;
            }
            let best = self.best.output();
            candidate.gain = (best.len() - self.proposal.output.len()) as u32;
            self.idle += (best.len() * self.proposal.output.len()).min(MOST_COMPARED);
            let (mut lacks, mut at) = (Vec::new(), 0);
            for (from, _, len) in common(best, &self.proposal.output) {
                lacks.push((at as u32, from as u32));
                at = from + len;
            }
            lacks.push((at as u32, best.len() as u32));
            candidate.lacks = Some(lacks.into());
            true
        });
        self.pool.candidates = pool;
    }

    /// Makes a candidate's choice bytes and output. Says whether it is shorter and new.
    fn is_made(&mut self, candidate: &mut Candidate, tracer: &mut (impl Tracer + ?Sized)) -> bool {
        self.proposal.output.clear();
        self.proposal.choices.clear();
        if candidate.is_parsed() {
            let mut text = Vec::new();
            candidate.text(&self.best, &mut text);
            let name = hash(&text);
            if self.tested.contains(&name) || self.refused.contains(&name) {
                return false;
            }
            self.idle += text.len() * PARSING;
            if let Some(choices) = tracer.parse(&text) {
                self.proposal.choices = choices;
                tracer.produce(&mut Choices::replay(&self.proposal.choices), &mut self.proposal.output);
                // Under limits it can be another one.
                if self.proposal.output == text {
                    return true;
                }
            }
            if self.refused.len() >= MAX_REFUSED {
                self.refused.clear();
            }
            self.refused.insert(name);
            return false;
        }
        if !candidate.choices(&self.best, &self.need, tracer, &mut self.proposal.choices) {
            return false;
        }
        let read = tracer.produce(&mut Choices::replay(&self.proposal.choices), &mut self.proposal.output);
        self.proposal.choices.truncate(usize::try_from(read).unwrap_or(usize::MAX));
        self.idle += self.proposal.choices.len() + self.proposal.output.len();
        self.proposal.output.len() < self.best.output().len()
            && !self.tested.contains(&hash(&self.proposal.output))
            && !(candidate.only_removes() && news(self.best.output(), &self.proposal.output) > MAX_NEWS)
    }

    /// Says whether the test holds for the candidate. The tracer is the one that it was proposed with.
    pub fn judge(&mut self, tracer: &mut (impl Tracer + ?Sized), holds: bool) {
        if self.lifts {
            self.decide(&mut *lifted(tracer), holds);
        } else {
            self.decide(tracer, holds);
        }
    }

    fn decide(&mut self, tracer: &mut (impl Tracer + ?Sized), holds: bool) {
        let Some(waiting) = self.proposal.waits.take() else { return };
        if let Waiting::Shorter(Trial { kind, probability, group, .. }) = &waiting {
            self.yields.judge(*kind, *probability, holds);
            self.needed.extend(group.filter(|_| !holds));
        }
        let is_same = holds && {
            self.tried.retrace(tracer, &self.proposal.choices, self.most);
            // Choice bytes that were missing are there now.
            self.tried.output() == self.proposal.output
        };
        if !is_same {
            self.tested.insert(hash(&self.proposal.output));
            match (waiting, &mut self.stage) {
                (Waiting::Shorter(Trial { missing: Some(missing), .. }), _) if !holds => {
                    self.need.fails_without(self.best.output(), &missing);
                }
                (Waiting::Plainer, Stage::Plainer(plain)) => plain.judge(&self.best, &mut self.need, false),
                _ => {}
            }
            return;
        }
        // Fewer choices are another structure, also of an output with the same length.
        let order = |input: &TracedInput| (input.output().len(), input.choices().len());
        let has_same_sites = order(&self.tried) == order(&self.best);
        self.need.replace(self.best.output(), &self.proposal.output);
        std::mem::swap(&mut self.best, &mut self.tried);
        self.pool.is_filled = false;
        match &mut self.stage {
            Stage::Plainer(plain) if has_same_sites => plain.judge(&self.best, &mut self.need, true),
            stage => {
                let reach = Reach::first(self.proposal.output.len());
                self.pool.reach = if self.parts_only { reach.min(Reach::Parts) } else { reach };
                *stage = Stage::Shorter;
            }
        }
    }
}

/// Returns how many bytes of a text are not in another one, in that order.
fn news(old: &[u8], new: &[u8]) -> usize {
    let mut rest = old.iter();
    let is_new = |byte: &&u8| {
        let before = rest.clone();
        let is_there = rest.any(|other| other == *byte);
        if !is_there {
            rest = before;
        }
        !is_there
    };
    new.iter().filter(is_new).count()
}

fn hash(text: &[u8]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}
