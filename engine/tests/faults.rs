//! Memory faults of machine code: every buffer of a run ends at an inaccessible page, so that a byte read or written
//! too far is a crash. A program of its own, because it has an allocator of its own.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use gramjet::{Batch, Choices, Limits, Producer};
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_engine::jit::Jit;
use gramjet_engine::vm::Vm;
use gramjet_testkit::emitted::subjects_with_chains;
use gramjet_testkit::{Draw, Rng, Shape, compiled, random_grammar};

const PAGE: usize = 4096;

thread_local! {
    /// Flag of this thread: true if its byte buffers are guarded.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Puts byte buffers at the end of their last page, while [`GUARDED`] says so; the memory after it cannot be accessed.
struct Guarding;

/// The first word of the mapping of a guarded buffer.
const MARK: u64 = 0x6772_616D_6A65_7421;

/// Returns the mapping of a buffer: a page that holds the mark, the buffer's pages, an inaccessible page.
fn pages(size: usize) -> usize {
    size.div_ceil(PAGE).max(1) * PAGE
}

unsafe fn guarded(size: usize) -> *mut u8 {
    // SAFETY: a new mapping; its first page is written, its last one made inaccessible.
    unsafe {
        let len = pages(size) + 2 * PAGE;
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        let base = libc::mmap(std::ptr::null_mut(), len, access, flags, -1, 0);
        if base == libc::MAP_FAILED {
            return std::ptr::null_mut();
        }
        let base = base.cast::<u8>();
        base.cast::<[u64; 2]>().write([MARK, size as u64]);
        if libc::mprotect(base.add(len - PAGE).cast(), PAGE, libc::PROT_NONE) != 0 {
            return std::ptr::null_mut();
        }
        base.add(len - PAGE - size)
    }
}

// SAFETY: guarded buffers are disjoint mappings of at least the size asked for, with alignment 1 as asked for; a list
// of the thread remembers which buffers are guarded.
unsafe impl GlobalAlloc for Guarding {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let guard = layout.align() == 1 && layout.size() > 0 && GUARDED.try_with(Cell::get).unwrap_or(false);
        if guard {
            // SAFETY: as for this function.
            let pointer = unsafe { guarded(layout.size()) };
            remember(pointer as usize);
            return pointer;
        }
        // SAFETY: as for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if layout.align() == 1 && forget(pointer as usize) {
            let len = pages(layout.size()) + 2 * PAGE;
            // SAFETY: the buffer was made by `guarded` with this size.
            unsafe {
                let base = pointer.add(layout.size() + PAGE).sub(len);
                assert_eq!(base.cast::<[u64; 2]>().read(), [MARK, layout.size() as u64]);
                libc::munmap(base.cast(), len);
            }
            return;
        }
        // SAFETY: as for this function.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Guarding = Guarding;

/// The guarded buffers of a thread that are alive; there are few.
const MOST: usize = 64;
thread_local! {
    static ALIVE: Cell<[usize; MOST]> = const { Cell::new([0; MOST]) };
}

fn remember(pointer: usize) {
    let mut alive = ALIVE.get();
    let free = alive.iter().position(|&other| other == 0).expect("few guarded buffers");
    alive[free] = pointer;
    ALIVE.set(alive);
}

fn forget(pointer: usize) -> bool {
    let Ok(mut alive) = ALIVE.try_with(Cell::get) else { return false };
    let Some(place) = alive.iter().position(|&other| other == pointer) else { return false };
    alive[place] = 0;
    ALIVE.set(alive);
    true
}

/// Makes one run with guarded buffers: the choice bytes, what is kept of them, and the output with a little room.
fn run(producer: &mut dyn Producer, choices: &[u8], room: usize, separator: Option<&[u8]>) -> (Vec<u8>, u64) {
    GUARDED.set(true);
    let choices = choices.to_vec().into_boxed_slice();
    let mut output: Vec<u8> = Vec::with_capacity(room);
    let read = produced(producer, &choices, &mut output, separator);
    let copy = output.to_vec();
    drop((output, choices));
    GUARDED.set(false);
    // Outlives the guarding: a buffer like others.
    let result = (copy.to_vec(), read);
    drop(copy);
    result
}

/// Inputs of a batch.
const INPUTS: u64 = 12;

/// Produces one input, or a batch with this separator.
fn produced(producer: &mut dyn Producer, choices: &[u8], output: &mut Vec<u8>, separator: Option<&[u8]>) -> u64 {
    let mut choices = Choices::replay(choices);
    let Some(separator) = separator else { return producer.produce(&mut choices, output) };
    let mut ends = Vec::new();
    producer.produce_batch(&mut choices, output, &mut Batch::new(INPUTS, &mut ends).separator(separator))
}

/// Runs random grammars; returns the number of runs.
fn faults(seeds: std::ops::Range<u64>, shape: &Shape, rounds: usize) -> usize {
    let check = |seed| {
        let mut rng = Rng::new(seed);
        let compiled = compiled(&random_grammar(&mut rng, shape));
        check(&format!("seed {seed}"), &compiled, &mut rng, rounds)
    };
    seeds.map(check).sum()
}

/// Runs random limits and choice strings; returns the number of runs.
fn check(name: &str, compiled: &Compiled, rng: &mut Rng, rounds: usize) -> usize {
    let mut runs = 0;
    let (Ok(mut unfolding), Ok(mut counting)) = (Jit::new(compiled), Jit::without_unfolding(compiled)) else {
        panic!("{name}: no code")
    };
    let mut vm = Vm::new(compiled);
    let has_pools = compiled.rule_without_pool().is_none();
    // Each depth limit that is unfolded has code of its own: few of them, each for many runs.
    let depths = [rng.below(4), rng.below(17), 4 + rng.below(20)];
    for round in 0..rounds {
        let jit = if round % 2 == 0 { &mut unfolding } else { &mut counting };
        let choices = rng.choice_string(if round % 8 == 0 { 5000 } else { 300 });
        let depth = Some(depths[rng.below(depths.len())] as u32).filter(|_| has_pools);
        let length = Some(compiled.min_len() + rng.below(80) as u64);
        for (depth, length) in [(None, None), (depth, None), (None, length), (depth, length)] {
            let limits = Limits::new().max_depth(depth).max_len(length);
            let room = [0, 1, 64, 1000, 1100, 5000][rng.below(6)];
            jit.set_limits(limits).expect("limits that can be kept");
            let separators: [Option<&[u8]>; 5] =
                [None, Some(b""), Some(b"\n"), Some(b"8 bytes."), Some(b"a longer one")];
            let separator = separators[rng.below(5)];
            let found = run(jit, &choices, room, separator);
            runs += 1;
            // Odd, so that both ways of the JIT come to it.
            if round % 5 == 0 {
                vm.set_limits(limits).expect("limits that can be kept");
                let mut output = Vec::new();
                let read = produced(&mut vm, &choices, &mut output, separator);
                assert!(found == (output, read), "{name}, {limits:?}, {choices:?}");
            }
        }
    }
    runs
}

/// Runs chains, as unfolded depth limits leave them.
fn faults_of_chains(rounds: usize) -> usize {
    let mut rng = Rng::new(77);
    subjects_with_chains().map(|subject| check(&subject.name, &subject.compiled, &mut rng, rounds)).sum()
}

#[test]
fn no_byte_is_touched_beyond_a_buffer() {
    assert!(faults_of_chains(40) > 1000);
    assert!(faults(1..150, &Shape::VARIED, 10) > 5000);
    assert!(faults(1000..1150, &Shape::ENUMERABLE, 10) > 5000);
}

#[test]
#[ignore = "takes minutes"]
fn no_byte_is_touched_beyond_a_buffer_in_a_long_run() {
    let runs = faults(10_000..14_000, &Shape::VARIED, 40) + faults(20_000..23_000, &Shape::ENUMERABLE, 30);
    assert!(runs >= 1_000_000, "{runs}");
}

/// Straight code that reads and writes as much as is checked at once, and strings of all lengths at the end of the
/// output.
#[test]
fn long_stretches_stay_within_their_buffers() {
    let mut rng = Rng::new(3);
    let text = |len: usize| (0..len).map(|index| char::from(b'a' + (index % 26) as u8)).collect::<String>();
    let classes = "[a-z]".repeat(140);
    let mut grammars = vec![
        format!("s ::= {classes} s?"),
        format!("s ::= '{0}' [0-9] '{0}' [0-9] '{0}' [0-9] '{0}' [0-9] '{0}' s?", text(250)),
        format!("s ::= t s | t\nt ::= ([a-z]* ';' [0-9]+ ','){{3}} '{}'", text(1000)),
    ];
    for len in 1..70 {
        grammars.push(format!("s ::= t s | t\nt ::= '{}' | '{}' | [ab] '{}'", text(len), text(len + 1), text(len - 1)));
    }
    for len in [100, 127, 128, 129, 200, 255, 256, 257, 300] {
        grammars.push(format!("s ::= t s | t\nt ::= '{}' | '{}' | '{}'", text(len), text(len / 2), text(3)));
    }
    for grammar in grammars {
        let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", grammar.clone()), &Options::default()) else {
            panic!("{grammar} does not compile")
        };
        check(&grammar, &compiled, &mut rng, 12);
    }
}

/// The guard works: a byte beyond a buffer is not accessible.
#[test]
fn a_guarded_buffer_ends_at_a_page() {
    GUARDED.set(true);
    let buffer: Vec<u8> = Vec::with_capacity(10);
    let end = buffer.as_ptr() as usize + 10;
    drop(buffer);
    GUARDED.set(false);
    assert_eq!(end % PAGE, 0);
}
