//! One look at several rounds of single bytes: how many go on before one stops, and the bytes that they emit. A round
//! is two choice bytes: stop (below 128) or go on, and the member.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::runs::ByteItem;
use gramjet_compiler::ir;

use super::{Assembler, Features, asm};

/// The number of rounds in one look. (Eight at once, with vector instructions, take longer: the next lookup waits for
/// them.)
pub(super) const ROUNDS: i32 = 4;

/// Way in which rounds of an item are looked at.
pub(super) struct Look {
    /// Member bytes from here on lead to other options; 256 if there are none.
    bound: u32,
    members: Members,
}

/// The way from member bytes to emitted bytes.
enum Members {
    /// By a table, one round after the other.
    Table(Box<[u8; 256]>),
    /// `count` equally probable members, all rounds at once: by a shuffle of up to 16 members.
    Shuffle { count: u32, members: [u8; 16] },
    /// `count` equally probable members, all rounds at once, which are consecutive except for a few steps: each step
    /// adds an amount from a member's number on.
    Steps { count: u32, base: u8, steps: Vec<(u8, u8)> },
}

/// Members with more steps than this are looked up.
const MAX_STEPS: usize = 3;

/// In lanes of two choice bytes: a bit for each round that may stop; the member bytes; the mark of another option.
pub(super) const STOPS: u64 = 0x0080_0080_0080_0080;
const MEMBERS: u64 = 0x00FF_00FF_00FF_00FF;
const OTHERS: u64 = 0x0100_0100_0100_0100;
const LANES: u64 = 0x0001_0001_0001_0001;

impl Look {
    pub fn at(item: &ByteItem, features: Features) -> Look {
        let members = Members::at_once(item).filter(|_| features.ssse3);
        Look { bound: item.bound, members: members.unwrap_or(Members::Table(Box::new(item.table))) }
    }

    /// Returns true if the members of all rounds are emitted at once, not looked up one after the other.
    pub fn is_at_once(&self) -> bool {
        !matches!(self.members, Members::Table(_))
    }
}

impl Members {
    /// Returns the members, if there is a way to emit them without looking each up.
    fn at_once(item: &ByteItem) -> Option<Members> {
        let bound = item.bound as usize;
        let mut members = item.table[..bound].to_vec();
        members.dedup();
        let uniform = |&count: &usize| {
            let site = ir::Site::even(count as u32);
            (0..bound).all(|byte| members.get(site.option_of(byte as u32) as usize) == Some(&item.table[byte]))
        };
        let count = (members.len()..=256).find(uniform)? as u32;
        if members.len() <= 16 {
            let mut row = [0; 16];
            row[..members.len()].copy_from_slice(&members);
            return Some(Members::Shuffle { count, members: row });
        }
        let mut steps = Vec::new();
        for (number, pair) in members.windows(2).enumerate() {
            let step = pair[1].wrapping_sub(pair[0]).wrapping_sub(1);
            if step != 0 {
                steps.push((number as u8 + 1, step));
            }
        }
        // Numbers are compared as signed bytes.
        (steps.len() <= MAX_STEPS && count <= 128).then_some(Members::Steps { count, base: members[0], steps })
    }
}

