//! Learns an automaton: from sequences of samples, from walks, and from letters that no sample has in a place.

use std::collections::{BTreeMap, BTreeSet};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use crate::asked::Asked;
use crate::lex::{self, TokenKind};
use crate::nested::automaton::{self, Automaton};
use crate::nested::contents::{Content, Item};
use crate::nested::letters::{Letter, Letters};

/// Walks that must be accepted in succession.
const WALKS: usize = 120;
/// Walks after each letter that is found.
const FEW: usize = 12;
/// Times that words are read again after a change.
const REREADS: usize = 8;
/// Walks in all.
const MOST: usize = 1500;
/// Endings of a letter that are tried.
const ENDINGS: usize = 5;
/// Endings that are kept of a letter.
const KEPT: usize = 4;

/// Learns the automaton of a content.
pub(crate) struct Learner<'l, 'o> {
    pub letters: &'l mut Letters,
    pub asked: &'l mut Asked<'o>,
    pub random: Xoshiro256PlusPlus,
    /// The number of questions at which it ends.
    pub end: u64,
    /// Items that follow a letter somewhere in the samples.
    pub endings: &'l BTreeMap<usize, Vec<Vec<Item>>>,
    /// By letter, others that lead to the same state somewhere.
    pub kin: &'l mut BTreeMap<usize, BTreeSet<usize>>,
    /// Letters that follow each other somewhere.
    pub pairs: &'l mut BTreeSet<(Option<usize>, usize)>,
    /// Texts that were tried.
    pub tried: BTreeSet<(Vec<u8>, usize)>,
}

/// Returns what follows each letter in the samples, the shortest first.
pub(crate) fn endings(contents: &[Content]) -> BTreeMap<usize, Vec<Vec<Item>>> {
    let mut all: BTreeMap<usize, BTreeSet<(usize, Vec<Item>)>> = BTreeMap::new();
    for occurrence in contents.iter().flat_map(|content| &content.occurrences) {
        for (at, item) in occurrence.items.iter().enumerate() {
            let rest = occurrence.items[at + 1..].to_vec();
            all.entry(item.letter).or_default().insert((rest.len(), rest));
        }
    }
    let short = |set: BTreeSet<(usize, Vec<Item>)>| {
        let mut seen = BTreeSet::new();
        let distinct =
            set.into_iter().filter(|(_, rest)| seen.insert(rest.iter().map(|item| item.letter).collect::<Vec<_>>()));
        distinct.map(|(_, rest)| rest).take(KEPT).collect::<Vec<_>>()
    };
    all.into_iter().map(|(letter, set)| (letter, short(set))).collect()
}

impl Learner<'_, '_> {
    /// Returns the automaton of a content.
    pub fn learn(&mut self, content: &Content) -> Automaton {
        let first = content.occurrences.iter().min_by_key(|one| one.before.len() + one.after.len());
        let first = first.unwrap_or(&content.occurrences[0]);
        let mut automaton = Automaton::new(first, self.letters, self.asked);
        let mut words: Vec<Vec<Item>> = content.occurrences.iter().map(|occurrence| occurrence.items.clone()).collect();
        let mut tried = BTreeSet::new();
        let end = self.end;
        self.walk(&mut automaton, &words, WALKS);
        // A part of the questions is left to refute what is found.
        let part = self.asked.calls + end.saturating_sub(self.asked.calls) * 2 / 3;
        loop {
            self.end = part;
            let found = !self.is_over() && self.explore(&mut automaton, &mut tried, &mut words);
            self.end = end;
            self.walk(&mut automaton, &words, WALKS);
            if !found || self.is_over() {
                break;
            }
        }
        self.reread(&mut automaton, &words);
        automaton
    }

    fn is_over(&mut self) -> bool {
        self.asked.is_over() || self.asked.calls >= self.end
    }

