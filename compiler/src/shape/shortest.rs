//! The probability of a grammar's shortest input, which is the output of the empty choice string.
//!
//! The probability is computed level by level, like the mean length: the values with one more level follow from the
//! values with one level less. All parts of a shortest string are shortest strings of their rules. So each node needs
//! only one number: the probability that it derives the string of its first options. Two options can derive the same
//! string; hashes of the strings show this. Some derivations are not counted: those in which a part is as short as its
//! rule's first string but differs from it.

use crate::analysis::pools::Pools;
use crate::ir::{First, Ir, NodeId, Rounds, RuleId};
use crate::ordered::sort_by_key;

use super::model::power;

/// Probabilities that change by less are settled.
const SETTLED: f64 = 1e-12;
/// The most nodes that are visited. At the limit, the result so far is used.
const WORK: usize = 1 << 26;
/// The least number of levels that are computed, even beyond that limit.
const LEVELS: usize = 40;

/// Returns the probability that an input is the shortest one, under a limit on the depth.
pub(super) fn share(ir: &Ir, pools: &Pools, depth: Option<u32>) -> f64 {
    let texts = Texts::new(ir);
    let mut rules: Vec<f64> = vec![0.0; ir.rules().len()];
    if depth.is_some() {
        let mut powers = vec![1];
        for (rule, _) in ir.bodies() {
            rules[rule.index()] = in_pool(&texts, pools, rule, &mut powers);
        }
    }
    let most = (WORK / ir.node_count().max(1)).max(LEVELS);
    let levels = depth.map_or(most, |depth| (depth as usize).saturating_add(1).min(most));
    let mut nodes = vec![0.0; ir.node_count()];
    for _ in 0..levels {
        for index in 0..ir.node_count() {
            let node = NodeId::new(index);
            nodes[index] = of_node(ir, &texts, &rules, &nodes, node);
        }
        let mut change = 0.0f64;
        for (rule, body) in ir.bodies() {
            let next = nodes[body.index()];
            change = change.max((next - rules[rule.index()]).abs());
            rules[rule.index()] = next;
        }
        if change < SETTLED {
            break;
        }
    }
    rules[ir.start().index()]
}

/// Returns the share of a rule's shortest string in its pool.
///
/// `powers` are those of the base that were needed before. They tell strings of other lengths apart, which need no
/// hash.
fn in_pool(texts: &Texts, pools: &Pools, rule: RuleId, powers: &mut Vec<u64>) -> f64 {
    let Some(pool) = pools.get(rule) else { return 0.0 };
    let shortest = texts.rules[rule.index()];
    let mut found = 0;
    for string in pool.strings.iter() {
        while powers.len() <= string.len() {
            powers.push(times(powers[powers.len() - 1], BASE));
        }
        found += u32::from(powers[string.len()] == shortest.power && Text::of(string) == shortest);
    }
    f64::from(found) / pool.strings.len().max(1) as f64
}

/// Returns the probability that a node derives its first string, from the values of the nodes before it and of the
/// rules.
fn of_node(ir: &Ir, texts: &Texts, rules: &[f64], nodes: &[f64], node: NodeId) -> f64 {
    let parts = ir.node(node);
    if let Some(choice) = parts.choice() {
        let same = choice.options.iter().enumerate().filter(|(_, option)| texts.of(**option) == texts.of(node));
        return same.map(|(number, option)| choice.share(number) * nodes[option.index()]).sum();
    }
    if let Some(Rounds { item, min, max }) = parts.rounds() {
        let one = nodes[item.index()];
        let room = max.map(|max| max.saturating_sub(min));
        return power(one, min) * further_rounds(one, room, ir.facts(item).min_len == 0);
    }
    let elsewhere = parts.instance().filter(|_| parts.children().is_empty());
    match (ir.site_of(node), elsewhere) {
        // The site of a leaf has even shares.
        (Some(site), _) => 1.0 / f64::from(site.options()),
        (None, Some(rule)) => rules[rule.index()],
        (None, None) => parts.children().iter().map(|child| nodes[child.index()]).product(),
    }
}

/// Returns the probability that the further rounds of a repetition derive nothing. If a round can be empty, it is so
/// with the probability `one`.
fn further_rounds(one: f64, room: Option<u32>, can_be_empty: bool) -> f64 {
    let half = if can_be_empty { one / 2.0 } else { 0.0 };
    match room {
        Some(0) => 1.0,
        None => 0.5 / (1.0 - half),
        Some(most) => {
            let behind = power(half, most);
            (1.0 - behind) / (1.0 - half) / 2.0 + behind
        }
    }
}

/// The hash of a string, and the base to the power of its length. Karp and Rabin (1987), modulo 2^61 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Text {
    hash: u64,
    power: u64,
}

const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0123_4567_89ab_cdef;

fn times(a: u64, b: u64) -> u64 {
    // 2^61 is 1 modulo the prime, so the digits of the product to the base 2^61 are added.
    let product = u128::from(a) * u128::from(b);
    reduced((product as u64 & PRIME) + (product >> 61) as u64)
}

/// Returns the remainder of a number less than twice the prime.
fn reduced(number: u64) -> u64 {
    if number >= PRIME { number - PRIME } else { number }
}

impl Text {
    const EMPTY: Text = Text { hash: 0, power: 1 };

    fn of(bytes: &[u8]) -> Text {
        let byte = |byte: &u8| Text { hash: u64::from(*byte) + 1, power: BASE };
        bytes.iter().map(byte).fold(Text::EMPTY, Text::then)
    }

