//! Pools: the strings of a rule's minimum-depth derivations (F1, section 4.1). They replace the rule beyond the depth
//! limit.
//!
//! In such a derivation every rule instance takes an alternative of least height and every repetition its least number
//! of rounds, so pools are composed of pools. A pool keeps all of its strings up to a bound, else an even sample that
//! is the same on every machine. Products are sampled without being built.

mod strings;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use crate::analysis::shortest;
use crate::ir::{Ir, NodeId, Rounds, RuleId};
use crate::ordered::{Map, sort_by_key};

use strings::{Strings, ascending};

/// A pool holds at most this many strings.
pub const MAX_STRINGS: usize = 256;
/// The pools of a grammar have about this many strings in total. Larger grammars get smaller pools.
const TOTAL_STRINGS: usize = 1 << 21;
/// A longer string is not kept. A rule that has only longer strings has no pool.
const MAX_STRING_LEN: u64 = 1 << 16;
/// The strings of one pool have at most this many bytes in total.
const MAX_POOL_BYTES: usize = 1 << 18;
/// The strings of all pools have at most this many bytes in total.
const MAX_TOTAL_BYTES: usize = 1 << 26;
/// After this much work on joins, pools get one string each. This bounds the time for hostile grammars.
const MAX_WORK: usize = 1 << 29;
/// The work of a join in addition to its bytes.
const JOIN_WORK: usize = 64;

/// The pool of a rule.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The strings of the rule's minimum-depth derivations, ascending by length, then bytes. Empty if in such a
    /// derivation, or in the shortest one, bytes follow from labelled parts: then the shortest derivation is used.
    pub strings: Arc<[Box<[u8]>]>,
    /// The rule's shortest string, if it is shorter than all strings of the pool. It is used where a length limit
    /// excludes all of them, and is the derivation with option 0 at every site.
    pub shortest: Option<Box<[u8]>>,
}

/// The pool of each rule. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    pools: Arc<[Option<Pool>]>,
    missing: Option<RuleId>,
}

impl Pools {
    /// Returns an empty set of pools, for producers without a depth limit.
    pub fn none() -> Pools {
        Pools::default()
    }

    /// Returns the pool of a rule; `None` if its strings exceed the budgets or the rule is not reachable.
    #[inline]
    pub fn get(&self, rule: RuleId) -> Option<&Pool> {
        self.pools.get(rule.index())?.as_ref()
    }

    /// Returns the first reachable rule whose strings exceed the budgets.
    pub fn missing(&self) -> Option<RuleId> {
        self.missing
    }
}

/// Returns the pools of all rules that have a body in the lowered IR.
pub fn pools(ir: &Ir) -> Pools {
    let rules = ir.rules().len();
    let strings = (TOTAL_STRINGS / rules.max(1)).clamp(1, MAX_STRINGS);
    let mut builder = Builder { ir, pools: vec![None; rules], strings, total_bytes: 0, work: Cell::new(0) };
    // An alternative of least height refers only to rules of smaller least height.
    let mut order: Vec<RuleId> = ir.bodies().map(|(rule, _)| rule).collect();
    sort_by_key(&mut order, |&rule| (ir.rule(rule).facts.min_depth, rule));
    for rule in order {
        builder.add(rule);
    }
    let mut pools = builder.finish();
    let derived = shortest::with_labels(ir);
    for rule in ir.bodies().map(|(rule, _)| rule).filter(|rule| derived[rule.index()]) {
        pools[rule.index()] = Some(Pool { strings: Arc::new([]), shortest: None });
    }
    let long: Vec<RuleId> = ir.bodies().map(|(rule, _)| rule).filter(|&rule| is_longer(ir, rule, &pools)).collect();
    let shortest = shortest::strings(ir, &long, MAX_STRING_LEN, MAX_TOTAL_BYTES);
    for rule in long {
        let string = shortest.as_ref().and_then(|strings| strings[rule.index()].clone());
        pools[rule.index()] = match (pools[rule.index()].take(), string) {
            (Some(pool), Some(string)) => Some(Pool { shortest: Some(string), ..pool }),
            _ => None,
        };
    }
    let missing = ir.bodies().map(|(rule, _)| rule).find(|rule| pools[rule.index()].is_none());
    Pools { pools: pools.into(), missing }
}

