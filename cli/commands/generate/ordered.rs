//! Puts chunks that several workers make into one order, in bounded memory.
//!
//! The run is cut into *tickets*, numbered from 0; a worker holds one at a time and passes on its chunks. The ticket
//! whose *turn* it is goes straight to the output, by the hand of whichever worker finds the output free. Chunks of
//! later tickets wait in a queue with a budget; a worker that would exceed it sleeps until it is its ticket's turn or
//! there is room. There is no deadlock: workers take tickets in order, so the turn's ticket is held by a worker that is
//! awake, or that is woken as soon as the output is free. Others are woken one by one as room is made, the most urgent
//! first: to wake them all for each chunk would cost many workers most of their time.
//!
//! Where processors are left over a *writer* has the output for itself, and workers only queue. Of the ticket whose
//! turn it is one chunk may be queued beyond the budget, so there is always something to write. One that is larger than
//! the budget by itself, as a single long input can be, waits until nothing is written, so there are no two of them but
//! for those that are made.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use super::counted::{Counted, End};
use crate::output::chunk::Chunk;
use crate::output::separator::InputTooLong;

/// The next thing a ticket brings after a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// More chunks of the same ticket.
    More,
    /// The next ticket.
    NextTicket,
    /// Nothing: the worker could not complete the ticket, so what comes later would leave a gap.
    End(Cause),
}

/// Reasons why a worker does not complete a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Request to stop.
    Asked,
    /// The next input cannot be part of the output.
    TooLong(InputTooLong),
}

/// The run is over; further chunks are useless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over;

/// The output with its queue.
pub struct Ordered {
    state: Mutex<State>,
    budget: usize,
    chunk_bytes: usize,
}

struct State {
    /// The ticket that is written now.
    turn: u64,
    /// Chunks that wait, by ticket.
    queue: BTreeMap<u64, VecDeque<(Chunk, Then)>>,
    /// The memory that they hold.
    queued: usize,
    /// Workers that sleep, by ticket.
    sleeping: BTreeMap<u64, Thread>,
    /// Empty chunks for reuse, by worker.
    free: Vec<Vec<Chunk>>,
    /// The output, unless a thread is writing.
    output: Option<Counted>,
    /// The thread that does nothing but write, if there is one.
    writer: Option<Thread>,
    /// No more chunks will come.
    closed: bool,
    /// Reason why the run is over.
    end: Option<End>,
}

impl Ordered {
    /// Orders chunks of about `chunk_bytes` into `output`; those that wait hold at most `budget` bytes.
    pub fn new(output: Counted, budget: usize, chunk_bytes: usize) -> Ordered {
        Ordered {
            state: Mutex::new(State {
                turn: 0,
                queue: BTreeMap::new(),
                queued: 0,
                sleeping: BTreeMap::new(),
                free: Vec::new(),
                output: Some(output),
                writer: None,
                closed: false,
                end: None,
            }),
            budget,
            chunk_bytes,
        }
    }

    /// Returns the first chunk of another worker.
    pub fn new_chunk(&self) -> Chunk {
        let mut state = self.lock();
        state.free.push(Vec::new());
        self.new_chunk_of(state.free.len() - 1)
    }

    /// Returns an empty chunk with room for what a chunk usually has.
    fn new_chunk_of(&self, worker: usize) -> Chunk {
        Chunk { bytes: Vec::with_capacity(self.chunk_bytes + self.chunk_bytes / 4), worker, ..Chunk::default() }
    }

