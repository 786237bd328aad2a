//! Rules and expressions of a PEG.

use crate::ast::{MAX_NESTING, Name};
use crate::charset::CharSet;
use crate::diagnostics::Span;
use crate::formats::builder::{Builder, Reported};

/// A rule.
pub(in crate::formats) struct Rule {
    pub(in crate::formats) name: Name,
    /// The sign in front of a body of pest: `_`, `@`, `$` or `!`.
    pub(in crate::formats) modifier: Option<char>,
    pub(in crate::formats) body: Peg,
}

/// An expression and its place.
pub(in crate::formats) struct Peg {
    pub(in crate::formats) kind: Kind,
    pub(in crate::formats) span: Span,
    pub(in crate::formats) height: u32,
}

/// The kinds of expressions.
pub(in crate::formats) enum Kind {
    /// A text, and whether its case is free.
    Text(String, bool),
    Range(char, char),
    Class(CharSet),
    Name(String),
    /// `PEEK`, `POP` and similar rules: the text that was pushed.
    Pushed,
    Push(Box<Peg>),
    Seq(Vec<Peg>),
    Choice(Vec<Peg>),
    Repeat(Box<Peg>, u32, Option<u32>),
    Not(Box<Peg>),
    And(Box<Peg>),
}

impl Peg {
    /// Returns an expression whose parts nest `below` deep, and counts it.
    pub(in crate::formats) fn build(
        kind: Kind,
        span: Span,
        below: u32,
        builder: &mut Builder<'_>,
    ) -> Result<Peg, Reported> {
        builder.count(1, span)?;
        if let Kind::Class(set) = &kind {
            builder.count(set.ranges().len() / 16, span)?;
        }
        if below >= MAX_NESTING / 2 {
            return Err(builder.too_deep(span));
        }
        Ok(Peg { kind, span, height: below + 1 })
    }

    /// Returns the only one of these expressions, or joins several.
    pub(in crate::formats) fn joined(
        mut parts: Vec<Peg>,
        join: fn(Vec<Peg>) -> Kind,
        place: Span,
        builder: &mut Builder<'_>,
    ) -> Result<Peg, Reported> {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return Ok(only);
        }
        let height = parts.iter().map(|part| part.height).max().unwrap_or(0);
        let span = parts.iter().map(|part| part.span).reduce(Span::to).unwrap_or(place);
        Peg::build(join(parts), span, height, builder)
    }

    /// Returns the parts of a sequence, or the expression as the only part.
    pub(in crate::formats) fn parts(&self) -> &[Peg] {
        match &self.kind {
            Kind::Seq(parts) => parts,
            Kind::Text(..)
            | Kind::Range(..)
            | Kind::Class(_)
            | Kind::Name(_)
            | Kind::Pushed
            | Kind::Push(_)
            | Kind::Choice(_)
            | Kind::Repeat(..)
            | Kind::Not(_)
            | Kind::And(_) => std::slice::from_ref(self),
        }
    }
}
