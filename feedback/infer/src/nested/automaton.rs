//! A finite automaton for a content, refined by questions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use crate::asked::Asked;
use crate::lex::{self, join};
use crate::nested::contents::{Item, Occurrence};
use crate::nested::letters::{Letter, Letters};

/// A transition: an item that was read, and the state that it leads to.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub item: Item,
    pub to: usize,
}

/// A state with the items that lead to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub access: Vec<Item>,
    pub is_final: bool,
    pub edges: BTreeMap<usize, Edge>,
}

/// Endings that tell states apart.
#[derive(Debug)]
enum Tree {
    Leaf(usize),
    Test { ending: Vec<Item>, no: Option<Box<Tree>>, yes: Option<Box<Tree>> },
}

/// An automaton.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub states: Vec<State>,
    tree: Tree,
    /// Text before the content, and after it.
    pub before: Vec<u8>,
    pub after: Vec<u8>,
    /// Texts that are no examples of their letters here.
    odd: BTreeSet<Vec<u8>>,
    /// Texts that no walk has in place of others.
    avoided: BTreeSet<Vec<u8>>,
}

/// The most states of an automaton.
const STATES: usize = 150;

/// Returns the text of items.
pub(crate) fn text<'i>(items: impl IntoIterator<Item = &'i Item>, letters: &Letters) -> Vec<u8> {
    spelled(items, letters).0
}

/// Returns the text of items, with their places. Names that occur before are replaced by others, as many languages
/// let none be given twice.
fn spelled<'i>(items: impl IntoIterator<Item = &'i Item>, letters: &Letters) -> (Vec<u8>, Vec<Range<usize>>) {
    let (mut out, mut spans) = (Vec::new(), Vec::new());
    let mut last: Option<usize> = None;
    let mut seen: BTreeSet<(usize, Vec<u8>)> = BTreeSet::new();
    for item in items {
        let mut text = item.text.clone();
        let mut count = 0;
        while !seen.insert((item.letter, text.clone())) {
            let Some(other) = letters.all[item.letter].other(count) else { break };
            text = other;
            count += 1;
        }
        let is_apart = last.is_some_and(|last| letters.apart.contains(&(last, item.letter)));
        if is_apart || last.is_some() && join(&out, &text) {
            out.push(b' ');
        }
        spans.push(out.len()..out.len() + text.len());
        out.extend(text);
        last = Some(item.letter);
    }
    (out, spans)
}

/// Returns true if the item of this number is cut out of the text as a token, too.
pub(crate) fn is_apart(items: &[Item], number: usize, letters: &Letters) -> bool {
    let (whole, spans) = spelled(items, letters);
    let Range { start, end } = spans[number].clone();
    let tokens = lex::tokens(&whole, lex::QUOTES);
    let cuts = |at: usize| tokens.iter().all(|token| token.span.end <= at || token.span.start >= at);
    cuts(start) && cuts(end)
}

impl Automaton {
    /// Returns the automaton with a single state.
    pub fn new(occurrence: &Occurrence, letters: &Letters, asked: &mut Asked<'_>) -> Automaton {
        let mut automaton = Automaton {
            states: Vec::new(),
            tree: Tree::Test { ending: Vec::new(), no: None, yes: None },
            before: occurrence.before.clone(),
            after: occurrence.after.clone(),
            odd: BTreeSet::new(),
            avoided: BTreeSet::new(),
        };
        automaton.sift(&[], letters, asked);
        automaton
    }

    /// Returns the whole text in which items are the content.
    pub fn around(&self, items: &[&[Item]], letters: &Letters) -> Vec<u8> {
        let inner = text(items.iter().copied().flatten(), letters);
        let blank = |before: &[u8], after: &[u8]| if join(before, after) { &b" "[..] } else { b"" };
        if inner.is_empty() {
            return [&self.before[..], blank(&self.before, &self.after), &self.after].concat();
        }
        [&self.before[..], blank(&self.before, &inner), &inner, blank(&inner, &self.after), &self.after].concat()
    }

    pub fn accepts(&self, items: &[&[Item]], letters: &Letters, asked: &mut Asked<'_>) -> bool {
        asked.accepts(&self.around(items, letters))
    }

