//! The memory in which an instrumented program counts its edges.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use super::protocol::GREETING;
use crate::edges::Edges;
use crate::error::Error;
use crate::locations::{Image, Locations};
use crate::run::Usage;
use crate::shared::Memory;

/// Bytes of a page: the counter of number 1 begins one.
const PAGE: usize = 4096;
/// Offset at which the counters begin.
const COUNTERS: usize = PAGE - size_of::<u32>();
/// Counters for which there is room.
const CAPACITY: usize = 1 << 22;
/// Bytes of the memory with the counters.
pub(super) const COUNTERS_SIZE: usize = COUNTERS + CAPACITY * size_of::<u32>();

/// Greatest number of images. A program tells of itself in memory of its own: a page of numbers, then images, addresses
/// and carries.
///
/// An image is a program or a library with edges of its own: the number of its first edge, how many it has, eight
/// bytes, and its path up to a zero byte; the program's own path is empty.
const IMAGES: usize = 64;
const IMAGE: usize = 1024;
const DESCRIBED: usize = PAGE;
/// Offset at which the addresses of edges begin.
const ADDRESSES: usize = DESCRIBED + IMAGES * IMAGE;
/// Offset at which the carries of counters begin: each says how often a counter has begun again at 0.
const CARRIES: usize = ADDRESSES + CAPACITY * size_of::<u64>();
/// Bytes of the memory with what the program tells.
pub(super) const CONTROL_SIZE: usize = CARRIES + CAPACITY * size_of::<u32>();
/// The places of its numbers.
const FIRST: usize = 0;
const EDGES: usize = 4;
const TOLD_IMAGES: usize = 12;
/// Offset of the number that says whether a process that takes many inputs runs, answers or waits.
const PROCESS: usize = 16;
const WAITS: u32 = 2;
const CARRIED: usize = 20;
/// Offset of the numbers that say what the last run has used: nanoseconds of processor time, and bytes of memory at the
/// peak; 0 if that is not known.
const CPU: usize = 24;
const PEAK: usize = 32;
const LAST: usize = 48;
/// Counters of AFL++ for which there is room.
pub(super) const AFL_CAPACITY: usize = 1 << 23;

/// Memory shared with the program.
pub(super) enum Counters {
    /// Ours, of 32 bits, with carries.
    Own(Own),
    /// Counters of AFL++, of 8 bits, and their number.
    Afl(Memory, usize),
}

/// Memory shared with a program that our instrumentation is in, and what is known of it here.
///
/// The program can write anything into it. It is taken at its word only as far as that agrees with what it has said
/// before: numbers of edges and images do not become less, and images lie one after the other.
pub(super) struct Own {
    counters: Memory,
    control: Memory,
    /// Number of counters, with number 0, as it was told and checked last.
    edges: u32,
    /// The images, as they were told first; the path of the program's own is empty.
    images: Vec<Image>,
}

impl Own {
    pub(super) fn new() -> Result<Own, Error> {
        let (counters, control) = (Memory::new(COUNTERS_SIZE)?, Memory::new(CONTROL_SIZE)?);
        Ok(Own { counters, control, edges: 1, images: Vec::new() })
    }

    /// Returns the descriptors of the counters and of what the program tells.
    pub(super) fn descriptors(&self) -> Result<[OwnedFd; 2], Error> {
        Ok([self.counters.descriptor()?, self.control.descriptor()?])
    }

    fn number(&self, at: usize) -> u32 {
        self.control.number(at).load(Ordering::Relaxed)
    }

    /// Returns true if the numbers that the program tells are those of a program whose memory is whole. Takes over
    /// how many edges and images it has.
    fn is_whole(&mut self) -> bool {
        if self.number(FIRST) != GREETING || self.number(LAST) != GREETING {
            return false;
        }
        let (edges, images) = (self.number(EDGES), self.number(TOLD_IMAGES));
        let (images, known) = (images as usize, self.images.len());
        if (edges, images) == (self.edges, known) {
            return true;
        }
        if edges < self.edges || edges as usize > CAPACITY || images < known || images > IMAGES {
            return false;
        }
        // A library was loaded: its edges come after the others.
        let mut next = self.images.last().map_or(1, |image| image.first + image.count);
        for number in known..images {
            let image = self.described(number);
            let end = image.first.checked_add(image.count);
            let Some(end) = end.filter(|&end| image.first >= next && end <= edges) else { return false };
            next = end;
            self.images.push(image);
        }
        self.edges = edges;
        true
    }

    /// Returns an image as the program describes it.
    fn described(&mut self, number: usize) -> Image {
        let at = DESCRIBED + number * IMAGE;
        let [first, count] = [at, at + 4].map(|at| self.number(at));
        let path = self.control.values::<u8>(at + 16, IMAGE - 16);
        let path = path.split(|&byte| byte == 0).next().unwrap_or_default();
        Image { path: PathBuf::from(OsStr::from_bytes(path)), first, count }
    }
}

impl Counters {
    /// Returns true if the process says that it waits for a request.
    pub(super) fn waits(&self) -> bool {
        matches!(self, Counters::Own(own) if own.number(PROCESS) == WAITS)
    }

