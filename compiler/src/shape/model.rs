//! A model of the lengths and depths of a grammar's derivations: its decisions, with the consequences of each option.

use std::cell::Cell;

use crate::analysis::recursion::{Recursion, References, components};
use crate::ast::{Expr, ExprKind};
use crate::charset::{CharSet, Unit};
use crate::check::Checked;
use crate::ir::{Facts, RuleId};

use super::flat::Flat;
use super::tape::Tape;
pub(crate) use super::term::{Laws, Term};
use super::weights::{self, Weights, ranges};

/// A place in the grammar with a decision.
pub(crate) struct Decision {
    /// The rule of the place.
    pub rule: usize,
    /// The number of the place in its rule.
    pub place: u32,
    pub kind: Kind,
    /// The grammar's own probabilities.
    pub prior: Vec<f64>,
}

pub(crate) enum Kind {
    /// One of several alternatives. `alternatives` are the numbers of those that can be taken, `of` is the number of
    /// all.
    Choice { alternatives: Vec<usize>, of: usize },
    /// The number of rounds beyond the minimum.
    Rounds {
        room: Option<u32>,
        starts: Vec<u32>,
        steps: Vec<u32>,
        /// Whether rounds contain instances of rules.
        has_rules: bool,
        /// The length of the shortest round.
        least: u64,
    },
}

/// The reachable part of a grammar.
pub(crate) struct Model {
    pub start: usize,
    /// The term of each rule. `None` for unreachable rules.
    pub rules: Vec<Option<Term>>,
    pub decisions: Vec<Decision>,
    pub recursion: Recursion,
    /// The terms of all rules in one list.
    pub flat: Flat,
    /// The terms of all rules as instructions.
    pub tape: Tape,
    /// The place of each reachable rule in its component.
    places: Vec<u32>,
    /// The number of alternatives in all choices.
    pub alternatives: usize,
    /// The work so far, in terms.
    work: Cell<u64>,
    /// The work that an evaluated term counts for.
    cost: u64,
}

/// The limit on the work. At the limit, the best solution so far is used, so that hostile grammars do not take hours.
const MOST_WORK: u64 = 1 << 28;
/// Grammars with more rules don't fit into the processor's caches. So a term takes longer to evaluate, up to eight
/// times as long.
const CACHED_RULES: usize = 1 << 13;

impl Model {
    /// Returns the decisions of a grammar. The priors are its own weights, or equal. Alternatives that are only for
    /// texts are left out, unless `weights` has them.
    pub fn new(checked: &Checked<'_>, own_weights: bool, weights: &Weights) -> Model {
        let mut builder = Builder {
            checked,
            own_weights,
            weights,
            facts: &checked.least().facts,
            rule: 0,
            place: 0,
            decisions: Vec::new(),
            references: Vec::new(),
        };
        let mut lists = Vec::with_capacity(checked.grammar.rules.len());
        let mut rules = Vec::with_capacity(checked.grammar.rules.len());
        for (index, rule) in checked.grammar.rules.iter().enumerate() {
            (builder.rule, builder.place) = (index, 0);
            rules.push(checked.reachable[index].then(|| builder.term(&rule.body)));
            lists.push(std::mem::take(&mut builder.references));
        }
        let references = References::of_lists(lists);
        let alternatives = builder.decisions.iter().map(|decision| match &decision.kind {
            Kind::Choice { alternatives, .. } => alternatives.len(),
            Kind::Rounds { .. } => 0,
        });
        let recursion = components(&references, [RuleId::new(checked.start)]);
        Model {
            start: checked.start,
            flat: Flat::new(&rules),
            tape: Tape::new(&rules),
            places: places(&recursion, rules.len()),
            rules,
            alternatives: alternatives.sum(),
            decisions: builder.decisions,
            work: Cell::new(0),
            cost: (checked.grammar.rules.len() / CACHED_RULES).clamp(1, 8) as u64,
            recursion,
        }
    }

    /// Counts work.
    pub fn work(&self, terms: usize) {
        self.work.set(self.work.get().saturating_add((terms as u64).saturating_mul(self.cost)));
    }

    /// Returns true if the limit on the work is reached.
    pub fn is_exhausted(&self) -> bool {
        self.work.get() > MOST_WORK
    }

    /// Returns the grammar's own probabilities.
    pub fn priors(&self) -> Laws {
        self.decisions.iter().map(|decision| decision.prior.clone()).collect()
    }

    pub fn is_recursive(&self, rule: usize) -> bool {
        self.recursion.is_recursive(RuleId::new(rule))
    }

    /// Returns true if any rule derives itself.
    pub fn has_recursion(&self) -> bool {
        self.recursion.bottom_up().iter().any(|&rule| self.recursion.is_recursive(rule))
    }

