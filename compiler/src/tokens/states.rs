//! The automata of all modes of a lexer, and what can be read off them.

use std::cell::OnceCell;
use std::collections::VecDeque;

use super::alphabet::{Alphabet, Classes};
use super::bits::Bits;
use super::dfa::{DEAD, Dfa, START, StateId};
use super::nfa::Nfa;
use super::{Lexer, Outcome};

/// The automata of a lexer's modes. A mode has none if it would be too large; then nothing is known of its rules.
#[derive(Debug)]
pub(super) struct Automata {
    pub(super) classes: Classes,
    modes: Vec<Option<Dfa>>,
    mode_of: Vec<usize>,
    facts: Vec<OnceCell<RuleFacts>>,
    /// The rules of which only those texts count that the lexer cannot go on behind.
    quiet: Bits,
}

/// What is known of the texts that the lexer takes for a rule's.
#[derive(Debug)]
pub(super) struct RuleFacts {
    /// The states in which they end.
    pub(super) ends: Vec<StateId>,
    /// For each state whether one of `ends` can be reached.
    pub(super) leads: Vec<bool>,
    /// The classes that they begin with.
    pub(super) first: Bits,
}

impl Automata {
    /// The automata of a lexer.
    pub(super) fn new(lexer: &Lexer) -> Automata {
        let nfa = Nfa::new(lexer);
        let classes = Classes::new(nfa.as_ref().map_or(&[], |nfa| &nfa.sets));
        let modes = (0..lexer.modes)
            .map(|mode| {
                let nfa = nfa.as_ref()?;
                let within: Vec<Vec<u32>> = nfa.sets.iter().map(|set| classes.within(set)).collect();
                let rules: Vec<usize> =
                    (0..lexer.rules.len()).filter(|&rule| lexer.rules[rule].mode == mode).collect();
                Dfa::new(nfa, &classes, &within, &rules)
            })
            .collect();
        Automata {
            classes,
            modes,
            mode_of: lexer.rules.iter().map(|rule| rule.mode).collect(),
            facts: lexer.rules.iter().map(|_| OnceCell::new()).collect(),
            quiet: Bits::new(lexer.rules.len()),
        }
    }

    /// From now on only those texts of a rule count that the lexer cannot go on behind, if there are some such and
    /// others. Returns whether that is so.
    pub(super) fn keep_quiet(&mut self, rule: usize) -> bool {
        let Some(facts) = self.facts(rule) else { return false };
        let Some(dfa) = self.of_rule(rule) else { return false };
        let goes_on = |state| (0..self.classes.len()).any(|class| dfa.is_alive(dfa.next(state, class)));
        let quiet: Vec<StateId> = facts.ends.iter().copied().filter(|&state| !goes_on(state)).collect();
        if quiet.is_empty() || quiet.len() == facts.ends.len() {
            return false;
        }
        let facts = self.facts_of_ends(dfa, quiet);
        self.facts[rule] = OnceCell::from(facts);
        self.quiet.insert(rule)
    }

    /// The automaton of a mode, unless it is too large.
    pub(super) fn mode(&self, mode: usize) -> Option<&Dfa> {
        self.modes[mode].as_ref()
    }

    /// The automaton of the mode that a rule belongs to, unless it is too large.
    pub(super) fn of_rule(&self, rule: usize) -> Option<&Dfa> {
        self.mode(self.mode_of[rule])
    }

    /// What is known of a rule's texts, if the automaton of its mode is.
    pub(super) fn facts(&self, rule: usize) -> Option<&RuleFacts> {
        let dfa = self.of_rule(rule)?;
        Some(self.facts[rule].get_or_init(|| self.compute_facts(dfa, rule)))
    }

    fn compute_facts(&self, dfa: &Dfa, rule: usize) -> RuleFacts {
        let is_end = |state: StateId| dfa.winner(state) == Some(rule);
        self.facts_of_ends(dfa, (0..dfa.len() as StateId).filter(|&state| is_end(state)).collect())
    }

    fn facts_of_ends(&self, dfa: &Dfa, ends: Vec<StateId>) -> RuleFacts {
        let leads = dfa.leading_to(|state| ends.binary_search(&state).is_ok());
        let mut first = Bits::new(self.classes.len());
        for class in 0..self.classes.len() {
            if leads[dfa.next(START, class) as usize] {
                first.insert(class);
            }
        }
        RuleFacts { ends, leads, first }
    }

    /// Whether the lexer takes some text for this rule's, as far as is known.
    pub(super) fn is_possible(&self, rule: usize) -> bool {
        self.facts(rule).is_none_or(|facts| !facts.ends.is_empty())
    }

    /// Whether a rule's texts are not those that its pattern says: some are another rule's, or empty, or end earlier.
    pub(super) fn is_shaped(&self, rule: usize) -> bool {
        self.of_rule(rule).is_some_and(|dfa| dfa.shaped.contains(rule) || self.quiet.contains(rule) || dfa.winner(START) == Some(rule))
    }

    /// A shortest text, of readable characters if possible, that the lexer takes for this rule's.
    pub(super) fn shortest(&self, rule: usize) -> Option<String> {
        const MAX_LENGTH: usize = 64;
        let dfa = self.of_rule(rule)?;
        let facts = self.facts(rule)?;
        // The state before each and the class that leads from there.
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
                if facts.leads[next as usize] && !std::mem::replace(&mut reached[next as usize], true) {
                    before[next as usize] = Some((state, class));
                    pending.push_back(next);
                }
            }
        }
        None
    }

    /// The state of a mode after a text.
    pub(super) fn run(&self, dfa: &Dfa, text: &str) -> StateId {
        text.chars().fold(START, |state, character| match state {
            DEAD => DEAD,
            state => dfa.next(state, self.classes.of(character)),
        })
    }

    /// Texts that may stand between tokens in a mode: each is one match of a hidden rule that leaves the mode as it is.
    pub(super) fn separators(&self, lexer: &Lexer, mode: usize) -> Vec<String> {
        const MAX: usize = 6;
        let separates = |rule: usize| {
            let rule = &lexer.rules[rule];
            rule.mode == mode && rule.outcome == Outcome::Hidden && rule.moves.is_empty()
        };
        let Some(dfa) = self.mode(mode) else {
            // Nothing is known but that something separates tokens, and that is nearly always a space.
            let is_separated = (0..lexer.rules.len()).any(separates);
            return if is_separated { vec![" ".to_string()] } else { Vec::new() };
        };
        let mut texts: Vec<String> = Vec::new();
        let usual = [" ", "\n", "\t", "\r\n"].into_iter().map(String::from);
        let own = (0..lexer.rules.len()).filter(|&rule| separates(rule)).filter_map(|rule| self.shortest(rule));
        for text in usual.chain(own) {
            let is_separator = dfa.winner(self.run(dfa, &text)).is_some_and(separates);
            if is_separator && !text.is_empty() && !texts.contains(&text) && texts.len() < MAX {
                texts.push(text);
            }
        }
        texts
    }
}
