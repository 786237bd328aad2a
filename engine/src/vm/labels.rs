//! Steps of the ops for labelled parts. Each keeps the interpreter's state, and needs no more of it than this.

use gramjet::rt::raw::{Machine, State};
use gramjet_compiler::ir::{Ir, NodeId, Rounds};
use gramjet_compiler::labels::Labels;

use super::program::{Program, Site};

/// Output that is reserved anew after an op: two texts.
const OUTPUT: usize = 2 * super::text::Text::MAX;

/// The labelled parts of a run.
pub(super) struct Labelled<'r> {
    ir: &'r Ir,
    labels: Labels,
}

impl<'r> Labelled<'r> {
    /// Returns the beginning of a run of this grammar.
    pub fn new(ir: &'r Ir) -> Labelled<'r> {
        Labelled { ir, labels: Labels::new(ir) }
    }

    /// Returns the node with this number, if there is one.
    fn node(&self, number: u32) -> Option<NodeId> {
        ((number as usize) < self.ir.node_count()).then(|| NodeId::new(number as usize))
    }

    /// Emits derived bytes, or begins a labelled part or a scope.
    ///
    /// # Safety
    ///
    /// `s` must be the machine's state.
    pub unsafe fn begin(&mut self, machine: &mut Machine<'_, '_>, s: State, node: u32) -> State {
        let Some(node) = self.node(node) else { return s };
        if let Some(leaf) = self.ir.node(node).leaf() {
            // SAFETY: as for this function; a text is reserved anew.
            return unsafe {
                let s = machine.append(s, |output, base| self.labels.emit(node, leaf, output, base));
                machine.reserve(s, 0, OUTPUT)
            };
        }
        match self.ir.node(node).label() {
            Some(part) => {
                // SAFETY: as for this function.
                let emitted = unsafe { machine.emitted(s) };
                machine.slack = self.labels.enter(self.ir, part, emitted, machine.slack);
            }
            None => self.labels.enter_scope(self.ir, node),
        }
        s
    }

    /// Ends a labelled part or a scope.
    ///
    /// # Safety
    ///
    /// `s` must be the machine's state.
    pub unsafe fn leave(&mut self, machine: &mut Machine<'_, '_>, s: State, node: u32) {
        let Some(node) = self.node(node) else { return };
        if let Some((_, count, body)) = self.ir.node(node).label() {
            // SAFETY: as for this function.
            let emitted = unsafe { machine.emitted(s) };
            machine.slack = self.labels.leave(self.ir, emitted, self.ir.facts(body).min_len, count);
        } else {
            self.labels.leave_scope(self.ir);
        }
    }

    /// Returns the number of rounds that follows from labelled parts; none if they are empty.
    pub fn rounds(&self, node: u32) -> u32 {
        let times = self.node(node).and_then(|node| self.ir.node(node).times());
        let rounds = times.filter(|&(item, _)| !self.ir.node(item).is_empty()).map(|(_, rounds)| rounds);
        rounds.map_or(0, |rounds| u32::try_from(self.labels.rounds(rounds)).unwrap_or(u32::MAX))
    }

    /// Decides a choice.
    ///
    /// # Safety
    ///
    /// `s` must be the machine's state, with a site reserved.
    pub unsafe fn choose(
        &mut self,
        machine: &mut Machine<'_, '_>,
        s: &mut State,
        program: &Program,
        node: u32,
        site: &Site,
    ) -> usize {
        let ir = self.ir;
        let Some(choice) = self.node(node).and_then(|node| ir.node(node).choice()) else { return 0 };
        let len = |option: NodeId| ir.facts(option).min_len.saturating_add(self.labels.extra(ir, option));
        let within = machine.slack.saturating_add(len(choice.options[0]));
        let offered = choice.options.iter().take_while(|&&option| len(option) <= within).count();
        let offered = offered.min(site.count as usize);
        // SAFETY: as for this function.
        let option = unsafe { super::interpret::pick(machine, s, program, site, offered) };
        if machine.slack != u64::MAX {
            machine.slack = within - choice.options.get(option).map_or(0, |&option| len(option));
        }
        option
    }

    /// Decides whether a repetition goes on after `done` rounds; with `is_least`, only up to its minimum.
    ///
    /// # Safety
    ///
    /// `s` must be the machine's state, with a site reserved.
    pub unsafe fn further(
        &mut self,
        machine: &mut Machine<'_, '_>,
        s: &mut State,
        node: u32,
        done: u32,
        is_least: bool,
    ) -> bool {
        let ir = self.ir;
        let Some(node) = self.node(node) else { return false };
        let Some(Rounds { item, min, max }) = ir.node(node).rounds() else { return false };
        let is_counted = self.labels.counts_rounds(node);
        if done >= min {
            if is_least || max.is_some_and(|max| done >= max) {
                return false;
            }
            let slack = if is_counted { self.labels.round(ir, machine.slack) } else { Some(machine.slack) };
            let cost = ir.facts(item).min_len.saturating_add(self.labels.extra(ir, item));
            let Some(slack) = slack.filter(|&slack| cost <= slack) else { return false };
            // SAFETY: as for this function.
            if unsafe { machine.pick8(s, 2) } == 0 {
                return false;
            }
            if slack != u64::MAX {
                machine.slack = slack - cost;
            }
        }
        if is_counted {
            self.labels.begin_round(ir);
        }
        true
    }

    /// Fills in all bytes that were not known when they were emitted, in a text that begins at `base`.
    pub fn settle(&mut self, output: &mut Vec<u8>, base: usize) {
        self.labels.settle(self.ir, output, base);
    }
}
