//! Choices: among literals they are data; among other options a branch for each group of options that are alike.

use dynasmrt::x64::Rq;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::alike::{Alike, Item, items};
use gramjet_compiler::analysis::form::Nested;
use gramjet_compiler::ir::{Choice, NodeId};

use super::picks::{Decision, Picked};
use super::{Assembler, Flow, asm};

/// Options that differ in literals of at most this number of bytes share a branch.
const MAX_MERGED: usize = 31;

/// At least this number of branches is reached by a jump table, fewer by comparisons.
const MIN_JUMP_TABLE: usize = 16;

/// The options of a choice.
pub(super) struct Grouped<'g> {
    pub decision: Decision<'g>,
    pub alike: Alike,
    /// The node, if its options cost what the text so far says.
    pub open: Option<NodeId>,
}

/// Neighbouring values that lead to one arm, from `from` to where the next stretch begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub from: i32,
    /// In proportion to its probability.
    pub weight: u32,
    pub arm: usize,
}

impl Grouped<'_> {
    /// Returns the group of each option.
    fn arm_of(&self) -> Vec<usize> {
        let mut arm_of = vec![0; self.decision.site.options() as usize];
        for (arm, group) in self.alike.groups.iter().enumerate() {
            group.iter().for_each(|&option| arm_of[option] = arm);
        }
        arm_of
    }

    /// Runs of options of one group: the first, the one after the last, and the group.
    pub fn stretches(&self) -> Vec<((usize, usize), usize)> {
        let mut stretches: Vec<((usize, usize), usize)> = Vec::new();
        for (option, &arm) in self.arm_of().iter().enumerate() {
            match stretches.last_mut() {
                Some(((_, end), last)) if *last == arm => *end = option + 1,
                _ => stretches.push(((option, option + 1), arm)),
            }
        }
        stretches
    }
}

impl<'g> Assembler<'g> {
    /// Emits a choice whose options are of any kind.
    pub(super) fn choice(&mut self, node: NodeId, choice: &'g Choice, offset: i32) {
        if let Some(joint) = self.joint(node, choice) {
            return self.joint_branches(&joint, offset);
        }
        let grouped = self.grouped(node, choice, true);
        self.branches(&grouped, offset);
    }

