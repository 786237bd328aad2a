//! Names in random grammars: parts that give them, take them, and bound where they are seen.

use gramjet_compiler::ast::{Expr, ExprKind, Name};
use gramjet_compiler::derived::Derived;
use gramjet_compiler::diagnostics::Span;
use gramjet_compiler::naming::Naming;

use super::{Maker, expr, literal, seq};

/// The kinds of names: those that are unique, and others.
const UNIQUE: [&str; 2] = ["u", "v"];
const OTHERS: [&str; 2] = ["d", "e"];

impl Maker<'_> {
    /// Returns a part that does something with names.
    pub(super) fn naming(&mut self, nesting: usize) -> Expr {
        let unique = UNIQUE[self.draw.below(2)];
        let other = OTHERS[self.draw.below(2)];
        let any = [unique, other][self.draw.below(2)];
        match self.draw.below(9) {
            0 | 1 => naming(Naming::Define(kind(other)), self.plain()),
            2 | 3 => naming(Naming::Unique(kind(unique)), self.plain()),
            4 | 5 => {
                let other = match self.draw.below(3) {
                    0 => seq(vec![self.plain(), self.reference()]),
                    1 if nesting > 0 => seq(vec![self.class(), self.item(nesting - 1)]),
                    _ => self.class(),
                };
                naming(Naming::Use(kind(any)), other)
            }
            6 => naming(Naming::Scope(vec![kind(any)]), self.item(nesting.saturating_sub(1))),
            _ => {
                let (nesting, kinds) = (nesting.saturating_sub(1), vec![kind(other), kind(unique)]);
                let count = self.draw.between(1, 3);
                let named = (0..count).flat_map(|_| [self.naming(0), self.item(nesting)]).collect();
                naming(Naming::Scope(kinds), seq(named))
            }
        }
    }

    /// Returns a part that gives another one as a name.
    pub(super) fn declared(&mut self, label: Name) -> Expr {
        let other = OTHERS[self.draw.below(2)];
        naming(Naming::Declare(kind(other)), expr(ExprKind::Derived(Derived::Copy(label))))
    }

    /// Returns a rule that gives a name of each kind, so that all are known.
    pub(super) fn given_names(&mut self) -> Expr {
        let defined = OTHERS.map(|other| naming(Naming::Define(kind(other)), literal(b"a")));
        let unique = UNIQUE.map(|unique| naming(Naming::Unique(kind(unique)), literal(b"a")));
        seq(defined.into_iter().chain(unique).collect())
    }

    /// Returns the body of the start rule with a scope of all unique names around it.
    pub(super) fn in_scope(&mut self, body: Expr) -> Expr {
        naming(Naming::Scope(UNIQUE.map(kind).to_vec()), body)
    }

    /// Returns a part that can be a name.
    fn plain(&mut self) -> Expr {
        match self.draw.below(4) {
            0 => literal(b"a"),
            1 => {
                let (min, more) = (self.draw.between(1, 2) as u32, self.draw.below(3) as u32);
                expr(ExprKind::Repeat { item: Box::new(self.class()), min, max: Some(min + more) })
            }
            2 => seq(vec![self.class(), self.class()]),
            _ => self.class(),
        }
    }
}

fn kind(name: &str) -> Name {
    Name { text: name.to_string(), span: Span::default() }
}

fn naming(naming: Naming<Name>, item: Expr) -> Expr {
    expr(ExprKind::Naming { naming, item: Box::new(item) })
}
