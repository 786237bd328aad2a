//! Finds the text that may follow a choice: the rest of its rule, then the characters that may follow the rule at any
//! reference.

use super::chars::Chars;
use super::tree::{Kind, Peg, Rule};
use crate::charset::{CharSet, Unit};
use crate::ordered::{Map, Set};

/// The depth to which expressions and the rules that they refer to are followed.
const MAX_DEPTH: u32 = 200;
/// The limit on the ranges of characters examined for a grammar. Beyond it, any character may follow.
const MAX_WORK: usize = 1 << 23;

/// The part that comes next at some place.
#[derive(Clone, Copy)]
pub(super) enum Next<'r> {
    /// The rest of a sequence.
    Parts(&'r [Peg]),
    /// More rounds of a repetition, and whether their number is unbounded.
    Rounds(&'r Peg, bool),
    /// The end of a rule.
    End(&'r str),
}

/// A place in a rule, and the place after the next part.
struct Place<'r> {
    next: Next<'r>,
    then: usize,
}

/// The first characters of an expression's texts. It may hold too many, never too few.
#[derive(Clone)]
pub(super) struct First {
    /// The first characters of a text that begins with none of the blanks between parts.
    set: CharSet,
    /// Whether such blanks may come first, since the first part may be empty.
    may_begin_blank: bool,
    pub(super) may_be_empty: bool,
}

impl First {
    fn of(set: CharSet) -> First {
        First { set, may_begin_blank: false, may_be_empty: false }
    }

    fn nothing() -> First {
        First { may_be_empty: true, ..First::of(CharSet::empty(Unit::Char)) }
    }

    fn anything() -> First {
        First { may_be_empty: true, ..First::of(CharSet::new(Unit::Char, [(0, u32::from(char::MAX))])) }
    }
}

/// The parts that follow the places of a grammar.
pub(super) struct Follow<'r> {
    rules: Map<&'r str, &'r Rule>,
    /// The names of the rules between parts.
    blanks: &'static [&'static str],
    places: Vec<Place<'r>>,
    /// The places after choices, by their alternatives, and after references, by their rule.
    choices: Map<*const Peg, usize>,
    references: Map<&'r str, Vec<usize>>,
    firsts: Map<&'r str, First>,
    open: Set<&'r str>,
    follows: Map<&'r str, CharSet>,
    work: usize,
}

