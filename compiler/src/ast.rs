//! The contents of a grammar file, in one form for all formats: rules of expressions with spans. Names are not resolved
//! yet.

use crate::diagnostics::Span;
use crate::limits::Limits;
use crate::ordered::{Map, Set};

mod contexts;
mod dump;
mod groups;
mod node;

pub(crate) use dump::{derived_text, value_text};
pub use dump::{dump, text};
pub use groups::SeenLabel;
pub use node::{Alternative, Expr, ExprKind, Rounds, Weight};

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

    /// Returns the kinds of names that are given, in the order in which they are met first.
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds = Vec::new();
        for rule in &self.rules {
            rule.body.each(&mut |expr| {
                if let Some(kind) = expr.as_naming().and_then(|(naming, _)| naming.given())
                    && !kinds.contains(&kind.text.as_str())
                {
                    kinds.push(&kind.text);
                }
            });
        }
        kinds
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
        for rule in &mut self.rules {
            rule.body.each_mut(&mut |expr| {
                let Some(alternatives) = expr.as_choice_mut() else { return };
                if alternatives.iter().any(Alternative::is_live) {
                    let weights = alternatives.iter_mut().filter_map(|one| one.weight.as_mut());
                    weights.filter(|weight| weight.value == 0.0).for_each(|weight| weight.value = Weight::ONLY_READ);
                }
            });
        }
    }

    /// Removes the weights. Alternatives of weight 0 are removed, all others become equally probable. A choice in which
    /// all alternatives have weight 0 stays as it is; [`crate::check`] reports it.
    pub fn drop_weights(&mut self) {
        fn without_weights(expr: &mut Expr) {
            if let Some(alternatives) = expr.as_choice_mut() {
                let is_off = |one: &Alternative| one.weight.is_some_and(|weight| weight.value == 0.0);
                if alternatives.iter().all(is_off) {
                    return;
                }
                alternatives.retain(|one| !is_off(one));
                alternatives.iter_mut().for_each(|one| one.weight = None);
            }
            expr.children_mut().for_each(without_weights);
        }
        self.rules.iter_mut().for_each(|rule| without_weights(&mut rule.body));
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
    /// The parameters. Each stands for a labelled part of the rule that refers to this one.
    pub parameters: Vec<Name>,
    /// The right-hand side; a [`ExprKind::Choice`] if the rule has more than one alternative or a weight.
    pub body: Expr,
}

impl Rule {
    /// Returns a rule without parameters.
    pub fn new(name: Name, body: Expr) -> Rule {
        Rule { name, parameters: Vec::new(), body }
    }
}

/// The deepest nesting of an expression. Every format refuses deeper ones (see [`crate::diagnostics::Code::TooDeep`]),
/// so the compiler may recurse over an expression. Rules may refer to each other to any depth.
pub const MAX_NESTING: u32 = 200;
