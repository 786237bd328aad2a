//! The room that a text leaves for options: where it is ample, each site offers all of them, and the choice bytes of an
//! option do not depend on the text.
//!
//! An option is offered if the shortest finish with it fits the limit on length. That finish is hardly longer than the
//! text itself, which is a finish, too. So all options fit if the limit is greater than the text by what an option
//! costs at most, as many times as each byte of it may be repeated.

use gramjet_compiler::derived::Derived;
use gramjet_compiler::ir::{Ir, NodeId};
use gramjet_compiler::labels::Labels;
use gramjet_compiler::naming::Naming;

/// The most digits of a number that makes a name unique.
const MOST_DIGITS: u64 = 20;

/// The most that a limit loses by being divided among copies, and a character costs.
const ROUNDING: u64 = 8;

/// The facts about rules are found in this number of rounds, or steps, or not at all.
const MOST_ROUNDS: usize = 256;
const MOST_STEPS: usize = 1 << 24;

/// The greatest number of times that a byte may be repeated.
const MOST_REPEATED: u64 = 1 << 16;

/// A number of bytes that depends on the longest part of a text that others follow from: a constant, and a factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bytes {
    fixed: u64,
    parts: u64,
}

impl Bytes {
    fn fixed(fixed: u64) -> Bytes {
        Bytes { fixed, parts: 0 }
    }

    fn plus(self, other: Bytes) -> Bytes {
        Bytes { fixed: self.fixed.saturating_add(other.fixed), parts: self.parts.saturating_add(other.parts) }
    }

    fn times(self, times: u64) -> Bytes {
        Bytes { fixed: self.fixed.saturating_mul(times), parts: self.parts.saturating_mul(times) }
    }

    fn max(self, other: Bytes) -> Bytes {
        Bytes { fixed: self.fixed.max(other.fixed), parts: self.parts.max(other.parts) }
    }

    /// Returns a bound that is at most the other one.
    fn at_most(self, other: Bytes) -> Bytes {
        if self.fixed > other.fixed || self.parts > other.parts { other } else { self }
    }

    fn with(self, longest: u64) -> u64 {
        self.parts.saturating_mul(longest).saturating_add(self.fixed)
    }
}

/// The room that the texts of a grammar need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    limit: u64,
    /// The number of times that a byte may be repeated.
    repeated: u64,
    /// The most that an option costs, and by how much the shortest finish may be longer than the text.
    most: Bytes,
}

impl Room {
    /// Returns the room that a grammar needs. `None` if it cannot be bounded.
    pub fn new(ir: &Ir) -> Option<Room> {
        let start = ir.body(ir.start())?.index();
        let limit = Labels::limit(ir, None)?;
        let extra = extra(ir)?;
        let copies = copies(ir)?;
        let longer = of_nodes(ir, Bytes::max, |rules, nodes, node| longer(ir, &extra, rules, nodes, node))?;
        let pending = of_nodes(ir, Bytes::max, |rules, nodes, node| pending(ir, &longer, rules, nodes, node))?;
        let repeated = of_nodes(ir, u64::max, |rules, nodes, node| repeated(ir, &copies, rules, nodes, node))?[start];
        let nodes = (0..ir.node_count()).map(NodeId::new);
        let costs = nodes.map(|node| cost(ir, &extra, node)).fold(Bytes::default(), Bytes::max);
        let rounds = extra.iter().map(|extra| extra.parts).max().unwrap_or(0);
        let own = longer.into_iter().fold(Bytes::default(), Bytes::max);
        let most = costs.plus(Bytes::fixed(rounds)).plus(own).plus(pending[start]);
        (repeated <= MOST_REPEATED).then_some(Room { limit, repeated, most })
    }

    /// Returns true if all options are offered at each site of a text of this length whose longest part that others
    /// follow from, or number of rounds, is this.
    pub fn is_ample(&self, len: u64, longest: u64) -> bool {
        let most = self.most.with(longest).saturating_add(ROUNDING);
        most.saturating_mul(self.repeated).saturating_add(len) <= self.limit
    }
}

