//! The entry, and the way from machine code to the slow paths.

use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler};

use super::{Assembler, asm};
use crate::jit::code::{Entries, Symbol};
use crate::jit::context::{Context, Doors};

/// The labels of the thunks.
pub(super) struct Thunks {
    pub replenish: DynamicLabel,
    /// By door.
    doors: [DynamicLabel; Doors::COUNT],
    /// Goes on with the function whose body's address is in rax upon another stack.
    pub deeper: DynamicLabel,
    /// Number of a slot in eax, ends in rdx, their count in ecx: leaves the option in eax.
    pub slot: DynamicLabel,
    /// Emits a member of a large class, see [`Assembler::member_thunk`].
    pub member: DynamicLabel,
}

const DOORS: i32 = offset_of!(Context<'_, '_>, doors) as i32;
const CHOICE: i32 = offset_of!(Context<'_, '_>, choice) as i32;
const OUTPUT: i32 = offset_of!(Context<'_, '_>, output) as i32;
const CHOICE_LIMIT: i32 = offset_of!(Context<'_, '_>, choice_limit) as i32;
const OUTPUT_LIMIT: i32 = offset_of!(Context<'_, '_>, output_limit) as i32;
const SLACK: i32 = offset_of!(Context<'_, '_>, slack) as i32;
const HOME: i32 = offset_of!(Context<'_, '_>, home) as i32;
const BEGUN_CHOICE: i32 = offset_of!(Context<'_, '_>, inputs.begun.0) as i32;
const BEGUN_OUTPUT: i32 = offset_of!(Context<'_, '_>, inputs.begun.1) as i32;
const FIRST_SLACK: i32 = offset_of!(Context<'_, '_>, inputs.first_slack) as i32;
const ENDS: i32 = offset_of!(Context<'_, '_>, inputs.ends) as i32;
const ENDS_LIMIT: i32 = offset_of!(Context<'_, '_>, inputs.ends_limit) as i32;
const SEPARATOR: i32 = offset_of!(Context<'_, '_>, inputs.separator) as i32;
const SEPARATOR_LEN: i32 = offset_of!(Context<'_, '_>, inputs.separator_len) as i32;
pub(super) const OPERANDS: i32 = offset_of!(Context<'_, '_>, operands) as i32;
pub(super) const BASE: i32 = offset_of!(Context<'_, '_>, inputs.base) as i32;
const FULL: i32 = offset_of!(Context<'_, '_>, inputs.full) as i32;
pub(super) const STACK_LOW: i32 = offset_of!(Context<'_, '_>, stack_low) as i32;

/// Bytes of stack that thunks use at most: [`Thunks::replenish`], with the registers that it saves and the return
/// addresses of it and the door.
pub(super) const STACK: usize = 6 * 8;

impl Thunks {
    pub fn new(ops: &mut VecAssembler<X64Relocation>) -> Thunks {
        Thunks {
            replenish: ops.new_dynamic_label(),
            doors: std::array::from_fn(|_| ops.new_dynamic_label()),
            deeper: ops.new_dynamic_label(),
            slot: ops.new_dynamic_label(),
            member: ops.new_dynamic_label(),
        }
    }
}

