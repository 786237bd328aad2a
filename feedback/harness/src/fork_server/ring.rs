//! The memory with inputs that are given ahead, and with the counts of those that have run.
//!
//! Inputs are numbered from 0 on, without end, and each is in the slot of its number. The program puts its next input
//! where inputs always are, and lists the counts of each that it has run on, so that it need not wait to be asked.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::edges::Edges;
use crate::run::Usage;
use crate::shared::Memory;

/// Offset at which the ring begins: after the input itself.
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
/// Offset of the time when the program has begun on the next one, in nanoseconds.
const BEGUN: usize = START + 16;
const HEADER: usize = 64;

/// A slot: the length of the input, the number of edges, nanoseconds by the clock; pairs of the number of an edge and
/// its count; the input; nanoseconds of processor time.
const PAIRS: usize = 16;
const BYTES: usize = PAIRS + EDGES * 8;
const CPU: usize = BYTES + INPUT;
const SLOT: usize = CPU + 48;
// As the run time knows it.
const _: () = assert!(SLOTS == 16 && SLOT == 131_136);

/// Bytes of memory shared with our instrumentation: the input, and the ring.
pub(super) const SIZE: usize = START + HEADER + SLOTS * SLOT;
/// Bytes of an input that comes alone, with its length.
pub(super) const ALONE: usize = START;

/// Part of the ring that is in use.
#[derive(Debug, Default)]
pub(super) struct Ring {
    given: u32,
    taken: u32,
}

/// Returns the place of the slot of an input.
fn slot(number: u32) -> usize {
    START + HEADER + number as usize % SLOTS * SLOT
}

impl Ring {
    /// Returns the number of inputs that were given, and whose results were not taken.
    pub(super) fn held(&self) -> usize {
        self.given.wrapping_sub(self.taken) as usize
    }

    /// Returns the number of the input whose result is taken next.
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
        let input = &input[..input.len().min(ALONE - 4)];
        memory.values::<u32>(at, 1)[0] = input.len() as u32;
        if input.len() <= INPUT {
            memory.values::<u8>(at + BYTES, input.len()).copy_from_slice(input);
        } else {
            memory.values::<u32>(0, 1)[0] = input.len() as u32;
            memory.values::<u8>(4, input.len()).copy_from_slice(input);
        }
        self.given = self.given.wrapping_add(1);
        memory.number(GIVEN).store(self.given, Ordering::Release);
        true
    }

    /// Returns true if the program has run on the next input, and listed its counts.
    pub(super) fn is_ready(&self, memory: &Memory) -> bool {
        let finished = memory.number(FINISHED).load(Ordering::Acquire).wrapping_sub(self.taken) as usize;
        (1..=self.held()).contains(&finished)
    }

    /// Takes the counts of the next input. Returns what the run on it has used, as far as the program says so.
    pub(super) fn take(&mut self, memory: &Memory, edges: &mut Edges, known: u32) -> Usage {
        let at = slot(self.taken);
        // A program can write to them while they are read.
        let number = |number: &AtomicU32| number.load(Ordering::Relaxed);
        let count = (number(memory.number(at + 4)) as usize).min(EDGES);
        let pairs =
            memory.numbers(at + PAIRS, 2 * count).chunks_exact(2).map(|pair| (number(&pair[0]), number(&pair[1])));
        edges.take_listed(pairs, known);
        self.taken = self.taken.wrapping_add(1);
        let time = |at| memory.large_number(at).load(Ordering::Relaxed);
        let cpu = Some(time(at + CPU)).filter(|&time| time > 0).map(Duration::from_nanos);
        Usage { wall: Duration::from_nanos(time(at + 8)), cpu, ..Usage::default() }
    }

    /// Returns true if the program waits because it could not list the counts of the next input.
    pub(super) fn is_in_map(&self, memory: &Memory) -> bool {
        memory.number(IS_IN_MAP).load(Ordering::Relaxed) != 0
    }

    /// Leaves the next input, whose result is not in its slot; the program waits or has ended.
    pub(super) fn skip(&mut self, memory: &Memory) {
        self.taken = self.taken.wrapping_add(1);
        self.settle(memory);
    }

    /// Says again which input is the next one; the program waits or has ended, and no result is ready.
    pub(super) fn settle(&self, memory: &Memory) {
        memory.number(IS_IN_MAP).store(0, Ordering::Relaxed);
        memory.number(FINISHED).store(self.taken, Ordering::Release);
    }

    /// Returns how long the program has run on an input by now, as far as it says so.
    pub(super) fn elapsed(&self, memory: &Memory) -> Option<Duration> {
        let begun = memory.large_number(BEGUN).load(Ordering::Relaxed);
        now().checked_sub(begun).map(Duration::from_nanos)
    }
}

