//! A search for costly texts: a strategy with what is known of all texts.

use std::borrow::Cow;
use std::collections::VecDeque;

use gramjet_session::Language;
use gramjet_session::decisions::Derivation;
use rustc_hash::FxHashMap;

use crate::digest::digest;
use crate::enumeration::Every;
use crate::front::{Front, together};
use crate::maxima::{Maxima, Novelty};
use crate::random::{Random, Seed};
use crate::strategy::{Desk, Ending, Making, Measured, Repeats, Strategy};

/// The best text so far.
#[derive(Clone, Debug, Default)]
pub struct Best {
    /// The text with its derivation; strategies that change bytes give a text only.
    pub derivation: Derivation,
    /// Its cost.
    pub cost: u64,
    /// The number of the run that found it, from 1 on.
    pub run: u64,
}

/// Gain of a run for a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// The text costs more than all before that ended by themselves, or as much and is shorter.
    pub is_best: bool,
    /// The text has several costs, and no other text costs at least as much by every measure.
    pub is_trade_off: bool,
    /// New coverage and new maxima of edges.
    pub novelty: Novelty,
}

/// Remembered measurements of a text.
#[derive(Clone, Copy, Debug)]
struct Known {
    cost: u64,
    ending: Ending,
}

/// Number of texts whose costs are remembered; when it is reached, all are forgotten. A table of twice the memory
/// would begin here.
const REMEMBERED: usize = 7 << 19;
/// If this many texts in a row were run before, one that was not is looked for.
const REPEATS: usize = 1000;
/// At most this many texts of the language are looked at each time, and at most this many in all.
const LOOKED: u64 = 20_000;
const LOOKED_IN_ALL: u64 = 1 << 22;

/// A text to run.
#[derive(Debug, Default)]
struct Proposal {
    derivation: Derivation,
    making: Making,
    /// The strategy did not propose it.
    is_found: bool,
}

/// A search for costly texts. It proposes texts, and the caller runs them.
///
/// The same seed and measurements give the same texts. To make a text while one runs, [`Search::start`] puts the text
/// that was proposed last aside; [`Search::observe`] is for the first of those then.
pub struct Search {
    desk: Desk,
    strategy: Box<dyn Strategy>,
    candidate: Box<Proposal>,
    /// The text that was proposed or observed last is not of the strategy.
    was_found: bool,
    /// Proposals that run, or have run and were not observed, with the digests of their texts.
    running: VecDeque<(u64, Box<Proposal>)>,
    /// Number of them that the strategy waits for.
    awaited: usize,
    /// Memory for further ones.
    #[expect(clippy::vec_box, reason = "boxes are handed on")]
    spare: Vec<Box<Proposal>>,
    known: FxHashMap<u64, Known>,
    maxima: Maxima,
    best: Option<Best>,
    front: Front<Vec<u8>>,
    runs: u64,
    repeats: u64,
    /// All texts of the language, to find one that was not run, and how many were looked at.
    every: Every,
    looked: u64,
    is_exhausted: bool,
}

impl Search {
    /// Returns a search among the texts of a language of at most `max_len` bytes; `None` if all texts are longer.
    pub fn new(language: &Language, strategy: Box<dyn Strategy>, max_len: usize, seed: Seed) -> Option<Search> {
        let deriver = language.deriver(Some(max_len as u64));
        (deriver.min_len() <= max_len as u64).then(|| Search {
            desk: Desk::new(deriver, max_len, Random::new(seed.number())),
            strategy,
            candidate: Box::default(),
            was_found: false,
            running: VecDeque::new(),
            awaited: 0,
            spare: Vec::new(),
            known: FxHashMap::default(),
            maxima: Maxima::new(),
            best: None,
            front: Front::default(),
            runs: 0,
            repeats: 0,
            every: Every::default(),
            looked: 0,
            is_exhausted: false,
        })
    }

    /// Explores: texts with new coverage are varied more than those that cost most. `portfolio` alone does.
    pub fn explore(&mut self) {
        self.desk.explores = true;
    }

    /// Lets the strategy decide by the time of runs where no edges are counted. Then equal seeds do not give equal
    /// searches.
    pub fn use_times(&mut self) {
        self.desk.uses_times = true;
    }

    /// Tells the search what the empty text costs. Runs that cost less are not counted by `treeline`.
    pub fn set_empty_cost(&mut self, measured: &Measured) {
        self.desk.empty_cost = guiding(measured).cost;
    }

