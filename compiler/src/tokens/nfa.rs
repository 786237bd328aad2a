//! Lexer rules as nondeterministic automata. Branches are in order of preference.

use super::bits::Bits;
use super::recursion::Recursion;
use super::sets::Sets;
use super::{Lexer, Pattern};
use crate::charset::CharSet;
use crate::ordered::Map;

/// The number of times that a fragment is expanded within itself if it is not a loop. Deeper strings are left out.
pub(super) const MAX_RECURSION: usize = 3;
/// The deepest nesting of patterns.
const MAX_DEPTH: usize = 1000;
/// The greatest number of states.
const MAX_STATES: usize = 1 << 18;
/// The most visits to patterns.
const MAX_WORK: usize = 1 << 20;

/// A state of the automata.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// Continues with one character of a set, by its place in [`Nfa::sets`].
    Step { set: u32, next: u32 },
    /// Continues at each target, the preferred ones first. `lazy` marks the decision of a lazy repetition.
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
    /// The lexer rule of each state.
    pub(super) rule_of: Vec<u32>,
    /// The first state of each rule.
    pub(super) starts: Vec<u32>,
    /// For each rule, whether it has a lazy repetition, so that the order of branches matters.
    pub(super) has_lazy: Vec<bool>,
    /// For each rule, the treatment of its fragments that refer to themselves.
    pub(super) nesting: Vec<Nesting>,
    pub(super) sets: Vec<CharSet>,
}

/// The treatment of a rule's fragments that refer to themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nesting {
    /// No such fragments.
    #[default]
    None,
    /// Loops, which match exactly the same texts.
    Looped,
    /// Texts nested deeper than [`MAX_RECURSION`] are missing.
    Cut,
    /// Fragments that match all texts of the rule, and more.
    Widened,
}

impl Nfa {
    /// Returns the automata of a lexer's rules. `None` if they are too large. If the nesting of a rule is not a loop,
    /// its automaton is not exact: it matches more if the rule is in `widened`, otherwise the deeper strings are
    /// missing.
    pub(super) fn new(lexer: &Lexer, sets: &Sets, recursion: &Recursion, widened: &Bits) -> Option<Nfa> {
        let mut building = Building {
            lexer,
            sets,
            recursion,
            nfa: Nfa::default(),
            ids: Map::new(),
            made: Map::new(),
            stars: Map::new(),
            joints: Map::new(),
            rule: 0,
            open: vec![0; lexer.fragments.len()],
            nesting: Nesting::None,
            is_widened: false,
            cuts: 0,
            depth: 0,
            work: 0,
            is_too_large: false,
            lazy: false,
        };
        for (number, rule) in lexer.rules.iter().enumerate() {
            building.rule = number as u32;
            building.lazy = false;
            building.nesting = Nesting::None;
            building.is_widened = widened.contains(number);
            let accept = building.add(State::Accept);
            let start = building.pattern(&rule.pattern, accept);
            building.nfa.starts.push(start);
            building.nfa.has_lazy.push(building.lazy);
            building.nfa.nesting.push(building.nesting);
            building.made.clear();
            building.stars.clear();
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
    recursion: &'l Recursion,
    nfa: Nfa,
    ids: Map<Vec<(u32, u32)>, u32>,
    /// The first states of fragments, by fragment and the state that follows. A fragment that is met again during its
    /// construction is a loop.
    made: Map<(usize, u32), u32>,
    /// The unbounded repetitions, by the states that decide on a further round.
    stars: Map<u32, &'l Pattern>,
    /// The first and last states of fragments of linear components that are under construction.
    joints: Map<usize, (u32, u32)>,
    rule: u32,
    /// The number of open expansions of each fragment.
    open: Vec<usize>,
    nesting: Nesting,
    /// Whether the rule's automaton may match more than the rule.
    is_widened: bool,
    /// The number of expansions cut off so far.
    cuts: usize,
    depth: usize,
    work: usize,
    is_too_large: bool,
    lazy: bool,
}

impl<'l> Building<'l> {
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

    /// Returns the state that matches `pattern` and continues at `next`.
    fn pattern(&mut self, pattern: &'l Pattern, next: u32) -> u32 {
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

    fn shallow(&mut self, pattern: &'l Pattern, next: u32) -> u32 {
        match pattern {
            Pattern::Set { set, .. } => {
                let set = self.set(set);
                self.add(State::Step { set, next })
            }
            Pattern::Fragment(fragment) => self.fragment(*fragment, next),
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

    fn fragment(&mut self, fragment: usize, next: u32) -> u32 {
        let place = (fragment, next);
        if let Some(&state) = self.made.get(&place) {
            return state;
        }
        let cuts = self.cuts;
        let state = match self.recursion.component(fragment) {
            None => self.body(fragment, next),
            Some(component) if self.is_widened || self.recursion.is_linear(component) => {
                self.joined(fragment, component, next)
            }
            Some(_) if self.open[fragment] == MAX_RECURSION => {
                self.cuts += 1;
                self.nesting = self.nesting.max(Nesting::Cut);
                return self.add(State::Dead);
            }
            Some(_) => {
                self.nesting = self.nesting.max(Nesting::Looped);
                let begin = self.add(State::Dead);
                self.made.insert(place, begin);
                self.open[fragment] += 1;
                let state = self.body(fragment, next);
                self.open[fragment] -= 1;
                self.nfa.states[begin as usize] = State::Branch { targets: vec![state], lazy: false };
                begin
            }
        };
        // A fragment can be shared only if no expansion was cut off and nothing was joined. Both depend on the place.
        if !self.sets.is_recursive(fragment) || self.cuts == cuts && self.joints.is_empty() {
            self.made.insert(place, state)
        } else {
            self.made.remove(&place)
        };
        state
    }

    fn body(&mut self, fragment: usize, next: u32) -> u32 {
        let lexer = self.lexer;
        self.pattern(&lexer.fragments[fragment].pattern, next)
    }

    /// Returns a fragment of a component. Its end continues wherever any reference to it does.
    fn joined(&mut self, fragment: usize, component: usize, next: u32) -> u32 {
        if let Some(&(begin, end)) = self.joints.get(&fragment) {
            if let State::Branch { targets, .. } = &mut self.nfa.states[end as usize] {
                targets.push(next);
            }
            return begin;
        }
        let is_exact = self.recursion.is_linear(component);
        self.nesting = self.nesting.max(if is_exact { Nesting::Looped } else { Nesting::Widened });
        let members = self.recursion.members(component);
        let is_first = members.iter().all(|member| !self.joints.contains_key(member));
        let begin = self.add(State::Dead);
        let end = self.add(State::Branch { targets: vec![next], lazy: false });
        self.joints.insert(fragment, (begin, end));
        let first = self.body(fragment, end);
        self.nfa.states[begin as usize] = State::Branch { targets: vec![first], lazy: false };
        if is_first {
            for member in members {
                self.joints.remove(member);
            }
        }
        begin
    }

    fn repeat(&mut self, item: &'l Pattern, min: u32, max: Option<u32>, lazy: bool, next: u32) -> u32 {
        // The early end of a lazy repetition excludes texts reliably only if the automaton does not match more.
        let lazy = lazy && !self.is_widened;
        self.lazy |= lazy;
        let order = |on, off| if lazy { vec![off, on] } else { vec![on, off] };
        let mut state = next;
        match max {
            // In a fragment that refers to itself, `x*` followed by the same `x*` is `x*`.
            None if self.stars.get(&next).is_some_and(|known| std::ptr::eq(*known, item)) => {}
            None => {
                let decision = self.add(State::Dead);
                self.stars.insert(decision, item);
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