/// Returns true if all strings of the rule's pool are longer than its shortest string.
fn is_longer(ir: &Ir, rule: RuleId, pools: &[Option<Pool>]) -> bool {
    let min_len = ir.rule(rule).facts.min_len;
    let first = pools[rule.index()].as_ref().and_then(|pool| pool.strings.first());
    first.is_some_and(|first| first.len() as u64 > min_len)
}

struct Builder<'i> {
    ir: &'i Ir,
    /// The strings of each rule, ascending. A rule that only refers to another rule shares its strings.
    pools: Vec<Option<Rc<Strings>>>,
    strings: usize,
    total_bytes: usize,
    work: Cell<usize>,
}

impl Builder<'_> {
    fn add(&mut self, rule: RuleId) {
        let Some(body) = self.ir.body(rule) else { return };
        if let Some(other) = self.ir.node(body).reference() {
            self.pools[rule.index()] = self.pools[other.index()].clone();
            return;
        }
        let Some(strings) = self.of_node(body).or_else(|| self.empty_if_labelled(body)) else { return };
        let bytes = strings.total() + 16 * strings.len();
        if self.total_bytes + bytes <= MAX_TOTAL_BYTES {
            self.total_bytes += bytes;
            self.pools[rule.index()] = Some(strings);
        }
    }

    /// Returns an empty pool if bytes follow from labelled parts in the minimum-depth derivations of a node.
    fn empty_if_labelled(&self, node: NodeId) -> Option<Rc<Strings>> {
        self.has_labels(node).then(|| Rc::new(Strings::with_capacity(0, 0)))
    }

    fn has_labels(&self, node: NodeId) -> bool {
        let (facts, parts) = (self.ir.facts(node), self.ir.node(node));
        if let Some(rule) = parts.instance() {
            return self.pools[rule.index()].as_ref().is_some_and(|strings| strings.len() == 0);
        }
        let is_least = |child: NodeId| parts.choice().is_none() || self.ir.facts(child).min_depth == facts.min_depth;
        let is_skipped = parts.rounds().is_some_and(|rounds| rounds.min == 0);
        let mut children = self.ir.children(node).iter().filter(|&&child| is_least(child) && !is_skipped);
        parts.has_labels() || children.any(|&child| self.has_labels(child))
    }

    /// Returns the pools in their final form.
    fn finish(self) -> Vec<Option<Pool>> {
        let mut shared: Map<*const Strings, Arc<[Box<[u8]>]>> = Map::new();
        let finished = self.pools.iter().map(|strings| {
            let strings = strings.as_ref()?;
            let made = shared.entry(Rc::as_ptr(strings)).or_insert_with(|| strings.iter().map(Into::into).collect());
            Some(Pool { strings: made.clone(), shortest: None })
        });
        finished.collect()
    }

    /// Returns the greatest number of strings that a pool may have at this point of the work.
    fn most(&self) -> usize {
        if self.work.get() < MAX_WORK { self.strings } else { 1 }
    }

    /// Sorts, removes duplicates and takes an even sample.
    fn sampled(&self, strings: Strings) -> Option<Rc<Strings>> {
        if strings.len() == 0 {
            return None;
        }
        let ascends = strings.ascend();
        if strings.len() <= self.most() && strings.total() <= MAX_POOL_BYTES && ascends {
            return Some(Rc::new(strings));
        }
        let sorted = if ascends { strings.all() } else { ascending(&strings.all()) };
        let kept = sorted.len().min(self.most());
        let sample = (0..kept).map(|number| sorted[number * sorted.len() / kept]);
        let mut sampled =
            Strings::with_capacity(kept, sample.clone().map(<[u8]>::len).sum::<usize>().min(MAX_POOL_BYTES));
        for string in sample {
            if sampled.len() > 0 && sampled.total() + string.len() > MAX_POOL_BYTES {
                break;
            }
            sampled.push(string, &[]);
        }
        Some(Rc::new(sampled))
    }

    fn of_node(&self, node: NodeId) -> Option<Rc<Strings>> {
        let facts = self.ir.facts(node);
        let parts = self.ir.node(node);
        if let Some(set) = parts.class() {
            let kept = (set.len() as usize).min(self.most());
            let mut members = Strings::with_capacity(kept, kept);
            for index in 0..kept {
                let nth = (index as u64 * u64::from(set.len()) / kept as u64) as u32;
                if let Some(member) = set.nth(nth) {
                    members.push(set.encode(member).as_ref(), &[]);
                }
            }
            return Some(Rc::new(members));
        }
        if let Some(rule) = parts.instance() {
            let strings = self.pools[rule.index()].as_ref().filter(|strings| strings.len() > 0)?;
            self.work.set(self.work.get() + strings.len() * JOIN_WORK);
            return Some(self.first(strings));
        }
        if let Some(items) = parts.items() {
            let mut strings = Rc::new(Strings::one(&[]));
            // Nodes with one string need no product.
            let mut literal: Vec<u8> = Vec::new();
            for &item in items {
                let next = self.of_node(item)?;
                if let Some(string) = next.only() {
                    literal.extend_from_slice(string);
                    if literal.len() as u64 > MAX_STRING_LEN {
                        return None;
                    }
                } else {
                    strings = self.product(&strings, &Rc::new(Strings::one(&std::mem::take(&mut literal))))?;
                    strings = self.product(&strings, &next)?;
                }
            }
            return self.product(&strings, &Rc::new(Strings::one(&literal)));
        }
        if let Some(choice) = parts.choice() {
            let least = choice.options.iter().filter(|&&option| self.ir.facts(option).min_depth == facts.min_depth);
            // Options without a pool are left out if another option has one.
            let of_options: Vec<Rc<Strings>> = least.filter_map(|&option| self.of_node(option)).collect();
            return self.sampled(of_options.iter().flat_map(|strings| strings.iter()).collect());
        }
        if let Some(Rounds { item, min, .. }) = parts.rounds() {
            if min == 0 || facts.min_len > MAX_STRING_LEN {
                return (min == 0).then(|| Rc::new(Strings::one(&[])));
            }
            let items = self.of_node(item)?;
            // If every round is empty, so is the repetition.
            let rounds = if items.total() == 0 { 0 } else { min };
            return self.power(&items, rounds);
        }
        let bytes = parts.literal()?;
        (bytes.len() as u64 <= MAX_STRING_LEN).then(|| Rc::new(Strings::one(bytes)))
    }

    /// Returns the first of these strings, as many as a pool may have at this point.
    fn first(&self, strings: &Rc<Strings>) -> Rc<Strings> {
        match self.most() {
            most if most < strings.len() => Rc::new(strings.iter().take(most).collect()),
            _ => strings.clone(),
        }
    }

    /// Returns the strings of `rounds` items one after the other, by repeated squaring.
    fn power(&self, items: &Rc<Strings>, rounds: u32) -> Option<Rc<Strings>> {
        let mut strings = Rc::new(Strings::one(&[]));
        for bit in (0..u32::BITS - rounds.leading_zeros()).rev() {
            strings = self.product(&strings, &strings)?;
            if rounds >> bit & 1 == 1 {
                strings = self.product(&strings, items)?;
            }
        }
        Some(strings)
    }

    /// Returns all concatenations of a left and a right string, or an even sample of them.
    fn product(&self, left: &Rc<Strings>, right: &Rc<Strings>) -> Option<Rc<Strings>> {
        // Joined with the empty string alone, the other side stays as it is.
        for (empty, other) in [(left, right), (right, left)] {
            if empty.only().is_some_and(<[u8]>::is_empty) {
                self.work.set(self.work.get() + other.len() * JOIN_WORK);
                return Some(self.first(other));
            }
        }
        let cap = self.most() * 4;
        let count = (left.len() * right.len()).min(cap);
        // Room for somewhat more than the mean, but no more than a pool of four times the size may have.
        let mean = left.total() / left.len() + right.total() / right.len();
        let mut joined = Strings::with_capacity(count, (count * mean * 5 / 4).min(4 * MAX_POOL_BYTES));
        let mut work = self.work.get() + count * JOIN_WORK;
        let mut join = |left: &[u8], right: &[u8]| {
            let len = left.len() + right.len();
            work += len;
            if len as u64 <= MAX_STRING_LEN {
                joined.push(left, right);
            }
        };
        if left.len() * right.len() <= cap {
            let right = right.all();
            for left in left.all() {
                for right in &right {
                    join(left, right);
                }
            }
        } else {
            // First the shortest two, then even steps on the left and scattered ones on the right.
            for index in 0..cap {
                let scattered = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                let number = (scattered * right.len() as u64) >> 32;
                join(left.get(index * left.len() / cap), right.get(number as usize));
            }
        }
        self.work.set(work);
        self.sampled(joined)
    }
}
