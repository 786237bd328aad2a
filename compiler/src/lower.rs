//! Lowers the Ast to the IR: resolves names, drops alternatives that are switched off, puts options into canonical
//! order. Nothing else makes an IR from an Ast.

use crate::analysis::least;
use crate::ast::{Alternative, Expr, ExprKind, Weight};
use crate::charset::CharSet;
use crate::check::Checked;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::ir::{Facts, Ir, NodeId, RuleId, Slots};
use crate::ordered::sort_by_key;
use crate::shape::{Law, Weights, classes, last_rounds, places};
use crate::sources::{Repetition, Source, Sources};

/// The most options of a site: it reads at most three choice bytes.
pub const MAX_OPTIONS: usize = 1 << 24;

/// The most nodes for repetitions with weights for their numbers of rounds.
const MAX_COPIES: u64 = 1 << 22;

/// Lowers a checked grammar with its own weights. Rules that the start rule does not reach get no body.
///
/// # Errors
///
/// Pushes an error for each choice with more options than a site can have, and returns `None`.
pub fn lower(checked: &Checked<'_>, diagnostics: &mut Diagnostics) -> Option<Ir> {
    lower_weighted(checked, &Weights::default(), diagnostics).map(|(ir, _)| ir)
}

/// Lowers a checked grammar with these weights in place of its own. Also returns the source of each choice in the
/// result.
///
/// # Errors
///
/// As for [`lower`], and if the weights make the grammar too large.
pub fn lower_weighted(
    checked: &Checked<'_>,
    weights: &Weights,
    diagnostics: &mut Diagnostics,
) -> Option<(Ir, Sources)> {
    if copies(checked, weights) > MAX_COPIES {
        diagnostics.push(
            Diagnostic::error(
                Code::TooLarge,
                None,
                "the weights of repetitions within repetitions make too many copies",
            )
            .help("give fewer ranges of rounds to repetitions that contain others"),
        );
        return None;
    }
    let grammar = checked.grammar;
    let facts = least::of_grammar(grammar, &|name| checked.index.get(name).copied());
    let unknown = Facts { min_len: u64::MAX, height: u32::MAX, min_depth: u32::MAX };
    let rules =
        grammar.rules.iter().zip(&facts).map(|(rule, facts)| (rule.name.text.clone(), facts.unwrap_or(unknown)));
    let mut lowering = Lowering {
        ir: Ir::new(rules, RuleId::new(checked.start)),
        checked,
        weights,
        sources: Sources::default(),
        rule: 0,
        place: 0,
        class: 0,
        productive: facts.iter().map(Option::is_some).collect(),
        diagnostics,
        failed: false,
    };
    for (index, rule) in grammar.rules.iter().enumerate() {
        if lowering.productive[index] && checked.reachable[index] {
            (lowering.rule, lowering.place, lowering.class) = (index, 0, 0);
            let body = lowering.expr(&rule.body);
            if let Some(body) = body {
                lowering.ir.set_body(RuleId::new(index), body);
            }
        }
    }
    (!lowering.failed).then_some((lowering.ir, lowering.sources))
}

/// The number of expressions after each range of rounds is written out, if there are any; saturates.
fn copies(checked: &Checked<'_>, weights: &Weights) -> u64 {
    fn of(expr: &Expr, rule: usize, place: &mut u32, weights: &Weights) -> u64 {
        match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => 1,
            ExprKind::Seq(items) => {
                items.iter().fold(1u64, |sum, item| sum.saturating_add(of(item, rule, place, weights)))
            }
            ExprKind::Choice(alternatives) => {
                *place += 1;
                let sizes = alternatives.iter().map(|one| of(&one.expr, rule, place, weights));
                sizes.fold(1u64, u64::saturating_add)
            }
            ExprKind::Repeat { item, .. } => {
                let ranges = match weights.get(rule, *place) {
                    Some(Law::Rounds { starts, .. }) => starts.len() as u64,
                    _ => 1,
                };
                *place += 1;
                of(item, rule, place, weights).saturating_mul(ranges).saturating_add(1)
            }
        }
    }
    if !weights.iter().any(|(_, _, law)| matches!(law, Law::Rounds { .. })) {
        return 0;
    }
    let rules = checked.grammar.rules.iter().enumerate();
    rules.fold(0, |sum: u64, (index, rule)| sum.saturating_add(of(&rule.body, index, &mut 0, weights)))
}

struct Lowering<'g, 'd> {
    ir: Ir,
    checked: &'g Checked<'g>,
    weights: &'g Weights,
    sources: Sources,
    /// The current rule, and the numbers of its next place and of its next class.
    rule: usize,
    place: u32,
    class: u32,
    productive: Vec<bool>,
    diagnostics: &'d mut Diagnostics,
    failed: bool,
}

