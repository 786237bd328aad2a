//! Blocks of inputs: which lane makes which block, and in which order they are handed out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use gramjet::Limits;
use gramjet::rt::random::{Generators, LANES};
use gramjet::rt::simd::Simd;
use gramjet_compiler::Compiled;

use super::fill::Fill;
use super::frames::Grammar;
use super::lanes::{self, Ends, GROUPS, Group, STEPS};
use super::plan;
use super::search::{self, Budget};
use super::tables::Tables;
use super::unfold::Stream;
use super::work::{Block, Shared, Work, seeds};

/// The bytes around each input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes before each input, left zero.
    pub before: usize,
    /// The text after each input.
    pub behind: Vec<u8>,
}

/// Effort that is made for the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The tables have at most this many records of 64 bytes. How many of them are used often, and should therefore
    /// stay in a cache, does not depend on this: about 16 384, for any grammar that has as many.
    pub records: usize,
    /// Number of beginnings that are made in all attempts, about: the best of several tables is taken.
    pub work: usize,
}

impl Effort {
    /// A small part of the work, unless even the smallest tables are large: it shows the speed for a grammar.
    pub const SKETCH: Effort = Effort { records: 1 << 16, work: 1 << 14 };

    /// Returns `factor` times the records and the work of the default.
    pub fn times(factor: u32) -> Effort {
        let (factor, Effort { records, work }) = (factor.max(1) as usize, Effort::default());
        Effort { records: records.saturating_mul(factor).min(MAX_RECORDS), work: work.saturating_mul(factor) }
    }
}

/// With more records than this, tables would be read from memory.
const MAX_RECORDS: usize = 1 << 20;

impl Default for Effort {
    /// Returns an effort of some 50 ms, and 8 MiB of records at most: about 1 MiB, but for grammars with very many
    /// states.
    fn default() -> Effort {
        Effort { records: 1 << 17, work: 70_000 }
    }
}

/// Reason why a grammar cannot be produced in bulk; the other engines take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInBulk {
    /// With a limit on the length, probabilities depend on all that was drawn before.
    #[error("a limit on the length cannot be kept in bulk")]
    MaxLen,
    /// The depth left does not fit in a word together with the places.
    #[error("the depth limit is too large for the bulk engine's tables")]
    MaxDepth,
    /// A rule has no pool.
    #[error("the depth limit cannot be kept for this grammar")]
    NoPool,
    /// The tables would exceed the budget.
    #[error("the grammar is too large for the bulk engine's tables")]
    TooLarge,
    /// Bounds on choice bytes need an engine that replays.
    #[error("a bound on the choice bytes cannot be kept in bulk")]
    MaxChoices,
    /// No input ended in a trial run.
    #[error("its inputs are too long to be made side by side")]
    TooLong,
    /// The text between inputs does not fit into a record.
    #[error("what stands between inputs is too long")]
    Framing,
    /// Bytes follow from labelled parts.
    #[error(
        "in this grammar bytes follow from labelled parts or names, or are coded, which the bulk engine cannot do yet"
    )]
    Labels,
}

/// The bytes of a block of inputs, about: the blocks of all lanes should stay in a second-level cache together with the
/// tables.
const BLOCK_BYTES: f64 = 16.0 * 1024.0;
/// The most steps that a block takes, about.
const BLOCK_STEPS: f64 = 16.0 * 1024.0;
/// Inputs of a block at most; blocks that differ in size by little keep the lanes together.
const MAX_BLOCK_INPUTS: u64 = 4096;
/// From this depth left on, depths are not distinguished.
const ZONES: u32 = 12;
/// A lane's steps are taken this number of times between two looks at whether to stop.
const RUNS: u32 = 16;
/// The greatest number of blocks that are finished before their turn, and of their bytes.
const AHEAD: usize = 64 * GROUPS * LANES;
const AHEAD_BYTES: usize = 1 << 25;

