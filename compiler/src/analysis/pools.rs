//! Pools: the strings of a rule's minimum-depth derivations (F1, section 4.1), which stand in for the rule beyond the
//! depth limit.
//!
//! In such a derivation every rule instance takes an alternative of least height and every repetition its least number
//! of rounds, so pools are composed of pools. A pool keeps all of its strings up to a bound, else an even sample that is
//! the same on every machine; products are sampled without being built.

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;

use crate::analysis::shortest;
use crate::ir::{Ir, Node, NodeId, RuleId};

/// A pool holds at most this many strings.
pub const MAX_STRINGS: usize = 256;
/// The pools of a grammar together hold about this many strings; larger grammars get smaller pools.
const TOTAL_STRINGS: usize = 1 << 21;
/// A string longer than this is not kept; a rule with no other has no pool.
const MAX_STRING_LEN: u64 = 1 << 16;
/// The strings of one pool have at most this many bytes together.
const MAX_POOL_BYTES: usize = 1 << 18;
/// The strings of all pools have at most this many bytes together.
const MAX_TOTAL_BYTES: usize = 1 << 26;
/// Once so many bytes were joined, pools hold one string: against grammars that are made to take long here.
const MAX_WORK: usize = 1 << 29;
/// What a join costs beside its bytes.
const JOIN_WORK: usize = 64;

/// The pool of a rule.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The strings of the rule's minimum-depth derivations, ascending by length, then bytes; never empty.
    pub strings: Arc<[Box<[u8]>]>,
    /// The rule's shortest string, if it is shorter than all of them: it stands in where a length limit leaves none of
    /// them, and is the rule's derivation with option 0 at every site.
    pub shortest: Option<Box<[u8]>>,
}

/// The pool of each rule.
#[derive(Clone, Debug)]
pub struct Pools {
    pools: Vec<Option<Pool>>,
}

impl Pools {
    /// The pool of a rule; `None` if its strings exceed the budgets or the rule is not reachable.
    pub fn get(&self, rule: RuleId) -> Option<&Pool> {
        self.pools[rule.index()].as_ref()
    }
}

/// The pools of all rules that have a body in the lowered IR.
pub fn pools(ir: &Ir) -> Pools {
    let rules = ir.rules().len();
    let strings = (TOTAL_STRINGS / rules.max(1)).clamp(1, MAX_STRINGS);
    let mut builder = Builder { ir, pools: vec![None; rules], strings, total_bytes: 0, work: Cell::new(0) };
    // A least alternative refers only to rules of smaller least depth.
    let mut order: Vec<RuleId> = ir.bodies().map(|(rule, _)| rule).collect();
    order.sort_by_key(|&rule| (ir.rule(rule).facts.min_depth, rule));
    for rule in order {
        builder.add(rule);
    }
    let mut pools = builder.pools;
    let long: Vec<RuleId> = ir.bodies().map(|(rule, _)| rule).filter(|&rule| is_longer(ir, rule, &pools)).collect();
    let shortest = shortest::strings(ir, &long, MAX_STRING_LEN, MAX_TOTAL_BYTES);
    for rule in long {
        let string = shortest.as_ref().and_then(|strings| strings[rule.index()].clone());
        pools[rule.index()] = match (pools[rule.index()].take(), string) {
            (Some(pool), Some(string)) => Some(Pool { shortest: Some(string), ..pool }),
            _ => None,
        };
    }
    Pools { pools }
}

/// Whether all strings of the rule's pool are longer than its shortest string.
fn is_longer(ir: &Ir, rule: RuleId, pools: &[Option<Pool>]) -> bool {
    let min_len = ir.rule(rule).facts.min_len;
    pools[rule.index()].as_ref().is_some_and(|pool| pool.strings[0].len() as u64 > min_len)
}

struct Builder<'i> {
    ir: &'i Ir,
    pools: Vec<Option<Pool>>,
    strings: usize,
    total_bytes: usize,
    work: Cell<usize>,
}

/// Ascending by length, then bytes, each once; never empty.
type Strings = Arc<[Box<[u8]>]>;

