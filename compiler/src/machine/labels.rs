//! Decisions of the machine where bytes follow from labelled parts, or names are taken.

use super::{Decide, Machine, Recorder};
use crate::ir::{Choice, NodeId, Site};

impl<R: Recorder, D: Decide> Machine<'_, R, D> {
    /// Begins a labelled part, a scope, a coded part, or a part that gives a name.
    pub(super) fn enter(&mut self, node: NodeId) {
        self.slack = self.labels.begin(self.ir, node, self.emitted(), self.slack);
    }

    /// Ends what [`Machine::enter`] began.
    pub(super) fn leave(&mut self, node: NodeId) {
        self.slack = self.labels.end(self.ir, node, self.output, self.base, self.slack);
        if let Some(moves) = self.labels.take_moves() {
            self.recorder.settled(&moves);
        }
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
    pub(super) fn name(&mut self, node: NodeId, other: NodeId) -> Option<NodeId> {
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
