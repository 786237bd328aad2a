//! The contents of a grammar file, in one form for all formats: rules of expressions with spans. Names are not resolved
//! yet.

use crate::charset::CharSet;
use crate::diagnostics::Span;
use crate::limits::Limits;
use crate::ordered::{Map, Set};

mod contexts;
mod dump;

pub use dump::dump;

/// A grammar as written: its rules in source order and its directives.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    /// The rules, in source order. Duplicates are still here; [`crate::check`] reports them.
    pub rules: Vec<Rule>,
    /// The start rule that the file names. Without one, the first rule is the start.
    pub start: Option<Name>,
    /// The limit on the depth that the file asks for, if any.
    pub max_depth: Option<u32>,
    /// The limit on the output length in bytes that the file asks for, if any.
    pub max_len: Option<u64>,
    /// Rules that the format has folded into classes (`Char - '<'`). They count as used, though no expression refers to
    /// them.
    pub class_rules: Set<String>,
    /// The user's names of rules that were derived from other rules, such as `a` for `a.2`. Messages use these names.
    pub origins: Map<String, String>,
    /// Rules that the format made and that have no name of the user's. Nothing is said of those that are not reached.
    pub made: Set<String>,
}

impl Grammar {
    /// Returns the user's name of a rule.
    pub fn told<'n>(&'n self, name: &'n str) -> &'n str {
        self.origins.get(name).map_or(name, String::as_str)
    }

    /// Notes that only rules of these names are the user's.
    #[must_use]
    pub fn with_own(mut self, is_own: impl Fn(&str) -> bool) -> Grammar {
        let names = self.rules.iter().map(|rule| &rule.name.text);
        self.made = names.filter(|name| !is_own(self.told(name))).cloned().collect();
        self
    }

    /// Returns the limits that the file asks for.
    pub fn directives(&self) -> Limits {
        Limits { max_depth: self.max_depth, max_len: self.max_len }
    }

    /// Keeps the alternatives of weight 0 next to others: texts may have them, generated inputs hardly ever do.
    pub fn keep_zero_weights(&mut self) {
        self.rules.iter_mut().for_each(|rule| rule.body.keep_zero_weights());
    }

    /// Removes the weights. Alternatives of weight 0 are removed, all others become equally probable. A choice in which
    /// all alternatives have weight 0 stays as it is; [`crate::check`] reports it.
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
    /// The kind of expression.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

impl Expr {
    /// Keeps alternatives of weight 0; see [`Grammar::keep_zero_weights`].
    fn keep_zero_weights(&mut self) {
        match &mut self.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => {}
            ExprKind::Seq(items) => items.iter_mut().for_each(Expr::keep_zero_weights),
            ExprKind::Repeat { item, .. } => item.keep_zero_weights(),
            ExprKind::Choice(alternatives) => {
                let is_reported = !alternatives.iter().any(Alternative::is_live);
                for alternative in alternatives {
                    if let Some(weight) =
                        alternative.weight.as_mut().filter(|weight| weight.value == 0.0 && !is_reported)
                    {
                        weight.value = Weight::ONLY_READ;
                    }
                    alternative.expr.keep_zero_weights();
                }
            }
        }
    }

    /// Calls `visit` with the name of each rule that is referred to, in order.
    pub fn each_reference(&self, visit: &mut dyn FnMut(&str)) {
        match &self.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) => {}
            ExprKind::Rule(name) => visit(name),
            ExprKind::Seq(items) => items.iter().for_each(|item| item.each_reference(visit)),
            ExprKind::Choice(options) => options.iter().for_each(|option| option.expr.each_reference(visit)),
            ExprKind::Repeat { item, .. } => item.each_reference(visit),
        }
    }

    /// Drops the weights; see [`Grammar::drop_weights`].
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

/// The kinds of expressions. Formats translate their own notations (negated classes, differences, escapes) to these.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Literal bytes, which may be empty. Text is UTF-8.
    Bytes(Vec<u8>),
    /// One member of a set of bytes or of characters. If it is empty, the format has reported that already.
    Class(CharSet),
    /// A reference to a rule by name.
    Rule(String),
    /// Expressions one after the other. The empty sequence derives the empty string.
    Seq(Vec<Expr>),
    /// One of several alternatives.
    Choice(Vec<Alternative>),
    /// `item` at least `min` and, if given, at most `max` times.
    Repeat {
        /// The repeated expression.
        item: Box<Expr>,
        /// The least number of rounds.
        min: u32,
        /// The greatest number of rounds. `None` means no bound.
        max: Option<u32>,
    },
}

/// One alternative of a choice.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The expression of the alternative.
    pub expr: Expr,
    /// Its weight if written; alternatives without one count as 1. Finite and not negative (the format checks).
    pub weight: Option<Weight>,
}

impl Alternative {
    /// Returns true if it belongs to the language: weight 0 switches it off.
    pub fn is_live(&self) -> bool {
        self.weight.is_none_or(|weight| weight.value > 0.0)
    }

    /// Returns true if inputs are meant to have it: it is live, and not only because texts may have it.
    pub fn is_generated(&self) -> bool {
        self.weight.is_none_or(|weight| weight.value > Weight::ONLY_READ)
    }
}

/// A weight with its place.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    /// Relative probability; 0 switches the alternative off.
    pub value: f64,
    /// Its place.
    pub span: Span,
}

impl Weight {
    /// The value of an alternative that texts may have and generated inputs do not.
    pub const ONLY_READ: f64 = f64::MIN_POSITIVE;
}

/// The deepest nesting of an expression. Every format refuses deeper ones (see [`crate::diagnostics::Code::TooDeep`]),
/// so the compiler may recurse over an expression. Rules may refer to each other to any depth.
pub const MAX_NESTING: u32 = 200;
