//! Deflate (RFC 1951), with the frames of zlib (RFC 1950) and gzip (RFC 1952).
//!
//! A compressed stream is one block with the fixed codes, whose references are found in a table of the places of three
//! bytes. Where that is longer than the bytes themselves, they are stored.

use super::Level;
use crate::derived::Sum;

/// The most bytes of a stored block, and the bytes before them.
const STORED: u64 = 65_535;
const BEFORE_STORED: u64 = 5;

/// The bytes around a deflate stream in a zlib stream, and in a gzip member.
pub(super) const AROUND_ZLIB: u64 = 6;
pub(super) const AROUND_GZIP: u64 = 18;

/// The lengths of references, and their distances.
const LEAST: usize = 3;
const MOST: usize = 258;
const WINDOW: usize = 1 << 15;

/// The number of earlier places that are tried.
const TRIED: usize = 32;

/// The most bits of a place in the table.
const TABLE_BITS: u32 = 15;

/// No place.
const NONE: u32 = u32::MAX;

/// Returns the greatest length of a deflate stream that stands for this number of bytes.
pub(super) fn longest(len: u64) -> u64 {
    len.div_ceil(STORED).max(1).saturating_mul(BEFORE_STORED).saturating_add(len)
}

/// Appends a deflate stream.
pub(super) fn deflate(bytes: &[u8], level: Level, output: &mut Vec<u8>) {
    let begin = output.len();
    if level == Level::Compressed {
        compress(bytes, output);
        if (output.len() - begin) as u64 <= longest(bytes.len() as u64) {
            return;
        }
        output.truncate(begin);
    }
    let blocks = bytes.len().div_ceil(STORED as usize).max(1);
    for number in 0..blocks {
        let from = number * STORED as usize;
        let block = &bytes[from..bytes.len().min(from + STORED as usize)];
        let len = block.len() as u16;
        output.push(u8::from(number + 1 == blocks));
        output.extend_from_slice(&len.to_le_bytes());
        output.extend_from_slice(&(!len).to_le_bytes());
        output.extend_from_slice(block);
    }
}

/// Appends a zlib stream.
pub(super) fn zlib(bytes: &[u8], level: Level, output: &mut Vec<u8>) {
    // A window of 32 KiB, the fastest effort, and a number that makes both a multiple of 31.
    output.extend_from_slice(&[0x78, 0x01]);
    deflate(bytes, level, output);
    output.extend_from_slice(&(Sum::Adler32.of(bytes) as u32).to_be_bytes());
}

/// Appends a gzip member without a name and a time.
pub(super) fn gzip(bytes: &[u8], level: Level, output: &mut Vec<u8>) {
    output.extend_from_slice(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]);
    deflate(bytes, level, output);
    output.extend_from_slice(&(Sum::Crc32.of(bytes) as u32).to_le_bytes());
    output.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
}

/// Bits that are appended, the lowest first.
struct Bits<'o> {
    output: &'o mut Vec<u8>,
    bits: u64,
    count: u32,
}

impl Bits<'_> {
    fn add(&mut self, bits: u32, count: u32) {
        self.bits |= u64::from(bits) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.output.push(self.bits as u8);
            self.bits >>= 8;
            self.count -= 8;
        }
    }

    /// Appends a code, whose highest bit comes first.
    fn code(&mut self, code: u32, count: u32) {
        self.add(code.reverse_bits() >> (32 - count), count);
    }

    /// Appends the fixed code of a byte, the end or a length (RFC 1951, section 3.2.6).
    fn symbol(&mut self, symbol: u32) {
        match symbol {
            0..144 => self.code(0x30 + symbol, 8),
            144..256 => self.code(0x190 + symbol - 144, 9),
            256..280 => self.code(symbol - 256, 7),
            _ => self.code(0xC0 + symbol - 280, 8),
        }
    }

    fn reference(&mut self, len: usize, distance: usize) {
        let (symbol, extra, bits) = length_code(len as u32);
        self.symbol(symbol);
        self.add(extra, bits);
        let (symbol, extra, bits) = distance_code(distance as u32);
        self.code(symbol, 5);
        self.add(extra, bits);
    }
}

/// Returns the code of a length, and its further bits with their number (RFC 1951, section 3.2.5).
fn length_code(len: u32) -> (u32, u32, u32) {
    match len - 3 {
        255 => (285, 0, 0),
        above @ 0..8 => (257 + above, 0, 0),
        above => {
            let bits = above.ilog2() - 2;
            (257 + 4 * (bits + 1) + (above >> bits & 3), above & ((1 << bits) - 1), bits)
        }
    }
}

/// Returns the code of a distance, and its further bits with their number.
fn distance_code(distance: u32) -> (u32, u32, u32) {
    match distance - 1 {
        above @ 0..4 => (above, 0, 0),
        above => {
            let bits = above.ilog2() - 1;
            (2 * (bits + 1) + (above >> bits & 1), above & ((1 << bits) - 1), bits)
        }
    }
}

/// The places where three bytes were seen, the last ones first.
struct Places {
    /// The bits of a place in `heads`.
    bits: u32,
    heads: Vec<u32>,
    before: Vec<u32>,
}

impl Places {
    /// Returns no places in a text of this length. A short text has a small table.
    fn new(len: usize) -> Places {
        let bits = (len.checked_ilog2().unwrap_or(0) + 2).min(TABLE_BITS);
        Places { bits, heads: vec![NONE; 1 << bits], before: vec![NONE; WINDOW.min(len)] }
    }

    fn slot(&self, bytes: &[u8], at: usize) -> usize {
        let three = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], 0]);
        (three.wrapping_mul(0x9E37_79B1) >> (32 - self.bits)) as usize
    }

    fn add(&mut self, bytes: &[u8], at: usize) {
        if at + LEAST <= bytes.len() {
            let slot = self.slot(bytes, at);
            self.before[at % WINDOW] = std::mem::replace(&mut self.heads[slot], at as u32);
        }
    }

    /// Returns the length and the distance of the longest reference, the nearest one of several.
    fn longest(&self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
        if at + LEAST > bytes.len() {
            return None;
        }
        let most = (bytes.len() - at).min(MOST);
        let (mut found, mut place) = (None, self.heads[self.slot(bytes, at)]);
        for _ in 0..TRIED {
            if place == NONE || at - place as usize > WINDOW - 1 {
                break;
            }
            let from = place as usize;
            let len = (0..most).take_while(|&next| bytes[from + next] == bytes[at + next]).count();
            if len >= LEAST && found.is_none_or(|(longest, _)| len > longest) {
                found = Some((len, at - from));
                if len == most {
                    break;
                }
            }
            place = self.before[from % WINDOW];
        }
        found
    }
}

/// Appends a block with the fixed codes.
fn compress(bytes: &[u8], output: &mut Vec<u8>) {
    let mut places = Places::new(bytes.len());
    let mut bits = Bits { output, bits: 0, count: 0 };
    bits.add(0b011, 3);
    let mut at = 0;
    while at < bytes.len() {
        let len = match places.longest(bytes, at) {
            Some((len, distance)) => {
                bits.reference(len, distance);
                len
            }
            None => {
                bits.symbol(bytes[at].into());
                1
            }
        };
        (at..at + len).for_each(|at| places.add(bytes, at));
        at += len;
    }
    bits.symbol(256);
    bits.add(0, 7);
}
