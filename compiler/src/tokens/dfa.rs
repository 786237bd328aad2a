//! The automaton of one mode: the state of the lexer after each text.

use std::rc::Rc;

use super::alphabet::Classes;
use super::bits::Bits;
use super::nfa::{Nfa, State};
use crate::ordered::{Map, Set};

/// The budget for the automata of all modes. Each mode gets at most half of the rest, so that something is left for the
/// others.
#[derive(Clone, Copy, Debug)]
struct Budget {
    transitions: usize,
    states: usize,
    /// The number of visits to states of the nondeterministic automaton.
    work: usize,
}

const BUDGET: Budget = Budget { transitions: 1 << 23, states: 1 << 17, work: 1 << 26 };

/// A state's number.
pub(super) type StateId = u32;

/// The state in which nothing matches, and from which nothing can match.
pub(super) const DEAD: StateId = 0;
/// The state of the empty text.
pub(super) const START: StateId = 1;

/// The automaton of one mode.
#[derive(Clone, Debug)]
pub(super) struct Dfa {
    classes: usize,
    /// The next state for each state and class.
    next: Vec<StateId>,
    /// For each state, the lexer rule that wins if the match ends there.
    winner: Vec<Option<u32>>,
    /// For each state, whether a match can end there or later.
    alive: Vec<bool>,
    /// The predecessors of each state.
    before: Vec<Vec<StateId>>,
    /// For each lexer rule, the states in which it wins, in ascending order.
    ends: Map<u32, Vec<StateId>>,
}

/// A state of the nondeterministic automaton, and whether a lazy repetition has decided on the way to it.
type Thread = (u32, bool);

impl Dfa {
    /// Returns the automaton of the lexer rules `rules`, in order of priority. `None` if it is too large.
    pub(super) fn new(making: &mut Making<'_>, rules: &[usize]) -> Option<Dfa> {
        let Budget { transitions, states: max_states, work } = making.budget;
        let limit = Budget { transitions: transitions / 2, states: max_states / 2, work: work / 2 };
        making.work = 0;
        let classes = making.classes.len();
        let mut next: Vec<StateId> = vec![DEAD; classes];
        let states = making.states(rules, &mut next, limit);
        let left = &mut making.budget;
        left.transitions -= next.len().min(left.transitions);
        left.states -= next.len().div_ceil(classes.max(1)).min(left.states);
        left.work -= making.work.min(left.work);
        let states = states?;
        let winner: Vec<Option<u32>> = states.iter().map(|threads| making.winner(threads)).collect();
        let mut before: Vec<Vec<StateId>> = vec![Vec::new(); states.len()];
        for (state, row) in next.chunks(classes.max(1)).enumerate() {
            let mut last = DEAD;
            for &target in row.iter().filter(|&&target| target != DEAD) {
                if target != last {
                    before[target as usize].push(state as StateId);
                    last = target;
                }
            }
        }
        let mut ends: Map<u32, Vec<StateId>> = Map::new();
        for (state, winner) in winner.iter().enumerate() {
            if let Some(rule) = winner {
                ends.entry(*rule).or_default().push(state as StateId);
            }
        }
        let mut dfa = Dfa { classes, next, winner, alive: vec![false; states.len()], before, ends };
        let all_ends: Vec<StateId> = dfa.ends.values().flatten().copied().collect();
        for state in dfa.leading_to(&all_ends) {
            dfa.alive[state as usize] = true;
        }
        Some(dfa)
    }

    /// Returns the number of states.
    pub(super) fn len(&self) -> usize {
        self.winner.len()
    }

    /// Returns the states in which a lexer rule wins, in ascending order.
    pub(super) fn ends(&self, rule: usize) -> &[StateId] {
        self.ends.get(&(rule as u32)).map_or(&[], Vec::as_slice)
    }

    /// Returns the state after one more character.
    #[inline(always)]
    pub(super) fn next(&self, state: StateId, class: usize) -> StateId {
        self.next[state as usize * self.classes + class]
    }

    /// Returns the lexer rule that wins if the match ends in `state`.
    #[inline(always)]
    pub(super) fn winner(&self, state: StateId) -> Option<usize> {
        self.winner[state as usize].map(|rule| rule as usize)
    }

    /// Returns true if a match can end in `state` or later.
    #[inline(always)]
    pub(super) fn is_alive(&self, state: StateId) -> bool {
        self.alive[state as usize]
    }

    /// Returns the states from which one of `goals` can be reached, in ascending order.
    pub(super) fn leading_to(&self, goals: &[StateId]) -> Vec<StateId> {
        let mut leads: Set<StateId> = goals.iter().copied().collect();
        let mut pending = goals.to_vec();
        while let Some(state) = pending.pop() {
            pending.extend(self.before[state as usize].iter().filter(|&&earlier| leads.insert(earlier)));
        }
        leads.into_iter().collect()
    }
}

/// The construction of the automata of all modes.
pub(super) struct Making<'n> {
    nfa: &'n Nfa,
    classes: &'n Classes,
    /// For each thread, the last round that has visited it.
    seen: Vec<u32>,
    round: u32,
    /// The rules that lose strings to other rules, or that have a lazy repetition that ended early.
    shaped: Bits,
    budget: Budget,
    work: usize,
    stack: Vec<Thread>,
}

