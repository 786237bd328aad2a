//! The automata of all modes of a lexer, and the facts that they give.

use std::cell::OnceCell;
use std::collections::VecDeque;

use super::alphabet::{Alphabet, Classes};
use super::bits::Bits;
use super::dfa::{DEAD, Dfa, Making, START, StateId};
use super::nfa::{Nesting, Nfa};
use super::recursion::Recursion;
use super::sets::{Sets, drawn};
use super::{Lexer, Outcome};
use crate::charset::{CharSet, Unit};
use crate::ordered::Set;

/// The automata of a lexer's modes. A mode has none if it would be too large. Then nothing is known about its rules.
#[derive(Debug)]
pub(super) struct Automata {
    pub(super) classes: Classes,
    pub(super) sets: Sets,
    modes: Vec<Option<Dfa>>,
    /// The rules that lose strings to other rules, or for which a lazy repetition matters.
    shaped: Bits,
    /// For each rule, the treatment of its fragments that refer to themselves.
    nesting: Vec<Nesting>,
    /// For each mode its rules.
    rules: Vec<Vec<usize>>,
    mode_of: Vec<usize>,
    facts: Vec<OnceCell<RuleFacts>>,
    /// The rules of which only some texts count.
    narrowed: Bits,
    /// For each rule, the characters that its texts are drawn from.
    drawn: Vec<CharSet>,
}

/// Facts about the texts that the lexer takes for a rule's.
#[derive(Debug)]
pub(super) struct RuleFacts {
    /// The states in which they end, in ascending order.
    pub(super) ends: Vec<StateId>,
    /// The states from which an end can be reached, in ascending order.
    leads: Vec<StateId>,
    /// The classes that they begin with.
    pub(super) first: Bits,
    /// The classes that they are drawn from.
    pub(super) drawn: Bits,
}

impl RuleFacts {
    /// Returns true if one of the rule's texts can end in `state` or later.
    pub(super) fn leads(&self, state: StateId) -> bool {
        self.leads.binary_search(&state).is_ok()
    }
}

impl Automata {
    /// Returns the automata of a lexer.
    pub(super) fn new(lexer: &Lexer, alphabet: Alphabet) -> Automata {
        let mut automata = Automata {
            classes: Classes::one(),
            sets: Sets::new(&lexer.fragments),
            modes: vec![None; lexer.modes],
            shaped: Bits::new(lexer.rules.len()),
            nesting: vec![Nesting::None; lexer.rules.len()],
            rules: vec![Vec::new(); lexer.modes],
            mode_of: lexer.rules.iter().map(|rule| rule.mode).collect(),
            facts: lexer.rules.iter().map(|_| OnceCell::new()).collect(),
            narrowed: Bits::new(lexer.rules.len()),
            drawn: drawn(lexer, alphabet),
        };
        for (number, rule) in lexer.rules.iter().enumerate() {
            automata.rules[rule.mode].push(number);
        }
        let recursion = Recursion::new(lexer);
        let mut widened = Bits::new(lexer.rules.len());
        automata.build(lexer, &recursion, &widened);
        // If the automaton of a mode is too large because of nested rules, these rules may match more than they do.
        // First those that the parser does not see, with the fragments that they share with others.
        let nested: Vec<Set<usize>> = lexer.rules.iter().map(|rule| recursion.nested(&rule.pattern)).collect();
        for only_hidden in [true, false] {
            let unknown: Set<usize> = automata.unknown_modes().collect();
            let is_unknown = |&number: &usize| unknown.contains(&lexer.rules[number].mode);
            let is_asked = |&number: &usize| !only_hidden || lexer.rules[number].outcome == Outcome::Hidden;
            let asked: Set<usize> = (0..nested.len())
                .filter(is_unknown)
                .filter(is_asked)
                .flat_map(|number| nested[number].clone())
                .collect();
            let mut is_new = false;
            for number in (0..nested.len()).filter(is_unknown).filter(|&number| !nested[number].is_disjoint(&asked)) {
                is_new |= widened.insert(number);
            }
            if is_new {
                automata.build(lexer, &recursion, &widened);
            }
        }
        automata
    }

