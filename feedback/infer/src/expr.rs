//! Expressions of the grammar that is being made, with generalisations that can be undone.

use std::collections::BTreeSet;

use crate::set::Set;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Expr {
    Literal(Vec<u8>),
    Set(Set),
    /// The rule of this number.
    Rule(usize),
    Seq(Vec<Expr>),
    /// Derives nothing at all if it is empty.
    Alt(Vec<Expr>),
    Optional(Box<Expr>),
    Star(Box<Expr>),
    Plus(Box<Expr>),
    /// A part that is given again: by [`Expr::Again`] after it in the same sequence.
    Named(Box<Expr>),
    /// The text of the named part, once more.
    Again,
    /// A repetition with the least and the greatest number of rounds.
    Times(Box<Expr>, u32, u32),
    /// A generalisation, and what it generalises.
    General(Box<General>),
}

/// A generalisation that may prove wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct General {
    /// Name in the same words each time that the grammar is made.
    pub key: String,
    pub general: Expr,
    /// Expression that the samples need.
    pub plain: Expr,
}

/// The generalisations that have proved wrong, by their keys.
pub(crate) type Undone = BTreeSet<String>;

impl Expr {
    pub fn literal(text: impl AsRef<[u8]>) -> Expr {
        Expr::Literal(text.as_ref().to_vec())
    }

    /// Derives the empty text.
    pub fn empty() -> Expr {
        Expr::Seq(Vec::new())
    }

    /// Derives nothing, not even the empty text.
    pub fn never() -> Expr {
        Expr::Alt(Vec::new())
    }

    pub fn general(key: String, general: Expr, plain: Expr) -> Expr {
        Expr::General(Box::new(General { key, general, plain }))
    }

    pub fn optional(self) -> Expr {
        Expr::Optional(Box::new(self))
    }

    pub fn star(self) -> Expr {
        Expr::Star(Box::new(self))
    }

    pub fn plus(self) -> Expr {
        Expr::Plus(Box::new(self))
    }

    /// Returns the expression without generalisations, simplified. In place of each one it has its general form, unless
    /// that is undone.
    pub fn resolved(&self, undone: &Undone) -> Expr {
        let one = |expr: &Expr| Box::new(expr.resolved(undone));
        match self {
            Expr::General(general) if undone.contains(&general.key) => general.plain.resolved(undone),
            Expr::General(general) => general.general.resolved(undone),
            Expr::Seq(parts) => sequence(parts.iter().map(|part| part.resolved(undone))),
            Expr::Alt(parts) => alternatives(parts.iter().map(|part| part.resolved(undone))),
            Expr::Optional(part) => optional(*one(part)),
            Expr::Star(part) => star(*one(part)),
            Expr::Plus(part) => match *one(part) {
                Expr::Optional(inner) | Expr::Star(inner) => Expr::Star(inner),
                Expr::Plus(inner) => Expr::Plus(inner),
                inner if inner == Expr::never() || inner == Expr::empty() => inner,
                inner => inner.plus(),
            },
            Expr::Times(part, min, max) => Expr::Times(one(part), *min, *max),
            Expr::Named(part) => Expr::Named(one(part)),
            Expr::Literal(text) if text.is_empty() => Expr::empty(),
            Expr::Set(set) => set.single().map_or(self.clone(), |byte| Expr::literal([byte])),
            Expr::Literal(_) | Expr::Rule(_) | Expr::Again => self.clone(),
        }
    }

    /// Calls `f` with each rule that it refers to.
    pub fn rules(&self, f: &mut dyn FnMut(usize)) {
        match self {
            Expr::Rule(rule) => f(*rule),
            Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().for_each(|part| part.rules(f)),
            Expr::Optional(part) | Expr::Star(part) | Expr::Plus(part) => part.rules(f),
            Expr::Times(part, ..) | Expr::Named(part) => part.rules(f),
            Expr::General(general) => {
                general.general.rules(f);
                general.plain.rules(f);
            }
            Expr::Literal(_) | Expr::Set(_) | Expr::Again => {}
        }
    }

