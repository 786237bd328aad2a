//! What a grammar file says, in one shape for all formats: rules of expressions, with spans, nothing resolved yet.

use crate::charset::CharSet;
use crate::diagnostics::Span;
use crate::limits::Limits;
use crate::ordered::{Map, Set};

mod dump;

pub use dump::dump;

/// A grammar as written: its rules in source order and its directives.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    /// The rules, in source order. Duplicates are still here; [`crate::check`] reports them.
    pub rules: Vec<Rule>,
    /// The start rule if the file names one; else the first rule is the start.
    pub start: Option<Name>,
    /// The limit on the depth that the file asks for, if any.
    pub max_depth: Option<u32>,
    /// The limit on the output length in bytes that the file asks for, if any.
    pub max_len: Option<u64>,
    /// Rules that the format has folded into classes (`Char - '<'`): in use, though no expression refers to them.
    pub class_rules: Set<String>,
    /// For rules that were made of another one, such as `a.2` of `a`, the name that the user knows. Messages say it.
    pub origins: Map<String, String>,
}

impl Grammar {
    /// The name that the user knows a rule by.
    pub fn told<'n>(&'n self, name: &'n str) -> &'n str {
        self.origins.get(name).map_or(name, String::as_str)
    }

    /// The limits that the file asks for.
    pub fn directives(&self) -> Limits {
        Limits { max_depth: self.max_depth, max_len: self.max_len }
    }

    /// Leaves the weights out: an alternative of weight 0 goes, all others become equally probable. A choice among nothing but
    /// such alternatives stays as it is; [`crate::check`] reports it.
    pub fn drop_weights(&mut self) {
        self.rules.iter_mut().for_each(|rule| rule.body.drop_weights());
    }
}

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name without the marks of the format (no angle brackets).
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// One rule: a name and what it derives.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name.
    pub name: Name,
    /// The right-hand side; a [`ExprKind::Choice`] if the rule has more than one alternative or a weight.
    pub body: Expr,
}

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

impl Expr {
    /// See [`Grammar::drop_weights`].
    fn drop_weights(&mut self) {
        match &mut self.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => {}
            ExprKind::Seq(items) => items.iter_mut().for_each(Expr::drop_weights),
            ExprKind::Repeat { item, .. } => item.drop_weights(),
            ExprKind::Choice(alternatives) => {
                let is_off = |alternative: &Alternative| alternative.weight.is_some_and(|weight| weight.value == 0.0);
                if alternatives.iter().all(is_off) {
                    return;
                }
                alternatives.retain(|alternative| !is_off(alternative));
                for alternative in alternatives {
                    alternative.weight = None;
                    alternative.expr.drop_weights();
                }
            }
        }
    }
}

/// The kinds of expressions. Formats resolve their own sugar (negated classes, differences, escapes) before.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Literal bytes (text is UTF-8); may be empty.
    Bytes(Vec<u8>),
    /// One member of a set of bytes or of characters; the format has reported it already if it is empty.
    Class(CharSet),
    /// A reference to a rule by name.
    Rule(String),
    /// One after the other; the empty sequence derives the empty string.
    Seq(Vec<Expr>),
    /// One of several alternatives.
    Choice(Vec<Alternative>),
    /// `item` at least `min` and, if given, at most `max` times.
    Repeat {
        /// What is repeated.
        item: Box<Expr>,
        /// The least number of rounds.
        min: u32,
        /// The greatest number of rounds; `None` has no bound.
        max: Option<u32>,
    },
}

/// One alternative of a choice.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// What it derives.
    pub expr: Expr,
    /// Its weight if written; alternatives without one count as 1. Finite and not negative (the format checks).
    pub weight: Option<Weight>,
}

/// A weight with its place.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    /// Relative probability; 0 switches the alternative off.
    pub value: f64,
    /// Its place.
    pub span: Span,
}

/// Expressions nested deeper than this are refused by every format (see [`crate::diagnostics::Code::TooDeep`]), so that
/// the compiler may recurse over an expression. Rules may refer to each other to any depth.
pub const MAX_NESTING: u32 = 200;