    /// Builds the automata of the modes. Nested rules in `widened` match more than they do.
    fn build(&mut self, lexer: &Lexer, recursion: &Recursion, widened: &Bits) {
        let nfa = Nfa::new(lexer, &self.sets, recursion, widened);
        let Some((classes, nfa)) = nfa.and_then(|nfa| Some((Classes::new(&nfa.sets)?, nfa))) else { return };
        let mut making = Making::new(&nfa, &classes);
        self.modes = self.rules.iter().map(|rules| Dfa::new(&mut making, rules)).collect();
        self.shaped = making.into_shaped();
        self.nesting = nfa.nesting;
        self.classes = classes;
    }

    /// Returns the rules whose deeper strings are missing from the automaton of their mode.
    pub(super) fn cut_rules(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nesting.len()).filter(|&rule| self.nesting[rule] == Nesting::Cut && self.of_rule(rule).is_some())
    }

    /// Returns true if a rule is taken to match more than it does.
    pub(super) fn is_widened(&self, rule: usize) -> bool {
        self.nesting[rule] == Nesting::Widened
    }

    /// Returns the characters that a rule's texts are drawn from.
    pub(super) fn drawn(&self, rule: usize) -> &CharSet {
        &self.drawn[rule]
    }

    /// Lets only those texts of a rule count from now on that end in one of `ends`. Does nothing if these are none or
    /// all of its ends. Returns whether anything has changed.
    pub(super) fn keep_ends(&mut self, rule: usize, ends: &[StateId]) -> bool {
        let Some(facts) = self.facts(rule) else { return false };
        let Some(dfa) = self.of_rule(rule) else { return false };
        if ends.is_empty() || ends.len() == facts.ends.len() || self.is_widened(rule) {
            return false;
        }
        let facts = self.facts_of_ends(dfa, rule, ends);
        self.facts[rule] = OnceCell::from(facts);
        self.narrowed.insert(rule);
        true
    }

    /// Lets only those texts of a rule count from now on that a further character can end. Does nothing if these are
    /// none or all of its texts. Returns whether anything has changed.
    pub(super) fn keep_endable(&mut self, rule: usize) -> bool {
        let (Some(dfa), Some(facts)) = (self.of_rule(rule), self.facts(rule)) else { return false };
        let can_end = |state| (0..self.classes.len()).any(|class| !dfa.is_alive(dfa.next(state, class)));
        let endable: Vec<StateId> = facts.ends.iter().copied().filter(|&state| can_end(state)).collect();
        self.keep_ends(rule, &endable)
    }

    /// Returns true if the lexer may continue after some texts of a rule, and not after others.
    pub(super) fn is_partly_quiet(&self, rule: usize) -> bool {
        let (Some(dfa), Some(facts)) = (self.of_rule(rule), self.facts(rule)) else { return false };
        let goes_on = |&state: &StateId| (0..self.classes.len()).any(|class| dfa.is_alive(dfa.next(state, class)));
        facts.ends.iter().any(goes_on) && !facts.ends.iter().all(goes_on)
    }

    /// Returns true if only some of a rule's texts count.
    pub(super) fn is_narrowed(&self, rule: usize) -> bool {
        self.narrowed.contains(rule)
    }

    /// Returns the characters that the lexer may continue with after some text of a rule.
    pub(super) fn going_on(&self, rule: usize) -> CharSet {
        let mut set = CharSet::empty(Unit::Char);
        let (Some(dfa), Some(facts)) = (self.of_rule(rule), self.facts(rule)) else { return set };
        for class in 0..self.classes.len() {
            if facts.ends.iter().any(|&end| dfa.is_alive(dfa.next(end, class))) {
                set = set.union(self.classes.members(class));
            }
        }
        set
    }

    /// Returns the modes with rules whose automata are too large.
    pub(super) fn unknown_modes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.modes.len()).filter(|&mode| self.modes[mode].is_none() && !self.rules[mode].is_empty())
    }

    /// Returns the rules of a mode, in order of priority.
    pub(super) fn rules_of(&self, mode: usize) -> &[usize] {
        &self.rules[mode]
    }

    /// Returns the automaton of a mode, unless it is too large.
    pub(super) fn mode(&self, mode: usize) -> Option<&Dfa> {
        self.modes[mode].as_ref()
    }

    /// Returns the automaton of the mode that a rule belongs to, unless it is too large.
    pub(super) fn of_rule(&self, rule: usize) -> Option<&Dfa> {
        self.mode(self.mode_of[rule])
    }

    /// Returns the facts about a rule's texts, if its mode has an automaton.
    pub(super) fn facts(&self, rule: usize) -> Option<&RuleFacts> {
        let dfa = self.of_rule(rule)?;
        Some(self.facts[rule].get_or_init(|| self.facts_of_ends(dfa, rule, dfa.ends(rule))))
    }

    /// Returns the facts about the texts of `rule` that end in one of `ends`. Texts that are never drawn are left out,
    /// if others remain.
    fn facts_of_ends(&self, dfa: &Dfa, rule: usize, ends: &[StateId]) -> RuleFacts {
        let drawn = self.classes.meeting(&self.drawn[rule]);
        let leads = dfa.leading_to(ends);
        let mut reached = Set::from([START]);
        let mut pending = vec![START];
        while let Some(state) = pending.pop() {
            for next in drawn.iter().map(|class| dfa.next(state, class)) {
                if leads.binary_search(&next).is_ok() && reached.insert(next) {
                    pending.push(next);
                }
            }
        }
        let drawn_ends: Vec<StateId> = ends.iter().copied().filter(|end| reached.contains(end)).collect();
        let (ends, leads) = if drawn_ends.is_empty() {
            (ends.to_vec(), leads)
        } else {
            let leads = dfa.leading_to(&drawn_ends);
            (drawn_ends, leads)
        };
        let mut first = Bits::new(self.classes.len());
        for class in drawn.iter().filter(|&class| leads.binary_search(&dfa.next(START, class)).is_ok()) {
            first.insert(class);
        }
        RuleFacts { ends, leads, first, drawn }
    }

    /// Returns true if the lexer takes some text for this rule's, as far as is known.
    pub(super) fn is_possible(&self, rule: usize) -> bool {
        self.of_rule(rule).is_none_or(|dfa| !dfa.ends(rule).is_empty())
    }

    /// Returns true if a rule's texts are to be written from the automaton: its texts are not those of its pattern, or
    /// it is a loop, which would be written as a rule that refers to itself.
    pub(super) fn is_shaped(&self, rule: usize) -> bool {
        self.is_told(rule) || self.nesting[rule] == Nesting::Looped && self.of_rule(rule).is_some()
    }

    /// Returns true if a rule's texts are not those of its pattern: some belong to another rule, or are empty, or end
    /// earlier.
    pub(super) fn is_told(&self, rule: usize) -> bool {
        self.of_rule(rule).is_some_and(|dfa| {
            self.shaped.contains(rule) || self.narrowed.contains(rule) || dfa.winner(START) == Some(rule)
        })
    }

    /// Returns a shortest text that the lexer takes for this rule's, of readable characters if possible. `None` if none
    /// is known.
    pub(super) fn shortest(&self, rule: usize) -> Option<String> {
        const MAX_LENGTH: usize = 64;
        let dfa = self.of_rule(rule).filter(|_| !self.is_widened(rule))?;
        let facts = self.facts(rule)?;
        // For each state, the state before it and the class that leads there.
        let mut before: Vec<Option<(StateId, usize)>> = vec![None; dfa.len()];
        let mut pending = VecDeque::from([START]);
        let mut reached = vec![false; dfa.len()];
        reached[START as usize] = true;
        while let Some(state) = pending.pop_front() {
            if dfa.winner(state) == Some(rule) {
                let mut text = Vec::new();
                let mut at = state;
                while let Some((earlier, class)) = before[at as usize] {
                    let members = Alphabet::Ascii.restrict(self.classes.members(class));
                    text.push(members.nth(0).and_then(char::from_u32)?);
                    at = earlier;
                }
                return (text.len() <= MAX_LENGTH).then(|| text.iter().rev().collect());
            }
            for class in 0..self.classes.len() {
                let next = dfa.next(state, class);
                if facts.leads(next) && !std::mem::replace(&mut reached[next as usize], true) {
                    before[next as usize] = Some((state, class));
                    pending.push_back(next);
                }
            }
        }
        None
    }

    /// Returns the state of a mode after a text.
    pub(super) fn run(&self, dfa: &Dfa, text: &str) -> StateId {
        text.chars().fold(START, |state, character| match state {
            DEAD => DEAD,
            state => dfa.next(state, self.classes.of(character)),
        })
    }
}
