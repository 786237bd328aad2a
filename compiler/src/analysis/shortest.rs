//! Shortest derivations: option 0 at every site. Computes the number of steps and choice bytes, and the output where
//! needed.

use crate::ir::{First, Ir, NodeId, RuleId};
use crate::naming::Naming;
use crate::ordered::sort_by_key;

/// Returns the rules with a body, ordered so that the option-0 derivation of each refers only to rules before it.
fn order(ir: &Ir) -> Vec<RuleId> {
    let mut order: Vec<RuleId> = ir.bodies().map(|(rule, _)| rule).collect();
    sort_by_key(&mut order, |&rule| {
        let facts = ir.rule(rule).facts;
        (facts.min_len, facts.height, rule)
    });
    order
}

/// Returns the number of nodes that the option-0 derivation of each rule visits; saturates.
pub fn steps(ir: &Ir) -> Vec<u64> {
    let mut steps = vec![1; ir.rules().len()];
    for rule in order(ir) {
        if let Some(body) = ir.body(rule) {
            steps[rule.index()] = steps_of_tree(ir, body, &steps);
        }
    }
    steps
}

/// Returns for each rule whether bytes follow from labelled parts in its option-0 derivation.
pub fn with_labels(ir: &Ir) -> Vec<bool> {
    let mut found = vec![false; ir.rules().len()];
    if ir.has_labels() {
        for rule in order(ir) {
            found[rule.index()] = ir.body(rule).is_some_and(|body| has_labels(ir, body, &found));
        }
    }
    found
}

fn has_labels(ir: &Ir, node: NodeId, of_rules: &[bool]) -> bool {
    ir.node(node).has_labels()
        || match ir.node(node).first() {
            First::Bytes(_) | First::Member(_) | First::Times(_, 0) => false,
            First::Instance(rule) => of_rules[rule.index()],
            First::Times(items, _) => items.iter().any(|&item| has_labels(ir, item, of_rules)),
        }
}

/// Returns the number of nodes that the option-0 derivation of each node in the bodies visits, given that of the rules.
pub fn node_steps(ir: &Ir, steps: &[u64]) -> Vec<u64> {
    let mut nodes: Vec<u64> = Vec::with_capacity(ir.node_count());
    // Children come before their parents in the arena.
    for index in 0..ir.node_count() {
        nodes.push(steps_of(ir, NodeId::new(index), steps, &|child| nodes[child.index()]));
    }
    nodes
}

/// Returns the number of choice bytes that the option-0 derivation of each rule reads; saturates.
pub fn choices(ir: &Ir) -> Vec<u64> {
    let mut choices = vec![0; ir.rules().len()];
    for rule in order(ir) {
        if let Some(body) = ir.body(rule) {
            choices[rule.index()] = choices_of(ir, body, &choices, &|child| choices_of_tree(ir, child, &choices));
        }
    }
    choices
}

/// Returns the number of choice bytes that the option-0 derivation of each node reads, given that of the rules;
/// saturates.
pub fn node_choices(ir: &Ir, choices: &[u64]) -> Vec<u64> {
    let mut nodes: Vec<u64> = Vec::with_capacity(ir.node_count());
    // Children come before their parents in the arena.
    for index in 0..ir.node_count() {
        let of_node = choices_of(ir, NodeId::new(index), choices, &|child| nodes[child.index()]);
        nodes.push(of_node);
    }
    nodes
}

/// Returns the number of sites of the option-0 derivation of each rule; saturates.
pub fn sites(ir: &Ir) -> Vec<u64> {
    let mut sites = vec![0; ir.rules().len()];
    for rule in order(ir) {
        if let Some(body) = ir.body(rule) {
            sites[rule.index()] = sites_of_tree(ir, body, &sites);
        }
    }
    sites
}

/// Returns the number of sites of the option-0 derivation of each node, given that of the rules; saturates.
pub fn node_sites(ir: &Ir, sites: &[u64]) -> Vec<u64> {
    let mut nodes: Vec<u64> = Vec::with_capacity(ir.node_count());
    // Children come before their parents in the arena.
    for index in 0..ir.node_count() {
        let of_node = sites_of(ir, NodeId::new(index), sites, &|child| nodes[child.index()]);
        nodes.push(of_node);
    }
    nodes
}

