//! Sites that the length limit narrows, without a branch on the options left.
//!
//! The options offered are a prefix of all options, so narrowing changes one number: the choice byte is multiplied by
//! the count of options offered, or, at weighted sites, by the count of their slots. That number is looked up by the
//! slack, or compared with it where few costs differ. If one option is offered the number is 0: the product then
//! selects the first option, and the choice byte is not moved over.

use dynasmrt::DynasmApi;

use super::picks::Decision;
use super::{Assembler, Data, asm};

/// A narrowed site of one choice byte.
pub(super) struct Narrowed {
    /// The least slack from which on the choice byte is multiplied with a number, ascending; the first is 0.
    steps: Vec<(i32, u8)>,
    /// From what the product leads to to the option, at weighted sites.
    map: Option<Vec<u8>>,
}

/// Up to this number of steps is compared.
const MAX_COMPARED: usize = 6;

/// The largest table by slack, in bytes; beyond it as many steps as [`MAX_FAR_COMPARED`] are compared.
const MAX_TABLE: i32 = 1024;
const MAX_FAR_COMPARED: usize = 24;

impl Narrowed {
    /// Returns the site where its dearest options are not offered, if it has no more than 256 options or slots and this
    /// can be compared or looked up.
    pub fn at(decision: &Decision<'_>) -> Option<Narrowed> {
        if decision.bits() != 8 || decision.site.options() > 256 {
            return None;
        }
        let costs = &decision.costs;
        let most = *costs.last()?;
        let mut steps: Vec<(i32, u8)> = Vec::new();
        for (option, &cost) in costs.iter().enumerate().take_while(|&(_, &cost)| cost < most) {
            let offered = option + 1;
            let number = match offered {
                1 => 0,
                // Less than 256, as an option is left out.
                _ => decision.site.narrowed(offered as u32).units() as u8,
            };
            // Costs above the least offered one: below it no option is offered, and the caller has checked that.
            let from = if steps.is_empty() { 0 } else { i32::try_from(cost).ok()? };
            match steps.last_mut() {
                Some((_, last)) if option > 0 && costs[option - 1] == cost => *last = number,
                _ => steps.push((from, number)),
            }
        }
        let fits = steps.len() <= MAX_COMPARED || most <= MAX_TABLE as u64 || steps.len() <= MAX_FAR_COMPARED;
        (fits && !steps.is_empty()).then(|| Narrowed { steps, map: decision.site.slots().map(|_| decision.map()) })
    }

    /// Returns the numbers by slack.
    fn table(&self) -> Vec<u8> {
        let ends = self.steps.iter().skip(1).map(|&(from, _)| from as usize);
        let mut table = Vec::new();
        for (&(_, number), end) in self.steps.iter().zip(ends) {
            table.resize(end, number);
        }
        table
    }
}

impl Assembler<'_> {
    /// Decides a site as far as the slack goes, which is less than the dearest option's cost; leaves the option in eax.
    /// The choice pointer must be where the choice byte is, and moves over it if it is read.
    pub(super) fn decide_narrowed(&mut self, narrowed: &Narrowed) {
        let Narrowed { steps, map } = narrowed;
        let last = steps[steps.len() - 1];
        let Self { ops, data: Data { tables, .. }, .. } = self;
        if let [(_, 0)] = steps[..] {
            asm!(ops ; xor eax, eax);
            return;
        }
        if steps.len() > MAX_COMPARED && last.0 < MAX_TABLE {
            // From the last step on, its number: the slack is bound by it.
            let mut table = narrowed.table();
            table.push(last.1);
            let table = tables.add(table, 1);
            asm!(ops
                ; mov edx, last.0
                ; cmp slack, rdx
                ; cmovl rdx, slack
                ; movzx ecx, BYTE [tables + rdx + table]
            );
        } else {
            asm!(ops ; mov ecx, i32::from(steps[0].1));
            for &(from, number) in &steps[1..] {
                asm!(ops ; mov edx, i32::from(number) ; cmp slack, from ; cmovge ecx, edx);
            }
        }
        asm!(ops
            ; movzx eax, BYTE [choice]
            ; imul eax, ecx
            ; shr eax, 8
            ; cmp ecx, 1
            ; sbb choice, BYTE -1
        );
        if let Some(map) = map {
            let map = tables.add(map.clone(), 1);
            asm!(ops ; movzx eax, BYTE [tables + rax + map]);
        }
    }
}
