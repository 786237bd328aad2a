//! Edits that may repair a grammar.

use gramjet_compiler::ast::{Alternative, Expr, Grammar};

use crate::refine::generalise::groups;
use crate::refine::place::{ExprPath, seq};
use crate::refine::source::written;

/// Single characters that a class lacks.
#[derive(Clone, Debug)]
pub(crate) struct Lacking {
    pub(crate) members: Vec<u32>,
}

/// An edit: another expression at a place.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) place: ExprPath,
    pub(crate) expr: Expr,
    /// The part by which the languages differ, and its place: in the edited grammar what is new, or in the grammar
    /// before what is gone.
    pub(crate) part: Expr,
    pub(crate) part_at: ExprPath,
    /// For people: what it does.
    pub(crate) what: String,
    /// Rank of the edit. Among edits that do as much, one of the least rank is taken.
    pub(crate) rank: usize,
    /// Expression that it adds, if it adds one at a place.
    pub(crate) added: Option<Expr>,
    /// Whether it adds several literals that were found, or one of several words and marks, and nothing more general.
    pub(crate) is_patch: bool,
    /// Whether it adds a rule that takes nearly anything: that it takes a text says little.
    pub(crate) is_lax: bool,
    /// Characters that a class lacks, if the edit adds some to it. The program is asked which members it takes once the
    /// edit's turn has come; until then, the class gets all.
    pub(crate) lacking: Option<Lacking>,
}

impl Candidate {
    pub(crate) fn new(place: &ExprPath, expr: Expr, part: Expr, what: String, rank: usize) -> Candidate {
        Candidate {
            place: place.clone(),
            expr,
            part,
            part_at: place.clone(),
            what,
            rank,
            added: None,
            is_patch: false,
            is_lax: false,
            lacking: None,
        }
    }

    /// Returns a sequence without the item at a place, if that is one; `part` is what is gone.
    pub(crate) fn removal(
        grammar: &Grammar,
        item: &ExprPath,
        part: Expr,
        what: String,
        rank: usize,
    ) -> Option<Candidate> {
        let (around, number) = item.around()?;
        let whole = around.get(grammar)?;
        let mut items = whole.as_seq()?.to_vec();
        items.remove(number);
        let expr = if items.len() > 1 { Expr::seq(items, whole.span) } else { seq(items) };
        Some(Candidate { part_at: item.clone(), ..Candidate::new(&around, expr, part, what, rank) })
    }

    /// Returns the candidate, known as a patch if what it adds is a choice of literals, or one that is no single word
    /// or mark.
    pub(crate) fn adding(self, added: &Expr) -> Candidate {
        let are_literals = |all: &[Alternative]| all.iter().all(|one| one.expr.as_bytes().is_some());
        let is_patch =
            added.as_choice().is_some_and(are_literals) || added.as_bytes().is_some_and(|bytes| groups(bytes) > 1);
        Candidate { is_patch, added: Some(added.clone()), ..self }
    }

    /// Returns the literals that it adds, if it adds nothing else.
    pub(crate) fn literals(&self) -> Vec<&[u8]> {
        let Some(added) = &self.added else { return Vec::new() };
        let all: Vec<&Expr> = match added.as_choice() {
            Some(alternatives) => alternatives.iter().map(|one| &one.expr).collect(),
            None => vec![added],
        };
        all.into_iter().map(Expr::as_bytes).collect::<Option<Vec<&[u8]>>>().unwrap_or_default()
    }

    /// Returns the edit with another expression in place of what it adds.
    pub(crate) fn adding_instead(&self, other: &Expr) -> Candidate {
        let Some(added) = &self.added else { return self.clone() };
        let replaced = |expr: &Expr| {
            let mut expr = expr.clone();
            expr.each_mut(&mut |part| {
                if part.is_same(added) {
                    *part = other.clone();
                }
            });
            expr
        };
        Candidate { expr: replaced(&self.expr), part: replaced(&self.part), added: Some(other.clone()), ..self.clone() }
    }

    /// Returns the edited grammar.
    pub(crate) fn apply(&self, grammar: &Grammar) -> Grammar {
        self.place.with(grammar, self.expr.clone())
    }

    pub(crate) fn cost(&self) -> (usize, usize) {
        // One more alternative of many is as good as the second of two.
        (self.rank, self.added.as_ref().unwrap_or(&self.expr).size())
    }
}

/// Returns an expression as messages show it: in our EBNF, on one line, not too long.
pub(crate) fn shown(expr: &Expr) -> String {
    const MOST: usize = 60;
    let text = written(expr);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