fn sites_of_tree(ir: &Ir, node: NodeId, sites: &[u64]) -> u64 {
    sites_of(ir, node, sites, &|child| sites_of_tree(ir, child, sites))
}

fn sites_of(ir: &Ir, node: NodeId, sites: &[u64], of: &dyn Fn(NodeId) -> u64) -> u64 {
    let takes_name = matches!(ir.node(node).naming(), Some((Naming::Use(_), _)));
    let own = u64::from(takes_name || ir.site_of(node).is_some());
    sum(ir.node(node).first(), sites, of).saturating_add(own)
}

fn choices_of_tree(ir: &Ir, node: NodeId, choices: &[u64]) -> u64 {
    choices_of(ir, node, choices, &|child| choices_of_tree(ir, child, choices))
}

fn choices_of(ir: &Ir, node: NodeId, choices: &[u64], of: &dyn Fn(NodeId) -> u64) -> u64 {
    let width = ir.site_of(node).map_or(0, |site| u64::from(site.width()));
    sum(ir.node(node).first(), choices, of).saturating_add(width)
}

fn steps_of_tree(ir: &Ir, node: NodeId, steps: &[u64]) -> u64 {
    steps_of(ir, node, steps, &|child| steps_of_tree(ir, child, steps))
}

fn steps_of(ir: &Ir, node: NodeId, steps: &[u64], of: &dyn Fn(NodeId) -> u64) -> u64 {
    sum(ir.node(node).first(), steps, of).saturating_add(1)
}

/// Returns the sum over the parts of a derivation.
fn sum(first: First<'_>, of_rules: &[u64], of: &dyn Fn(NodeId) -> u64) -> u64 {
    match first {
        First::Bytes(_) | First::Member(_) | First::Times(_, 0) => 0,
        First::Instance(rule) => of_rules[rule.index()],
        First::Times(items, times) => {
            items.iter().fold(0, |sum: u64, &item| sum.saturating_add(of(item))).saturating_mul(times.into())
        }
    }
}

/// Emits the option-0 derivation of `node` into `output`; rules whose string is in `known` are copied from there.
pub fn emit(ir: &Ir, node: NodeId, known: &[Option<Box<[u8]>>], output: &mut Vec<u8>) {
    match ir.node(node).first() {
        First::Bytes(bytes) => output.extend_from_slice(bytes),
        First::Member(member) => output.extend_from_slice(member.as_ref()),
        First::Instance(rule) => output.extend_from_slice(known[rule.index()].as_deref().unwrap_or(&[])),
        First::Times(_, 0) => {}
        First::Times(items, times) => {
            let start = output.len();
            items.iter().for_each(|&item| emit(ir, item, known, output));
            let end = output.len();
            // Rounds are equal, so an empty first round means that all are empty.
            if end > start {
                (1..times).for_each(|_| output.extend_from_within(start..end));
            }
        }
    }
}

/// Returns the option-0 strings of at most `max_len` bytes, for `wanted` rules and the rules that they consist of.
/// `None` if the strings have more than `max_total` bytes in total.
pub fn strings(ir: &Ir, wanted: &[RuleId], max_len: u64, max_total: usize) -> Option<Vec<Option<Box<[u8]>>>> {
    let mut needed = vec![false; ir.rules().len()];
    let mut open = wanted.to_vec();
    while let Some(rule) = open.pop() {
        if !std::mem::replace(&mut needed[rule.index()], true)
            && let Some(body) = ir.body(rule)
        {
            references(ir, body, &mut open);
        }
    }
    let mut strings = vec![None; ir.rules().len()];
    let mut total = 0;
    for rule in order(ir) {
        let Some(body) = ir.body(rule).filter(|_| needed[rule.index()]) else { continue };
        if ir.rule(rule).facts.min_len > max_len {
            continue;
        }
        let mut string = Vec::new();
        emit(ir, body, &strings, &mut string);
        total += string.len();
        if total > max_total {
            return None;
        }
        strings[rule.index()] = Some(string.into());
    }
    Some(strings)
}

