//! Decisions: from choice bytes to the number of an option.

use dynasmrt::{DynasmApi, DynasmLabelApi};
use gramjet_compiler::ir;

use super::narrow::Narrowed;
use super::{Assembler, asm};
use crate::jit::context::Doors;
use crate::jit::sites::Site;

/// A site whose option is to be decided; of at least two.
pub(super) struct Decision<'s> {
    pub site: ir::Site<'s>,
    /// Number of bytes that each option costs more than the shortest, ascending.
    pub costs: Vec<u64>,
}

/// The contents of eax after a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picked {
    /// The choice byte: it alone decides.
    Byte,
    /// The number of the option.
    Option,
}

impl Decision<'_> {
    /// Returns how many bits of choice bytes it reads.
    pub fn bits(&self) -> u32 {
        self.site.bits()
    }

    /// Returns the least choice byte that leads to `option` or a later one, for sites of one byte; 256 if there is no
    /// such option.
    pub fn threshold(&self, option: usize) -> i32 {
        self.site.value_of(option as u32) as i32
    }

    /// Returns the option that each choice byte leads to, for sites of one byte.
    pub fn map(&self) -> Vec<u8> {
        self.site.options_of_bytes().map_or_else(Vec::new, Vec::from)
    }

    fn max_cost(&self) -> u64 {
        self.costs.last().copied().unwrap_or(0)
    }
}

