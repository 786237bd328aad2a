//! Lexer rules as nondeterministic automata whose branches stand in order of preference.

use super::sets::Sets;
use super::{Lexer, Pattern};
use crate::charset::CharSet;

use std::collections::BTreeMap;

/// A fragment that refers to itself is expanded this often; deeper strings are not looked at.
const MAX_RECURSION: usize = 3;
/// Patterns in patterns are followed this deep.
const MAX_DEPTH: usize = 1000;
/// More states than this are not built.
const MAX_STATES: usize = 1 << 18;
/// Patterns are looked at this often at most.
const MAX_WORK: usize = 1 << 20;

/// A state.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// Goes on with one character of a set, by its place in [`Nfa::sets`].
    Step { set: u32, next: u32 },
    /// Goes on at each of these, the preferred ones first. `lazy` marks the place where a lazy repetition decides.
    Branch { targets: Vec<u32>, lazy: bool },
    /// The rule matches.
    Accept,
    /// Nothing matches.
    Dead,
}

/// The automata of all lexer rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Nfa {
    pub(super) states: Vec<State>,
    /// The lexer rule that each state belongs to.
    pub(super) rule_of: Vec<u32>,
    /// The first state of each rule.
    pub(super) starts: Vec<u32>,
    /// For each rule whether it has a lazy repetition, so that the order of branches matters.
    pub(super) has_lazy: Vec<bool>,
    pub(super) sets: Vec<CharSet>,
}

impl Nfa {
    /// The automata of a lexer's rules; `None` if they are too large. The deeper strings of recursive rules are missing.
    pub(super) fn new(lexer: &Lexer, sets: &Sets) -> Option<Nfa> {
        let mut building = Building {
            lexer,
            sets,
            nfa: Nfa::default(),
            ids: BTreeMap::new(),
            made: BTreeMap::new(),
            rule: 0,
            open: vec![0; lexer.fragments.len()],
            depth: 0,
            work: 0,
            is_too_large: false,
            lazy: false,
        };
        for (number, rule) in lexer.rules.iter().enumerate() {
            building.rule = number as u32;
            building.lazy = false;
            let accept = building.add(State::Accept);
            let start = building.pattern(&rule.pattern, accept);
            building.nfa.starts.push(start);
            building.nfa.has_lazy.push(building.lazy);
            building.made.clear();
            if building.is_too_large || building.nfa.states.len() > MAX_STATES {
                return None;
            }
        }
        Some(building.nfa)
    }
}

struct Building<'l> {
    lexer: &'l Lexer,
    sets: &'l Sets,
    nfa: Nfa,
    ids: BTreeMap<Vec<(u32, u32)>, u32>,
    /// For fragments that do not refer to themselves, and the states that they go on at, the first state.
    made: BTreeMap<(usize, u32), u32>,
    rule: u32,
    /// How often each fragment is being expanded.
    open: Vec<usize>,
    depth: usize,
    work: usize,
    is_too_large: bool,
    lazy: bool,
}

impl Building<'_> {
    fn add(&mut self, state: State) -> u32 {
        self.nfa.states.push(state);
        self.nfa.rule_of.push(self.rule);
        self.nfa.states.len() as u32 - 1
    }

    fn set(&mut self, set: &CharSet) -> u32 {
        let sets = &mut self.nfa.sets;
        *self.ids.entry(set.ranges().to_vec()).or_insert_with(|| {
            sets.push(set.clone());
            sets.len() as u32 - 1
        })
    }

    /// The state that matches `pattern` and goes on at `next`.
    fn pattern(&mut self, pattern: &Pattern, next: u32) -> u32 {
        self.work += 1;
        self.is_too_large |= self.nfa.states.len() > MAX_STATES || self.depth > MAX_DEPTH || self.work > MAX_WORK;
        if self.is_too_large {
            return next;
        }
        self.depth += 1;
        let state = self.shallow(pattern, next);
        self.depth -= 1;
        state
    }

    fn shallow(&mut self, pattern: &Pattern, next: u32) -> u32 {
        match pattern {
            Pattern::Set { set, .. } => {
                let set = self.set(set);
                self.add(State::Step { set, next })
            }
            Pattern::Fragment(fragment) => {
                if self.open[*fragment] == MAX_RECURSION {
                    return self.add(State::Dead);
                }
                if let Some(&state) = self.made.get(&(*fragment, next)) {
                    return state;
                }
                self.open[*fragment] += 1;
                let lexer = self.lexer;
                let state = self.pattern(&lexer.fragments[*fragment].pattern, next);
                self.open[*fragment] -= 1;
                // How far a fragment that refers to itself is expanded depends on where it stands.
                if !self.sets.is_recursive(*fragment) {
                    self.made.insert((*fragment, next), state);
                }
                state
            }
            Pattern::Seq(items) => items.iter().rev().fold(next, |next, item| self.pattern(item, next)),
            Pattern::Choice(items) => {
                if let Some(set) = self.sets.set(pattern) {
                    let set = self.set(&set);
                    return self.add(State::Step { set, next });
                }
                let targets = items.iter().map(|item| self.pattern(item, next)).collect();
                self.add(State::Branch { targets, lazy: false })
            }
            Pattern::Repeat { item, min, max, lazy } => self.repeat(item, *min, *max, *lazy, next),
        }
    }

    fn repeat(&mut self, item: &Pattern, min: u32, max: Option<u32>, lazy: bool, next: u32) -> u32 {
        self.lazy |= lazy;
        let order = |on, off| if lazy { vec![off, on] } else { vec![on, off] };
        let mut state = next;
        match max {
            None => {
                let decision = self.add(State::Dead);
                let on = self.pattern(item, decision);
                self.nfa.states[decision as usize] = State::Branch { targets: order(on, next), lazy };
                state = decision;
            }
            Some(max) => {
                for _ in min..max {
                    if self.is_too_large {
                        break;
                    }
                    let on = self.pattern(item, state);
                    state = self.add(State::Branch { targets: order(on, next), lazy });
                }
            }
        }
        for _ in 0..min {
            if self.is_too_large {
                break;
            }
            state = self.pattern(item, state);
        }
        state
    }
}
