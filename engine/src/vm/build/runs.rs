//! Runs: repetitions whose rounds emit one byte, which the machine does several rounds at a time.

use gramjet_compiler::analysis::runs::{ByteItem, single_bytes};
use gramjet_compiler::ir::{Node, NodeId, RuleId};

use super::Builder;
use super::instances::Others;
use crate::vm::draft::{Exit, Op};
use crate::vm::program::{Code, Pc, Run};

/// A site of which most choice bytes emit a single byte.
#[derive(PartialEq, Eq)]
pub(super) struct SingleBytes {
    /// What each choice byte below `bound` emits; above, the last of them.
    pub table: [u8; 256],
    pub bound: u32,
    /// How many instances the site is wrapped in.
    pub wraps: u32,
    /// What its longest option costs more than a byte.
    pub cost: u64,
}

/// A tail-recursive rule that runs: stop, or a member and again.
struct Loop {
    stop: NodeId,
    stops: Stop,
    member: NodeId,
    bytes: SingleBytes,
}

/// What the option that stops a run derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// Nothing.
    Empty,
    /// What each round derives, always a single byte.
    Member,
    /// Anything else.
    Other,
}

/// So many choice bytes must emit a single byte for a run to pay.
const MIN_BOUND: u32 = 192;

impl Builder<'_> {
    pub(super) fn single_bytes(&self, mut node: NodeId) -> Option<SingleBytes> {
        let mut wraps = 0;
        while let Node::Inline { body, .. } = self.ir.node(node) {
            wraps += 1;
            node = *body;
        }
        if self.ir.facts(node).min_len != 1 {
            return None;
        }
        let ByteItem { table, bound, max_cost, .. } = single_bytes(self.ir, node)?;
        (bound >= MIN_BOUND).then_some(SingleBytes { table, bound, wraps, cost: max_cost })
    }

    fn loop_of(&self, rule: RuleId, body: NodeId) -> Option<Loop> {
        let Node::Choice(choice) = self.ir.node(body) else { return None };
        let (&[stop, further], None) = (&*choice.options, &choice.slots) else { return None };
        let Node::Seq(items) = self.ir.node(further) else { return None };
        let &[member, again] = &**items else { return None };
        if *self.ir.node(again) != Node::Again(rule) {
            return None;
        }
        let bytes = self.single_bytes(member)?;
        let (stop_facts, further_facts) = (self.ir.facts(stop), self.ir.facts(further));
        let stops = match self.ir.node(stop) {
            Node::Bytes(literal) if literal.is_empty() => Stop::Empty,
            _ if bytes.bound == 256 && self.single_bytes(stop).as_ref() == Some(&bytes) => Stop::Member,
            _ => Stop::Other,
        };
        (further_facts.min_len == stop_facts.min_len + 1).then_some(Loop { stop, stops, member, bytes })
    }

    /// Builds an instance of `rule` as a run, if it is one.
    pub(super) fn looped_run(
        &mut self,
        rule: RuleId,
        body: NodeId,
        pc: Pc,
        level: u32,
        others: Option<Others>,
        exit: Exit,
    ) -> bool {
        let Some(Loop { stop, stops, member, bytes }) = self.loop_of(rule, body) else { return false };
        let again = Exit { deeper: self.below(0), ..Exit::to(pc) };
        let stopped = self.node(stop, level, exit);
        let further = self.node(member, level, again);
        let op = self.tables.site(&[stopped, further], &[0, 1], None);
        let site = self.emit(op);
        // The rounds are not taken from the depth of a frame that the run's exit itself pushes.
        let stopped = match stops {
            Stop::Other if stopped.push != 0 => Exit::to(self.label(stopped)),
            Stop::Other => stopped,
            _ => exit,
        };
        let run = self.looping(&bytes, level, stops);
        let op = self.tables.run(run, [stopped, further, Exit::to(site)]);
        self.fresh = None;
        self.fill_instance(pc, level, others, op);
        true
    }

    /// A run in place of the call of an instance that was built by [`Builder::looped_run`]: it is called only where the
    /// run gives up.
    pub(super) fn run_before(&mut self, rule: RuleId, body: NodeId, level: u32, exit: Exit, called: Exit) -> Exit {
        let op = self.op(called.next);
        let bare = self.tables.exits[op.texts as usize].is_bare();
        let fits = level < super::MAX_LEVEL && op.code == Code::Run && bare;
        let Some(Loop { stops, bytes, .. }) = self.loop_of(rule, body).filter(|_| fits) else { return called };
        let Some(others) = self.others(rule, body, exit) else { return called };
        let first = op.exits as usize;
        let inner = [first, first + 1, first + 2].map(|index| self.tables.exits[index]);
        let [stopped, other, capped] = inner.map(|exit| Exit { next: self.label(exit), ..called });
        let stopped = if stops == Stop::Other { stopped } else { exit };
        let run = self.looping(&bytes, level + 1, stops);
        let op = self.tables.run(run, [stopped, other, capped]);
        let pc = self.emit(op);
        self.scoped(level + 1, others, Exit::to(pc))
    }

    /// Rounds of a repetition at `level`, with its exits: stopped, other member, no more rounds.
    pub(super) fn star_run(&mut self, bytes: &SingleBytes, level: u32, exits: [Exit; 3]) -> Op {
        let run = self.rounds(bytes, level + bytes.wraps);
        self.tables.run(run, exits)
    }

    /// Rounds of a tail-recursive rule at `level`.
    fn looping(&mut self, bytes: &SingleBytes, level: u32, stops: Stop) -> Run {
        let run = self.rounds(bytes, level + bytes.wraps.saturating_sub(1));
        let stops_deeper = if stops == Stop::Other { -1 } else { 0 };
        Run { unbounded: 0, deepens: [stops_deeper, -1, -1], plus: stops == Stop::Member, ..run }
    }

    fn rounds(&mut self, bytes: &SingleBytes, depth: u32) -> Run {
        let table = self.tables.table(bytes.table);
        let (bound, slack) = (bytes.bound, bytes.cost);
        Run { table, bound, depth, unbounded: i64::MAX, deepens: [0; 3], plus: false, slack }
    }
}
