//! The repair: rounds of narrowing and widening, until nothing more is found.

use std::collections::BTreeSet;

use gramjet_compiler::ast::Grammar;
use gramjet_session::Random;

use crate::refine::candidate::Candidate;
use crate::refine::evidence::{Ask, Bytes, Evidence, Hunt};
use crate::refine::mutants::Mutants;
use crate::refine::reader::{Derivation, Reader};
use crate::refine::report::{Apply, Direction, Edit, Edited, Report, Share, Source};
use crate::refine::source::whole;

mod fresh;
mod narrowing;
mod rate;
mod reach;
mod review;
mod trial;
mod widening;

use review::Version;

/// Settings that say how long and how closely a repair looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The number that all choices depend on.
    pub seed: u64,
    /// The most rounds.
    pub rounds: u32,
    /// Generated texts by which precision is measured, and among which rejected ones are sought.
    pub survey: usize,
    /// Mutants that the program is asked about in each round.
    pub hunt: u64,
    /// Fresh texts by which an edit is judged.
    pub fresh: usize,
    /// The changes that the result has.
    pub apply: Apply,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { seed: 0, rounds: 6, survey: 300, hunt: 3000, fresh: 40, apply: Apply::Needed }
    }
}

/// The most edits of one direction in a round.
const MOST_EDITS: usize = 16;

/// Texts of examples and leftovers that a report has.
const MOST_SHOWN: usize = 8;

/// Texts that serve as bases of mutants, and the longest of them.
const MOST_BASES: usize = 80;
const LONGEST_BASE: usize = 1 << 12;

/// Repairs a grammar. `ask` says whether the program accepts a text, or `None` once it is to end; `is_over` says that
/// between questions. `tell` gets each edit when it is made. `samples` are texts that the program may accept. The same
/// answers give the same result.
pub fn refine(
    source: &Source,
    samples: &[Vec<u8>],
    settings: &Settings,
    ask: &mut dyn FnMut(&[u8]) -> Option<bool>,
    is_over: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&Edit),
) -> Report {
    let mut repair = Repair::new(source, settings, is_over);
    let result = repair.run(samples, ask, tell);
    repair.report(source, &settings.apply, result.is_some(), ask)
}

/// The state of a repair.
struct Repair<'r> {
    is_over: &'r dyn Fn() -> bool,
    settings: Settings,
    random: Random,
    grammar: Grammar,
    /// `None` if the grammar does not compile.
    reader: Option<Reader>,
    bytes: Bytes,
    /// Texts that the program accepts and rejects, of any grammar so far.
    accepted: Vec<Vec<u8>>,
    rejected: Vec<Vec<u8>>,
    /// The samples that the program accepts.
    samples: Vec<Vec<u8>>,
    evidence: Evidence,
    /// The edits, in order.
    versions: Vec<Version>,
    precision: Option<Share>,
    /// The share of generated texts of the current grammar that the program accepts.
    base: Share,
    /// Share of the texts generated without weights that the program accepts.
    even: Share,
    rounds: u32,
}