    /// Reads all words until none changes the automaton: a state that one splits has no edges for the others yet.
    fn reread(&mut self, automaton: &mut Automaton, words: &[Vec<Item>]) {
        for _ in 0..REREADS {
            let before = automaton.size();
            for word in words {
                automaton.process(word, self.letters, self.asked);
            }
            if automaton.size() == before {
                break;
            }
        }
    }

    /// Refines the automaton until walks are accepted.
    fn walk(&mut self, automaton: &mut Automaton, words: &[Vec<Item>], most: usize) {
        self.reread(automaton, words);
        let mut accepted = 0;
        let mut distances = automaton.distances();
        let mut uses = BTreeMap::new();
        for _ in 0..MOST {
            if accepted >= most || self.is_over() {
                break;
            }
            let Some(items) = automaton.walk(&distances, &mut uses, self.letters, &mut self.random) else { break };
            if automaton.accepts(&[&items], self.letters, self.asked) {
                accepted += 1;
                continue;
            }
            accepted = 0;
            if automaton.refute(&items, self.letters, self.asked) {
                self.reread(automaton, words);
                distances = automaton.distances();
            }
        }
    }

    /// Tries letters that lead to the same state as another one somewhere, where only the other one is known. Returns
    /// true if any does here.
    fn kin(&mut self, automaton: &mut Automaton, words: &mut Vec<Vec<Item>>) -> bool {
        let mut is_found = false;
        let mut state = 0;
        while state < automaton.states.len() {
            self.note(automaton);
            let distances = automaton.distances();
            let edges: Vec<(usize, usize)> =
                automaton.states[state].edges.iter().map(|(letter, edge)| (*letter, edge.to)).collect();
            for (letter, to) in edges {
                let others: Vec<usize> = self.kin.get(&letter).into_iter().flatten().copied().collect();
                for other in others {
                    let is_known = automaton.states[state].edges.contains_key(&other);
                    let Some(text) = self.letters.examples[other].first().cloned() else { continue };
                    let item = Item { letter: other, text };
                    if is_known
                        || self.is_over()
                        || self.is_text(automaton, state, &item)
                        || self.is_covered(automaton, state, &item)
                    {
                        continue;
                    }
                    let begin = [&automaton.states[state].access[..], &[item]].concat();
                    let word = [&begin[..], &automaton.completion(to, &distances)].concat();
                    if self.tried.insert((automaton::text(&word, self.letters), other))
                        && automaton::is_apart(&word, begin.len() - 1, self.letters)
                        && self.takes_examples(automaton, &word, begin.len() - 1)
                        && automaton.process(&word, self.letters, self.asked)
                    {
                        words.push(word);
                        is_found = true;
                        break;
                    }
                }
            }
            if is_found {
                self.walk(automaton, words, FEW);
            }
            state += 1;
        }
        is_found
    }

    /// Remembers which letters lead to one state, and which follow each other.
    fn note(&mut self, automaton: &Automaton) {
        for state in &automaton.states {
            for (letter, edge) in &state.edges {
                let others = state.edges.iter().filter(|(other, one)| *other != letter && one.to == edge.to);
                self.kin.entry(*letter).or_default().extend(others.map(|(other, _)| *other));
                let next = automaton.states[edge.to].edges.keys();
                self.pairs.extend(next.map(|next| (Some(*letter), *next)));
            }
        }
        self.pairs.extend(automaton.states[0].edges.keys().map(|letter| (None, *letter)));
    }

    /// Tries letters where none leads on. Returns true if any does.
    fn explore(
        &mut self,
        automaton: &mut Automaton,
        tried: &mut BTreeSet<(Vec<u8>, usize)>,
        words: &mut Vec<Vec<Item>>,
    ) -> bool {
        let mut is_found = self.kin(automaton, words);
        is_found |= self.letters(automaton, tried, words, true);
        is_found |= self.kin(automaton, words);
        is_found |= self.siblings(automaton, tried, words);
        is_found | self.letters(automaton, tried, words, false)
    }

