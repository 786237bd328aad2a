//! Unfolds a depth limit: the number of levels left becomes a known argument. So each rule becomes one rule for every
//! number of levels with which it is reached (polyvariant specialisation, as in Jones, Gomard & Sestoft, *Partial
//! Evaluation and Automatic Program Generation*, 1993, chapter 4). A reference beyond the limit becomes the pool of its
//! rule.
//!
//! Law: without limits, the result reads and emits the same as the grammar under the depth limit. There is no recursion
//! left.

use crate::analysis::pools::Pools;
use crate::analysis::recursion::{recursion, references};
use crate::ir::{Facts, Ir, NodeId, RuleId};
use crate::ordered::Map;

/// The greatest depth limit worth unfolding. Greater limits make more code than caches and branch predictors hold, and
/// little of an input is near the limit (docs/jit.md has figures).
pub const MAX_UNFOLDED_DEPTH: u32 = 16;

/// The greatest number of nodes worth unfolding. At each reference, 16 strings of a pool count as one node.
pub const MAX_UNFOLDED_NODES: u32 = 6144;

/// The number of pool strings that count as one node. Engines make tables of pools, but their strings are nodes.
const STRINGS_OF_A_NODE: usize = 16;

/// The greatest number of bytes in literals and in the pools beyond the limit. The second constant is that of ranges in
/// classes. Passes copy both with the nodes.
const MAX_BYTES: usize = 1 << 20;
const MAX_RANGES: usize = 1 << 15;

/// A rule with this many levels left below it.
type Instance = (RuleId, u32);

/// Returns the lowered form of a grammar with `max_depth` unfolded. `None` if a rule has no pool, or if the result
/// would have more than `max_nodes` nodes (16 strings of a pool count as one), 1 MiB of literals and pools or 32 768
/// ranges. No rule may be inlined in `lowered`.
pub fn unfold(lowered: &Ir, pools: &Pools, max_depth: u32, max_nodes: u32) -> Option<Ir> {
    let mut unfolding = Unfolding {
        ir: lowered,
        pools,
        heights: heights(lowered),
        instances: Map::new(),
        facts: Vec::new(),
        of_pools: vec![None; lowered.rules().len()],
    };
    let start = unfolding.instance(lowered.start(), max_depth);
    unfolding.find(start, max_nodes)?;
    unfolding.build(start)
}

/// Returns the height in rule references of the highest derivation from each rule. `None` if there is no bound.
fn heights(ir: &Ir) -> Vec<Option<u32>> {
    let (recursion, references) = (recursion(ir), references(ir));
    let mut heights = vec![None; ir.rules().len()];
    for &rule in recursion.bottom_up() {
        if !recursion.is_recursive(rule) {
            let height = |callee: &RuleId| heights[callee.index()].map(|height: u32| height + 1);
            heights[rule.index()] =
                references[rule.index()].iter().map(height).try_fold(0, |most, height| Some(height?.max(most)));
        }
    }
    heights
}

struct Unfolding<'i> {
    ir: &'i Ir,
    pools: &'i Pools,
    heights: Vec<Option<u32>>,
    /// The reachable instances, ordered by levels, and their numbers in this order.
    instances: Map<(u32, RuleId), usize>,
    /// The facts of each instance, by its number.
    facts: Vec<Facts>,
    /// The choice among the strings of each rule's pool.
    of_pools: Vec<Option<NodeId>>,
}

/// The nodes, bytes and ranges that may still be made.
struct Room {
    nodes: usize,
    bytes: usize,
    ranges: usize,
}

/// Subtracts `count` from `left`. `None` if less is left.
fn take(left: &mut usize, count: usize) -> Option<()> {
    *left = left.checked_sub(count)?;
    Some(())
}