    fn then(self, next: Text) -> Text {
        Text { hash: reduced(times(self.hash, next.power) + next.hash), power: times(self.power, next.power) }
    }

    fn repeated(self, mut times: u32) -> Text {
        let (mut result, mut square) = (Text::EMPTY, self);
        while times > 0 {
            if times & 1 == 1 {
                result = result.then(square);
            }
            square = square.then(square);
            times >>= 1;
        }
        result
    }
}

/// The strings that rules and nodes derive by their first options.
struct Texts {
    rules: Vec<Text>,
    nodes: Vec<Text>,
}

impl Texts {
    fn new(ir: &Ir) -> Texts {
        let mut texts = Texts { rules: vec![Text::EMPTY; ir.rules().len()], nodes: vec![Text::EMPTY; ir.node_count()] };
        // First options refer only to rules of smaller height.
        let mut order: Vec<(RuleId, NodeId)> = ir.bodies().collect();
        sort_by_key(&mut order, |&(rule, _)| (ir.rule(rule).facts.height, rule));
        for (rule, body) in order {
            texts.rules[rule.index()] = texts.first(ir, body);
        }
        // Children come before their parents.
        for index in 0..ir.node_count() {
            let node = NodeId::new(index);
            texts.nodes[index] = texts.joined(ir, node, &|child| texts.of(child));
        }
        texts
    }

    fn of(&self, node: NodeId) -> Text {
        self.nodes[node.index()]
    }

    /// Follows only first options. The nesting of nodes is bounded.
    fn first(&self, ir: &Ir, node: NodeId) -> Text {
        self.joined(ir, node, &|child| self.first(ir, child))
    }

    fn joined(&self, ir: &Ir, node: NodeId, child: &dyn Fn(NodeId) -> Text) -> Text {
        match ir.node(node).first() {
            First::Bytes(bytes) => Text::of(bytes),
            First::Member(member) => Text::of(member.as_ref()),
            First::Instance(rule) => self.rules[rule.index()],
            First::Times(_, 0) => Text::EMPTY,
            First::Times(items, times) => {
                items.iter().fold(Text::EMPTY, |text, item| text.then(child(*item))).repeated(times)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Limits, run};
    use crate::{Compiled, Options, SourceFile, compile};

    fn compiled(text: &str) -> Compiled {
        compile(&SourceFile::new("g.ebnf", text), &Options::default()).expect("the grammar compiles").0
    }

    /// Computed by hand: the strings of the first options, in all possible derivations.
    #[test]
    fn shares_of_the_shortest_string() {
        for (text, depth, expected) in [
            ("s ::= 'x'*", None, 0.5),
            ("s ::= 'ab' | a b\na ::= 'a'\nb ::= 'b'", None, 1.0),
            ("s ::= 'ab' | 'a' [bc] | 'a' @ 2", None, 0.5),
            ("s ::= [a-d] | 'a'", None, 5.0 / 8.0),
            ("s ::= w* 'x'\nw ::= 'y'?", None, 2.0 / 3.0),
            ("s ::= w{0,2} 'x'\nw ::= 'y'?", None, 0.5 + 0.25 * 0.5 + 0.25 * 0.25),
            ("s ::= 'ab'{2}", None, 1.0),
            // p = 3/4 + p^2 / 4, with the least solution 1.
            ("s ::= '' @ 3 | s s", None, 1.0),
            ("s ::= t t\nt ::= 'x' | 'y' | '(' t ')'", Some(0), 0.25),
            ("s ::= t t\nt ::= 'x' | 'y' | '(' t ')'", Some(1), 1.0 / 9.0),
        ] {
            let compiled = compiled(text);
            let found = share(&compiled.lowered, &compiled.pools, depth);
            assert!((found - expected).abs() < 1e-6, "{text}: {found} is not {expected}");
        }
    }

    /// Compared with outputs of the reference interpreter for random choice bytes.
    #[test]
    fn shares_are_those_of_inputs() {
        for text in [
            "file ::= value*\nvalue ::= '{' (pair (',' pair)*)? '}' | [0-9]\npair ::= name ':' value\nname ::= [a-c]?",
            "e ::= e '+' e | t\nt ::= 'x' @ 3 | '(' e ')' | [xyz]",
            "s ::= (a | b)* c\na ::= 'q'?\nb ::= a a\nc ::= '' | 'r' s @ 2",
        ] {
            let compiled = compiled(text);
            let mut state = 7u64;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                Some((state >> 56) as u8)
            };
            for depth in [0, 1, 5, 32] {
                let limits = Limits { max_depth: Some(depth), ..Limits::default() };
                let input = |source: &mut dyn FnMut() -> Option<u8>| {
                    let mut output = Vec::new();
                    run(&compiled.lowered, &compiled.pools, limits, source, &mut output, None);
                    output
                };
                let shortest = input(&mut || None);
                let inputs = 20_000;
                let found = (0..inputs).filter(|_| input(&mut random) == shortest).count() as f64 / f64::from(inputs);
                let expected = share(&compiled.lowered, &compiled.pools, Some(depth));
                // Five standard deviations.
                let tolerance = 5.0 * (expected * (1.0 - expected) / f64::from(inputs)).sqrt() + 1e-9;
                assert!((found - expected).abs() <= tolerance, "{text}, depth {depth}: {found} is not {expected}");
            }
        }
    }
}
