//! Workers: each takes runs of whole blocks and makes their inputs. The inputs do not depend on the number of workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gramjet::{Inputs, Producer};

use super::counted::{Counted, End};
use super::ordered::{Cause, Ordered, Then};
use crate::output::chunk::{CHUNK_BYTES, CHUNK_INPUTS, Chunk};
use crate::output::separator::Separator;
use crate::plan::Plan;
use gramjet_campaign::Stop;

/// The chunks that wait for their turn hold at most this many bytes.
const BUDGET: usize = 16 << 20;
/// A ticket should be worth about this many chunks: enough not to notice its cost, little enough to share the work
/// evenly.
const TICKET_CHUNKS: usize = 2;
/// A worker makes this number of inputs before it looks again whether the run was asked to stop.
const MAX_BATCH: u64 = 16;
/// The stack size of a worker, that of a usual main thread: generated producers recurse on it.
const STACK: usize = 8 << 20;

/// The interval at which the main thread looks whether a signal has asked for the end.
const WATCH: Duration = Duration::from_millis(100);
/// After a signal the main thread looks this many times, then abandons workers that are still making an input.
const PATIENCE: u32 = 3;

/// The inputs to make, and how.
#[derive(Clone, Debug)]
pub struct Orders {
    /// Plan that says which inputs are made.
    pub plan: Plan,
    /// The seed of the run.
    pub seed: u64,
    /// The separator between inputs.
    pub separator: Separator,
    /// No input has more bytes.
    pub longest: u64,
    /// The request to stop.
    pub stop: Stop,
}

/// A maker of inputs: a producer, or the bulk engine.
pub trait Maker {
    /// Makes inputs until there are no more tickets or the run is over.
    fn make_all(self, run: &Run);
}

/// The state that all workers of a run share.
pub struct Run {
    pub(super) orders: Orders,
    jobs: u64,
    chunk_bytes: usize,
    tickets: Mutex<Tickets>,
    pub(super) ordered: Ordered,
}

/// The tickets that are left to hand out.
struct Tickets {
    next: u64,
    next_block: u64,
}

/// A run of blocks, by their ordinals in the plan.
struct Ticket {
    number: u64,
    blocks: std::ops::Range<u64>,
}

/// Makes the inputs of a plan with one thread per maker, and one more that writes if `has_writer`.
///
/// Returns the output (unless a worker was lost while it wrote) and how the run ended, if not by its plan. A signal
/// also ends a run whose inputs take long to make: these inputs are not written, and their threads end with the
/// process.
pub fn run<M: Maker + Send + 'static>(
    makers: Vec<M>,
    orders: Orders,
    output: Counted,
    has_writer: bool,
) -> (Option<Counted>, Option<End>) {
    run_on(STACK, makers, orders, output, has_writer)
}

/// Runs like [`run`], with worker stacks of `stack` bytes.
fn run_on<M: Maker + Send + 'static>(
    stack: usize,
    makers: Vec<M>,
    orders: Orders,
    output: Counted,
    has_writer: bool,
) -> (Option<Counted>, Option<End>) {
    let jobs = makers.len().max(1);
    // One worker waits for no other, and a chunk that is written soon is still in a cache.
    let budget = if jobs == 1 { 8 * CHUNK_BYTES } else { BUDGET };
    // The budget has room for two tickets of each worker.
    let chunk_bytes = (BUDGET / (2 * TICKET_CHUNKS * jobs)).clamp(16 << 10, CHUNK_BYTES);
    let run = Arc::new(Run {
        orders,
        jobs: jobs as u64,
        chunk_bytes,
        tickets: Mutex::new(Tickets { next: 0, next_block: 0 }),
        ordered: Ordered::new(output, budget, chunk_bytes),
    });
    // No message is sent: when the last sender is gone, all workers are done.
    let (working, workers) = mpsc::channel::<()>();
    let busy = Arc::new(AtomicUsize::new(makers.len()));
    let mut without_thread = Vec::new();
    for maker in makers {
        let thread = std::thread::Builder::new().name("worker".to_string()).stack_size(stack);
        let (worker, working, still_busy) = (Arc::clone(&run), working.clone(), Arc::clone(&busy));
        // A thread that does not start leaves its maker here.
        let place = Arc::new(Mutex::new(Some(maker)));
        let own = Arc::clone(&place);
        let spawned = thread.spawn(move || {
            worker.work(&own);
            worker.leave(&still_busy);
            drop(working);
        });
        if spawned.is_err() {
            without_thread.push(place);
        }
    }
    if has_writer {
        let (writer, working) = (Arc::clone(&run), working.clone());
        // Without this thread the workers write.
        let _ = std::thread::Builder::new().name("writer".to_string()).spawn(move || {
            writer.or_end(|| writer.ordered.write_all());
            drop(working);
        });
    }
    drop(working);
    // With fewer threads than requested the output is the same, only later; without any, this thread makes it.
    if without_thread.len() == jobs {
        without_thread.first().into_iter().for_each(|place| run.work(place));
    }
    without_thread.iter().for_each(|_| run.leave(&busy));
    let mut looks = 0;
    while workers.recv_timeout(WATCH) == Err(RecvTimeoutError::Timeout) {
        looks += u32::from(run.orders.stop.is_signalled());
        if looks > PATIENCE {
            // While a thread writes there is no output to end; a second signal ends the process then.
            if let Some((output, end)) = run.ordered.take_idle_output() {
                return (Some(output), end.or(Some(End::Stopped)));
            }
        }
    }
    run.ordered.take_output()
}

