//! The rules and terms of a file.

use crate::ast::Name;
use crate::charset::CharSet;
use crate::diagnostics::Span;

/// A file.
#[derive(Default)]
pub(super) struct File {
    pub(super) rules: Vec<Rule>,
    /// The expression of `@pass`: what may stand between tokens.
    pub(super) pass: Option<Term>,
    /// Whether anything says that blanks are implied between tokens.
    pub(super) implies_blanks: bool,
}

/// A rule.
pub(super) struct Rule {
    pub(super) name: Name,
    pub(super) body: Term,
    /// Whether it is among the terminals.
    pub(super) is_terminal: bool,
    /// Whether `/* ws: explicit */` says that no blanks are implied in it.
    pub(super) is_explicit: bool,
}

/// An expression and its place.
pub(super) struct Term {
    pub(super) kind: Kind,
    pub(super) span: Span,
    pub(super) height: u32,
}

/// The kinds of expressions.
pub(super) enum Kind {
    Text(String),
    Class(CharSet),
    Name(String),
    Seq(Vec<Term>),
    Choice(Vec<Term>),
    Repeat(Box<Term>, u32, Option<u32>),
    /// The texts of the first that are none of the second.
    Minus(Box<Term>, Box<Term>),
}
