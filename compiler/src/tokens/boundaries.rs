//! Decides whether the lexer cuts between two neighbours, and finds the separators that make it do so.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::bits::Bits;
use super::dfa::{Dfa, START, StateId};
use super::flat::Lexeme;
use super::pairs::Pairs;
use super::separators::{Separator, Which, ends, separators};
use super::states::{Automata, RuleFacts};
use super::{Lexer, Outcome};
use crate::ordered::Set;

/// Answer to the question whether the lexer may continue beyond the first of two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Clash {
    /// The lexer never continues.
    None,
    /// The lexer continues if the text after both allows it.
    Possible,
    /// The lexer continues for some texts of the two.
    Certain,
}

/// The text needed between two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Need {
    /// Clash of the two: whether they must be separated.
    pub(super) clash: Clash,
    /// The separators of the second one's mode that work, as bits.
    pub(super) separators: Which,
    /// The separators after which the first one cannot continue, whatever follows.
    pub(super) ending: Which,
    /// The classes of characters that the second one may begin with if nothing separates the two.
    pub(super) first: FirstId,
}

/// A set of classes of characters that a text may begin with, by its place in [`Boundaries::firsts`].
pub(super) type FirstId = u32;

/// All classes.
pub(super) const ANY_FIRST: FirstId = 0;

impl Need {
    /// Any text, or none, may stand there.
    pub(super) const FREE: Need =
        Need { clash: Clash::None, separators: Which::MAX, ending: Which::MAX, first: ANY_FIRST };

    /// Returns the separators of which one should stand there, as bits. 0 if none is needed, or if none works.
    pub(super) fn wanted(self) -> Which {
        match (self.clash, self.separators & self.ending) {
            (Clash::None, _) => 0,
            // A separator that does not end the first one is of no use.
            (Clash::Possible, ending) => ending,
            (Clash::Certain, 0) => self.separators,
            (Clash::Certain, ending) => ending,
        }
    }
}

/// The texts of a rule, or those that begin with one class of characters.
#[derive(Clone, Copy)]
struct Beginning {
    rule: usize,
    only: Option<usize>,
}

impl Beginning {
    fn of(rule: usize) -> Beginning {
        Beginning { rule, only: None }
    }
}

/// The boundaries between the lexemes of a grammar, computed on demand.
#[derive(Debug)]
pub(super) struct Boundaries<'a> {
    lexer: &'a Lexer,
    automata: &'a Automata,
    lexemes: &'a [Lexeme],
    known: Known,
}

/// All that is known about the boundaries of a grammar's lexemes.
#[derive(Debug)]
pub(super) struct Known {
    /// For each lexeme, a text of the hidden rules before it.
    before: Vec<String>,
    /// For each mode the separators.
    separators: Vec<Vec<Separator>>,
    needs: RefCell<Pairs<Need>>,
    /// For each rule and each separator, by [`separator_key`], the states in which the lexer is after the two.
    behind: RefCell<Pairs<Option<Rc<[StateId]>>>>,
    /// For each lexeme and each separator before it, whether the separator ends there, and the work to find that.
    ending: RefCell<Pairs<(bool, usize)>>,
    /// Sets of classes that texts may begin with. The first set holds all classes.
    firsts: RefCell<Vec<Bits>>,
    /// The pairs of states that may still be examined.
    budget: Cell<usize>,
}

/// The number of neighbours that are remembered.
const MAX_KNOWN: usize = 1 << 20;
/// The number of pairs of states that are examined. Beyond it, neighbours count as a possible clash.
const MAX_WORK: usize = 1 << 26;

