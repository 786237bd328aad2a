//! From residual IR to a [`Program`], backwards: a node is built with the exit that follows it, and what it becomes is an
//! exit again, so that literals, calls and jumps vanish into the exits of the sites before them.
//!
//! *Levels*: the interpreter keeps one number, what is left of the depth. Inside a rule's body the depth of an instance is
//! known up to that number, so only its level below the body is compared with it, and nothing is saved or restored. Where
//! an instance is jumped back to, the number changes; if something follows the instance, it is called like a rule.

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::charset::{CharSet, Unit};
use gramjet_compiler::ir::{Choice, Ir, Node, NodeId, RuleId};
use rustc_hash::FxHashMap;

use super::draft::{Exit, Op};
use super::program::{Class, Code, HALT, Pc, Program, RETURN};
use super::tables::Tables;
use super::text::Text;

mod exits;
mod instances;
mod repeats;
mod runs;
mod words;

/// Builds the program that keeps a depth limit (`with_depth`) or that does not.
pub(super) fn build(ir: &Ir, pools: &Pools, with_depth: bool) -> Program {
    let mut builder = Builder {
        ir,
        pools,
        with_depth,
        tables: Tables::default(),
        entries: vec![RETURN; ir.rules().len()],
        jumps: jumping_nodes(ir),
        refers: referring_nodes(ir),
        weights: repeats::weights(ir),
        at_limit: false,
        rounds_left: MAX_CALLED_ROUNDS,
        scopes: Vec::new(),
        labels: FxHashMap::default(),
        fresh: None,
    };
    let go_back = builder.tables.go(Exit::RETURN);
    builder.emit(go_back);
    let halt = builder.emit(Op { code: Code::Halt, ..Op::UNSET });
    debug_assert_eq!(halt, HALT);
    for (rule, _) in ir.bodies() {
        builder.entries[rule.index()] = builder.reserve_instance();
    }
    for (rule, body) in ir.bodies() {
        let entry = builder.entries[rule.index()];
        builder.instance(rule, body, entry, 0, Exit::RETURN);
    }
    let start = builder.entries[ir.start().index()];
    builder.tables.finish(start)
}

/// Levels above this do not fit into an op with what is added to them.
const MAX_LEVEL: u32 = 100;

/// Literals up to this length are emitted by several ops with short texts.
const MAX_SPLIT: usize = 3 * Text::MAX;

/// So many rounds of repetitions at most are calls of their own in a program.
const MAX_CALLED_ROUNDS: u32 = 1 << 16;

struct Builder<'c> {
    ir: &'c Ir,
    pools: &'c Pools,
    with_depth: bool,
    tables: Tables,
    /// The op with which each rule begins.
    entries: Vec<Pc>,
    /// Whether there is a jump back in a node's tail positions.
    jumps: Vec<bool>,
    /// Whether there is an instance in a node.
    refers: Vec<bool>,
    /// How much is built of each node.
    weights: Vec<u32>,
    /// Whether what is built stands in an instance exactly at the depth limit: all instances in it are beyond.
    at_limit: bool,
    /// So many rounds of repetitions may still become calls of their own.
    rounds_left: u32,
    /// The instances that can be jumped back to from here, their ops and levels.
    scopes: Vec<(RuleId, Pc, u32)>,
    /// Ops that stand for exits. Never iterated.
    labels: FxHashMap<Exit, Pc>,
    /// The last op, if only the exit that was returned last leads to it.
    fresh: Option<Pc>,
}

