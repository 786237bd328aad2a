//! Labelled parts, names, codings, and what follows from them: calls of slow paths, around machine code for the parts.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::copies::Copies;
use gramjet_compiler::derived::Derived;
use gramjet_compiler::ir::labels::counted_rounds;
use gramjet_compiler::ir::{First, Ir, NodeId, Rounds, RuleId};
use gramjet_compiler::naming::Naming;

use super::loops::push_word;
use super::picks::{Decision, Picked};
use super::{Assembler, Flow, MARGIN, asm};
use crate::jit::context::Doors;

/// The most digits of a number that makes a name unique.
const MOST_DIGITS: u64 = 20;

/// Data for nodes with labels.
pub(super) struct Labelled {
    /// Flag for each node: true if it is a repetition whose rounds are counted. Empty without labels.
    counted: Vec<bool>,
    /// The labels that need no slow path, and where the words of each are: the words pushed with them.
    pub copies: Copies,
    pub places: Vec<i32>,
    /// Whether option 0 is assembled of each site.
    pub is_shortest: bool,
    /// The functions of the option-0 derivations of rules.
    shortest: Vec<Option<DynamicLabel>>,
    /// Option-0 derivations that are called and not assembled yet.
    pub open: Vec<(RuleId, DynamicLabel)>,
}

impl Labelled {
    /// Returns the data before anything is assembled.
    pub fn new(ir: &Ir) -> Labelled {
        Labelled {
            counted: counted_rounds(ir),
            copies: Copies::new(ir),
            places: vec![0; ir.label_count()],
            is_shortest: false,
            shortest: vec![None; ir.rules().len()],
            open: Vec::new(),
        }
    }
}

impl<'g> Assembler<'g> {
    /// Returns true if the cost of options of a site follows from labelled parts, or its rounds are counted.
    pub(super) fn is_open(&self, node: NodeId) -> bool {
        self.ir.is_open(node) || self.counts_rounds(node)
    }

    fn counts_rounds(&self, node: NodeId) -> bool {
        self.labelled.counted.get(node.index()) == Some(&true)
    }

    /// Calls a slow path for a node; its result is in rax.
    pub(super) fn door_of(&mut self, door: Doors, node: NodeId) {
        self.flush();
        // The budget of nodes is far below 2^31.
        self.door(door, node.index() as i32);
    }

    /// Notes that a slow path has made room for what a stretch may write.
    pub(super) fn can_write(&mut self) {
        self.flow.writes = MARGIN.1;
        self.flow.due.1 = 0;
    }

    /// Emits a node that only grammars with labels have.
    pub(super) fn with_labels(&mut self, node: NodeId, offset: i32) {
        let kind = self.ir.node(node);
        if self.with_copies(node, offset) {
            return;
        }
        if kind.leaf().is_some() {
            self.door_of(Doors::Emit, node);
            return self.can_write();
        }
        if let Some((item, _)) = kind.times() {
            return self.times(node, item, offset);
        }
        match kind.naming() {
            Some((Naming::Use(_), other)) => return self.name(node, other, offset),
            Some((naming, _)) if naming.is_silent() => return self.door_of(Doors::Begin, node),
            Some(_) | None => {}
        }
        self.door_of(Doors::Begin, node);
        self.ir.children(node).iter().for_each(|&child| self.node(child, offset));
        let is_name = kind.naming().is_some_and(|(naming, _)| naming.given().is_some());
        if !is_name && kind.coded().is_none() {
            return self.door_of(Doors::Close, node);
        }
        self.door_of(Doors::Leave, node);
        self.can_write();
    }

    /// Emits a node without a slow path. Returns false if it needs one.
    fn with_copies(&mut self, node: NodeId, offset: i32) -> bool {
        let kind = self.ir.node(node);
        if let Some(scope) = kind.scope().filter(|_| self.labelled.copies.has_scope(node)) {
            self.scope_of_copies(scope, offset);
            return true;
        }
        if let Some((label, _, body)) = kind.label()
            && let Some(copied) = self.labelled.copies.label(label)
        {
            self.copied_part(label, copied, body, offset);
            return true;
        }
        let silent = kind.naming().filter(|(naming, _)| naming.is_silent()).map(|(_, copy)| copy);
        if let Some(Derived::Copy(known)) = self.ir.node(silent.unwrap_or(node)).leaf().map(|leaf| &leaf.derived)
            && self.labelled.copies.label(known.label).is_some()
        {
            match silent {
                Some(_) => self.declare_part(node, known.label),
                None => self.copy_part(known.label),
            }
            return true;
        }
        false
    }

    /// Emits the rounds of a node that a number says.
    fn times(&mut self, node: NodeId, item: NodeId, offset: i32) {
        self.door_of(Doors::Rounds, node);
        let (head, exit) = (self.label(), self.label());
        let ops = &mut self.ops;
        asm!(ops ; push rax);
        self.pushed(1);
        self.place(head);
        self.flow = Flow::default();
        let ops = &mut self.ops;
        asm!(ops ; dec QWORD [rsp] ; js =>exit);
        self.node(item, offset);
        self.flush();
        self.jump(head);
        self.place(exit);
        let ops = &mut self.ops;
        asm!(ops ; pop rax);
        self.frame.stack -= 1;
        self.flow = Flow::default();
    }

