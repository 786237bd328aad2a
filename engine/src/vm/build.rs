//! From residual IR to a [`Program`], backwards: a node is built with the exit that follows it, and what it becomes is an
//! exit again, so that literals, calls and jumps vanish into the exits of the sites before them.
//!
//! *Levels*: the interpreter keeps one number, what is left of the depth. Inside a rule's body the depth of an instance is
//! known up to that number, so only its level below the body is compared with it, and nothing is saved or restored. Where
//! an instance is jumped back to, the number changes; if something follows the instance, it is called like a rule.

use std::collections::HashMap;

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::charset::{CharSet, Unit};
use gramjet_compiler::ir::{Choice, Ir, Node, NodeId, RuleId};

use super::program::{Class, Code, Exit, HALT, NO_LEVEL, Op, Pc, Program, RETURN, Round, Way};
use super::tables::Tables;
use super::text::Text;

mod runs;

pub(super) use runs::{SingleBytes, Stop};

/// Builds the program that keeps a depth limit (`with_depth`) or that does not.
pub(super) fn build(ir: &Ir, pools: &Pools, with_depth: bool) -> Program {
    let mut builder = Builder {
        ir,
        pools,
        with_depth,
        tables: Tables::default(),
        entries: vec![RETURN; ir.rules().len()],
        jumps: jumping_nodes(ir),
        scopes: Vec::new(),
        labels: HashMap::new(),
        fresh: None,
    };
    builder.emit(Op { code: Code::Go, ..Op::UNSET });
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

/// Repetitions are unrolled if that makes at most this many nodes.
const MAX_UNROLLED: u32 = 64;

struct Builder<'c> {
    ir: &'c Ir,
    pools: &'c Pools,
    with_depth: bool,
    tables: Tables,
    /// The op with which each rule begins.
    entries: Vec<Pc>,
    /// Whether there is a jump back in a node's tail positions.
    jumps: Vec<bool>,
    /// The instances that can be jumped back to from here, their ops and levels.
    scopes: Vec<(RuleId, Pc, u32)>,
    /// Ops that stand for exits. Never iterated.
    labels: HashMap<Exit, Pc>,
    /// The last op, if only the exit that was returned last leads to it.
    fresh: Option<Pc>,
}

impl Exit {
    pub(super) const RETURN: Exit = Exit::to(RETURN);

    /// Goes to an op.
    pub(super) const fn to(next: Pc) -> Exit {
        Exit { text: Text::EMPTY, way: Way::new(next, 0), deeper: 0, push_deeper: 0 }
    }

    /// Neither pushes a frame nor goes deeper.
    fn is_jump(&self) -> bool {
        self.way.push() == 0 && self.deeper == 0
    }

    /// Has nothing that the exits of ops have not.
    pub(super) fn is_bare(&self) -> bool {
        self.text.is_empty() && self.push_deeper == 0
    }

    /// Only goes to an op.
    fn is_plain(&self) -> bool {
        self.text.is_empty() && self.is_jump()
    }
}

impl Op {
    /// Takes an exit.
    pub(super) fn go(exit: Exit) -> Op {
        let argument = u32::from(exit.push_deeper);
        Op { text: exit.text, code: Code::Go, argument, way: exit.way, deeper: exit.deeper as u8, ..Op::UNSET }
    }

    /// The same op with another exit, which must be bare.
    pub(super) fn then(self, exit: Exit) -> Op {
        debug_assert!(exit.is_bare());
        Op { way: exit.way, deeper: exit.deeper as u8, ..self }
    }
}

