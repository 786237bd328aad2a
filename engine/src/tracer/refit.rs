//! A choice takes another option, and keeps as many of its old parts as it can.

use std::sync::Arc;

use gramjet::choices::{Part as Kept, Refit, Tracer as _};
use gramjet_compiler::ir::{Choice, Ir, NodeId, Rounds, RuleId};
use gramjet_compiler::machine::Part;

use super::{Grammar, MAX_SCRATCH, Tracer};

/// Appends the choice bytes of `node`, a choice, taking `option`; says whether there is such an option.
pub(super) fn refit(
    tracer: &mut Tracer,
    node: NodeId,
    whole: Refit,
    parts: &[Kept<'_>],
    kept: &mut Vec<usize>,
    choices: &mut Vec<u8>,
) -> bool {
    let Refit { option, depth, in_order, .. } = whole;
    let grammar = Arc::clone(&tracer.grammar);
    let Some(choice) = grammar.lowered.node(node).choice() else { return false };
    let Some(&taken) = choice.options.get(option as usize) else { return false };
    let mut symbols: Vec<u32> = parts.iter().map(|part| part.symbol).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let distances = symbols.into_iter().map(|symbol| tracer.distances(symbol)).collect();
    let mut filling = Filling { grammar: &grammar, tracer, parts, distances, in_order, left: MAX_NODES };
    let mut state =
        State { next: 0, kept: std::mem::take(kept), choices: std::mem::take(choices), weight: 0, skipped: 0 };
    let ir = &grammar.lowered;
    push_option(ir, node, option, &mut state.choices);
    // An option that is one of the parts, and nothing else, is that part in place of the choice: parts stand within it.
    let body = ir.node(taken).instance().and_then(|rule| ir.body(rule));
    match body.map(|body| (body, ir.node(body).choice())) {
        Some((body, Some(choice))) => filling.choose(body, choice, depth + 1, LEVELS, &mut state),
        Some((body, None)) => filling.fill(body, depth + 1, LEVELS, &mut state),
        None => filling.fill(taken, depth, LEVELS, &mut state),
    }
    (*kept, *choices) = (state.kept, state.choices);
    true
}

/// Parts are looked for in rules up to this number of references below the option.
const LEVELS: u32 = 5;
/// At most this number of nodes is looked at.
const MAX_NODES: u32 = 4000;
/// Repetitions around kept parts have at most this number of rounds.
const MAX_ROUNDS: u32 = 1 << 12;

/// Appends the choice bytes with which the site of a node takes an option.
fn push_option(ir: &Ir, node: NodeId, option: u32, choices: &mut Vec<u8>) {
    if let Some(site) = ir.site_of(node) {
        choices.extend_from_slice(&site.value_of(option).to_le_bytes()[..site.width() as usize]);
    }
}

struct Filling<'f> {
    grammar: &'f Grammar,
    tracer: &'f mut Tracer,
    parts: &'f [Kept<'f>],
    /// For each symbol of a part how far it is from each rule.
    distances: Vec<Arc<[u8]>>,
    /// Whether to prefer skipping the least to keeping the most.
    in_order: bool,
    left: u32,
}

/// Farther than any part that is searched for.
const FAR: u8 = u8::MAX;

impl Tracer {
    /// Returns for each rule how many references lead to a part with this symbol at least: 0 for the rule that has it.
    fn distances(&mut self, symbol: u32) -> Arc<[u8]> {
        if let Some(known) = self.distances.get(&symbol) {
            return Arc::clone(known);
        }
        let ir = &self.grammar.lowered;
        let mut distances = vec![FAR; ir.rules().len()];
        for distance in 0..=LEVELS as u8 {
            let before = distances.clone();
            for (rule, body) in ir.bodies() {
                let far = &mut distances[rule.index()];
                if *far == FAR
                    && (self.grammar.symbol(Part::Rule(rule)) == symbol || self.leads_to(body, symbol, &before))
                {
                    *far = distance;
                }
            }
        }
        let distances: Arc<[u8]> = distances.into();
        self.distances.insert(symbol, Arc::clone(&distances));
        distances
    }

    /// Returns true if there is a part with this symbol in a node, or a rule for which a distance is known. The nesting
    /// of nodes is bounded.
    fn leads_to(&self, node: NodeId, symbol: u32, distances: &[u8]) -> bool {
        let ir = &self.grammar.lowered;
        self.grammar.symbol(Part::Node(node)) == symbol
            || ir.node(node).instance().is_some_and(|rule| distances[rule.index()] != FAR)
            || ir.children(node).iter().any(|&child| self.leads_to(child, symbol, distances))
    }
}

/// The progress so far.
#[derive(Clone)]
struct State {
    /// The first part that can still be kept.
    next: usize,
    kept: Vec<usize>,
    choices: Vec<u8>,
    /// The weight of the kept parts, and of the parts before them that are not kept.
    weight: u64,
    skipped: u64,
}

