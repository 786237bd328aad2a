//! Labelled parts, what follows from them, and shortest derivations, which replace rules with labels beyond the depth
//! limit.

use gramjet_compiler::ir::labels::counted_rounds;
use gramjet_compiler::ir::{Choice, Composition, Ir, NodeId, Rounds, RuleId};
use gramjet_compiler::naming::Naming;
use rustc_hash::FxHashMap;

use super::Builder;
use crate::vm::draft::{Exit, Op};
use crate::vm::program::{Code, Pc};

/// Data for building nodes with labels.
#[derive(Default)]
pub(super) struct Labelled {
    /// Flag for each node: true if it is a repetition whose rounds are counted. Empty without labels.
    counted: Vec<bool>,
    /// Whether option 0 is built of each site.
    pub is_shortest: bool,
    /// The ops of the option-0 derivations of rules. Never iterated.
    shortest: FxHashMap<RuleId, Pc>,
    /// Option-0 derivations that are called and not built yet.
    unbuilt: Vec<(RuleId, Pc)>,
}

impl Labelled {
    /// Returns the data before anything is built.
    pub fn new(ir: &Ir) -> Labelled {
        Labelled { counted: counted_rounds(ir), ..Labelled::default() }
    }
}

impl Builder<'_> {
    /// Returns true if the cost of options of a site follows from labelled parts, or its rounds are counted.
    pub(super) fn is_open(&self, node: NodeId) -> bool {
        self.ir.is_open(node) || self.labelled.counted.get(node.index()) == Some(&true)
    }

    /// Returns the exit that derives a node with labels.
    pub(super) fn labelled(&mut self, node: NodeId, level: u32, exit: Exit) -> Exit {
        let around = |builder: &mut Self, body: NodeId| {
            let leave = builder.around(Code::Leave, node, exit);
            let begin = builder.node(body, level, leave);
            builder.around(Code::Label, node, begin)
        };
        match self.ir.node(node).composition() {
            Composition::Derived(_) => self.around(Code::Label, node, exit),
            Composition::Label(_, _, body) => around(self, body),
            Composition::Scope(scope) => around(self, scope.body),
            Composition::Naming(Naming::Use(_), other) => {
                let other = self.node(other, level, exit);
                let code = if self.labelled.is_shortest { Code::Nearest } else { Code::Use };
                let op = self.tables.labelled(code, node, &[exit, other]);
                self.fresh = None;
                Exit::to(self.emit(op))
            }
            Composition::Naming(Naming::Declare(_), _) => self.around(Code::Label, node, exit),
            Composition::Naming(_, body) | Composition::Coded(_, body) => around(self, body),
            Composition::Times { item, .. } => {
                let pc = self.emit(Op::UNSET);
                let round = self.node(item, level, Exit::to(pc));
                let op = self.tables.labelled(Code::Left, node, &[exit, round]);
                self.set(pc, op);
                self.around(Code::Times, node, Exit::to(pc))
            }
            Composition::Bytes(_) | Composition::Class(_) | Composition::Instance(..) | Composition::All(_) => exit,
            Composition::One(_) | Composition::Rounds { .. } => exit,
        }
    }

    /// Returns the exit to an op for a node that goes on with `exit`.
    fn around(&mut self, code: Code, node: NodeId, exit: Exit) -> Exit {
        let op = self.tables.labelled(code, node, &[exit]);
        let pc = self.emit(op);
        self.fresh = None;
        Exit::to(pc)
    }

    /// Returns the exit that derives a choice whose options cost what follows from labelled parts.
    pub(super) fn open_choice(&mut self, node: NodeId, choice: &Choice, level: u32, exit: Exit) -> Exit {
        let exits: Vec<Exit> = choice.options.iter().map(|&option| self.node(option, level, exit)).collect();
        let op = self.tables.open(node, &exits, choice.slots.as_ref());
        self.fresh = None;
        Exit::to(self.emit(op))
    }

    /// Returns the exit that derives a repetition whose rounds are counted, or cost what follows from labelled parts.
    pub(super) fn open_rounds(&mut self, node: NodeId, level: u32, exit: Exit) -> Exit {
        let Some(Rounds { item, .. }) = self.ir.node(node).rounds() else { return exit };
        let pc = self.emit(Op::UNSET);
        let further = self.node(item, level, Exit::to(pc));
        let code = if self.labelled.is_shortest { Code::Least } else { Code::Further };
        let op = self.tables.labelled(code, node, &[exit, further]);
        self.set(pc, op);
        self.fresh = None;
        let op = self.tables.op(Code::Count, 0, Exit::to(pc));
        Exit::to(self.emit(op))
    }

    /// Returns the exit that takes option 0 at each site of a node.
    pub(super) fn first(&mut self, node: NodeId, level: u32, exit: Exit) -> Exit {
        let ir = self.ir;
        match ir.node(node).composition() {
            Composition::Bytes(bytes) => self.literal(bytes, exit),
            Composition::Class(set) => match set.nth(0) {
                Some(member) => self.text_before(set.encode(member).as_ref(), exit),
                None => exit,
            },
            Composition::Instance(rule, _) => self.call_shortest(rule, exit),
            Composition::All(items) => items.iter().rev().fold(exit, |exit, &item| self.node(item, level, exit)),
            Composition::One(choice) => self.node(choice.options[0], level, exit),
            Composition::Rounds { min: 0, .. } => exit,
            Composition::Rounds { item, min: 1, .. } if !self.is_open(node) => self.node(item, level, exit),
            Composition::Rounds { .. } if self.is_open(node) => self.open_rounds(node, level, exit),
            Composition::Rounds { item, min, .. } => self.counted_rounds(item, min, Some(min), level, exit),
            Composition::Derived(_) | Composition::Times { .. } | Composition::Label(..) => {
                self.labelled(node, level, exit)
            }
            Composition::Scope(_) | Composition::Naming(..) | Composition::Coded(..) => {
                self.labelled(node, level, exit)
            }
        }
    }

    /// Returns the exit that calls the option-0 derivation of a rule.
    pub(super) fn call_shortest(&mut self, rule: RuleId, exit: Exit) -> Exit {
        let pc = match self.labelled.shortest.get(&rule) {
            Some(&pc) => pc,
            None => {
                let pc = self.emit(Op::UNSET);
                self.labelled.shortest.insert(rule, pc);
                self.labelled.unbuilt.push((rule, pc));
                pc
            }
        };
        self.fresh = None;
        self.call(pc, 0, exit)
    }

    /// Builds the option-0 derivations that are called.
    pub(super) fn build_shortest(&mut self) {
        if self.labelled.unbuilt.is_empty() {
            return;
        }
        let homes = self.ir.homes();
        self.labelled.is_shortest = true;
        while let Some((rule, pc)) = self.labelled.unbuilt.pop() {
            let begin = match homes[rule.index()] {
                Some(body) => self.node(body, 0, Exit::RETURN),
                None => Exit::RETURN,
            };
            let op = self.moved_op_of(begin);
            self.set(pc, op);
        }
        self.labelled.is_shortest = false;
    }
}