    /// Returns the state that items lead to, which may be new.
    fn sift(&mut self, access: &[Item], letters: &Letters, asked: &mut Asked<'_>) -> usize {
        let mut path = Vec::new();
        let mut tree = &self.tree;
        loop {
            match tree {
                Tree::Leaf(state) => return *state,
                Tree::Test { ending, no, yes } => {
                    let answer = self.accepts(&[access, ending], letters, asked);
                    path.push(answer);
                    match if answer { yes } else { no } {
                        Some(next) => tree = next,
                        None => break,
                    }
                }
            }
        }
        let is_final = path[0];
        let state = self.states.len();
        self.states.push(State { access: access.to_vec(), is_final, edges: BTreeMap::new() });
        let mut tree = &mut self.tree;
        for (depth, answer) in path.iter().enumerate() {
            let Tree::Test { no, yes, .. } = tree else { break };
            let branch = if *answer { yes } else { no };
            if depth + 1 == path.len() {
                *branch = Some(Box::new(Tree::Leaf(state)));
                break;
            }
            match branch {
                Some(next) => tree = next,
                None => break,
            }
        }
        state
    }

    /// Splits a state: other items lead to a new one, as an ending tells them apart. Returns the new state.
    fn split(
        &mut self,
        state: usize,
        access: Vec<Item>,
        ending: Vec<Item>,
        letters: &Letters,
        asked: &mut Asked<'_>,
    ) -> usize {
        let old = self.states[state].access.clone();
        let answer = self.accepts(&[&old, &ending], letters, asked);
        let is_final = self.accepts(&[&access], letters, asked);
        let new = self.states.len();
        self.states.push(State { access, is_final, edges: BTreeMap::new() });
        let leaf = |state: usize| Some(Box::new(Tree::Leaf(state)));
        let (no, yes) = if answer { (leaf(new), leaf(state)) } else { (leaf(state), leaf(new)) };
        replace(&mut self.tree, state, Tree::Test { ending, no, yes });
        let into: Vec<(usize, usize, Item)> = self
            .states
            .iter()
            .enumerate()
            .flat_map(|(from, one)| {
                let edges = one.edges.values().filter(|edge| edge.to == state);
                edges.map(move |edge| (from, edge.item.letter, edge.item.clone())).collect::<Vec<_>>()
            })
            .collect();
        for (from, letter, item) in into {
            let access = [&self.states[from].access[..], std::slice::from_ref(&item)].concat();
            let to = self.sift(&access, letters, asked);
            self.states[from].edges.insert(letter, Edge { item, to });
        }
        new
    }

