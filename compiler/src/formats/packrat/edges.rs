//! Facts about how the texts of expressions begin and end: which characters come first, and which must not follow.
//!
//! After a repetition of a class, none of its characters follows, since the repetition would have taken them. Nor does
//! one that a predicate excludes. Characters beyond ASCII are one bit.

use super::tree::{Kind, Peg, Rule};
use crate::charset::{CharSet, Unit};
use crate::formats::boundaries::{Chars as Bits, OTHERS, chars};
use crate::ordered::{Map, Set};

/// All characters.
pub(super) const ALL: Bits = Bits::MAX;
/// The depth to which expressions and the rules that they refer to are followed.
const MAX_DEPTH: u32 = 64;
/// The number of expressions that are looked at for the words of predicates. Beyond it, they have none.
const MAX_WORDS: usize = 1 << 20;
/// The number of visits of expressions for the facts of a grammar. Beyond it, they stay as they are.
const MAX_VISITS: usize = 1 << 24;

/// Facts about an expression.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Fact {
    pub(super) nullable: bool,
    /// The characters that its texts begin with.
    pub(super) first: Bits,
    /// The characters that must not follow some of its texts.
    pub(super) after: Bits,
}

impl Fact {
    const EMPTY: Fact = Fact { nullable: true, first: 0, after: 0 };

    fn of(first: Bits) -> Fact {
        Fact { nullable: false, first, after: 0 }
    }

    fn then(self, next: Fact) -> Fact {
        Fact {
            nullable: self.nullable && next.nullable,
            first: self.first | if self.nullable { next.first } else { 0 },
            after: next.after | if next.nullable { self.after } else { 0 },
        }
    }

    fn or(self, other: Fact) -> Fact {
        Fact {
            nullable: self.nullable || other.nullable,
            first: self.first | other.first,
            after: self.after | other.after,
        }
    }
}

/// Returns the bits of a character, in both cases if `free`.
pub(super) fn bits(c: char, free: bool) -> Bits {
    let bit = |c: char| 1 << u32::from(c).min(OTHERS);
    if free { bit(c.to_ascii_lowercase()) | bit(c.to_ascii_uppercase()) } else { bit(c) }
}

/// Returns the characters of bits.
pub(super) fn set(bits: Bits) -> CharSet {
    let ascii = (0..OTHERS).filter(|c| bits >> c & 1 == 1).map(|c| (c, c));
    let others = (bits >> OTHERS & 1 == 1).then_some((OTHERS, u32::from(char::MAX)));
    CharSet::new(Unit::Char, ascii.chain(others))
}

/// Returns true if hardly any character may follow, as after a comment that ends with its line.
pub(super) fn is_heavy(after: Bits) -> bool {
    const PRINTABLE: Bits = ((1 << 95) - 1) << 32;
    (after & PRINTABLE).count_ones() > 80
}

/// The facts about all rules.
pub(super) struct Edges<'r> {
    rules: Map<&'r str, &'r Rule>,
    known: Map<&'r str, Fact>,
    certain: Map<&'r str, Bits>,
    open: Set<&'r str>,
    /// The facts of expressions by their addresses, while those of the rules stay as they are.
    facts: Map<usize, Fact>,
    /// Whether the first characters of all rules are known, on which the others depend.
    has_firsts: bool,
    visits: usize,
    words_left: usize,
}

