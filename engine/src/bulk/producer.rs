//! Blocks of inputs: which lane makes which, and in what order they are handed out.

use std::collections::BTreeMap;
use std::sync::Arc;

use gramjet::Limits;
use gramjet_compiler::Compiled;

use super::chunks::Chunks;
use super::fill::{Fill, UNIT};
use super::frames::{Depth, Grammar};
use super::lanes::{self, END_ROOM, Lane, STACK_ROOM, TEXT_ROOM};
use super::plan::{self, Budget};
use super::random::{Generators, LANES, seeds};
use super::simd::Simd;
use super::tables::Tables;
use super::unfold::Stream;

/// What stands between inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes before each input, left zero.
    pub before: usize,
    /// The text behind each input.
    pub behind: Vec<u8>,
}

/// How the tables are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The tables have at most this many records of 64 bytes.
    pub records: usize,
    /// How often they are made anew from what a trial run learns.
    pub rounds: u32,
}

impl Default for Effort {
    /// 1 MiB of records.
    fn default() -> Effort {
        Effort { records: 1 << 14, rounds: 3 }
    }
}

/// Why a grammar cannot be produced in bulk; the other engines take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInBulk {
    /// With a limit on the length, probabilities depend on all that was drawn before.
    #[error("a limit on the length cannot be kept in bulk")]
    MaxLen,
    /// What is left of the depth does not fit beside the places.
    #[error("the depth limit is too large for the bulk engine's tables")]
    MaxDepth,
    /// A rule has no pool.
    #[error("the depth limit cannot be kept for this grammar")]
    NoPool,
    /// The tables would exceed the budget.
    #[error("the grammar is too large for the bulk engine's tables")]
    TooLarge,
    /// The text between inputs does not fit into a record.
    #[error("what stands between inputs is too long")]
    Framing,
}

/// Bytes that a block of inputs has, about.
const BLOCK_BYTES: f64 = 32.0 * 1024.0;
/// Inputs of a block at most; blocks that differ in size by little keep the lanes together.
const MAX_BLOCK_INPUTS: u64 = 4096;
/// Depths beyond the limit are not told apart from this on.
const ZONES: u32 = 12;
/// Blocks that are finished before their turn, at most, and their bytes.
const AHEAD: usize = 4 * LANES;
const AHEAD_BYTES: usize = 1 << 26;

struct Shared {
    grammar: Grammar,
    chunks: Chunks,
    tables: Tables,
    fill: Fill,
    framing: Framing,
    block_inputs: u64,
    max_output: u64,
    mean_input: f64,
    mean_step: f64,
}

/// Makes inputs in bulk.
pub struct Bulk {
    shared: Arc<Shared>,
    simd: Simd,
    seed: u64,
    /// The block that is handed out next, the one that is begun next, and how far apart they are.
    next: u64,
    begin: u64,
    stride: u64,
    lanes: Vec<Work>,
    random: Generators,
    done: BTreeMap<u64, Block>,
    done_bytes: usize,
    spare: Vec<Buffers>,
    current: Option<Block>,
}

/// The memory of a block.
#[derive(Default)]
struct Buffers {
    text: Vec<u8>,
    ends: Vec<u64>,
}

/// Inputs one behind the other.
struct Block {
    buffers: Buffers,
    bytes: usize,
    inputs: usize,
}

/// What a lane is at.
struct Work {
    /// The number of the block; none while it waits.
    block: Option<u64>,
    buffers: Buffers,
    bytes: usize,
    inputs: usize,
    filled: usize,
    fill_random: Generators,
    /// What is next, and what follows: the lowest word is never used.
    word: u32,
    stack: Vec<u32>,
    depth: usize,
}

/// Inputs, whole, in order.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'b> {
    /// All bytes, with what stands between inputs.
    pub bytes: &'b [u8],
    /// For each input where it ends, without what stands behind it.
    pub ends: &'b [u64],
}

impl Bulk {
    /// Makes the tables.
    ///
    /// # Errors
    ///
    /// If the grammar or the limits do not fit this engine.
    pub fn new(compiled: &Compiled, limits: Limits, framing: Framing, effort: Effort) -> Result<Bulk, NotInBulk> {
        if limits.length().is_some() {
            return Err(NotInBulk::MaxLen);
        }
        if limits.depth().is_some() && compiled.rule_without_pool().is_some() {
            return Err(NotInBulk::NoPool);
        }
        if limits.depth().is_some_and(|depth| depth >= 1 << 20) {
            return Err(NotInBulk::MaxDepth);
        }
        let behind = [&*framing.behind, &vec![0; framing.before]].concat();
        if behind.len() > super::unfold::TEXT {
            return Err(NotInBulk::Framing);
        }
        let grammar = Grammar::new(compiled, limits.depth(), &[&behind]);
        let zones = limits.depth().map_or(0, |depth| ZONES.min(depth + 2));
        let stream = Stream { grammar: &grammar, zones, floor: zones, behind: &behind };
        let budget = Budget { records: effort.records, rounds: effort.rounds };
        let (plan, chunks) = plan::plan(&stream, budget).map_err(|_| NotInBulk::TooLarge)?;
        let tables = Tables::new(&plan, &chunks).map_err(|_| NotInBulk::TooLarge)?;
        let (mean_step, steps) = plan::figures(&plan, &chunks);
        let mean_input = mean_step * steps;
        let inputs = BLOCK_BYTES / mean_input.max(1.0);
        let block_inputs = if inputs >= 2.0 { (inputs as u64).next_power_of_two().min(MAX_BLOCK_INPUTS) } else { 1 };
        let fill = Fill::new(grammar.codes());
        let max_output = limits.output();
        let shared =
            Shared { grammar, chunks, tables, fill, framing, block_inputs, max_output, mean_input, mean_step };
        Ok(Bulk::over(Arc::new(shared), Simd::detect()))
    }

