//! Decisions of the machine where bytes follow from labelled parts.

use super::{Decide, Machine, Recorder};
use crate::ir::{Choice, NodeId};
use crate::labels::Labels;

impl<R: Recorder, D: Decide> Machine<'_, R, D> {
    /// Ends a labelled part or a scope.
    pub(super) fn leave(&mut self, node: NodeId) {
        if let Some((_, count, body)) = self.ir.node(node).label() {
            let least = self.ir.facts(body).min_len;
            self.slack = self.labels.leave(self.ir, self.emitted(), least, count);
        } else {
            self.labels.leave_scope(self.ir);
        }
    }

    /// Decides a choice whose options follow from labelled parts, under a limit: what an option costs depends on these
    /// parts, and can be less than what the first one costs.
    pub(super) fn choice_with_labels(&mut self, node: NodeId, choice: &Choice) -> NodeId {
        let ir = self.ir;
        let len = |labels: &Labels, option| ir.facts(option).min_len.saturating_add(labels.extra(ir, option));
        let within = self.slack.saturating_add(len(&self.labels, choice.options[0]));
        let offered = choice.options.iter().take_while(|&&option| len(&self.labels, option) <= within).count();
        let option = self.pick(node, choice.site().narrowed(offered as u32));
        self.recorder.option(node, option);
        let option = choice.options[option as usize];
        self.slack = within - len(&self.labels, option);
        option
    }

    /// Returns the slack if another round of a repetition begins, and the cost of the round. `None` if the number of
    /// rounds would not fit.
    pub(super) fn slack_of_round(&self, item: NodeId, is_counted: bool) -> (Option<u64>, u64) {
        let cost = self.ir.facts(item).min_len;
        if !self.labels.are_used() {
            return (Some(self.slack), cost);
        }
        let cost = cost.saturating_add(self.labels.extra(self.ir, item));
        (if is_counted { self.labels.round(self.ir, self.slack) } else { Some(self.slack) }, cost)
    }
}
