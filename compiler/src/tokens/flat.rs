//! Grammars over lexemes: the parser's rules once each terminal is a lexer rule.

use super::edges::deriving;
use crate::diagnostics::Span;
use crate::ordered::Set;

/// A terminal: a lexer rule, and the hidden rules before it that lead to its mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lexeme {
    pub(super) rule: usize,
    pub(super) via: Vec<usize>,
}

impl Lexeme {
    /// Returns the lexer rule that it begins with.
    pub(super) fn entry(&self) -> usize {
        self.via.first().copied().unwrap_or(self.rule)
    }
}

/// A parser rule over lexemes.
#[derive(Clone, Debug)]
pub(super) struct FlatRule {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) body: Flat,
}

/// An expression over lexemes. An empty sequence derives the empty text, an empty choice derives no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Flat {
    Lexeme(usize),
    Rule(usize),
    Seq(Vec<Flat>),
    Choice(Vec<Flat>),
    Repeat { item: Box<Flat>, min: u32, max: Option<u32> },
}

impl Default for Flat {
    fn default() -> Flat {
        Flat::EMPTY
    }
}

impl Flat {
    pub(super) const EMPTY: Flat = Flat::Seq(Vec::new());
    pub(super) const NEVER: Flat = Flat::Choice(Vec::new());

    /// Returns the number of nodes.
    pub(super) fn size(&self) -> usize {
        match self {
            Flat::Lexeme(_) | Flat::Rule(_) => 1,
            Flat::Seq(items) | Flat::Choice(items) => 1 + items.iter().map(Flat::size).sum::<usize>(),
            Flat::Repeat { item, .. } => 1 + item.size(),
        }
    }

    /// Returns this followed by `next`.
    pub(super) fn then(self, next: Flat) -> Flat {
        match (self, next) {
            (Flat::Seq(mut items), next) => match next {
                Flat::Seq(more) => {
                    items.extend(more);
                    Flat::Seq(items)
                }
                next => {
                    items.push(next);
                    Flat::Seq(items)
                }
            },
            (first, Flat::Seq(mut items)) => {
                items.insert(0, first);
                Flat::Seq(items)
            }
            (first, next) => Flat::Seq(vec![first, next]),
        }
    }
}

/// The rules of a parser over lexemes.
#[derive(Clone, Debug, Default)]
pub(super) struct FlatGrammar {
    pub(super) rules: Vec<FlatRule>,
    pub(super) start: usize,
    pub(super) lexemes: Vec<Lexeme>,
}

impl FlatGrammar {
    /// Returns the grammar without the parts that need one of these lexemes. `None` if nothing is left.
    pub(super) fn without(&self, lexemes: &Set<usize>) -> Option<FlatGrammar> {
        let productive = deriving(self, &|lexeme| !lexemes.contains(&lexeme));
        if !productive[self.start] {
            return None;
        }
        let rules = self.rules.iter().map(|rule| {
            let body = kept(&rule.body, lexemes, &productive).unwrap_or(Flat::NEVER);
            FlatRule { name: rule.name.clone(), span: rule.span, body }
        });
        Some(FlatGrammar { rules: rules.collect(), start: self.start, lexemes: self.lexemes.clone() })
    }

    /// Returns the lexemes that the start rule reaches.
    pub(super) fn used(&self) -> Set<usize> {
        let mut used = Set::new();
        let mut reached = vec![false; self.rules.len()];
        reached[self.start] = true;
        let mut pending = vec![self.start];
        while let Some(rule) = pending.pop() {
            each_leaf(&self.rules[rule].body, &mut |leaf| match leaf {
                Flat::Lexeme(lexeme) => drop(used.insert(*lexeme)),
                Flat::Rule(rule) if !std::mem::replace(&mut reached[*rule], true) => pending.push(*rule),
                _ => {}
            });
        }
        used
    }
}

/// Returns an expression without these lexemes and without unproductive rules. `None` if nothing is left.
fn kept(expr: &Flat, without: &Set<usize>, productive: &[bool]) -> Option<Flat> {
    Some(match expr {
        Flat::Lexeme(lexeme) if without.contains(lexeme) => return None,
        Flat::Rule(rule) if !productive[*rule] => return None,
        Flat::Lexeme(_) | Flat::Rule(_) => expr.clone(),
        Flat::Seq(items) => Flat::Seq(items.iter().map(|item| kept(item, without, productive)).collect::<Option<_>>()?),
        Flat::Choice(options) => {
            let mut options: Vec<Flat> =
                options.iter().filter_map(|option| kept(option, without, productive)).collect();
            if options.len() < 2 {
                return options.pop();
            }
            Flat::Choice(options)
        }
        Flat::Repeat { item, min, max } => match kept(item, without, productive) {
            Some(item) => Flat::Repeat { item: Box::new(item), min: *min, max: *max },
            None if *min == 0 => Flat::EMPTY,
            None => return None,
        },
    })
}

fn each_leaf(expr: &Flat, visit: &mut dyn FnMut(&Flat)) {
    match expr {
        Flat::Lexeme(_) | Flat::Rule(_) => visit(expr),
        Flat::Seq(items) | Flat::Choice(items) => items.iter().for_each(|item| each_leaf(item, visit)),
        Flat::Repeat { item, .. } => each_leaf(item, visit),
    }
}