impl Assembler<'_> {
    /// Returns true if the length limit may leave options of such a site out.
    pub(super) fn is_limited(&self, decision: &Decision<'_>) -> bool {
        self.kept.length && decision.max_cost() > 0
    }

    /// Decides a site; its choice bytes must be needed already. Afterwards only eax holds something of use; without a
    /// length limit only rdx and rcx are lost in addition.
    pub(super) fn decide(&mut self, decision: &Decision<'_>) -> Picked {
        if self.is_limited(decision) {
            self.decide_within(decision);
            return Picked::Option;
        }
        self.bound_displacements();
        self.decide_all(decision)
    }

    /// Decides a site that offers all its options, as [`Assembler::decide`] does without a length limit.
    pub(super) fn decide_all(&mut self, decision: &Decision<'_>) -> Picked {
        match decision.bits() {
            8 => {
                self.load_choice();
                Picked::Byte
            }
            _ => {
                self.decide_wide(decision);
                Picked::Option
            }
        }
    }

    /// Loads the next choice byte into eax.
    pub(super) fn load_choice(&mut self) {
        let at = self.flow.choice as i8;
        let ops = &mut self.ops;
        asm!(ops ; movzx eax, BYTE [BYTE choice + at]);
        self.flow.choice += 1;
        self.used(1, 0);
    }

    /// Converts the picked number to the number of the option, in eax; rcx may be lost.
    pub(super) fn leave_option(&mut self, picked: Picked, decision: &Decision<'_>) {
        if picked == Picked::Option {
            return;
        }
        if decision.site.slots().is_some() {
            let map = self.data.tables.add(decision.map(), 1);
            let ops = &mut self.ops;
            asm!(ops ; movzx eax, BYTE [tables + rax + map]);
            return;
        }
        let count = decision.site.options();
        let ops = &mut self.ops;
        if count.is_power_of_two() {
            let shift = 8 - count.trailing_zeros() as i8;
            if shift > 0 {
                asm!(ops ; shr eax, shift);
            }
        } else {
            asm!(ops ; imul eax, eax, (count as i32) ; shr eax, 8);
        }
    }

    /// Decides a site of two or three choice bytes.
    fn decide_wide(&mut self, decision: &Decision<'_>) {
        let bits = decision.bits();
        let at = self.flow.choice as i8;
        let ops = &mut self.ops;
        match bits {
            16 => asm!(ops ; movzx eax, WORD [BYTE choice + at]),
            _ => asm!(ops ; mov eax, [BYTE choice + at] ; and eax, 0xFF_FFFF),
        }
        self.flow.choice += bits as i32 / 8;
        self.used(bits as i32 / 8, 0);
        match decision.site.slots() {
            None => {
                let count = decision.site.options() as i32;
                let ops = &mut self.ops;
                asm!(ops ; imul rax, rax, count ; shr rax, bits as i8);
            }
            Some(slots) => {
                let ends: Vec<u8> = slots.ends().iter().flat_map(|end| end.to_le_bytes()).collect();
                let (ends, count) = (self.data.tables.add(ends, 4), slots.ends().len() as i32);
                let slot = self.thunks.slot;
                let ops = &mut self.ops;
                asm!(ops ; lea rdx, [tables + ends] ; mov ecx, count ; call =>slot);
            }
        }
    }

    /// Decides a site that the length limit may narrow; pays the option's cost.
    fn decide_within(&mut self, decision: &Decision<'_>) {
        self.flush();
        let (decided, paid) = (self.label(), self.label());
        let narrow = match Narrowed::at(decision) {
            Some(narrowed) => self.cold(move |assembler| {
                assembler.decide_narrowed(&narrowed);
                assembler.jump(decided);
            }),
            None => {
                let site = self.site(Site {
                    costs: decision.costs.clone(),
                    slots: decision.site.slots().cloned(),
                    ..Site::default()
                });
                self.cold(move |assembler| {
                    assembler.door(Doors::PickWithin, site);
                    assembler.jump(paid);
                })
            }
        };
        self.compare_slack(decision.max_cost());
        let ops = &mut self.ops;
        asm!(ops ; jl =>narrow);
        let picked = self.decide_all(decision);
        self.leave_option(picked, decision);
        self.flush();
        self.place(decided);
        self.pay(&decision.costs);
        self.place(paid);
    }

    pub(super) fn site(&mut self, site: Site) -> i32 {
        let strings: usize = site.strings.iter().map(|string| string.len() + size_of::<Box<[u8]>>()).sum();
        let slots = site.slots.as_ref().map_or(0, |slots| size_of_val(slots.ends()));
        let shortest = site.shortest.as_ref().map_or(0, |shortest| shortest.len());
        let kept = self.may_know(strings + slots + shortest + size_of_val(&*site.costs) + size_of::<Site>());
        self.data.sites.push(if kept { site } else { Site::default() });
        self.data.sites.len() as i32 - 1
    }

    /// Counts the data of slow paths against the budget. Beyond it the code is refused, so that the data need not be
    /// kept.
    pub(super) fn may_know(&mut self, bytes: usize) -> bool {
        self.data.slow_len = self.data.slow_len.saturating_add(bytes);
        self.data.slow_len <= self.max_code
    }

    /// Compares the slack with a cost, signed; rdx may be lost.
    pub(super) fn compare_slack(&mut self, cost: u64) {
        let ops = &mut self.ops;
        match i32::try_from(cost) {
            Ok(cost) => asm!(ops ; cmp slack, cost),
            Err(_) => asm!(ops ; mov rdx, QWORD cost.min(i64::MAX as u64) as i64 ; cmp slack, rdx),
        }
    }

    /// Takes a cost from the slack; rdx may be lost.
    pub(super) fn pay_constant(&mut self, cost: u64) {
        let ops = &mut self.ops;
        match i32::try_from(cost) {
            Ok(cost) => asm!(ops ; sub slack, cost),
            Err(_) => asm!(ops ; mov rdx, QWORD cost.min(i64::MAX as u64) as i64 ; sub slack, rdx),
        }
    }

    /// Pays for the option whose number is in eax.
    pub(super) fn pay(&mut self, costs: &[u64]) {
        if costs.iter().all(|&cost| cost == 0) {
            return;
        }
        let costs: Vec<u8> = costs.iter().flat_map(|cost| cost.to_le_bytes()).collect();
        let costs = self.data.tables.add(costs, 8);
        let ops = &mut self.ops;
        asm!(ops ; sub slack, [tables + rax*8 + costs]);
    }
}