impl Assembler<'_> {
    /// Looks at the next rounds: leaves in rcx how many go on before one stops, [`ROUNDS`] if none does. Goes to
    /// `others` if another option comes first.
    pub(super) fn look_ahead(&mut self, look: &Look, others: DynamicLabel) {
        self.find_end(look, others);
        let ops = &mut self.ops;
        asm!(ops ; shr ecx, 4);
    }

    /// Finds the place of the bit, among those of the next choice bytes, that stops, in ecx: 7 more than 16 times the
    /// rounds that go on; 64 if none stops. Goes to `others` if another option comes first.
    pub(super) fn find_end(&mut self, look: &Look, others: DynamicLabel) {
        let bound = look.bound;
        let stops = self.data.tables.add(STOPS.to_le_bytes().to_vec(), 8);
        let bmi1 = self.features.bmi1;
        let ops = &mut self.ops;
        asm!(ops ; mov rax, [choice]);
        if bmi1 {
            asm!(ops ; andn rcx, rax, [tables + stops]);
        } else {
            asm!(ops ; mov rcx, rax ; not rcx ; and rcx, [tables + stops]);
        }
        if bound < 256 {
            let members = self.data.tables.add(MEMBERS.to_le_bytes().to_vec(), 8);
            let above = self.data.tables.add((LANES * u64::from(256 - bound)).to_le_bytes().to_vec(), 8);
            let marks = self.data.tables.add(OTHERS.to_le_bytes().to_vec(), 8);
            // Lanes above 255 hold another option. Its bit is one above the bit of a stop in the same round.
            let ops = &mut self.ops;
            asm!(ops
                ; shr rax, 8
                ; and rax, [tables + members]
                ; add rax, [tables + above]
                ; and rax, [tables + marks]
                ; or rcx, rax
            );
        }
        let ops = &mut self.ops;
        if bmi1 {
            asm!(ops ; tzcnt rcx, rcx);
        } else {
            asm!(ops ; mov edx, 64 ; bsf rcx, rcx ; cmovz ecx, edx);
        }
        if bound < 256 {
            // Stops are found at places 7, 23, ..., other options at 8, 24, ...
            asm!(ops ; test cl, 8 ; jnz =>others);
        }
    }

    /// Emits the members of all rounds of the look. Keeps rcx.
    pub(super) fn put_members(&mut self, look: &Look) {
        self.put_members_at(look, 0, 0);
    }

    /// Emits the members of all rounds of the look, whose choice bytes begin at the displacement `at`, and whose
    /// members begin at `to`. Keeps rcx.
    pub(super) fn put_members_at(&mut self, look: &Look, at: i8, to: i8) {
        match &look.members {
            Members::Table(table) => {
                let table = self.data.tables.add(table.to_vec(), 1);
                let ops = &mut self.ops;
                for round in 0..ROUNDS as i8 {
                    asm!(ops
                        ; movzx edx, BYTE [BYTE choice + at + 2 * round + 1]
                        ; movzx edx, BYTE [tables + rdx + table]
                        ; mov BYTE [BYTE output + to + round], dl
                    );
                }
            }
            Members::Shuffle { count, members } => {
                self.numbers_of_members(*count, at);
                let members = self.data.tables.add(members.to_vec(), 16);
                let ops = &mut self.ops;
                asm!(ops
                    ; movdqa xmm1, [tables + members]
                    ; pshufb xmm1, xmm0
                    ; movd DWORD [BYTE output + to], xmm1
                );
            }
            Members::Steps { count, base, steps } => {
                self.numbers_of_members(*count, at);
                let base = self.data.tables.add(vec![*base; 16], 16);
                let steps: Vec<(i32, i32)> = steps
                    .iter()
                    .map(|&(from, step)| {
                        (self.data.tables.add(vec![from - 1; 16], 16), self.data.tables.add(vec![step; 16], 16))
                    })
                    .collect();
                let ops = &mut self.ops;
                if !steps.is_empty() {
                    asm!(ops ; movdqa xmm2, xmm0);
                }
                asm!(ops ; paddb xmm0, [tables + base]);
                for (before, step) in steps {
                    asm!(ops
                        ; movdqa xmm1, xmm2
                        ; pcmpgtb xmm1, [tables + before]
                        ; pand xmm1, [tables + step]
                        ; paddb xmm0, xmm1
                    );
                }
                asm!(ops ; movd DWORD [BYTE output + to], xmm0);
            }
        }
    }

    /// Puts the numbers of the next rounds' members, a byte each, in xmm0.
    fn numbers_of_members(&mut self, count: u32, at: i8) {
        let members = self.data.tables.add([0x00, 0xFF].repeat(8), 16);
        let counts = self.data.tables.add((count as u16).to_le_bytes().repeat(8), 16);
        let ops = &mut self.ops;
        // The upper half of a product with 256 times the member byte is the product by the rule of the choice map.
        asm!(ops
            ; movq xmm0, QWORD [BYTE choice + at]
            ; pand xmm0, [tables + members]
            ; pmulhuw xmm0, [tables + counts]
            ; packuswb xmm0, xmm0
        );
    }
}