/// Makes inputs in bulk.
pub struct Bulk {
    shared: Arc<Shared>,
    simd: Simd,
    seed: u64,
    /// The block that [`Bulk::next_block`] begins next, and the blocks that are begun and not handed out, in order.
    counter: u64,
    begun: VecDeque<u64>,
    lanes: Vec<Work>,
    random: [Generators; GROUPS],
    ends: Box<Ends>,
    done: BTreeMap<u64, Block>,
    done_bytes: usize,
    /// Number of steps that were taken, and of the bytes that they made.
    runs: u64,
    made: u64,
    spare: Vec<Block>,
    current: Option<Block>,
    /// Number of its inputs that were copied by [`Bulk::fill`].
    handed_out: usize,
}

/// Inputs, whole, in order.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'b> {
    /// All bytes, including the text between inputs.
    pub bytes: &'b [u8],
    /// The end of each input, without the text after it.
    pub ends: &'b [usize],
}

impl Bulk {
    /// Makes the tables.
    ///
    /// # Errors
    ///
    /// If the grammar or the limits do not fit this engine.
    pub fn new(compiled: &Compiled, limits: Limits, framing: Framing, effort: Effort) -> Result<Bulk, NotInBulk> {
        if compiled.lowered.has_labels() {
            return Err(NotInBulk::Labels);
        }
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
        let budget = Budget { records: effort.records.clamp(1, MAX_RECORDS), work: effort.work };
        let (plan, chunks) = search::plan(&stream, budget).map_err(|_| NotInBulk::TooLarge)?;
        let tables = Tables::new(&plan, &chunks).map_err(|_| NotInBulk::TooLarge)?;
        let (mean_step, steps) = plan::figures(&plan, &chunks);
        let mean_input = mean_step * steps;
        // Neither is a number where no input ended in the trial run.
        let inputs = (BLOCK_BYTES / mean_input.max(1.0)).min(BLOCK_STEPS / steps);
        let inputs = if steps.is_finite() && mean_input.is_finite() { inputs } else { 1.0 };
        let block_inputs = if inputs >= 2.0 { (inputs as u64).next_power_of_two().min(MAX_BLOCK_INPUTS) } else { 1 };
        let fill = Fill::new(grammar.codes());
        let mut grammar = grammar;
        grammar.forget_options();
        let (max_output, max_steps) = (limits.output(), limits.choices());
        let shared = Shared {
            grammar,
            chunks,
            tables,
            fill,
            framing,
            block_inputs,
            max_output,
            max_steps,
            mean_input,
            mean_step,
        };
        Ok(Bulk::over(Arc::new(shared), Simd::detect()))
    }

    fn over(shared: Arc<Shared>, simd: Simd) -> Bulk {
        let mut bulk = Bulk {
            shared,
            simd,
            seed: 0,
            counter: 0,
            begun: VecDeque::new(),
            lanes: (0..GROUPS * LANES).map(|_| Work::idle()).collect(),
            random: std::array::from_fn(|_| Generators::unseeded()),
            ends: Box::new([0; size_of::<Ends>() / size_of::<u32>()]),
            done: BTreeMap::new(),
            done_bytes: 0,
            runs: 0,
            made: 0,
            spare: Vec::new(),
            current: None,
            handed_out: 0,
        };
        bulk.restart(0, 0);
        bulk
    }

    /// Returns another producer with the same tables.
    pub fn fork(&self) -> Bulk {
        Bulk::over(Arc::clone(&self.shared), self.simd)
    }

    /// Goes on with the run of `seed` from the block `first` on.
    pub fn restart(&mut self, seed: u64, first: u64) {
        (self.seed, self.counter) = (seed, first);
        self.begun.clear();
        self.spare.extend(std::mem::take(&mut self.done).into_values());
        self.spare.extend(self.current.take());
        self.done_bytes = 0;
        for lane in &mut self.lanes {
            lane.block = None;
        }
    }

    /// Uses no more than these instructions; the output is the same.
    pub fn with_simd(mut self, simd: Simd) -> Bulk {
        self.simd = simd.min(Simd::detect());
        self
    }

