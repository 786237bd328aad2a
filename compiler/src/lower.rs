//! The only door from the Ast to the IR: resolves names, drops alternatives of weight 0, puts options into canonical order.

use crate::analysis::least;
use crate::ast::{Expr, ExprKind};
use crate::check::Checked;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::ir::{Facts, Ir, NodeId, RuleId, Slots};

/// A site reads at most three choice bytes, so it has at most this many options.
pub const MAX_OPTIONS: usize = 1 << 24;

/// Lowers a checked grammar. Rules that the start rule does not reach get no body.
///
/// # Errors
///
/// Pushes an error for each choice with more options than a site can have, and returns `None`.
pub fn lower(checked: &Checked<'_>, diagnostics: &mut Diagnostics) -> Option<Ir> {
    let grammar = checked.grammar;
    let facts = least::of_grammar(grammar, &|name| checked.index.get(name).copied());
    let unknown = Facts { min_len: u64::MAX, height: u32::MAX, min_depth: u32::MAX };
    let rules =
        grammar.rules.iter().zip(&facts).map(|(rule, facts)| (rule.name.text.clone(), facts.unwrap_or(unknown)));
    let mut lowering = Lowering {
        ir: Ir::new(rules, RuleId::new(checked.start)),
        checked,
        productive: facts.iter().map(Option::is_some).collect(),
        diagnostics,
        failed: false,
    };
    for (index, rule) in grammar.rules.iter().enumerate() {
        if lowering.productive[index] && checked.reachable[index] {
            let body = lowering.expr(&rule.body);
            if let Some(body) = body {
                lowering.ir.set_body(RuleId::new(index), body);
            }
        }
    }
    (!lowering.failed).then_some(lowering.ir)
}

struct Lowering<'g, 'd> {
    ir: Ir,
    checked: &'g Checked<'g>,
    productive: Vec<bool>,
    diagnostics: &'d mut Diagnostics,
    failed: bool,
}

impl Lowering<'_, '_> {
    /// The node of an expression; `None` if it derives no finite string.
    fn expr(&mut self, expr: &Expr) -> Option<NodeId> {
        match &expr.kind {
            ExprKind::Bytes(bytes) => Some(self.ir.bytes(bytes.as_slice())),
            ExprKind::Class(set) if set.is_empty() => None,
            ExprKind::Class(set) => Some(self.ir.class(set.clone())),
            ExprKind::Rule(name) => {
                let rule = *self.checked.index.get(name.as_str())?;
                self.productive[rule].then(|| self.ir.reference(RuleId::new(rule)))
            }
            ExprKind::Seq(items) => {
                let items: Option<Vec<NodeId>> = items.iter().map(|item| self.expr(item)).collect();
                Some(self.ir.seq(items?))
            }
            ExprKind::Choice(alternatives) => {
                let mut options: Vec<(NodeId, f64)> = Vec::with_capacity(alternatives.len());
                for alternative in alternatives {
                    let weight = alternative.weight.map_or(1.0, |weight| weight.value);
                    if weight > 0.0
                        && let Some(option) = self.expr(&alternative.expr)
                    {
                        options.push((option, weight));
                    }
                }
                self.choice(expr, options)
            }
            ExprKind::Repeat { item, min, max } => {
                match self.expr(item) {
                    Some(item) => Some(self.ir.repeat(item, *min, *max)),
                    // Rounds that never end cannot be chosen.
                    None => (*min == 0).then(|| self.ir.empty()),
                }
            }
        }
    }

    fn choice(&mut self, expr: &Expr, mut options: Vec<(NodeId, f64)>) -> Option<NodeId> {
        if options.len() > MAX_OPTIONS {
            self.failed = true;
            let message = format!("{} alternatives, but a choice can have at most {MAX_OPTIONS}", options.len());
            self.diagnostics.push(
                Diagnostic::error(Code::TooLarge, expr.span, message).help("split the alternatives over several rules"),
            );
            return None;
        }
        // The sort is stable: source order decides last.
        options.sort_by_key(|&(option, _)| {
            let facts = self.ir.facts(option);
            (facts.min_len, facts.height)
        });
        let first = options.first()?.1;
        let slots = match options.iter().all(|&(_, weight)| weight == first) {
            true => None,
            // There are never more options than 2^24 slots.
            false => Slots::from_weights(&options.iter().map(|&(_, weight)| weight).collect::<Vec<_>>()),
        };
        Some(self.ir.choice(options.into_iter().map(|(option, _)| option).collect::<Vec<_>>(), slots))
    }
}