/// Finds the least facts about nodes that satisfy a function of the facts about rules, about nodes before, and of a
/// node. `None` if they grow for too long.
fn of_nodes<T: Copy + Default + PartialEq>(
    ir: &Ir,
    join: fn(T, T) -> T,
    fact: impl Fn(&[T], &[T], NodeId) -> T,
) -> Option<Vec<T>> {
    let mut rules = vec![T::default(); ir.rules().len()];
    for _ in 0..(MOST_STEPS / (ir.node_count() + 1)).clamp(2, MOST_ROUNDS) {
        let mut nodes = Vec::with_capacity(ir.node_count());
        // Children come before their parents in the arena.
        for node in (0..ir.node_count()).map(NodeId::new) {
            nodes.push(fact(&rules, &nodes, node));
        }
        let before = rules.clone();
        for (rule, body) in ir.bodies() {
            let known = &mut rules[rule.index()];
            *known = join(*known, nodes[body.index()]);
        }
        if rules == before {
            return Some(nodes);
        }
    }
    None
}

/// Returns by how much the shortest text of each node is longer than it could be, at most: by copies and rounds that
/// follow from parts outside it. `None` if such parts follow from each other.
fn extra(ir: &Ir) -> Option<Vec<Bytes>> {
    let mut extra: Vec<Bytes> = Vec::with_capacity(ir.node_count());
    for node in (0..ir.node_count()).map(NodeId::new) {
        let of = ir.node(node);
        let children = || ir.children(node).iter().map(|child| extra[child.index()]);
        let is_silent = of.naming().is_some_and(|(naming, _)| naming.is_silent());
        let own = if let Some(leaf) = of.leaf() {
            matches!(leaf.derived, Derived::Copy(_)).then_some(Bytes { fixed: 0, parts: 1 })?
        } else if let Some((item, _)) = of.times() {
            let is_plain = extra[item.index()] == Bytes::default();
            is_plain.then_some(Bytes { fixed: 0, parts: ir.facts(item).min_len })?
        } else if of.label().is_some() {
            children().all(|extra| extra == Bytes::default()).then_some(Bytes::default())?
        } else if is_silent || ir.free(node).is_empty() {
            Bytes::default()
        } else if of.choice().is_some() {
            children().fold(Bytes::default(), Bytes::max)
        } else {
            let rounds = of.rounds().map_or(1, |rounds| rounds.min);
            children().fold(Bytes::default(), Bytes::plus).times(rounds.into())
        };
        extra.push(own);
    }
    Some(extra)
}

/// Returns the number of copies of each label that stand in the shortest texts of its rule, at most. `None` if one may
/// stand any number of times.
fn copies(ir: &Ir) -> Option<Vec<u64>> {
    let mut copies = vec![0u64; ir.label_count()];
    for (_, body) in ir.bodies() {
        let mut open = vec![(body, 1u64, false)];
        while let Some((node, times, is_in_rounds)) = open.pop() {
            let of = ir.node(node);
            if let Some(Derived::Copy(known)) = of.leaf().map(|leaf| &leaf.derived) {
                let copies = &mut copies[known.label.index()];
                *copies = copies.saturating_add((!is_in_rounds).then_some(times)?);
            }
            let rounds = of.rounds().map_or(1, |rounds| rounds.min.max(1));
            let is_in_rounds = is_in_rounds || of.times().is_some();
            let is_silent = of.naming().is_some_and(|(naming, _)| naming.is_silent());
            let children = if is_silent { &[] } else { ir.children(node) };
            open.extend(children.iter().map(|&child| (child, times.saturating_mul(rounds.into()), is_in_rounds)));
        }
    }
    Some(copies)
}

/// Returns by how much the shortest finish of a node is longer than what may stand in its place, at most.
fn longer(ir: &Ir, extra: &[Bytes], rules: &[Bytes], nodes: &[Bytes], node: NodeId) -> Bytes {
    let of = ir.node(node);
    let children = ir.children(node).iter().map(|child| nodes[child.index()]);
    let shortest = Bytes::fixed(ir.facts(node).min_len).plus(extra[node.index()]);
    let longer = match (of.choice(), of.naming()) {
        (Some(choice), _) => extra[choice.options[0].index()].plus(children.fold(Bytes::default(), Bytes::max)),
        (_, Some((Naming::Use(_), _))) => shortest,
        (_, Some((Naming::Declare(_), _))) => Bytes::default(),
        (_, Some((Naming::Unique(_), _))) => {
            return children.fold(Bytes::fixed(MOST_DIGITS), Bytes::plus);
        }
        _ => {
            let rounds = of.rounds().map_or(1, |rounds| rounds.min);
            let of_rule = of.instance().map_or(Bytes::default(), |rule| rules[rule.index()]);
            let all = children.fold(of_rule, Bytes::plus).times(rounds.into());
            // Rounds that follow from others are as many in the text.
            if of.times().is_some() && all != Bytes::default() { Bytes::fixed(u64::MAX) } else { all }
        }
    };
    // What stands there has at least no bytes.
    if ir.uniques(node).is_empty() { longer.at_most(shortest) } else { longer }
}

