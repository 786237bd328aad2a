//! Grammars over lexemes: the parser's rules once each terminal is a lexer rule.

use crate::diagnostics::Span;

/// A terminal: a lexer rule, and the hidden rules before it that lead to its mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lexeme {
    pub(super) rule: usize,
    pub(super) via: Vec<usize>,
}

impl Lexeme {
    /// The lexer rule that it begins with.
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

/// An expression over lexemes. An empty sequence derives nothing, an empty choice no text at all.
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

    /// The number of nodes.
    pub(super) fn size(&self) -> usize {
        match self {
            Flat::Lexeme(_) | Flat::Rule(_) => 1,
            Flat::Seq(items) | Flat::Choice(items) => 1 + items.iter().map(Flat::size).sum::<usize>(),
            Flat::Repeat { item, .. } => 1 + item.size(),
        }
    }

    /// This, and `next` behind it.
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

/// A parser over lexemes.
#[derive(Clone, Debug, Default)]
pub(super) struct FlatGrammar {
    pub(super) rules: Vec<FlatRule>,
    pub(super) start: usize,
    pub(super) lexemes: Vec<Lexeme>,
}