impl Builder<'_> {
    /// The exit that derives `node`, which stands at `level`, and then takes `exit`.
    fn node(&mut self, node: NodeId, level: u32, exit: Exit) -> Exit {
        let ir = self.ir;
        if !matches!(ir.node(node), Node::Bytes(_)) {
            // The exit may be taken more than once.
            self.fresh = None;
        }
        if self.at_limit
            && let Node::Rule(rule) | Node::Again(rule) | Node::Inline { rule, .. } = ir.node(node)
            && let Some(exit) = self.pool_exit(*rule, exit)
        {
            return exit;
        }
        match ir.node(node) {
            Node::Bytes(bytes) => self.literal(node, bytes, exit),
            Node::Class(set) => self.class(set, exit),
            Node::Rule(rule) => self.call(self.entries[rule.index()], self.below(level), exit),
            Node::Seq(items) => self.sequence(items, level, exit),
            Node::Choice(choice) => self.choice(node, choice, level, exit),
            Node::Repeat { item, min, max } => self.repeat(*item, *min, *max, level, exit),
            Node::Inline { rule, body } => self.inline(*rule, *body, level, exit),
            Node::Again(rule) => {
                let scope = self.scopes.iter().rev().find(|scope| scope.0 == *rule);
                // The verifier of the IR has found the scope.
                let &(_, pc, above) = scope.unwrap_or(&(*rule, RETURN, level));
                Exit { deeper: self.below(level - above), ..Exit::to(pc) }
            }
        }
    }

    /// What is taken from the depth left when an instance below `level` begins at level 0.
    fn below(&self, level: u32) -> u8 {
        if self.with_depth { level as u8 + 1 } else { 0 }
    }

    /// Calls an instance, with what is taken from the depth left; a jump if nothing follows.
    fn call(&mut self, entry: Pc, deeper: u8, exit: Exit) -> Exit {
        if exit == Exit::RETURN {
            return Exit { deeper, ..Exit::to(entry) };
        }
        let (push, push_deeper) = match exit.is_bare() && exit.push == 0 && exit.next != RETURN {
            true => (exit.next, exit.deeper),
            false => (self.label(exit), 0),
        };
        Exit { push, deeper, push_deeper, ..Exit::to(entry) }
    }

    fn inline(&mut self, rule: RuleId, body: NodeId, level: u32, exit: Exit) -> Exit {
        let looped = self.jumps_to(body, rule);
        if !self.with_depth {
            if !looped {
                return self.node(body, 0, exit);
            }
            let pc = self.reserve_instance();
            self.instance(rule, body, pc, 0, exit);
            return Exit::to(pc);
        }
        if looped || level >= MAX_LEVEL {
            let pc = self.reserve_instance();
            let (begin, deeper) = if level < MAX_LEVEL { (level + 1, 0) } else { (0, self.below(level)) };
            self.instance(rule, body, pc, begin, Exit::RETURN);
            let called = self.call(pc, deeper, exit);
            return if exit == Exit::RETURN { called } else { self.run_before(rule, body, level, exit, called) };
        }
        let others = self.others(rule, body, exit);
        let begin = self.node(body, level + 1, exit);
        match others {
            Some(others) => self.scoped(level + 1, others, begin),
            None => begin,
        }
    }

    /// Whether a jump in the tail positions of `node` leads back to the instance of `rule` around it.
    fn jumps_to(&self, node: NodeId, rule: RuleId) -> bool {
        self.jumps[node.index()]
            && match self.ir.node(node) {
                Node::Again(target) => *target == rule,
                Node::Seq(items) => items.last().is_some_and(|&item| self.jumps_to(item, rule)),
                Node::Choice(choice) => choice.options.iter().any(|&option| self.jumps_to(option, rule)),
                Node::Inline { rule: inner, body } => *inner != rule && self.jumps_to(*body, rule),
                Node::Bytes(_) | Node::Class(_) | Node::Rule(_) | Node::Repeat { .. } => false,
            }
    }

    fn literal(&mut self, node: NodeId, bytes: &[u8], exit: Exit) -> Exit {
        if bytes.len() <= MAX_SPLIT {
            return self.text_before(bytes, exit);
        }
        let op = self.tables.long(node, bytes, exit);
        Exit::to(self.emit(op))
    }

    fn class(&mut self, set: &CharSet, exit: Exit) -> Exit {
        let op = if set.len() > 256 {
            self.tables.class(class_of(set), exit)
        } else {
            let members: Vec<_> = set.iter().map(|member| set.encode(member)).collect();
            let costs: Vec<u64> = members.iter().map(|member| member.as_ref().len() as u64 - set.min_len()).collect();
            let exits: Vec<Exit> = members.iter().map(|member| self.text_before(member.as_ref(), exit)).collect();
            self.tables.site(&exits, &costs, None)
        };
        Exit::to(self.emit(op))
    }

    fn choice(&mut self, node: NodeId, choice: &Choice, level: u32, exit: Exit) -> Exit {
        let ir = self.ir;
        let min_len = ir.facts(node).min_len;
        let mut exits = Vec::with_capacity(choice.options.len());
        let mut costs = Vec::with_capacity(choice.options.len());
        for &option in &choice.options {
            costs.push(ir.facts(option).min_len - min_len);
            exits.push(self.node(option, level, exit));
        }
        let op = self.tables.site(&exits, &costs, choice.slots.as_ref());
        Exit::to(self.emit(op))
    }
}

/// Whether each node has a jump back in its tail positions.
fn jumping_nodes(ir: &Ir) -> Vec<bool> {
    let mut jumps = vec![false; ir.node_count()];
    // Children stand before their parents.
    for index in 0..jumps.len() {
        let node = NodeId::new(index);
        jumps[index] = match ir.node(node) {
            Node::Again(_) => true,
            Node::Seq(items) => items.last().is_some_and(|item| jumps[item.index()]),
            Node::Choice(_) | Node::Inline { .. } => ir.children(node).iter().any(|child| jumps[child.index()]),
            Node::Bytes(_) | Node::Class(_) | Node::Rule(_) | Node::Repeat { .. } => false,
        };
    }
    jumps
}

/// Whether there is an instance in each node.
fn referring_nodes(ir: &Ir) -> Vec<bool> {
    let mut refers = vec![false; ir.node_count()];
    // Children stand before their parents.
    for index in 0..refers.len() {
        let node = NodeId::new(index);
        refers[index] = matches!(ir.node(node), Node::Rule(_) | Node::Again(_) | Node::Inline { .. })
            || ir.children(node).iter().any(|child| refers[child.index()]);
    }
    refers
}

fn class_of(set: &CharSet) -> Class {
    debug_assert_eq!(set.unit(), Unit::Char);
    let mut before = 0;
    let ranges = set.ranges().iter().map(|&(low, high)| {
        let range = (low, before);
        before += high - low + 1;
        range
    });
    Class {
        ranges: ranges.collect(),
        within: [1, 2, 3, 4].map(|bytes| set.len_within(bytes)),
        min_len: set.min_len() as u32,
    }
}
