//! Labels from whose parts nothing follows but copies. Where such a part is, and what it leaves of the slack, is on the
//! stack of the function: two words for each label of an open scope.
//!
//! Before its part is complete, the first word of a label is the slack outside; then it is the part's length. The
//! second word is the place of the part, from the beginning of the output on, which can move.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::copies::{Copied, number_of_copies};
use gramjet_compiler::ir::{LabelId, NodeId, Scope};

use super::picks::{Decision, Picked};
use super::thunks::{BASE, OPERANDS};
use super::{Assembler, asm};
use crate::jit::context::Doors;
use crate::jit::sites::Site;

/// Copies of up to this number of bytes are two moves.
const MAX_MOVED: i32 = 32;

/// Sites with more copies are decided by a slow path: these times any length are no more than a register holds.
const MOST_COMPARED: i64 = 1 << 16;

/// More copies of a part count as this number, for which there is never room.
const MOST: u64 = 1 << 40;

/// A label that a site refers to: where its words are, and the least length of its part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    label: LabelId,
    words: i32,
    least: i32,
}

impl<'g> Assembler<'g> {
    /// Emits a scope of such labels.
    pub(super) fn scope_of_copies(&mut self, scope: &'g Scope, offset: i32) {
        let words = 2 * scope.labels.len() as i32;
        self.flush();
        let ops = &mut self.ops;
        asm!(ops ; sub rsp, 8 * words);
        self.pushed(words);
        for (number, &label) in scope.labels.iter().enumerate() {
            self.labelled.places[label.index()] = self.frame.stack - 2 * number as i32;
        }
        self.node(scope.body, offset);
        self.flush();
        let ops = &mut self.ops;
        asm!(ops ; add rsp, 8 * words);
        self.frame.stack -= words;
    }

    /// Returns the displacement of a label's words from the stack pointer.
    fn words_of(&self, label: LabelId) -> i32 {
        8 * (self.frame.stack - self.labelled.places[label.index()])
    }

    /// Emits a labelled part. Its slack is such that there is room for its copies.
    pub(super) fn copied_part(&mut self, label: LabelId, copied: Copied, body: NodeId, offset: i32) {
        let shares = copied.copies as i32 + 1;
        self.flush();
        let words = self.words_of(label);
        self.place_of_output();
        let ops = &mut self.ops;
        asm!(ops ; mov [rsp + words + 8], rax ; mov [rsp + words], slack);
        match shares {
            1 => {}
            _ if (shares as u32).is_power_of_two() => asm!(ops ; shr slack, shares.trailing_zeros() as i8),
            _ => asm!(ops ; mov rax, slack ; xor edx, edx ; mov ecx, shares ; div rcx ; mov slack, rax),
        }
        self.node(body, offset);
        self.flush();
        self.place_of_output();
        let (words, least) = (self.words_of(label), copied.least as i32);
        let ops = &mut self.ops;
        asm!(ops
            ; sub rax, [rsp + words + 8]
            ; mov slack, [rsp + words]
            ; mov [rsp + words], rax
            ; sub rax, least
            ; imul rax, rax, shares
            ; sub slack, rax
        );
    }

    /// Leaves the length of the output in rax.
    fn place_of_output(&mut self) {
        let ops = &mut self.ops;
        asm!(ops ; mov rax, output ; sub rax, [context + BASE]);
    }

    /// Emits a copy of a part.
    pub(super) fn copy_part(&mut self, label: LabelId) {
        self.need(0, MAX_MOVED);
        self.flush();
        self.used(0, MAX_MOVED);
        let (words, back, after) = (self.words_of(label), self.label(), self.flow);
        let long = self.cold(move |assembler| {
            let ops = &mut assembler.ops;
            asm!(ops ; sub rdx, [context + BASE] ; mov [context + OPERANDS], rdx ; mov [context + OPERANDS + 8], rcx);
            assembler.door(Doors::CopyPart, 0);
            assembler.can_write();
            assembler.resume(back, after);
        });
        let ops = &mut self.ops;
        // Both loads come first: the part can end where the copy begins.
        asm!(ops
            ; mov rcx, [rsp + words]
            ; mov rdx, [rsp + words + 8]
            ; add rdx, [context + BASE]
            ; cmp rcx, MAX_MOVED
            ; ja =>long
            ; movups xmm0, [rdx]
            ; movups xmm1, [rdx + 16]
            ; movups [output], xmm0
            ; movups [output + 16], xmm1
            ; add output, rcx
            ; =>back
        );
    }

    /// Gives a part as a name, as a node says.
    pub(super) fn declare_part(&mut self, node: NodeId, label: LabelId) {
        let words = self.words_of(label);
        let ops = &mut self.ops;
        asm!(ops
            ; mov rcx, [rsp + words]
            ; mov rdx, [rsp + words + 8]
            ; mov [context + OPERANDS], rdx
            ; mov [context + OPERANDS + 8], rcx
        );
        self.door_of(Doors::Declare, node);
    }

