//! Choices: among literals they are data; among other options a branch for each group of options that are alike.

use dynasmrt::x64::Rq;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::alike::{groups, is_shared, items};
use gramjet_compiler::ir::{self, Choice, Node, NodeId};

use super::picks::{Decision, Picked};
use super::strings::Strings;
use super::{Assembler, Flow, asm};

/// Options that differ in literals of at most so many bytes share a branch.
const MAX_MERGED: usize = 31;

/// So many branches or more are reached by a table of jumps, fewer by comparisons.
const MIN_JUMP_TABLE: usize = 16;

/// Strings of a choice among choices have at most so many bytes, ...
const MAX_NESTED: usize = 32;
/// ... and their table as many: larger ones would not stay in the first-level cache.
const MAX_NESTED_TABLE: usize = 1 << 14;

/// The options of a choice.
pub(super) struct Grouped<'g> {
    pub decision: Decision<'g>,
    /// What each option is a sequence of.
    pub options: Vec<Vec<NodeId>>,
    /// So many items at their beginning are the same in all.
    pub shared: usize,
    /// Behind these, the options of a group differ in short literals only.
    pub groups: Vec<Vec<usize>>,
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
    /// The group of each option.
    fn arm_of(&self) -> Vec<usize> {
        let mut arm_of = vec![0; self.decision.site.options() as usize];
        for (arm, group) in self.groups.iter().enumerate() {
            group.iter().for_each(|&option| arm_of[option] = arm);
        }
        arm_of
    }

    /// Neighbouring options of one group: the first, the one behind the last, and the group.
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
    pub(super) fn choice(&mut self, node: NodeId, choice: &'g Choice, offset: i32) {
        let ir = self.ir;
        let min_len = ir.facts(node).min_len;
        let literals: Option<Vec<&[u8]>> = choice.options.iter().map(|&option| self.literal_of(option)).collect();
        if let Some(strings) = literals {
            return self.strings(&Strings {
                strings,
                slots: choice.slots.as_ref(),
                min_len,
                shortest: None,
                pool_of: None,
            });
        }
        if let Some(chain) = self.chain_at(node) {
            return self.chain(chain, offset);
        }
        if self.nested(choice) {
            return;
        }
        if let Some(joint) = self.joint(node, choice) {
            return self.joint_branches(&joint, offset);
        }
        let grouped = self.grouped(node, choice, true);
        self.branches(&grouped, offset);
    }

    /// The bytes of a node that is a literal short enough to be copied in place.
    pub(super) fn literal_of(&self, node: NodeId) -> Option<&'g [u8]> {
        match self.ir.node(node) {
            Node::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The options of a choice that is no data, in groups that are alike.
    pub(super) fn grouped(&self, node: NodeId, choice: &'g Choice, shares_heads: bool) -> Grouped<'g> {
        let ir = self.ir;
        let min_len = ir.facts(node).min_len;
        let has_literals =
            choice.options.iter().any(|&option| self.literal_of(option).is_some_and(|it| !it.is_empty()));
        let options: Vec<Vec<NodeId>> = choice
            .options
            .iter()
            .map(|&option| match self.literal_of(option) {
                // The empty option is a literal like others.
                Some(_) if has_literals => vec![option],
                _ => items(ir, option),
            })
            .collect();
        let shared = match shares_heads {
            true => (0..).take_while(|&position| is_shared(ir, &options, position)).count(),
            false => 0,
        };
        let groups = groups(ir, &options, shared, MAX_MERGED);
        let decision = Decision {
            site: ir::Site::new(choice.options.len() as u32, choice.slots.as_ref()),
            costs: choice.options.iter().map(|&option| ir.facts(option).min_len - min_len).collect(),
        };
        Grouped { decision, options, shared, groups }
    }

    /// A branch for each group of options, behind what all begin with.
    fn branches(&mut self, grouped: &Grouped<'g>, offset: i32) {
        let Grouped { decision, options, shared, groups } = grouped;
        self.need(3, 0);
        let mut picked = self.decide(decision);
        if *shared > 0 {
            self.push_option();
            options[0][..*shared].iter().for_each(|&item| self.node(item, offset));
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
        if self.is_dead {
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

    /// Where all arms have arrived.
    pub(super) fn end_of_arms(&mut self, end: DynamicLabel, after: Option<Flow>) {
        let is_dead = after.is_none();
        self.place(end);
        self.flow = after.unwrap_or_default();
        self.is_dead = is_dead;
    }

    fn push_option(&mut self) {
        let ops = &mut self.ops;
        asm!(ops ; push rax);
        self.pushed(1);
    }

    fn pop_option(&mut self) {
        let ops = &mut self.ops;
        asm!(ops ; pop rax);
        self.stack -= 1;
    }

    /// The options of a group, which are the same but for literals; what was picked is in eax.
    pub(super) fn group(&mut self, grouped: &Grouped<'g>, picked: Picked, arm: usize, offset: i32) {
        let Grouped { decision, options, shared, groups } = grouped;
        let (shared, group) = (*shared, &groups[arm]);
        let ir = self.ir;
        let len = options[group[0]].len();
        let same = |position: usize| {
            let item = options[group[0]][position];
            group.iter().all(|&option| ir.is_written_like(item, options[option][position]))
        };
        let merged: Vec<usize> = (shared..len).filter(|&position| !same(position)).collect();
        let Some(&last) = merged.last() else {
            return options[group[0]][shared..].iter().for_each(|&item| self.node(item, offset));
        };
        self.leave_option(picked, decision);
        let kept = last > shared;
        if kept {
            self.push_option();
        }
        let slot = self.stack;
        for (position, &item) in options[group[0]].iter().enumerate().skip(shared) {
            if !merged.contains(&position) {
                self.node(item, offset);
                continue;
            }
            let literals: Vec<(usize, &[u8])> = group
                .iter()
                .map(|&option| (option, self.literal_of(options[option][position]).unwrap_or_default()))
                .collect();
            let longest = literals.iter().map(|(_, literal)| literal.len()).max().unwrap_or(0);
            self.need(0, longest as i32);
            if kept && position == last {
                self.pop_option();
            } else if kept {
                let place = 8 * (self.stack - slot);
                let ops = &mut self.ops;
                asm!(ops ; mov rax, [rsp + place]);
            }
            self.put_merged(&literals);
        }
    }

    /// Emits the literal of the option whose number is in eax; only these numbers may occur.
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

    /// Compares the value in register `value` and jumps to the arm of the stretch in which it is; returns the arm that it
    /// falls into.
    ///
    /// The less probable of the two outer stretches is split off, until one is left: most branches are then rarely taken,
    /// and together they are predicted wrongly as often as the most probable stretch is missed.
    // The assembler's macro converts what is a byte already.
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
        let table = self.tables.reserve(4 * arm_of.len(), 4);
        for (option, &arm) in arm_of.iter().enumerate() {
            self.jumps.push((table as usize + 4 * option, arms[arm]));
        }
        let ops = &mut self.ops;
        asm!(ops ; movsxd rcx, DWORD [tables + rax*4 + table] ; add rcx, tables ; jmp rcx);
        0
    }

    /// A choice whose options are literals or choices of such: two sites, no branch.
    fn nested(&mut self, choice: &'g Choice) -> bool {
        let ir = self.ir;
        let mut entries: Vec<u32> = Vec::with_capacity(choice.options.len());
        let mut leaves: Vec<&[u8]> = Vec::new();
        if choice.slots.is_some() || choice.options.len() > 256 {
            return false;
        }
        for &option in &choice.options {
            let first = leaves.len() as u32;
            match ir.node(option) {
                Node::Choice(inner) if inner.slots.is_none() && inner.options.len() <= 256 => {
                    let Some(literals) =
                        inner.options.iter().map(|&option| self.literal_of(option)).collect::<Option<Vec<_>>>()
                    else {
                        return false;
                    };
                    leaves.extend(literals);
                }
                Node::Bytes(bytes) => leaves.push(bytes),
                _ => return false,
            }
            entries.push(first | (leaves.len() as u32 - first) << 16);
        }
        let len = leaves.iter().map(|leaf| leaf.len()).max().unwrap_or(0);
        // Under a length limit either site may be narrowed unless all cost the same.
        let is_narrowed = self.kind.length && leaves.iter().any(|leaf| leaf.len() != len);
        if len > MAX_NESTED || leaves.len() * len.next_power_of_two() > MAX_NESTED_TABLE || is_narrowed {
            return false;
        }
        let decision = Decision { site: ir::Site::even(choice.options.len() as u32), costs: Vec::new() };
        self.need(2, len as i32);
        // The choice byte from which on there is a second site, if it is so simple.
        let firsts = entries.iter().position(|entry| entry >> 16 > 1).unwrap_or(0);
        let simple = entries[firsts..].iter().all(|entry| entry >> 16 > 1);
        let second = simple.then(|| decision.threshold(firsts));
        let picked = self.decide(&decision);
        let ops = &mut self.ops;
        asm!(ops ; mov r9d, eax);
        self.leave_option(picked, &decision);
        let entries: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let entries = self.tables.add(entries, 4);
        let at = self.flow.choice as i8;
        let ops = &mut self.ops;
        // What is read next need not wait for the table where a comparison tells whether there is a second site.
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
        self.put_indexed(&leaves, None);
        true
    }
}
