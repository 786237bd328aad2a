//! Widening: of the edits that take most of what is lacking, one whose fresh texts the program accepts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gramjet_compiler::ast::Grammar;

use super::fresh::Fresh;
use super::rate::is_smaller;
use super::reach::Reach;
use super::trial::taken_by;
use super::{Judged, MOST_EDITS, MOST_SHOWN, Repair, texts};
use crate::refine::candidate::{Candidate, Lacking};
use crate::refine::class::{Around, settled, widened};
use crate::refine::evidence::{Ask, Evidence};
use crate::refine::generalise::Rules;
use crate::refine::holes::standing;
use crate::refine::home::homes;
use crate::refine::place::literal;
use crate::refine::reader::Reader;
use crate::refine::report::{Direction, Edit, Share};
use crate::refine::widen::{by_holes, duplicate, last_rounds, replacements, rounds};

/// Rules that are looked at together at first, those near the failures; then twice as many, and so on.
const NEAREST: usize = 4;

/// Rules that are looked at.
const MOST_RULES: usize = 60;

/// Texts that holes are tried with: small ones, and others as they were found, if they are not long.
const MOST_TEXTS: usize = 8;
const MOST_VARIED: usize = 8;
const LONGEST_VARIED: usize = 400;

/// Texts that edits are tried on: each edit is a grammar that parses them, so that short ones come first.
const MOST_WANTED: usize = 40;

/// Edits that are tried on the texts, and those that are tried at a time.
const MOST_CANDIDATES: usize = 4000;
const BATCH: usize = 256;

/// Edits whose fresh texts are asked about.
const MOST_JUDGED: usize = 96;

/// Texts around a class that lacks something.
const MOST_AROUND: usize = 4;

/// Least share of generated texts by which edits are judged: where the program accepts a smaller share, they are judged
/// as if it accepted this one.
const LEAST_BASE: f64 = 0.8;

/// Few fresh texts show that most edits are wrong.
const FEW_FRESH: usize = 6;

/// If the program rejects one of the fresh texts, this many times as many are asked about.
const MORE_FRESH: usize = 4;

/// Literals that are compared with others like them, and places of each that are changed.
const MOST_LITERALS: usize = 2;
const MOST_ALIKE: usize = 3;

/// Greatest number of generated texts of an edited grammar that are asked about, of those that the one before does not
/// read. They are sought among this many times as many.
const MOST_NEW: usize = 80;
const MADE: usize = 10;

/// The texts that the grammar lacks. The first ones are small and fail in different ways.
struct Wanted {
    texts: Vec<Vec<u8>>,
    shown: usize,
}

impl Wanted {
    fn new(evidence: &Evidence) -> Wanted {
        let mut small = if evidence.small.is_empty() { evidence.texts.clone() } else { evidence.small.clone() };
        small.sort_by_key(|text| text.len());
        let step = small.len().div_ceil(MOST_TEXTS).max(1);
        let mut texts: Vec<Vec<u8>> = small.into_iter().step_by(step).collect();
        // What was made smaller is often alike: other texts show how what is lacking varies.
        let mut others: Vec<Vec<u8>> = evidence.texts.iter().filter(|text| !texts.contains(text)).cloned().collect();
        others.sort_by_key(|text| text.len());
        let varied = others.iter().take_while(|text| text.len() <= LONGEST_VARIED).take(MOST_VARIED).count();
        let shown = texts.len() + varied;
        texts.extend(others);
        texts.truncate(MOST_WANTED);
        Wanted { texts, shown }
    }

    /// Returns the texts that holes are tried with.
    fn shown(&self) -> &[Vec<u8>] {
        &self.texts[..self.shown]
    }

    /// Returns the texts that holes are tried with, of those that have these numbers.
    fn shown_of(&self, numbers: &[usize]) -> Vec<Vec<u8>> {
        numbers.iter().filter(|&&number| number < self.shown).map(|&number| self.texts[number].clone()).collect()
    }
}