    /// Emits a name that is seen, or the part in its place.
    fn name(&mut self, node: NodeId, other: NodeId, offset: i32) {
        self.need(3, 0);
        let door = if self.labelled.is_shortest { Doors::Nearest } else { Doors::Name };
        self.door_of(door, node);
        self.used(3, 0);
        self.can_write();
        let (back, after) = (self.label(), self.flow);
        let ops = &mut self.ops;
        asm!(ops ; test eax, eax ; jnz =>back);
        self.node(other, offset);
        self.flush();
        self.join(after);
        self.place(back);
    }

    /// Decides a choice whose options cost what the text so far says; its choice bytes must be needed already. Leaves
    /// the option in eax.
    pub(super) fn decide_open(&mut self, node: NodeId, decision: &Decision<'_>) -> Picked {
        if let (Some(seen), Some(choice)) = (self.seen_by(node), self.ir.node(node).choice()) {
            return self.decide_copies(decision, &choice.options, seen);
        }
        self.door_of(Doors::Choose, node);
        self.used(3, 0);
        Picked::Option
    }

    /// Emits a repetition whose rounds are counted, or cost what the text so far says; see [`Assembler::repeat`].
    pub(super) fn open_rounds(&mut self, node: NodeId, offset: i32) {
        let Some(Rounds { item, min, max }) = self.ir.node(node).rounds() else { return };
        let max = if self.labelled.is_shortest { Some(min) } else { max };
        let (head, exit, site, round) = (self.label(), self.label(), self.label(), self.label());
        self.flush();
        // The rounds without a site are counted in the word on top, the others in that below it.
        let ops = &mut self.ops;
        push_word(ops, max.map_or(0, |max| max - min));
        push_word(ops, min);
        self.pushed(2);
        self.place(head);
        self.flow = Flow::default();
        let ops = &mut self.ops;
        asm!(ops ; dec QWORD [rsp] ; js =>site);
        if self.counts_rounds(node) {
            self.door_of(Doors::Round, node);
        }
        self.place(round);
        self.node(item, offset);
        self.flush();
        self.jump(head);
        self.place(site);
        self.flow = Flow::default();
        let ops = &mut self.ops;
        asm!(ops ; mov QWORD [rsp], 0);
        if max.is_some() {
            asm!(ops ; dec QWORD [BYTE rsp + 8] ; js =>exit);
        }
        self.go_open(node, item, exit);
        self.jump(round);
        self.place(exit);
        let ops = &mut self.ops;
        asm!(ops ; add rsp, BYTE 16);
        self.frame.stack -= 2;
        self.flow = Flow::default();
    }

    /// Decides on a further round: goes to `exit` if there is none.
    fn go_open(&mut self, node: NodeId, item: NodeId, exit: DynamicLabel) {
        if let Some(seen) = self.seen_by(node) {
            return self.go_copies(item, seen, exit);
        }
        self.need(1, 0);
        self.flush();
        self.used(1, 0);
        let Some(ample) = self.ample_slack(node, item) else {
            self.door_of(Doors::Further, node);
            let ops = &mut self.ops;
            asm!(ops ; test eax, eax ; jz =>exit);
            return;
        };
        let taken = self.label();
        let narrow = self.cold(move |assembler| {
            assembler.door_of(Doors::Further, node);
            let ops = &mut assembler.ops;
            asm!(ops ; test eax, eax ; jz =>exit ; jmp =>taken);
        });
        let ops = &mut self.ops;
        asm!(ops ; cmp slack, ample ; jl =>narrow ; inc choice ; cmp BYTE [BYTE choice - 1], 0 ; jns =>exit);
        self.door_of(Doors::GoOn, node);
        self.place(taken);
    }

    /// Returns a slack with which another round is offered for sure, where only unique names count.
    fn ample_slack(&self, node: NodeId, item: NodeId) -> Option<i32> {
        if !self.ir.free(node).is_empty() || self.counts_rounds(node) {
            return None;
        }
        let digits = self.ir.uniques(item).total().saturating_mul(MOST_DIGITS);
        i32::try_from(self.ir.facts(item).min_len.saturating_add(digits)).ok()
    }

    /// Emits a node with option 0 at each site.
    pub(super) fn first(&mut self, node: NodeId) {
        let kind = self.ir.node(node);
        if kind.has_labels() {
            return self.with_labels(node, 0);
        }
        if kind.rounds().is_some() {
            return self.first_rounds(node);
        }
        match kind.first() {
            First::Bytes(bytes) => self.bytes(bytes),
            First::Member(member) => self.literal(member.as_ref()),
            First::Instance(rule) => self.call_shortest(rule),
            // Repetitions are above.
            First::Times(items, _) => items.iter().for_each(|&item| self.node(item, 0)),
        }
    }

    /// Emits the rounds of a repetition that no site decides on.
    fn first_rounds(&mut self, node: NodeId) {
        match self.ir.node(node).rounds() {
            Some(Rounds { min: 0, .. }) | None => {}
            Some(_) if self.is_open(node) => self.open_rounds(node, 0),
            Some(Rounds { item, min: 1, .. }) => self.node(item, 0),
            Some(Rounds { item, min, .. }) => {
                self.flush();
                self.fixed_rounds(item, min, 0);
            }
        }
    }

    /// Emits a call of the option-0 derivation of a rule.
    pub(super) fn call_shortest(&mut self, rule: RuleId) {
        let label = match self.labelled.shortest[rule.index()] {
            Some(label) => label,
            None => {
                let label = self.label();
                self.labelled.shortest[rule.index()] = Some(label);
                self.labelled.open.push((rule, label));
                label
            }
        };
        self.call(label);
    }
}
