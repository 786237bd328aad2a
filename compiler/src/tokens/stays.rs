//! Hidden matches that stay in a mode, followed by one that leaves it: the texts that the lexer cuts so. Within a
//! comment with a mode of its own, a rule for any character does not match what closes the comment.
//!
//! The automaton of a mode is run again and again: where no match can go on, the longest one counts, and what stands
//! after it is read again.

use std::rc::Rc;

use super::bits::Bits;
use super::dfa::{Dfa, START, StateId};
use super::language::Table;
use super::states::Automata;
use super::{Lexer, Outcome};
use crate::charset::{CharSet, Unit};
use crate::ordered::{Map, Set};

/// The most characters that are read again.
const MAX_PENDING: usize = 32;
/// The most states of one mode. Texts that need more are left out.
const MAX_STATES: usize = 1 << 12;
/// The most steps for all modes together.
const MAX_STEPS: usize = 1 << 22;
/// The most states and classes of characters of all tables together.
const MAX_CELLS: usize = 1 << 25;

/// The texts of each mode that is asked for.
pub(super) struct Stays {
    modes: Map<usize, Option<Rc<Texts>>>,
    steps_left: usize,
    cells_left: usize,
    /// The number of ways on from levels that are written.
    pub(super) ways: usize,
}

/// Hidden matches of a mode, up to one that leaves it.
pub(super) struct Texts {
    classes: usize,
    /// The next state for each state and class of characters. `u32::MAX` if nothing follows.
    targets: Vec<u32>,
    /// For each state, the match that leaves the mode there, if there is one.
    exits: Vec<Option<Exit>>,
    /// The characters that the hidden matches of the mode are drawn from.
    pub(super) drawn: CharSet,
}

/// A match that leaves a mode: its rule, and the classes of characters with which it would go on.
pub(super) type Exit = (usize, Bits);

/// The meaning of a match that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    /// There is none.
    None,
    /// The lexer hides it and stays in the mode.
    Stays,
    Other,
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    state: StateId,
    /// The longest match so far.
    longest: Meaning,
    /// The classes of the characters after it.
    pending: Vec<u32>,
}

impl Place {
    const BEGIN: Place = Place { state: START, longest: Meaning::None, pending: Vec::new() };
}

impl Stays {
    pub(super) fn new() -> Stays {
        Stays { modes: Map::new(), steps_left: MAX_STEPS, cells_left: MAX_CELLS, ways: 0 }
    }

    /// Returns the texts of a mode. `None` if they are not known, or too many.
    pub(super) fn of_mode(&mut self, lexer: &Lexer, automata: &Automata, mode: usize) -> Option<Rc<Texts>> {
        if let Some(known) = self.modes.get(&mode) {
            return known.clone();
        }
        let texts = automata.mode(mode).and_then(|dfa| {
            let mut reading = Reading { lexer, automata, dfa, mode, left: &mut self.steps_left };
            reading.texts()
        });
        let texts = texts.map(Rc::new);
        self.modes.insert(mode, texts.clone());
        texts
    }

    /// Counts a table. Returns false if that is too much.
    pub(super) fn count(&mut self, states: usize, classes: usize) -> bool {
        let left = self.cells_left.checked_sub(states.saturating_mul(classes));
        self.cells_left = left.unwrap_or(self.cells_left);
        left.is_some()
    }
}

struct Reading<'r> {
    lexer: &'r Lexer,
    automata: &'r Automata,
    dfa: &'r Dfa,
    mode: usize,
    /// The number of steps that are left.
    left: &'r mut usize,
}

