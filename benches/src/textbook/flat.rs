//! Grammars as flat rules, the only shape that the textbook producer knows: alternatives of literals and references.
//! Groups, classes and repetitions become helper rules, which do not count as depth.

use std::collections::{BTreeMap, BTreeSet};

use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar};
use gramjet_compiler::charset::CharSet;

/// A grammar of flat rules; rule 0 is the start rule.
#[derive(Debug)]
pub struct Flat {
    /// The rules; [`Item::Rule`] is an index into them.
    pub rules: Vec<Rule>,
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// The name in the grammar, or that of the rule that the helper belongs to.
    pub name: String,
    /// Whether a reference to the rule is a level of depth: true for the rules of the grammar, false for helpers.
    pub counted: bool,
    /// The right-hand side.
    pub body: Body,
}

/// The right-hand side of a rule.
#[derive(Debug)]
pub enum Body {
    /// Sequences, in canonical order, without those of weight 0.
    Alternatives {
        /// The sequences; never empty.
        sequences: Vec<Vec<Item>>,
        /// Weights of the sequences, if one of them has a weight.
        weights: Option<Vec<f64>>,
    },
    /// One member of a set.
    Class(CharSet),
    /// A sequence, repeated: `min` rounds, then one choice a further round between stopping and going on.
    Repeat {
        /// The repeated item.
        item: Vec<Item>,
        /// The least number of rounds.
        min: u32,
        /// The greatest number of rounds.
        max: Option<u32>,
    },
}

/// A member of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// Literal bytes, never empty.
    Bytes(Vec<u8>),
    /// A reference to a rule by its index.
    Rule(usize),
}

impl Flat {
    /// Returns the flat form of a grammar.
    ///
    /// # Errors
    ///
    /// Says what is wrong if the grammar has no rules, refers to an unknown rule, has a rule without a finite
    /// derivation, or alternatives that are all switched off.
    pub fn new(grammar: &Grammar) -> Result<Flat, String> {
        let names: BTreeMap<&str, usize> =
            grammar.rules.iter().enumerate().map(|(index, rule)| (rule.name.text.as_str(), index)).collect();
        let start = match &grammar.start {
            Some(name) => *names.get(name.text.as_str()).ok_or(format!("no start rule `{}`", name.text))?,
            None => 0,
        };
        let mut builder = Builder { names, rules: Vec::new(), classes: Vec::new() };
        for rule in &grammar.rules {
            let body = Body::Repeat { item: Vec::new(), min: 0, max: Some(0) };
            builder.rules.push(Rule { name: rule.name.text.clone(), counted: true, body });
        }
        for (index, rule) in grammar.rules.iter().enumerate() {
            let body = builder.body(&rule.body, index)?;
            builder.rules[index].body = body;
        }
        let mut flat = Flat { rules: builder.rules }.reachable_from(start);
        flat.order_alternatives()?;
        Ok(flat)
    }

    /// Keeps the rules that the start rule reaches and moves that to the front.
    fn reachable_from(self, start: usize) -> Flat {
        let mut new_index = BTreeMap::new();
        let mut pending = vec![start];
        let mut seen = BTreeSet::new();
        while let Some(rule) = pending.pop() {
            if seen.insert(rule) {
                new_index.insert(rule, new_index.len());
                pending.extend(self.rules[rule].body.references().rev());
            }
        }
        let mut rules: Vec<(usize, Rule)> = Vec::new();
        for (index, mut rule) in self.rules.into_iter().enumerate() {
            let Some(&new) = new_index.get(&index) else { continue };
            for item in rule.body.sequences_mut().iter_mut().flat_map(|sequence| sequence.iter_mut()) {
                if let Item::Rule(reference) = item {
                    *reference = new_index[reference];
                }
            }
            rules.push((new, rule));
        }
        rules.sort_by_key(|&(new, _)| new);
        Flat { rules: rules.into_iter().map(|(_, rule)| rule).collect() }
    }