    /// Refines the automaton until it reads these items, which are accepted. Returns false if it cannot.
    pub fn process(&mut self, items: &[Item], letters: &mut Letters, asked: &mut Asked<'_>) -> bool {
        if !self.accepts(&[items], letters, asked) {
            return false;
        }
        let mut items = items.to_vec();
        'again: for _ in 0..200 {
            let mut state = 0;
            for at in 0..items.len() {
                if asked.is_over() {
                    return false;
                }
                if self.odd.contains(&items[at].text) {
                    let literal = letters.number(Letter::Literal(items[at].text.clone()));
                    items[at].letter = literal;
                }
                let item = items[at].clone();
                let access = [&self.states[state].access[..], std::slice::from_ref(&item)].concat();
                let to = match self.states[state].edges.get(&item.letter) {
                    Some(edge) => edge.to,
                    None => {
                        if self.states.len() >= STATES {
                            return false;
                        }
                        let to = self.sift(&access, letters, asked);
                        self.states[state].edges.insert(item.letter, Edge { item: item.clone(), to });
                        to
                    }
                };
                let ending = &items[at + 1..];
                let target = self.states[to].access.clone();
                if self.accepts(&[&target, ending], letters, asked) {
                    state = to;
                    continue;
                }
                if self.states.len() >= STATES {
                    return false;
                }
                // The items are accepted, so the state is not the one that they lead to, or the text is no example.
                let known = &self.states[state].edges[&item.letter].item;
                let usual = [&self.states[state].access[..], std::slice::from_ref(known)].concat();
                if known.text != item.text && !self.accepts(&[&usual, ending], letters, asked) {
                    self.odd.insert(item.text.clone());
                    letters.number(Letter::Literal(item.text.clone()));
                    continue 'again;
                }
                self.split(to, usual, ending.to_vec(), letters, asked);
                continue 'again;
            }
            return true;
        }
        false
    }

    /// Refines the automaton by items that it reads, and that are not accepted. Returns false if nothing is changed.
    pub fn refute(&mut self, items: &[Item], letters: &mut Letters, asked: &mut Asked<'_>) -> bool {
        let mut state = 0;
        for at in 0..items.len() {
            if asked.is_over() || self.states.len() >= STATES {
                return false;
            }
            let Some(edge) = self.states[state].edges.get(&items[at].letter).cloned() else { return false };
            let target = self.states[edge.to].access.clone();
            if !self.accepts(&[&target, &items[at + 1..]], letters, asked) {
                state = edge.to;
                continue;
            }
            // From the state's own items on, the ending is accepted; before that, it was not.
            let usual = [&self.states[state].access[..], std::slice::from_ref(&edge.item)].concat();
            if self.accepts(&[&usual, &items[at + 1..]], letters, asked) {
                return self.avoided.insert(items[at].text.clone());
            }
            self.split(edge.to, usual, items[at + 1..].to_vec(), letters, asked);
            return true;
        }
        false
    }

    /// Returns the number of states, and that of edges.
    pub fn size(&self) -> (usize, usize) {
        (self.states.len(), self.states.iter().map(|state| state.edges.len()).sum())
    }

    /// Returns the state that items lead to, if it is known.
    pub fn state(&self, items: &[Item]) -> Option<usize> {
        items.iter().try_fold(0, |state, item| self.states[state].edges.get(&item.letter).map(|edge| edge.to))
    }

    /// Returns the number of items that each state is away from an end; the greatest number if there is none.
    pub fn distances(&self) -> Vec<u32> {
        let mut distances: Vec<u32> =
            self.states.iter().map(|state| if state.is_final { 0 } else { u32::MAX }).collect();
        loop {
            let mut is_changed = false;
            for (number, state) in self.states.iter().enumerate() {
                let next = state.edges.values().map(|edge| distances[edge.to].saturating_add(1)).min();
                if let Some(next) = next.filter(|next| *next < distances[number]) {
                    distances[number] = next;
                    is_changed = true;
                }
            }
            if !is_changed {
                return distances;
            }
        }
    }

    /// Returns the shortest items that lead from a state to an end.
    pub fn completion(&self, state: usize, distances: &[u32]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut state = state;
        while distances[state] > 0 && distances[state] < u32::MAX {
            let next = self.states[state].edges.values().min_by_key(|edge| distances[edge.to]);
            let Some(next) = next else { break };
            items.push(next.item.clone());
            state = next.to;
        }
        items
    }

    /// Returns items that a walk through the automaton reads.
    pub fn walk(
        &self,
        distances: &[u32],
        uses: &mut BTreeMap<(usize, usize), u32>,
        letters: &Letters,
        random: &mut Xoshiro256PlusPlus,
    ) -> Option<Vec<Item>> {
        let mut below = |bound: usize| (random.next_u64() >> 33) as usize % bound.max(1);
        let longest = 4 + below(14);
        let mut items: Vec<Item> = Vec::new();
        let mut state = 0;
        if distances[0] == u32::MAX {
            return None;
        }
        loop {
            let one = &self.states[state];
            let is_long = items.len() >= longest;
            if one.is_final && (is_long || below(5) == 0) {
                return Some(items);
            }
            let live: Vec<&Edge> = one.edges.values().filter(|edge| distances[edge.to] < u32::MAX).collect();
            let nearer: Vec<&Edge> =
                live.iter().copied().filter(|edge| distances[edge.to] < distances[state]).collect();
            let choices = if is_long && !nearer.is_empty() { nearer } else { live };
            if choices.is_empty() {
                return one.is_final.then_some(items);
            }
            // Edges that were rarely used come first.
            let (one, other) = (choices[below(choices.len())], choices[below(choices.len())]);
            let used = |edge: &Edge| uses.get(&(state, edge.item.letter)).copied().unwrap_or(0);
            let edge = if used(other) < used(one) { other } else { one };
            *uses.entry((state, edge.item.letter)).or_default() += 1;
            let examples = &letters.examples[edge.item.letter];
            let fresh = examples
                .get(below(examples.len() + 1))
                .filter(|text| !self.odd.contains(*text) && !self.avoided.contains(*text) && below(2) == 0);
            let text = fresh.map_or(&edge.item.text, |text| text);
            items.push(Item { letter: edge.item.letter, text: text.clone() });
            state = edge.to;
        }
    }
}

fn replace(tree: &mut Tree, state: usize, with: Tree) {
    let mut found = Some(with);
    replace_leaf(tree, state, &mut found);
}

fn replace_leaf(tree: &mut Tree, state: usize, with: &mut Option<Tree>) {
    match tree {
        Tree::Leaf(leaf) if *leaf == state => {
            if let Some(new) = with.take() {
                *tree = new;
            }
        }
        Tree::Leaf(_) => {}
        Tree::Test { no, yes, .. } => {
            for branch in [no, yes].into_iter().flatten() {
                replace_leaf(branch, state, with);
            }
        }
    }
}
