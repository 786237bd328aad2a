//! Lowers the Ast to the IR: resolves names, drops alternatives that are switched off, puts options into canonical
//! order. Nothing else makes an IR from an Ast.

use crate::analysis::alphabet::Alphabets;
use crate::analysis::least::{self, Calls, LabelLengths, Least};
use crate::ast::{Alternative, Expr, ExprKind, Rounds, Weight};
use crate::charset::CharSet;
use crate::check::Checked;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ir::{Facts, Field, Ir, KindId, Known, LabelId, NodeId, RuleId, Slots};
use crate::ordered::{Map, sort_by_key};
use crate::shape::{Law, Range, Weights, classes, places, ranges};
use crate::sources::{Repetition, Source, Sources};

mod calls;
mod labels;
mod names;

use labels::{Mirrored, Owner, Seen};

/// The most options of a site: it reads at most three choice bytes.
pub const MAX_OPTIONS: usize = 1 << 24;

/// The most nodes, and ranges of classes, that weights may add to a grammar by copies of what is repeated.
const MAX_COPIES: u64 = 1 << 20;

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
    if are_too_many(checked, weights) {
        diagnostics.push(
            Diagnostic::error(
                Code::TooLarge,
                None,
                "the weights of repetitions make too many copies of what is repeated",
            )
            .help("give fewer ranges of rounds to repetitions that contain others, or fewer groups to classes within"),
        );
        return None;
    }
    calls::lower_with_calls(checked, weights, diagnostics)
}

/// Lowers a grammar, given by how much references to rules with parameters are longer than if these were empty. Also
/// returns by how much they are.
fn lower_once(
    checked: &Checked<'_>,
    weights: &Weights,
    calls: &Calls,
    diagnostics: &mut Diagnostics,
) -> (Option<(Ir, Sources)>, Calls) {
    let grammar = checked.grammar;
    let least = match calls.is_empty() {
        true => checked.least().clone(),
        false => least::with_labels(grammar, &|name| checked.index.get(name).copied(), calls),
    };
    let Least { facts, lengths, rounds, uniques, .. } = least;
    let unknown = Facts { min_len: u64::MAX, height: u32::MAX, min_depth: u32::MAX };
    let rules =
        grammar.rules.iter().zip(&facts).map(|(rule, facts)| (rule.name.text.clone(), facts.unwrap_or(unknown)));
    let mut ir = Ir::new(rules, RuleId::new(checked.start));
    let kinds = grammar.kinds();
    ir.set_kinds(kinds.iter().map(ToString::to_string).collect(), uniques);
    let mut lowering = Lowering {
        ir,
        kinds: kinds.into_iter().zip((0..).map(KindId::new)).collect(),
        alphabets: Alphabets::new(grammar),
        checked,
        weights,
        calls,
        sources: Sources::default(),
        rule: 0,
        place: 0,
        class: 0,
        productive: facts.iter().map(Option::is_some).collect(),
        labels: Labels { lengths, rounds, ..Labels::default() },
        diagnostics,
        failed: false,
    };
    lowering.name_parameters();
    for (index, rule) in grammar.rules.iter().enumerate() {
        if lowering.productive[index] && checked.reachable[index] {
            (lowering.rule, lowering.place, lowering.class) = (index, 0, 0);
            lowering.see_parameters();
            let body = lowering.expr(&rule.body);
            lowering.labels.seen.clear();
            if let Some(body) = body {
                lowering.ir.set_body(RuleId::new(index), body);
            }
        }
    }
    lowering.check_lowered_names();
    lowering.check_across();
    lowering.check_calls();
    lowering.ir.bound_texts();
    if lowering.failed {
        return (None, Calls::default());
    }
    let longer = calls::longer_calls(&lowering.ir, &lowering.labels.calls.references);
    (Some((lowering.ir, lowering.sources)), longer)
}

/// Returns true if weights make too many copies of what is repeated.
pub(crate) fn are_too_many(checked: &Checked<'_>, weights: &Weights) -> bool {
    if !weights.iter().any(|(_, _, law)| matches!(law, Law::Rounds { .. })) {
        return false;
    }
    let without = Copies::of_grammar(checked, &Weights::default());
    Copies::of_grammar(checked, weights).saturating_sub(without) > MAX_COPIES
}

/// Counts the expressions of a rule after each range of rounds is written out; saturates.
struct Copies<'w> {
    weights: &'w Weights,
    rule: usize,
    place: u32,
    class: u32,
}

