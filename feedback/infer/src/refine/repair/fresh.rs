//! Fresh texts: they have what an edit adds or leaves out, in surroundings that differ.

use std::collections::{BTreeMap, BTreeSet};

use gramjet_compiler::ast::{Expr, Grammar, Name, Rule};
use gramjet_session::Random;

use super::without_weights;
use crate::refine::candidate::Candidate;
use crate::refine::class::Around;
use crate::refine::evidence::kind;
use crate::refine::focus::focus;
use crate::refine::place::{ExprPath, NEW};
use crate::refine::reader::Reader;

/// Number of texts that are put together for each one that has what stands for the part in texts of which it is known.
const KNOWN: usize = 4;

/// Texts of `grammar` that have a part, and that `other`, if there is one, does not read: distinct, and not too long.
pub(super) struct Fresh<'f> {
    pub(super) grammar: &'f Grammar,
    pub(super) place: &'f ExprPath,
    pub(super) candidate: &'f Candidate,
    pub(super) other: Option<&'f Reader>,
    pub(super) seed: u64,
    /// Bytes that stand for the part in texts of which it is known: the least likely may be what is wrong.
    pub(super) known: &'f [Vec<u8>],
}

/// Fresh texts are tried with these numbers of random choice bytes.
const FEW_CHOICES: [usize; 8] = [0, 1, 2, 4, 6, 10, 16, 28];

/// Longer fresh texts are left out.
const LONGEST: usize = 1 << 10;

/// For each text wanted, this many are made: those that differ most are chosen.
const MADE: usize = 12;

/// Bytes around what is new, letters and digits as one: texts may have them in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Surroundings {
    /// The byte at which the other reader fails, and the one before.
    Failure(Option<u8>, Option<u8>),
    /// The byte before the part, its first and its last one, and the one after it.
    Part([Option<u8>; 4]),
    /// Not known: like no other.
    Unknown(usize),
}

impl Fresh<'_> {
    /// Returns texts with as many kinds of surroundings as there are. Every other one is made without weights: what is
    /// rare in the grammar is around a part, too. A half of the texts are put together of a part and of what is around
    /// one. Choices are few: otherwise the text before the part would take all of them, and the part and the text after
    /// it would always be the shortest.
    pub(super) fn texts(&self, count: usize) -> Vec<Vec<u8>> {
        let focused = |part: &Expr| focus(self.grammar, self.place, part);
        let both = |grammar: Grammar| Some([Reader::new(&grammar)?, Reader::new(&without_weights(&grammar))?]);
        let Some(whole) = focused(&self.candidate.part).and_then(both) else { return Vec::new() };
        let pieces = focused(&Around::gap()).and_then(both).zip(both(self.part()));
        let (mut random, mut known) = (Random::new(self.seed ^ 0xF5E5), BTreeSet::new());
        let mut made: BTreeMap<Surroundings, Vec<(usize, Vec<u8>)>> = BTreeMap::new();
        for number in 0..MADE * count {
            let choices = FEW_CHOICES[number / 4 % FEW_CHOICES.len()];
            let (text, around) = match &pieces {
                Some((around, part)) if number % 4 > 1 => {
                    let around = around[number % 2].make_sparsely(&mut random, choices).text;
                    let part = match self.known.len() {
                        1.. if number / 4 % KNOWN == 0 => self.known[number / 4 / KNOWN % self.known.len()].clone(),
                        _ => part[number % 2].make(&mut random, choices).text,
                    };
                    let Some(around) = Around::of_gap(&around) else { continue };
                    (around.with(&part), Surroundings::Part(around.ends(&part).map(|byte| byte.map(kind))))
                }
                _ => (whole[number % 2].make(&mut random, choices).text, Surroundings::Unknown(number)),
            };
            if text.len() > LONGEST || !known.insert(text.clone()) {
                continue;
            }
            let around = match self.other {
                Some(other) if other.reads(&text) => continue,
                Some(other) => failure(other, &text).unwrap_or(around),
                None => around,
            };
            made.entry(around).or_default().push((number, text));
        }
        varied(made.into_values().collect(), count)
    }

    /// Returns the grammar of the part alone.
    fn part(&self) -> Grammar {
        let name = Name { text: PART.to_string(), span: NEW };
        let mut grammar = self.grammar.clone();
        grammar.rules.push(Rule::new(name.clone(), self.candidate.part.clone()));
        grammar.start = Some(name);
        grammar
    }
}

/// The name of the rule of a part. No notation has such names.
const PART: &str = "\0part";

fn failure(reader: &Reader, text: &[u8]) -> Option<Surroundings> {
    let at = reader.mismatch(text)?.offset;
    let before = at.checked_sub(1).and_then(|at| text.get(at));
    Some(Surroundings::Failure(text.get(at).copied().map(kind), before.copied().map(kind)))
}

/// Returns some of the texts, of as many groups as there are, in the order in which they were made.
fn varied(mut groups: Vec<Vec<(usize, Vec<u8>)>>, count: usize) -> Vec<Vec<u8>> {
    // Of too many groups, some that are far from each other.
    groups.sort();
    let mut chosen: Vec<(usize, Vec<u8>)> = Vec::new();
    for round in 0.. {
        let left = count - chosen.len();
        let next: Vec<&(usize, Vec<u8>)> = groups.iter().filter_map(|group| group.get(round)).collect();
        if left == 0 || next.is_empty() {
            break;
        }
        let taken = left.min(next.len());
        chosen.extend((0..taken).map(|number| next[number * next.len() / taken].clone()));
    }
    chosen.sort();
    chosen.into_iter().map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refine::place::repeat;
    use crate::refine::testing::grammar;

    #[test]
    fn what_is_new_comes_between_others() {
        let grammar = grammar("program ::= (line ';'){1,6}\nline ::= [0-9]+ @ 20 | '(' line ')' @ 1 | '-' line @ 1\n");
        let place = ExprPath { rule: 0, path: vec![0, 1] };
        let old = place.get(&grammar).expect("a literal").clone();
        let part = crate::refine::place::empty();
        let edit = Candidate::new(&place, repeat(old, 0, Some(1)), part, String::new(), 0);
        let (edited, reader) = (edit.apply(&grammar), Reader::new(&grammar).expect("a grammar"));
        let fresh =
            Fresh { grammar: &edited, place: &place, candidate: &edit, other: Some(&reader), seed: 1, known: &[] };
        let texts = fresh.texts(16);
        let texts: Vec<&str> = texts.iter().map(|text| std::str::from_utf8(text).expect("text")).collect();
        let is_between = |text: &&&str| reader.mismatch(text.as_bytes()).is_some_and(|found| found.offset < text.len());
        assert!(texts.iter().filter(is_between).count() > 8, "{texts:?}");
    }
}