impl Unfolding<'_> {
    /// Returns the instance of a rule. Levels that no derivation of the rule needs are removed.
    fn instance(&self, rule: RuleId, levels: u32) -> Instance {
        (rule, self.heights[rule.index()].map_or(levels, |height| levels.min(height)))
    }

    /// Finds the instances that `start` reaches, if their unfolded form is small enough.
    fn find(&mut self, start: Instance, max_nodes: u32) -> Option<()> {
        let mut room = Room { nodes: max_nodes as usize, bytes: MAX_BYTES, ranges: MAX_RANGES };
        let mut has_stood = vec![false; self.ir.rules().len()];
        let mut open = vec![start];
        self.instances.insert((start.1, start.0), 0);
        while let Some((rule, levels)) = open.pop() {
            let mut below = vec![self.ir.body(rule)?];
            while let Some(node) = below.pop() {
                take(&mut room.nodes, 1)?;
                below.extend(self.ir.children(node));
                let node = self.ir.node(node);
                take(&mut room.bytes, node.literal().map_or(0, <[u8]>::len))?;
                take(&mut room.ranges, node.class().map_or(0, |set| set.ranges().len()))?;
                let Some(callee) = node.reference() else { continue };
                if levels > 0 {
                    let instance = self.instance(callee, levels - 1);
                    if self.instances.insert((instance.1, instance.0), 0).is_none() {
                        open.push(instance);
                    }
                } else {
                    let strings = &self.pools.get(callee)?.strings;
                    take(&mut room.nodes, strings.len() / STRINGS_OF_A_NODE)?;
                    if !std::mem::replace(&mut has_stood[callee.index()], true) {
                        take(&mut room.bytes, strings.iter().map(|string| string.len()).sum())?;
                    }
                }
            }
        }
        self.instances.values_mut().enumerate().for_each(|(number, value)| *value = number);
        Some(())
    }

    fn build(mut self, start: Instance) -> Option<Ir> {
        // An instance refers to instances with fewer levels, which have smaller numbers.
        let instances: Vec<Instance> = self.instances.keys().map(|&(levels, rule)| (rule, levels)).collect();
        for &(rule, levels) in &instances {
            let facts = self.facts_of(self.ir.body(rule)?, levels)?;
            self.facts.push(facts);
        }
        let named = instances.iter().zip(&self.facts);
        let rules = named.map(|(&(rule, levels), &facts)| (format!("{}@{levels}", self.ir.rule(rule).name), facts));
        let number = self.number(start.0, start.1)?;
        let mut new = Ir::new_unordered(rules, RuleId::new(number));
        for (number, &(rule, levels)) in instances.iter().enumerate() {
            let body = self.node(&mut new, self.ir.body(rule)?, levels)?;
            new.set_body(RuleId::new(number), body);
        }
        Some(new)
    }

    /// Returns the number of the instance of a rule with this many levels below it.
    fn number(&self, rule: RuleId, levels: u32) -> Option<usize> {
        let (rule, levels) = self.instance(rule, levels);
        self.instances.get(&(levels, rule)).copied()
    }

    /// Returns the facts of the result of [`Unfolding::node`]. `None` where that returns `None`.
    fn facts_of(&self, node: NodeId, levels: u32) -> Option<Facts> {
        let instance = match self.ir.node(node).instance() {
            Some(rule) => self.facts_of_instance(rule, levels)?,
            None => Facts::EMPTY,
        };
        let children = self.ir.children(node).iter().map(|&child| self.facts_of(child, levels));
        let children: Vec<Facts> = children.collect::<Option<_>>()?;
        Some(self.ir.node(node).composition().facts(children.into_iter(), |_, _| instance))
    }

    fn facts_of_instance(&self, rule: RuleId, levels: u32) -> Option<Facts> {
        if let Some(levels) = levels.checked_sub(1) {
            return Some(self.facts[self.number(rule, levels)?].one_deeper());
        }
        let strings = &self.pools.get(rule)?.strings;
        let min_len = strings.iter().map(|string| string.len() as u64).min()?;
        Some(Facts { min_len, ..Facts::EMPTY })
    }

    fn node(&mut self, new: &mut Ir, node: NodeId, levels: u32) -> Option<NodeId> {
        if let Some(rule) = self.ir.node(node).reference() {
            return match levels.checked_sub(1) {
                Some(levels) => Some(new.reference(RuleId::new(self.number(rule, levels)?))),
                None => self.pool(new, rule),
            };
        }
        let ir = self.ir;
        let children: Option<Vec<NodeId>> =
            ir.children(node).iter().map(|&child| self.node(new, child, levels)).collect();
        Some(new.rebuild(ir, node, children?))
    }

    /// Returns the choice among the strings of a rule's pool, as the choice map defines it.
    fn pool(&mut self, new: &mut Ir, rule: RuleId) -> Option<NodeId> {
        if let Some(node) = self.of_pools[rule.index()] {
            return Some(node);
        }
        let strings: Vec<NodeId> =
            self.pools.get(rule)?.strings.iter().map(|string| new.bytes(string.clone())).collect();
        let node = new.choice(strings, None);
        self.of_pools[rule.index()] = Some(node);
        Some(node)
    }
}