    /// Returns the number of inputs of a block. Input `k` of a run is in block `k / block_inputs`.
    pub fn block_inputs(&self) -> u64 {
        self.shared.block_inputs
    }

    /// Returns the mean length of an input in a trial run, including the text between inputs, in bytes; infinite if
    /// none ended.
    pub fn mean_input(&self) -> f64 {
        self.shared.mean_input
    }

    /// Returns the mean number of bytes that a step makes.
    pub fn mean_step(&self) -> f64 {
        self.shared.mean_step
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.shared.tables.records.len()
    }

    /// Returns the size of the tables in bytes.
    pub fn table_bytes(&self) -> usize {
        size_of_val(&*self.shared.tables.records) + size_of_val(&*self.shared.tables.rows)
    }

    /// Returns the next block.
    pub fn next_block(&mut self) -> Inputs<'_> {
        let mut counter = self.counter;
        let mut count = || {
            counter += 1;
            Some(counter - 1)
        };
        let block = self.make_next(&mut count, &|| false).expect("there is always a next block").1;
        self.counter = counter;
        self.spare.extend(self.current.take());
        let block = self.current.insert(block);
        self.handed_out = block.ends.len();
        Inputs { bytes: &block.text, ends: &block.ends }
    }

    /// Fills `buffer` with as many of the next inputs as it has room for, each with its framing. Appends the end of
    /// each, without the text after it, to `ends`. Returns how many bytes are used; 0 if no input fits.
    ///
    /// Inputs are copied from blocks; [`Bulk::next_block`] lends them.
    pub fn fill(&mut self, buffer: &mut [u8], ends: &mut Vec<usize>) -> usize {
        let between = self.shared.framing.behind.len();
        let mut used = 0;
        loop {
            if self.current.as_ref().is_none_or(|block| self.handed_out == block.ends.len()) {
                self.next_block();
                self.handed_out = 0;
            }
            let Some(block) = &self.current else { return used };
            let start = if self.handed_out == 0 { 0 } else { block.ends[self.handed_out - 1] + between };
            let room = start + (buffer.len() - used);
            let fit = block.ends.partition_point(|&end| end + between <= room).max(self.handed_out);
            if fit > self.handed_out {
                let behind = block.ends[fit - 1] + between;
                buffer[used..used + behind - start].copy_from_slice(&block.text[start..behind]);
                ends.extend(block.ends[self.handed_out..fit].iter().map(|end| used + end - start));
                used += behind - start;
                self.handed_out = fit;
            }
            if self.handed_out < block.ends.len() {
                return used;
            }
        }
    }

    /// Returns the next of the blocks whose numbers `more` hands out, which must ascend: its number, its bytes with the
    /// framing, and where each input ends without the text after it. The memory of `text` and `ends` is used again.
    /// `None` if there are no more.
    ///
    /// Some blocks are made side by side, so `more` is asked ahead. `None` also soon after `stop` has become true.
    pub fn take_block(
        &mut self,
        more: &mut dyn FnMut() -> Option<u64>,
        stop: &dyn Fn() -> bool,
        text: &mut Vec<u8>,
        ends: &mut Vec<usize>,
    ) -> Option<u64> {
        let (number, mut block) = self.make_next(more, stop)?;
        std::mem::swap(&mut block.text, text);
        std::mem::swap(&mut block.ends, ends);
        self.spare.push(block);
        Some(number)
    }

    /// Takes some steps, and drops their blocks; returns the number of bytes made. [`Bulk::restart`] forgets them.
    pub(crate) fn make_some(&mut self) -> u64 {
        let (mut counter, before, runs) = (self.counter, self.made, self.runs);
        let mut more = || {
            counter += 1;
            Some(counter - 1)
        };
        // Blocks that are finished already are handed out without a step.
        while self.runs == runs {
            let looks = std::cell::Cell::new(0);
            // Not at the first look, so that something is made.
            let stop = || looks.replace(looks.get() + 1) > 0;
            if let Some((_, block)) = self.make_next(&mut more, &stop) {
                self.spare.push(block);
            }
        }
        self.counter = counter;
        self.made - before
    }

    fn make_next(&mut self, more: &mut dyn FnMut() -> Option<u64>, stop: &dyn Fn() -> bool) -> Option<(u64, Block)> {
        for runs in 0u32.. {
            if runs % RUNS == 0 && stop() {
                return None;
            }
            self.begin(more);
            let &number = self.begun.front()?;
            if let Some(block) = self.done.remove(&number) {
                self.begun.pop_front();
                self.done_bytes -= block.text.len();
                return Some((number, block));
            }
            self.run();
        }
        None
    }

    /// Gives blocks to the lanes that have none.
    fn begin(&mut self, more: &mut dyn FnMut() -> Option<u64>) {
        for lane in 0..LANES * lanes::groups_at_work(self.simd) {
            let is_ahead = self.done.len() >= AHEAD || self.done_bytes >= AHEAD_BYTES;
            if self.lanes[lane].block.is_some() || is_ahead && !self.begun.is_empty() {
                continue;
            }
            let Some(number) = more() else { break };
            debug_assert!(self.begun.back().is_none_or(|&last| last < number));
            self.begun.push_back(number);
            let block = self.spare.pop().unwrap_or_default();
            self.lanes[lane].begin(&self.shared, self.seed, number, block);
            self.random[lane / LANES].seed(lane % LANES, &mut seeds(self.seed, number, 0));
        }
    }

    /// Takes some steps on all lanes and puts blocks away that they have finished.
    fn run(&mut self) {
        self.runs += 1;
        let mut groups = [Group::nowhere(); GROUPS];
        // Not another `Arc`: all threads would write to its count.
        let shared = &*self.shared;
        let at_work = LANES * lanes::groups_at_work(self.simd);
        for (lane, work) in self.lanes[..at_work].iter_mut().enumerate() {
            work.place(shared, &mut groups[lane / LANES], lane % LANES);
        }
        // SAFETY: `Work::place` makes the room, buffers are each lane's own, and stacks hold words of these tables.
        let noted = unsafe { lanes::run(&shared.tables, &mut groups, &mut self.ends, &mut self.random, self.simd) };
        self.note(noted);
        let shared = &*self.shared;
        for (lane, work) in self.lanes[..at_work].iter_mut().enumerate() {
            let Some(number) = work.block else { continue };
            self.made += (groups[lane / LANES].text[lane % LANES].addr() - work.end().addr()) as u64;
            if let Some(block) = work.advance(shared, &groups[lane / LANES], lane % LANES, self.simd) {
                work.block = None;
                self.done_bytes += block.text.len();
                self.done.insert(number, block);
            }
        }
    }
}