    /// Returns the reachable rules by component. A component stands after those that it refers to.
    pub fn components(&self) -> impl Iterator<Item = &[RuleId]> {
        self.recursion.bottom_up().chunk_by(|&a, &b| self.recursion.same_component(a, b))
    }

    /// Returns the place of a reachable rule in its component.
    #[inline]
    pub fn place(&self, rule: usize) -> usize {
        self.places[rule] as usize
    }

    /// Divides the numbers of rounds into other ranges, for all repetitions or only for those that contain rules. Takes
    /// the starts in `wanted` that the repetition has room for in an input of `bytes` bytes.
    pub fn divide_rounds(&mut self, wanted: &[u32], all: bool, bytes: f64) {
        for decision in &mut self.decisions {
            if let Kind::Rounds { room, starts, steps, has_rules, least } = &mut decision.kind
                && (all || *has_rules)
            {
                let least = (*least).max(1) as f64;
                let fits = |start: u32| {
                    start <= 1 || room.is_none_or(|room| start <= room) && f64::from(start) * least <= 2.0 * bytes
                };
                *starts = wanted.iter().copied().filter(|&start| fits(start)).collect();
                *steps = vec![1; starts.len()];
                decision.prior = halves(starts.len());
            }
        }
    }

    /// Returns the number of nodes of the rules if each range of rounds is written out.
    pub fn expansion(&self) -> f64 {
        fn of(model: &Model, term: &Term) -> f64 {
            match term {
                Term::Bytes(_) | Term::Rule(_) => 1.0,
                Term::Seq(items) | Term::Choice(_, items) => {
                    1.0 + items.iter().map(|item| of(model, item)).sum::<f64>()
                }
                Term::Rounds(decision, item, _) => {
                    1.0 + model.decisions[*decision].prior.len() as f64 * of(model, item)
                }
                Term::Times(item, _) => 1.0 + of(model, item),
            }
        }
        self.rules.iter().flatten().map(|term| of(self, term)).sum()
    }
}

fn places(recursion: &Recursion, rules: usize) -> Vec<u32> {
    let mut places = vec![0; rules];
    for component in recursion.bottom_up().chunk_by(|&a, &b| recursion.same_component(a, b)) {
        component.iter().zip(0..).for_each(|(rule, place)| places[rule.index()] = place);
    }
    places
}

/// Returns 1/2, 1/4, and so on; the last two are the same.
fn halves(count: usize) -> Vec<f64> {
    let mut rest = 1.0;
    let mut shares: Vec<f64> = (1..count)
        .map(|_| {
            rest /= 2.0;
            rest
        })
        .collect();
    shares.push(rest);
    shares
}

/// Returns `base` to a whole power. Uses only multiplications, so the result is the same on every platform.
pub(crate) fn power(base: f64, mut exponent: u32) -> f64 {
    let (mut result, mut square) = (1.0, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    result
}

/// Returns the mean length in bytes of a member.
fn mean_length(set: &CharSet) -> f64 {
    if set.unit() == Unit::Byte || set.is_empty() {
        return 1.0;
    }
    let members = f64::from(set.len());
    (1..=4u32).map(|bytes| f64::from(set.len() - set.len_within(u64::from(bytes) - 1)) / members).sum()
}

struct Builder<'c> {
    checked: &'c Checked<'c>,
    own_weights: bool,
    weights: &'c Weights,
    facts: &'c [Option<Facts>],
    rule: usize,
    place: u32,
    decisions: Vec<Decision>,
    references: Vec<RuleId>,
}

