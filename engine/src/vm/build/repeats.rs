//! Repetitions.

use gramjet_compiler::analysis::form::Repetition;
use gramjet_compiler::analysis::runs::ByteItem;
use gramjet_compiler::ir::{Ir, NodeId, Rounds};

use super::Builder;
use super::runs::pays;
use crate::vm::draft::{Exit, Op};
use crate::vm::program::{Code, Round};

/// Repetitions are unrolled if what is then built of their nodes is at most this many.
const MAX_UNROLLED: u32 = 64;

/// The rounds of a repetition are calls of their own if there are at most this many.
const MAX_CALLS: u32 = 64;

impl Builder<'_> {
    pub(super) fn repeat(&mut self, repetition: &Repetition, level: u32, exit: Exit) -> Exit {
        if let Some(word) = self.repeated_bytes(repetition, exit) {
            return word;
        }
        let &Repetition { item, min, max, ref bytes } = repetition;
        let weight = self.weights[item.index()];
        let unrolled = |rounds: u32| is_unrolled(weight, rounds);
        if let Some(max) = max.filter(|&max| !unrolled(max) && max <= MAX_CALLS && max <= self.rounds_left) {
            return self.called(item, min, max, level, exit);
        }
        if min > 0 && !unrolled(min) {
            return self.counted_rounds(item, min, max, level, exit);
        }
        let rest = match max.map(|max| max - min) {
            None => self.star(item, bytes.as_ref(), level, exit),
            Some(more) if unrolled(more) => (0..more).fold(exit, |rest, _| {
                let further = self.node(item, level, rest);
                let op = self.tables.site(&[exit, further], &[0, self.ir.facts(item).min_len], None);
                Exit::to(self.emit(op))
            }),
            Some(more) => self.counted_rounds(item, 0, Some(more), level, exit),
        };
        (0..min).fold(rest, |rest, _| self.node(item, level, rest))
    }

    /// Builds any number of rounds.
    fn star(&mut self, item: NodeId, bytes: Option<&ByteItem>, level: u32, exit: Exit) -> Exit {
        let site = self.emit(Op::UNSET);
        let bytes = bytes.filter(|bytes| pays(bytes) && (!self.at_limit || bytes.layers == 0));
        let run = bytes.map(|bytes| (bytes, self.emit(Op::UNSET)));
        let again = run.as_ref().map_or(site, |run| run.1);
        let further = self.node(item, level, Exit::to(again));
        let op = self.tables.site(&[exit, further], &[0, self.ir.facts(item).min_len], None);
        self.set(site, op);
        if let Some((bytes, pc)) = run {
            let op = self.star_run(bytes, level, [exit, further, Exit::to(site)]);
            self.set(pc, op);
        }
        self.fresh = None;
        Exit::to(again)
    }

    /// Builds rounds that call the item, each from a site of its own.
    fn called(&mut self, item: NodeId, min: u32, max: u32, level: u32, exit: Exit) -> Exit {
        self.rounds_left -= max;
        let cost = self.ir.facts(item).min_len;
        let begin = self.node(item, level, Exit::RETURN);
        let entry = self.label(begin);
        let mut rest = exit;
        for round in (0..max).rev() {
            let call = self.call(entry, 0, rest);
            // The call also does the first step of the item, if that is one exit.
            let further = call.then(begin).filter(|_| call.push != 0).unwrap_or(call);
            rest = further;
            if round >= min {
                let op = self.tables.site(&[exit, further], &[0, cost], None);
                rest = Exit::to(self.emit(op));
            }
        }
        self.fresh = None;
        rest
    }

    /// Builds rounds that are counted.
    pub(super) fn counted_rounds(&mut self, item: NodeId, min: u32, max: Option<u32>, level: u32, exit: Exit) -> Exit {
        let pc = self.emit(Op::UNSET);
        let further = self.node(item, level, Exit::to(pc));
        let round = Round { min, max, cost: self.ir.facts(item).min_len };
        let op = self.tables.round(round, [exit, further]);
        self.set(pc, op);
        let op = self.tables.op(Code::Count, 0, Exit::to(pc));
        Exit::to(self.emit(op))
    }
}

fn is_unrolled(weight: u32, rounds: u32) -> bool {
    weight.saturating_mul(rounds) <= MAX_UNROLLED
}

/// Returns how many nodes are built for each node, as repetitions are unrolled, at most.
pub(super) fn weights(ir: &Ir) -> Vec<u32> {
    let mut weights: Vec<u32> = Vec::with_capacity(ir.node_count());
    // Children stand before their parents.
    for node in (0..ir.node_count()).map(NodeId::new) {
        let children = ir.children(node).iter().map(|child| weights[child.index()]);
        let inside = children.fold(1, u32::saturating_add);
        let mut times = 1;
        if let Some(Rounds { min, max, .. }) = ir.node(node).rounds()
            && is_unrolled(inside, min)
        {
            times = max.filter(|&max| is_unrolled(inside, max)).unwrap_or(min + 1);
        }
        weights.push(inside.saturating_mul(times));
    }
    weights
}
