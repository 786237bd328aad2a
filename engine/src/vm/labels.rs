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
    #[cold]
    pub unsafe fn begin(&mut self, machine: &mut Machine<'_, '_>, s: State, node: u32) -> State {
        let Some(node) = self.node(node) else { return s };
        if let Some(leaf) = self.ir.node(node).leaf() {
            // SAFETY: as for this function; a text is reserved anew.
            return unsafe {
                let s = machine.append(s, |output, base| self.labels.emit(node, leaf, output, base));
                machine.reserve(s, 0, OUTPUT)
            };
        }
        // SAFETY: as for this function.
        let emitted = unsafe { machine.emitted(s) };
        machine.slack = self.labels.begin(self.ir, node, emitted, machine.slack);
        s
    }

    /// Ends what [`Labelled::begin`] began.
    ///
    /// # Safety
    ///
    /// `s` must be the machine's state.
    #[cold]
    pub unsafe fn leave(&mut self, machine: &mut Machine<'_, '_>, s: State, node: u32) -> State {
        let Some(node) = self.node(node) else { return s };
        let mut slack = machine.slack;
        // SAFETY: as for this function; a text is reserved anew.
        let s = unsafe {
            let s = machine.append(s, |output, base| slack = self.labels.end(self.ir, node, output, base, slack));
            machine.reserve(s, 0, OUTPUT)
        };
        machine.slack = slack;
        s
    }

    /// Takes a name, or the nearest one without reading. Returns false if none is seen, or it does not fit.
    ///
    /// # Safety
    ///
    /// `s` must be the machine's state, with a site reserved.
    #[cold]
    pub unsafe fn take_name(
        &mut self,
        machine: &mut Machine<'_, '_>,
        s: &mut State,
        node: u32,
        is_nearest: bool,
    ) -> bool {
        let Some(node) = self.node(node) else { return false };
        let seen = self.labels.names_seen(self.ir, node);
        if seen == 0 {
            return false;
        }
        // SAFETY: as for this function.
        let number = if is_nearest { 0 } else { unsafe { machine.pick(s, seen + 1) as u32 } };
        let ir = self.ir;
        if !self.labels.name_fits(ir, (node, number), machine.slack) {
            return false;
        }
        let mut slack = machine.slack;
        // SAFETY: as for this function; a text is reserved anew.
        *s = unsafe {
            let s = machine.append(*s, |output, base| {
                slack = self.labels.take_name(ir, (node, number), slack, output, base);
            });
            machine.reserve(s, 0, OUTPUT)
        };
        machine.slack = slack;
        true
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
    #[cold]
    pub unsafe fn choose(
        &mut self,
        machine: &mut Machine<'_, '_>,
        s: &mut State,
        program: &Program,
        node: u32,
        site: &Site,
    ) -> usize {
        let ir = self.ir;
        let Some((node, choice)) = self.node(node).and_then(|node| Some((node, ir.node(node).choice()?))) else {
            return 0;
        };
        let offered = (self.labels.offered(ir, node, choice, machine.slack) as usize).min(site.count as usize);
        // SAFETY: as for this function.
        let option = unsafe { super::interpret::pick(machine, s, program, site, offered) };
        if let Some(&taken) = choice.options.get(option) {
            machine.slack = self.labels.choose(ir, choice, taken, machine.slack);
        }
        option
    }

    /// Decides whether a repetition goes on after `done` rounds; with `is_least`, only up to its minimum.
    ///
    /// # Safety
    ///
    /// `s` must be the machine's state, with a site reserved.
    #[cold]
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
        let Some(Rounds { min, max, .. }) = ir.node(node).rounds() else { return false };
        let is_further = done >= min;
        if is_further {
            if is_least || max.is_some_and(|max| done >= max) {
                return false;
            }
            let Some(slack) = self.labels.further(ir, node, machine.slack) else { return false };
            // SAFETY: as for this function.
            if unsafe { machine.pick8(s, 2) } == 0 {
                return false;
            }
            machine.slack = slack;
        }
        self.labels.begin_round(ir, node, is_further);
        true
    }

    /// Fills in all bytes that were not known when they were emitted, in a text that begins at `base`.
    pub fn settle(&mut self, output: &mut Vec<u8>, base: usize) {
        self.labels.settle(self.ir, output, base);
    }
}