    /// Takes the counts of a run. Returns false if the program has changed what it must not: its counts, and those of
    /// runs to come, may be wrong then.
    pub(super) fn take(&mut self, edges: &mut Edges) -> bool {
        match self {
            Counters::Own(own) => {
                let is_whole = own.is_whole();
                let count = own.edges as usize;
                let carried = own.control.number(CARRIED);
                let mut carries = Vec::new();
                if carried.load(Ordering::Relaxed) != 0 {
                    carried.store(0, Ordering::Relaxed);
                    let shared = own.control.values::<u32>(CARRIES, count);
                    carries = shared.to_vec();
                    shared.fill(0);
                }
                edges.take(own.counters.values::<u32>(COUNTERS, count), &carries);
                is_whole
            }
            Counters::Afl(memory, count) => {
                edges.take(memory.values::<u8>(0, *count), &[]);
                true
            }
        }
    }

    /// Returns true if the program has changed nothing that it must not.
    pub(super) fn is_whole(&mut self) -> bool {
        match self {
            Counters::Own(own) => own.is_whole(),
            Counters::Afl(..) => true,
        }
    }

    /// Returns what a run has used that took this long by the clock. The program has said that it has ended, and told
    /// this.
    pub(super) fn usage(&self, wall: Duration) -> Usage {
        let Counters::Own(Own { control, .. }) = self else { return Usage { wall, ..Usage::default() } };
        let number = |at| Some(control.large_number(at).load(Ordering::Relaxed)).filter(|&number| number > 0);
        Usage { wall, cpu: number(CPU).map(Duration::from_nanos), peak_memory: number(PEAK), ..Usage::default() }
    }

    /// Returns how many edges the program has.
    pub(super) fn known(&self) -> u32 {
        match self {
            Counters::Own(own) => own.edges.saturating_sub(1),
            Counters::Afl(_, count) => count.saturating_sub(1) as u32,
        }
    }

    /// Returns the sum of the counts of a run, while it runs. AFL++'s counts wrap: they have no sum.
    pub(super) fn sum(&self) -> u64 {
        match self {
            Counters::Own(own) => {
                // Number 0 counts the edges without a counter of their own. A library may have been loaded meanwhile.
                let count = (own.number(EDGES) as usize).min(CAPACITY).saturating_sub(1);
                let sum = |memory: &Memory, from: usize| memory.sum::<u32>(from + size_of::<u32>(), count);
                // Carries first: a counter that begins again meanwhile is then missing, and not counted twice.
                let carries = if own.number(CARRIED) == 0 { 0 } else { sum(&own.control, CARRIES) };
                fence(Ordering::Acquire);
                sum(&own.counters, COUNTERS).saturating_add(carries.saturating_mul(1 << u32::BITS))
            }
            Counters::Afl(..) => 0,
        }
    }

    /// Returns the locations of the edges.
    pub(super) fn locations(&mut self, program: &Path) -> Locations {
        let Counters::Own(Own { control, edges, images, .. }) = self else { return Locations::default() };
        let addresses = control.values::<u64>(ADDRESSES, *edges as usize).to_vec();
        let mut images = images.clone();
        images.iter_mut().filter(|image| image.path.as_os_str().is_empty()).for_each(|image| {
            image.path = program.to_path_buf();
        });
        Locations { images, addresses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns memory as a program leaves it that has an image with 9 edges.
    fn told() -> Own {
        let mut own = Own::new().expect("memory");
        let numbers = own.control.values::<u32>(0, PAGE / 4);
        (numbers[FIRST / 4], numbers[EDGES / 4], numbers[TOLD_IMAGES / 4], numbers[LAST / 4]) =
            (GREETING, 10, 1, GREETING);
        own.control.values::<u32>(DESCRIBED, 2).copy_from_slice(&[1, 9]);
        assert!(own.is_whole());
        own
    }

    #[test]
    fn a_program_is_taken_at_its_word_only_as_far_as_that_agrees() {
        let changes: [(usize, u32); 9] = [
            (FIRST, 0x6161_6161),
            (LAST, 0x6161_6161),
            (EDGES, 9),
            (EDGES, u32::MAX),
            (EDGES, CAPACITY as u32 + 1),
            (TOLD_IMAGES, 0),
            (TOLD_IMAGES, 65),
            (TOLD_IMAGES, 2),
            (DESCRIBED + 4, 10),
        ];
        assert_eq!(told().images[0].count, 9);
        for (at, value) in changes {
            let mut own = told();
            // Growth is what lets it look at the images.
            own.control.number(EDGES).store(if at < DESCRIBED { 10 } else { 12 }, Ordering::Relaxed);
            own.control.number(at).store(value, Ordering::Relaxed);
            let is_whole = own.is_whole();
            assert_eq!(is_whole, at == DESCRIBED + 4, "{value:#x} at {at}");
            assert_eq!(own.images[0].count, 9);
            assert!(own.edges as usize <= CAPACITY && own.images.len() <= IMAGES);
        }
    }

    #[test]
    fn libraries_that_are_loaded_later_add_edges() {
        let mut own = told();
        own.control.values::<u32>(DESCRIBED + IMAGE, 2).copy_from_slice(&[1025, 5]);
        own.control.number(EDGES).store(1030, Ordering::Relaxed);
        own.control.number(TOLD_IMAGES).store(2, Ordering::Relaxed);
        assert!(own.is_whole());
        assert_eq!(own.edges, 1030);
        // They do not overlap.
        let mut own = told();
        own.control.values::<u32>(DESCRIBED + IMAGE, 2).copy_from_slice(&[5, 5]);
        own.control.number(EDGES).store(20, Ordering::Relaxed);
        own.control.number(TOLD_IMAGES).store(2, Ordering::Relaxed);
        assert!(!own.is_whole());
    }
}
