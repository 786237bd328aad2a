//! From residual IR to a [`Program`], backwards: a node is built with the exit that follows it, and becomes an exit
//! again. Literals, calls and jumps thus vanish into the exits of the sites before them.
//!
//! *Levels*: the interpreter keeps one number, the depth left. Inside a rule's body the depth of an instance is known
//! up to that number, so only its level below the body is compared with it, and nothing is saved or restored. The
//! number changes where code jumps back to an instance; if something follows that instance, it is called like a rule.

use gramjet_compiler::analysis::form::{Form, Forms, Nested, Strings, Text};
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::analysis::runs::TailRun;
use gramjet_compiler::charset::{CharSet, Unit};
use gramjet_compiler::ir::{Choice, Ir, NodeId, RuleId};
use rustc_hash::FxHashMap;

use super::draft::{Exit, Op};
use super::layout::lay_out;
use super::merge::merge;
use super::program::{Class, Code, HALT, Pc, Program, RETURN};
use super::tables::Tables;
use super::text;

mod exits;
mod instances;
mod labels;
mod repeats;
mod runs;
mod words;

/// Builds the program that keeps a depth limit (`with_depth`) or that does not.
pub(super) fn build(ir: &Ir, pools: &Pools, with_depth: bool) -> Program {
    let mut builder = Builder {
        ir,
        forms: Forms::new(ir, true),
        pools,
        with_depth,
        tables: Tables::default(),
        entries: vec![RETURN; ir.rules().len()],
        refers: referring_nodes(ir),
        weights: repeats::weights(ir),
        at_limit: false,
        rounds_left: MAX_CALLED_ROUNDS,
        scopes: Vec::new(),
        labels: FxHashMap::default(),
        fresh: None,
        labelled: labels::Labelled::new(ir),
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
        let run = builder.forms.run_of(rule, body);
        builder.instance(rule, body, run.as_ref(), entry, 0, Exit::RETURN);
    }
    builder.build_shortest();
    let start = builder.entries[ir.start().index()];
    finished(builder.tables, start)
}

/// Returns the program of complete tables.
fn finished(mut tables: Tables<'_>, start: Pc) -> Program {
    let moved = merge(&mut tables);
    lay_out(&mut tables, start, &moved);
    // The interpreter relies on it.
    assert_eq!(tables.program.verify(), Ok(()), "a defect of the program builder");
    tables.program
}

/// Levels above this do not fit into an op together with the amounts added to them.
const MAX_LEVEL: u32 = 100;

/// Literals up to this length are emitted by several ops with short texts.
const MAX_SPLIT: usize = 3 * text::Text::MAX;

/// At most this number of rounds of repetitions are calls of their own in a program.
const MAX_CALLED_ROUNDS: u32 = 1 << 16;

struct Builder<'c> {
    ir: &'c Ir,
    forms: Forms<'c>,
    pools: &'c Pools,
    with_depth: bool,
    tables: Tables<'c>,
    /// The op with which each rule begins.
    entries: Vec<Pc>,
    /// Flag for each node: true if there is an instance in it.
    refers: Vec<bool>,
    /// Amount that is built of each node.
    weights: Vec<u32>,
    /// Whether what is built stands in an instance exactly at the depth limit: all instances in it are beyond.
    at_limit: bool,
    /// Number of rounds of repetitions that may still become calls of their own.
    rounds_left: u32,
    /// The instances that can be jumped back to from here, their ops and levels.
    scopes: Vec<(RuleId, Pc, u32)>,
    /// Ops that stand for exits. Never iterated.
    labels: FxHashMap<Exit, Pc>,
    /// The last op, if only the exit that was returned last leads to it.
    fresh: Option<Pc>,
    labelled: labels::Labelled,
}

impl<'c> Builder<'c> {
    /// Returns the exit that derives `node`, which stands at `level`, and then takes `exit`.
    fn node(&mut self, node: NodeId, level: u32, exit: Exit) -> Exit {
        if self.labelled.is_shortest {
            return self.first(node, level, exit);
        }
        let form = self.forms.of(node);
        if !matches!(form, Form::Literal(_)) {
            // The exit may be taken more than once.
            self.fresh = None;
        }
        if self.at_limit
            && let Some(rule) = self.ir.node(node).instance()
            && let Some(exit) = self.pool_exit(rule, exit)
        {
            return exit;
        }
        match form {
            Form::Literal(bytes) => self.literal(bytes, exit),
            Form::Strings(strings) => self.strings(&strings, exit),
            Form::Member(set) => self.member(set, exit),
            // Exits make a branch of each option.
            Form::Branches(choice) | Form::Nested(Nested { choice, .. }) => self.choice(node, choice, level, exit),
            Form::Sequence(items) => self.sequence(items, level, exit),
            Form::Repetition(_) if self.is_open(node) => self.open_rounds(node, level, exit),
            Form::Repetition(repetition) => self.repeat(&repetition, level, exit),
            Form::Call(rule) => self.call(self.entries[rule.index()], self.below(level), exit),
            Form::Instance(rule, body) => self.inline(rule, body, level, exit),
            Form::Loop(rule, body, run) => self.inlined_loop(rule, body, run, level, exit),
            Form::JumpBack(rule) => {
                let scope = self.scopes.iter().rev().find(|scope| scope.0 == rule);
                // The verifier of the IR has found the scope.
                let &(_, pc, above) = scope.unwrap_or(&(rule, RETURN, level));
                Exit { deeper: self.below(level - above), ..Exit::to(pc) }
            }
            Form::Labels(_) => self.labelled(node, level, exit),
            // Not asked for.
            Form::Chain(_) => exit,
        }
    }