impl Builder<'_> {
    fn term(&mut self, expr: &Expr) -> Term {
        match &expr.kind {
            ExprKind::Bytes(bytes) => Term::Bytes(bytes.len() as f64),
            ExprKind::Class(set) => Term::Bytes(mean_length(set)),
            ExprKind::Rule(name) => match self.checked.index.get(name.as_str()) {
                Some(&rule) => {
                    self.references.push(RuleId::new(rule));
                    Term::Rule(rule)
                }
                None => Term::Bytes(0.0),
            },
            ExprKind::Seq(items) => Term::Seq(items.iter().map(|item| self.term(item)).collect()),
            ExprKind::Choice(all) => {
                let place = self.next_place();
                let (mut alternatives, mut weights, mut options) = (Vec::new(), Vec::new(), Vec::new());
                // The decision gets its number before the decisions within it.
                let number = self.decide(place, Kind::Choice { alternatives: Vec::new(), of: all.len() }, Vec::new());
                for (index, alternative) in all.iter().enumerate() {
                    if !alternative.is_generated() && !self.weights.has(self.rule, place, index) {
                        self.place += weights::places(&alternative.expr);
                        continue;
                    }
                    alternatives.push(index);
                    weights.push(alternative.weight.filter(|_| self.own_weights).map_or(1.0, |weight| weight.value));
                    options.push(self.term(&alternative.expr));
                }
                let greatest = weights.iter().copied().fold(0.0, f64::max);
                let scaled: Vec<f64> = weights.iter().map(|weight| (weight / greatest).max(1e-30)).collect();
                let sum: f64 = scaled.iter().sum();
                self.decisions[number].prior = scaled.iter().map(|weight| weight / sum).collect();
                self.decisions[number].kind = Kind::Choice { alternatives, of: all.len() };
                Term::Choice(number, options)
            }
            ExprKind::Repeat { item, min, max } => {
                let place = self.next_place();
                if max.is_some_and(|max| max <= *min) {
                    return Term::Times(Box::new(self.term(item)), *min);
                }
                let room = max.map(|max| max.saturating_sub(*min));
                let least = self.least(item);
                let kind = Kind::Rounds { room, starts: vec![0, 1], steps: vec![1, 1], has_rules: false, least };
                let number = self.decide(place, kind, halves(2));
                let before = self.references.len();
                let item = self.term(item);
                if let Kind::Rounds { has_rules, .. } = &mut self.decisions[number].kind {
                    *has_rules = self.references.len() > before;
                }
                Term::Rounds(number, Box::new(item), *min)
            }
            ExprKind::Times { item, rounds, .. } => {
                let least = rounds.of(|_| 0).clamp(0, u32::MAX.into()) as u32;
                Term::Times(Box::new(self.term(item)), least)
            }
            ExprKind::Label { item, .. }
            | ExprKind::Naming { item, .. }
            | ExprKind::Coded { item, .. }
            | ExprKind::Call { item, .. } => self.term(item),
            ExprKind::Derived(derived) => Term::Bytes(derived.usual_width()),
        }
    }

    /// Returns the length of the shortest string of an expression.
    fn least(&self, expr: &Expr) -> u64 {
        match &expr.kind {
            ExprKind::Bytes(bytes) => bytes.len() as u64,
            ExprKind::Class(set) => set.min_len(),
            ExprKind::Rule(name) => {
                let rule = self.checked.index.get(name.as_str());
                rule.and_then(|&rule| self.facts[rule]).map_or(u64::MAX, |facts| facts.min_len)
            }
            ExprKind::Seq(items) => items.iter().fold(0, |sum: u64, item| sum.saturating_add(self.least(item))),
            ExprKind::Choice(all) => {
                let live = all.iter().filter(|one| one.is_live());
                live.map(|one| self.least(&one.expr)).min().unwrap_or(u64::MAX)
            }
            ExprKind::Repeat { min: 0, .. } => 0,
            ExprKind::Repeat { item, min, .. } => self.least(item).saturating_mul(u64::from(*min)),
            ExprKind::Times { .. } => 0,
            ExprKind::Label { item, .. }
            | ExprKind::Naming { item, .. }
            | ExprKind::Coded { item, .. }
            | ExprKind::Call { item, .. } => self.least(item),
            ExprKind::Derived(derived) => derived.fixed_width().unwrap_or(0),
        }
    }

    fn next_place(&mut self) -> u32 {
        self.place += 1;
        self.place - 1
    }

    fn decide(&mut self, place: u32, kind: Kind, prior: Vec<f64>) -> usize {
        self.decisions.push(Decision { rule: self.rule, place, kind, prior });
        self.decisions.len() - 1
    }
}

/// The mean numbers of bytes and of instances of rules that a term derives by itself.
#[derive(Default)]
pub(crate) struct Moments {
    pub bytes: f64,
    /// Instances by rule. A rule may occur several times.
    pub rules: Vec<(usize, f64)>,
}

impl Term {
    /// Adds `share` times what the term derives.
    pub fn add_moments(&self, model: &Model, laws: &Laws, share: f64, moments: &mut Moments) {
        model.work(1);
        match self {
            Term::Bytes(bytes) => moments.bytes += share * bytes,
            Term::Rule(rule) => moments.rules.push((*rule, share)),
            Term::Seq(items) => items.iter().for_each(|item| item.add_moments(model, laws, share, moments)),
            Term::Choice(decision, options) => {
                for (option, probability) in options.iter().zip(&laws[*decision]) {
                    option.add_moments(model, laws, share * probability, moments);
                }
            }
            Term::Rounds(decision, item, min) => {
                let rounds = f64::from(*min) + model.mean_rounds(*decision, laws);
                item.add_moments(model, laws, share * rounds, moments);
            }
            Term::Times(item, times) => item.add_moments(model, laws, share * f64::from(*times), moments),
        }
    }
}

impl Model {
    pub(super) fn mean_rounds(&self, decision: usize, laws: &Laws) -> f64 {
        let Kind::Rounds { room, starts, steps, .. } = &self.decisions[decision].kind else { return 0.0 };
        let ranges = ranges(starts, steps, *room).zip(&laws[decision]);
        ranges.map(|(range, probability)| probability * range.mean()).sum()
    }
}