impl<'a> Boundaries<'a> {
    pub(super) fn new(lexer: &'a Lexer, automata: &'a Automata, lexemes: &'a [Lexeme]) -> Boundaries<'a> {
        let text = |lexeme: &Lexeme| {
            lexeme.via.iter().map(|&rule| automata.shortest(rule).unwrap_or_default()).collect::<String>()
        };
        let mut all = Bits::new(automata.classes.len());
        (0..automata.classes.len()).for_each(|class| {
            all.insert(class);
        });
        let known = Known {
            before: lexemes.iter().map(text).collect(),
            separators: separators(automata, lexer, &lexemes.iter().map(|lexeme| lexeme.rule).collect()),
            needs: RefCell::default(),
            behind: RefCell::default(),
            ending: RefCell::default(),
            firsts: RefCell::new(vec![all]),
            budget: Cell::new(MAX_WORK),
        };
        Boundaries { lexer, automata, lexemes, known }
    }

    /// Returns boundaries of which much is known already. Nothing else may have changed since.
    pub(super) fn of_known(
        lexer: &'a Lexer,
        automata: &'a Automata,
        lexemes: &'a [Lexeme],
        known: Known,
    ) -> Boundaries<'a> {
        Boundaries { lexer, automata, lexemes, known }
    }

    /// Returns all that is known about them, with what was left of the budget at some time.
    pub(super) fn into_known(self, budget: usize) -> Known {
        Known { budget: Cell::new(budget), ..self.known }
    }

    /// Returns the number of pairs of states that may still be examined.
    pub(super) fn budget(&self) -> usize {
        self.known.budget.get()
    }

    /// Returns the need that satisfies both.
    pub(super) fn both(&self, a: Need, b: Need) -> Need {
        let first = match (a.first, b.first) {
            (a, b) if a == b => a,
            (ANY_FIRST, other) | (other, ANY_FIRST) => other,
            (a, b) => {
                let both = self.first(a).intersection(&self.first(b));
                self.first_id(both)
            }
        };
        Need {
            clash: a.clash.max(b.clash),
            separators: a.separators & b.separators,
            ending: a.ending & b.ending,
            first,
        }
    }

    /// Returns a set of classes that a text may begin with.
    pub(super) fn first(&self, id: FirstId) -> Bits {
        self.known.firsts.borrow()[id as usize].clone()
    }

    fn first_id(&self, classes: Bits) -> FirstId {
        let mut firsts = self.known.firsts.borrow_mut();
        let place = firsts.iter().position(|known| *known == classes).unwrap_or_else(|| {
            firsts.push(classes);
            firsts.len() - 1
        });
        place as FirstId
    }

    /// Returns the classes that `right` may begin with directly after `left`: those with which the lexer does not
    /// continue, or if there are none, those with which it continues only if a suitable text follows later.
    fn safe_first(&self, left: usize, right: usize) -> FirstId {
        let rule = self.lexemes[left].rule;
        let (Some(facts), Some(right_facts)) =
            (self.automata.facts(rule), self.automata.facts(self.lexemes[right].rule))
        else {
            return ANY_FIRST;
        };
        let mode = self.lexer.rules[rule].mode;
        let mut calm = Bits::new(self.automata.classes.len());
        let mut safe = calm.clone();
        for class in right_facts.first.iter() {
            let begin = Beginning { rule: self.lexemes[right].rule, only: Some(class) };
            match self.clash(mode, &facts.ends, &self.known.before[right], begin) {
                Clash::None => calm.insert(class),
                Clash::Possible => safe.insert(class),
                Clash::Certain => false,
            };
        }
        self.first_id(if calm.is_empty() { safe } else { calm })
    }

    /// Returns true if some texts of a lexeme begin with these classes, and others do not.
    pub(super) fn divides(&self, first: FirstId, lexeme: usize) -> bool {
        self.automata.facts(self.lexemes[lexeme].rule).is_some_and(|facts| {
            let within = facts.first.intersection(&self.first(first));
            !within.is_empty() && within != facts.first
        })
    }

    /// Returns true if some text of a lexeme may begin with one of these classes.
    pub(super) fn allows(&self, first: FirstId, lexeme: usize) -> bool {
        let facts = self.automata.facts(self.lexemes[lexeme].rule);
        facts.is_none_or(|facts| !facts.first.intersection(&self.first(first)).is_empty())
    }