impl<'n> Making<'n> {
    pub(super) fn new(nfa: &'n Nfa, classes: &'n Classes) -> Making<'n> {
        Making {
            nfa,
            classes,
            seen: vec![0; 2 * nfa.states.len()],
            round: 0,
            shaped: Bits::new(nfa.starts.len()),
            budget: BUDGET,
            work: 0,
            stack: Vec::new(),
        }
    }

    /// Returns the rules that lose strings to other rules, or for which a lazy repetition matters.
    pub(super) fn into_shaped(self) -> Bits {
        self.shaped
    }

    /// Returns the states, with the next states in `next`. `None` if the limit is exceeded.
    fn states(&mut self, rules: &[usize], next: &mut Vec<StateId>, limit: Budget) -> Option<Vec<Rc<[Thread]>>> {
        let mut start = Vec::new();
        for &rule in rules {
            let mut reached = false;
            self.round += 1;
            self.closure((self.nfa.starts[rule], false), &mut reached, &mut start);
        }
        self.canonical(&mut start);
        let mut ids: Map<Rc<[Thread]>, StateId> = Map::new();
        let mut states: Vec<Rc<[Thread]>> = vec![Rc::new([]), Rc::from(start)];
        ids.insert(states[0].clone(), DEAD);
        ids.insert(states[1].clone(), START);
        let mut by_class: Vec<Vec<Thread>> = vec![Vec::new(); self.classes.len()];
        let mut place = START as usize;
        while place < states.len() {
            if next.len() > limit.transitions || states.len() > limit.states || self.work > limit.work {
                return None;
            }
            let threads = states[place].clone();
            self.steps(&threads, &mut by_class);
            for target in &mut by_class {
                self.canonical(target);
                let id = match ids.get(target.as_slice()) {
                    Some(&id) => id,
                    None => {
                        let id = states.len() as StateId;
                        states.push(Rc::from(target.as_slice()));
                        ids.insert(states[states.len() - 1].clone(), id);
                        id
                    }
                };
                target.clear();
                next.push(id);
            }
            place += 1;
        }
        Some(states)
    }

    /// Returns the first rule that matches in a state. The other matching rules are marked.
    fn winner(&mut self, threads: &[Thread]) -> Option<u32> {
        let mut winner = None;
        for &(state, _) in threads {
            if matches!(self.nfa.states[state as usize], State::Accept) {
                let rule = self.nfa.rule_of[state as usize];
                match winner {
                    None => winner = Some(rule),
                    Some(first) if first != rule => drop(self.shaped.insert(rule as usize)),
                    Some(_) => {}
                }
            }
        }
        winner
    }

    /// Adds the states that `thread` reaches without a character, the preferred ones first. Once the rule matches,
    /// threads that have passed a lazy decision are dropped: that repetition has ended.
    fn closure(&mut self, thread: Thread, reached: &mut bool, out: &mut Vec<Thread>) {
        self.stack.push(thread);
        while let Some((state, lazy)) = self.stack.pop() {
            self.work += 1;
            let place = 2 * state as usize + usize::from(lazy);
            if std::mem::replace(&mut self.seen[place], self.round) == self.round {
                continue;
            }
            match &self.nfa.states[state as usize] {
                State::Accept => {
                    *reached = true;
                    out.push((state, lazy));
                }
                State::Step { .. } if *reached && lazy => {
                    self.shaped.insert(self.nfa.rule_of[state as usize] as usize);
                }
                State::Step { .. } => out.push((state, lazy)),
                State::Branch { targets, lazy: decides } => {
                    self.stack.extend(targets.iter().rev().map(|&target| (target, lazy || *decides)));
                }
                State::Dead => {}
            }
        }
    }

    /// Finds the next threads for each class of characters.
    fn steps(&mut self, threads: &[Thread], by_class: &mut [Vec<Thread>]) {
        let within = self.classes.within();
        let mut first = 0;
        while first < threads.len() {
            let rule = self.nfa.rule_of[threads[first].0 as usize];
            let count = threads[first..].iter().take_while(|t| self.nfa.rule_of[t.0 as usize] == rule).count();
            let of_rule = &threads[first..first + count];
            first += count;
            let mut targets: Vec<(u32, Thread)> = Vec::new();
            for &(state, lazy) in of_rule {
                if let State::Step { set, next } = self.nfa.states[state as usize] {
                    targets.extend(within[set as usize].iter().map(|&class| (class, (next, lazy))));
                }
            }
            // The sort is stable: the preferred threads stay first.
            targets.sort_by_key(|&(class, _)| class);
            self.work += targets.len();
            let mut reached = false;
            let mut last = None;
            for (class, target) in targets {
                if last.replace(class) != Some(class) {
                    self.round += 1;
                    reached = false;
                }
                if reached && target.1 {
                    self.shaped.insert(rule as usize);
                } else {
                    self.closure(target, &mut reached, &mut by_class[class as usize]);
                }
            }
        }
    }

    /// Brings equal states into the same form. The order of threads matters only for rules with lazy repetitions.
    fn canonical(&mut self, threads: &mut [Thread]) {
        let nfa = self.nfa;
        let mut first = 0;
        while first < threads.len() {
            let rule = nfa.rule_of[threads[first].0 as usize];
            let count = threads[first..].iter().take_while(|t| nfa.rule_of[t.0 as usize] == rule).count();
            if !nfa.has_lazy[rule as usize] {
                threads[first..first + count].sort_unstable();
            }
            first += count;
        }
        self.work += threads.len();
    }
}
