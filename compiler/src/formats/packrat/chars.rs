//! Finds the characters of an expression, or its first characters. Predicates are honoured by these.

use super::tree::{Kind, Peg, Rule};
use crate::charset::{CharSet, Unit};
use crate::formats::pattern;
use crate::ordered::Map;

/// The depth to which rules are followed.
const MAX_DEPTH: u32 = 24;
/// The most steps for one expression. Alternatives may refer to the same rules many times.
const MAX_STEPS: u32 = 256;

/// Returns the characters of a built-in rule. `None` for other rules.
fn builtin(name: &str) -> Option<CharSet> {
    let set = |ranges: &[(char, char)]| {
        CharSet::new(Unit::Char, ranges.iter().map(|&(low, high)| (u32::from(low), u32::from(high))))
    };
    Some(match name {
        "ANY" => set(&[('\0', char::MAX)]),
        "ASCII" => set(&[('\0', '\x7F')]),
        "ASCII_DIGIT" => set(&[('0', '9')]),
        "ASCII_NONZERO_DIGIT" => set(&[('1', '9')]),
        "ASCII_BIN_DIGIT" => set(&[('0', '1')]),
        "ASCII_OCT_DIGIT" => set(&[('0', '7')]),
        "ASCII_HEX_DIGIT" => set(&[('0', '9'), ('a', 'f'), ('A', 'F')]),
        "ASCII_ALPHA_LOWER" => set(&[('a', 'z')]),
        "ASCII_ALPHA_UPPER" => set(&[('A', 'Z')]),
        "ASCII_ALPHA" => set(&[('a', 'z'), ('A', 'Z')]),
        "ASCII_ALPHANUMERIC" => set(&[('a', 'z'), ('A', 'Z'), ('0', '9')]),
        _ if name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') => pattern::property(name)?,
        _ => return None,
    })
}

/// Examines expressions.
pub(in crate::formats) struct Chars<'r> {
    rules: Map<&'r str, &'r Peg>,
    /// The built-in rules that were asked for.
    builtins: Map<String, Option<CharSet>>,
    steps: u32,
    /// The greatest character of a class of all others.
    pub(in crate::formats) last: char,
}

/// The first characters of an expression.
pub(in crate::formats) struct Beginning {
    pub(in crate::formats) first: CharSet,
    /// Whether each of these characters is a complete string of the expression.
    pub(in crate::formats) exact: bool,
}

impl<'r> Chars<'r> {
    /// Returns the characters of rules whose classes of all others end with the character `last`.
    pub(in crate::formats) fn new(rules: &'r [Rule], last: char) -> Chars<'r> {
        Chars {
            rules: rules.iter().map(|rule| (rule.name.text.as_str(), &rule.body)).collect(),
            builtins: Map::new(),
            steps: 0,
            last,
        }
    }

    /// Returns the characters of a built-in rule. `None` for other rules.
    pub(in crate::formats) fn builtin(&mut self, name: &str) -> Option<CharSet> {
        if let Some(known) = self.builtins.get(name) {
            return known.clone();
        }
        let found = builtin(name);
        // A grammar may have many unknown names, so only some are kept.
        if self.builtins.len() < 1024 {
            self.builtins.insert(name.to_string(), found.clone());
        }
        found
    }

    /// Returns the first characters of `peg`. `None` if it may be empty or is not known.
    pub(in crate::formats) fn beginning(&mut self, peg: &Peg) -> Option<Beginning> {
        self.steps = 0;
        self.look(peg, MAX_DEPTH)
    }

    /// Returns the characters of `peg`, if it is a single character.
    pub(in crate::formats) fn class(&mut self, peg: &Peg) -> Option<CharSet> {
        self.beginning(peg).filter(|beginning| beginning.exact).map(|beginning| beginning.first)
    }

    fn look(&mut self, peg: &Peg, depth: u32) -> Option<Beginning> {
        self.steps += 1;
        if self.steps > MAX_STEPS || depth == 0 {
            return None;
        }
        let exact = |first: CharSet| Some(Beginning { first, exact: true });
        match &peg.kind {
            Kind::Text(text, free) => {
                let first = text.chars().next()?;
                let both = [first, first.to_ascii_lowercase(), first.to_ascii_uppercase()];
                let count = if *free { 3 } else { 1 };
                let set = CharSet::new(Unit::Char, both[..count].iter().map(|&c| (c.into(), c.into())));
                Some(Beginning { first: set, exact: text.len() == first.len_utf8() })
            }
            Kind::Class(set) => exact(set.clone()),
            Kind::Range(low, high) => exact(CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))])),
            Kind::Name(name) => match self.rules.get(name.as_str()).copied() {
                Some(body) => self.look(body, depth - 1),
                None if name == "NEWLINE" => {
                    Some(Beginning { first: CharSet::new(Unit::Char, [(10, 10), (13, 13)]), exact: false })
                }
                None => exact(self.builtin(name)?),
            },
            Kind::Seq(parts) => {
                // `!x ~ y` and `&x ~ y` with classes on both sides are classes too.
                let mut excluded = CharSet::empty(Unit::Char);
                let mut asked: Option<CharSet> = None;
                let mut parts = parts.iter();
                loop {
                    let part = parts.next()?;
                    match &part.kind {
                        Kind::Not(inside) => excluded = excluded.union(&self.look(inside, depth - 1)?.first),
                        Kind::And(inside) => {
                            let Beginning { first, exact } = self.look(inside, depth - 1)?;
                            if !exact {
                                return None;
                            }
                            asked = Some(asked.map_or(first.clone(), |asked| asked.intersection(&first)));
                        }
                        Kind::Name(name) if name == "SOI" => {}
                        _ => {
                            let Beginning { first, exact } = self.look(part, depth - 1)?;
                            let exact = exact && parts.next().is_none();
                            let first = asked.map_or(first.clone(), |asked| asked.intersection(&first));
                            return Some(Beginning { first: first.difference(&excluded), exact });
                        }
                    }
                }
            }
            Kind::Choice(parts) => {
                let mut all = Beginning { first: CharSet::empty(Unit::Char), exact: true };
                for part in parts {
                    let Beginning { first, exact } = self.look(part, depth - 1)?;
                    all = Beginning { first: all.first.union(&first), exact: all.exact && exact };
                }
                Some(all)
            }
            Kind::Repeat(item, min, max) if *min > 0 => {
                let Beginning { first, exact } = self.look(item, depth - 1)?;
                Some(Beginning { first, exact: exact && *max == Some(1) })
            }
            Kind::Push(inside) => self.look(inside, depth - 1),
            Kind::Repeat(..) | Kind::Not(_) | Kind::And(_) | Kind::Pushed => None,
        }
    }
}