    /// Returns the text of the hidden rules that a lexeme begins with.
    pub(super) fn hidden_text(&self, lexeme: usize) -> &str {
        &self.known.before[lexeme]
    }

    /// Returns the separators that may stand before a lexeme.
    pub(super) fn separators(&self, lexeme: usize) -> &[Separator] {
        let lexeme = &self.lexemes[lexeme];
        &self.known.separators[self.lexer.rules[lexeme.entry()].mode]
    }

    /// Returns the separators that may stand before a lexeme, as bits.
    pub(super) fn available(&self, lexeme: usize) -> Which {
        let count = self.separators(lexeme).len() as u32;
        (1 as Which).checked_shl(count).map_or(Which::MAX, |bit| bit - 1)
    }

    /// Returns the end states of a rule after which the lexer does not continue if any of `rights` follows, with a
    /// separator between if necessary.
    pub(super) fn quiet_ends(&self, rule: usize, rights: &Set<usize>) -> Vec<StateId> {
        let (Some(facts), Some(dfa)) = (self.automata.facts(rule), self.automata.of_rule(rule)) else {
            return Vec::new();
        };
        let mode = self.lexer.rules[rule].mode;
        let is_part = self.lexer.rules[rule].outcome == Outcome::More;
        let separators = |right: usize| -> Vec<&Separator> {
            let fits = |number: usize| !is_part && self.separator_ends(number, right);
            let all = self.separators(right).iter().enumerate();
            all.filter(|&(number, _)| fits(number)).map(|(_, separator)| separator).collect()
        };
        let rights: Vec<(usize, Vec<&Separator>)> = rights.iter().map(|&right| (right, separators(right))).collect();
        let is_quiet = |end: StateId, right: usize, separators: &[&Separator]| {
            separators.iter().any(|separator| ends(self.automata, dfa, &[end], &separator.text))
                || self.clash(mode, &[end], &self.known.before[right], Beginning::of(self.lexemes[right].rule))
                    == Clash::None
        };
        let ends = facts.ends.iter().copied();
        ends.filter(|&end| rights.iter().all(|(right, separators)| is_quiet(end, *right, separators))).collect()
    }

    /// Returns the need between two lexemes.
    pub(super) fn need(&self, left: usize, right: usize) -> Need {
        if self.known.budget.get() == 0 {
            return Need { clash: Clash::Possible, ..Need::FREE };
        }
        if let Some(&need) = self.known.needs.borrow().get((left, right)) {
            return need;
        }
        let need = self.compute_need(left, right);
        let mut needs = self.known.needs.borrow_mut();
        if needs.len() >= MAX_KNOWN {
            needs.clear();
        }
        needs.insert((left, right), need);
        need
    }

    /// Returns true if the lexer continues beyond `left` for all texts of the two, judged by the first character of
    /// `right`.
    pub(super) fn always_goes_on(&self, left: usize, right: usize) -> bool {
        if !self.lexemes[right].via.is_empty() {
            return false;
        }
        let (left, right) = (self.lexemes[left].rule, self.lexemes[right].rule);
        let (Some(dfa), Some(left), Some(right)) =
            (self.automata.of_rule(left), self.automata.facts(left), self.automata.facts(right))
        else {
            return false;
        };
        if self.known.budget.get() == 0 {
            return false;
        }
        self.known.budget.set(self.known.budget.get().saturating_sub(left.ends.len() + 1));
        let goes_on = |class| left.ends.iter().all(|&end| dfa.winner(dfa.next(end, class)).is_some());
        !left.ends.is_empty() && !right.first.is_empty() && right.first.iter().all(goes_on)
    }

