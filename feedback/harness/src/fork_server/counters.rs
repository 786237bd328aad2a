//! The memory in which an instrumented program counts its edges.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use crate::edges::Edges;
use crate::locations::{Image, Locations};
use crate::run::Usage;
use crate::shared::Memory;

/// Bytes of the header of our instrumentation.
const PAGE: usize = 4096;
/// Where its counters begin: that of number 1 begins a page.
const COUNTERS: usize = PAGE - size_of::<u32>();
/// Counters for which there is room.
const CAPACITY: usize = 1 << 22;
/// The most programs and libraries with separate edges, and the bytes that describe one: the number of its first edge,
/// how many it has, eight bytes, and its path up to a zero byte; the program's own path is empty.
const IMAGES: usize = 64;
const IMAGE: usize = 1024;
/// Where images are described, after the addresses of edges.
const DESCRIBED: usize = PAGE + CAPACITY * (size_of::<u32>() + size_of::<u64>());
/// Where the carries of counters begin: how often each has begun again at 0. Programs of older run times do not have
/// them.
const CARRIES: usize = DESCRIBED + IMAGES * IMAGE;
/// The words of the header that say how many counters there are, and whether there are carries.
const EDGES: usize = 1;
const CARRIED: usize = 5;
/// Where the header says what the last run has used: nanoseconds of processor time, and bytes of memory at the peak; 0
/// if that is not known.
const CPU: usize = 24;
const PEAK: usize = 32;
/// Bytes of memory shared with our instrumentation.
pub(super) const MAP_SIZE: usize = CARRIES + CAPACITY * size_of::<u32>();
/// Counters of AFL++ for which there is room.
pub(super) const AFL_CAPACITY: usize = 1 << 23;

/// Memory shared with the program.
pub(super) enum Counters {
    /// Ours, of 32 bits, with carries.
    Own(Memory),
    /// Those of AFL++, of 8 bits, and how many.
    Afl(Memory, usize),
}

impl Counters {
    /// Takes the counts of a run.
    pub(super) fn take(&mut self, edges: &mut Edges) {
        match self {
            Counters::Own(memory) => {
                let header = memory.values::<u32>(0, CARRIED + 1);
                let (count, is_carried) = ((header[EDGES] as usize).min(CAPACITY), header[CARRIED] != 0);
                header[CARRIED] = 0;
                let mut carries = Vec::new();
                if is_carried {
                    let shared = memory.values::<u32>(CARRIES, count);
                    carries = shared.to_vec();
                    shared.fill(0);
                }
                edges.take(memory.values::<u32>(COUNTERS, count), &carries);
            }
            Counters::Afl(memory, count) => edges.take(memory.values::<u8>(0, *count), &[]),
        }
    }

    /// What a run has used that took this long by the clock. The program has said that it has ended, and told this.
    pub(super) fn usage(&self, wall: Duration) -> Usage {
        let Counters::Own(memory) = self else { return Usage { wall, ..Usage::default() } };
        let number = |at| Some(memory.large_number(at).load(Ordering::Relaxed)).filter(|&number| number > 0);
        Usage { wall, cpu: number(CPU).map(Duration::from_nanos), peak_memory: number(PEAK) }
    }

    /// How many edges the program has.
    pub(super) fn known(&self) -> u32 {
        match self {
            Counters::Own(memory) => {
                let count = memory.number(EDGES * size_of::<u32>()).load(Ordering::Relaxed);
                count.min(CAPACITY as u32).saturating_sub(1)
            }
            Counters::Afl(_, count) => count.saturating_sub(1) as u32,
        }
    }

    /// The sum of the counts of a run, while it runs. AFL++'s counts wrap: they have no sum.
    pub(super) fn sum(&self) -> u64 {
        match self {
            Counters::Own(memory) => {
                let header = |word: usize| memory.sum::<u32>(word * size_of::<u32>(), 1);
                // Number 0 counts the edges without a counter of their own.
                let count = (header(EDGES) as usize).min(CAPACITY).saturating_sub(1);
                let sum = |from: usize| memory.sum::<u32>(from + size_of::<u32>(), count);
                // Carries first: a counter that begins again meanwhile is then missing, and not counted twice.
                let carries = if header(CARRIED) == 0 { 0 } else { sum(CARRIES) };
                fence(Ordering::Acquire);
                sum(COUNTERS).saturating_add(carries.saturating_mul(1 << u32::BITS))
            }
            Counters::Afl(..) => 0,
        }
    }

    /// Where the edges are.
    pub(super) fn locations(&mut self, program: &Path) -> Locations {
        let Counters::Own(memory) = self else { return Locations::default() };
        let header = memory.values::<u32>(0, 4);
        let (edges, images) = (header[1], header[3]);
        let addresses = memory.values::<u64>(PAGE + CAPACITY * size_of::<u32>(), CAPACITY);
        let addresses = addresses[..(edges as usize).min(CAPACITY)].to_vec();
        let images = (0..IMAGES.min(images as usize)).map(|number| {
            let at = DESCRIBED + number * IMAGE;
            let numbers = memory.values::<u32>(at, 2);
            let (first, count) = (numbers[0], numbers[1]);
            let path = memory.values::<u8>(at + 16, IMAGE - 16);
            let path = path.split(|&byte| byte == 0).next().unwrap_or_default();
            let path = if path.is_empty() { program } else { Path::new(OsStr::from_bytes(path)) };
            Image { path: path.to_path_buf(), first, count }
        });
        Locations { images: images.collect(), addresses }
    }
}
