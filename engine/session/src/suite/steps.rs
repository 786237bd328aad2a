//! The steps of derivations, and which follow which.
//!
//! A *step* is an alternative that a derivation takes: an option of a choice; a repetition with its fewest rounds, or
//! with more; a rule that has a single alternative. A step follows another one if it is taken within it, and no other
//! step is between them. Members of classes are no steps.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use gramjet_compiler::Compiled;
use gramjet_compiler::diagnostics::Span;
use gramjet_compiler::ir::{Ir, NodeId, RuleId};

/// Stands for no step.
pub(super) const NONE: u32 = u32::MAX;

/// The options of a repetition.
pub(super) const FEWEST: u32 = 0;
pub(super) const MORE: u32 = 1;

/// Part of the grammar in which a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A rule with a single alternative, by its number.
    Rule(u32),
    /// A choice or a repetition, by the number of its node.
    Node(u32),
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name, which no other step has.
    pub name: String,
    /// The rule that it is taken in, by its number.
    pub rule: u32,
    /// The alternative in the grammar file, where that is known.
    pub span: Option<Span>,
    /// The place.
    pub place: Place,
    /// The option that it is there.
    pub option: u32,
    /// By how many bytes it makes the shortest text longer.
    pub extra: u64,
}

/// A step that follows another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The number of the step.
    pub step: u32,
    /// The number of references to rules between the two.
    pub deeper: u32,
}

/// The steps that a grammar allows.
#[derive(Clone, Debug)]
pub struct Steps {
    steps: Vec<Step>,
    /// For each node the number of its first step.
    of_node: Vec<u32>,
    /// For each rule its step, if it has a single alternative.
    of_rule: Vec<u32>,
    next: Vec<Vec<Next>>,
    first: Vec<Next>,
    min_len: u64,
}

/// Shortest ways from the start to each step.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// For each step the cost of the way, which includes the step; the greatest value if there is none.
    pub cost: Vec<u64>,
    before: Vec<u32>,
}

/// Measure by which ways are short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Bytes of the shortest text.
    Bytes,
    /// References to rules.
    Depth,
}