    fn compute_need(&self, left: usize, right: usize) -> Need {
        let clash = self.clash_behind(left, None, right);
        let left_rule = &self.lexer.rules[self.lexemes[left].rule];
        // No separator may stand between the parts of one token.
        if left_rule.outcome == Outcome::More {
            return Need { clash, separators: 0, ending: 0, first: self.safe_first(left, right) };
        }
        let mut separators = 0;
        let mut ending = if clash == Clash::None { Which::MAX } else { 0 };
        for number in 0..self.separators(right).len() {
            let behind = self.clash_behind(left, Some(number), right);
            if behind < Clash::Certain && self.separator_ends(number, right) {
                separators |= 1 << number;
                if behind == Clash::None {
                    ending |= 1 << number;
                }
            }
        }
        let is_open = clash == Clash::Certain || clash == Clash::Possible && separators & ending == 0;
        let first = if is_open { self.safe_first(left, right) } else { ANY_FIRST };
        Need { clash, separators, ending, first }
    }

    /// Says whether the lexer may continue beyond `left` if `right` follows, with a separator of its mode between if
    /// there is a number.
    fn clash_behind(&self, left: usize, separator: Option<usize>, right: usize) -> Clash {
        let (rule, right_rule) = (self.lexemes[left].rule, self.lexemes[right].rule);
        let (Some(_), Some(facts)) = (self.automata.of_rule(rule), self.automata.facts(rule)) else {
            // Nothing is known: assume that a separator is needed and works.
            return if separator.is_none() { Clash::Certain } else { Clash::None };
        };
        let mode = self.lexer.rules[rule].mode;
        let Some(number) = separator else {
            return self.clash(mode, &facts.ends, &self.known.before[right], Beginning::of(right_rule));
        };
        let Some(sides) = self.sides(mode, facts.ends.len(), right_rule) else { return Clash::Certain };
        let Some(states) = self.states_behind(sides.left, rule, number, right) else { return Clash::Certain };
        match self.known.before[right].as_str() {
            "" => self.meet(&sides, &states, None),
            text => match self.states_after(sides.left, &states, text) {
                Some(states) => self.meet(&sides, &states, None),
                None => Clash::Certain,
            },
        }
    }

    /// Returns the states in which the lexer is after a text of a rule and a separator before `right`. `None` if it
    /// would match more.
    fn states_behind(&self, dfa: &Dfa, rule: usize, number: usize, right: usize) -> Option<Rc<[StateId]>> {
        let key = (rule, self.separator_key(number, right));
        if let Some(known) = self.known.behind.borrow().get(key) {
            return known.clone();
        }
        let ends = self.automata.facts(rule).map_or(&[][..], |facts| &facts.ends);
        let states = self.states_after(dfa, ends, &self.separators(right)[number].text).map(Rc::from);
        self.known.behind.borrow_mut().insert(key, states.clone());
        states
    }

    /// Returns a number for a separator that may stand before `right`.
    fn separator_key(&self, number: usize, right: usize) -> usize {
        self.lexer.rules[self.lexemes[right].entry()].mode * Which::BITS as usize + number
    }

    /// Returns true if a separator ends at the beginning of `right`.
    fn separator_ends(&self, number: usize, right: usize) -> bool {
        let mode = self.lexer.rules[self.lexemes[right].entry()].mode;
        let Some(dfa) = self.automata.mode(mode) else { return true };
        let budget = self.known.budget.get();
        if budget > 0
            && let Some(&(ends, work)) = self.known.ending.borrow().get((right, number))
        {
            self.work(work);
            return ends;
        }
        let state = self.automata.run(dfa, self.separators(right)[number].last());
        let clash = self.clash(mode, &[state], &self.known.before[right], Beginning::of(self.lexemes[right].rule));
        let ends = clash < Clash::Certain;
        if budget > 0 {
            self.known.ending.borrow_mut().insert((right, number), (ends, budget - self.known.budget.get()));
        }
        ends
    }