/// Returns the nanoseconds of the clock that the program uses.
fn now() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a pointer to a live value.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does what the program does with an input: lists an edge whose count is the length.
    fn run(memory: &mut Memory, number: u32, count: u32) {
        let at = slot(number);
        let length = memory.values::<u32>(at, 1)[0];
        memory.values::<u32>(at, 2)[1] = count;
        memory.values::<u64>(at + 8, 1)[0] = 5;
        memory.values::<u64>(at + CPU, 1)[0] = 3;
        memory.values::<u32>(at + PAIRS, 2).copy_from_slice(&[1, length]);
        memory.number(FINISHED).store(number.wrapping_add(1), Ordering::Release);
    }

    #[test]
    fn results_come_in_the_order_of_inputs() {
        let mut memory = Memory::new(SIZE).expect("memory");
        // Numbers begin again at 0 after the greatest one.
        let first = u32::MAX - 20;
        let mut ring = Ring { given: first, taken: first };
        memory.number(FINISHED).store(first, Ordering::Release);
        let mut edges = Edges::default();
        for round in 0..5 {
            let lens = (1..=SLOTS).map(|place| place + round * SLOTS);
            assert!(lens.clone().all(|len| ring.give(&mut memory, &vec![b'x'; len])));
            assert!(!ring.give(&mut memory, b"more"));
            assert!(!ring.is_ready(&memory));
            for len in lens {
                run(&mut memory, ring.next(), 1);
                assert!(ring.is_ready(&memory));
                let [wall, cpu] = [5, 3].map(Duration::from_nanos);
                assert_eq!(ring.take(&memory, &mut edges, 9), Usage { wall, cpu: Some(cpu), ..Usage::default() });
                assert_eq!((edges.total(), edges.known()), (len as u64, 9));
            }
            assert_eq!(ring.held(), 0);
        }
    }

    #[test]
    fn a_long_input_comes_alone() {
        let mut memory = Memory::new(SIZE).expect("memory");
        let mut ring = Ring::default();
        let long = vec![b'x'; INPUT + 1];
        assert!(ring.give(&mut memory, b"short"));
        assert!(!ring.give(&mut memory, &long));
        ring.skip(&memory);
        assert!(ring.give(&mut memory, &long));
        assert_eq!(memory.values::<u32>(0, 1)[0] as usize, long.len());
        assert!(!ring.give(&mut memory, b"short"));
        ring.skip(&memory);
        assert!(ring.give(&mut memory, b"short"));
    }

    #[test]
    fn what_a_program_writes_does_no_harm() {
        let mut memory = Memory::new(SIZE).expect("memory");
        let mut ring = Ring::default();
        for finished in [1, 2, u32::MAX, 1 << 31] {
            memory.number(FINISHED).store(finished, Ordering::Release);
            assert!(!ring.is_ready(&memory));
        }
        assert!(ring.give(&mut memory, b"text"));
        memory.number(FINISHED).store(2, Ordering::Release);
        assert!(!ring.is_ready(&memory));
        run(&mut memory, 0, u32::MAX);
        assert!(ring.is_ready(&memory));
        ring.take(&memory, &mut Edges::default(), 9);
        memory.large_number(BEGUN).store(u64::MAX, Ordering::Relaxed);
        assert_eq!(ring.elapsed(&memory), None);
    }
}
