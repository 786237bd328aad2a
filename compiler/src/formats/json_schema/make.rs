//! Short words for building expressions.

use crate::ast::{Alternative, Expr, Weight};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;

/// The name of a rule that derives nothing.
pub(super) const NEVER: &str = "never";

/// Builds expressions at a place.
#[derive(Clone, Copy)]
pub(super) struct Make(pub(super) Span);

impl Make {
    pub(super) fn text(self, text: impl Into<String>) -> Expr {
        Expr::bytes(text.into(), self.0)
    }

    pub(super) fn empty(self) -> Expr {
        Expr::empty(self.0)
    }

    /// Returns what derives nothing, not even the empty text.
    pub(super) fn never(self) -> Expr {
        self.rule(NEVER)
    }

    pub(super) fn rule(self, name: impl Into<String>) -> Expr {
        Expr::rule(name, self.0)
    }

    pub(super) fn class(self, ranges: &[(u32, u32)]) -> Expr {
        Expr::class(CharSet::new(Unit::Char, ranges.iter().copied()), self.0)
    }

    pub(super) fn set(self, set: CharSet) -> Expr {
        Expr::class(set, self.0)
    }

    pub(super) fn seq(self, parts: impl IntoIterator<Item = Expr>) -> Expr {
        Expr::joined(parts, self.0)
    }

    /// Returns one of several parts. A single one stands for itself.
    pub(super) fn any(self, parts: impl IntoIterator<Item = Expr>) -> Expr {
        self.any_or_read(parts, [])
    }

    /// Returns one of several parts. Texts may have others, too.
    pub(super) fn any_or_read(
        self,
        drawn: impl IntoIterator<Item = Expr>,
        read: impl IntoIterator<Item = Expr>,
    ) -> Expr {
        let drawn = drawn.into_iter().map(|expr| Alternative { expr, weight: None });
        let only_read = Some(Weight { value: 0.0, span: self.0 });
        let read = read.into_iter().map(|expr| Alternative { expr, weight: only_read });
        let mut drawn = drawn.peekable();
        if drawn.peek().is_none() {
            return self.never();
        }
        let mut all: Vec<Alternative> = drawn.chain(read).collect();
        if all.len() == 1 && all[0].weight.is_none() { all.remove(0).expr } else { Expr::choice(all, self.0) }
    }

    pub(super) fn many(self, item: Expr, min: u32, max: Option<u32>) -> Expr {
        match (min, max) {
            (1, Some(1)) => item,
            (_, Some(0)) => self.empty(),
            _ => Expr::repeat(item, min, max, self.0),
        }
    }

    pub(super) fn maybe(self, item: Expr) -> Expr {
        self.many(item, 0, Some(1))
    }
}