    /// Returns true if the lexer cuts a lexeme after each of its hidden rules.
    pub(super) fn is_whole(&self, lexeme: usize) -> bool {
        let Lexeme { rule, via } = &self.lexemes[lexeme];
        via.iter().enumerate().all(|(place, &hidden)| {
            let Some(facts) = self.automata.facts(hidden) else { return true };
            let Some(dfa) = self.automata.of_rule(hidden) else { return true };
            let text = self.automata.shortest(hidden).unwrap_or_default();
            let state = self.automata.run(dfa, &text);
            let behind: String =
                via[place + 1..].iter().map(|&rule| self.automata.shortest(rule).unwrap_or_default()).collect();
            let mode = self.lexer.rules[hidden].mode;
            facts.ends.contains(&state) && self.clash(mode, &[state], &behind, Beginning::of(*rule)) < Clash::Certain
        })
    }

    /// Says whether the lexer, in one of the states `from` of `mode`, may match more if `text` and a text of a rule
    /// follow.
    fn clash(&self, mode: usize, from: &[StateId], text: &str, Beginning { rule, only }: Beginning) -> Clash {
        let Some(sides) = self.sides(mode, from.len(), rule) else { return Clash::Certain };
        if text.is_empty() {
            return self.meet(&sides, from, only);
        }
        let states = self.states_after(sides.left, from, text);
        states.map_or(Clash::Certain, |states| self.meet(&sides, &states, only))
    }

    /// Counts work.
    fn work(&self, work: usize) {
        self.known.budget.set(self.known.budget.get().saturating_sub(work));
    }

    /// Returns the two sides of a boundary. `None` if nothing is known about one of them, or once the budget is spent.
    fn sides(&self, mode: usize, begun: usize, rule: usize) -> Option<Sides<'_>> {
        let (left, right) = (self.automata.mode(mode)?, self.automata.of_rule(rule)?);
        if self.known.budget.get() == 0 {
            return None;
        }
        self.work(begun + 16);
        Some(Sides { left, right, facts: self.automata.facts(rule)? })
    }

    /// Returns the states after a text, of those in which something can still match. `None` if something matches on the
    /// way.
    fn states_after(&self, dfa: &Dfa, from: &[StateId], text: &str) -> Option<Vec<StateId>> {
        let mut states = from.to_vec();
        for character in text.chars() {
            let class = self.automata.classes.of(character);
            states = states.into_iter().map(|state| dfa.next(state, class)).filter(|&s| dfa.is_alive(s)).collect();
            if states.iter().any(|&state| dfa.winner(state).is_some()) {
                return None;
            }
        }
        Some(states)
    }

    /// Says whether the lexer, in one of these states, may match more if a text of the right side follows, of those
    /// that begin with the class `only`.
    fn meet(&self, &Sides { left, right, facts }: &Sides<'_>, states: &[StateId], only: Option<usize>) -> Clash {
        const MAX_PAIRS: usize = 1 << 16;
        if states.is_empty() {
            return Clash::None;
        }
        let mut worst = Clash::None;
        let mut seen = Set::new();
        let mut pending: Vec<(StateId, StateId)> = Vec::new();
        let step = |from: StateId, at: StateId, class: usize| {
            let (next, place) = (left.next(from, class), right.next(at, class));
            (left.is_alive(next) && facts.leads(place)).then_some((next, place))
        };
        for class in facts.first.iter().filter(|&class| only.is_none_or(|only| only == class)) {
            for &state in states {
                if let Some(pair) = step(state, START, class)
                    && seen.insert(pair)
                {
                    pending.push(pair);
                }
            }
        }
        while let Some((state, place)) = pending.pop() {
            self.work(self.automata.classes.len());
            if left.winner(state).is_some() || seen.len() > MAX_PAIRS {
                return Clash::Certain;
            }
            if facts.ends.binary_search(&place).is_ok() {
                worst = Clash::Possible;
            }
            for class in facts.drawn.iter() {
                if let Some(pair) = step(state, place, class)
                    && seen.insert(pair)
                {
                    pending.push(pair);
                }
            }
        }
        worst
    }
}

/// The two sides of a boundary.
struct Sides<'a> {
    /// The automaton of the left side's mode.
    left: &'a Dfa,
    /// The automaton of the right side's mode.
    right: &'a Dfa,
    /// The facts about the right side's texts.
    facts: &'a RuleFacts,
}