impl Lowering<'_, '_> {
    /// The node of an expression. `None` if it derives no finite string.
    fn expr(&mut self, expr: &Expr) -> Option<NodeId> {
        match &expr.kind {
            ExprKind::Bytes(bytes) => Some(self.ir.bytes(bytes.as_slice())),
            ExprKind::Class(set) => self.class(expr, set),
            ExprKind::Rule(name) => {
                let rule = *self.checked.index.get(name.as_str())?;
                self.productive[rule].then(|| self.ir.reference(RuleId::new(rule)))
            }
            ExprKind::Seq(items) => {
                let items: Option<Vec<NodeId>> = items.iter().map(|item| self.expr(item)).collect();
                Some(self.ir.seq(items?))
            }
            ExprKind::Choice(alternatives) => self.alternatives(expr, alternatives),
            ExprKind::Repeat { item, min, max } => {
                let place = self.place;
                self.place += 1;
                match self.weights.get(self.rule, place) {
                    Some(Law::Rounds { starts, weights }) if max.is_none_or(|max| max > *min) => {
                        self.ranges(expr, item, (*min, *max), starts, weights)
                    }
                    _ => match self.expr(item) {
                        Some(repeated) => {
                            let node = self.ir.repeat(repeated, *min, *max);
                            if max.is_none_or(|max| max > *min) {
                                let (rule, room) = (RuleId::new(self.rule), max.map(|max| max - min));
                                let is_nested = places(item) > 0;
                                self.sources.add_repetition(node, Repetition { rule, place, room, is_nested });
                            }
                            Some(node)
                        }
                        // A round without a finite string cannot be chosen.
                        None => (*min == 0).then(|| self.ir.empty()),
                    },
                }
            }
        }
    }

    /// A class; with weights for its members, a choice of groups.
    fn class(&mut self, expr: &Expr, set: &CharSet) -> Option<NodeId> {
        let number = self.class;
        self.class += 1;
        if set.is_empty() {
            return None;
        }
        let Some(groups) = self.weights.class(self.rule, number) else {
            let node = self.ir.class(set.clone());
            if set.len() > 1 {
                self.sources.add_class(node, RuleId::new(self.rule), number);
            }
            return Some(node);
        };
        let options = groups.iter().map(|group| {
            let members = CharSet::new(set.unit(), group.ranges.iter().copied());
            (self.ir.class(members), f64::from(group.weight))
        });
        let options = options.collect();
        self.choice(expr, options, true).map(|(node, _)| node)
    }

    fn alternatives(&mut self, expr: &Expr, alternatives: &[Alternative]) -> Option<NodeId> {
        let place = self.place;
        self.place += 1;
        let whole = match self.weights.get(self.rule, place) {
            Some(Law::Choice(weights)) => Some(weights),
            _ => None,
        };
        let mut options: Vec<(NodeId, f64)> = Vec::with_capacity(alternatives.len());
        let mut numbers = Vec::with_capacity(alternatives.len());
        for (number, alternative) in alternatives.iter().enumerate() {
            let own = alternative.weight.map_or(1.0, |weight| weight.value);
            let asked = whole.map_or(own, |weights| f64::from(weights.get(number).copied().unwrap_or(0)));
            // An alternative that is live but not asked for can still be read.
            let weight = if asked > Weight::ONLY_READ { asked } else { 0.0 };
            let first = (self.place, self.class);
            if own > 0.0
                && let Some(option) = self.expr(&alternative.expr)
            {
                options.push((option, weight));
                numbers.push((number as u32, alternative.expr.span));
            } else {
                self.place = first.0 + places(&alternative.expr);
                self.class = first.1 + classes(&alternative.expr);
            }
        }
        let (node, order) = self.choice(expr, options, whole.is_some())?;
        if order.len() > 1 {
            let of = alternatives.len() as u32;
            let alternatives = order.into_iter().map(|option| numbers[option]).collect();
            self.sources.add(node, Source { rule: RuleId::new(self.rule), place, alternatives, of });
        }
        Some(node)
    }

    /// A repetition with weights for its number of rounds: a choice among ranges.
    fn ranges(
        &mut self,
        expr: &Expr,
        item: &Expr,
        (min, max): (u32, Option<u32>),
        starts: &[u32],
        weights: &[u32],
    ) -> Option<NodeId> {
        let first = (self.place, self.class);
        let mut options = Vec::with_capacity(starts.len());
        let room = max.map(|max| max - min);
        for ((start, last), &weight) in last_rounds(starts, room).zip(weights) {
            // Each range has a copy of the item, with the same places.
            (self.place, self.class) = first;
            let Some(item) = self.expr(item) else { continue };
            let rounds = |further: u32| min.saturating_add(further);
            options.push((self.ir.repeat(item, rounds(start), last.map(rounds)), f64::from(weight)));
        }
        (self.place, self.class) = (first.0 + places(item), first.1 + classes(item));
        if options.is_empty() {
            return (min == 0).then(|| self.ir.empty());
        }
        self.choice(expr, options, true).map(|(node, _)| node)
    }

    /// A choice in canonical order, and the option at each place. `whole` weights become slots directly if their sum
    /// allows it.
    fn choice(&mut self, expr: &Expr, options: Vec<(NodeId, f64)>, whole: bool) -> Option<(NodeId, Vec<usize>)> {
        if options.len() > MAX_OPTIONS {
            self.failed = true;
            let message = format!("{} alternatives, but a choice can have at most {MAX_OPTIONS}", options.len());
            self.diagnostics.push(
                Diagnostic::error(Code::TooLarge, expr.span, message).help("split the alternatives over several rules"),
            );
            return None;
        }
        let mut order: Vec<usize> = (0..options.len()).collect();
        // The sort is stable: source order decides last.
        sort_by_key(&mut order, |&option| {
            let facts = self.ir.facts(options[option].0);
            (facts.min_len, facts.height)
        });
        let weights: Vec<f64> = order.iter().map(|&option| options[option].1).collect();
        let first = *weights.first()?;
        // There are never more than 2^24 options, so there are enough slots.
        let slots = match weights.iter().all(|&weight| weight == first) {
            true => None,
            false if whole => Slots::from_whole(&weights.iter().map(|&weight| weight as u32).collect::<Vec<_>>()),
            false => Slots::from_weights(&weights),
        };
        let nodes: Vec<NodeId> = order.iter().map(|&option| options[option].0).collect();
        Some((self.ir.choice(nodes, slots), order))
    }
}
