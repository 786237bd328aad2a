//! The tables that the machine reads: records, the alias tables that choose among them (Walker 1977; built as by Vose
//! 1991), and the place of each state's records.

use super::chunks::Chunks;
use super::plan::{Places, Plan, State, TooLarge};
use super::unfold::{OPEN, TEXT};

/// One step. The machine stores both halves whole and then advances by the lengths.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Record {
    pub(crate) text: [u8; TEXT],
    /// The record is chosen if a random number of 64 bits is below this, else the one whose number is in the lower
    /// half.
    pub(crate) alias: u64,
    /// Words for the stack, the next one last. The machine adds the word that it was at, or nothing, to all of them and
    /// stores them whole.
    pub(crate) pushes: [u32; OPEN],
    pub(crate) text_len: u8,
    /// Number of words that are left open.
    pub(crate) open: u8,
    /// Flag for an input that ends within the text, and the place of its end.
    pub(crate) ends: u8,
    pub(crate) end: u8,
    /// All bits where the words are relative to the one that the machine was at; none where they are not, since what is
    /// left of the depth is known or does not matter.
    pub(crate) relative: u32,
}

/// Place of the lengths in a record.
#[cfg(target_arch = "x86_64")]
pub(crate) const LENGTHS: usize = std::mem::offset_of!(Record, text_len);

/// The records of a state.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Row {
    pub(crate) count: u32,
    pub(crate) first: u32,
}

/// Everything that steps read. A *word* is the number of a chunk times the number of depths, plus what is left of the
/// depth.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) records: Box<[Record]>,
    /// By word.
    pub(crate) rows: Box<[Row]>,
    /// Number of depths.
    pub(crate) depths: u32,
    /// The word of the beginning of an input.
    pub(crate) start: u32,
}

/// There are at most this many words.
const MAX_WORDS: u64 = 1 << 22;

impl Tables {
    pub(crate) fn new(plan: &Plan, chunks: &Chunks) -> Result<Tables, TooLarge> {
        let depths = plan.start_depth + 1;
        let words = chunks.len() as u64 * u64::from(depths);
        if words > MAX_WORDS {
            return Err(TooLarge);
        }
        let word = |chunk: u32, depth: u32| chunk * depths + depth;
        let (mut records, mut firsts) = (Vec::new(), Vec::new());
        for state in &plan.states {
            let first = records.len() as u32;
            firsts.push(Row { first, count: state.entries.len() as u32 });
            for (entry, (threshold, other)) in state.entries.iter().zip(aliases(state)) {
                let mut text = [0; TEXT];
                text[..entry.text.len()].copy_from_slice(&entry.text);
                let relative = !chunks.is_free(state.chunk) && entry.end.is_none();
                let words = entry.pushes.iter().map(|&(chunk, less)| match entry.end {
                    Some(_) => word(chunk, plan.start_depth - less),
                    None if relative => word(chunk, 0).wrapping_sub(word(state.chunk, 0)).wrapping_sub(less),
                    None => word(chunk, 0),
                });
                let mut pushes = [0; OPEN];
                for (place, word) in pushes.iter_mut().zip(words.rev()) {
                    *place = word;
                }
                records.push(Record {
                    text,
                    alias: u64::from(threshold) << 32 | u64::from(first + other),
                    pushes,
                    text_len: entry.text.len() as u8,
                    open: entry.pushes.len() as u8,
                    ends: u8::from(entry.end.is_some()),
                    end: entry.end.unwrap_or(0),
                    relative: if relative { u32::MAX } else { 0 },
                });
            }
        }
        // Words that are never reached lead to the first state, so that every word is one.
        let mut rows = vec![firsts[0]; words as usize];
        let places = plan.places(chunks);
        for chunk in 0..chunks.len() as u32 {
            for depth in 0..depths {
                if let Some(state) = places.state(chunk, depth) {
                    rows[word(chunk, depth) as usize] = firsts[state as usize];
                }
            }
        }
        let start = word(plan.start.0, plan.start_depth);
        let tables = Tables { records: records.into(), rows: rows.into(), depths, start };
        tables.verify(plan, chunks, &places);
        Ok(tables)
    }

    /// Proves the facts that steps do not check: that every index is in range, whatever is drawn.
    fn verify(&self, plan: &Plan, chunks: &Chunks, places: &Places) {
        assert!(self.rows.iter().all(|row| row.count > 0 && (row.first + row.count) as usize <= self.records.len()));
        for record in &self.records {
            assert!((record.alias as u32 as usize) < self.records.len());
            assert!(usize::from(record.text_len) <= TEXT && usize::from(record.open) <= OPEN && record.ends <= 1);
            assert!(record.end <= record.text_len && (record.ends == 0 || record.open > 0));
        }
        // From every depth at which a chunk can be, all that is pushed is planned too.
        for &((chunk, row), state) in &plan.index {
            let free = chunks.is_free(chunk);
            // Beyond this nothing differs any more: a pushed chunk is less than two zones below.
            let top = if row == plan.zones && !free { plan.start_depth.min(3 * plan.zones) } else { row };
            let state = &plan.states[state as usize];
            for entry in &state.entries {
                for &(pushed, less) in &entry.pushes {
                    let depths = match entry.end {
                        Some(_) => plan.start_depth..=plan.start_depth,
                        None => row..=top,
                    };
                    for depth in depths {
                        let planned = if chunks.is_free(pushed) {
                            places.state(pushed, 0).is_some()
                        } else {
                            // Relative words refer to the state's own chunk.
                            (entry.end.is_some() || state.chunk == chunk)
                                && depth >= less
                                && places.state(pushed, depth - less).is_some()
                        };
                        assert!(planned, "a place that is not planned");
                    }
                }
            }
        }
    }
}

/// Returns the alias table of a state: for each entry the threshold and the other one. Entries have cells of equal
/// probability, each shared by at most two.
fn aliases(state: &State) -> Vec<(u32, u32)> {
    let count = state.entries.len();
    let total: f64 = state.entries.iter().map(|entry| entry.probability).sum();
    let mut shares: Vec<f64> = state.entries.iter().map(|entry| entry.probability / total * count as f64).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..count).partition(|&index| shares[index] < 1.0);
    let mut aliases: Vec<(u32, u32)> = (0..count).map(|index| (u32::MAX, index as u32)).collect();
    while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
        small.pop();
        aliases[less] = ((shares[less] * 4_294_967_296.0).round() as u32, more as u32);
        shares[more] -= 1.0 - shares[less];
        if shares[more] < 1.0 {
            large.pop();
            small.push(more);
        }
    }
    aliases
}