impl Bulk {
    /// Puts the ends that steps have noted where they belong.
    fn note(&mut self, noted: usize) {
        // Where each lane's text began, and where its next end goes.
        let mut places = [(0usize, std::ptr::null_mut::<usize>()); GROUPS * LANES];
        for (place, work) in places.iter_mut().zip(&mut self.lanes) {
            let ends = &mut work.buffers.ends;
            ends.reserve(STEPS);
            *place = (work.buffers.text.len(), ends.spare_capacity_mut().as_mut_ptr().cast());
        }
        for &end in &self.ends[..noted] {
            let (start, place) = &mut places[(end >> 16) as usize % (GROUPS * LANES)];
            // SAFETY: a lane notes at most one end a step, and there is room for that many.
            unsafe {
                place.write(*start + (end & 0xFFFF) as usize);
                *place = place.add(1);
            }
        }
        for ((_, place), work) in places.iter().zip(&mut self.lanes) {
            let ends = &mut work.buffers.ends;
            let count = (place.addr() - ends.as_ptr().addr()) / size_of::<usize>();
            // SAFETY: `count` ends were written.
            unsafe { ends.set_len(count) };
        }
    }
}

impl std::fmt::Debug for Bulk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let records = self.records();
        f.debug_struct("Bulk").field("records", &records).field("simd", &self.simd).finish_non_exhaustive()
    }
}