    /// Returns the amount taken from the depth left when an instance below `level` begins at level 0.
    fn below(&self, level: u32) -> u8 {
        if self.with_depth { level as u8 + 1 } else { 0 }
    }

    /// Calls an instance, with the amount to take from the depth left; a jump if nothing follows.
    fn call(&mut self, entry: Pc, deeper: u8, exit: Exit) -> Exit {
        if exit == Exit::RETURN {
            return Exit { deeper, ..Exit::to(entry) };
        }
        let (push, push_deeper) = if exit.is_bare() && exit.push == 0 && exit.next != RETURN {
            (exit.next, exit.deeper)
        } else {
            (self.label(exit), 0)
        };
        Exit { push, deeper, push_deeper, ..Exit::to(entry) }
    }

    /// Returns an instance in place that is jumped back to.
    fn inlined_loop(&mut self, rule: RuleId, body: NodeId, run: Option<TailRun>, level: u32, exit: Exit) -> Exit {
        if !self.with_depth {
            let pc = self.reserve_instance();
            self.instance(rule, body, run.as_ref(), pc, 0, exit);
            return Exit::to(pc);
        }
        let called = self.called_instance(rule, body, run.as_ref(), level, exit);
        match run.filter(|_| exit != Exit::RETURN) {
            Some(run) => self.run_before(rule, body, &run, level, exit, called),
            None => called,
        }
    }

    /// Returns an instance whose body is here, but is called.
    fn called_instance(&mut self, rule: RuleId, body: NodeId, run: Option<&TailRun>, level: u32, exit: Exit) -> Exit {
        let pc = self.reserve_instance();
        let (begin, deeper) = if level < MAX_LEVEL { (level + 1, 0) } else { (0, self.below(level)) };
        self.instance(rule, body, run, pc, begin, Exit::RETURN);
        self.call(pc, deeper, exit)
    }

    /// Returns an instance in place.
    fn inline(&mut self, rule: RuleId, body: NodeId, level: u32, exit: Exit) -> Exit {
        if !self.with_depth {
            return self.node(body, 0, exit);
        }
        if level >= MAX_LEVEL {
            return self.called_instance(rule, body, None, level, exit);
        }
        let others = self.others(rule, body, exit);
        let begin = self.node(body, level + 1, exit);
        match others {
            Some(others) => self.scoped(level + 1, others, begin),
            None => begin,
        }
    }

    fn literal(&mut self, bytes: &'c [u8], exit: Exit) -> Exit {
        if bytes.len() <= MAX_SPLIT {
            return self.text_before(bytes, exit);
        }
        let op = self.tables.long(bytes, exit);
        Exit::to(self.emit(op))
    }

    fn strings(&mut self, site: &Strings<'c>, exit: Exit) -> Exit {
        let before = |string: &Text<'c>| match string {
            Text::Literal(bytes) => self.literal(bytes, exit),
            Text::Member(member) => self.text_before(member.as_ref(), exit),
        };
        let exits: Vec<Exit> = site.strings.iter().map(before).collect();
        let op = self.tables.site(&exits, &site.costs(), site.slots);
        Exit::to(self.emit(op))
    }

    fn member(&mut self, set: &CharSet, exit: Exit) -> Exit {
        let op = self.tables.class(class_of(set), exit);
        Exit::to(self.emit(op))
    }

    fn choice(&mut self, node: NodeId, choice: &Choice, level: u32, exit: Exit) -> Exit {
        if self.is_open(node) {
            return self.open_choice(node, choice, level, exit);
        }
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

/// Returns for each node whether there is an instance in it.
fn referring_nodes(ir: &Ir) -> Vec<bool> {
    let mut refers = vec![false; ir.node_count()];
    // Children stand before their parents.
    for index in 0..refers.len() {
        let node = NodeId::new(index);
        refers[index] =
            ir.node(node).instance().is_some() || ir.children(node).iter().any(|child| refers[child.index()]);
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
