//! Sites, literals and strings of the machine: straight code, covered by earlier reservations.

use super::{Machine, State};
use crate::rt::tables::{CharClass, Strings};

impl Machine<'_, '_> {
    /// Emits one of `strings` (one site), or, if the length limit leaves none, the shortest string of the rule.
    ///
    /// # Safety
    ///
    /// Three choice bytes and the longest string must be reserved.
    #[inline(always)]
    #[must_use]
    pub unsafe fn string<const LEN: bool>(&mut self, mut s: State, strings: &'static Strings) -> State {
        // SAFETY: the site and the longest string are reserved (the shortest string of the rule is shorter still); the
        // index is below the count of strings.
        unsafe {
            if LEN {
                let offered = strings.offered(self.slack);
                if offered == 0 {
                    return self.put_slice(s, strings.shortest());
                }
                let index = self.pick(&mut s, offered as u32);
                self.slack -= strings.cost(index);
                return self.put_string(s, strings, index);
            }
            let count = strings.count();
            let index = self.pick(&mut s, count as u32);
            self.put_string(s, strings, index)
        }
    }

    /// Emits the string with this index, whose place is reserved, without a site.
    ///
    /// # Safety
    ///
    /// Room for the string must be reserved, and `index` below the count of strings.
    #[inline(always)]
    #[must_use]
    pub unsafe fn put_string(&mut self, s: State, strings: &'static Strings, index: usize) -> State {
        self.check(s, 0, strings.get(index).len());
        // SAFETY: as for this function.
        unsafe { put_string(s, strings, index) }
    }