    /// Returns the strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// Returns what strategies work with.
    pub fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }

    /// Returns the best text that ended by itself.
    pub fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    /// Returns the texts with several costs that no other text beats in all of them.
    pub fn front(&self) -> &Front<Vec<u8>> {
        &self.front
    }

    /// Returns true if all texts of the language within the limit on length were run. The texts that are proposed from
    /// then on were run before.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Returns the greatest counts of all edges.
    pub fn maxima(&self) -> &Maxima {
        &self.maxima
    }

    /// Returns how many texts were run.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Returns how many proposed texts had been run before.
    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    /// Returns true if the strategy learns from texts that are not of the grammar, too.
    pub fn takes_any_text(&self) -> bool {
        self.strategy.takes_any_text()
    }

    /// Returns true if a text may be proposed while others run.
    pub fn proposes_ahead(&self) -> bool {
        self.strategy.proposes_ahead()
    }

    /// Returns true if the strategy waits for the run of a text that was started. It gets better texts if none is
    /// proposed until then. The answer does not depend on time, unless the strategy [uses times](Search::use_times).
    pub fn awaits_run(&self) -> bool {
        self.awaited > 0
    }

    /// Returns the text to run next. It is none of those that run, if there is another one. Its derivation may lack the
    /// parts.
    pub fn propose(&mut self) -> &Derivation {
        self.make();
        self.was_found = self.candidate.is_found;
        &self.candidate.derivation
    }

    fn make(&mut self) {
        self.candidate.is_found = false;
        for _ in 0..REPEATS {
            let Proposal { derivation, making, .. } = &mut *self.candidate;
            self.strategy.propose(&mut self.desk, derivation);
            *making = self.strategy.making();
            if self.strategy.repeats() == Repeats::Run {
                return;
            }
            let digest = digest(&derivation.text);
            let known = match self.known.get(&digest) {
                Some(&known) => known,
                // What it costs is not known yet, and is told once it is.
                None if self.is_running(digest) => Known { cost: 0, ending: Ending::Done },
                None => return,
            };
            self.repeats += 1;
            let Known { cost, ending } = known;
            let measured = Measured { cost, ending, is_repeat: true, ..Measured::default() };
            self.strategy.observe(&mut self.desk, &self.candidate.derivation, &measured);
        }
        // Strategies that change bytes leave the language.
        if self.candidate.derivation.is_of_language() {
            self.look();
        }
    }

    /// Takes note that the text that was proposed last runs from now on, and another one may be proposed. Its
    /// derivation may lack the parts.
    pub fn start(&mut self) -> &Derivation {
        let started = std::mem::replace(&mut self.candidate, self.spare.pop().unwrap_or_default());
        self.awaited += usize::from(started.making.is_awaited());
        self.running.push_back((digest(&started.derivation.text), started));
        let (_, started) = &self.running[self.running.len() - 1];
        &started.derivation
    }

    fn is_running(&self, digest: u64) -> bool {
        self.running.iter().any(|running| running.0 == digest)
    }

    /// Makes a text that was not run the candidate, if one is found.
    fn look(&mut self) {
        let mut found = Derivation::default();
        for _ in 0..LOOKED {
            if self.is_exhausted || self.looked >= LOOKED_IN_ALL {
                return;
            }
            self.looked += 1;
            if !self.every.next(&mut self.desk.deriver, &mut found) {
                self.is_exhausted = true;
                return;
            }
            let digest = digest(&found.text);
            if !self.known.contains_key(&digest) && !self.is_running(digest) {
                *self.candidate = Proposal { derivation: found, is_found: true, ..Proposal::default() };
                return;
            }
        }
    }

    /// Says that all seeds were adopted. Texts from other workers are no seeds, however early they come.
    pub fn begin(&mut self) {
        self.strategy.begin(&mut self.desk);
    }

    /// Learns from the run of the text that was started first and not observed; if none was started, of the one that
    /// was proposed last.
    pub fn observe(&mut self, measured: &Measured) -> Gain {
        let started = self.running.pop_front();
        let is_started = started.is_some();
        let (digest, proposal) = started.unwrap_or_else(|| {
            let candidate = std::mem::replace(&mut self.candidate, self.spare.pop().unwrap_or_default());
            (digest(&candidate.derivation.text), candidate)
        });
        self.awaited -= usize::from(is_started && proposal.making.is_awaited());
        let gain = self.record(&proposal.derivation, digest, measured);
        let guiding = guiding(measured);
        self.was_found = proposal.is_found;
        self.strategy.recall(proposal.making);
        if proposal.is_found {
            self.strategy.adopt(&mut self.desk, &proposal.derivation, &guiding);
        } else {
            self.strategy.observe(&mut self.desk, &proposal.derivation, &guiding);
        }
        // The candidate is the next text, if one was started.
        let unused = if is_started { proposal } else { std::mem::replace(&mut self.candidate, proposal) };
        self.spare.push(unused);
        gain
    }

    /// Returns what made the text that was proposed or observed last: an operator, the strategy itself, or `enumerate`
    /// if the strategy made no more new texts, and those of the language were listed.
    pub fn operator(&self) -> &'static str {
        if self.was_found { "enumerate" } else { self.strategy.operator() }
    }

    /// Learns from the run of a text from elsewhere. Texts that are too long are left out.
    pub fn adopt(&mut self, derivation: &Derivation, measured: &Measured) -> Gain {
        if derivation.text.len() > self.desk.max_len {
            return Gain::default();
        }
        let gain = self.record(derivation, digest(&derivation.text), measured);
        self.strategy.adopt(&mut self.desk, derivation, &guiding(measured));
        gain
    }

    /// Learns what a sample uses. It may be of any length: the search does not run it again.
    pub fn learn(&mut self, sample: &Derivation, measured: &Measured) {
        self.strategy.adopt(&mut self.desk, sample, measured);
    }

    fn record(&mut self, derivation: &Derivation, digest: u64, measured: &Measured) -> Gain {
        self.runs += 1;
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let &Measured { cost, ending, .. } = measured;
        let guide = guiding(measured).cost;
        self.known.insert(digest, Known { cost: guide, ending });
        let novelty = self.maxima.add(&measured.edges);
        let shorter = |best: &Best| best.cost == cost && derivation.text.len() < best.derivation.text.len();
        let is_best = ending == Ending::Done && self.best.as_ref().is_none_or(|best| best.cost < cost || shorter(best));
        if is_best {
            let mut best = derivation.clone();
            self.desk.deriver.complete(&mut best);
            self.best = Some(Best { derivation: best, cost, run: self.runs });
        }
        let is_trade_off = ending == Ending::Done
            && !measured.several().is_empty()
            && self.front.add(measured.several(), derivation.text.clone()).is_some();
        Gain { is_best, is_trade_off, novelty }
    }
}