/// Returns by how much the shortest finish of all that comes after a part of a node, in the node, is longer than what
/// may stand there, at most.
fn pending(ir: &Ir, longer: &[Bytes], rules: &[Bytes], nodes: &[Bytes], node: NodeId) -> Bytes {
    let of = ir.node(node);
    let mut after = Bytes::default();
    let mut most = of.instance().map_or(Bytes::default(), |rule| rules[rule.index()]);
    for &child in ir.children(node).iter().rev() {
        most = most.max(nodes[child.index()].plus(after));
        if of.items().is_some() {
            after = after.plus(longer[child.index()]);
        }
        let further = of.rounds().map_or(0, |rounds| rounds.min.saturating_sub(1));
        most = most.plus(longer[child.index()].times(further.into()));
    }
    let is_unique = of.naming().is_some_and(|(naming, _)| naming.unique().is_some());
    if is_unique { most.plus(Bytes::fixed(MOST_DIGITS)) } else { most }
}

/// Returns how often a byte in a part of a node is repeated, at most.
fn repeated(ir: &Ir, copies: &[u64], rules: &[u64], nodes: &[u64], node: NodeId) -> u64 {
    let of = ir.node(node);
    let of_rule = of.instance().map_or(1, |rule| rules[rule.index()].max(1));
    let most = ir.children(node).iter().map(|child| nodes[child.index()]).fold(of_rule, u64::max);
    let own = of.label().map_or(0, |(label, ..)| copies[label.index()]);
    most.saturating_mul(own.saturating_add(1))
}

