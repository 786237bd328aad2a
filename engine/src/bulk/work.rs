//! The work of a lane: the block that it makes, and what it has made of it.

use gramjet::rt::random::Generators;
use gramjet::rt::simd::Simd;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustc_hash::FxHashMap;

use super::chunks::Chunks;
use super::fill::{Fill, FillRandom, UNIT};
use super::frames::{Depth, Grammar};
use super::lanes::{Group, STACK_ROOM, STEPS, TEXT_ROOM};
use super::producer::Framing;
use super::tables::Tables;

/// An input that leaves more words open is completed: derivations without text would take all memory else.
const MAX_STACK: usize = 1 << 24;
/// A buffer keeps this many bytes from block to block.
const KEPT_BYTES: usize = 1 << 20;

/// Data that all lanes share.
pub(super) struct Shared {
    pub grammar: Grammar,
    pub chunks: Chunks,
    pub tables: Tables,
    pub fill: Fill,
    pub framing: Framing,
    pub block_inputs: u64,
    pub max_output: u64,
    pub max_steps: u64,
    pub mean_input: f64,
    pub mean_step: f64,
}

/// Inputs in a row, and where each ends.
#[derive(Default)]
pub(super) struct Block {
    pub text: Vec<u8>,
    pub ends: Vec<usize>,
}

/// The work of a lane.
pub(super) struct Work {
    /// The number of the block; none while it waits.
    pub block: Option<u64>,
    pub buffers: Block,
    inputs: usize,
    filled: usize,
    fill_random: FillRandom,
    /// The open words, the next one last.
    stack: Vec<u32>,
    depth: usize,
    /// Steps since an input ended, about.
    steps: u64,
}

impl Work {
    pub(super) fn idle() -> Work {
        Work {
            block: None,
            buffers: Block::default(),
            inputs: 0,
            filled: 0,
            fill_random: [Generators::unseeded(), Generators::unseeded()],
            stack: Vec::new(),
            depth: 0,
            steps: 0,
        }
    }

    pub(super) fn begin(&mut self, shared: &Shared, seed: u64, block: u64, mut buffers: Block) {
        buffers.text.clear();
        buffers.ends.clear();
        // Memory that a very long input has added is given back.
        buffers.text.shrink_to(KEPT_BYTES);
        buffers.text.resize(shared.framing.before, 0);
        self.block = Some(block);
        self.buffers = buffers;
        (self.inputs, self.filled) = (0, 0);
        let mut source = seeds(seed, block, 1);
        self.fill_random = [(); 2].map(|()| Generators::seeded(&mut source));
        self.reset_stack(shared);
    }

    fn reset_stack(&mut self, shared: &Shared) {
        if self.stack.is_empty() {
            self.stack.resize(2 * STACK_ROOM, 0);
        }
        self.stack[0] = shared.tables.start;
        self.depth = 1;
        self.steps = 0;
    }

    /// Makes room for the next steps. A waiting lane writes to a place that is never read.
    pub(super) fn place(&mut self, shared: &Shared, group: &mut Group, lane: usize) {
        if self.block.is_none() {
            self.buffers.text.clear();
            self.buffers.ends.clear();
            self.inputs = 0;
            self.reset_stack(shared);
        }
        self.buffers.text.reserve(TEXT_ROOM);
        let room = self.depth + STACK_ROOM;
        if self.stack.len() < room {
            self.stack.resize(room.max(2 * self.depth), 0);
        }
        // SAFETY: the lengths are within the buffers, as just seen.
        unsafe {
            group.text[lane] = self.buffers.text.as_mut_ptr().add(self.buffers.text.len());
            group.stack[lane] = self.stack.as_mut_ptr().add(self.depth - 1);
        }
    }

    /// Returns the place where the text ends.
    pub(super) fn end(&self) -> *const u8 {
        self.buffers.text.as_ptr_range().end
    }

    /// Records the new bytes and ends; returns the block if it is complete.
    pub(super) fn advance(&mut self, shared: &Shared, group: &Group, lane: usize, simd: Simd) -> Option<Block> {
        let bytes = group.text[lane].addr() - self.buffers.text.as_ptr().addr();
        // SAFETY: the steps have written all bytes up to there, within the room.
        unsafe { self.buffers.text.set_len(bytes) };
        let noted = self.buffers.ends.len();
        self.steps = if noted > self.inputs { 0 } else { self.steps + STEPS as u64 };
        self.inputs = noted;
        let top = group.stack[lane].addr().checked_sub(self.stack.as_ptr().addr()).expect("a stream does not end");
        self.depth = top / size_of::<u32>() + 1;
        let begun = if self.inputs == 0 { 0 } else { self.buffers.ends[self.inputs - 1] };
        let is_too_long = (bytes - begun) as u64 > shared.max_output;
        let wanted = shared.block_inputs as usize;
        let is_open = self.inputs < wanted;
        if is_open && (is_too_long || self.steps > shared.max_steps || self.depth > MAX_STACK) {
            self.complete(shared);
        }
        if self.inputs < wanted {
            let whole = self.buffers.text.len() / UNIT * UNIT;
            shared.fill.run(&mut self.fill_random, &mut self.buffers.text[self.filled..whole], simd);
            self.filled = whole;
            return None;
        }
        let bytes = self.buffers.ends[wanted - 1] + shared.framing.behind.len();
        let whole = bytes.next_multiple_of(UNIT);
        if self.buffers.text.len() < whole {
            self.buffers.text.resize(whole, 0);
        }
        shared.fill.run(&mut self.fill_random, &mut self.buffers.text[self.filled..whole], simd);
        let mut block = std::mem::take(&mut self.buffers);
        block.text.truncate(bytes);
        block.ends.truncate(wanted);
        Some(block)
    }

    /// Completes an input that has grown beyond its bound by the shortest text of its open frames, and begins the next.
    fn complete(&mut self, shared: &Shared) {
        let tables = &shared.tables;
        let open = self.stack[..self.depth].iter().copied().rev();
        // The same words are open many times.
        let mut known: FxHashMap<u32, Box<[u8]>> = FxHashMap::default();
        for word in open {
            let text = known.entry(word).or_insert_with(|| {
                let (chunk, depth) = (word / tables.depths, word % tables.depths);
                let depth = if shared.chunks.is_free(chunk) { Depth::ANY } else { Depth::exactly(depth) };
                let mut text = Vec::new();
                shared.grammar.finish(&shared.chunks.items(chunk, depth), &mut text);
                text.into()
            });
            self.buffers.text.extend_from_slice(text);
        }
        self.buffers.ends.push(self.buffers.text.len());
        self.inputs += 1;
        self.buffers.text.extend_from_slice(&shared.framing.behind);
        self.buffers.text.resize(self.buffers.text.len() + shared.framing.before, 0);
        self.reset_stack(shared);
    }
}

/// Returns a seed for a block's generators, from the run's seed, the number of the block, and the purpose.
pub(super) fn seeds(seed: u64, block: u64, purpose: u64) -> SplitMix64 {
    let mixed = |value: u64| SplitMix64::seed_from_u64(value).next_u64();
    SplitMix64::seed_from_u64(mixed(mixed(seed) ^ mixed(block).rotate_left(32)) ^ purpose)
}