/// An edit with what it does.
struct Ranked {
    candidate: Candidate,
    taken: usize,
    /// Distance from the failures.
    away: usize,
}

impl Ranked {
    /// Returns what it does, counted half if it only adds what some texts have, and less if what it adds takes nearly
    /// anything.
    fn worth(&self) -> usize {
        let worth = if self.candidate.is_patch { self.taken } else { 2 * self.taken };
        if self.candidate.is_lax { worth / 4 } else { worth }
    }
}

/// Puts edits in order: those that do most come first; of these, those that are near and preferred.
fn in_order(ranked: &mut [Ranked]) {
    ranked.sort_by_key(|ranked| (std::cmp::Reverse(ranked.worth()), ranked.away, ranked.candidate.cost()));
}

impl Repair<'_> {
    /// Widens the grammar by one edit after the other.
    pub(super) fn widen(&mut self, ask: &mut Ask<'_>, tell: &mut dyn FnMut(&Edit)) -> Option<()> {
        for _ in 0..MOST_EDITS {
            if self.evidence.texts.is_empty() || !self.widen_once(ask, tell)? {
                break;
            }
        }
        Some(())
    }

    /// Makes an edit; says whether there was one. One that takes nearly all texts is made at once, and is sought near
    /// the failures first. Else all are compared.
    fn widen_once(&mut self, ask: &mut Ask<'_>, tell: &mut dyn FnMut(&Edit)) -> Option<bool> {
        let Some(reader) = &self.reader else { return Some(false) };
        let (grammar, wanted) = (self.grammar.clone(), Wanted::new(&self.evidence));
        let near = near(&grammar, reader, wanted.shown());
        let (languages, mut reach) = (Rules::new(&grammar, &wanted.texts), Reach::new(&grammar, &wanted.texts));
        let (least, nearly_all) = (1 + wanted.texts.len() / 4, (3 * wanted.texts.len()).div_ceil(4));
        let (mut from, mut len, mut left, mut later) = (0, NEAREST, Vec::new(), Vec::new());
        while from < near.len() && from < MOST_RULES {
            let rules = &near[from..near.len().min(from + len)];
            let candidates = self.widenings(rules, &near, &wanted, (&languages, &mut reach))?;
            let is_likely = |candidate: &Candidate| reach.of(&candidate.place).len() >= least;
            let (likely, unlikely): (Vec<Candidate>, Vec<Candidate>) = candidates.into_iter().partition(is_likely);
            later.extend(unlikely);
            let ranked = self.ranked(likely, &reach, from)?;
            let (most, others) = ranked.into_iter().partition(|ranked| ranked.worth() >= 2 * nearly_all);
            left.extend::<Vec<Ranked>>(others);
            if self.take_best(most, (&reach, nearly_all, &mut left), ask, tell)? {
                return Some(true);
            }
            (from, len) = (from + len, 2 * len);
        }
        in_order(&mut left);
        let mut others = left.split_off(left.len().min(MOST_JUDGED));
        if self.take_best(left, (&reach, 1, &mut Vec::new()), ask, tell)? {
            return Some(true);
        }
        others.extend(self.ranked(later, &reach, from)?);
        in_order(&mut others);
        others.truncate(MOST_JUDGED);
        self.take_best(others, (&reach, 1, &mut Vec::new()), ask, tell)
    }

    /// Returns all edits of some rules that can let one of the texts in.
    fn widenings(
        &self,
        rules: &[usize],
        near: &[usize],
        wanted: &Wanted,
        (languages, reach): (&Rules<'_>, &mut Reach<'_>),
    ) -> Option<Vec<Candidate>> {
        let grammar = &self.grammar;
        let mut candidates = Vec::new();
        for &rule in rules {
            for place in reach.add(rule, &|| self.goes_on())? {
                self.goes_on()?;
                candidates.extend(rounds(grammar, &place));
                candidates.extend(last_rounds(grammar, &place));
                candidates.extend(duplicate(grammar, &place));
                let others = replacements(grammar, &place, &near[..near.len().min(12)]).into_iter();
                candidates.extend(others.map(|one| Candidate { is_lax: languages.is_lax(&one.part), ..one }));
                let shown = by_holes(grammar, &place, &wanted.shown_of(reach.of(&place)), languages);
                candidates.extend(shown.candidates);
                candidates.extend(widened(grammar, &place, &shown.lacks));
            }
        }
        Some(candidates)
    }

    /// Returns the edits that take some of the texts, those that take most first.
    fn ranked(&self, candidates: Vec<Candidate>, reach: &Reach<'_>, away: usize) -> Option<Vec<Ranked>> {
        let (mut known, mut ranked) = (BTreeSet::new(), Vec::new());
        let mut is_new = |candidate: &Candidate| known.insert((candidate.place.clone(), candidate.what.clone()));
        let mut candidates = candidates.into_iter().filter(|candidate| is_new(candidate)).take(MOST_CANDIDATES);
        loop {
            self.goes_on()?;
            let batch: Vec<Candidate> = candidates.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            let taken = taken_by(&self.grammar, &batch, reach);
            let some = batch.into_iter().zip(taken).filter(|&(_, taken)| taken > 0);
            ranked.extend(some.map(|(candidate, taken)| Ranked { candidate, taken, away }));
        }
        in_order(&mut ranked);
        ranked.truncate(MOST_JUDGED);
        Some(ranked)
    }

    /// Makes the first edit whose fresh texts the program accepts; says whether there was one. What a class gets is
    /// asked when the turn of that edit comes. If it takes fewer than `least` texts then, the edit is left for later.
    fn take_best(
        &mut self,
        ranked: Vec<Ranked>,
        (reach, least, left): (&Reach<'_>, usize, &mut Vec<Ranked>),
        ask: &mut Ask<'_>,
        tell: &mut dyn FnMut(&Edit),
    ) -> Option<bool> {
        let mut ranked = VecDeque::from(ranked);
        while let Some(Ranked { candidate, away, .. }) = ranked.pop_front() {
            self.goes_on()?;
            if let Some(lacking) = &candidate.lacking {
                let settled = self.settled(&candidate, lacking, ask)?;
                let settled = self.ranked(settled, reach, away)?;
                let (most, others) = settled.into_iter().partition(|ranked| ranked.taken >= least);
                left.extend::<Vec<Ranked>>(others);
                ranked.extend::<Vec<Ranked>>(most);
                in_order(ranked.make_contiguous());
                continue;
            }
            let home = self.at_home(&candidate, reach);
            let mut found = None;
            for candidate in home.into_iter().chain([candidate]) {
                found = self.judged(&candidate, ask)?.map(|judged| (candidate, judged));
                if found.is_some() {
                    break;
                }
            }
            let Some((candidate, (grammar, reader, fresh))) = found else { continue };
            let read = self.evidence.texts.iter().filter(|text| reader.reads(text));
            let mut examples: Vec<Vec<u8>> = read.cloned().collect();
            examples.sort_by_key(|text| text.len());
            examples.truncate(MOST_SHOWN);
            self.apply(&candidate, Judged { grammar, reader, direction: Direction::Widen, fresh, examples }, tell);
            return Some(true);
        }
        Some(false)
    }

    /// Returns the edited grammar with its reader, and how many fresh texts the program accepts. `None` if these, or
    /// generated texts, speak against the edit.
    fn judged(&mut self, candidate: &Candidate, ask: &mut Ask<'_>) -> Option<Option<(Grammar, Reader, Share)>> {
        // Made anew: many of these readers would need much memory.
        let grammar = candidate.apply(&self.grammar);
        let Some(reader) = Reader::new(&grammar) else { return Some(None) };
        let Some(fresh) = self.accepts_fresh(candidate, &grammar, ask)? else { return Some(None) };
        let is_right = self.is_as_precise(&reader, ask)? && self.tells_literals_apart(candidate, ask)?;
        Some(is_right.then_some((grammar, reader, fresh)))
    }

    /// Returns true if the program rejects most literals that are alike, if the edit adds literals and nothing else:
    /// else these are examples of what is lacking, and not what is lacking.
    fn tells_literals_apart(&self, candidate: &Candidate, ask: &mut Ask<'_>) -> Option<bool> {
        let (mut asked, mut accepted) = (0, 0);
        let literals = candidate.literals();
        for other in literals.iter().take(MOST_LITERALS).flat_map(|bytes| alike(bytes)) {
            if literals.contains(&&*other) {
                continue;
            }
            let edit = candidate.adding_instead(&literal(&other));
            let (grammar, place, seed) = (&edit.apply(&self.grammar), &edit.part_at, self.settings.seed);
            let fresh = Fresh { grammar, place, candidate: &edit, other: self.reader.as_ref(), seed, known: &[] };
            for text in fresh.texts(2) {
                asked += 1;
                accepted += usize::from(ask(&text)?);
            }
        }
        Some(2 * accepted <= asked)
    }

    /// Returns an edit at the place where it is at home, if that is another place, and it lets all of the texts in
    /// there.
    fn at_home(&self, candidate: &Candidate, reach: &Reach<'_>) -> Option<Candidate> {
        let taken = |candidate: &Candidate| -> Vec<bool> {
            let reader = Reader::new(&candidate.apply(&self.grammar));
            reach.texts.iter().map(|text| reader.as_ref().is_some_and(|reader| reader.reads_once(text))).collect()
        };
        let homes = homes(&self.grammar, candidate);
        if homes.is_empty() {
            return None;
        }
        let own = taken(candidate);
        let lets_all_in = |home: &Candidate| own.iter().zip(taken(home)).all(|(&own, home)| home || !own);
        homes.into_iter().find(lets_all_in)
    }

    /// Returns the edits that a class which lacks something leads to.
    fn settled(&self, open: &Candidate, lacking: &Lacking, ask: &mut Ask<'_>) -> Option<Vec<Candidate>> {
        let Some(reader) = &self.reader else { return Some(Vec::new()) };
        let with_gap = Candidate { part: Around::gap(), ..open.clone() };
        let (grammar, place, seed) = (&self.grammar, &open.place, self.settings.seed);
        let fresh = Fresh { grammar, place, candidate: &with_gap, other: None, seed, known: &[] };
        let around: Vec<Around> = fresh.texts(MOST_AROUND).iter().filter_map(|text| Around::of_gap(text)).collect();
        settled(grammar, place, lacking, (&around, &|text| reader.reads(text)), ask)
    }

    /// Returns true if the program accepts about as many generated texts of an edited grammar that are new as of those
    /// of the grammar before.
    fn is_as_precise(&self, reader: &Reader, ask: &mut Ask<'_>) -> Option<bool> {
        let made = texts(reader, self.settings.seed, MADE * MOST_NEW);
        let is_new = |text: &Vec<u8>| !self.reader.as_ref().is_some_and(|before| before.reads(text));
        let mut share = Share::default();
        for text in made.into_iter().filter(is_new).take(MOST_NEW) {
            self.goes_on()?;
            share.of += 1;
            share.part += usize::from(ask(&text)?);
            if is_smaller(share, self.usual()) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the share of texts of the grammar that the program accepts, of all or of those without weights: where it
    /// rejects more, what is new may be rejected for other reasons, too.
    fn usual(&self) -> Share {
        let all = Share { part: self.base.part + self.even.part, of: self.base.of + self.even.of };
        let usual = if self.even.ratio() < all.ratio() { self.even } else { all };
        Share { part: usual.part.max((LEAST_BASE * usual.of as f64) as usize), of: usual.of }
    }

    /// Returns how many fresh texts the program accepts; `None` if it rejects more than it rejects for other reasons.
    fn accepts_fresh(&mut self, candidate: &Candidate, grammar: &Grammar, ask: &mut Ask<'_>) -> Option<Option<Share>> {
        let Some(other) = &self.reader else { return Some(None) };
        let mut texts: Vec<Vec<u8>> = self.evidence.texts.clone();
        texts.sort_by_key(Vec::len);
        texts.truncate(MOST_WANTED);
        let known = standing(&self.grammar, candidate, &texts);
        let (place, seed) = (&candidate.part_at, self.settings.seed);
        let fresh = Fresh { grammar, place, candidate, other: Some(other), seed, known: &known };
        let (usual, mut known, mut share) = (self.usual(), BTreeSet::new(), Share::default());
        for count in [FEW_FRESH.min(self.settings.fresh), self.settings.fresh, MORE_FRESH * self.settings.fresh] {
            for text in fresh.texts(count) {
                if !known.insert(text.clone()) {
                    continue;
                }
                share.of += 1;
                share.part += usize::from(ask(&text)?);
                if is_smaller(share, usual) {
                    return Some(None);
                }
            }
            if share.part == share.of && count == self.settings.fresh {
                break;
            }
        }
        Some((share.part > 0).then_some(share))
    }
}

/// Returns literals like this one: with another letter, digit or mark at one of some places.
fn alike(bytes: &[u8]) -> Vec<Vec<u8>> {
    let others: fn(u8) -> [u8; 2] = |byte| match byte {
        b'0'..=b'9' => [b'0' + (byte - b'0' + 3) % 10, b'0' + (byte - b'0' + 7) % 10],
        b'a'..=b'z' => [b'a' + (byte - b'a' + 5) % 26, b'a' + (byte - b'a' + 16) % 26],
        b'A'..=b'Z' => [b'A' + (byte - b'A' + 5) % 26, b'A' + (byte - b'A' + 16) % 26],
        b'!'..=b'/' => [b'!' + (byte - b'!' + 4) % 15, b'!' + (byte - b'!' + 10) % 15],
        b':'..=b'@' => [b':' + (byte - b':' + 2) % 7, b':' + (byte - b':' + 5) % 7],
        b'[' | b']' | b'{' | b'}' | b'^' | b'|' | b'~' | b'`' => [b'!', b'?'],
        other => [other; 2],
    };
    let step = bytes.len().div_ceil(MOST_ALIKE).max(1);
    let places = (0..bytes.len()).step_by(step);
    let found = places.flat_map(|at| {
        others(bytes[at]).map(|other| {
            let mut bytes = bytes.to_vec();
            bytes[at] = other;
            bytes
        })
    });
    found.filter(|other| other != bytes).collect()
}

/// Returns the rules, those near the failures of texts first: where the parser is, then what these rules refer to and
/// what refers to them.
fn near(grammar: &Grammar, reader: &Reader, texts: &[Vec<u8>]) -> Vec<usize> {
    let index: BTreeMap<&str, usize> =
        grammar.rules.iter().enumerate().map(|(number, rule)| (rule.name.text.as_str(), number)).collect();
    let mut neighbours: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); grammar.rules.len()];
    for (number, rule) in grammar.rules.iter().enumerate() {
        rule.body.each(&mut |expr| {
            if let Some(&other) = expr.as_rule().and_then(|name| index.get(name)) {
                neighbours[number].insert(other);
                neighbours[other].insert(number);
            }
        });
    }
    let within = texts.iter().filter_map(|text| reader.mismatch(text)?.within);
    let mut found: Vec<usize> = Vec::new();
    let mut known = vec![false; grammar.rules.len()];
    let first: Vec<usize> = within.filter_map(|(rule, _)| index.get(rule.as_str()).copied()).collect();
    for rule in first.into_iter().chain(crate::refine::focus::start(grammar)) {
        if !std::mem::replace(&mut known[rule], true) {
            found.push(rule);
        }
    }
    let mut at = 0;
    while at < found.len() {
        for &rule in &neighbours[found[at]] {
            if !std::mem::replace(&mut known[rule], true) {
                found.push(rule);
            }
        }
        at += 1;
    }
    // Rules that nothing refers to may be what is lacking.
    found.extend((0..grammar.rules.len()).filter(|&rule| !known[rule]));
    found
}