    /// Passes on a chunk of `ticket`, and leaves an empty one in its place.
    pub fn pass_on(&self, ticket: u64, chunk: &mut Chunk, then: Then) -> Result<(), Over> {
        let mut state = self.lock();
        loop {
            if state.end.is_some() {
                return Err(Over);
            }
            let has_turn = ticket == state.turn;
            if has_turn && state.output.is_some() && state.writer.is_none() {
                break;
            }
            // A thread that holds the output looks into the queue before it lets go of it.
            let only_one = has_turn && state.writer.is_some() && !state.queue.contains_key(&ticket);
            let has_room = chunk.capacity() <= self.budget || state.output.is_some();
            if state.queued + chunk.capacity() <= self.budget || only_one && has_room {
                state.queued += chunk.capacity();
                let fresh = state.free_chunk(chunk.worker).unwrap_or_else(|| self.new_chunk_of(chunk.worker));
                let full = std::mem::replace(chunk, fresh);
                state.queue.entry(ticket).or_default().push_back((full, then));
                if state.queued < self.budget {
                    state.wake_first();
                }
                if let (true, Some(writer)) = (has_turn, &state.writer) {
                    writer.unpark();
                }
                return Ok(());
            }
            state.sleeping.insert(ticket, thread::current());
            drop(state);
            // A thread that is woken between the two lines does not sleep at all.
            thread::park();
            state = self.lock();
            state.sleeping.remove(&ticket);
        }
        if state.queued < self.budget {
            state.wake_first();
        }
        let worker = chunk.worker;
        let mut state = self.write(state, Some((std::mem::take(chunk), then)));
        *chunk = state.free_chunk(worker).unwrap_or_else(|| self.new_chunk_of(worker));
        if state.end.is_some() { Err(Over) } else { Ok(()) }
    }

    /// Writes all chunks in their turn until [`Ordered::close`] or the end of the run. It is the loop of a writer.
    pub fn write_all(&self) {
        let mut state = self.lock();
        state.writer = Some(thread::current());
        while state.end.is_none() {
            if state.output.is_some() && state.queue.contains_key(&state.turn) {
                state = self.write(state, None);
            } else if state.closed {
                return;
            } else {
                drop(state);
                thread::park();
                state = self.lock();
            }
        }
    }

