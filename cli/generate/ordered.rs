//! Puts chunks that several workers make into one order, in bounded memory.
//!
//! The run is cut into *tickets*, numbered from 0; a worker holds one at a time and passes on its chunks. The ticket whose
//! *turn* it is goes straight to the output, by the hand of whichever worker finds the output free. Chunks of later tickets
//! wait in a queue with a budget; a worker that would exceed it sleeps until it is its ticket's turn or there is room.
//! There is no deadlock: workers take tickets in order, so the turn's ticket is always held by a worker that does not
//! sleep, or finished.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::chunk::{CHUNK_BYTES, Chunk};
use super::output::{End, Output};

/// What follows a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// More chunks of the same ticket.
    More,
    /// The next ticket.
    NextTicket,
    /// Nothing: the worker could not complete the ticket, so what comes later would leave a gap.
    End(Cause),
}

/// Why a worker does not complete a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It was asked to stop.
    Asked,
    /// The next input has this many bytes, which does not fit the length field.
    TooLong(usize),
}

/// The run is over; whatever else is made is in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over;

/// The output with its queue.
pub struct Ordered {
    state: Mutex<State>,
    changed: Condvar,
    budget: usize,
}

struct State {
    /// The ticket that is written now.
    turn: u64,
    /// Chunks that wait, by ticket.
    queue: BTreeMap<u64, VecDeque<(Chunk, Then)>>,
    /// The memory that they hold.
    queued: usize,
    /// Empty chunks for reuse.
    free: Vec<Chunk>,
    /// The output, unless a worker is writing.
    output: Option<Output>,
    /// Why the run is over.
    end: Option<End>,
}

impl Ordered {
    /// Orders chunks into `output`; those that wait hold at most about `budget` bytes.
    pub fn new(output: Output, budget: usize) -> Ordered {
        Ordered {
            state: Mutex::new(State {
                turn: 0,
                queue: BTreeMap::new(),
                queued: 0,
                free: Vec::new(),
                output: Some(output),
                end: None,
            }),
            changed: Condvar::new(),
            budget,
        }
    }

    /// Passes on a chunk of `ticket`, and leaves an empty one in its place.
    pub fn pass_on(&self, ticket: u64, chunk: &mut Chunk, then: Then) -> Result<(), Over> {
        let mut state = self.lock();
        loop {
            if state.end.is_some() {
                return Err(Over);
            }
            if ticket == state.turn && state.output.is_some() {
                break;
            }
            // Whoever holds the output looks into the queue before he lets go of it.
            if state.queued + chunk.capacity() <= self.budget {
                state.queued += chunk.capacity();
                let fresh = state.free.pop().unwrap_or_default();
                let full = std::mem::replace(chunk, fresh);
                state.queue.entry(ticket).or_default().push_back((full, then));
                return Ok(());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let Some(mut output) = state.output.take() else { return Err(Over) };
        // First what waits of this ticket, then this chunk, then what waits of the tickets behind it.
        let mut own = Some((std::mem::take(chunk), then));
        loop {
            let queued = state.pop_queued();
            if queued.is_some() {
                // Room in the budget.
                self.changed.notify_all();
            }
            let Some((mut next, then)) = queued.or_else(|| own.take()) else { break };
            drop(state);
            let end = output.accept(&mut next);
            state = self.lock();
            state.recycle(next);
            match (end, then) {
                (Some(end), _) => state.end = Some(end),
                (None, Then::End(Cause::Asked)) => state.end = Some(End::Stopped),
                (None, Then::End(Cause::TooLong(length))) => state.end = Some(End::TooLong(length)),
                (None, Then::NextTicket) => state.turn += 1,
                (None, Then::More) => {}
            }
            if state.end.is_some() {
                state.queue.clear();
                break;
            }
        }
        state.output = Some(output);
        *chunk = state.free.pop().unwrap_or_default();
        let over = state.end.is_some();
        drop(state);
        self.changed.notify_all();
        if over { Err(Over) } else { Ok(()) }
    }

    /// Ends the run from outside, if it is not over.
    pub fn end(&self, end: End) {
        self.lock().end.get_or_insert(end);
        self.changed.notify_all();
    }

    /// The output and how the run ended, when all workers are done; no output if a worker was lost while it wrote.
    pub fn into_parts(self) -> (Option<Output>, Option<End>) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.output, state.end)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A worker that panics ends the run; the state is consistent at every unlock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next queued chunk of the ticket whose turn it is.
    fn pop_queued(&mut self) -> Option<(Chunk, Then)> {
        let waiting = self.queue.get_mut(&self.turn)?;
        let next = waiting.pop_front();
        if waiting.is_empty() {
            self.queue.remove(&self.turn);
        }
        if let Some((chunk, _)) = &next {
            self.queued -= chunk.capacity();
        }
        next
    }

    /// Keeps a written chunk for reuse; free chunks are few and small.
    fn recycle(&mut self, mut chunk: Chunk) {
        const FREE: usize = 16;
        chunk.restart(0);
        if self.free.len() < FREE && chunk.capacity() <= 4 * CHUNK_BYTES {
            self.free.push(chunk);
        }
    }
}