impl Filling<'_> {
    /// Keeps the next part with this symbol, if there is one.
    fn keep(&self, part: Part, state: &mut State) -> bool {
        let symbol = self.grammar.symbol(part);
        let rest = self.parts.get(state.next..).unwrap_or_default();
        let Some(at) = rest.iter().position(|part| part.symbol == symbol) else { return false };
        let part = &rest[at];
        state.skipped += self.weight_between(state.next, state.next + at);
        state.kept.push(state.next + at);
        state.choices.extend_from_slice(part.choices);
        state.weight += part.weight;
        state.next = part.next.max(state.next + at + 1);
        true
    }

    /// Returns the value of a state. Skipped parts cannot be kept any more.
    fn score(&self, state: &State) -> i128 {
        i128::from(state.weight) - if self.in_order { i128::from(state.skipped) } else { 0 }
    }

    /// Returns the weight of the parts from one number to another, without those around the last.
    fn weight_between(&self, mut from: usize, to: usize) -> u64 {
        let mut weight = 0;
        while from < to {
            let part = &self.parts[from];
            let is_before = part.next <= to;
            weight += if is_before { part.weight } else { 0 };
            from = if is_before { part.next.max(from + 1) } else { from + 1 };
        }
        weight
    }

    fn shortest(&mut self, part: Part, depth: u32, choices: &mut Vec<u8>) {
        let zeros = self.tracer.shortest(self.grammar.symbol(part), depth).min(MAX_SCRATCH);
        choices.resize(choices.len() + zeros, 0);
    }

    /// Appends the choice bytes of a node. Recursion is bounded by the nesting of nodes and by `levels`.
    fn fill(&mut self, node: NodeId, depth: u32, levels: u32, state: &mut State) {
        self.left = self.left.saturating_sub(1);
        let ir = &self.grammar.lowered;
        let parts = ir.node(node);
        if let Some(rule) = parts.instance() {
            self.instance(rule, depth, levels, state);
        } else if let Some(choice) = parts.choice() {
            self.keep_or(node, state, |filling, inside| filling.choose(node, choice, depth, levels, inside));
        } else if let Some(Rounds { item, min, max }) = parts.rounds() {
            self.keep_or(node, state, |filling, inside| {
                filling.rounds(node, item, (min, max), depth, levels, inside);
            });
        } else if ir.site_of(node).is_some() {
            push_option(ir, node, 0, &mut state.choices);
        } else {
            parts.children().iter().for_each(|&item| self.fill(item, depth, levels, state));
        }
    }

    /// Keeps the next part that is one of this node, or what `fill` makes of the node, whichever is better.
    fn keep_or(&mut self, node: NodeId, state: &mut State, fill: impl FnOnce(&mut Self, &mut State)) {
        let mut inside = state.clone();
        let is_kept = self.keep(Part::Node(node), state);
        if is_kept && !self.in_order {
            return;
        }
        fill(self, &mut inside);
        if !is_kept || self.score(&inside) > self.score(state) {
            *state = inside;
        }
    }

    /// Appends the choice bytes of an instance of a rule, referred to at this depth.
    fn instance(&mut self, rule: RuleId, depth: u32, levels: u32, state: &mut State) {
        let ir = &self.grammar.lowered;
        let part = Part::Rule(rule);
        let is_near = |distances: &Arc<[u8]>| u32::from(distances[rule.index()]) <= levels;
        let is_worth_it = levels > 0 && self.left > 0 && self.distances.iter().any(is_near);
        let body = ir.body(rule).filter(|_| is_worth_it && state.next < self.parts.len());
        let inside = body.map(|body| {
            let mut inside = state.clone();
            self.fill(body, depth + 1, levels - 1, &mut inside);
            inside
        });
        let before = state.weight;
        let is_kept = self.keep(part, state);
        let is_better =
            |inside: &State| if is_kept { self.score(inside) > self.score(state) } else { inside.weight > before };
        if let Some(inside) = inside.filter(is_better) {
            *state = inside;
        } else if !is_kept {
            self.shortest(part, depth + 1, &mut state.choices);
        }
    }

    /// Takes the option of a choice that keeps most.
    fn choose(&mut self, node: NodeId, choice: &Choice, depth: u32, levels: u32, state: &mut State) {
        let mut best: Option<State> = None;
        for (option, &taken) in (0..).zip(&choice.options) {
            if self.left == 0 || state.next >= self.parts.len() {
                break;
            }
            let mut inside = state.clone();
            push_option(&self.grammar.lowered, node, option, &mut inside.choices);
            self.fill(taken, depth, levels, &mut inside);
            let is_better = best.as_ref().is_none_or(|best| self.score(&inside) > self.score(best));
            if inside.weight > state.weight && is_better {
                best = Some(inside);
            }
        }
        match best {
            Some(best) => *state = best,
            None => self.shortest(Part::Node(node), depth, &mut state.choices),
        }
    }

    fn rounds(
        &mut self,
        node: NodeId,
        item: NodeId,
        (min, max): (u32, Option<u32>),
        depth: u32,
        levels: u32,
        state: &mut State,
    ) {
        let ir = &self.grammar.lowered;
        let mut done = 0;
        while done < min && self.left > 0 && state.next < self.parts.len() {
            self.fill(item, depth, levels, state);
            done += 1;
        }
        if done < min {
            let zeros = self.tracer.shortest(self.grammar.symbol(Part::Node(item)), depth);
            let all = zeros.saturating_mul((min - done) as usize).min(MAX_SCRATCH);
            state.choices.resize(state.choices.len() + all, 0);
            done = min;
        }
        // Further rounds as long as they keep something.
        while done < max.unwrap_or(u32::MAX).min(MAX_ROUNDS) && state.next < self.parts.len() && self.left > 0 {
            let mut inside = state.clone();
            push_option(ir, node, 1, &mut inside.choices);
            self.fill(item, depth, levels, &mut inside);
            if inside.weight == state.weight {
                break;
            }
            *state = inside;
            done += 1;
        }
        if max.is_none_or(|max| done < max) {
            push_option(ir, node, 0, &mut state.choices);
        }
    }
}