impl Reading<'_> {
    fn texts(&mut self) -> Option<Texts> {
        let classes = self.automata.classes.len();
        let mut ids: Map<Place, u32> = Map::new();
        let mut places = vec![Place::BEGIN];
        ids.insert(Place::BEGIN, 0);
        let mut targets = Vec::new();
        let mut at = 0;
        while let Some(place) = places.get(at).cloned() {
            at += 1;
            for class in 0..classes {
                let next = self.step(&place, class as u32)?;
                let target = next.and_then(|next| {
                    let count = places.len();
                    match ids.get(&next) {
                        Some(&id) => Some(id),
                        None if count == MAX_STATES => None,
                        None => {
                            ids.insert(next.clone(), count as u32);
                            places.push(next);
                            Some(count as u32)
                        }
                    }
                });
                targets.push(target.unwrap_or(u32::MAX));
            }
        }
        let exits = places.iter().map(|place| self.exit(place)).collect();
        Some(Texts { classes, targets, exits, drawn: self.drawn() })
    }

    fn drawn(&self) -> CharSet {
        let is_hidden = |rule: &&usize| !matches!(self.lexer.rules[**rule].outcome, Outcome::Token(_));
        let rules = self.automata.rules_of(self.mode).iter().filter(is_hidden);
        let ranges = rules.flat_map(|&rule| self.automata.drawn(rule).ranges().iter().copied());
        CharSet::new(Unit::Char, ranges.collect::<Vec<_>>())
    }

    /// Returns the place after one more character: `None` within if the lexer does something else with the text. `None`
    /// if no steps are left.
    fn step(&mut self, place: &Place, class: u32) -> Option<Option<Place>> {
        *self.left = self.left.checked_sub(1)?;
        let next = self.dfa.next(place.state, class as usize);
        if self.dfa.is_alive(next) {
            if let Some(rule) = self.dfa.winner(next) {
                return Some(Some(Place { state: next, longest: self.meaning(rule), pending: Vec::new() }));
            }
            let pending: Vec<u32> = place.pending.iter().copied().chain([class]).collect();
            let is_short = pending.len() <= MAX_PENDING;
            return Some(is_short.then_some(Place { state: next, longest: place.longest, pending }));
        }
        if place.longest != Meaning::Stays {
            return Some(None);
        }
        let mut now = Place::BEGIN;
        for &class in place.pending.iter().chain([&class]) {
            match self.step(&now, class)? {
                Some(next) => now = next,
                None => return Some(None),
            }
        }
        Some(Some(now))
    }

    fn meaning(&self, rule: usize) -> Meaning {
        let own = &self.lexer.rules[rule];
        let is_hidden = !matches!(own.outcome, Outcome::Token(_)) && !self.automata.is_widened(rule);
        if is_hidden && own.moves.is_empty() { Meaning::Stays } else { Meaning::Other }
    }

    /// Returns the match that leaves the mode at a place.
    fn exit(&self, place: &Place) -> Option<Exit> {
        let rule = self.dfa.winner(place.state)?;
        let own = &self.lexer.rules[rule];
        let leaves = !matches!(own.outcome, Outcome::Token(_)) && !own.moves.is_empty();
        (leaves && !self.automata.is_widened(rule)).then(|| (rule, going_on(self.automata, self.dfa, place.state)))
    }
}

/// Returns the classes of characters with which a match may go on in a state.
pub(super) fn going_on(automata: &Automata, dfa: &Dfa, state: StateId) -> Bits {
    let mut found = Bits::new(automata.classes.len());
    for class in (0..automata.classes.len()).filter(|&class| dfa.is_alive(dfa.next(state, class))) {
        found.insert(class);
    }
    found
}

impl Texts {
    /// Returns the matches that leave the mode.
    pub(super) fn exits(&self) -> Set<Exit> {
        self.exits.iter().flatten().cloned().collect()
    }

    /// Returns the number of states.
    pub(super) fn len(&self) -> usize {
        self.exits.len()
    }

    /// Returns the texts that end with such a match.
    pub(super) fn table(&self, exit: &Exit) -> Table {
        let is_end: Vec<bool> = self.exits.iter().map(|own| own.as_ref() == Some(exit)).collect();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); is_end.len()];
        for (place, &target) in self.targets.iter().enumerate().filter(|(_, target)| **target != u32::MAX) {
            before[target as usize].push((place / self.classes) as u32);
        }
        let mut leads = is_end.clone();
        let mut pending: Vec<usize> = (0..leads.len()).filter(|&state| leads[state]).collect();
        while let Some(state) = pending.pop() {
            for &earlier in &before[state] {
                if !std::mem::replace(&mut leads[earlier as usize], true) {
                    pending.push(earlier as usize);
                }
            }
        }
        // The start stays the first.
        let kept: Vec<usize> = (0..leads.len()).filter(|&state| state == 0 || leads[state]).collect();
        let mut numbers = vec![u32::MAX; leads.len()];
        kept.iter().enumerate().for_each(|(number, &state)| numbers[state] = number as u32);
        let row = |&state: &usize| &self.targets[state * self.classes..(state + 1) * self.classes];
        let renumbered = |&target: &u32| numbers.get(target as usize).copied().unwrap_or(u32::MAX);
        Table {
            targets: kept.iter().flat_map(row).map(renumbered).collect(),
            is_end: kept.iter().map(|&state| is_end[state]).collect(),
        }
    }
}
