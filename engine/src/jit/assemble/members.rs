//! Classes of more than 256 code points: the number of the member leads to one of a few pieces of the class, in which
//! all members are encoded alike.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::ir;

use super::picks::Decision;
use super::{Assembler, asm};

/// Places of the tables of a class.
#[derive(Clone, Copy)]
pub(super) struct Pieces {
    /// The end of each piece, by number.
    ends: i32,
    count: i32,
    /// A [`Piece`] each.
    pieces: i32,
}

/// Members that follow each other and are encoded alike, in the layout that [`Assembler::member_thunk`] reads.
struct Piece {
    /// The first code point less its number.
    offset: u32,
    /// The bits of the encoding other than six bits a byte of the code point.
    marks: u32,
    /// The shift of six bits a byte, in four bytes.
    shift: u32,
    len: u32,
}

/// The last code point of each way to encode one: bytes, and the marks in them. Two for ASCII, whose bytes have a
/// seventh bit.
const ENCODINGS: [(u32, u32, u32); 5] =
    [(0x3F, 1, 0x00), (0x7F, 1, 0x40), (0x7FF, 2, 0x80C0), (0xFFFF, 3, 0x80_80E0), (0x10_FFFF, 4, 0x8080_80F0)];

impl Piece {
    fn bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (place, word) in bytes.chunks_exact_mut(4).zip([self.offset, self.marks, self.shift, self.len]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

impl<'g> Assembler<'g> {
    pub(super) fn member(&mut self, set: &'g CharSet) {
        let pieces = self.pieces(set);
        let (least, most) = (set.min_len(), set.max_len());
        self.need(3, 4);
        self.flush();
        let decided = self.label();
        let limited = self.kept.length && least < most;
        if limited {
            // The members that are offered, by slack.
            let offered = (least..most).map(|bytes| set.len_within(bytes) as usize).collect();
            let narrow = self.cold(move |assembler| assembler.members_within(offered, decided));
            self.compare_slack(most - least);
            let ops = &mut self.ops;
            asm!(ops ; jl =>narrow);
        }
        self.member_number(set.len() as usize);
        let due = self.flow.due;
        self.place(decided);
        self.flow.due = due;
        let member = self.thunks.member;
        let Pieces { ends, count, pieces } = pieces;
        let ops = &mut self.ops;
        asm!(ops ; lea rdx, [tables + ends] ; mov ecx, count ; lea r11, [tables + pieces] ; call =>member);
        if limited {
            let ops = &mut self.ops;
            asm!(ops ; sub rcx, BYTE least as i8 ; sub slack, rcx);
        }
        self.used(0, 4);
    }

    /// Puts the number of a member into eax, by its choice bytes; the pointer is moved over them.
    fn member_number(&mut self, count: usize) {
        let decision = Decision { site: ir::Site::even(count as u32), costs: Vec::new() };
        let picked = self.decide(&decision);
        self.leave_option(picked, &decision);
        self.flush();
    }

    /// Puts the number of a member into eax, among those that the slack leaves.
    fn members_within(&mut self, offered: Vec<usize>, decided: DynamicLabel) {
        let (before, most) = (self.flow, offered.len() - 1);
        for (slack, count) in offered.into_iter().enumerate() {
            let next = self.label();
            let ops = &mut self.ops;
            if slack < most {
                asm!(ops ; cmp slack, slack as i32 ; jne =>next);
            }
            match count {
                1 => asm!(ops ; xor eax, eax),
                _ => self.member_number(count),
            }
            self.jump(decided);
            self.place(next);
            self.flow = before;
        }
    }

    /// Returns the tables of a class.
    fn pieces(&mut self, set: &'g CharSet) -> Pieces {
        if let Some(&pieces) = self.data.known_classes.get(set) {
            return pieces;
        }
        let (mut ends, mut bytes, mut number) = (Vec::new(), Vec::new(), 0u32);
        for &(first, last) in set.ranges() {
            let mut first = first;
            for (to, len, marks) in ENCODINGS {
                if first > last || first > to {
                    continue;
                }
                let end = last.min(to);
                let piece = Piece { offset: first.wrapping_sub(number), marks, shift: 8 * (4 - len), len };
                bytes.extend(piece.bytes());
                number += end - first + 1;
                ends.push(number);
                first = end + 1;
            }
        }
        let count = ends.len() as i32;
        let ends: Vec<u8> = ends.into_iter().flat_map(u32::to_le_bytes).collect();
        let pieces = Pieces { ends: self.data.tables.add(ends, 4), count, pieces: self.data.tables.add(bytes, 16) };
        self.data.known_classes.insert(set, pieces);
        pieces
    }

    /// Assembles the thunk for the member whose number is in eax, of a class with `count` ends, in ecx, at rdx and
    /// pieces at r11; it leaves the member's length in rcx.
    pub(super) fn member_thunk(&mut self) {
        let (member, slot) = (self.thunks.member, self.thunks.slot);
        let ops = &mut self.ops;
        asm!(ops
            ; =>member
            ; push rax
            ; call =>slot
            ; pop rcx
            ; shl eax, 4
            ; add rax, r11
            ; add ecx, [rax]
            // Six bits a byte, the highest first.
            ; mov edx, ecx
            ; and edx, 0x3F
            ; shl edx, 24
            ; mov r8d, ecx
            ; shl r8d, 10
            ; and r8d, 0x3F_0000
            ; or edx, r8d
            ; mov r8d, ecx
            ; shr r8d, 4
            ; and r8d, 0x3F00
            ; or edx, r8d
            ; shr ecx, 18
            ; or edx, ecx
            ; mov ecx, [rax + 8]
            ; shr edx, cl
            ; or edx, [rax + 4]
            ; mov [output], edx
            ; mov ecx, [rax + 12]
            ; add output, rcx
            ; ret
        );
    }
}