    /// Sorts alternatives by their minimum length, then by their minimum height, as the published producer does by
    /// height and the replaying engines do by both: where 256 is no multiple of their number, the first are a little
    /// likelier.
    fn order_alternatives(&mut self) -> Result<(), String> {
        let lengths = self.minima(Measure::Length);
        let heights = self.minima(Measure::Height);
        if let Some(rule) = (0..self.rules.len()).find(|&rule| lengths[rule].is_none()) {
            return Err(format!("rule `{}` derives no finite string", self.rules[rule].name));
        }
        for rule in &mut self.rules {
            let Body::Alternatives { sequences, weights } = &mut rule.body else { continue };
            let mut order: Vec<usize> = (0..sequences.len()).collect();
            order.sort_by_key(|&index| {
                // A sequence that never ends has no minimum: it comes after all others.
                let key = |minima: &[Option<u64>], measure| sequence_minimum(&sequences[index], minima, measure);
                (key(&lengths, Measure::Length).unwrap_or(u64::MAX), key(&heights, Measure::Height).unwrap_or(u64::MAX))
            });
            *sequences = order.iter().map(|&index| sequences[index].clone()).collect();
            if let Some(weights) = weights {
                *weights = order.iter().map(|&index| weights[index]).collect();
            }
        }
        Ok(())
    }

    /// Returns for each rule the least measure of its derivations; `None` if it has no finite one.
    pub fn minima(&self, measure: Measure) -> Vec<Option<u64>> {
        let mut minima = vec![None; self.rules.len()];
        loop {
            let mut changed = false;
            for (index, rule) in self.rules.iter().enumerate() {
                let inner = match &rule.body {
                    Body::Alternatives { sequences, .. } => {
                        sequences.iter().filter_map(|sequence| sequence_minimum(sequence, &minima, measure)).min()
                    }
                    Body::Class(set) => Some(if measure == Measure::Length { set.min_len() } else { 0 }),
                    Body::Repeat { min: 0, .. } => Some(0),
                    Body::Repeat { item, min, .. } => {
                        sequence_minimum(item, &minima, measure).map(|minimum| match measure {
                            Measure::Length => minimum.saturating_mul(u64::from(*min)),
                            Measure::Height => minimum,
                        })
                    }
                };
                let level = u64::from(measure == Measure::Height && rule.counted);
                let minimum = inner.map(|inner| inner.saturating_add(level));
                if minimum != minima[index] {
                    minima[index] = minimum;
                    changed = true;
                }
            }
            if !changed {
                return minima;
            }
        }
    }
}

/// The quantity that [`Flat::minima`] measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes of output.
    Length,
    /// Levels of counted rules.
    Height,
}

/// Returns the least measure of a sequence, given those of the rules.
pub fn sequence_minimum(sequence: &[Item], minima: &[Option<u64>], measure: Measure) -> Option<u64> {
    sequence.iter().try_fold(0_u64, |sum, item| {
        let minimum = match item {
            Item::Bytes(bytes) if measure == Measure::Length => bytes.len() as u64,
            Item::Bytes(_) => 0,
            Item::Rule(rule) => minima[*rule]?,
        };
        Some(if measure == Measure::Length { sum.saturating_add(minimum) } else { sum.max(minimum) })
    })
}

impl Body {
    /// Returns the sequences of items in it.
    pub fn sequences(&self) -> &[Vec<Item>] {
        match self {
            Body::Alternatives { sequences, .. } => sequences,
            Body::Class(_) => &[],
            Body::Repeat { item, .. } => std::slice::from_ref(item),
        }
    }

    fn sequences_mut(&mut self) -> &mut [Vec<Item>] {
        match self {
            Body::Alternatives { sequences, .. } => sequences,
            Body::Class(_) => &mut [],
            Body::Repeat { item, .. } => std::slice::from_mut(item),
        }
    }

    fn references(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.sequences().iter().flatten().filter_map(|item| match item {
            Item::Rule(rule) => Some(*rule),
            Item::Bytes(_) => None,
        })
    }
}

struct Builder<'a> {
    names: BTreeMap<&'a str, usize>,
    rules: Vec<Rule>,
    /// The helper of every class met so far.
    classes: Vec<(CharSet, usize)>,
}