/// Adds to `found` the rules that the option-0 derivation of `node` refers to.
fn references(ir: &Ir, node: NodeId, found: &mut Vec<RuleId>) {
    match ir.node(node).first() {
        First::Instance(rule) => found.push(rule),
        First::Times(items, 1..) => items.iter().for_each(|&item| references(ir, item, found)),
        First::Bytes(_) | First::Member(_) | First::Times(_, 0) => {}
    }
}

/// The size of the shortest text of a rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// The depth in rules.
    pub depth: u32,
    /// The number of references to rules with parameters; saturates.
    pub calls: u32,
}

/// Returns the size of the shortest text of each rule. Rounds that may follow from a parameter count once. If a rule
/// has itself by them, returns that rule.
pub fn sizes(ir: &Ir) -> Result<Vec<Size>, RuleId> {
    let mut sizes: Vec<Option<Size>> = vec![None; ir.rules().len()];
    let mut is_open = vec![false; ir.rules().len()];
    for start in ir.rule_ids() {
        let mut open = vec![start];
        while let Some(&rule) = open.last() {
            if sizes[rule.index()].is_some() {
                open.pop();
                continue;
            }
            is_open[rule.index()] = true;
            let mut within = Vec::new();
            let has_parameters = !ir.parameters(rule).is_empty();
            ir.body(rule).into_iter().for_each(|body| first_rules(ir, body, has_parameters, &mut within));
            match within.iter().find(|rule| sizes[rule.index()].is_none()) {
                Some(&again) if is_open[again.index()] => return Err(again),
                Some(&next) => open.push(next),
                None => {
                    let found = within.iter().filter_map(|rule| sizes[rule.index()]);
                    let depth = found.map(|size| size.depth + 1).max().unwrap_or(0);
                    let calls = within.iter().map(|&rule| calls(ir, rule, &sizes)).fold(0, u32::saturating_add);
                    sizes[rule.index()] = Some(Size { depth, calls });
                    is_open[rule.index()] = false;
                    open.pop();
                }
            }
        }
    }
    Ok(sizes.into_iter().map(Option::unwrap_or_default).collect())
}

/// Returns the number of references to rules with parameters in a reference to a rule, that one included.
fn calls(ir: &Ir, rule: RuleId, sizes: &[Option<Size>]) -> u32 {
    let within = sizes[rule.index()].map_or(0, |size| size.calls);
    if ir.parameters(rule).is_empty() { 0 } else { within.saturating_add(1) }
}

/// Returns the greatest number of references to rules with parameters in the shortest text of a node; saturates.
pub fn most_calls(ir: &Ir, sizes: &[Size]) -> u32 {
    let sizes: Vec<Option<Size>> = sizes.iter().copied().map(Some).collect();
    let mut nodes: Vec<u32> = Vec::with_capacity(ir.node_count());
    // Children come before their parents in the arena.
    for node in (0..ir.node_count()).map(NodeId::new) {
        let of = |items: &[NodeId]| items.iter().map(|item| nodes[item.index()]).fold(0, u32::saturating_add);
        if ir.node(node).times().is_some() {
            nodes.push(of(ir.children(node)));
            continue;
        }
        let own = match ir.node(node).first() {
            First::Bytes(_) | First::Member(_) | First::Times(_, 0) => 0,
            First::Instance(rule) => calls(ir, rule, &sizes),
            First::Times(items, _) => of(items),
        };
        nodes.push(own);
    }
    nodes.into_iter().max().unwrap_or(0)
}

/// Adds the rules in the shortest text of a node.
fn first_rules(ir: &Ir, node: NodeId, counts_rounds: bool, rules: &mut Vec<RuleId>) {
    if let Some((item, _)) = ir.node(node).times().filter(|_| counts_rounds) {
        return first_rules(ir, item, counts_rounds, rules);
    }
    match ir.node(node).first() {
        First::Bytes(_) | First::Member(_) | First::Times(_, 0) => {}
        First::Instance(rule) => rules.push(rule),
        First::Times(items, _) => items.iter().for_each(|&item| first_rules(ir, item, counts_rounds, rules)),
    }
}