impl<'r> Follow<'r> {
    pub(super) fn new(rules: &Map<&'r str, &'r Rule>, blanks: &'static [&'static str]) -> Follow<'r> {
        let mut follow = Follow {
            rules: rules.clone(),
            blanks,
            places: Vec::new(),
            choices: Map::new(),
            references: Map::new(),
            firsts: Map::new(),
            open: Set::new(),
            follows: Map::new(),
            work: 0,
        };
        for (name, rule) in rules {
            let end = follow.place(Next::End(name), usize::MAX);
            follow.visit(&rule.body, end);
        }
        follow
    }

    fn place(&mut self, next: Next<'r>, then: usize) -> usize {
        self.places.push(Place { next, then });
        self.places.len() - 1
    }

    fn visit(&mut self, peg: &'r Peg, then: usize) {
        match &peg.kind {
            Kind::Name(name) => {
                if let Some((&name, _)) = self.rules.get_key_value(name.as_str()) {
                    self.references.entry(name).or_default().push(then);
                }
            }
            Kind::Seq(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    let rest = &parts[number + 1..];
                    let then = if rest.is_empty() { then } else { self.place(Next::Parts(rest), then) };
                    self.visit(part, then);
                }
            }
            Kind::Choice(parts) => {
                self.choices.insert(parts.as_ptr(), then);
                parts.iter().for_each(|part| self.visit(part, then));
            }
            Kind::Repeat(inside, min, max) => {
                let any_number = *min <= 1 && max.is_none();
                let then = if *max == Some(1) { then } else { self.place(Next::Rounds(inside, any_number), then) };
                self.visit(inside, then);
            }
            Kind::Push(inside) => self.visit(inside, then),
            // A predicate takes no text.
            Kind::Text(..) | Kind::Range(..) | Kind::Class(_) | Kind::Pushed | Kind::Not(_) | Kind::And(_) => {}
        }
    }

    /// Returns the parts after a choice of these alternatives, up to the end of its rule or to `limit` parts.
    pub(super) fn after(&self, parts: &'r [Peg], limit: usize) -> Vec<Next<'r>> {
        let first = self.choices.get(&parts.as_ptr()).and_then(|&place| self.places.get(place));
        let places = std::iter::successors(first, |place| self.places.get(place.then));
        places.map(|place| place.next).take(limit).collect()
    }

    /// Returns the first characters of these parts in a row, and whether they may derive nothing.
    pub(super) fn of_parts(&mut self, parts: &'r [Peg], chars: &mut Chars<'r>) -> (CharSet, bool) {
        let first = self.first_of(parts, MAX_DEPTH, chars);
        (self.with_blanks(&first, chars), first.may_be_empty)
    }

    /// Returns all first characters, those of blanks included.
    pub(super) fn with_blanks(&mut self, first: &First, chars: &mut Chars<'r>) -> CharSet {
        match first.may_begin_blank {
            true => {
                let blank = self.blank(chars);
                self.union(&first.set, &blank.set)
            }
            false => first.set.clone(),
        }
    }

    /// Returns the characters that may follow a rule, after any blanks between parts.
    pub(super) fn of_rule(&mut self, rule: &'r str, chars: &mut Chars<'r>) -> CharSet {
        if let Some(known) = self.follows.get(rule) {
            return known.clone();
        }
        let mut set = CharSet::empty(Unit::Char);
        let (mut seen, mut pending) = (Set::from([rule]), vec![rule]);
        while let Some(rule) = pending.pop() {
            let references = self.references.remove(rule).unwrap_or_default();
            for &reference in &references {
                self.work += 1;
                if self.work > MAX_WORK {
                    set = First::anything().set;
                    pending.clear();
                    break;
                }
                let mut place = reference;
                loop {
                    let next = match self.places[place].next {
                        Next::End(rule) => {
                            if seen.insert(rule) {
                                pending.push(rule);
                            }
                            break;
                        }
                        Next::Parts(parts) => self.first_of(parts, MAX_DEPTH, chars),
                        Next::Rounds(inside, _) => First { may_be_empty: true, ..self.first(inside, MAX_DEPTH, chars) },
                    };
                    set = self.union(&set, &next.set);
                    if !next.may_be_empty {
                        break;
                    }
                    place = self.places[place].then;
                }
            }
            self.references.insert(rule, references);
        }
        self.work += set.ranges().len();
        self.follows.insert(rule, set.clone());
        set
    }

    fn union(&mut self, one: &CharSet, other: &CharSet) -> CharSet {
        self.work += 1 + one.ranges().len() + other.ranges().len();
        one.union(other)
    }

    /// Returns the first characters of the text that may stand between parts.
    fn blank(&mut self, chars: &mut Chars<'r>) -> First {
        let mut blank = First::nothing();
        for name in self.blanks {
            if let Some((&name, _)) = self.rules.get_key_value(name) {
                let first = self.of_name(name, MAX_DEPTH, chars);
                blank.set = self.union(&blank.set, &first.set);
            }
        }
        blank
    }

    /// Returns the first characters of a rule's texts.
    pub(super) fn of_name(&mut self, name: &'r str, depth: u32, chars: &mut Chars<'r>) -> First {
        if let Some(known) = self.firsts.get(name) {
            return known.clone();
        }
        let Some(&rule) = self.rules.get(name) else { return First::anything() };
        if !self.open.insert(name) {
            return First::anything();
        }
        let first = self.first(&rule.body, depth, chars);
        self.open.remove(name);
        self.firsts.insert(name, first.clone());
        first
    }

    fn first(&mut self, peg: &'r Peg, depth: u32, chars: &mut Chars<'r>) -> First {
        self.work += 1;
        if depth == 0 || self.work > MAX_WORK {
            return First::anything();
        }
        match &peg.kind {
            Kind::Text(text, free) => match text.chars().next() {
                Some(c) => {
                    let both = [c, c.to_ascii_lowercase(), c.to_ascii_uppercase()];
                    let both = both[..if *free { 3 } else { 1 }].iter().map(|&c| (c.into(), c.into()));
                    First::of(CharSet::new(Unit::Char, both))
                }
                None => First::nothing(),
            },
            Kind::Class(set) => {
                self.work += set.ranges().len();
                First::of(set.clone())
            }
            Kind::Range(low, high) => First::of(CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))])),
            Kind::Name(name) => match self.rules.get_key_value(name.as_str()) {
                Some((&name, _)) => self.of_name(name, depth - 1, chars),
                None if name == "SOI" || name == "EOI" => First::nothing(),
                None if name == "NEWLINE" => First::of(CharSet::new(Unit::Char, [(10, 10), (13, 13)])),
                None => chars.builtin(name).map_or_else(First::anything, |set| {
                    self.work += set.ranges().len();
                    First::of(set)
                }),
            },
            Kind::Seq(parts) => self.first_of(parts, depth - 1, chars),
            Kind::Choice(parts) => {
                let mut all = First::of(CharSet::empty(Unit::Char));
                for part in parts {
                    let First { set, may_begin_blank, may_be_empty } = self.first(part, depth - 1, chars);
                    all.set = self.union(&all.set, &set);
                    all.may_begin_blank |= may_begin_blank;
                    all.may_be_empty |= may_be_empty;
                }
                all
            }
            Kind::Repeat(inside, min, _) => {
                let first = self.first(inside, depth - 1, chars);
                First { may_be_empty: first.may_be_empty || *min == 0, ..first }
            }
            Kind::Push(inside) => self.first(inside, depth - 1, chars),
            Kind::Not(_) | Kind::And(_) => First::nothing(),
            Kind::Pushed => First::anything(),
        }
    }

    fn first_of(&mut self, parts: &'r [Peg], depth: u32, chars: &mut Chars<'r>) -> First {
        let mut all = First::nothing();
        let mut excluded = CharSet::empty(Unit::Char);
        for part in parts {
            if let Kind::Not(inside) = &part.kind {
                if let Some(set) = chars.class(inside) {
                    excluded = self.union(&excluded, &set);
                }
                continue;
            }
            let First { set, may_begin_blank, may_be_empty } = self.first(part, depth, chars);
            all.set = self.union(&all.set, &set.difference(&excluded));
            all.may_begin_blank |= may_begin_blank;
            if !may_be_empty {
                return First { may_be_empty: false, ..all };
            }
            if self.blanks.iter().any(|name| self.rules.contains_key(name)) {
                all.may_begin_blank = true;
            }
        }
        all
    }
}
