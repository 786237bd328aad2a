//! Runs: repetitions whose rounds emit one byte, which the machine does several rounds at a time.

use gramjet_compiler::analysis::runs::{ByteItem, Stop, TailRun};
use gramjet_compiler::ir::{NodeId, RuleId};

use super::Builder;
use super::instances::Others;
use crate::vm::draft::{Exit, Op};
use crate::vm::program::{Code, Pc, Run};

/// At least this number of choice bytes must emit a single byte for a run to pay.
const MIN_BOUND: u32 = 192;

/// Returns true if a run of these items pays.
pub(super) fn pays(bytes: &ByteItem) -> bool {
    bytes.bound >= MIN_BOUND
}

impl Builder<'_> {
    /// Builds an instance as a run.
    pub(super) fn looped_run(&mut self, run: &TailRun, pc: Pc, level: u32, others: Option<Others>, exit: Exit) {
        let again = Exit { deeper: self.below(0), ..Exit::to(pc) };
        let stopped = self.node(run.stop, level, exit);
        let further = self.node(run.item, level, again);
        let op = self.tables.site(&[stopped, further], &[0, 1], None);
        let site = self.emit(op);
        // The rounds are not taken from the depth of a frame that the run's exit itself pushes.
        let stopped = match run.stops {
            Stop::Other if stopped.push != 0 => Exit::to(self.label(stopped)),
            Stop::Other => stopped,
            Stop::Empty | Stop::Item => exit,
        };
        let looping = self.looping(run, level);
        let op = self.tables.run(looping, [stopped, further, Exit::to(site)]);
        self.fresh = None;
        self.fill_instance(pc, level, others, op);
    }

    /// Builds a run in place of the call of an instance that was built by [`Builder::looped_run`]: it is called only
    /// where the run gives up.
    pub(super) fn run_before(
        &mut self,
        rule: RuleId,
        body: NodeId,
        run: &TailRun,
        level: u32,
        exit: Exit,
        called: Exit,
    ) -> Exit {
        let op = self.op(called.next);
        let bare = self.tables.exits[op.texts as usize].is_bare();
        let fits = level < super::MAX_LEVEL && op.code == Code::Run && bare;
        if !fits || !pays(&run.bytes) {
            return called;
        }
        let Some(others) = self.others(rule, body, exit) else { return called };
        let first = op.exits as usize;
        let inner = [first, first + 1, first + 2].map(|index| self.tables.exits[index]);
        let [stopped, other, capped] = inner.map(|exit| Exit { next: self.label(exit), ..called });
        let stopped = if run.stops == Stop::Other { stopped } else { exit };
        let looping = self.looping(run, level + 1);
        let op = self.tables.run(looping, [stopped, other, capped]);
        let pc = self.emit(op);
        self.scoped(level + 1, others, Exit::to(pc))
    }

    /// Returns an op for rounds of a repetition at `level`, with its exits: stopped, other member, no more rounds.
    pub(super) fn star_run(&mut self, bytes: &ByteItem, level: u32, exits: [Exit; 3]) -> Op {
        let run = self.rounds(bytes, level + bytes.layers);
        self.tables.run(run, exits)
    }

    /// Returns the rounds of a tail-recursive rule at `level`.
    fn looping(&mut self, run: &TailRun, level: u32) -> Run {
        let rounds = self.rounds(&run.bytes, level + run.bytes.layers.saturating_sub(1));
        let stops_deeper = if run.stops == Stop::Other { -1 } else { 0 };
        Run { unbounded: 0, deepens: [stops_deeper, -1, -1], plus: run.stops == Stop::Item, ..rounds }
    }

    fn rounds(&mut self, bytes: &ByteItem, depth: u32) -> Run {
        let table = self.tables.table(bytes.table);
        let (bound, slack) = (bytes.bound, bytes.max_cost);
        Run { table, bound, depth, unbounded: i64::MAX, deepens: [0; 3], plus: false, slack }
    }
}