/// Returns how much an option of a node's site costs, at most.
fn cost(ir: &Ir, extra: &[Bytes], node: NodeId) -> Bytes {
    let of = ir.node(node);
    let shortest = |node: NodeId| Bytes::fixed(ir.facts(node).min_len).plus(extra[node.index()]);
    let digits = |uniques: u64| Bytes::fixed(uniques.saturating_mul(MOST_DIGITS));
    if let Some(choice) = of.choice() {
        let most = choice.options.iter().map(|&option| shortest(option)).fold(Bytes::default(), Bytes::max);
        return most.plus(digits(ir.most_uniques(node)));
    }
    if let Some(rounds) = of.rounds() {
        return shortest(rounds.item).plus(digits(ir.uniques(rounds.item).total()));
    }
    Bytes { fixed: 0, parts: u64::from(of.naming().is_some()) }
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::analysis::pools::Pools;
    use gramjet_compiler::ir::{NodeId, Site};
    use gramjet_compiler::limits::Limits;
    use gramjet_compiler::machine::{Decide, Decided, Machine, Nothing, Part};
    use gramjet_compiler::{Compiled, Options, SourceFile, compile};
    use gramjet_testkit::{Rng, Shape, lowered, random_grammar};

    use super::*;
    use crate::automaton::{AutomatonCache, Run};
    use crate::relaxed::{Relaxed, walk::Walk};

    fn compiled(grammar: &str) -> Compiled {
        compile(&SourceFile::new("g.ebnf", grammar), &Options::default()).expect("it compiles").0
    }

    /// Decides sites, and notes whether each offers all its options.
    struct Chooser<'i> {
        ir: &'i Ir,
        choices: std::vec::IntoIter<u8>,
        offers_all: bool,
    }

    impl Decide for &mut Chooser<'_> {
        const FORCED: bool = true;

        fn decide(&mut self, node: NodeId, site: Site<'_>) -> Decided {
            let of = self.ir.node(node);
            let is_bounded = of.rounds().is_some_and(|rounds| rounds.max == Some(rounds.min));
            let all = if is_bounded { 1 } else { self.ir.site_of(node).map_or(0, |site| site.options()) };
            self.offers_all &= site.options() >= all;
            let option = self.choices.next().map_or(0, |byte| u32::from(byte) % site.options());
            Decided { option, missing: 0 }
        }

        fn replace(&mut self, _option: u32) {
            self.offers_all = false;
        }
    }

    /// Returns the longest part of a text, if the automaton finds its derivation.
    fn longest(relaxed: &Relaxed, text: &[u8]) -> Option<u64> {
        let mut automaton = AutomatonCache::default().make(&relaxed.program)?;
        let mut run = Run::new(&relaxed.program, &mut automaton, text, 1 << 26, 1 << 20);
        let choices = run.run().ok()??;
        let mut walk = Walk::new(&relaxed.program, text, &choices, 1 << 26);
        walk.all(&run.marks).ok()?;
        Some(walk.longest())
    }

    /// Derives texts within limits on length. Returns how many leave ample room, and how many do not.
    fn check(ir: &Ir, rng: &mut Rng, about: &str) -> [u32; 2] {
        let mut counts = [0; 2];
        let Some(relaxed) = Relaxed::new(ir, false) else { return counts };
        let shortest = ir.rule(ir.start()).facts.min_len;
        for limit in (0..12).map(|more| shortest + [0, 1, 2, 4, 7, 12, 20, 33, 50, 80, 120, 250][more]) {
            let mut chooser = Chooser { ir, choices: rng.bytes(60).into_iter(), offers_all: true };
            let (mut text, pools) = (Vec::new(), Pools::none());
            let limits = Limits { max_len: Some(limit), max_depth: None };
            let machine = Machine::new(ir, &pools, limits, u64::MAX, &mut chooser, &mut text, Nothing);
            machine.derive(Part::Rule(ir.start()), 0, &mut Vec::new());
            let Some(longest) = longest(&relaxed, &text) else { continue };
            let room = Room { limit, ..relaxed.room };
            let is_ample = room.is_ample(text.len() as u64, longest);
            let about = || format!("{about}\n{limit} {longest} {room:?} {}", text.escape_ascii());
            assert!(chooser.offers_all || !is_ample, "{}", about());
            counts[usize::from(!is_ample)] += 1;
        }
        counts
    }

    #[test]
    fn where_room_is_ample_each_site_offers_all_options() {
        let mut counts = [0; 2];
        let mut add = |[ample, scarce]: [u32; 2]| counts = [counts[0] + ample, counts[1] + scarce];
        for grammar in [
            "e ::= '<' n:[a-z]+ '>' e* '</' $n '>' | '<' [a-z] '/>'",
            "s ::= a:[ab]* ';' ('x' | $a $a)* b:[c-e]* ';' ('long' | $b)? s?",
            "t ::= c more:(',' c)* ';' (c (',' c){count(more)} ';')*  c ::= [a-z]*",
            "s ::= $scope(k, ('k' $unique(k, [ab]) ';')* 'u' ($use(k, 'none') | 'x') (',' $use(k, 'none'))*) s?",
            "s ::= n:(m:[a-c]* '-' $m) '.' ('y' | $n)* $n '.' s?",
            "s ::= a:[x-z]* b:[ab]* ('!' | $b $a)* ';' ('0' | ',' $a '.' $a){2} s?",
        ] {
            let compiled = compiled(grammar);
            (0..60).for_each(|seed| add(check(&compiled.lowered, &mut Rng::new(seed), grammar)));
        }
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let shape = [Shape::NAMED, Shape::LABELLED_NAMED, Shape::LABELLED][seed as usize % 3];
            let grammar = random_grammar(&mut rng, &shape);
            if let Some((ir, _)) = lowered(&grammar) {
                add(check(&ir, &mut rng, &gramjet_compiler::ast::dump(&grammar)));
            }
        }
        assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
    }

    #[test]
    fn room_is_bounded_unless_parts_follow_from_each_other() {
        let room = |grammar: &str| Room::new(&compiled(grammar).lowered).map(|room| (room.repeated, room.most));
        let bytes = |fixed, parts| Bytes { fixed, parts };
        // The element without its name, and the copy of that.
        let element = room("e ::= '<' n:[a-z]+ '>' e* '</' $n '>' | '<' [a-z] '/>'");
        assert_eq!(element.map(|(repeated, _)| repeated), Some(2));
        assert_eq!(room("s ::= a:[a-z] $a ($a | 'b')?").map(|(repeated, _)| repeated), Some(3));
        assert_eq!(room("s ::= a:(b:[a-z] $b $b) $a").map(|(repeated, _)| repeated), Some(6));
        assert_eq!(room("s ::= a:[a-z] 'x' | $use(k, 'none') $define(k, [a-z])"), Some((1, bytes(9, 1))));
        // Copies of copies grow without bound.
        assert_eq!(room("s ::= a:s $a | 'x'"), None);
        assert_eq!(room("s ::= a:[a-z] b:($a 'x') $b"), None);
        assert_eq!(room("s ::= a:[a-z]+ ('x' $a){count(a)}"), None);
    }
}