    /// Calls `f` with each set of characters.
    pub fn sets(&self, f: &mut dyn FnMut(&Set)) {
        match self {
            Expr::Set(set) => f(set),
            Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().for_each(|part| part.sets(f)),
            Expr::Optional(part) | Expr::Star(part) | Expr::Plus(part) => part.sets(f),
            Expr::Times(part, ..) | Expr::Named(part) => part.sets(f),
            Expr::General(general) => {
                general.general.sets(f);
                general.plain.sets(f);
            }
            Expr::Literal(_) | Expr::Rule(_) | Expr::Again => {}
        }
    }

    /// Returns the expression with other rules, or other expressions, in place of rules.
    pub fn with_rules(&self, f: &dyn Fn(usize) -> Expr) -> Expr {
        let one = |part: &Expr| Box::new(part.with_rules(f));
        let all = |parts: &[Expr]| parts.iter().map(|part| part.with_rules(f)).collect();
        match self {
            Expr::Rule(rule) => f(*rule),
            Expr::Seq(parts) => Expr::Seq(all(parts)),
            Expr::Alt(parts) => Expr::Alt(all(parts)),
            Expr::Optional(part) => Expr::Optional(one(part)),
            Expr::Star(part) => Expr::Star(one(part)),
            Expr::Plus(part) => Expr::Plus(one(part)),
            Expr::Times(part, min, max) => Expr::Times(one(part), *min, *max),
            Expr::Named(part) => Expr::Named(one(part)),
            Expr::General(general) => {
                Expr::general(general.key.clone(), general.general.with_rules(f), general.plain.with_rules(f))
            }
            Expr::Literal(_) | Expr::Set(_) | Expr::Again => self.clone(),
        }
    }

    /// Returns true if it derives the text. It has no rules, no generalisations and no named parts.
    pub fn matches(&self, text: &[u8]) -> bool {
        self.ends(text, &BTreeSet::from([0])).contains(&text.len())
    }

    fn ends(&self, text: &[u8], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        match self {
            Expr::Literal(literal) => {
                let from = starts.iter().filter(|&&at| text[at..].starts_with(literal));
                from.map(|at| at + literal.len()).collect()
            }
            Expr::Set(set) => starts.iter().filter_map(|&at| member(set, text, at)).collect(),
            Expr::Seq(parts) => parts.iter().fold(starts.clone(), |ends, part| part.ends(text, &ends)),
            Expr::Alt(parts) => parts.iter().flat_map(|part| part.ends(text, starts)).collect(),
            Expr::Optional(part) => part.ends(text, starts).union(starts).copied().collect(),
            Expr::Star(part) => rounds(part, text, starts.clone()),
            Expr::Plus(part) => rounds(part, text, part.ends(text, starts)),
            Expr::Times(part, min, max) => {
                let mut ends = (0..*min).fold(starts.clone(), |ends, _| part.ends(text, &ends));
                let mut all = ends.clone();
                for _ in *min..*max {
                    ends = part.ends(text, &ends);
                    all.extend(&ends);
                }
                all
            }
            Expr::Rule(_) | Expr::General(_) | Expr::Named(_) | Expr::Again => BTreeSet::new(),
        }
    }
}

/// Returns the end of a character that begins here and is a member.
fn member(set: &Set, text: &[u8], at: usize) -> Option<usize> {
    let first = *text.get(at)?;
    let len = match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let character = text.get(at..at + len)?;
    set.has_all(character).then_some(at + len)
}

fn rounds(part: &Expr, text: &[u8], mut all: BTreeSet<usize>) -> BTreeSet<usize> {
    let mut new = all.clone();
    while !new.is_empty() {
        new = part.ends(text, &new).difference(&all).copied().collect();
        all.extend(&new);
    }
    all
}