impl<P: Producer> Maker for P {
    fn make_all(self, run: &Run) {
        let mut inputs = Inputs::new(self, run.orders.seed);
        let mut chunk = run.ordered.new_chunk();
        let mut blocks_made = 0;
        let mut bytes_made = 0;
        while let Some(ticket) = run.take_ticket(blocks_made, bytes_made) {
            blocks_made += ticket.blocks.end - ticket.blocks.start;
            match run.make(&ticket, &mut inputs, &mut chunk) {
                Some(bytes) => bytes_made += bytes,
                None => break,
            }
        }
    }
}

impl Run {
    /// Makes inputs until there are no more tickets or the run is over.
    fn work<M: Maker>(&self, place: &Mutex<Option<M>>) {
        let maker = place.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(maker) = maker {
            self.or_end(|| maker.make_all(self));
        }
    }

    /// Runs a function whose panic ends the whole run. Otherwise the workers would wait for the lost worker's ticket
    /// for ever.
    fn or_end(&self, work: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.ordered.end(End::Panicked);
        }
    }

    /// Counts a worker that is done; after the last one no more chunks come.
    fn leave(&self, busy: &AtomicUsize) {
        if busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.ordered.close();
        }
    }

    /// Returns the next block as a ticket of its own, by its ordinal in the plan. A run takes tickets by this or by
    /// [`Run::take_ticket`], not by both.
    pub(super) fn take_block(&self) -> Option<u64> {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        let ordinal = tickets.next_block;
        if ordinal == self.orders.plan.blocks() {
            return None;
        }
        tickets.next_block += 1;
        Some(ordinal)
    }

    /// Returns the next blocks to make: as many as a ticket should have, according to what this worker has made so far.
    fn take_ticket(&self, blocks_made: u64, bytes_made: u64) -> Option<Ticket> {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.orders.plan.blocks() - tickets.next_block;
        if left == 0 {
            return None;
        }
        let count = if self.jobs == 1 {
            left
        } else {
            let ticket_bytes = (TICKET_CHUNKS * self.chunk_bytes) as u64;
            let by_size = bytes_made.checked_div(blocks_made).map_or(1, |block| ticket_bytes / block.max(1));
            by_size.min(left / (2 * self.jobs)).max(1)
        };
        let ticket = Ticket { number: tickets.next, blocks: tickets.next_block..tickets.next_block + count };
        tickets.next += 1;
        tickets.next_block += count;
        Some(ticket)
    }

    /// Makes the inputs of a ticket; returns their bytes, or nothing if the run is over.
    fn make<P: Producer>(&self, ticket: &Ticket, inputs: &mut Inputs<P>, chunk: &mut Chunk) -> Option<u64> {
        let mut bytes = 0;
        let block_inputs = self.orders.plan.block_inputs;
        chunk.restart(ticket.blocks.start * block_inputs);
        for ordinal in ticket.blocks.clone() {
            let first = ordinal * block_inputs;
            let behind = first.saturating_add(block_inputs).min(self.orders.plan.inputs);
            inputs.seek_block(self.orders.plan.block(ordinal));
            let mut position = first;
            while position < behind {
                // Asked before each batch, so that a run of no time makes no input.
                if self.orders.stop.is_requested() {
                    let _ = self.ordered.pass_on(ticket.number, chunk, Then::End(Cause::Asked));
                    return None;
                }
                let asked = (behind - position).min(MAX_BATCH);
                match self.orders.separator.append(chunk, inputs, asked, self.chunk_bytes, self.orders.longest) {
                    Ok(appended) => position += appended,
                    Err(reason) => {
                        let _ = self.ordered.pass_on(ticket.number, chunk, Then::End(Cause::TooLong(reason)));
                        return None;
                    }
                }
                if chunk.bytes.len() >= self.chunk_bytes || chunk.ends.len() >= CHUNK_INPUTS {
                    bytes += chunk.bytes.len() as u64;
                    self.ordered.pass_on(ticket.number, chunk, Then::More).ok()?;
                    chunk.restart(position);
                }
            }
        }
        bytes += chunk.bytes.len() as u64;
        self.ordered.pass_on(ticket.number, chunk, Then::NextTicket).ok()?;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use gramjet::{Choices, Limits, LimitsError};
    use gramjet_compiler::SourceFile;
    use gramjet_engine::EngineKind;

    use super::*;
    use crate::arguments::engine::EngineArgument;
    use crate::arguments::grammar::GrammarArgs;
    use crate::arguments::limits::LimitArgs;
    use crate::engine::{AnyProducer, Engine};
    use crate::output::sink::{Sink, SinkError};
    use crate::plan::{Amount, Shard};
    use crate::prepared::Prepared;
    use crate::progress::Progress;
    use crate::source::Source;

    type Kept = Arc<Mutex<Vec<(u64, Vec<u8>)>>>;

    /// Keeps each input with its number.
    struct Memory(Kept, Plan);

    impl Sink for Memory {
        fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
            let mut start = 0;
            for (position, &end) in (chunk.first..).zip(&chunk.ends) {
                self.0.lock().unwrap().push((self.1.number(position), chunk.bytes[start..end].to_vec()));
                start = end;
            }
            Ok(())
        }

        fn finish(&mut self, _bytes: u64) -> io::Result<()> {
            Ok(())
        }

        fn description(&self) -> String {
            "memory".to_string()
        }
    }

    /// A producer that panics after some inputs.
    struct Fragile(AnyProducer, u32);

    impl Producer for Fragile {
        fn min_len(&self) -> u64 {
            self.0.min_len()
        }

        fn limits(&self) -> Limits {
            self.0.limits()
        }

        fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
            self.0.set_limits(limits)
        }

        fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
            self.1 = self.1.checked_sub(1).expect("as told");
            self.0.produce(choices, output)
        }
    }

    fn producer() -> AnyProducer {
        let file = SourceFile::new("test.ebnf", "list ::= [a-z]* | list [0-9]+ list @ 0.5");
        let source = Source { file, shipped: None, loader: None };
        let prepared = Prepared::new(source, &GrammarArgs::default(), &LimitArgs::default());
        let engine = prepared.and_then(|prepared| Engine::start(&prepared, EngineArgument::Listed(EngineKind::Vm)));
        engine.map(|engine| engine.producer()).unwrap_or_else(|failure| panic!("{failure}"))
    }

    fn orders(plan: Plan, stop: Stop) -> Orders {
        Orders { plan, seed: 1, separator: Separator::Byte(b'\n'), longest: 1 << 20, stop }
    }

    fn make(jobs: usize, lifetime: u32, amount: Amount, shard: Shard) -> (Vec<(u64, Vec<u8>)>, Option<End>) {
        // Either way with some numbers of jobs.
        let has_writer = jobs.is_multiple_of(2);
        let plan = Plan::new(amount, shard, 256);
        let kept = Kept::default();
        let output = Counted::new(Box::new(Memory(Arc::clone(&kept), plan)), plan.bytes, Progress::hidden());
        let producers = (0..jobs).map(|_| Fragile(producer(), lifetime)).collect();
        let (output, end) = run(producers, orders(plan, Stop::default()), output, has_writer);
        let kept = kept.lock().unwrap().clone();
        assert_eq!(output.unwrap().written().inputs, kept.len() as u64);
        (kept, end)
    }

    #[test]
    fn any_number_of_workers_and_shards_makes_the_same_inputs() {
        let (whole, end) = make(1, u32::MAX, Amount::Inputs(20_100), Shard::WHOLE);
        assert!(end.is_none());
        assert!(whole.iter().map(|(number, _)| *number).eq(0..20_100));
        for jobs in [2, 3, 8] {
            assert!(make(jobs, u32::MAX, Amount::Inputs(20_100), Shard::WHOLE).0 == whole);
        }
        let shards = (0..3).map(|index| Shard::new(index, 3).unwrap());
        let union: Vec<_> =
            shards.clone().flat_map(|shard| make(2, u32::MAX, Amount::Inputs(20_100), shard).0).collect();
        assert!(union == whole);
        for shard in shards {
            let (part, end) = make(2, u32::MAX, Amount::Bytes(30_000), shard);
            assert!(matches!(end, Some(End::Full)));
            assert!(part.iter().all(|(number, input)| whole[*number as usize].1 == *input));
        }
    }

    #[test]
    fn a_panic_ends_the_run_for_all() {
        for jobs in [1, 2, 5] {
            let (kept, end) = make(jobs, 3000, Amount::Inputs(100_000), Shard::WHOLE);
            assert!(matches!(end, Some(End::Panicked)));
            assert!(kept.iter().map(|(number, _)| *number).eq(0..kept.len() as u64));
        }
    }

    /// A system that has no threads left, as far as this code can tell: no stack is as large as this.
    #[cfg(target_os = "linux")]
    #[test]
    fn without_threads_the_same_inputs_are_made() {
        let plan = Plan::new(Amount::Inputs(2000), Shard::WHOLE, 256);
        let expected = make(1, u32::MAX, Amount::Inputs(2000), Shard::WHOLE).0;
        for jobs in [1, 3] {
            let kept = Kept::default();
            let output = Counted::new(Box::new(Memory(Arc::clone(&kept), plan)), plan.bytes, Progress::hidden());
            let producers = (0..jobs).map(|_| producer()).collect();
            let (output, end) = run_on(1 << 47, producers, orders(plan, Stop::default()), output, false);
            assert!(end.is_none() && output.is_some());
            assert!(*kept.lock().unwrap() == expected);
        }
    }

    #[test]
    fn a_request_to_stop_leaves_a_beginning_of_the_run() {
        let stop = Stop::default();
        stop.after(std::time::Duration::from_millis(20));
        let plan = Plan::new(Amount::Inputs(u64::MAX), Shard::WHOLE, 256);
        let kept = Kept::default();
        let output = Counted::new(Box::new(Memory(Arc::clone(&kept), plan)), None, Progress::hidden());
        let (_, end) = run((0..3).map(|_| producer()).collect(), orders(plan, stop), output, true);
        assert!(matches!(end, Some(End::Stopped)));
        let kept = kept.lock().unwrap();
        assert!(kept.iter().map(|(number, _)| *number).eq(0..kept.len() as u64));
    }
    /// A producer whose inputs have no end.
    struct Endless;

    impl Producer for Endless {
        fn min_len(&self) -> u64 {
            0
        }

        fn limits(&self) -> Limits {
            Limits::new()
        }

        fn set_limits(&mut self, _: Limits) -> Result<(), LimitsError> {
            Ok(())
        }

        fn produce(&mut self, _: &mut Choices<'_>, _: &mut Vec<u8>) -> u64 {
            loop {
                std::thread::park();
            }
        }
    }

    #[test]
    fn a_signal_ends_a_run_whose_inputs_do_not() {
        for jobs in [1, 2] {
            let plan = Plan::new(Amount::Inputs(10), Shard::WHOLE, 256);
            let output = Counted::new(Box::new(Memory(Kept::default(), plan)), None, Progress::hidden());
            let stop = Stop::default();
            let signal = stop.clone();
            // Later than the workers look before they begin with an input.
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                signal.signal();
            });
            let (output, end) = run((0..jobs).map(|_| Endless).collect(), orders(plan, stop), output, jobs == 1);
            assert!(matches!(end, Some(End::Stopped)));
            assert_eq!(output.unwrap().written().inputs, 0);
        }
    }
}
