//! Threads through the network of a grammar with labels: a machine like the ordinary one, whose threads have an
//! environment of labelled parts.
//!
//! A length that stands before its part bounds it, and the bound passes down to what is called within, so callees are
//! shared by position, bound and the names that are seen. Labels are seen in one rule alone: a callee begins without
//! any. The names that it gives pass back from its end to its callers.

mod bits;
mod codes;
mod context;
mod decode;
mod encode;
mod faults;
mod kept;
mod names;
mod operations;
mod padding;
mod queue;
mod steps;
mod texts;

pub use decode::decoded;

use gramjet_compiler::ir::Ir;
use gramjet_compiler::labels::Labels;
use rustc_hash::FxHashMap;

use crate::arena::{Arena, EMPTY, ROOT, Seen, Thread};
use crate::error::{self, Attempt, Expected, Mismatch, ParseError};
use crate::lookahead::Peek;
use crate::program::Program;
use crate::{Budget, Parsed, Rejection, Work};
use codes::Reading;
use context::{Contexts, Passed};
use encode::{FAULT, OPTION, append, encode, fault_of};
use faults::Fault;
use kept::Kept;
use queue::Queue;

/// The first size of the data, in bytes, at which they are compacted.
const FIRST_COMPACTION: usize = 1 << 20;

/// The most bytes that the coded parts of a text stand for.
const MOST_DECODED: usize = 1 << 27;

/// The memory is checked once in this number of steps.
const LOOKED_AT: u64 = 1024;

/// The bytes that threads accept where they follow from other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Only the right ones.
    Strict,
    /// Wrong copies, checksums and numbers after what they measure. Numbers before it are right.
    Bound,
    /// Wrong ones everywhere. Numbers bound nothing.
    Free,
}

pub(crate) struct Threads<'p, 't> {
    program: &'p Program,
    text: &'t [u8],
    mode: Mode,
    bounds: Bounds,
    arena: Arena,
    contexts: Contexts,
    seen: Seen,
    called: Called,
    queue: Queue,
    position: usize,
    peek: Peek,
    steps: u64,
    /// The decisions that are certain.
    decisions: Vec<u8>,
    faults: Vec<Fault>,
    found: Found,
}

/// The callees that were called at this position.
#[derive(Default)]
struct Called {
    /// The frame of each callee, by what its environment follows from.
    frames: FxHashMap<(u32, Passed), u32>,
    /// The decisions of each frame of a rule with parameters that has ended where it began.
    empty: FxHashMap<u32, u32>,
}

/// The bounds of a run.
struct Bounds {
    max_memory: usize,
    max_steps: u64,
    /// The size of the data, in bytes, at which they are compacted next.
    compaction: usize,
}

/// The results of a run.
#[derive(Default)]
struct Found {
    /// The furthest position at which something was tried.
    furthest: usize,
    /// The list of the thread that derives the text.
    accepted: Option<u32>,
    /// The position whose attempts are recorded, and these attempts.
    recorded: Option<(usize, Vec<Attempt>)>,
    /// The ends of a coded text.
    reading: Reading,
}

/// Finds choice bytes for a text of a grammar with labels.
pub(crate) fn parse(
    (program, ir): (&Program, &Ir),
    text: &[u8],
    budget: &Budget,
    rejection: Rejection,
) -> Result<Parsed, ParseError> {
    // Longer texts have no decisions, though their offsets may fit.
    if let Some(most) =
        Labels::limit(ir, None).and_then(|most| usize::try_from(most).ok()).filter(|&most| most < text.len())
    {
        let expected = vec![Expected::End];
        return Err(ParseError::Mismatch(Mismatch {
            offset: most,
            found: Some(text[most]),
            expected,
            more: 0,
            within: None,
        }));
    }
    // What is coded can be written in several ways. A text that was made has the usual one.
    if program.has_codes() {
        let mut threads = Threads::new(program, text, *budget, Mode::Strict);
        threads.found.reading.is_usual = true;
        if let Ok(Some(decisions)) = threads.run() {
            let made = encode::choices(ir, &decisions, text.len().max(MOST_DECODED));
            if made.text == text {
                return Ok(Parsed { choices: made.choices, work: Work { steps: threads.steps } });
            }
        }
    }
    let mut threads = Threads::new(program, text, *budget, Mode::Strict);
    if let Some(decisions) = threads.run()? {
        // What is compressed is longer before that.
        let most = if program.has_codes() { text.len().max(MOST_DECODED) } else { text.len() };
        let made = encode::choices(ir, &decisions, most);
        if made.text == text || program.has_codes() && made.is_exact {
            return Ok(Parsed { choices: made.choices, work: Work { steps: threads.steps } });
        }
        let mut difference = encode::difference(text, &made.text);
        if program.has_codes() {
            difference.expected = vec![Expected::no_room()];
        }
        return Err(ParseError::Mismatch(difference));
    }
    let (furthest, steps) = (threads.found.furthest, threads.steps);
    drop(threads);
    if rejection == Rejection::Short {
        return Err(ParseError::Mismatch(error::mismatch(program, text, furthest, &[])));
    }
    // A message is worth some more steps, but not all that the text may cost.
    let most = steps.saturating_mul(32).saturating_add(256 * text.len() as u64 + (1 << 16));
    let max_steps = Some(budget.max_steps.map_or(most, |max_steps| max_steps.min(most)));
    let fault = [Mode::Bound, Mode::Free].into_iter().find_map(|mode| {
        let mut threads = Threads::new(program, text, Budget { max_steps, ..*budget }, mode);
        let decisions = threads.run().ok()??;
        threads.mismatch(&decisions)
    });
    if let Some(mismatch) = fault {
        return Err(ParseError::Mismatch(mismatch));
    }
    let mut threads = Threads::new(program, text, *budget, Mode::Strict);
    threads.found.recorded = Some((furthest, Vec::new()));
    threads.run()?;
    let attempts = threads.found.recorded.map_or_else(Vec::new, |(_, attempts)| attempts);
    Err(ParseError::Mismatch(error::mismatch(program, text, furthest, &attempts)))
}