    /// Emits bytes of any length, with their own reservation.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state.
    #[must_use]
    #[inline]
    pub unsafe fn put_slice(&mut self, s: State, bytes: &[u8]) -> State {
        // SAFETY: the reservation covers the bytes, which do not overlap the output's spare capacity.
        unsafe {
            let mut s = self.reserve(s, 0, bytes.len());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), s.o, bytes.len());
            s.o = s.o.add(bytes.len());
            s
        }
    }

    /// Emits a member of a class (one site).
    ///
    /// # Safety
    ///
    /// Three choice bytes and four output bytes must be reserved.
    #[inline]
    #[must_use]
    pub unsafe fn member<const LEN: bool>(&mut self, mut s: State, class: &'static CharClass) -> State {
        self.check(s, 0, 4);
        let offered = if LEN { class.offered(self.slack) } else { class.count() };
        // SAFETY: the site reads at most three bytes; four bytes are stored.
        unsafe {
            let index = self.pick(&mut s, offered);
            let (bytes, len) = class.encoded(index as u32);
            if LEN {
                self.slack -= class.cost(len);
            }
            s.o.cast::<[u8; 4]>().write_unaligned(bytes);
            s.o = s.o.add(len);
        }
        s
    }

    /// Decides a site of equally probable options under the length limit: `costs` ascend from 0.
    ///
    /// # Safety
    ///
    /// Three choice bytes must be reserved.
    pub unsafe fn pick_within(&mut self, s: &mut State, costs: &[u64]) -> usize {
        let offered = costs.partition_point(|&cost| cost <= self.slack);
        // SAFETY: a site reads at most three bytes.
        let option = unsafe { self.pick(s, offered as u32) };
        self.slack -= costs[option];
        option
    }

    /// Decides a weighted site of 2^`bits` slots under the length limit: `ends` as in the grammar, `costs` ascend from
    /// 0.
    ///
    /// # Safety
    ///
    /// Three choice bytes must be reserved.
    pub unsafe fn pick_slot_within(&mut self, s: &mut State, bits: u32, ends: &[u32], costs: &[u64]) -> usize {
        let offered = costs.partition_point(|&cost| cost <= self.slack);
        let option = if offered <= 1 {
            0
        } else {
            // SAFETY: a site reads at most three bytes.
            let value = unsafe { self.value(s, bits) };
            let slot = ((u64::from(value) * u64::from(ends[offered - 1])) >> bits) as u32;
            ends.partition_point(|&end| end <= slot)
        };
        self.slack -= costs[option];
        option
    }

    /// Returns the next `bits` / 8 choice bytes, little endian; `bits` is 8, 16 or 24.
    ///
    /// # Safety
    ///
    /// They must be reserved.
    #[inline(always)]
    pub unsafe fn value(&self, s: &mut State, bits: u32) -> u32 {
        self.check(*s, bits as usize / 8, 0);
        // SAFETY: up to three bytes are reserved, and reading four is within the slop.
        unsafe {
            let word = s.c.cast::<u32>().read_unaligned().to_le();
            s.c = s.c.add(bits as usize / 8);
            word & ((1 << bits) - 1)
        }
    }

    /// Decides a site of `count` (2 to 256) equally probable options.
    ///
    /// # Safety
    ///
    /// One choice byte must be reserved.
    #[inline(always)]
    pub unsafe fn pick8(&self, s: &mut State, count: u32) -> usize {
        self.check(*s, 1, 0);
        // SAFETY: one byte is reserved.
        unsafe {
            let byte = u32::from(*s.c);
            s.c = s.c.add(1);
            ((byte * count) >> 8) as usize
        }
    }

    /// Decides a site of any number of equally probable options.
    ///
    /// # Safety
    ///
    /// As many choice bytes as the site reads (at most three) must be reserved.
    #[inline(always)]
    pub unsafe fn pick(&self, s: &mut State, count: u32) -> usize {
        let bits = match count {
            0 | 1 => return 0,
            2..=256 => 8,
            257..=65536 => 16,
            _ => 24,
        };
        // SAFETY: as for this function.
        let value = unsafe { self.value(s, bits) };
        ((u64::from(value) * u64::from(count)) >> bits) as usize
    }

    /// Returns the choice byte of a site.
    ///
    /// # Safety
    ///
    /// It must be reserved.
    #[inline(always)]
    pub unsafe fn byte(&self, s: &mut State) -> u8 {
        // SAFETY: as for this function.
        unsafe { self.value(s, 8) as u8 }
    }

    /// Emits a literal.
    ///
    /// # Safety
    ///
    /// Its bytes must be reserved.
    #[inline(always)]
    pub unsafe fn put<const N: usize>(&self, s: &mut State, bytes: &[u8; N]) {
        self.check(*s, 0, N);
        // SAFETY: the bytes are reserved.
        unsafe {
            s.o.cast::<[u8; N]>().write_unaligned(*bytes);
            s.o = s.o.add(N);
        }
    }

    /// Emits one byte.
    ///
    /// # Safety
    ///
    /// It must be reserved.
    #[inline(always)]
    pub unsafe fn put_byte(&self, s: &mut State, byte: u8) {
        self.check(*s, 0, 1);
        // SAFETY: the byte is reserved.
        unsafe {
            *s.o = byte;
            s.o = s.o.add(1);
        }
    }

    /// Emits a literal of up to seven bytes from a table: packed little endian with its length in the top byte.
    ///
    /// # Safety
    ///
    /// Its bytes must be reserved, and `index` below the length of the table.
    #[inline(always)]
    pub unsafe fn put_packed(&self, s: &mut State, table: &[u64], index: usize) {
        debug_assert!(index < table.len());
        // SAFETY: the literal's bytes are reserved, and storing all eight is within the slop; the caller vouches for
        // the index.
        unsafe {
            let packed = *table.get_unchecked(index);
            self.check(*s, 0, (packed >> 56) as usize);
            s.o.cast::<[u8; 8]>().write_unaligned(packed.to_le_bytes());
            s.o = s.o.add((packed >> 56) as usize);
        }
    }

    /// Decides a site of `count` (2 to 256) options that may lead to a second site: an option's entry holds the number
    /// of its first leaf in the lower half, and the number of its leaves in the upper half; one leaf needs no site.
    ///
    /// # Safety
    ///
    /// Two choice bytes must be reserved, and there must be `count` entries.
    #[inline(always)]
    pub unsafe fn pick_nested(&self, s: &mut State, count: u32, entries: &[u32]) -> usize {
        self.check(*s, 2, 0);
        // SAFETY: as for this function; reading the second byte where it is not part of a site is within the
        // reservation.
        unsafe {
            let entry = *entries.get_unchecked(self.pick8(s, count));
            let (first, leaves) = (entry & 0xFFFF, entry >> 16);
            let byte = u32::from(*s.c);
            s.c = s.c.add(usize::from(leaves > 1));
            (first + ((byte * leaves) >> 8)) as usize
        }
    }

    /// Decides a site whose options are one byte each: emits the byte that the choice byte leads to.
    ///
    /// # Safety
    ///
    /// One choice byte and one output byte must be reserved.
    #[inline(always)]
    pub unsafe fn put_mapped(&self, s: &mut State, table: &[u8; 256]) {
        // SAFETY: as for this function.
        unsafe {
            let byte = self.value(s, 8);
            self.put_byte(s, table[byte as usize]);
        }
    }

    /// Emits a literal of up to 15 bytes that holds its length in its last byte.
    ///
    /// # Safety
    ///
    /// Its bytes must be reserved.
    #[inline(always)]
    pub unsafe fn put_short(&self, s: &mut State, text: &[u8; 16]) {
        debug_assert!(text[15] <= 15);
        // SAFETY: the literal's bytes are reserved, and storing all sixteen is within the slop.
        unsafe {
            s.o.cast::<[u8; 16]>().write_unaligned(*text);
            s.o = s.o.add(usize::from(text[15]));
        }
    }

    /// Returns the option of a weighted site of 256 slots, from the table of its slots.
    ///
    /// # Safety
    ///
    /// One choice byte must be reserved.
    #[inline(always)]
    pub unsafe fn pick_mapped(&self, s: &mut State, options: &[u8; 256]) -> usize {
        // SAFETY: as for this function.
        usize::from(options[unsafe { self.value(s, 8) } as usize])
    }

    /// Returns the option of a weighted site of 2^`bits` slots, from the ends of its options.
    ///
    /// # Safety
    ///
    /// The site's choice bytes (`bits` / 8) must be reserved.
    #[inline]
    pub unsafe fn pick_slot(&self, s: &mut State, bits: u32, ends: &[u32]) -> usize {
        // SAFETY: as for this function.
        let slot = unsafe { self.value(s, bits) };
        ends.partition_point(|&end| end <= slot)
    }
}

/// Emits the string with this index.
///
/// # Safety
///
/// Its bytes must be reserved, and `index` below the count of strings.
#[inline(always)]
unsafe fn put_string(mut s: State, strings: &'static Strings, index: usize) -> State {
    // SAFETY: the string's bytes are reserved. The last block may read beyond the string into its table's padding or
    // the next string, and may write beyond it within the slop.
    unsafe {
        let (text, len) = strings.get_unchecked(index);
        if strings.max_len() <= 32 {
            s.o.cast::<[u8; 32]>().write_unaligned(text.cast::<[u8; 32]>().read_unaligned());
        } else if strings.max_len() <= Strings::PADDING {
            let block = text.cast::<[u8; Strings::PADDING]>().read_unaligned();
            s.o.cast::<[u8; Strings::PADDING]>().write_unaligned(block);
        } else {
            let mut at = 0;
            loop {
                let block = text.add(at).cast::<[u8; Strings::PADDING]>().read_unaligned();
                s.o.add(at).cast::<[u8; Strings::PADDING]>().write_unaligned(block);
                at += Strings::PADDING;
                if at >= len {
                    break;
                }
            }
        }
        s.o = s.o.add(len);
        s
    }
}
