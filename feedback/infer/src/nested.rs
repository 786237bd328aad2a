//! Grammars of samples with brackets: what stands between brackets is regular, but for brackets within it.
//!
//! A finite automaton is learned for each content, by questions (Angluin's L*, with the discrimination trees of Kearns
//! and Vazirani 1994): two beginnings lead to one state unless an ending tells them apart. Counterexamples come from
//! walks through the automaton, and from letters that no sample has there.

pub(crate) mod automaton;
pub(crate) mod contents;
pub(crate) mod explore;
pub(crate) mod letters;
pub(crate) mod rules;
pub(crate) mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use crate::asked::Asked;
use crate::check;
use crate::choice::Candidate;
use crate::without_blanks;
use automaton::Automaton;
use contents::Content;
use explore::Learner;
use letters::{Letters, Reading};

/// The share of the questions, in per cent of those that are left, that is for automata: the rest is for tokens, white
/// space and repair.
const LEARNED: u64 = 65;

/// Returns the grammar of samples that the oracle accepts.
pub(crate) fn candidate(samples: &[&[u8]], asked: &mut Asked<'_>, seed: u64) -> Candidate {
    let quotes = without_blanks::quotes(samples, asked);
    let mut letters = Letters::default();
    let mut readings: Vec<Reading> = samples.iter().map(|sample| letters::reading(sample, quotes, asked)).collect();
    letters::find(&mut readings, &mut letters, asked);
    let contents = contents::find(&readings, &mut letters, asked);
    let automata = learned(&contents, &mut letters, asked, seed);
    let rules = rules::rules(&letters, &contents, &automata, asked);
    let (rules, undone) = check::repair(seed, asked, &mut |_, _| rules.clone());
    Candidate { rules, undone, exhausted: asked.exhausted }
}

/// Returns the automata of all contents. That of whole samples is learned last.
fn learned(contents: &[Content], letters: &mut Letters, asked: &mut Asked<'_>, seed: u64) -> Vec<Option<Automaton>> {
    let endings = explore::endings(contents);
    let (mut kin, mut pairs) = (BTreeMap::new(), pairs(contents));
    let mut automata: Vec<Option<Automaton>> = Vec::new();
    automata.resize_with(contents.len(), || None);
    let last = asked.calls + asked.bound().saturating_sub(asked.calls) * LEARNED / 100;
    for (done, number) in (1..contents.len()).chain([0]).enumerate() {
        let share = last.saturating_sub(asked.calls) * 2 / ((contents.len() - done) as u64 + 1);
        let mut learner = Learner {
            end: asked.calls + share,
            letters,
            asked,
            random: explore::random(seed),
            endings: &endings,
            kin: &mut kin,
            pairs: &mut pairs,
            tried: BTreeSet::new(),
        };
        automata[number] = Some(learner.learn(&contents[number]));
    }
    automata
}

/// Returns the letters that follow each other in the samples.
fn pairs(contents: &[Content]) -> BTreeSet<(Option<usize>, usize)> {
    let mut pairs = BTreeSet::new();
    for occurrence in contents.iter().flat_map(|content| &content.occurrences) {
        let items = &occurrence.items;
        pairs.extend(items.first().map(|item| (None, item.letter)));
        pairs.extend(items.windows(2).map(|pair| (Some(pair[0].letter), pair[1].letter)));
    }
    pairs
}