fn sequence(parts: impl Iterator<Item = Expr>) -> Expr {
    let mut flat: Vec<Expr> = Vec::new();
    for part in parts {
        let inner = match part {
            Expr::Seq(inner) => inner,
            Expr::Alt(inner) if inner.is_empty() => return Expr::never(),
            other => vec![other],
        };
        for part in inner {
            match (flat.last_mut(), part) {
                (_, Expr::Literal(text)) if text.is_empty() => {}
                // White space that is optional twice is once enough.
                (Some(last), part) if *last == part && matches!(part, Expr::Star(_) | Expr::Optional(_)) => {}
                (Some(Expr::Literal(before)), Expr::Literal(text)) => before.extend(text),
                (_, part) => flat.push(part),
            }
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Expr::Seq(flat) }
}

fn alternatives(parts: impl Iterator<Item = Expr>) -> Expr {
    let mut flat: Vec<Expr> = Vec::new();
    let mut has_empty = false;
    for part in parts {
        let inner = match part {
            Expr::Alt(inner) => inner,
            other => vec![other],
        };
        for part in inner {
            match part {
                Expr::Seq(inner) if inner.is_empty() => has_empty = true,
                part if flat.contains(&part) => {}
                part => flat.push(part),
            }
        }
    }
    if let Some(all) = with_common_beginning(&flat, has_empty) {
        return all;
    }
    let all = if flat.len() == 1 { flat.remove(0) } else { Expr::Alt(flat) };
    match (has_empty, all == Expr::never()) {
        (true, true) => Expr::empty(),
        (true, false) => optional(all),
        (false, _) => all,
    }
}

/// Returns the alternatives with their common white space in front of them, if all begin with it and one is nothing
/// else.
fn with_common_beginning(parts: &[Expr], has_empty: bool) -> Option<Expr> {
    let first = |part: &Expr| match part {
        Expr::Seq(parts) => parts.first().cloned(),
        other => Some(other.clone()),
    };
    let common = parts.first().and_then(first).filter(|first| matches!(first, Expr::Rule(_)))?;
    if has_empty || parts.len() < 2 || parts.iter().any(|part| first(part).as_ref() != Some(&common)) {
        return None;
    }
    let is_alone = parts.contains(&common);
    let rest = |part: &Expr| match part {
        Expr::Seq(parts) => sequence(parts[1..].iter().cloned()),
        _ => Expr::empty(),
    };
    // Only what may be left out is worth it: other alternatives are read more easily as they are.
    is_alone.then(|| sequence([common, alternatives(parts.iter().map(rest))].into_iter()))
}

fn optional(part: Expr) -> Expr {
    match part {
        Expr::Optional(_) | Expr::Star(_) => part,
        Expr::Plus(inner) => Expr::Star(inner),
        part if part == Expr::never() || part == Expr::empty() => Expr::empty(),
        part => part.optional(),
    }
}

fn star(part: Expr) -> Expr {
    match part {
        Expr::Optional(inner) | Expr::Star(inner) | Expr::Plus(inner) => Expr::Star(inner),
        part if part == Expr::never() || part == Expr::empty() => Expr::empty(),
        part => part.star(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generalisations_are_undone_by_their_keys() {
        let digits = Expr::Set(Set::of(b'0'..=b'9')).plus();
        let number = Expr::general("number".into(), digits.clone(), Expr::literal("1"));
        let list = Expr::Seq(vec![number.clone(), Expr::Seq(vec![Expr::literal(","), number]).star()]);
        let comma = Expr::literal(",");
        let all = list.resolved(&Undone::new());
        assert_eq!(all, Expr::Seq(vec![digits.clone(), Expr::Seq(vec![comma, digits]).star()]));
        assert!(all.matches(b"12,3,4") && !all.matches(b"12,"));
        let undone = list.resolved(&Undone::from(["number".to_string()]));
        assert!(undone.matches(b"1,1") && !undone.matches(b"2"));
    }

    #[test]
    fn expressions_are_simplified() {
        let simple = |expr: Expr| expr.resolved(&Undone::new());
        let one = || Expr::literal("1");
        assert_eq!(simple(Expr::Alt(vec![Expr::empty(), one(), one()])), one().optional());
        assert_eq!(simple(one().optional().plus().optional()), one().star());
        assert_eq!(simple(Expr::Seq(vec![one(), Expr::empty(), one()])), Expr::literal("11"));
        assert_eq!(simple(Expr::Seq(vec![one(), Expr::never()])), Expr::never());
        assert_eq!(simple(Expr::never().star()), Expr::empty());
    }
}