    /// Says that no more chunks will come.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        if let Some(writer) = &state.writer {
            writer.unpark();
        }
    }

    /// Writes the queued chunks of the ticket whose turn it is, then `own`, the next chunk of that ticket, then the
    /// queued chunks of the following tickets.
    fn write<'a>(&'a self, mut state: MutexGuard<'a, State>, mut own: Option<(Chunk, Then)>) -> MutexGuard<'a, State> {
        let Some(mut output) = state.output.take() else { return state };
        loop {
            let queued = state.pop_queued();
            if queued.is_some() {
                state.wake_first();
            }
            let Some((mut next, then)) = queued.or_else(|| own.take()) else { break };
            drop(state);
            let end = output.accept(&mut next);
            state = self.lock();
            state.recycle(next);
            match (end, then) {
                (Some(end), _) => state.end = Some(end),
                (None, Then::End(Cause::Asked)) => state.end = Some(End::Stopped),
                (None, Then::End(Cause::TooLong(reason))) => state.end = Some(End::TooLong(reason)),
                (None, Then::NextTicket) => state.turn += 1,
                (None, Then::More) => {}
            }
            if state.end.is_some() {
                state.queue.clear();
                state.wake_all();
                break;
            }
        }
        state.output = Some(output);
        // A writer that has just come may have found it taken.
        if let Some(writer) = &state.writer {
            writer.unpark();
        }
        let turn = state.turn;
        if let Some(thread) = state.sleeping.get(&turn) {
            thread.unpark();
        }
        state
    }

    /// Ends the run from outside, if it is not over.
    pub fn end(&self, end: End) {
        let mut state = self.lock();
        state.end.get_or_insert(end);
        state.wake_all();
    }

    /// Takes the output away if no thread is writing, and says how the run ended, if it has.
    pub fn take_idle_output(&self) -> Option<(Counted, Option<End>)> {
        let mut state = self.lock();
        let output = state.output.take()?;
        Some((output, state.end.take()))
    }

    /// Takes the output away, and says how the run ended. The output is missing while a thread writes, or if the thread
    /// that wrote was lost.
    pub fn take_output(&self) -> (Option<Counted>, Option<End>) {
        let mut state = self.lock();
        (state.output.take(), state.end.take())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A worker that panics ends the run; the state is consistent at every unlock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the next queued chunk of the ticket whose turn it is.
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

    /// Wakes the worker whose turn comes next among those that sleep.
    fn wake_first(&self) {
        if let Some(thread) = self.sleeping.values().next() {
            thread.unpark();
        }
    }

    fn wake_all(&self) {
        self.sleeping.values().chain(&self.writer).for_each(Thread::unpark);
    }

    /// Keeps a written chunk for reuse. Free chunks have waited before, so there are no more of them than the budget
    /// allows, and one per worker.
    fn recycle(&mut self, mut chunk: Chunk) {
        chunk.restart(0);
        if let Some(free) = self.free.get_mut(chunk.worker) {
            free.push(chunk);
        }
    }

    /// Returns an empty chunk that this worker has filled before.
    fn free_chunk(&mut self, worker: usize) -> Option<Chunk> {
        self.free.get_mut(worker)?.pop()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::*;
    use crate::output::sink::{Sink, SinkError};
    use crate::progress::Progress;

    /// Keeps what it is given, up to a number of bytes.
    struct Memory {
        bytes: Arc<Mutex<Vec<u8>>>,
        room: usize,
    }

    impl Sink for Memory {
        fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
            let mut bytes = self.bytes.lock().unwrap();
            let written = chunk.bytes.len().min(self.room - bytes.len());
            bytes.extend(&chunk.bytes[..written]);
            if bytes.len().is_multiple_of(7) {
                std::thread::yield_now();
            }
            if written < chunk.bytes.len() {
                return Err(SinkError { written, source: std::io::ErrorKind::StorageFull.into() });
            }
            Ok(())
        }

        fn finish(&mut self, bytes: u64) -> std::io::Result<()> {
            assert!(bytes <= self.bytes.lock().unwrap().len() as u64);
            Ok(())
        }

        fn cut_to(&mut self, bytes: u64) {
            self.bytes.lock().unwrap().truncate(bytes as usize);
        }

        fn description(&self) -> String {
            "memory".to_string()
        }
    }

    /// Returns the inputs of a ticket: some hundred bytes, in chunks of some dozen.
    fn chunks(ticket: u64) -> Vec<Vec<String>> {
        (0..ticket % 5)
            .map(|chunk| (0..ticket * 7 % 11).map(|input| format!("{ticket}.{chunk}.{input};")).collect())
            .collect()
    }

    fn run(
        workers: usize,
        tickets: u64,
        budget: usize,
        room: usize,
        wanted: Option<u64>,
        writer: bool,
    ) -> (String, u64, Option<End>) {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Memory { bytes: Arc::clone(&bytes), room };
        let ordered = Ordered::new(Counted::new(Box::new(sink), wanted, Progress::hidden()), budget, 64);
        let next = AtomicU64::new(0);
        let work = || {
            let mut chunk = Chunk::default();
            loop {
                let ticket = next.fetch_add(1, Ordering::Relaxed);
                if ticket >= tickets {
                    return;
                }
                for inputs in chunks(ticket) {
                    chunk.restart(0);
                    for input in inputs {
                        chunk.bytes.extend(input.bytes());
                        chunk.ends.push(chunk.bytes.len());
                    }
                    if ordered.pass_on(ticket, &mut chunk, Then::More).is_err() {
                        return;
                    }
                }
                chunk.restart(0);
                let then = if ticket == 900 { Then::End(Cause::Asked) } else { Then::NextTicket };
                if ordered.pass_on(ticket, &mut chunk, then).is_err() {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            let writing = writer.then(|| scope.spawn(|| ordered.write_all()));
            let working: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            working.into_iter().for_each(|worker| worker.join().unwrap());
            ordered.close();
            writing.into_iter().for_each(|writer| writer.join().unwrap());
        });
        let (output, end) = ordered.take_output();
        let mut output = output.unwrap();
        output.finish().unwrap();
        assert_eq!(output.written().bytes, bytes.lock().unwrap().len() as u64);
        let text = String::from_utf8(bytes.lock().unwrap().clone()).unwrap();
        (text, output.written().inputs, end)
    }

    /// Numbers of workers, with and without a writer.
    const WORKERS: [(usize, bool); 5] = [(1, false), (2, false), (5, false), (1, true), (3, true)];

    #[test]
    fn the_order_is_that_of_one_worker() {
        let expected: String = (0..500).flat_map(chunks).flatten().collect();
        for (workers, writer) in WORKERS {
            for budget in [0, 300, 1 << 20] {
                let (text, inputs, end) = run(workers, 500, budget, usize::MAX, None, writer);
                assert!(text == expected && end.is_none());
                assert_eq!(inputs, expected.matches(';').count() as u64);
            }
        }
    }

    #[test]
    fn a_run_ends_at_its_bytes_its_stop_or_its_failure_and_at_an_input() {
        let all: String = (0..=900).flat_map(chunks).flatten().collect();
        for (workers, writer) in WORKERS {
            let (text, _, end) = run(workers, 2000, 500, usize::MAX, None, writer);
            assert!(text == all && matches!(end, Some(End::Stopped)));

            let (text, _, end) = run(workers, 2000, 500, usize::MAX, Some(5003), writer);
            let expected = 5003 + all[5002..].find(';').unwrap();
            assert!(text == all[..expected] && matches!(end, Some(End::Full)));

            let (text, inputs, end) = run(workers, 2000, 500, 5003, None, writer);
            let expected = all[..5003].rfind(';').unwrap() + 1;
            assert!(text == all[..expected] && matches!(end, Some(End::Failed(_))));
            assert_eq!(inputs, text.matches(';').count() as u64);

            let (text, inputs, end) = run(workers, 2000, 500, usize::MAX, Some(0), writer);
            assert!(text.is_empty() && inputs == 0 && matches!(end, Some(End::Full)));
        }
    }

    #[test]
    fn a_run_can_be_ended_from_outside() {
        let sink = Memory { bytes: Arc::default(), room: 0 };
        let ordered = Ordered::new(Counted::new(Box::new(sink), None, Progress::hidden()), 0, 64);
        std::thread::scope(|scope| {
            // Its turn never comes.
            let waiting = scope.spawn(|| {
                let mut chunk = Chunk { bytes: vec![0; 10], ends: vec![10], ..Chunk::default() };
                ordered.pass_on(1, &mut chunk, Then::NextTicket)
            });
            ordered.end(End::Panicked);
            assert_eq!(waiting.join().unwrap(), Err(Over));
        });
        assert!(matches!(ordered.take_output(), (Some(_), Some(End::Panicked))));
    }
    /// A sink that waits with the first chunk, unless other threads go on meanwhile.
    struct Slow {
        written: Arc<AtomicU64>,
        went_on: Arc<AtomicBool>,
    }

    impl Sink for Slow {
        fn write(&mut self, _: &Chunk) -> Result<(), SinkError> {
            for _ in 0..100 {
                if self.went_on.load(Ordering::Acquire) {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            self.written.fetch_add(1, Ordering::Release);
            Ok(())
        }

        fn finish(&mut self, _: u64) -> std::io::Result<()> {
            Ok(())
        }

        fn description(&self) -> String {
            "slow".to_string()
        }
    }

    #[test]
    fn of_chunks_beyond_the_budget_one_is_there_besides_those_that_are_made() {
        let (written, went_on) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let sink = Slow { written: Arc::clone(&written), went_on: Arc::clone(&went_on) };
        let ordered = Ordered::new(Counted::new(Box::new(sink), None, Progress::hidden()), 100, 64);
        std::thread::scope(|scope| {
            scope.spawn(|| ordered.write_all());
            // Without a writer the worker writes by itself.
            while ordered.lock().writer.is_none() {
                std::thread::yield_now();
            }
            for before in 0..3 {
                let mut chunk = Chunk { bytes: vec![0; 1000], ends: vec![1000], ..Chunk::default() };
                ordered.pass_on(0, &mut chunk, Then::More).unwrap();
                assert!(written.load(Ordering::Acquire) >= before, "what was passed on before is written");
                went_on.store(before > 0, Ordering::Release);
            }
            ordered.close();
        });
    }
}