    /// Tries all letters, or those that follow the last one elsewhere.
    fn letters(
        &mut self,
        automaton: &mut Automaton,
        tried: &mut BTreeSet<(Vec<u8>, usize)>,
        words: &mut Vec<Vec<Item>>,
        is_pair: bool,
    ) -> bool {
        let mut is_found = false;
        let mut state = 0;
        while state < automaton.states.len() {
            for letter in 0..self.letters.all.len() {
                if self.is_over() {
                    return is_found;
                }
                let Some(example) = self.letters.examples[letter].first().cloned() else { continue };
                let known = automaton.states[state].edges.contains_key(&letter);
                let last = automaton.states[state].access.last().map(|item| item.letter);
                if is_pair && !self.pairs.contains(&(last, letter)) {
                    continue;
                }
                if known || !tried.insert((automaton::text(&automaton.states[state].access, self.letters), letter)) {
                    continue;
                }
                let item = Item { letter, text: example };
                if self.is_text(automaton, state, &item) || self.is_covered(automaton, state, &item) {
                    continue;
                }
                let at = automaton.states[state].access.len();
                if let Some(word) = self.word(automaton, state, item, is_pair)
                    && self.takes_examples(automaton, &word, at)
                    && automaton.process(&word, self.letters, self.asked)
                {
                    words.push(word);
                    is_found = true;
                    self.walk(automaton, words, FEW);
                }
            }
            state += 1;
        }
        is_found
    }

    /// Returns true if an item can be a part of a text that stands there.
    fn is_text(&mut self, automaton: &Automaton, state: usize, item: &Item) -> bool {
        let mut access = automaton.states[state].access.clone();
        let is_open = |item: &Item| matches!(self.letters.all[item.letter], Letter::Text(..));
        // What follows a text, or stands before it, may be a part of it.
        let state = if access.pop_if(|last| is_open(last)).is_some() {
            automaton.state(&access).unwrap_or(state)
        } else {
            state
        };
        let edges = automaton.states[state].edges.values();
        let texts: Vec<_> =
            edges.filter(|edge| matches!(self.letters.all[edge.item.letter], Letter::Text(..))).collect();
        let distances = automaton.distances();
        texts.into_iter().any(|edge| {
            let rest = automaton.completion(edge.to, &distances);
            automaton.accepts(
                &[&automaton.states[state].access, std::slice::from_ref(item), &rest],
                self.letters,
                self.asked,
            )
        })
    }

    /// Tries other marks where several lead to the same state. Returns true if any does.
    fn siblings(
        &mut self,
        automaton: &mut Automaton,
        tried: &mut BTreeSet<(Vec<u8>, usize)>,
        words: &mut Vec<Vec<Item>>,
    ) -> bool {
        let mut is_found = false;
        let mut state = 0;
        while state < automaton.states.len() && !self.is_over() {
            let mut marks: BTreeMap<usize, usize> = BTreeMap::new();
            for (letter, edge) in &automaton.states[state].edges {
                let letter = &self.letters.all[*letter];
                let is_mark = matches!(letter, Letter::Literal(text) if text.iter().all(u8::is_ascii_punctuation));
                *marks.entry(edge.to).or_default() += usize::from(is_mark);
            }
            let distances = automaton.distances();
            let is_text = |edge: &automaton::Edge| matches!(self.letters.all[edge.item.letter], Letter::Text(..));
            let texts: BTreeSet<usize> =
                automaton.states[state].edges.values().filter(|edge| is_text(edge)).map(|edge| edge.to).collect();
            for (to, _) in marks.into_iter().filter(|(to, count)| *count > 1 && !texts.contains(to)) {
                let completion = automaton.completion(to, &distances);
                for mark in marks_to_try() {
                    let letter = self.letters.number(Letter::Literal(mark.clone()));
                    let key = (automaton::text(&automaton.states[state].access, self.letters), letter);
                    let known = automaton.states[state].edges.contains_key(&letter);
                    if known || self.is_over() || !tried.insert(key) {
                        continue;
                    }
                    let word =
                        [&automaton.states[state].access[..], &[Item { letter, text: mark }], &completion].concat();
                    let is_apart = automaton::is_apart(&word, automaton.states[state].access.len(), self.letters);
                    if is_apart
                        && automaton.accepts(&[&word], self.letters, self.asked)
                        && automaton.process(&word, self.letters, self.asked)
                    {
                        words.push(word);
                        is_found = true;
                    }
                }
            }
            state += 1;
        }
        is_found
    }