impl Builder<'_> {
    /// Returns the right-hand side of rule `owner`.
    fn body(&mut self, expr: &Expr, owner: usize) -> Result<Body, String> {
        match &expr.kind {
            ExprKind::Choice(alternatives) => self.alternatives(alternatives, owner),
            ExprKind::Class(set) => self.class(set, owner),
            ExprKind::Repeat { item, min, max } => {
                Ok(Body::Repeat { item: self.sequence(item, owner)?, min: *min, max: *max })
            }
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => Err(format!("rule `{}` has labels", self.rules[owner].name)),
            ExprKind::Bytes(_) | ExprKind::Rule(_) | ExprKind::Seq(_) => {
                Ok(Body::Alternatives { sequences: vec![self.sequence(expr, owner)?], weights: None })
            }
        }
    }

    fn alternatives(&mut self, alternatives: &[Alternative], owner: usize) -> Result<Body, String> {
        let weighted = alternatives.iter().any(|alternative| alternative.weight.is_some());
        let mut sequences = Vec::new();
        let mut weights = Vec::new();
        for alternative in alternatives {
            let weight = alternative.weight.map_or(1.0, |weight| weight.value);
            if weight > 0.0 {
                sequences.push(self.sequence(&alternative.expr, owner)?);
                weights.push(weight);
            }
        }
        if sequences.is_empty() {
            return Err(format!("all alternatives of rule `{}` are switched off", self.rules[owner].name));
        }
        Ok(Body::Alternatives { sequences, weights: weighted.then_some(weights) })
    }

    fn class(&self, set: &CharSet, owner: usize) -> Result<Body, String> {
        match set.len() {
            0 => Err(format!("empty class in rule `{}`", self.rules[owner].name)),
            1 => {
                let only = set.iter().next().map(|member| set.encode(member).as_ref().to_vec()).unwrap_or_default();
                Ok(Body::Alternatives { sequences: vec![vec![Item::Bytes(only)]], weights: None })
            }
            _ => Ok(Body::Class(set.clone())),
        }
    }

    /// Returns the items of an expression; neighbouring literals become one.
    fn sequence(&mut self, expr: &Expr, owner: usize) -> Result<Vec<Item>, String> {
        let mut items = Vec::new();
        self.append(expr, owner, &mut items)?;
        Ok(items)
    }

    fn append(&mut self, expr: &Expr, owner: usize, items: &mut Vec<Item>) -> Result<(), String> {
        match &expr.kind {
            ExprKind::Bytes(bytes) if bytes.is_empty() => {}
            ExprKind::Bytes(bytes) => match items.last_mut() {
                Some(Item::Bytes(last)) => last.extend_from_slice(bytes),
                _ => items.push(Item::Bytes(bytes.clone())),
            },
            ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => {
                return Err(format!("rule `{}` has labels", self.rules[owner].name));
            }
            ExprKind::Rule(name) => {
                let rule = self.names.get(name.as_str()).ok_or_else(|| format!("no rule `{name}`"))?;
                items.push(Item::Rule(*rule));
            }
            ExprKind::Seq(parts) => {
                for part in parts {
                    self.append(part, owner, items)?;
                }
            }
            ExprKind::Class(set) => {
                let helper = match self.classes.iter().find(|(known, _)| known == set) {
                    Some(&(_, helper)) => helper,
                    None => {
                        let body = self.class(set, owner)?;
                        let helper = self.helper(owner, body);
                        self.classes.push((set.clone(), helper));
                        helper
                    }
                };
                items.push(Item::Rule(helper));
            }
            ExprKind::Choice(_) | ExprKind::Repeat { .. } | ExprKind::Times { .. } => {
                let body = self.body(expr, owner)?;
                let helper = self.helper(owner, body);
                items.push(Item::Rule(helper));
            }
        }
        Ok(())
    }

    fn helper(&mut self, owner: usize, body: Body) -> usize {
        self.rules.push(Rule { name: self.rules[owner].name.clone(), counted: false, body });
        self.rules.len() - 1
    }
}
