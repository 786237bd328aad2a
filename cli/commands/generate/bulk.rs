//! The bulk engine as a worker: blocks are made side by side, each is a ticket of its own.

use gramjet_engine::bulk::{Bulk, Framing};

use super::ordered::{Cause, Then};
use super::worker::{Maker, Run};
use crate::output::chunk::Chunk;
use crate::output::separator::{InputTooLong, Separator};

/// The bulk engine with its tables.
pub struct InBulk(pub Bulk);

/// Returns a description of the bulk engine.
pub fn description(bulk: &Bulk) -> String {
    let kib = (bulk.table_bytes() / 1024).max(1);
    format!("bulk ({kib} KiB of tables, {:.1} bytes a step, blocks of {})", bulk.mean_step(), bulk.block_inputs())
}

/// Returns the framing by which the bulk engine separates inputs.
pub fn framing(separator: Separator) -> Framing {
    match separator {
        Separator::None => Framing::default(),
        Separator::Byte(byte) => Framing { before: 0, behind: vec![byte] },
        Separator::Length => Framing { before: 4, behind: Vec::new() },
    }
}

impl Maker for InBulk {
    fn make_all(self, run: &Run) {
        let InBulk(mut bulk) = self;
        let orders = &run.orders;
        bulk.restart(orders.seed, 0);
        let mut chunk = run.ordered.new_chunk();
        // The ordinals of the requested blocks, each of which is a ticket.
        let mut ordinals = std::collections::VecDeque::new();
        loop {
            let mut more = || {
                let ordinal = run.take_block()?;
                ordinals.push_back(ordinal);
                Some(orders.plan.block(ordinal))
            };
            // A run of no time makes no input.
            let stop = || orders.stop.is_requested();
            let taken = bulk.take_block(&mut more, &stop, &mut chunk.bytes, &mut chunk.ends);
            let asked_to_stop = taken.is_none() && stop();
            if taken.is_none() && !asked_to_stop {
                return;
            }
            let Some(ordinal) = ordinals.pop_front() else {
                // No block was begun yet: the run ends where the next worker would begin.
                if let Some(ordinal) = run.take_block() {
                    chunk.restart(0);
                    let _ = run.ordered.pass_on(ordinal, &mut chunk, Then::End(Cause::Asked));
                }
                return;
            };
            let first = ordinal * orders.plan.block_inputs;
            if asked_to_stop {
                chunk.restart(first);
                let _ = run.ordered.pass_on(ordinal, &mut chunk, Then::End(Cause::Asked));
                return;
            }
            chunk.first = first;
            let wanted = (orders.plan.inputs - first).min(orders.plan.block_inputs) as usize;
            let then = match finish(&mut chunk, wanted, orders.separator, orders.longest) {
                Ok(()) => Then::NextTicket,
                Err(reason) => Then::End(Cause::TooLong(reason)),
            };
            if run.ordered.pass_on(ordinal, &mut chunk, then).is_err() {
                return;
            }
        }
    }
}

/// Makes a chunk of a block that the engine made: adds the lengths where they go, and counts the ends after the
/// separators.
///
/// # Errors
///
/// If an input is too long; the chunk ends before it then.
fn finish(chunk: &mut Chunk, wanted: usize, separator: Separator, longest: u64) -> Result<(), InputTooLong> {
    chunk.ends.truncate(wanted);
    let mut start = 0;
    let may_be_too_long = chunk.bytes.len() as u64 > longest;
    match separator {
        Separator::Length => {
            for index in 0..chunk.ends.len() {
                let end = chunk.ends[index];
                let length = (end - start - 4) as u64;
                let Ok(field) = u32::try_from(length) else {
                    chunk.truncate(index);
                    return Err(InputTooLong::LengthField { length });
                };
                chunk.bytes[start..start + 4].copy_from_slice(&field.to_le_bytes());
                start = end;
            }
        }
        Separator::Byte(_) => chunk.ends.iter_mut().for_each(|end| *end += 1),
        Separator::None => {}
    }
    if may_be_too_long {
        let mut start = 0;
        for index in 0..chunk.ends.len() {
            if (chunk.ends[index] - start) as u64 > longest.saturating_add(separator.len()) {
                chunk.truncate(index);
                return Err(InputTooLong::Memory { most: longest });
            }
            start = chunk.ends[index];
        }
    }
    chunk.truncate(chunk.ends.len());
    Ok(())
}