impl<'r> Edges<'r> {
    pub(super) fn new(rules: &Map<&'r str, &'r Rule>) -> Edges<'r> {
        let (certain, open) = (Map::new(), Set::new());
        let mut edges = Edges {
            rules: rules.clone(),
            known: Map::new(),
            certain,
            open,
            facts: Map::new(),
            has_firsts: false,
            visits: 0,
            words_left: MAX_WORDS,
        };
        edges.solve();
        edges.has_firsts = true;
        edges.solve();
        edges
    }

    /// Computes the least facts that satisfy all rules.
    fn solve(&mut self) {
        let rules: Vec<(&'r str, &'r Rule)> = self.rules.iter().map(|(&name, &rule)| (name, rule)).collect();
        let mut users: Map<&str, Vec<usize>> = Map::new();
        for (number, (_, rule)) in rules.iter().enumerate() {
            each_name(&rule.body, &mut |name| users.entry(name).or_default().push(number));
        }
        let mut waits = vec![true; rules.len()];
        let mut pending: Vec<usize> = (0..rules.len()).collect();
        while let Some(number) = pending.pop() {
            let (name, rule) = rules[number];
            waits[number] = false;
            // A fact never shrinks, so this comes to an end.
            self.facts.clear();
            let fact = self.of_rule(name).or(self.fact(&rule.body));
            if self.visits > MAX_VISITS || self.known.get(name) == Some(&fact) {
                continue;
            }
            self.known.insert(name, fact);
            for &user in users.get(name).into_iter().flatten() {
                if !std::mem::replace(&mut waits[user], true) {
                    pending.push(user);
                }
            }
        }
        self.facts.clear();
    }

    /// Takes one of the expressions that may be looked at for the words of predicates. Returns false if none is left.
    pub(super) fn spend(&mut self) -> bool {
        self.words_left = self.words_left.saturating_sub(1);
        self.words_left > 0
    }

    /// Returns the facts about a rule.
    pub(super) fn of_rule(&self, name: &str) -> Fact {
        self.known.get(name).copied().unwrap_or_default()
    }

    pub(super) fn fact(&mut self, peg: &'r Peg) -> Fact {
        let address = std::ptr::from_ref(peg).addr();
        if let Some(&known) = self.facts.get(&address) {
            return known;
        }
        let fact = self.fact_of_parts(peg);
        // Other kinds are as quick to look at.
        if matches!(peg.kind, Kind::Seq(_) | Kind::Choice(_) | Kind::Repeat(..) | Kind::Not(_) | Kind::And(_)) {
            self.facts.insert(address, fact);
        }
        fact
    }

    fn fact_of_parts(&mut self, peg: &'r Peg) -> Fact {
        self.visits += 1;
        match &peg.kind {
            Kind::Text(text, free) => text.chars().next().map_or(Fact::EMPTY, |c| Fact::of(bits(c, *free))),
            Kind::Range(low, high) => Fact::of(chars(&CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))]))),
            Kind::Class(set) => Fact::of(chars(set)),
            Kind::Name(name) => self.of_rule(name),
            Kind::Seq(parts) => parts.iter().fold(Fact::EMPTY, |fact, part| fact.then(self.fact(part))),
            Kind::Choice(parts) => self.choice(parts),
            Kind::Repeat(_, _, Some(0)) => Fact::EMPTY,
            Kind::Repeat(item, min, _) if !self.has_firsts => {
                let fact = self.fact(item);
                Fact { nullable: fact.nullable || *min == 0, ..fact }
            }
            Kind::Not(_) | Kind::And(_) if !self.has_firsts => Fact::EMPTY,
            Kind::Repeat(item, min, max) => {
                let fact = self.fact(item);
                let ends = if *max == Some(*min) { 0 } else { self.certain(item) };
                let after = self.light(item) | ends;
                Fact { nullable: fact.nullable || *min == 0, after, ..fact }
            }
            Kind::Not(inside) => Fact { after: self.excluded(inside), ..Fact::EMPTY },
            Kind::And(inside) => Fact { after: self.refused(inside), ..Fact::EMPTY },
            Kind::Push(inside) => self.fact(inside),
            Kind::Pushed => Fact::EMPTY,
        }
    }

    fn choice(&mut self, parts: &'r [Peg]) -> Fact {
        let mut all = Fact::default();
        let mut before = 0;
        for part in parts {
            let mut fact = self.fact(part);
            if !self.has_firsts {
                all = all.or(fact);
                continue;
            }
            if fact.nullable {
                fact.after |= before;
            }
            fact.after |= self.longer(part, parts);
            before |= self.shadow(part);
            all = all.or(fact);
        }
        all
    }

    /// Returns the characters that go on with a longer alternative where `part`, a text, has ended.
    pub(super) fn longer(&self, part: &'r Peg, parts: &'r [Peg]) -> Bits {
        let Some(own) = self.literal(part, MAX_DEPTH) else { return 0 };
        let earlier = parts.iter().take_while(|other| !std::ptr::eq(*other, part)).take(MAX_DEPTH as usize);
        let mut after = 0;
        for other in earlier {
            let Some(other) = self.literal(other, MAX_DEPTH) else { continue };
            if own.begins(&other) && other.text.len() > own.text.len() {
                after |= other.text[own.text.len()..].chars().next().map_or(0, |c| bits(c, other.free));
            }
        }
        after
    }

    /// Returns true if an earlier alternative is a text with which all texts of `part` begin.
    pub(super) fn is_shadowed(&self, part: &'r Peg, parts: &'r [Peg]) -> bool {
        let head = part.parts().first().unwrap_or(part);
        let Some(own) = self.literal(head, MAX_DEPTH) else { return false };
        let earlier = parts.iter().take_while(|other| !std::ptr::eq(*other, part)).take(MAX_DEPTH as usize);
        let mut earlier = earlier.filter_map(|other| self.literal(other, MAX_DEPTH));
        // A text of free case has texts that do not begin with one whose case is not free.
        earlier.any(|other| other.is_whole && other.begins(&own) && (other.free || !own.free))
    }

    /// Returns the names of the rules that a rule reaches.
    pub(super) fn reached(&self, start: &str) -> Set<&'r str> {
        let mut found = Set::new();
        let mut pending: Vec<&str> = self.rules.get_key_value(start).map(|(&name, _)| name).into_iter().collect();
        while let Some(name) = pending.pop() {
            if found.insert(name)
                && let Some(body) = self.body(name)
            {
                each_name(body, &mut |name| pending.push(name));
            }
        }
        found
    }

    /// Returns true if texts of two alternatives begin with the same character and neither that character nor texts
    /// decide between them.
    pub(super) fn is_order_doubtful(&mut self, parts: &'r [Peg]) -> bool {
        if parts.len() > MAX_DEPTH as usize {
            return true;
        }
        let known: Vec<(Fact, Bits, bool)> = parts
            .iter()
            .map(|part| (self.fact(part), self.certain(part), self.literal(part, MAX_DEPTH).is_some()))
            .collect();
        known.iter().enumerate().any(|(number, &(later, _, is_text))| {
            known[..number].iter().any(|&(earlier, certain, was_text)| {
                let is_decided = certain & earlier.first == earlier.first || is_text && was_text;
                let may_win_empty = earlier.nullable && certain != ALL && (later.first != 0 || later.nullable);
                may_win_empty || !is_decided && earlier.first & later.first != 0
            })
        })
    }

    /// Returns the text of an expression, if it has only one.
    pub(super) fn literal(&self, peg: &'r Peg, depth: u32) -> Option<Literal<'r>> {
        match &peg.kind {
            Kind::Text(text, free) => Some(Literal { text, free: *free, is_whole: true }),
            Kind::Name(name) if depth > 0 => self.literal(&self.rules.get(name.as_str())?.body, depth - 1),
            Kind::Seq(parts) => {
                let (first, rest) = parts.split_first()?;
                let are_predicates = rest.iter().all(|part| matches!(part.kind, Kind::Not(_) | Kind::And(_)));
                let literal = if are_predicates { self.literal(first, depth) } else { None };
                literal.map(|literal| Literal { is_whole: literal.is_whole && rest.is_empty(), ..literal })
            }
            Kind::Range(..)
            | Kind::Class(_)
            | Kind::Name(_)
            | Kind::Choice(_)
            | Kind::Repeat(..)
            | Kind::Not(_)
            | Kind::And(_)
            | Kind::Push(_)
            | Kind::Pushed => None,
        }
    }

    /// Returns the rule's body, if there is such a rule.
    pub(super) fn body(&self, name: &str) -> Option<&'r Peg> {
        self.rules.get(name).map(|&rule| &rule.body)
    }

    /// Returns the characters behind which later alternatives are not tried.
    pub(super) fn shadow(&mut self, part: &'r Peg) -> Bits {
        let certain = self.certain(part);
        // Not all characters beyond ASCII need be taken.
        if certain == ALL { ALL } else { certain & !(1 << OTHERS) }
    }

    /// Returns the alternatives of the rounds of a repetition. Those of a rule are looked at if a comment is among
    /// them.
    pub(super) fn rounds(&self, item: &'r Peg) -> &'r [Peg] {
        if let Kind::Choice(parts) = &item.kind {
            return parts;
        }
        if let Kind::Name(name) = &item.kind
            && is_heavy(self.of_rule(name).after)
            && let Some(Peg { kind: Kind::Choice(parts), .. }) = self.body(name)
        {
            return parts;
        }
        std::slice::from_ref(item)
    }

    /// Returns the characters that must not follow a round of a repetition, except behind comments: a round that ends
    /// the line follows those, or they are left out.
    pub(super) fn light(&mut self, item: &'r Peg) -> Bits {
        let parts = self.rounds(item);
        let mut all = 0;
        for part in parts {
            let after = self.fact(part).after;
            all |= if is_heavy(after) && parts.len() > 1 { 0 } else { after };
        }
        all
    }

    /// Returns the characters before which `!inside` fails.
    pub(super) fn excluded(&mut self, inside: &'r Peg) -> Bits {
        let fact = self.fact(inside);
        if fact.nullable { ALL } else { fact.first }
    }

    /// Returns the characters before which `&inside` fails.
    pub(super) fn refused(&mut self, inside: &'r Peg) -> Bits {
        let fact = self.fact(inside);
        if fact.nullable { 0 } else { !fact.first }
    }

    /// Returns the characters before which an expression always matches.
    pub(super) fn certain(&mut self, peg: &'r Peg) -> Bits {
        self.certain_at(peg, MAX_DEPTH)
    }

    fn certain_at(&mut self, peg: &'r Peg, depth: u32) -> Bits {
        self.visits += 1;
        if depth == 0 || self.visits > MAX_VISITS {
            return 0;
        }
        match &peg.kind {
            Kind::Text(text, free) => {
                let mut characters = text.chars();
                match (characters.next(), characters.next()) {
                    (None, _) => ALL,
                    (Some(only), None) => bits(only, *free),
                    (Some(_), Some(_)) => 0,
                }
            }
            Kind::Range(..) | Kind::Class(_) => self.fact(peg).first,
            Kind::Name(name) => self.certain_of_rule(name, depth),
            Kind::Seq(parts) => self.certain_of_sequence(parts, depth),
            Kind::Choice(parts) => parts.iter().fold(0, |all, part| all | self.certain_at(part, depth - 1)),
            Kind::Repeat(_, 0, _) => ALL,
            Kind::Repeat(item, 1, _) => self.certain_at(item, depth - 1),
            Kind::Push(inside) => self.certain_at(inside, depth - 1),
            Kind::Repeat(..) | Kind::Not(_) | Kind::And(_) | Kind::Pushed => 0,
        }
    }

    fn certain_of_rule(&mut self, name: &str, depth: u32) -> Bits {
        let Some((&name, &rule)) = self.rules.get_key_value(name) else { return 0 };
        if let Some(&known) = self.certain.get(name) {
            return known;
        }
        if !self.open.insert(name) {
            return 0;
        }
        let certain = self.certain_at(&rule.body, depth - 1);
        self.open.remove(name);
        self.certain.insert(name, certain);
        certain
    }

    /// Returns the characters before which a sequence always matches: those of its first part, if the others may be
    /// empty.
    fn certain_of_sequence(&mut self, parts: &'r [Peg], depth: u32) -> Bits {
        let (mut first, mut lost) = (ALL, 0);
        let mut is_begun = false;
        for part in parts {
            match &part.kind {
                Kind::Not(inside) if !is_begun => lost |= self.excluded(inside),
                Kind::And(inside) if !is_begun => first &= self.certain_at(inside, depth - 1),
                Kind::Not(_) | Kind::And(_) => return 0,
                Kind::Text(..)
                | Kind::Range(..)
                | Kind::Class(_)
                | Kind::Name(_)
                | Kind::Seq(_)
                | Kind::Choice(_)
                | Kind::Repeat(..)
                | Kind::Push(_)
                | Kind::Pushed => {
                    let certain = self.certain_at(part, depth - 1);
                    if is_begun && !(certain == ALL && self.fact(part).nullable) {
                        return 0;
                    }
                    first &= if is_begun { ALL } else { certain };
                    is_begun = true;
                }
            }
        }
        first & !lost
    }
}

/// A text that stands for an expression.
#[derive(Clone, Copy)]
pub(super) struct Literal<'r> {
    pub(super) text: &'r str,
    pub(super) free: bool,
    /// Whether nothing else is asked for.
    is_whole: bool,
}

impl Literal<'_> {
    /// Returns true if the other text begins with this one.
    fn begins(&self, other: &Literal<'_>) -> bool {
        let Some(beginning) = other.text.get(..self.text.len()) else { return false };
        if self.free || other.free { beginning.eq_ignore_ascii_case(self.text) } else { beginning == self.text }
    }
}

fn each_name<'r>(peg: &'r Peg, visit: &mut impl FnMut(&'r str)) {
    match &peg.kind {
        Kind::Name(name) => visit(name),
        Kind::Seq(parts) | Kind::Choice(parts) => parts.iter().for_each(|part| each_name(part, visit)),
        Kind::Repeat(inside, ..) | Kind::Not(inside) | Kind::And(inside) | Kind::Push(inside) => {
            each_name(inside, visit);
        }
        Kind::Text(..) | Kind::Range(..) | Kind::Class(_) | Kind::Pushed => {}
    }
}