impl Steps {
    /// Returns the steps of a grammar, without those that its start rule does not reach.
    pub fn new(compiled: &Compiled) -> Steps {
        let ir = &*compiled.lowered;
        let mut found = Finding { compiled, steps: Vec::new(), names: BTreeMap::new() };
        let (mut of_node, mut of_rule) = (vec![NONE; ir.node_count()], vec![NONE; ir.rules().len()]);
        for (rule, body) in ir.bodies() {
            if ir.node(body).choice().is_none() {
                of_rule[rule.index()] = found.rule(rule);
            }
            found.body(rule, body, &mut of_node);
        }
        let mut steps = Steps {
            next: Vec::new(),
            first: Vec::new(),
            steps: found.steps,
            of_node,
            of_rule,
            min_len: compiled.min_len(),
        };
        steps.first = steps.entered(ir, ir.start(), 0);
        steps.next = (0..steps.steps.len()).map(|step| steps.after(ir, step)).collect();
        steps
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns a step by its number.
    pub fn get(&self, step: u32) -> &Step {
        &self.steps[step as usize]
    }

    /// Returns the steps that can follow, ascending.
    pub fn next(&self, step: u32) -> &[Next] {
        &self.next[step as usize]
    }

    /// Returns the steps that derivations can begin with, ascending.
    pub fn first(&self) -> &[Next] {
        &self.first
    }

    /// Returns the length of the shortest text, in bytes.
    pub fn min_len(&self) -> u64 {
        self.min_len
    }

    /// Returns the step that an option of a node is; `None` if the node has no steps.
    pub(super) fn of_node(&self, node: u32, option: u32) -> Option<u32> {
        self.of_node.get(node as usize).filter(|&&first| first != NONE).map(|&first| first + option)
    }

    /// Returns the step that an instance of a rule is; `None` if the rule has several alternatives.
    pub(super) fn of_rule(&self, rule: u32) -> Option<u32> {
        self.of_rule.get(rule as usize).copied().filter(|&step| step != NONE)
    }

    /// Returns the steps that an instance of a rule begins with.
    fn entered(&self, ir: &Ir, rule: RuleId, deeper: u32) -> Vec<Next> {
        let mut found = BTreeMap::new();
        match (self.of_rule(rule.index() as u32), ir.body(rule)) {
            (Some(step), _) => drop(found.insert(step, deeper)),
            (None, Some(body)) => self.reached(ir, vec![(body, deeper)], &mut found),
            (None, None) => {}
        }
        found.into_iter().map(|(step, deeper)| Next { step, deeper }).collect()
    }

    /// Returns the steps that follow a step.
    fn after(&self, ir: &Ir, step: usize) -> Vec<Next> {
        let Step { place, option, .. } = self.steps[step];
        let within = match place {
            Place::Rule(rule) => ir.body(RuleId::new(rule as usize)).into_iter().collect(),
            Place::Node(node) => taken(ir, NodeId::new(node as usize), option),
        };
        let mut found = BTreeMap::new();
        self.reached(ir, within.into_iter().map(|node| (node, 0)).collect(), &mut found);
        found.into_iter().map(|(step, deeper)| Next { step, deeper }).collect()
    }

    /// Finds the first steps within nodes, and how many references lead to each.
    fn reached(&self, ir: &Ir, mut open: Vec<(NodeId, u32)>, found: &mut BTreeMap<u32, u32>) {
        let add = |found: &mut BTreeMap<u32, u32>, step: u32, deeper: u32| {
            let known = found.entry(step).or_insert(deeper);
            *known = deeper.min(*known);
        };
        while let Some((node, deeper)) = open.pop() {
            let first = self.of_node[node.index()];
            if first != NONE {
                (0..options(ir, node)).for_each(|option| add(found, first + option, deeper));
            } else if let Some(rule) = ir.node(node).instance() {
                match (self.of_rule(rule.index() as u32), ir.body(rule)) {
                    (Some(step), _) => add(found, step, deeper + 1),
                    (None, Some(body)) => open.push((body, deeper + 1)),
                    (None, None) => {}
                }
            } else if ir.node(node).naming().is_none_or(|(naming, _)| !naming.is_silent()) {
                open.extend(ir.children(node).iter().map(|&child| (child, deeper)));
            }
        }
    }

    /// Finds the shortest ways from the start to all steps.
    pub(super) fn ways(&self, measure: Measure) -> Ways {
        let mut ways = Ways { cost: vec![u64::MAX; self.len()], before: vec![NONE; self.len()] };
        let cost = |next: &Next| match measure {
            Measure::Bytes => self.get(next.step).extra,
            Measure::Depth => next.deeper.into(),
        };
        // Of ways that cost as much, the one of fewer steps comes first.
        let mut open: BinaryHeap<Reverse<(u64, u32, u32, u32)>> =
            self.first.iter().map(|next| Reverse((cost(next), 1, next.step, NONE))).collect();
        while let Some(Reverse((paid, steps, step, before))) = open.pop() {
            if ways.cost[step as usize] != u64::MAX {
                continue;
            }
            (ways.cost[step as usize], ways.before[step as usize]) = (paid, before);
            for next in self.next(step).iter().filter(|next| ways.cost[next.step as usize] == u64::MAX) {
                open.push(Reverse((paid.saturating_add(cost(next)), steps + 1, next.step, step)));
            }
        }
        ways
    }
}

impl Steps {
    /// Returns for each step the cost of the shortest way from it to a step for which `is_wanted`: bytes, and one for
    /// each step. The greatest value if there is none.
    pub(super) fn near(&self, is_wanted: impl Fn(u32) -> bool) -> Vec<u64> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for step in 0..self.len() as u32 {
            self.next(step).iter().for_each(|next| before[next.step as usize].push(step));
        }
        let mut near = vec![u64::MAX; self.len()];
        let mut open: BinaryHeap<Reverse<(u64, u32)>> =
            (0..self.len() as u32).filter(|&step| is_wanted(step)).map(|step| Reverse((0, step))).collect();
        while let Some(Reverse((cost, step))) = open.pop() {
            if near[step as usize] != u64::MAX {
                continue;
            }
            near[step as usize] = cost;
            let cost = cost.saturating_add(1).saturating_add(self.get(step).extra);
            let further = before[step as usize].iter().filter(|&&before| near[before as usize] == u64::MAX);
            open.extend(further.map(|&before| Reverse((cost, before))));
        }
        near
    }
}