impl Builder<'_> {
    fn emit(&mut self, op: Op) -> Pc {
        let pc = self.tables.program.ops.len() as Pc;
        self.tables.program.ops.push(op);
        self.fresh = Some(pc);
        pc
    }

    fn op(&self, pc: Pc) -> Op {
        self.tables.program.ops[pc as usize]
    }

    fn set(&mut self, pc: Pc, op: Op) {
        self.tables.program.ops[pc as usize] = op;
    }

    /// An op that takes this exit.
    fn label(&mut self, exit: Exit) -> Pc {
        if exit.is_plain() {
            return exit.way.next();
        }
        if let Some(&pc) = self.labels.get(&exit) {
            return pc;
        }
        let op = self.op_of(exit);
        let pc = self.emit(op);
        self.fresh = None;
        self.labels.insert(exit, pc);
        pc
    }

    /// The same exit as an op has it.
    fn bare(&mut self, exit: Exit) -> Exit {
        if exit.is_bare() { exit } else { Exit::to(self.label(exit)) }
    }

    /// The op that an exit leads to, with the exit's text before its own, if it can stand for the exit.
    fn merged(&self, exit: Exit) -> Option<Op> {
        let target = self.op(exit.way.next());
        let copied = exit.is_jump() && target.level == NO_LEVEL;
        if !copied || matches!(target.code, Code::Unset | Code::Halt) {
            return None;
        }
        exit.text.then(target.text).map(|text| Op { text, ..target })
    }

    /// An op that takes an exit.
    fn op_of(&self, exit: Exit) -> Op {
        self.merged(exit).unwrap_or(Op::go(exit))
    }

    /// An op that takes the exit that was returned last. If that was the only way to the last op, the new op replaces it.
    fn moved_op_of(&mut self, exit: Exit) -> Op {
        let (merged, pc) = (self.merged(exit), exit.way.next());
        if merged.is_some() && self.fresh == Some(pc) && pc as usize + 1 == self.tables.program.ops.len() {
            self.tables.program.ops.pop();
        }
        self.fresh = None;
        merged.unwrap_or(Op::go(exit))
    }

    /// Room for an op with which an instance begins.
    fn reserve_instance(&mut self) -> Pc {
        if self.with_depth {
            self.emit(Op::UNSET);
        }
        let pc = self.emit(Op::UNSET);
        self.fresh = None;
        pc
    }

    /// Fills the room: an instance of `rule` at `level` whose body begins with `begin`, followed by `exit`.
    fn fill_instance(&mut self, pc: Pc, rule: RuleId, level: u32, begin: Op, exit: Exit) {
        match self.pool_op(rule, exit) {
            Some(pool) => {
                self.set(pc - 1, pool);
                self.set(pc, Op { level: level as i8, ..begin });
            }
            None => self.set(pc, begin),
        }
    }

    /// An instance whose room is `pc`.
    fn instance(&mut self, rule: RuleId, body: NodeId, pc: Pc, level: u32, exit: Exit) {
        self.scopes.push((rule, pc, level));
        if !self.looped_run(rule, body, pc, level, exit) {
            let begin = self.node(body, level, exit);
            let op = self.moved_op_of(begin);
            self.fill_instance(pc, rule, level, op, exit);
        }
        self.scopes.pop();
    }

    /// Begins an instance of `rule` at `level`: `begin` within the depth limit, `pool` beyond it.
    fn scoped(&mut self, level: u32, pool: Op, begin: Exit) -> Exit {
        let next = begin.way.next();
        let inner = i32::from(self.op(next).level);
        if begin.is_plain() && inner == level as i32 + 1 && next > 0 && self.op(next - 1) == pool {
            // The instance inside begins at the same place and has the same pool: its check is the stronger one.
            return begin;
        }
        let op = self.moved_op_of(begin);
        self.emit(pool);
        Exit::to(self.emit(Op { level: level as i8, ..op }))
    }

    /// The exit that derives `node`, which stands at `level`, and then takes `exit`.
    fn node(&mut self, node: NodeId, level: u32, exit: Exit) -> Exit {
        let ir = self.ir;
        if !matches!(ir.node(node), Node::Bytes(_)) {
            // The exit may be taken more than once.
            self.fresh = None;
        }
        match ir.node(node) {
            Node::Bytes(bytes) => self.literal(Some(node), bytes, exit),
            Node::Class(set) => self.class(set, exit),
            Node::Rule(rule) => self.call(self.entries[rule.index()], self.below(level), exit),
            Node::Seq(items) => items.iter().rev().fold(exit, |exit, &item| self.node(item, level, exit)),
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
    fn below(&self, level: u32) -> u16 {
        if self.with_depth { level as u16 + 1 } else { 0 }
    }

    /// Calls an instance, with what is taken from the depth left; a jump if nothing follows.
    fn call(&mut self, entry: Pc, deeper: u16, exit: Exit) -> Exit {
        if exit == Exit::RETURN {
            return Exit { deeper, ..Exit::to(entry) };
        }
        let (push, push_deeper) = match exit.is_bare() && exit.way.push() == 0 && exit.way.next() != RETURN {
            true => (exit.way.next(), exit.deeper),
            false => (self.label(exit), 0),
        };
        Exit { way: Way::new(entry, push), deeper, push_deeper, ..Exit::RETURN }
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
        let pool = self.pool_op(rule, exit);
        let begin = self.node(body, level + 1, exit);
        match pool {
            Some(pool) => self.scoped(level + 1, pool, begin),
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

    fn literal(&mut self, node: Option<NodeId>, bytes: &[u8], mut exit: Exit) -> Exit {
        if bytes.len() > MAX_SPLIT {
            let exit = self.bare(exit);
            let argument = self.tables.long(node, bytes);
            return Exit::to(self.emit(Op { code: Code::Long, argument, ..Op::UNSET }.then(exit)));
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if exit.text.len() == Text::MAX {
                exit = Exit::to(self.label(exit));
            }
            let (before, last) = rest.split_at(rest.len().saturating_sub(Text::MAX - exit.text.len()));
            let text = Text::new(last).and_then(|last| last.then(exit.text));
            // It was cut to fit.
            exit.text = text.unwrap_or(exit.text);
            rest = before;
        }
        exit
    }

    fn class(&mut self, set: &CharSet, exit: Exit) -> Exit {
        if set.len() > 256 {
            let exit = self.bare(exit);
            let argument = self.tables.class(class_of(set));
            return Exit::to(self.emit(Op { code: Code::Member, argument, ..Op::UNSET }.then(exit)));
        }
        let (mut exits, mut costs) = (Vec::new(), Vec::new());
        for member in set.iter() {
            let member = set.encode(member);
            costs.push(member.as_ref().len() as u64 - set.min_len());
            exits.push(self.literal(None, member.as_ref(), exit));
        }
        let op = self.tables.site(&exits, costs, None);
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
        let op = self.tables.site(&exits, costs, choice.slots.as_ref());
        Exit::to(self.emit(op))
    }

    fn repeat(&mut self, item: NodeId, min: u32, max: Option<u32>, level: u32, exit: Exit) -> Exit {
        let size = self.ir.shape(item).size;
        if min > 0 && size.saturating_mul(min) > MAX_UNROLLED {
            return self.counted(item, min, max, level, exit);
        }
        let rest = match max.map(|max| max - min) {
            None => self.star(item, level, exit),
            Some(more) if size.saturating_mul(more) <= MAX_UNROLLED => (0..more).fold(exit, |rest, _| {
                let further = self.node(item, level, rest);
                let op = self.tables.site(&[exit, further], vec![0, self.ir.facts(item).min_len], None);
                Exit::to(self.emit(op))
            }),
            Some(more) => self.counted(item, 0, Some(more), level, exit),
        };
        (0..min).fold(rest, |rest, _| self.node(item, level, rest))
    }

    /// Any number of rounds.
    fn star(&mut self, item: NodeId, level: u32, exit: Exit) -> Exit {
        let site = self.emit(Op::UNSET);
        let run = self.single_bytes(item).map(|bytes| (bytes, self.emit(Op::UNSET)));
        let again = run.as_ref().map_or(site, |run| run.1);
        let further = self.node(item, level, Exit::to(again));
        let op = self.tables.site(&[exit, further], vec![0, self.ir.facts(item).min_len], None);
        self.set(site, op);
        if let Some((bytes, pc)) = run {
            let op = self.tables.star_run(&bytes, level, [exit, further, Exit::to(site)]);
            self.set(pc, op);
        }
        self.fresh = None;
        Exit::to(again)
    }

    /// Rounds that are counted.
    fn counted(&mut self, item: NodeId, min: u32, max: Option<u32>, level: u32, exit: Exit) -> Exit {
        let pc = self.emit(Op::UNSET);
        let further = self.node(item, level, Exit::to(pc));
        let cost = self.ir.facts(item).min_len;
        let exits = self.tables.exits(&[exit, further], vec![0, 0]);
        let argument = self.tables.round(Round { min, max, cost, exits });
        self.set(pc, Op { code: Code::Round, argument, ..Op::UNSET });
        Exit::to(self.emit(Op { code: Code::Count, ..Op::UNSET }.then(Exit::to(pc))))
    }

    /// The op that stands for an instance of `rule` beyond the depth limit, if there is a limit and the rule has a pool.
    fn pool_op(&mut self, rule: RuleId, exit: Exit) -> Option<Op> {
        if !self.with_depth {
            return None;
        }
        let pool = self.pools.get(rule)?;
        let min_len = self.ir.rule(rule).facts.min_len;
        if let [string] = &*pool.strings
            && string.len() as u64 == min_len
        {
            let exit = self.literal(None, string, exit);
            self.fresh = None;
            return Some(self.op_of(exit));
        }
        let exit = self.bare(exit);
        Some(self.tables.pool(rule, pool, min_len).then(exit))
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
