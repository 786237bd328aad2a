//! Literals: immediates up to eight bytes, moves of 16 bytes from the tables beyond.

use dynasmrt::DynasmApi;

use super::Assembler;
use super::asm;
use crate::jit::context::Doors;

/// Longer literals and pool strings are copied by a slow path.
pub(super) const MAX_LITERAL: usize = 256;

/// The displacement at which pointers are moved: beyond it the code grows.
const MAX_DISPLACEMENT: i32 = 96;

impl<'g> Assembler<'g> {
    /// Emits a literal of any length.
    pub(super) fn bytes(&mut self, bytes: &'g [u8]) {
        if bytes.len() > MAX_LITERAL { self.long_literal(bytes) } else { self.literal(bytes) }
    }

    /// Emits a literal of at most [`MAX_LITERAL`] bytes.
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= MAX_LITERAL);
        if bytes.is_empty() {
            return;
        }
        self.need(0, bytes.len() as i32);
        self.put_literal(bytes);
    }

    /// Emits a literal for whose bytes the caller has called `need`.
    pub(super) fn put_literal(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(16) {
            self.short_literal(chunk);
        }
    }

    fn short_literal(&mut self, bytes: &[u8]) {
        let mut padded = [0; 16];
        padded[..bytes.len()].copy_from_slice(bytes);
        let low = u64::from_le_bytes([
            padded[0], padded[1], padded[2], padded[3], padded[4], padded[5], padded[6], padded[7],
        ]);
        self.bound_displacements();
        let at = self.flow.output as i8;
        let place = if bytes.len() > 8 { self.data.tables.add(padded.to_vec(), 16) } else { 0 };
        let ops = &mut self.ops;
        match bytes.len() {
            1 => asm!(ops ; mov BYTE [BYTE output + at], low as i8),
            2 => asm!(ops ; mov WORD [BYTE output + at], low as i16),
            3 | 4 => asm!(ops ; mov DWORD [BYTE output + at], low as i32),
            // A sign-extended immediate is shorter.
            5..=8 if low <= i32::MAX as u64 => asm!(ops ; mov QWORD [BYTE output + at], low as i32),
            5..=8 => asm!(ops ; mov rdx, QWORD low as i64 ; mov [BYTE output + at], rdx),
            _ => asm!(ops ; movups xmm0, [tables + place] ; movups [BYTE output + at], xmm0),
        }
        self.flow.output += bytes.len() as i32;
        self.used(0, bytes.len() as i32);
    }

    /// Keeps displacements within a byte.
    pub(super) fn bound_displacements(&mut self) {
        if self.flow.choice > MAX_DISPLACEMENT || self.flow.output > MAX_DISPLACEMENT {
            self.flush();
        }
    }

    /// Emits a literal of more than [`MAX_LITERAL`] bytes.
    pub(super) fn long_literal(&mut self, bytes: &'g [u8]) {
        self.flush();
        let place = match self.data.known_literals.get(bytes) {
            Some(&place) => place,
            None => {
                let kept = self.may_know(bytes.len() + size_of::<Box<[u8]>>());
                self.data.literals.push(if kept { bytes.into() } else { Box::default() });
                self.data.literals.len() as i32 - 1
            }
        };
        self.data.known_literals.insert(bytes, place);
        self.door(Doors::Copy, place);
        self.begin_stretch();
    }
}