    fn over(shared: Arc<Shared>, simd: Simd) -> Bulk {
        let mut bulk = Bulk {
            shared,
            simd,
            seed: 0,
            next: 0,
            begin: 0,
            stride: 1,
            lanes: (0..LANES).map(|_| Work::idle()).collect(),
            random: Generators::unseeded(),
            done: BTreeMap::new(),
            done_bytes: 0,
            spare: Vec::new(),
            current: None,
        };
        bulk.restart(0, 0, 1);
        bulk
    }

    /// Another one with the same tables.
    pub fn fork(&self) -> Bulk {
        Bulk::over(Arc::clone(&self.shared), self.simd)
    }

    /// Goes on with the blocks `first`, `first + stride` and so on of the run with `seed`.
    pub fn restart(&mut self, seed: u64, first: u64, stride: u64) {
        (self.seed, self.next, self.begin, self.stride) = (seed, first, first, stride);
        let mut spare = std::mem::take(&mut self.spare);
        spare.extend(std::mem::take(&mut self.done).into_values().map(|block| block.buffers));
        spare.extend(self.current.take().map(|block| block.buffers));
        self.done_bytes = 0;
        for lane in &mut self.lanes {
            lane.block = None;
        }
        self.spare = spare;
    }

    /// Uses no more than these instructions; the output is the same.
    pub fn with_simd(mut self, simd: Simd) -> Bulk {
        self.simd = simd.min(Simd::detect());
        self
    }

    /// The number of inputs of a block. Input `k` of a run is in block `k / block_inputs`.
    pub fn block_inputs(&self) -> u64 {
        self.shared.block_inputs
    }

    /// The mean length of an input in a trial run, with what stands between inputs, in bytes; infinite if none ended.
    pub fn mean_input(&self) -> f64 {
        self.shared.mean_input
    }

    /// The mean number of bytes that a step makes.
    pub fn mean_step(&self) -> f64 {
        self.shared.mean_step
    }

    /// The number of records.
    pub fn records(&self) -> usize {
        self.shared.tables.records.len()
    }

    /// The next block.
    pub fn next_block(&mut self) -> Inputs<'_> {
        if let Some(block) = self.current.take() {
            self.spare.push(block.buffers);
        }
        let block = loop {
            if let Some(block) = self.done.remove(&self.next) {
                self.done_bytes -= block.bytes;
                break block;
            }
            self.run();
        };
        self.next += self.stride;
        let block = self.current.insert(block);
        Inputs { bytes: &block.buffers.text[..block.bytes], ends: &block.buffers.ends[..block.inputs] }
    }

    /// Takes some steps on all lanes and puts blocks away that they have finished.
    fn run(&mut self) {
        let shared = Arc::clone(&self.shared);
        for lane in 0..LANES {
            let ahead = self.done.len() >= AHEAD || self.done_bytes >= AHEAD_BYTES;
            if self.lanes[lane].block.is_none() && (!ahead || self.begin == self.next) {
                let buffers = self.spare.pop().unwrap_or_default();
                self.lanes[lane].begin(&shared, self.seed, self.begin, buffers);
                self.random.seed(lane, &mut seeds(self.seed, self.begin, 0));
                self.begin += self.stride;
            }
        }
        let mut lanes: [Lane; LANES] = std::array::from_fn(|lane| self.lanes[lane].lane(&shared));
        // SAFETY: `Work::lane` makes the room, buffers are each lane's own, and stacks hold words of these tables.
        unsafe { lanes::run(&shared.tables, &mut lanes, &mut self.random, self.simd) };
        for (work, lane) in self.lanes.iter_mut().zip(lanes) {
            let Some(number) = work.block else { continue };
            if let Some(block) = work.advance(&shared, lane, self.simd) {
                work.block = None;
                self.done_bytes += block.bytes;
                self.done.insert(number, block);
            }
        }
    }
}

