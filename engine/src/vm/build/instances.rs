//! Rule instances: with which ops they begin, within the depth limit, exactly at it and beyond it.

use gramjet_compiler::analysis::runs::TailRun;
use gramjet_compiler::ir::{NodeId, RuleId};

use super::runs::pays;
use super::{Builder, MAX_SPLIT};
use crate::vm::draft::{Exit, Op};
use crate::vm::program::{NO_LEVEL, Pc};

/// The ops that replace an instance's body near the depth limit.
#[derive(Clone, Copy)]
pub(super) struct Others {
    /// Exactly at the limit; `None` if the body itself does, as there is no instance in it.
    at_limit: Option<Op>,
    beyond: Op,
}

/// Pools of at most this number of strings are sites with an exit for each string, so that the text after a string is
/// emitted with it.
const MAX_OWN: usize = 8;

impl Builder<'_> {
    /// Reserves room for the ops with which an instance begins: at the limit, beyond it, within it. Returns the last of
    /// them.
    pub(super) fn reserve_instance(&mut self) -> Pc {
        if self.with_depth {
            self.emit(Op::UNSET);
            self.emit(Op::UNSET);
        }
        let pc = self.emit(Op::UNSET);
        self.fresh = None;
        pc
    }

    /// Fills the room: an instance at `level` whose body begins with `begin`.
    pub(super) fn fill_instance(&mut self, pc: Pc, level: u32, others: Option<Others>, begin: Op) {
        let Some(Others { at_limit, beyond }) = others else {
            self.set(pc, begin);
            return;
        };
        self.set(pc - 2, at_limit.unwrap_or(Op { level: NO_LEVEL, ..begin }));
        self.set(pc - 1, beyond);
        self.set(pc, Op { level: level as i8, ..begin });
    }

    /// Builds an instance whose room is `pc`.
    pub(super) fn instance(
        &mut self,
        rule: RuleId,
        body: NodeId,
        run: Option<&TailRun>,
        pc: Pc,
        level: u32,
        exit: Exit,
    ) {
        let others = self.others(rule, body, exit);
        self.scopes.push((rule, pc, level));
        if let Some(run) = run.filter(|run| pays(&run.bytes)) {
            self.looped_run(run, pc, level, others, exit);
        } else {
            let begin = self.node(body, level, exit);
            let op = self.moved_op_of(begin);
            self.fill_instance(pc, level, others, op);
        }
        self.scopes.pop();
    }

    /// Begins an instance at `level`: `begin` within the depth limit.
    pub(super) fn scoped(&mut self, level: u32, others: Others, begin: Exit) -> Exit {
        let next = begin.next;
        let inner = i32::from(self.op(next).level);
        if begin.is_plain() && inner == level as i32 + 1 && next > 0 && self.op(next - 1) == others.beyond {
            // The instance inside begins at the same place and has the same pool: its check is the stronger one.
            return begin;
        }
        let op = self.moved_op_of(begin);
        self.emit(others.at_limit.unwrap_or(Op { level: NO_LEVEL, ..op }));
        self.emit(others.beyond);
        Exit::to(self.emit(Op { level: level as i8, ..op }))
    }

    /// Returns the ops that replace the body of an instance of `rule` near the limit, if there is a limit and the rule
    /// has a pool.
    pub(super) fn others(&mut self, rule: RuleId, body: NodeId, exit: Exit) -> Option<Others> {
        let beyond = self.pool_op(rule, exit)?;
        let mut at_limit = None;
        if self.refers[body.index()] {
            self.at_limit = true;
            let begin = self.node(body, 0, exit);
            self.at_limit = false;
            at_limit = Some(Op { level: NO_LEVEL, ..self.moved_op_of(begin) });
        }
        Some(Others { at_limit, beyond })
    }

    /// Returns the op that replaces an instance of `rule` beyond the depth limit, if there is a limit and the rule has
    /// a pool.
    fn pool_op(&mut self, rule: RuleId, exit: Exit) -> Option<Op> {
        let begin = self.pool_exit(rule, exit)?;
        Some(self.moved_op_of(begin))
    }

    /// Returns an exit that derives an instance of `rule` beyond the depth limit, if there is a limit and the rule has
    /// a pool.
    pub(super) fn pool_exit(&mut self, rule: RuleId, exit: Exit) -> Option<Exit> {
        if !self.with_depth {
            return None;
        }
        let pool = self.pools.get(rule)?;
        if pool.strings.is_empty() {
            return Some(self.call_shortest(rule, exit));
        }
        let min_len = self.ir.rule(rule).facts.min_len;
        let longest = pool.strings.last().map_or(0, |string| string.len());
        self.fresh = None;
        if pool.shortest.is_some() || longest > MAX_SPLIT || pool.strings.len() > MAX_OWN {
            let exit = self.bare(exit);
            let op = self.tables.pool(rule, pool, min_len, exit);
            return Some(Exit::to(self.emit(op)));
        }
        if let [string] = &*pool.strings {
            return Some(self.text_before(string, exit));
        }
        let exits: Vec<Exit> = pool.strings.iter().map(|string| self.text_before(string, exit)).collect();
        let costs: Vec<u64> = pool.strings.iter().map(|string| string.len() as u64 - min_len).collect();
        let op = self.tables.site(&exits, &costs, None);
        Some(Exit::to(self.emit(op)))
    }
}
