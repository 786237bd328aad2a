//! `--enumerate`: all texts in the order of their lengths.

use gramjet_campaign::{Stop, StopReason};
use gramjet_session::suite::counts::{Counts, Uncountable};
use gramjet_session::suite::unique::{Known, Novelty};

use super::common::Common;
use crate::commands::generate::counted::{Counted, End};
use crate::commands::generate::destination::Destination;
use crate::failure::{Failure, say};
use crate::output::chunk::{CHUNK_BYTES, CHUNK_INPUTS, Chunk};
use crate::output::separator::Separator;
use crate::plan::{Amount, Plan, Shard};
use crate::prepared::Prepared;
use crate::progress::Progress;
use crate::units::plural;

/// At most this many lengths are told.
const TOLD: usize = 16;

/// Writes the texts.
pub fn run(
    prepared: &Prepared,
    max_len: Option<u64>,
    common: &Common<'_>,
    destination: &Destination<'_>,
) -> Result<(), Failure> {
    if common.limits.max_depth.is_some() {
        let why = "`--enumerate` is bounded by lengths, and not by `--max-depth`";
        return Err(Failure::Usage(why.to_string()));
    }
    let compiled = prepared.compile()?;
    let mut counts = Counts::new(compiled).map_err(refused)?;
    if max_len.is_none() && common.count.is_none() && counts.longest().is_none() {
        let why = "there are infinitely many texts: `--max-len` or `-n` says how many to write";
        return Err(Failure::Usage(why.to_string()));
    }
    let most_len = max_len.unwrap_or(u64::MAX).min(counts.longest().unwrap_or(u64::MAX));
    let wanted = common.count.unwrap_or(u64::MAX);
    let lens = compiled.min_len()..=most_len;
    tell(&mut counts, lens.clone(), wanted).map_err(refused)?;
    let amount = Amount::Inputs(wanted);
    let plan = Plan::new(amount, Shard::WHOLE, gramjet::BLOCK_INPUTS);
    let sink = destination.open(common.output, &plan, amount)?;
    let output = Counted::new(sink, None, Progress::hidden());
    let mut run = Run {
        output,
        chunk: Chunk::default(),
        separator: destination.separator(common.output),
        stop: crate::stop::on_signals(),
        made: 0,
        again: 0,
        wanted,
    };
    let ended = run.all(&mut counts, lens);
    run.conclude(ended)
}

fn refused(error: Uncountable) -> Failure {
    Failure::Usage(format!("`--enumerate` is not possible: {error}"))
}

/// Tells the numbers of derivations, up to the length at which there are as many as wanted.
fn tell(counts: &mut Counts<'_>, lens: std::ops::RangeInclusive<u64>, wanted: u64) -> Result<(), Uncountable> {
    let (mut told, mut sum) = (0, 0u64);
    for len in lens {
        if sum >= wanted {
            return Ok(());
        }
        let count = counts.of(len)?;
        sum = sum.saturating_add(count.saturated());
        if count.is_zero() {
            continue;
        }
        told += 1;
        if told > TOLD {
            say!("gramjet: and longer ones");
            return Ok(());
        }
        let noun = if count.saturated() == 1 { "derivation" } else { "derivations" };
        say!("gramjet: {}: {count} {noun}", plural(len, "byte"));
    }
    Ok(())
}

/// Reason why not all texts were written.
enum Ended {
    Output(End),
    Uncountable(Uncountable),
    Memory,
}

struct Run {
    output: Counted,
    chunk: Chunk,
    separator: Separator,
    stop: Stop,
    made: u64,
    /// The number of derivations whose text was there before.
    again: u64,
    wanted: u64,
}

impl Run {
    /// Writes texts of these lengths, as many as are wanted.
    fn all(&mut self, counts: &mut Counts<'_>, lens: std::ops::RangeInclusive<u64>) -> Result<(), Ended> {
        for len in lens {
            if self.made >= self.wanted {
                break;
            }
            let all = counts.of(len).map_err(Ended::Uncountable)?.saturated();
            // Only texts of a length can be equal.
            let (mut known, mut text) = (Known::new(Known::MOST), Vec::new());
            for number in 0..all {
                if self.made >= self.wanted {
                    break;
                }
                if self.stop.is_requested() {
                    return Err(Ended::Output(End::Stopped));
                }
                counts.text(len, number, &mut text);
                match known.add(&text) {
                    Novelty::New => self.write(&text)?,
                    Novelty::Known => self.again += 1,
                    Novelty::Full => return Err(Ended::Memory),
                }
            }
        }
        self.flush()
    }

    fn write(&mut self, text: &[u8]) -> Result<(), Ended> {
        self.chunk.bytes.extend(self.separator.around(text.to_vec()));
        self.chunk.ends.push(self.chunk.bytes.len());
        self.made += 1;
        let is_full = self.chunk.bytes.len() >= CHUNK_BYTES || self.chunk.ends.len() >= CHUNK_INPUTS;
        if is_full { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Ended> {
        let end = self.output.accept(&mut self.chunk);
        self.chunk.restart(self.made);
        end.map_or(Ok(()), |end| Err(Ended::Output(end)))
    }

    /// Ends the output, and says how it went.
    fn conclude(mut self, ended: Result<(), Ended>) -> Result<(), Failure> {
        let ended = match ended {
            Err(Ended::Output(End::Stopped) | Ended::Uncountable(_) | Ended::Memory) => self.flush().and(ended),
            ended => ended,
        };
        let what = self.output.description();
        let finished = self.output.finish();
        let written = self.output.written();
        match ended {
            Err(Ended::Output(End::Failed(source))) => return Err(Failure::Output { what, source, written }),
            Err(Ended::Output(End::Stopped)) => {
                if let Some(StopReason::Signal(name, signal)) = self.stop.reason() {
                    return Err(Failure::Interrupted { name, signal, written });
                }
            }
            Err(Ended::Uncountable(error)) => return Err(Failure::Ended(format!("after {written}: {error}"))),
            Err(Ended::Memory) => {
                let why = format!("no more than {} texts of a length can be told apart", Known::MOST);
                return Err(Failure::Ended(format!("after {written}: {why}")));
            }
            Err(Ended::Output(_)) | Ok(()) => {}
        }
        finished.map_err(|source| Failure::Output { what, source, written })?;
        let again = match self.again {
            0 => String::new(),
            again => format!("; {} made a text again", plural(again, "derivation")),
        };
        say!("gramjet: {}{again}", plural(self.made, "text"));
        Ok(())
    }
}
