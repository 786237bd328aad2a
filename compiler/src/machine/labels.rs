//! Decisions of the machine where bytes follow from labelled parts, or names are taken.

use super::{Decide, Machine, Recorder, Todo};
use crate::ir::{Choice, NodeId, Site};
use crate::naming::Naming;

impl<R: Recorder, D: Decide> Machine<'_, R, D> {
    /// Derives a node that only grammars with labels have. Returns the node within it that is to be derived. It is
    /// apart from the other nodes, so that their loop stays short.
    #[cold]
    #[inline(never)]
    pub(super) fn labelled(&mut self, node: NodeId, depth: u32) -> Option<NodeId> {
        let ir = self.ir;
        if let Some(leaf) = ir.node(node).leaf() {
            let from = self.position();
            self.labels.emit(node, leaf, self.output, self.base);
            let to = self.position();
            self.recorder.derived(node, from, to);
            return None;
        }
        if let Some((item, rounds)) = ir.node(node).times() {
            let rounds = self.labels.rounds(rounds);
            if rounds > 0 && !ir.node(item).is_empty() {
                self.todo(Todo::Times(item, rounds, depth));
            }
            return None;
        }
        match ir.node(node).naming() {
            Some((Naming::Use(_), other)) => self.name(node, other),
            Some((Naming::Declare(_), _)) => {
                self.enter(node);
                None
            }
            _ => {
                self.enter(node);
                let at = self.position();
                self.recorder.enter(node, at);
                self.todo(Todo::Leave(node));
                ir.children(node).first().copied()
            }
        }
    }

    /// Begins a labelled part, a scope, a coded part, or a part that gives a name.
    fn enter(&mut self, node: NodeId) {
        self.slack = self.labels.begin(self.ir, node, self.emitted(), self.slack);
    }

    /// Ends what [`Machine::enter`] began.
    pub(super) fn leave(&mut self, node: NodeId) {
        self.slack = self.labels.end(self.ir, node, self.output, self.base, self.slack);
        if let Some(moves) = self.labels.take_moves() {
            self.recorder.settled(&moves);
        }
        let at = self.position();
        self.recorder.leave(node, at);
    }

    /// Decides a choice whose options cost what the text so far says.
    pub(super) fn open_choice(&mut self, node: NodeId, choice: &Choice) -> NodeId {
        let offered = self.labels.offered(self.ir, node, choice, self.slack);
        let option = self.pick(node, choice.site().narrowed(offered));
        self.recorder.option(node, option);
        let option = choice.options[option as usize];
        self.slack = self.labels.choose(self.ir, choice, option, self.slack);
        option
    }

    /// Takes a name that is seen. Returns the part to derive if there is none, or it does not fit.
    fn name(&mut self, node: NodeId, other: NodeId) -> Option<NodeId> {
        let seen = self.labels.names_seen(self.ir, node);
        if seen == 0 {
            // It has one option.
            self.pick(node, Site::even(1));
            return Some(other);
        }
        let fits = |machine: &Self, number| machine.labels.name_fits(machine.ir, (node, number), machine.slack);
        let number = self.pick_what(
            node,
            Site::even(seen + 1),
            |machine, number| {
                if fits(machine, number) { number } else { seen }
            },
        );
        if number == seen {
            return Some(other);
        }
        self.slack = self.labels.take_name(self.ir, (node, number), self.slack, self.output, self.base);
        None
    }
}