/// Finds choice bytes for a text some of whose bytes that follow from other parts may be wrong. They produce the text
/// with the right ones. If there are none, returns `error`, or that of a text that would be too long.
pub(crate) fn repair(
    (program, ir): (&Program, &Ir),
    text: &[u8],
    budget: &Budget,
    mut error: ParseError,
) -> Result<Parsed, ParseError> {
    let most = text.len().saturating_mul(16).saturating_add(1 << 16).max(budget.max_memory / 64);
    let most = if program.has_codes() { most.max(MOST_DECODED) } else { most };
    for mode in [Mode::Bound, Mode::Free] {
        let mut threads = Threads::new(program, text, *budget, mode);
        let Ok(Some(decisions)) = threads.run() else { continue };
        let steps = threads.steps;
        drop(threads);
        let made = encode::choices(ir, &decisions, most);
        if made.text.len() > most {
            error = ParseError::Memory { offset: text.len(), limit: budget.max_memory };
        } else if made.is_exact {
            // Otherwise the right bytes leave no room for parts that were right.
            return Ok(Parsed { choices: made.choices, work: Work { steps } });
        }
    }
    Err(error)
}

impl<'p, 't> Threads<'p, 't> {
    fn new(program: &'p Program, text: &'t [u8], budget: Budget, mode: Mode) -> Threads<'p, 't> {
        Threads::of_callee(program, text, budget, mode, program.start)
    }

    /// Returns threads through a callee, without any labels.
    fn of_callee(program: &'p Program, text: &'t [u8], budget: Budget, mode: Mode, callee: u32) -> Threads<'p, 't> {
        let mut arena = Arena::default();
        let root = arena.add_frame(callee, 0);
        debug_assert_eq!(root, ROOT);
        let mut contexts = Contexts::new(program.operations.kinds.iter().map(|kind| kind.is_unique).collect());
        let bound = text.len() as u32;
        let passed = Passed { bound, names: 0, given: Kept::NONE };
        let context = contexts.of_callee(passed);
        let entry = program.callees[callee as usize].entry;
        let first = Thread { state: entry, count: context, frame: root, list: EMPTY };
        Threads {
            program,
            text,
            mode,
            bounds: Bounds {
                max_memory: budget.max_memory,
                max_steps: budget.max_steps.unwrap_or(Budget::steps_for(text.len())),
                compaction: FIRST_COMPACTION.min(budget.max_memory / 4),
            },
            arena,
            contexts,
            seen: Seen::new(),
            called: Called { frames: FxHashMap::from_iter([((callee, passed), root)]), empty: FxHashMap::default() },
            queue: Queue::new(first),
            position: 0,
            peek: None,
            steps: 0,
            decisions: Vec::new(),
            faults: Vec::new(),
            found: Found::default(),
        }
    }

    /// Returns the decisions, encoded; `Ok(None)` if the text does not conform.
    fn run(&mut self) -> Result<Option<Vec<u8>>, ParseError> {
        let start = &self.program.callees[self.program.start as usize];
        if self.text.is_empty() && start.nullable && self.found.recorded.is_none() {
            if start.zeros > self.bounds.max_memory as u64 {
                return Err(self.out_of_memory());
            }
            return Ok(Some(vec![0; start.zeros as usize]));
        }
        self.follow()?;
        let Some(list) = self.found.accepted else { return Ok(None) };
        self.decide(&[list])?;
        Ok(Some(std::mem::take(&mut self.decisions)))
    }

    fn out_of_memory(&self) -> ParseError {
        ParseError::Memory { offset: self.position, limit: self.bounds.max_memory }
    }

    fn follow(&mut self) -> Result<(), ParseError> {
        while let Some((position, mut threads)) = self.queue.pop() {
            if self.found.recorded.as_ref().is_some_and(|&(recorded, _)| recorded < position) {
                return Ok(());
            }
            self.position = position;
            self.found.furthest = self.found.furthest.max(position);
            if position > 0 {
                self.called.frames.clear();
                self.called.empty.clear();
            }
            if self.arena.size() + self.contexts.size() > self.bounds.compaction {
                self.compact(&mut threads)?;
            }
            self.peek = self.text.get(position).copied();
            self.seen.clear();
            for &thread in &threads {
                self.push(thread.state, thread);
                while let Some(thread) = self.queue.open.pop() {
                    self.step(thread)?;
                }
            }
            self.queue.give_back(threads);
        }
        Ok(())
    }