/// Returns the measurements that guide a strategy: one number stands for several costs.
fn guiding(measured: &Measured) -> Cow<'_, Measured> {
    match measured.several() {
        [] => Cow::Borrowed(measured),
        costs => Cow::Owned(Measured { cost: together(costs), ..measured.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit;

    #[test]
    fn a_language_of_which_all_texts_were_run_is_exhausted() {
        for name in ["portfolio", "random"] {
            let mut search = kit::search("s ::= [ab]{3}", kit::strategy(name), 3, 1);
            let mut texts = std::collections::BTreeSet::new();
            while !search.is_exhausted() {
                let text = search.propose().text.clone();
                search.observe(&kit::measured(text.iter().filter(|&&byte| byte == b'b').count() as u64, &[]));
                texts.insert(text);
                assert!(search.runs() < 100, "{name}");
            }
            assert_eq!((texts.len(), search.best().map(|best| best.cost)), (8, Some(3)), "{name}");
        }
    }

    #[test]
    fn the_empty_text_costs_what_guides_the_strategy() {
        let mut search = kit::search("s ::= [ab]{3}", kit::strategy("portfolio"), 3, 1);
        search.set_empty_cost(&kit::measured(100, &[]));
        assert_eq!(search.desk().empty_cost, 100);
        let measured = Measured { costs: vec![1000, 1000], ..Measured::default() };
        search.set_empty_cost(&measured);
        assert_eq!(search.desk().empty_cost, guiding(&measured).cost);
        assert!(search.desk().empty_cost > 1000);
    }

    #[test]
    fn a_language_with_texts_that_were_not_run_is_not_exhausted() {
        let mut search = kit::search(kit::WORDS, kit::strategy("portfolio"), 20, 1);
        kit::run(&mut search, 2000, kit::count_of(b'a'));
        assert!(!search.is_exhausted());
    }

    /// Runs texts with this many made before the first of them is observed.
    fn run_ahead(search: &mut Search, ahead: usize, runs: usize, cost: impl Fn(&[u8]) -> u64) -> Vec<Vec<u8>> {
        let (mut running, mut texts) = (VecDeque::new(), Vec::new());
        while texts.len() < runs && !(search.is_exhausted() && running.is_empty()) {
            while running.len() < ahead && !search.is_exhausted() {
                search.propose();
                if !search.is_exhausted() {
                    running.push_back(search.start().text.clone());
                }
            }
            let Some(text) = running.pop_front() else { break };
            search.observe(&kit::measured(cost(&text), &[]));
            texts.push(text);
        }
        texts
    }

    #[test]
    fn texts_that_run_are_not_proposed_again() {
        for ahead in 1..5 {
            let mut search = kit::search("s ::= [ab]{3}", kit::strategy("portfolio"), 3, 1);
            let texts = run_ahead(&mut search, ahead, 100, |text| u64::from(text == b"bab"));
            let different: std::collections::BTreeSet<&Vec<u8>> = texts.iter().collect();
            assert_eq!((texts.len(), different.len()), (8, 8), "{ahead}: {texts:?}");
            assert_eq!(search.best().map(|best| best.derivation.text.clone()), Some(b"bab".to_vec()), "{ahead}");
        }
    }

    /// Each cost belongs to the text that was started first, whatever is proposed meanwhile.
    #[test]
    fn a_search_that_is_ahead_finds_as_much() {
        let cost = |text: &[u8]| kit::nesting(text).0;
        let best = |ahead, seed| {
            let mut search = kit::search(kit::BRACKETS, kit::strategy("portfolio"), 30, seed);
            run_ahead(&mut search, ahead, 600, cost);
            let best = search.best().expect("a text");
            assert_eq!(best.cost, cost(&best.derivation.text));
            best.cost
        };
        let [one, three] = [1, 3].map(|ahead| (1..=6).map(|seed| best(ahead, seed)).sum::<u64>());
        assert!(three * 10 > one * 9, "{three} and {one}");
    }

    #[test]
    fn one_at_a_time_a_search_goes_the_same_way_with_start_and_without() {
        let texts = |starts: bool| {
            let mut search = kit::search(kit::WORDS, kit::strategy("portfolio"), 20, 3);
            let cost = |text: &[u8]| text.iter().filter(|&&byte| byte == b'a').count() as u64;
            if starts {
                return run_ahead(&mut search, 1, 500, cost);
            }
            let one = |_| {
                let text = search.propose().text.clone();
                search.observe(&kit::measured(cost(&text), &[]));
                text
            };
            (0..500).map(one).collect()
        };
        assert_eq!(texts(true), texts(false));
    }

    /// A variant of a slow text is likely to be slow, too.
    #[test]
    fn the_runs_of_variants_of_slow_texts_are_awaited() {
        let awaited = |executed: u64| {
            let mut search = kit::search(kit::WORDS, kit::strategy("portfolio"), 20, 1);
            let mut running = VecDeque::new();
            let waits = |_: &u64| {
                while running.is_empty() || running.len() < 8 && !search.awaits_run() {
                    search.propose();
                    running.push_back(search.start().text.len() as u64);
                }
                let cost = running.pop_front().expect("a text that runs");
                let waits = search.awaits_run();
                search.observe(&kit::measured(cost, &[(1, executed)]));
                waits
            };
            (0..1000).filter(waits).count()
        };
        assert_eq!(awaited(1 << 20), 0);
        // The first texts vary none.
        let slow = awaited((1 << 20) + 1);
        assert!((800..1000).contains(&slow), "{slow}");
    }

    /// Letters of two kinds compete for the room.
    #[test]
    fn several_costs_keep_their_trade_offs() {
        for seed in 1..=5 {
            let mut search = kit::search("s ::= [abc]{10}", kit::strategy("portfolio"), 10, seed);
            for _ in 0..10_000 {
                let text = search.propose().text.clone();
                let count = |wanted| text.iter().filter(|&&byte| byte == wanted).count() as u64;
                let costs = [count(b'a'), count(b'b')];
                search.observe(&Measured { costs: costs.to_vec(), ..kit::measured(costs[0], &[]) });
            }
            let mut costs: Vec<Vec<u64>> = search.front().members().map(|member| member.0.to_vec()).collect();
            costs.sort();
            let all: Vec<Vec<u64>> = (0..=10).map(|a| vec![a, 10 - a]).collect();
            assert_eq!(costs, all, "{seed}");
        }
    }
}
