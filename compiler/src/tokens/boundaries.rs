//! Decides whether the lexer cuts between two neighbours, and finds the separators that make it do so.

use std::cell::{Cell, RefCell};

use super::bits::Bits;
use super::dfa::{START, StateId};
use super::flat::Lexeme;
use super::separators::{Separator, Which, ends, separators};
use super::states::Automata;
use super::{Lexer, Outcome};
use crate::ordered::{Map, Set};

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
    /// For each lexeme, a text of the hidden rules before it.
    before: Vec<String>,
    /// For each mode the separators.
    separators: Vec<Vec<Separator>>,
    needs: RefCell<Map<(usize, usize), Need>>,
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
        Boundaries {
            lexer,
            automata,
            lexemes,
            before: lexemes.iter().map(text).collect(),
            separators: separators(automata, lexer, &lexemes.iter().map(|lexeme| lexeme.rule).collect()),
            needs: RefCell::default(),
            firsts: RefCell::new(vec![all]),
            budget: Cell::new(MAX_WORK),
        }
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
        self.firsts.borrow()[id as usize].clone()
    }

    fn first_id(&self, classes: Bits) -> FirstId {
        let mut firsts = self.firsts.borrow_mut();
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
            match self.clash(mode, &facts.ends, &self.before[right], begin) {
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
        &self.before[lexeme]
    }

    /// Returns the separators that may stand before a lexeme.
    pub(super) fn separators(&self, lexeme: usize) -> &[Separator] {
        let lexeme = &self.lexemes[lexeme];
        &self.separators[self.lexer.rules[lexeme.entry()].mode]
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
            let fits = |separator: &&Separator| !is_part && self.separator_ends(separator, right);
            self.separators(right).iter().filter(fits).collect()
        };
        let rights: Vec<(usize, Vec<&Separator>)> = rights.iter().map(|&right| (right, separators(right))).collect();
        let is_quiet = |end: StateId, right: usize, separators: &[&Separator]| {
            separators.iter().any(|separator| ends(self.automata, dfa, &[end], &separator.text))
                || self.clash(mode, &[end], &self.before[right], Beginning::of(self.lexemes[right].rule)) == Clash::None
        };
        let ends = facts.ends.iter().copied();
        ends.filter(|&end| rights.iter().all(|(right, separators)| is_quiet(end, *right, separators))).collect()
    }

    /// Returns the need between two lexemes.
    pub(super) fn need(&self, left: usize, right: usize) -> Need {
        if self.budget.get() == 0 {
            return Need { clash: Clash::Possible, ..Need::FREE };
        }
        if let Some(&need) = self.needs.borrow().get(&(left, right)) {
            return need;
        }
        let need = self.compute_need(left, right);
        let mut needs = self.needs.borrow_mut();
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
        if self.budget.get() == 0 {
            return false;
        }
        self.budget.set(self.budget.get().saturating_sub(left.ends.len() + 1));
        let goes_on = |class| left.ends.iter().all(|&end| dfa.winner(dfa.next(end, class)).is_some());
        !left.ends.is_empty() && !right.first.is_empty() && right.first.iter().all(goes_on)
    }

    fn compute_need(&self, left: usize, right: usize) -> Need {
        let clash = self.clash_behind(left, "", right);
        let left_rule = &self.lexer.rules[self.lexemes[left].rule];
        // No separator may stand between the parts of one token.
        if left_rule.outcome == Outcome::More {
            return Need { clash, separators: 0, ending: 0, first: self.safe_first(left, right) };
        }
        let mut separators = 0;
        let mut ending = if clash == Clash::None { Which::MAX } else { 0 };
        for (number, separator) in self.separators(right).iter().enumerate() {
            let behind = self.clash_behind(left, &separator.text, right);
            if behind < Clash::Certain && self.separator_ends(separator, right) {
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

    /// Says whether the lexer may continue beyond `left` if `between` and `right` follow.
    fn clash_behind(&self, left: usize, between: &str, right: usize) -> Clash {
        let rule = self.lexemes[left].rule;
        let (Some(_), Some(facts)) = (self.automata.of_rule(rule), self.automata.facts(rule)) else {
            // Nothing is known: assume that a separator is needed and works.
            return if between.is_empty() { Clash::Certain } else { Clash::None };
        };
        let text = format!("{between}{}", self.before[right]);
        self.clash(self.lexer.rules[rule].mode, &facts.ends, &text, Beginning::of(self.lexemes[right].rule))
    }

    /// Returns true if a separator ends at the beginning of `right`.
    fn separator_ends(&self, separator: &Separator, right: usize) -> bool {
        let mode = self.lexer.rules[self.lexemes[right].entry()].mode;
        let Some(dfa) = self.automata.mode(mode) else { return true };
        let state = self.automata.run(dfa, separator.last());
        self.clash(mode, &[state], &self.before[right], Beginning::of(self.lexemes[right].rule)) < Clash::Certain
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
        const MAX_PAIRS: usize = 1 << 16;
        let classes = &self.automata.classes;
        let (Some(left), Some(right)) = (self.automata.mode(mode), self.automata.of_rule(rule)) else {
            return Clash::Certain;
        };
        if self.budget.get() == 0 {
            return Clash::Certain;
        }
        self.budget.set(self.budget.get().saturating_sub(from.len() + 16));
        let Some(facts) = self.automata.facts(rule) else { return Clash::Certain };
        let mut seeds: Vec<StateId> = from.to_vec();
        for character in text.chars() {
            let class = classes.of(character);
            seeds = seeds.into_iter().map(|state| left.next(state, class)).filter(|&s| left.is_alive(s)).collect();
            if seeds.iter().any(|&state| left.winner(state).is_some()) {
                return Clash::Certain;
            }
        }
        if seeds.is_empty() {
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
            for &seed in &seeds {
                if let Some(pair) = step(seed, START, class)
                    && seen.insert(pair)
                {
                    pending.push(pair);
                }
            }
        }
        while let Some((state, place)) = pending.pop() {
            self.budget.set(self.budget.get().saturating_sub(classes.len()));
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