    fn compact(&mut self, threads: &mut [Thread]) -> Result<(), ParseError> {
        // All decisions on the way to the only thread are certain.
        if let ([thread], true) = (&mut *threads, self.queue.is_empty())
            && let Some(edges) = self.arena.way_down(thread)
        {
            let take = |list: &mut u32| std::mem::replace(list, EMPTY);
            let mut lists: Vec<u32> =
                edges.iter().map(|&edge| take(&mut self.arena.edges[edge as usize].list)).collect();
            lists.push(take(&mut thread.list));
            self.decide(&lists)?;
        }
        let waiting = self.queue.waiting_mut();
        self.arena.compact(threads.iter_mut().chain(waiting), encode);
        let waiting = self.queue.waiting_mut();
        let of_threads = threads.iter_mut().chain(waiting).map(|thread| &mut thread.count);
        let of_edges = self.arena.edges.iter_mut().map(|edge| &mut edge.count);
        self.contexts.compact(of_threads.chain(of_edges));
        let size = self.arena.size() + self.contexts.size();
        let room = self.room();
        if size > room / 6 || u32::try_from(self.arena.packed.len()).is_err() {
            return Err(self.out_of_memory());
        }
        self.bounds.compaction = (size * 2).max(FIRST_COMPACTION).min(room / 4);
        Ok(())
    }

    /// Returns the memory left by the decisions that are certain.
    fn room(&self) -> usize {
        self.bounds.max_memory.saturating_sub(self.decisions.capacity())
    }

    /// Returns the memory of the threads and of the data that they share, in bytes, about.
    fn memory(&self) -> usize {
        self.arena.capacity()
            + self.seen.size()
            + self.contexts.size()
            + self.queue.size()
            + self.found.reading.size()
            + self.faults.capacity() * 2 * size_of::<Fault>()
    }

    /// Appends lists of decisions to those that are certain.
    fn decide(&mut self, lists: &[u32]) -> Result<(), ParseError> {
        let fits = self.arena.write(lists, self.bounds.max_memory, &mut self.decisions, encode);
        if fits { Ok(()) } else { Err(self.out_of_memory()) }
    }

    /// Returns true if this is the position at which all attempts are recorded.
    #[inline]
    fn records(&self) -> bool {
        self.found.recorded.as_ref().is_some_and(|&(position, _)| position == self.position)
    }

    fn record(&mut self, attempt: Attempt) {
        if let Some((_, attempts)) = &mut self.found.recorded {
            attempts.push(attempt);
        }
    }

    /// Returns true if a state may go on here.
    #[inline]
    fn allows(&self, state: u32) -> bool {
        self.program.lookahead.allows(state, self.peek) || self.records()
    }

    /// Adds a thread to those to be followed, from `state` on, if the next byte allows that.
    #[inline]
    fn push(&mut self, state: u32, thread: Thread) {
        if self.allows(state) {
            self.queue.open.push(Thread { state, ..thread });
        }
    }

    /// Lets a thread go on at `state` after the bytes that it reads, if they are within its bound.
    fn read(&mut self, len: usize, state: u32, thread: Thread) {
        let position = self.position + len;
        if len == 0 {
            self.push(state, thread);
        } else if position <= self.bound(thread) {
            self.queue.wait(position, Thread { state, ..thread });
        }
    }

    fn bound(&self, thread: Thread) -> usize {
        self.contexts.get(thread.count).bound as usize
    }

    fn choose(&mut self, thread: Thread, option: u32) -> Thread {
        Thread { list: self.arena.append(thread.list, OPTION, option), ..thread }
    }

    fn count_steps(&mut self, steps: u64) -> Result<(), ParseError> {
        let before = self.steps;
        self.steps += steps;
        if self.steps > self.bounds.max_steps {
            return Err(ParseError::Steps { offset: self.position, steps: self.bounds.max_steps });
        }
        if before / LOOKED_AT < self.steps / LOOKED_AT && self.memory() > self.room() / 8 * 5 {
            return Err(self.out_of_memory());
        }
        Ok(())
    }

    /// Returns the first fault of the thread that derives the text: of lengths and copies before checksums, which often
    /// follow from the former.
    fn mismatch(&self, decisions: &[u8]) -> Option<Mismatch> {
        let faults: Vec<&Fault> = fault_of(decisions).filter_map(|fault| self.faults.get(fault as usize)).collect();
        let fault = faults.iter().find(|fault| !fault.is_sum(self.program)).or(faults.first())?;
        Some(fault.mismatch(self.program, self.text))
    }

    /// Notes that bytes are not the right ones.
    fn fault(&mut self, list: u32, fault: Fault) -> u32 {
        append(&mut self.faults, fault);
        self.arena.append(list, FAULT, self.faults.len() as u32 - 1)
    }
}