impl<'r> Repair<'r> {
    fn new(source: &Source, settings: &Settings, is_over: &'r dyn Fn() -> bool) -> Repair<'r> {
        Repair {
            is_over,
            settings: settings.clone(),
            random: Random::new(settings.seed),
            grammar: source.grammar.clone(),
            reader: Reader::new(&source.grammar),
            bytes: Bytes::new(),
            accepted: Vec::new(),
            rejected: Vec::new(),
            samples: Vec::new(),
            evidence: Evidence::default(),
            versions: Vec::new(),
            precision: None,
            base: Share::default(),
            even: Share::default(),
            rounds: 0,
        }
    }

    fn run(&mut self, samples: &[Vec<u8>], ask: &mut Ask<'_>, tell: &mut dyn FnMut(&Edit)) -> Option<()> {
        self.precision = Some(self.survey(ask)?);
        self.survey_evenly(ask)?;
        for sample in samples {
            if ask(sample)? {
                self.accepted.push(sample.clone());
                self.samples.push(sample.clone());
            }
        }
        while self.rounds < self.settings.rounds {
            self.rounds += 1;
            let before = self.versions.len();
            self.narrow(ask, tell)?;
            if self.versions.len() > before {
                self.survey_again(ask)?;
            }
            self.widen_by_samples(samples, ask, tell)?;
            self.hunt(samples, ask)?;
            self.widen(ask, tell)?;
            if self.versions.len() == before {
                break;
            }
            self.survey_again(ask)?;
        }
        Some(())
    }

    /// Returns `None` once it is over.
    fn goes_on(&self) -> Option<()> {
        (!(self.is_over)()).then_some(())
    }

    /// Asks about generated texts, which are the same for a seed and a grammar.
    fn survey(&mut self, ask: &mut Ask<'_>) -> Option<Share> {
        let Some(reader) = &self.reader else { return Some(Share::default()) };
        let mut share = Share::default();
        for text in texts(reader, self.settings.seed, self.settings.survey) {
            let is_accepted = ask(&text)?;
            share.of += 1;
            share.part += usize::from(is_accepted);
            let texts = if is_accepted { &mut self.accepted } else { &mut self.rejected };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        self.base = share;
        Some(share)
    }

    /// Asks about generated texts again: after an edit, others are generated.
    fn survey_again(&mut self, ask: &mut Ask<'_>) -> Option<()> {
        self.survey(ask)?;
        self.survey_evenly(ask)
    }

    /// Asks about texts that are generated without weights.
    fn survey_evenly(&mut self, ask: &mut Ask<'_>) -> Option<()> {
        let even = Reader::new(&without_weights(&self.grammar));
        let even = even.map_or_else(Vec::new, |even| texts(&even, self.settings.seed, self.settings.survey / 4));
        let mut share = Share { part: 0, of: even.len() };
        for text in &even {
            share.part += usize::from(ask(text)?);
        }
        self.even = share;
        Some(())
    }

    /// Widens by what samples show, as long as that brings something: they are what the user has, and cost no
    /// questions.
    fn widen_by_samples(&mut self, samples: &[Vec<u8>], ask: &mut Ask<'_>, tell: &mut dyn FnMut(&Edit)) -> Option<()> {
        loop {
            let before = self.versions.len();
            self.take_samples(samples, ask)?;
            self.widen(ask, tell)?;
            if self.versions.len() == before {
                return Some(());
            }
        }
    }

    /// Takes samples that the program accepts and the grammar lacks, and the empty text.
    fn take_samples(&mut self, samples: &[Vec<u8>], ask: &mut Ask<'_>) -> Option<()> {
        let Some(reader) = &self.reader else { return Some(()) };
        self.evidence.drop_read(reader);
        // Small texts show most, by the fewest questions.
        let mut samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).chain([&b""[..]]).collect();
        samples.sort_by_key(|text| text.len());
        for text in samples {
            if ask(text)? {
                self.evidence.take(text, reader, &mut self.bytes, ask)?;
            }
        }
        Some(())
    }

    /// Hunts for texts that the grammar lacks.
    fn hunt(&mut self, samples: &[Vec<u8>], ask: &mut Ask<'_>) -> Option<()> {
        let Some(reader) = &self.reader else { return Some(()) };
        let mut mutants = Mutants::new(&self.grammar);
        samples.iter().for_each(|text| mutants.learn(text));
        let bases = bases(reader, &self.accepted);
        let hunt = Hunt { reader, mutants: &mutants, bases: &bases, tests: self.settings.hunt };
        hunt.run(&mut self.evidence, &mut self.bytes, &mut self.random, ask)?;
        // What is near a text that is lacking shows more of what is lacking.
        let plain = |text: &Vec<u8>| Derivation { text: text.clone(), ..Derivation::default() };
        let near: Vec<Derivation> = self.evidence.small.iter().map(plain).collect();
        let hunt = Hunt { bases: &near, tests: self.settings.hunt / 4, ..hunt };
        hunt.run(&mut self.evidence, &mut self.bytes, &mut self.random, ask)
    }

    /// Makes an edit.
    fn apply(&mut self, candidate: &Candidate, judged: Judged, tell: &mut dyn FnMut(&Edit)) {
        let Judged { grammar, reader, direction, fresh, examples } = judged;
        let Some(before) = &self.reader else { return };
        for text in &self.evidence.texts {
            if !self.accepted.contains(text) {
                self.accepted.push(text.clone());
            }
        }
        let share = |texts: &[Vec<u8>], reader: &Reader| Share {
            part: texts.iter().filter(|text| reader.reads(text)).count(),
            of: texts.len(),
        };
        let rule = &self.grammar.rules[candidate.place.rule].name.text;
        let edit = Edit {
            direction,
            rule: self.grammar.told(rule).to_string(),
            what: candidate.what.clone(),
            accepted: [share(&self.accepted, before), share(&self.accepted, &reader)],
            rejected: [share(&self.rejected, before), share(&self.rejected, &reader)],
            fresh,
            examples,
        };
        tell(&edit);
        let rule = candidate.place.rule;
        let before = self.grammar.rules[rule].body.clone();
        self.versions.push(Version { rule, number: self.versions.len(), before, edit });
        self.evidence.drop_read(&reader);
        self.grammar = grammar;
        self.reader = Some(reader);
    }

    fn report(mut self, source: &Source, apply: &Apply, is_complete: bool, ask: &mut Ask<'_>) -> Report {
        let (changes, grammar) = self.changes(&source.grammar, apply);
        self.reader = Reader::new(&grammar);
        self.grammar = grammar;
        let after = if self.versions.is_empty() { self.precision } else { self.survey(ask) };
        let in_place = source.edited(&self.grammar);
        let edited = Edited {
            is_in_place: in_place.is_some(),
            text: in_place.unwrap_or_else(|| whole(&self.grammar)),
            grammar: self.grammar,
        };
        let mut rejected = self.rejected;
        rejected.retain(|text| self.reader.as_ref().is_some_and(|reader| reader.reads(text)));
        rejected.sort_by_key(|text| text.len());
        let mut unread = self.evidence.small;
        unread.sort_by_key(|text| text.len());
        unread.truncate(MOST_SHOWN);
        rejected.truncate(MOST_SHOWN);
        let rounds = self.rounds;
        let edits = self.versions.into_iter().map(|version| version.edit).collect();
        Report { edits, changes, edited, precision: [self.precision, after], unread, rejected, rounds, is_complete }
    }
}

/// An edit that is to be made.
struct Judged {
    grammar: Grammar,
    reader: Reader,
    direction: Direction,
    fresh: Share,
    examples: Vec<Vec<u8>>,
}

/// Random choice bytes of generated texts: from few to many.
const CHOICES: [usize; 8] = [2, 4, 8, 12, 16, 32, 64, 128];

/// Returns the share of texts that conform to a grammar; `None` if it does not compile.
pub fn recall(grammar: &Grammar, texts: &[Vec<u8>]) -> Option<Share> {
    let reader = Reader::new(grammar)?;
    Some(Share { part: texts.iter().filter(|text| reader.reads(text)).count(), of: texts.len() })
}

/// Returns a grammar whose alternatives are equally likely, but for those that are only read.
fn without_weights(grammar: &Grammar) -> Grammar {
    let mut grammar = grammar.clone();
    for rule in &mut grammar.rules {
        rule.body.each_mut(&mut |expr| {
            let alternatives = expr.as_choice_mut().into_iter().flatten();
            alternatives.filter(|one| one.is_generated()).for_each(|one| one.weight = None);
        });
    }
    grammar
}

/// Returns distinct texts of a grammar, the same for a seed; at most `count`.
pub fn survey(source: &Source, seed: u64, count: usize) -> Vec<Vec<u8>> {
    Reader::new(&source.grammar).map_or_else(Vec::new, |reader| texts(&reader, seed, count))
}

fn texts(reader: &Reader, seed: u64, count: usize) -> Vec<Vec<u8>> {
    let (mut random, mut known) = (Random::new(seed ^ 0x5EED), BTreeSet::new());
    let mut texts = Vec::new();
    for number in 0..4 * count {
        let text = reader.make(&mut random, CHOICES[number % CHOICES.len()]).text;
        if texts.len() < count && known.insert(text.clone()) {
            texts.push(text);
        }
    }
    texts
}

/// Returns derivations of some of the texts: short ones, and those that came last.
fn bases(reader: &Reader, texts: &[Vec<u8>]) -> Vec<Derivation> {
    let mut short: Vec<&Vec<u8>> = texts.iter().filter(|text| text.len() <= LONGEST_BASE).collect();
    short.sort_by_key(|text| text.len());
    let step = (short.len() / MOST_BASES).max(1);
    short.into_iter().step_by(step).filter_map(|text| reader.derivation(text)).take(2 * MOST_BASES).collect()
}