impl Ways {
    /// Returns the steps of the way to a step, which is the last one.
    pub fn to(&self, step: u32) -> Vec<u32> {
        let before = |&step: &u32| Some(self.before[step as usize]).filter(|&before| before != NONE);
        let mut way: Vec<u32> = std::iter::successors(Some(step), before).collect();
        way.reverse();
        way
    }
}

/// Returns the number of options that a node with steps has.
pub(super) fn options(ir: &Ir, node: NodeId) -> u32 {
    ir.node(node).choice().map_or(2, |choice| choice.options.len() as u32)
}

/// Returns the nodes that are derived if a node takes an option.
pub(super) fn taken(ir: &Ir, node: NodeId, option: u32) -> Vec<NodeId> {
    match (ir.node(node).choice(), ir.node(node).rounds()) {
        (Some(choice), _) => choice.options.get(option as usize).copied().into_iter().collect(),
        (None, Some(rounds)) if option == MORE || rounds.min > 0 => vec![rounds.item],
        (None, _) => Vec::new(),
    }
}

/// Steps that are being found.
struct Finding<'c> {
    compiled: &'c Compiled,
    steps: Vec<Step>,
    /// The number of steps that wanted to have each name.
    names: BTreeMap<String, u32>,
}

impl Finding<'_> {
    /// Adds a step; returns its number.
    fn add(&mut self, name: String, step: Step) -> u32 {
        let same = self.names.entry(name.clone()).or_default();
        *same += 1;
        let name = if *same == 1 { name } else { format!("{name}_{same}") };
        self.steps.push(Step { name, ..step });
        self.steps.len() as u32 - 1
    }

    fn rule(&mut self, rule: RuleId) -> u32 {
        let name = self.compiled.lowered.rule(rule).name.clone();
        let rule = rule.index() as u32;
        let step = Step { name: String::new(), rule, span: None, place: Place::Rule(rule), option: 0, extra: 0 };
        self.add(name, step)
    }

    /// Adds the steps of the nodes in the body of a rule, outer ones first.
    fn body(&mut self, rule: RuleId, body: NodeId, of_node: &mut [u32]) {
        let ir = &*self.compiled.lowered;
        let (mut open, mut number) = (vec![body], 0);
        while let Some(node) = open.pop() {
            let is_choice = ir.node(node).choice().is_some();
            let has_rounds = ir.node(node).rounds().is_some() && ir.site_of(node).is_some();
            if is_choice || has_rounds {
                of_node[node.index()] = self.steps.len() as u32;
                number += 1;
                let group = if node == body { String::new() } else { format!("-{number}") };
                (0..options(ir, node)).for_each(|option| self.option(rule, node, &group, option));
            }
            open.extend(ir.children(node).iter().rev());
        }
    }

    fn option(&mut self, rule: RuleId, node: NodeId, group: &str, option: u32) {
        let ir = &*self.compiled.lowered;
        let source = self.compiled.sources.get(node).and_then(|source| source.alternatives.get(option as usize));
        let (written, extra) = match (ir.node(node).choice(), ir.node(node).rounds()) {
            (Some(choice), _) => {
                let len = ir.facts(choice.options[option as usize]).min_len;
                let number = source.map_or(option, |&(number, _)| number) + 1;
                (number.to_string(), len - ir.facts(node).min_len)
            }
            (None, Some(rounds)) if option == MORE => ("more".to_string(), ir.facts(rounds.item).min_len),
            (None, _) => ("fewest".to_string(), 0),
        };
        let place = Place::Node(node.index() as u32);
        let name = format!("{}{group}.{written}", ir.rule(rule).name);
        let (rule, span) = (rule.index() as u32, source.map(|&(_, span)| span));
        self.add(name, Step { name: String::new(), rule, span, place, option, extra });
    }
}