impl Work {
    fn idle() -> Work {
        Work {
            block: None,
            buffers: Buffers::default(),
            bytes: 0,
            inputs: 0,
            filled: 0,
            fill_random: Generators::unseeded(),
            word: 0,
            stack: Vec::new(),
            depth: 0,
        }
    }

    fn begin(&mut self, shared: &Shared, seed: u64, block: u64, buffers: Buffers) {
        self.block = Some(block);
        self.buffers = buffers;
        (self.inputs, self.filled) = (0, 0);
        self.fill_random = Generators::seeded(&mut seeds(seed, block, 1));
        self.reset_stack(shared);
        self.bytes = shared.framing.before;
        if self.buffers.text.len() < self.bytes {
            self.buffers.text.resize(TEXT_ROOM, 0);
        }
        self.buffers.text[..self.bytes].fill(0);
    }

    fn reset_stack(&mut self, shared: &Shared) {
        if self.stack.is_empty() {
            self.stack.resize(2 * STACK_ROOM, 0);
        }
        self.word = shared.tables.start;
        self.depth = 1;
    }

    /// Makes room for the next steps. A lane that waits writes where nobody reads.
    fn lane(&mut self, shared: &Shared) -> Lane {
        if self.block.is_none() {
            (self.bytes, self.inputs) = (0, 0);
            self.reset_stack(shared);
        }
        let grow = |length: usize, room: usize| (length + room).max(2 * length);
        if self.buffers.text.len() < self.bytes + TEXT_ROOM {
            self.buffers.text.resize(grow(self.bytes, TEXT_ROOM), 0);
        }
        if self.buffers.ends.len() < self.inputs + END_ROOM {
            self.buffers.ends.resize(grow(self.inputs, END_ROOM), 0);
        }
        if self.stack.len() < self.depth + STACK_ROOM {
            self.stack.resize(grow(self.depth, STACK_ROOM), 0);
        }
        let start = self.buffers.text.as_mut_ptr();
        // SAFETY: the lengths are within the buffers, as just seen.
        unsafe {
            Lane {
                text: start.add(self.bytes),
                stack: self.stack.as_mut_ptr().add(self.depth),
                ends: self.buffers.ends.as_mut_ptr().add(self.inputs),
                word: self.word,
            }
        }
    }

    /// Takes note of what was made; the block if that is all of it.
    fn advance(&mut self, shared: &Shared, lane: Lane, simd: Simd) -> Option<Block> {
        let start = self.buffers.text.as_ptr().addr();
        self.bytes = lane.text.addr() - start;
        self.word = lane.word;
        let noted = (lane.ends.addr() - self.buffers.ends.as_ptr().addr()) / size_of::<u64>();
        for end in &mut self.buffers.ends[self.inputs..noted] {
            *end -= start as u64;
        }
        self.inputs = noted;
        self.depth = (lane.stack.addr() - self.stack.as_ptr().addr()) / size_of::<u32>();
        assert!(self.depth > 0, "a stream does not end");
        let begun = if self.inputs == 0 { 0 } else { self.buffers.ends[self.inputs - 1] };
        if self.bytes as u64 - begun > shared.max_output {
            self.complete(shared);
        }
        let wanted = shared.block_inputs as usize;
        if self.inputs < wanted {
            let whole = self.bytes / UNIT * UNIT;
            shared.fill.run(&mut self.fill_random, &mut self.buffers.text[self.filled..whole], simd);
            self.filled = whole;
            return None;
        }
        let bytes = self.buffers.ends[wanted - 1] as usize + shared.framing.behind.len();
        let whole = bytes.next_multiple_of(UNIT);
        if self.buffers.text.len() < whole {
            self.buffers.text.resize(whole, 0);
        }
        shared.fill.run(&mut self.fill_random, &mut self.buffers.text[self.filled..whole], simd);
        Some(Block { buffers: std::mem::take(&mut self.buffers), bytes, inputs: wanted })
    }

    /// Completes an input that has grown beyond its bound by the shortest text of what is open, and begins the next.
    fn complete(&mut self, shared: &Shared) {
        let tables = &shared.tables;
        self.buffers.text.truncate(self.bytes);
        let open = self.stack[1..self.depth].iter().copied().chain([self.word]).rev();
        for word in open {
            let (chunk, depth) = (word / tables.depths, word % tables.depths);
            let depth = if shared.chunks.is_free(chunk) { Depth::ANY } else { Depth::exactly(depth) };
            shared.grammar.finish(&shared.chunks.items(chunk, depth), &mut self.buffers.text);
        }
        self.buffers.ends.truncate(self.inputs);
        self.buffers.ends.push(self.buffers.text.len() as u64);
        self.inputs += 1;
        self.buffers.text.extend_from_slice(&shared.framing.behind);
        self.buffers.text.resize(self.buffers.text.len() + shared.framing.before, 0);
        self.bytes = self.buffers.text.len();
        self.reset_stack(shared);
    }
}