    /// Returns the options of a choice that is no data, in groups that are alike.
    pub(super) fn grouped(&self, node: NodeId, choice: &'g Choice, shares_heads: bool) -> Grouped<'g> {
        let ir = self.ir;
        let min_len = ir.facts(node).min_len;
        let literal = |option: NodeId| ir.node(option).literal();
        let has_literals = choice.options.iter().any(|&option| literal(option).is_some_and(|it| !it.is_empty()));
        let options: Vec<Vec<NodeId>> = choice
            .options
            .iter()
            .map(|&option| match literal(option) {
                // The empty option is a literal like others.
                Some(_) if has_literals => vec![option],
                _ => items(ir, option),
            })
            .collect();
        let decision = Decision {
            site: choice.site(),
            costs: choice.options.iter().map(|&option| ir.facts(option).min_len - min_len).collect(),
        };
        let open = Some(node).filter(|&node| self.is_open(node));
        Grouped { decision, alike: Alike::new(ir, options, shares_heads, MAX_MERGED), open }
    }

    /// Emits a branch for each group of options, after their common beginning.
    fn branches(&mut self, grouped: &Grouped<'g>, offset: i32) {
        let Grouped { decision, alike, open } = grouped;
        let groups = &alike.groups;
        self.need(3, 0);
        let mut picked = match *open {
            Some(node) => self.decide_open(node, decision),
            None => self.decide(decision),
        };
        if !alike.head().is_empty() {
            self.push_option();
            alike.head().iter().for_each(|&item| self.node(item, offset));
            self.pop_option();
        }
        if groups.len() == 1 {
            self.leave_option(picked, decision);
            return self.group(grouped, Picked::Option, 0, offset);
        }
        let arms: Vec<DynamicLabel> = groups.iter().map(|_| self.label()).collect();
        let first = self.dispatch(grouped, &mut picked, &arms);
        let end = self.label();
        let before = self.flow;
        let mut after = None;
        // The arm that the dispatch falls into comes first.
        let order = std::iter::once(first).chain((0..groups.len()).filter(|&arm| arm != first));
        for (position, arm) in order.enumerate() {
            self.flow = before;
            self.place(arms[arm]);
            self.group(grouped, picked, arm, offset);
            self.arrive(end, &mut after, position + 1 == groups.len());
        }
        self.end_of_arms(end, after);
    }

    /// Goes from the end of an arm to `end`, which the last arm falls into.
    pub(super) fn arrive(&mut self, end: DynamicLabel, after: &mut Option<Flow>, is_last: bool) {
        if self.frame.is_dead {
            return;
        }
        self.flush();
        if !is_last {
            self.jump(end);
        }
        if let Some(after) = *after {
            self.join(after);
        }
        *after = Some(self.flow);
    }

    /// Places the label at which all arms end.
    pub(super) fn end_of_arms(&mut self, end: DynamicLabel, after: Option<Flow>) {
        let is_dead = after.is_none();
        self.place(end);
        self.flow = after.unwrap_or_default();
        self.frame.is_dead = is_dead;
    }

    fn push_option(&mut self) {
        let ops = &mut self.ops;
        asm!(ops ; push rax);
        self.pushed(1);
    }

    fn pop_option(&mut self) {
        let ops = &mut self.ops;
        asm!(ops ; pop rax);
        self.frame.stack -= 1;
    }

    /// Emits the options of a group, which are the same but for literals; the picked option is in eax.
    pub(super) fn group(&mut self, grouped: &Grouped<'g>, picked: Picked, arm: usize, offset: i32) {
        let items = grouped.alike.items(self.ir, arm);
        let last = items.iter().rposition(|item| matches!(item, Item::Literals(_)));
        if last.is_some() {
            self.leave_option(picked, &grouped.decision);
        }
        let kept = last.is_some_and(|last| last > 0);
        if kept {
            self.push_option();
        }
        let slot = self.frame.stack;
        for (position, item) in items.into_iter().enumerate() {
            let literals = match item {
                Item::Same(item) => {
                    self.node(item, offset);
                    continue;
                }
                Item::Literals(literals) => literals,
            };
            let longest = literals.iter().map(|(_, literal)| literal.len()).max().unwrap_or(0);
            self.need(0, longest as i32);
            if kept && Some(position) == last {
                self.pop_option();
            } else if kept {
                let place = 8 * (self.frame.stack - slot);
                let ops = &mut self.ops;
                asm!(ops ; mov rax, [rsp + place]);
            }
            self.put_merged(&literals);
        }
    }

    /// Emits the literal of the option whose number is in eax. No other numbers may occur.
    fn put_merged(&mut self, literals: &[(usize, &[u8])]) {
        let first = literals[0].0;
        let last = literals[literals.len() - 1].0;
        let mut strings: Vec<&[u8]> = vec![literals[0].1; last + 1 - first];
        for &(option, literal) in literals {
            strings[option - first] = literal;
        }
        if first > 0 {
            let first = first as i32;
            let ops = &mut self.ops;
            asm!(ops ; sub eax, first);
        }
        self.put_indexed(&strings, None);
    }

    /// Jumps to the arm of the group that was picked; returns the arm that it falls into.
    fn dispatch(&mut self, grouped: &Grouped<'_>, picked: &mut Picked, arms: &[DynamicLabel]) -> usize {
        let decision = &grouped.decision;
        let stretches = grouped.stretches();
        if stretches.len() >= MIN_JUMP_TABLE {
            self.leave_option(*picked, decision);
            *picked = Picked::Option;
            return self.jump_table(&grouped.arm_of(), arms);
        }
        // Where the value that is compared begins to mean the option.
        let bound = |option: usize| match *picked {
            Picked::Byte => decision.threshold(option),
            Picked::Option => option as i32,
        };
        let values: Vec<Stretch> = stretches
            .iter()
            .map(|&(options, arm)| {
                let (from, to) = (bound(options.0), bound(options.1));
                Stretch { from, weight: (to - from) as u32, arm }
            })
            .collect();
        self.compare(Rq::RAX, &values, arms)
    }

    /// Compares the value in register `value` and jumps to the arm of the stretch in which it is; returns the arm that
    /// it falls into.
    ///
    /// The less probable of the two outer stretches is split off, until one is left: most branches are then rarely
    /// taken, and together they are predicted wrongly as often as the most probable stretch is missed.
    // The assembler's macro converts a value that is a byte already.
    #[allow(clippy::useless_conversion)]
    pub(super) fn compare(&mut self, value: Rq, stretches: &[Stretch], arms: &[DynamicLabel]) -> usize {
        let (mut first, mut last) = (0, stretches.len() - 1);
        let ops = &mut self.ops;
        while first < last {
            let (low, high) = (&stretches[first], &stretches[last]);
            if low.weight <= high.weight {
                let (arm, bound) = (arms[low.arm], stretches[first + 1].from);
                asm!(ops ; cmp Rd(value as u8), bound ; jb =>arm);
                first += 1;
            } else {
                let (arm, bound) = (arms[high.arm], high.from);
                asm!(ops ; cmp Rd(value as u8), bound ; jae =>arm);
                last -= 1;
            }
        }
        stretches[first].arm
    }

    fn jump_table(&mut self, arm_of: &[usize], arms: &[DynamicLabel]) -> usize {
        let table = self.data.tables.reserve(4 * arm_of.len(), 4);
        for (option, &arm) in arm_of.iter().enumerate() {
            self.data.jumps.push((table as usize + 4 * option, arms[arm]));
        }
        let ops = &mut self.ops;
        asm!(ops ; movsxd rcx, DWORD [tables + rax*4 + table] ; add rcx, tables ; jmp rcx);
        0
    }

    /// Emits a choice among strings and choices among strings.
    pub(super) fn nested(&mut self, nested: &Nested<'_>) {
        let entries = &nested.options;
        let decision = Decision { site: nested.choice.site(), costs: Vec::new() };
        self.need(2, nested.longest as i32);
        // The choice byte from which on there is a second site, if it is so simple.
        let firsts = entries.iter().position(|entry| entry >> 16 > 1).unwrap_or(0);
        let simple = entries[firsts..].iter().all(|entry| entry >> 16 > 1);
        let second = simple.then(|| decision.threshold(firsts));
        let picked = self.decide(&decision);
        let ops = &mut self.ops;
        asm!(ops ; mov r9d, eax);
        self.leave_option(picked, &decision);
        let entries: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let entries = self.data.tables.add(entries, 4);
        let at = self.flow.choice as i8;
        let ops = &mut self.ops;
        // Where a comparison shows whether there is a second site, the next read need not wait for the table.
        match second {
            Some(first) => asm!(ops ; xor r8d, r8d ; cmp r9d, first ; setae r8b),
            None => asm!(ops ; xor r8d, r8d ; cmp WORD [tables + rax*4 + entries + 2], 1 ; seta r8b),
        }
        asm!(ops
            ; mov ecx, [tables + rax*4 + entries]
            ; movzx edx, BYTE [BYTE choice + at]
            ; lea choice, [BYTE choice + r8 + at]
            ; movzx eax, cx
            ; shr ecx, 16
            ; imul edx, ecx
            ; shr edx, 8
            ; add eax, edx
        );
        self.flow.choice = 0;
        self.used(1, 0);
        self.put_indexed(&nested.strings, None);
    }
}