impl Assembler<'_> {
    /// Calls a slow path; its result is in rax. The pointers must be flushed; all that is free is lost.
    pub(super) fn door(&mut self, door: Doors, argument: i32) {
        debug_assert_eq!((self.flow.choice, self.flow.output), (0, 0));
        let thunk = self.thunks.doors[door as usize];
        let ops = &mut self.ops;
        asm!(ops ; mov eax, argument ; call =>thunk);
    }

    /// Assembles the thunks; returns the places of the entries.
    pub(super) fn thunks(&mut self, symbols: &mut Vec<Symbol>) -> Entries {
        let mut symbol = |assembler: &Self, name: &str| {
            symbols.push(Symbol { at: assembler.ops.offset().0, name: format!("[{name}]") });
        };
        for door in Doors::of(self.ir.has_labels()) {
            symbol(self, door.name());
            let label = self.thunks.doors[door as usize];
            self.place(label);
            self.door_thunk(door);
        }
        symbol(self, "replenish, keeping registers");
        let (replenish, slow) = (self.thunks.replenish, self.thunks.doors[Doors::Replenish as usize]);
        let ops = &mut self.ops;
        asm!(ops
            ; =>replenish
            ; push rax
            ; push rcx
            ; push rdx
            ; push r8
            ; call =>slow
            ; pop r8
            ; pop rdx
            ; pop rcx
            ; pop rax
            ; ret
        );
        symbol(self, "slot");
        self.slot_thunk();
        symbol(self, "member");
        self.member_thunk();
        symbol(self, "other stack");
        self.deeper_thunk();
        symbol(self, "entry");
        let one = self.ops.offset().0;
        self.entry_thunk(false);
        symbol(self, "entry for batches");
        let batch = self.ops.offset().0;
        self.entry_thunk(true);
        Entries { one, batch }
    }

    /// Calls door number `door` with the number in eax as its argument, on the caller's stack, aligned. Choice sources
    /// may need more stack than machine code has, and tools that inspect stacks know the caller's.
    fn door_thunk(&mut self, door: Doors) {
        let place = door as i32 * 8;
        let length = self.kept.length;
        let ops = &mut self.ops;
        asm!(ops ; mov [context + CHOICE], choice ; mov [context + OUTPUT], output);
        if length {
            asm!(ops ; mov [context + SLACK], slack);
        }
        // rbp is free here, as the limit in it is loaded anew.
        asm!(ops
            ; mov rdi, context
            ; mov esi, eax
            ; mov rbp, rsp
            ; mov rax, [context + HOME]
            ; test rax, rax
            ; cmovnz rsp, rax
            ; and rsp, -16
            ; mov rax, [context + DOORS]
            ; call QWORD [rax + place]
            ; mov rsp, rbp
            ; mov choice, [context + CHOICE]
            ; mov output, [context + OUTPUT]
            ; mov choice_limit, [context + CHOICE_LIMIT]
            ; mov output_limit, [context + OUTPUT_LIMIT]
        );
        if length {
            asm!(ops ; mov slack, [context + SLACK]);
        }
        asm!(ops ; ret);
    }

    /// Assembles the thunk that finds the number of ends that are at most the value: binary search without branches
    /// that depend on it.
    fn slot_thunk(&mut self) {
        let slot = self.thunks.slot;
        let ops = &mut self.ops;
        asm!(ops
            ; =>slot
            ; mov r10, rdx
            ; test ecx, ecx
            ; jz >done
            ; halve:
            ; mov r8d, ecx
            ; shr r8d, 1
            // The middle one is at most the value: all up to it are.
            ; lea r9, [rdx + r8*4 + 4]
            ; sub ecx, r8d
            ; dec ecx
            ; cmp [rdx + r8*4], eax
            ; cmovbe rdx, r9
            ; cmova ecx, r8d
            ; test ecx, ecx
            ; jnz <halve
            ; done:
            ; sub rdx, r10
            ; shr rdx, 2
            ; mov eax, edx
            ; ret
        );
    }

    /// Runs the function whose body is at rax on another stack, or, if there is none, here, finishing.
    fn deeper_thunk(&mut self) {
        let deeper = self.thunks.deeper;
        let (get, give_back) =
            (self.thunks.doors[Doors::Deeper as usize], self.thunks.doors[Doors::Shallower as usize]);
        let ops = &mut self.ops;
        asm!(ops
            ; =>deeper
            ; push rax
            ; call =>get
            ; pop rcx
            ; test rax, rax
            ; jnz >switch
            ; jmp rcx
            ; switch:
            ; mov [context + HOME], rsp
            ; mov rsp, rax
            ; call rcx
            ; mov rsp, [context + HOME]
            ; mov QWORD [context + HOME], 0
            ; jmp =>give_back
        );
    }

    /// Assembles a function that other code calls, an [`Entry`](crate::jit::code::Entry).
    fn entry_thunk(&mut self, batch: bool) {
        // The start rule always has a body.
        let Some(start) = self.rules[self.ir.start().index()].function else { return };
        let length = self.kept.length;
        let begin = self.data.begin;
        let ops = &mut self.ops;
        asm!(ops
            ; push rbx
            ; push rbp
            ; push r12
            ; push r13
            ; push r14
            ; push r15
            ; mov context, rdi
            ; mov output, rdx
            ; mov depth, rcx
            ; mov choice_limit, [context + CHOICE_LIMIT]
            ; mov output_limit, [context + OUTPUT_LIMIT]
            ; lea tables, [=>begin]
        );
        if length {
            asm!(ops ; mov slack, [context + SLACK]);
        }
        if batch {
            self.inputs(start)
        } else {
            asm!(ops ; call =>start)
        }
        let ops = &mut self.ops;
        asm!(ops
            ; mov rax, choice
            ; mov rdx, output
            ; pop r15
            ; pop r14
            ; pop r13
            ; pop r12
            ; pop rbp
            ; pop rbx
            ; ret
        );
    }

    /// Emits one input after the other: where it begins, its derivation, its separator, where it ends.
    fn inputs(&mut self, start: DynamicLabel) {
        let length = self.kept.length;
        let next = self.label();
        let ops = &mut self.ops;
        asm!(ops
            ; push depth
            ; =>next
            ; mov [context + BEGUN_CHOICE], choice
            ; mov [context + BEGUN_OUTPUT], output
            ; mov depth, [rsp]
        );
        if length {
            asm!(ops ; mov slack, [context + FIRST_SLACK]);
        }
        asm!(ops ; call =>start);
        if self.ir.has_labels() && !self.labelled.copies.are_all() {
            self.door(Doors::Settle, 0);
        }
        let ops = &mut self.ops;
        asm!(ops
            ; mov rcx, [context + ENDS]
            ; mov rax, [context + SEPARATOR]
            ; mov [output], rax
            ; add output, [context + SEPARATOR_LEN]
            ; mov rax, output
            ; sub rax, [context + BASE]
            ; mov [rcx], rax
            ; add rcx, 8
            ; mov [context + ENDS], rcx
            ; cmp output, [context + FULL]
            ; jae >done
            ; cmp rcx, [context + ENDS_LIMIT]
            ; jb =>next
            ; done:
            ; pop depth
        );
    }
}