    /// Returns true if other letters that stand there have the text of this one.
    fn is_covered(&mut self, automaton: &Automaton, state: usize, item: &Item) -> bool {
        let is_word = item.text.first().is_some_and(|byte| lex::is_wordish(*byte));
        if !is_word || !matches!(self.letters.all[item.letter], Letter::Literal(_)) {
            return false;
        }
        let one = &automaton.states[state];
        let is_open =
            |edge: &&automaton::Edge| matches!(self.letters.all[edge.item.letter], Letter::Open(TokenKind::Word, _));
        let targets: Vec<usize> = one.edges.values().filter(is_open).map(|edge| edge.to).collect();
        let distances = automaton.distances();
        targets.into_iter().any(|to| {
            let rest = automaton.completion(to, &distances);
            automaton.accepts(&[&one.access, std::slice::from_ref(item), &rest], self.letters, self.asked)
        })
    }

    /// Returns true if other examples of an item's letter are accepted there, too.
    fn takes_examples(&mut self, automaton: &Automaton, word: &[Item], at: usize) -> bool {
        let examples = &self.letters.examples[word[at].letter];
        let others = [examples.iter().max_by_key(|text| text.len()), examples.get(1), examples.last()];
        others.into_iter().flatten().all(|text| {
            let mut word = word.to_vec();
            word[at].text.clone_from(text);
            automaton.accepts(&[&word], self.letters, self.asked)
        })
    }

    /// Returns accepted items that go on from a state with this item.
    fn word(&mut self, automaton: &Automaton, state: usize, item: Item, is_pair: bool) -> Option<Vec<Item>> {
        let distances = automaton.distances();
        let one = &automaton.states[state];
        let mut endings: Vec<Vec<Item>> = vec![automaton.completion(state, &distances)];
        let targets: BTreeSet<usize> = one.edges.values().map(|edge| edge.to).collect();
        endings.extend(targets.into_iter().map(|to| automaton.completion(to, &distances)));
        endings.sort_by_key(Vec::len);
        endings.truncate(ENDINGS);
        // What follows the letter elsewhere, and then what would follow without it.
        let here = automaton.completion(state, &distances);
        let rests = self.endings.get(&item.letter).into_iter().flatten();
        let begins: BTreeSet<&[Item]> =
            rests.clone().flat_map(|rest| (1..=rest.len().min(3)).map(move |len| &rest[..len])).collect();
        let mut beyond: Vec<Vec<Item>> = endings.iter().take(3).cloned().collect();
        beyond.insert(0, here);
        for begin in begins {
            endings.extend(beyond.iter().map(|rest| [begin, rest].concat()));
        }
        endings.extend(rests.cloned());
        let mut seen = BTreeSet::new();
        endings.retain(|ending| seen.insert(ending.clone()));
        endings.truncate(if is_pair { endings.len() } else { ENDINGS });
        let begin = [&one.access[..], &[item]].concat();
        endings.into_iter().find_map(|ending| {
            let word = [&begin[..], &ending].concat();
            let is_apart = automaton::is_apart(&word, one.access.len(), self.letters);
            (is_apart && automaton.accepts(&[&word], self.letters, self.asked)).then_some(word)
        })
    }
}

/// Returns operators, and marks that are no brackets and begin no text.
fn marks_to_try() -> impl Iterator<Item = Vec<u8>> {
    let single = (0x21..0x7F_u8).filter(|byte| byte.is_ascii_punctuation() && !b"()[]{}\"'`#_\\".contains(byte));
    single.map(|byte| vec![byte]).chain(lex::OPERATORS.iter().map(|operator| operator.to_vec()))
}

/// Returns the random numbers of walks.
pub(crate) fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}
