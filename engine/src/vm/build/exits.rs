//! Ops and the exits that lead to them.

use super::Builder;
use crate::vm::draft::{Exit, Op};
use crate::vm::program::{Code, NO_LEVEL, Pc};
use crate::vm::text::Text;

impl Builder<'_> {
    pub(super) fn emit(&mut self, op: Op) -> Pc {
        let pc = self.tables.ops.len() as Pc;
        self.tables.ops.push(op);
        self.fresh = Some(pc);
        pc
    }

    pub(super) fn op(&self, pc: Pc) -> Op {
        self.tables.ops[pc as usize]
    }

    pub(super) fn set(&mut self, pc: Pc, op: Op) {
        self.tables.ops[pc as usize] = op;
    }

    /// Returns an op that takes this exit.
    pub(super) fn label(&mut self, exit: Exit) -> Pc {
        if exit.is_plain() {
            return exit.next;
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

    /// Returns the same exit without a text of its own.
    pub(super) fn bare(&mut self, exit: Exit) -> Exit {
        if exit.is_bare() { exit } else { Exit::to(self.label(exit)) }
    }

    /// Returns the op that an exit leads to, with the exit's text before its own, if it can stand for the exit.
    fn merged(&mut self, exit: Exit) -> Option<Op> {
        let target = self.op(exit.next);
        let copied = exit.is_jump() && target.level == NO_LEVEL;
        if !copied || matches!(target.code, Code::Unset | Code::Halt) {
            return None;
        }
        self.tables.after(exit, target)
    }

    /// Returns an op that takes an exit.
    pub(super) fn op_of(&mut self, exit: Exit) -> Op {
        match self.merged(exit) {
            Some(op) => op,
            None => self.tables.go(exit),
        }
    }

    /// Returns an op that takes the exit that was returned last. If that was the only way to the last op, the new op
    /// replaces it.
    pub(super) fn moved_op_of(&mut self, exit: Exit) -> Op {
        let (merged, pc) = (self.merged(exit), exit.next);
        if merged.is_some() && self.fresh == Some(pc) && pc as usize + 1 == self.tables.ops.len() {
            self.tables.ops.pop();
        }
        self.fresh = None;
        match merged {
            Some(op) => op,
            None => self.tables.go(exit),
        }
    }

    /// Returns the exit that emits `bytes`, at most [`super::MAX_SPLIT`], and then does the same as `exit`.
    pub(super) fn text_before(&mut self, bytes: &[u8], mut exit: Exit) -> Exit {
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
}