impl Copies<'_> {
    fn of_grammar(checked: &Checked<'_>, weights: &Weights) -> u64 {
        let rules = checked.grammar.rules.iter().enumerate();
        let copies = rules.map(|(rule, body)| Copies { weights, rule, place: 0, class: 0 }.of(&body.body));
        copies.fold(0, u64::saturating_add)
    }

    fn of(&mut self, expr: &Expr) -> u64 {
        match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Rule(_) | ExprKind::Derived(_) => 1,
            ExprKind::Times { item, .. }
            | ExprKind::Label { item, .. }
            | ExprKind::Naming { item, .. }
            | ExprKind::Coded { item, .. }
            | ExprKind::Call { item, .. } => self.of(item).saturating_add(1),
            ExprKind::Class(_) => {
                self.class += 1;
                let groups = self.weights.class(self.rule, self.class - 1).unwrap_or_default();
                groups.iter().map(|group| 1 + group.ranges.len() as u64).sum::<u64>().saturating_add(1)
            }
            ExprKind::Seq(items) => items.iter().fold(1, |sum, item| self.of(item).saturating_add(sum)),
            ExprKind::Choice(alternatives) => {
                self.place += 1;
                alternatives.iter().fold(1, |sum, one| self.of(&one.expr).saturating_add(sum))
            }
            ExprKind::Repeat { item, min, max } => {
                let copies = match self.weights.get(self.rule, self.place) {
                    Some(Law::Rounds { starts, steps, .. }) => {
                        let room = max.map(|max| max.saturating_sub(*min));
                        ranges(starts, steps, room).map(|range| range.copies()).sum()
                    }
                    _ => 1,
                };
                self.place += 1;
                self.of(item).saturating_mul(copies).saturating_add(copies)
            }
        }
    }
}

/// The labels of a grammar.
#[derive(Default)]
struct Labels {
    /// The least lengths of labelled parts, and the least numbers of their rounds.
    lengths: LabelLengths,
    rounds: LabelLengths,
    /// The labels that are seen, the fields of each open scope, and the number of labels so far.
    seen: Vec<Seen>,
    fields: Vec<Vec<Field>>,
    count: u32,
    /// The parts that others follow from, with their places.
    measured: Vec<(NodeId, Span)>,
    /// The labels whose parts are declared as names, and the items of repetitions that can be empty, with their places.
    declared: Vec<(Known, Span)>,
    empty_rounds: Vec<(NodeId, Span)>,
    /// The number of codings around what is lowered, and the parts outside them on whose bytes something in them
    /// follows.
    codings: usize,
    across: Vec<(LabelId, Span)>,
    calls: calls::Parameters,
    /// The repetitions of open sequences whose rounds are mirrored.
    mirrored: Vec<Mirrored>,
    /// The number of the scope of the mirror around what is lowered; 0 if there is none.
    mirror: usize,
    /// The sequences that are being lowered, and the addresses of their open groups.
    owners: Vec<Owner>,
    open_groups: Vec<usize>,
}

struct Lowering<'g, 'd> {
    ir: Ir,
    checked: &'g Checked<'g>,
    weights: &'g Weights,
    calls: &'g Calls,
    sources: Sources,
    /// The current rule, and the numbers of its next place and of its next class.
    rule: usize,
    place: u32,
    class: u32,
    productive: Vec<bool>,
    labels: Labels,
    kinds: Map<&'g str, KindId>,
    alphabets: Alphabets<'g>,
    diagnostics: &'d mut Diagnostics,
    failed: bool,
}

impl Lowering<'_, '_> {
    /// Returns the node of an expression. `None` if it derives no finite string.
    fn expr(&mut self, expr: &Expr) -> Option<NodeId> {
        match &expr.kind {
            ExprKind::Bytes(bytes) => Some(self.ir.bytes(bytes.as_slice())),
            ExprKind::Class(set) => self.class(expr, set),
            ExprKind::Rule(name) => {
                let rule = *self.checked.index.get(name.as_str())?;
                self.productive[rule].then(|| self.ir.reference(RuleId::new(rule)))
            }
            ExprKind::Seq(_) | ExprKind::Label { .. } | ExprKind::Coded { .. } => self.sequence(expr),
            ExprKind::Derived(derived) => self.derived(expr, derived),
            ExprKind::Times { item, rounds, .. } => self.times(expr.as_mirror().map(|(label, _)| label), item, rounds),
            ExprKind::Naming { naming, item } => self.naming(naming, item),
            ExprKind::Call { arguments, item } => self.call(expr.span.start, arguments, item),
            ExprKind::Choice(alternatives) => self.alternatives(expr, alternatives),
            ExprKind::Repeat { item, min, max } => self.repeat(expr, Rounds { item, min: *min, max: *max }, true),
        }
    }