    /// Returns the label that a site refers to.
    pub(super) fn seen_by(&self, node: NodeId) -> Option<Seen> {
        let (label, copied) = self.labelled.copies.label_in(self.ir, node)?;
        Some(Seen { label, words: self.words_of(label), least: copied.least as i32 })
    }

    /// Leaves in rcx by how many bytes a part is longer than its least length.
    fn longer(&mut self, seen: Seen) {
        let ops = &mut self.ops;
        asm!(ops ; mov rcx, [rsp + seen.words] ; sub rcx, seen.least);
    }

    /// Decides a choice whose options have copies of a part; its choice bytes must be needed already. Leaves the option
    /// in eax.
    pub(super) fn decide_copies(&mut self, decision: &Decision<'_>, options: &[NodeId], seen: Seen) -> Picked {
        let number = |&option: &NodeId| number_of_copies(self.ir, option, seen.label).min(MOST) as i64;
        let first = options.first().map_or(0, number);
        let copies: Vec<i64> = options.iter().map(|option| number(option) - first).collect();
        self.flush();
        let paid = self.label();
        let narrow = self.pick_copies(decision, &copies, seen, paid);
        if self.compare_dearest(decision, &copies, seen, narrow) {
            let picked = self.decide_all(decision);
            self.leave_option(picked, decision);
            self.flush();
            self.pay(&decision.costs);
            self.pay_copies(&copies, seen);
        } else {
            self.used(3, 0);
        }
        self.place(paid);
        Picked::Option
    }

    /// Keeps a call of the slow path that decides and pays, and then goes to `paid`.
    fn pick_copies(&mut self, decision: &Decision<'_>, copies: &[i64], seen: Seen, paid: DynamicLabel) -> DynamicLabel {
        let (costs, slots) = (decision.costs.clone(), decision.site.slots().cloned());
        let site = self.site(Site { costs, copies: copies.to_vec(), slots, ..Site::default() });
        self.cold(move |assembler| {
            assembler.longer(seen);
            let ops = &mut assembler.ops;
            asm!(ops ; mov [context + OPERANDS], rcx);
            assembler.door(Doors::PickCopies, site);
            assembler.jump(paid);
        })
    }

    /// Goes to `narrow` if the slack may not suffice for all options. Returns false if it always goes there.
    fn compare_dearest(&mut self, decision: &Decision<'_>, copies: &[i64], seen: Seen, narrow: DynamicLabel) -> bool {
        let dearest = i32::try_from(decision.costs.iter().copied().max().unwrap_or(0));
        let most = copies.iter().copied().max().unwrap_or(0);
        let (Ok(dearest), 0..=MOST_COMPARED, false) = (dearest, most, copies.iter().any(|&copies| copies < 0)) else {
            self.jump(narrow);
            return false;
        };
        self.longer(seen);
        let ops = &mut self.ops;
        asm!(ops
            ; xor eax, eax
            ; test rcx, rcx
            ; cmovs rcx, rax
            ; imul rcx, rcx, most as i32
            ; add rcx, dearest
            ; cmp slack, rcx
            ; jl =>narrow
        );
        true
    }

    /// Pays for the copies of the option whose number is in eax.
    fn pay_copies(&mut self, copies: &[i64], seen: Seen) {
        if copies.iter().all(|&copies| copies == 0) {
            return;
        }
        self.longer(seen);
        let copies: Vec<u8> = copies.iter().flat_map(|copies| copies.to_le_bytes()).collect();
        let copies = self.data.tables.add(copies, 8);
        let ops = &mut self.ops;
        asm!(ops ; imul rcx, [tables + rax*8 + copies] ; sub slack, rcx);
    }

    /// Decides on a further round with copies of a part: goes to `exit` if there is none.
    pub(super) fn go_copies(&mut self, item: NodeId, seen: Seen, exit: DynamicLabel) {
        let copies = number_of_copies(self.ir, item, seen.label);
        let cost = self.ir.facts(item).min_len;
        self.need(1, 0);
        self.flush();
        self.used(1, 0);
        self.longer(seen);
        let ops = &mut self.ops;
        asm!(ops
            ; mov rax, QWORD copies.min(i64::MAX as u64) as i64
            ; imul rcx, rax
            // Nothing has room for so many bytes.
            ; jo =>exit
            ; mov rax, QWORD cost.min(i64::MAX as u64) as i64
            ; add rcx, rax
            ; jo =>exit
            ; cmp slack, rcx
            ; jl =>exit
            ; inc choice
            ; cmp BYTE [BYTE choice - 1], 0
            ; jns =>exit
            ; sub slack, rcx
        );
    }
}