fn order(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl Builder<'_> {
    fn add(&mut self, rule: RuleId) {
        let Some(body) = self.ir.body(rule) else { return };
        if let Node::Rule(other) = self.ir.node(body) {
            self.pools[rule.index()] = self.pools[other.index()].clone();
            return;
        }
        let Some(strings) = self.of_node(body) else { return };
        let bytes: usize = strings.iter().map(|string| string.len() + 16).sum();
        if self.total_bytes + bytes <= MAX_TOTAL_BYTES {
            self.total_bytes += bytes;
            self.pools[rule.index()] = Some(Pool { strings, shortest: None });
        }
    }

    /// The greatest number of strings of a pool at this point.
    fn most(&self) -> usize {
        if self.work.get() < MAX_WORK { self.strings } else { 1 }
    }

    /// Sorts, removes duplicates and takes an even sample.
    fn sampled(&self, mut strings: Vec<&[u8]>) -> Option<Strings> {
        strings.sort_unstable_by(|a, b| order(a, b));
        strings.dedup();
        let kept = strings.len().min(self.most());
        let mut bytes = 0;
        let sample = (0..kept).map(|number| strings[number * strings.len() / kept]);
        let first = usize::from(kept > 0);
        let fits = sample.clone().take_while(|string| {
            bytes += string.len();
            bytes <= MAX_POOL_BYTES
        });
        let count = fits.count().max(first);
        (count > 0).then(|| sample.take(count).map(Into::into).collect())
    }

    fn of_node(&self, node: NodeId) -> Option<Strings> {
        let facts = self.ir.facts(node);
        match self.ir.node(node) {
            Node::Bytes(bytes) => (bytes.len() as u64 <= MAX_STRING_LEN).then(|| Strings::from([bytes.clone()])),
            Node::Class(set) => {
                let kept = (set.len() as usize).min(self.most());
                let members = (0..kept).filter_map(|index| {
                    let nth = (index as u64 * u64::from(set.len()) / kept as u64) as u32;
                    set.nth(nth).map(|member| set.encode(member).as_ref().into())
                });
                Some(members.collect())
            }
            Node::Rule(rule) | Node::Again(rule) | Node::Inline { rule, .. } => {
                let strings = &self.pools[rule.index()].as_ref()?.strings;
                self.work.set(self.work.get() + strings.len() * JOIN_WORK);
                Some(self.first(strings))
            }
            Node::Seq(items) => {
                let mut strings: Strings = Strings::from([Box::default()]);
                // What has one string needs no product.
                let mut literal: Vec<u8> = Vec::new();
                for &item in items {
                    let next = self.of_node(item)?;
                    if let [string] = &*next {
                        literal.extend_from_slice(string);
                        if literal.len() as u64 > MAX_STRING_LEN {
                            return None;
                        }
                    } else {
                        strings = self.product(&strings, &Strings::from([std::mem::take(&mut literal).into()]))?;
                        strings = self.product(&strings, &next)?;
                    }
                }
                self.product(&strings, &Strings::from([literal.into()]))
            }
            Node::Choice(choice) => {
                let least = choice.options.iter().filter(|&&option| self.ir.facts(option).min_depth == facts.min_depth);
                // An option without a pool is left out as long as another has one.
                let of_options: Vec<Strings> = least.filter_map(|&option| self.of_node(option)).collect();
                self.sampled(of_options.iter().flat_map(|strings| strings.iter().map(|string| &**string)).collect())
            }
            Node::Repeat { min: 0, .. } => Some(Strings::from([Box::default()])),
            Node::Repeat { item, min, .. } => {
                if facts.min_len > MAX_STRING_LEN {
                    return None;
                }
                let items = self.of_node(*item)?;
                // A round that can only be empty changes nothing.
                let rounds = if items.iter().all(|item| item.is_empty()) { 0 } else { *min };
                self.power(&items, rounds)
            }
        }
    }

    /// As many of these strings as a pool may have at this point.
    fn first(&self, strings: &Strings) -> Strings {
        match self.most() {
            most if most < strings.len() => strings[..most].into(),
            _ => strings.clone(),
        }
    }

    /// So many strings of `items` one after the other, by repeated squaring.
    fn power(&self, items: &Strings, rounds: u32) -> Option<Strings> {
        let mut strings: Strings = Strings::from([Box::default()]);
        for bit in (0..u32::BITS - rounds.leading_zeros()).rev() {
            strings = self.product(&strings, &strings)?;
            if rounds >> bit & 1 == 1 {
                strings = self.product(&strings, items)?;
            }
        }
        Some(strings)
    }

    /// All concatenations of a left and a right string, or an even sample of them.
    fn product(&self, left: &Strings, right: &Strings) -> Option<Strings> {
        // Next to nothing but the empty string all stays as it is.
        for (empty, other) in [(left, right), (right, left)] {
            if matches!(&**empty, [only] if only.is_empty()) {
                self.work.set(self.work.get() + other.len() * JOIN_WORK);
                return Some(self.first(other));
            }
        }
        let cap = self.most() * 4;
        let count = (left.len() * right.len()).min(cap);
        let pair = |index: usize| {
            if left.len() * right.len() <= cap {
                return (&left[index / right.len()], &right[index % right.len()]);
            }
            // The shortest with the shortest, then the left side evenly and the right side scattered.
            let scattered = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            (&left[index * left.len() / cap], &right[((scattered * right.len() as u64) >> 32) as usize])
        };
        let (mut joined, mut ends) = (Vec::new(), Vec::with_capacity(count));
        for (left, right) in (0..count).map(pair) {
            let len = left.len() + right.len();
            self.work.set(self.work.get() + len + JOIN_WORK);
            if len as u64 <= MAX_STRING_LEN {
                joined.extend_from_slice(left);
                joined.extend_from_slice(right);
                ends.push(joined.len());
            }
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        self.sampled(starts.zip(&ends).map(|(start, &end)| &joined[start..end]).collect())
    }
}