    /// Returns a repetition; with weights for its number of rounds, a choice among ranges.
    fn repeat(&mut self, expr: &Expr, rounds: Rounds<'_>, is_weighted: bool) -> Option<NodeId> {
        let Rounds { item, min, max } = rounds;
        let place = self.place;
        self.place += 1;
        match self.weights.get(self.rule, place).filter(|_| is_weighted) {
            Some(Law::Rounds { starts, steps, weights }) if max.is_none_or(|max| max > min) => {
                let ranges = ranges(starts, steps, max.map(|max| max - min));
                self.ranges(expr, item, min, ranges.zip(weights.iter().copied()))
            }
            _ => match self.rounds(item, max) {
                Some(repeated) => {
                    if self.ir.facts(repeated).min_len == 0 && !self.kinds.is_empty() {
                        self.labels.empty_rounds.push((repeated, item.span));
                    }
                    let node = self.ir.repeat(repeated, min, max);
                    if max.is_none_or(|max| max > min) {
                        let (rule, room) = (RuleId::new(self.rule), max.map(|max| max - min));
                        let is_nested = places(item) > 0;
                        self.sources.add_repetition(node, Repetition { rule, place, room, is_nested });
                    }
                    Some(node)
                }
                // A round without a finite string cannot be chosen.
                None => (min == 0).then(|| self.ir.empty()),
            },
        }
    }

    /// Returns the node of a round. Numbers in rounds that there never are bound nothing.
    fn rounds(&mut self, item: &Expr, max: Option<u32>) -> Option<NodeId> {
        let before: Vec<usize> = self.labels.fields.iter().map(Vec::len).collect();
        let round = self.expr(item);
        if max == Some(0) {
            self.labels.fields.iter_mut().zip(before).for_each(|(fields, before)| fields.truncate(before));
        }
        round
    }

    /// Returns a class; with weights for its members, a choice of groups.
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

    /// Returns a repetition with weights for its number of rounds: a choice among ranges.
    fn ranges(
        &mut self,
        expr: &Expr,
        item: &Expr,
        min: u32,
        ranges: impl Iterator<Item = (Range, u32)>,
    ) -> Option<NodeId> {
        let first = (self.place, self.class);
        let mut options = Vec::new();
        for (range, weight) in ranges {
            if let Some(option) = self.range(item, min, range) {
                options.push((option, f64::from(weight)));
            }
        }
        (self.place, self.class) = (first.0 + places(item), first.1 + classes(item));
        if options.is_empty() {
            return (min == 0).then(|| self.ir.empty());
        }
        self.choice(expr, options, true).map(|(node, _)| node)
    }

    /// Returns a range of rounds. With a step of 8: the start, `(item{8})*`, then `(item{4})? (item{2})? item?`, which
    /// makes each number below 8 equally probable. The place stays before the item.
    fn range(&mut self, item: &Expr, min: u32, range: Range) -> Option<NodeId> {
        let least = min.saturating_add(range.start);
        if range.step == 1 {
            let copy = self.copy(item)?;
            return Some(self.ir.repeat(copy, least, range.last.map(|last| min.saturating_add(last))));
        }
        let mut parts = Vec::new();
        if least > 0 {
            let copy = self.copy(item)?;
            parts.push(self.ir.repeat(copy, least, Some(least)));
        }
        let bits = (0..range.step.ilog2()).rev().map(|bit| (1 << bit, Some(1)));
        for (rounds, most) in [(range.step, range.more_blocks())].into_iter().chain(bits) {
            if most != Some(0) {
                let copy = self.copy(item)?;
                let block = self.ir.repeat(copy, rounds, Some(rounds));
                parts.push(self.ir.repeat(block, 0, most));
            }
        }
        Some(self.ir.seq(parts))
    }

    /// Returns a copy of an expression, with the same places.
    fn copy(&mut self, item: &Expr) -> Option<NodeId> {
        let first = (self.place, self.class);
        let node = self.expr(item);
        (self.place, self.class) = first;
        node
    }

    /// Returns a choice in canonical order, and the option at each place. `whole` weights become slots directly if
    /// their sum allows it.
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
