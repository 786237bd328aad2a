//! The memory with inputs that are given ahead, and with the counts of those that have run.
//!
//! Inputs are numbered from 0 on, without end, and each is in the slot of its number. The program puts its next input
//! where inputs always are, and lists the counts of each that it has run on, so that it need not wait to be asked.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::edges::Edges;
use crate::shared::Memory;

/// Where it begins: after the input itself.
const START: usize = 1 << 26;
/// Slots.
pub(super) const SLOTS: usize = 16;
/// Bytes of an input for which a slot has room.
const INPUT: usize = 1 << 16;
/// Edges for which it has room.
const EDGES: usize = 1 << 13;

/// Numbers in the header: how many inputs were given; how many have run; whether the counts of the next one are still
/// where they are counted.
const GIVEN: usize = START;
const FINISHED: usize = START + 4;
const IS_IN_MAP: usize = START + 8;
/// When the program has begun on the next one, in nanoseconds.
const BEGUN: usize = START + 16;
const HEADER: usize = 64;

/// A slot: the length of the input, the number of edges, nanoseconds; pairs of the number of an edge and its count; the
/// input.
const PAIRS: usize = 16;
const BYTES: usize = PAIRS + EDGES * 8;
const SLOT: usize = BYTES + INPUT + 48;

/// Bytes of memory shared with our instrumentation: the input, and the ring.
pub(super) const SIZE: usize = START + HEADER + SLOTS * SLOT;
/// Bytes of an input that comes alone, with its length.
pub(super) const ALONE: usize = START;

/// How much of the ring is in use.
#[derive(Debug, Default)]
pub(super) struct Ring {
    given: u32,
    taken: u32,
}

/// The place of the slot of an input.
fn slot(number: u32) -> usize {
    START + HEADER + number as usize % SLOTS * SLOT
}

impl Ring {
    /// Inputs that were given, and whose results were not taken.
    pub(super) fn held(&self) -> usize {
        self.given.wrapping_sub(self.taken) as usize
    }

    /// The number of the input whose result is taken next.
    pub(super) fn next(&self) -> u32 {
        self.taken
    }

    /// Gives an input, if there is room. One that is longer than a slot comes alone.
    pub(super) fn give(&mut self, memory: &mut Memory, input: &[u8]) -> bool {
        let held = self.held();
        let is_alone = |memory: &mut Memory, number| memory.values::<u32>(slot(number), 1)[0] as usize > INPUT;
        let is_free = match held {
            0 => true,
            _ => input.len() <= INPUT && held < SLOTS && !is_alone(memory, self.given.wrapping_sub(1)),
        };
        if !is_free {
            return false;
        }
        let at = slot(self.given);
        memory.values::<u32>(at, 1)[0] = input.len() as u32;
        if input.len() <= INPUT {
            memory.values::<u8>(at + BYTES, input.len()).copy_from_slice(input);
        } else {
            let input = &input[..input.len().min(ALONE - 4)];
            memory.values::<u32>(0, 1)[0] = input.len() as u32;
            memory.values::<u8>(4, input.len()).copy_from_slice(input);
        }
        self.given = self.given.wrapping_add(1);
        memory.number(GIVEN).store(self.given, Ordering::Release);
        true
    }

    /// Whether the program has run on the next input, and listed its counts.
    pub(super) fn is_ready(&self, memory: &Memory) -> bool {
        let finished = memory.number(FINISHED).load(Ordering::Acquire).wrapping_sub(self.taken) as usize;
        (1..=self.held()).contains(&finished)
    }

    /// Takes the counts of the next input. Returns how long the program has run on it.
    pub(super) fn take(&mut self, memory: &mut Memory, edges: &mut Edges, known: u32) -> Duration {
        let at = slot(self.taken);
        let count = (memory.values::<u32>(at, 2)[1] as usize).min(EDGES);
        let time = Duration::from_nanos(memory.values::<u64>(at + 8, 1)[0]);
        edges.take_listed(memory.values::<u32>(at + PAIRS, 2 * count), known);
        self.taken = self.taken.wrapping_add(1);
        time
    }

    /// Whether the program waits because it could not list the counts of the next input.
    pub(super) fn is_in_map(&self, memory: &Memory) -> bool {
        memory.number(IS_IN_MAP).load(Ordering::Relaxed) != 0
    }

    /// Leaves the next input, which has run without a result here; the program waits or has ended.
    pub(super) fn skip(&mut self, memory: &Memory) {
        self.taken = self.taken.wrapping_add(1);
        memory.number(IS_IN_MAP).store(0, Ordering::Relaxed);
        memory.number(FINISHED).store(self.taken, Ordering::Release);
    }

    /// How long the program has run on an input by now, as far as it says so.
    pub(super) fn elapsed(&self, memory: &Memory) -> Option<Duration> {
        let begun = memory.large_number(BEGUN).load(Ordering::Relaxed);
        now().checked_sub(begun).map(Duration::from_nanos)
    }
}

/// Nanoseconds of the clock that the program uses.
fn now() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a pointer to a live value.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
