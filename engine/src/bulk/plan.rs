//! The plan: the states (a chunk and the depth left there), and how far each is unfolded, so that the records go where
//! the machine spends its steps.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use arrayvec::ArrayVec;
use rustc_hash::FxHashMap;

use super::ahead::Memo;
use super::chunks::{Chunks, Push};
use super::frames::{Depth, Frame};
use super::unfold::{OPEN, Open as Items, Stream, TEXT, unfold};

/// The position of a run: a chunk, with this much depth left ([`Stream::zones`] stands for that and more).
pub(crate) type Key = (u32, u32);

/// A record in the making.
pub(crate) struct Entry {
    pub(crate) probability: f64,
    pub(crate) text: ArrayVec<u8, TEXT>,
    pub(crate) end: Option<u8>,
    /// The next first.
    pub(crate) pushes: ArrayVec<Push, OPEN>,
}

/// The possible steps at a chunk with a given depth left, or at least that depth.
pub(crate) struct State {
    pub(crate) chunk: u32,
    pub(crate) entries: Vec<Entry>,
    /// The chunks that the entries push, once each, whether after an end, and the probability.
    pushed: Vec<(Push, bool, f64)>,
}

/// All states that can be reached.
pub(crate) struct Plan {
    pub(crate) states: Vec<State>,
    /// The state for each key, ascending; several keys may share one.
    pub(crate) index: Vec<(Key, u32)>,
    pub(crate) start: Push,
    /// The number of zones, and the depth left at the start rule.
    pub(crate) zones: u32,
    pub(crate) start_depth: u32,
    pub(crate) records: usize,
}

/// The tables do not fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooLarge;

/// Number of visits of each state, per step.
pub(crate) type Visits = FxHashMap<Key, f64>;

struct Open {
    flow: f64,
    key: Key,
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Open) -> Ordering {
        self.flow.total_cmp(&other.flow).then(other.key.cmp(&self.key))
    }
}

/// A state has at most this many records.
pub(crate) const MAX_STATE_RECORDS: usize = 1 << 14;
/// A state with less depth left than there are zones has records of its own if the share of steps that visit it is at
/// least this many times the threshold.
const EXACT: f64 = 20.0;
/// Rows to a line of the cache.
const ROWS: u32 = 8;

/// The knowledge of the depth in a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    Nothing,
    Exactly(u32),
    AtLeast(u32),
}

/// Returns the greatest of few numbers that is not above `row`: states that are rarely visited share their records with
/// those nearer to the limit.
fn floor(row: u32) -> u32 {
    match row {
        0..=3 => row,
        _ => {
            let step = 1 << (row.ilog2() - 1);
            row / step * step
        }
    }
}

/// A plan in the making. The states that are visited most come first, so that the quality of a plan can be seen before
/// all states are made.
pub(crate) struct Attempt {
    pub(crate) plan: Plan,
    pub(crate) chunks: Chunks,
    pub(crate) threshold: f64,
    /// The visits of an earlier attempt.
    pub(crate) visits: Visits,
    /// The states that were made, by chunk and by the knowledge of the depth.
    states: FxHashMap<(u32, Known), u32>,
    index: FxHashMap<Key, u32>,
    flows: FxHashMap<Key, f64>,
    heap: BinaryHeap<Open>,
}

/// Bounds of an attempt, on records and on beginnings.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) records: usize,
    pub(crate) most: usize,
}

impl Attempt {
    /// Returns an attempt that has nothing but the start.
    pub(crate) fn new(stream: &Stream<'_>, mut chunks: Chunks, visits: Visits, threshold: f64) -> Attempt {
        chunks.forget_wanted();
        let zones = stream.zones;
        let start_depth = stream.grammar.start_depth().unwrap_or(zones);
        let start_items = [stream.grammar.start(stream.start_depth(), zones), (Frame::End, Depth::ANY)];
        let start = chunks.whole(&start_items, stream.start_depth());
        let key = (start.0, if chunks.is_free(start.0) { zones } else { start_depth.min(zones) });
        Attempt {
            plan: Plan { states: Vec::new(), index: Vec::new(), start, zones, start_depth, records: 0 },
            chunks,
            threshold,
            visits,
            states: FxHashMap::default(),
            index: FxHashMap::default(),
            flows: [(key, 1e-3)].into_iter().collect(),
            heap: BinaryHeap::from([Open { flow: 1.0, key }]),
        }
    }

    /// Makes states, as far as they are visited in a share `until` of all steps; with 0 all that can be reached.
    pub(crate) fn go_on(
        &mut self,
        stream: &Stream<'_>,
        memo: &mut Memo,
        until: f64,
        bounds: Bounds,
    ) -> Result<(), TooLarge> {
        while let Some(open) = self.heap.peek() {
            if open.flow < until {
                break;
            }
            let key = open.key;
            self.heap.pop();
            if !self.index.contains_key(&key) {
                self.at(stream, memo, key, bounds)?;
            }
        }
        self.plan.index = self.index.iter().map(|(&key, &state)| (key, state)).collect();
        self.plan.index.sort_unstable();
        Ok(())
    }

    /// Makes the state for a key, or finds it, and opens the states that its records lead to.
    fn at(&mut self, stream: &Stream<'_>, memo: &mut Memo, key: Key, bounds: Bounds) -> Result<(), TooLarge> {
        let Attempt { plan, chunks, threshold, visits, states, index, flows, heap } = self;
        let (threshold, zones) = (*threshold, plan.zones);
        let flow = match visits.get(&key) {
            Some(&visits) => visits,
            None => flows.get(&key).copied().unwrap_or_default(),
        };
        let (chunk, row) = key;
        let known = match row {
            _ if chunks.is_free(chunk) => Known::Nothing,
            // With this much depth left, references in the first frame lead to instances within the limit.
            row if flow < threshold && row >= chunks.spread(chunk) + 2 => Known::AtLeast(chunks.spread(chunk) + 2),
            row if row == zones => Known::AtLeast(zones),
            row if flow < EXACT * threshold && floor(row) >= chunks.spread(chunk) + 2 => Known::AtLeast(floor(row)),
            row => Known::Exactly(row),
        };
        let (depth, at_least) = match known {
            Known::Nothing => (Depth::ANY, zones),
            Known::Exactly(row) => (Depth::exactly(row), zones),
            Known::AtLeast(row) => (Depth::MUCH, row),
        };
        let local = Stream { floor: at_least, ..*stream };
        let items = chunks.items(chunk, depth);
        let items: Items = items.into_iter().map(|item| stream.grammar.settled(item, at_least)).collect();
        // Where no limit matters all rows are one state.
        let free = known != Known::Nothing && items.iter().all(|item| item.1 == Depth::ANY);
        let identity = if free { (chunks.whole(&items, depth).0, Known::Nothing) } else { (chunk, known) };
        let state = match states.get(&identity) {
            Some(&state) => state,
            None => {
                let depth = if free { Depth::ANY } else { depth };
                // The first choice of a single frame is made in any case.
                if items.iter().any(|item| stream.grammar.option_count(item.0) > MAX_STATE_RECORDS) {
                    return Err(TooLarge);
                }
                let state = make(&local, memo, chunks, identity.0, items, depth, (flow, threshold));
                plan.records += state.entries.len();
                if plan.records > bounds.records || memo.work > bounds.most {
                    return Err(TooLarge);
                }
                states.insert(identity, plan.states.len() as u32);
                plan.states.push(state);
                plan.states.len() as u32 - 1
            }
        };
        index.insert(key, state);
        for &((chunk, less), from_start, probability) in &plan.states[state as usize].pushed {
            let rows = match stream.grammar.start_depth() {
                _ if chunks.is_free(chunk) => zones..=zones,
                None => zones..=zones,
                Some(start) if from_start => (start - less).min(zones)..=(start - less).min(zones),
                Some(_) if row < zones => row - less..=row - less,
                Some(start) => zones - less.min(zones)..=(start - less).min(zones),
            };
            let last = *rows.end();
            for row in rows {
                let key = (chunk, row);
                let through = if row == last { flow * probability } else { flow * probability * 1e-3 };
                let flow = flows.entry(key).or_default();
                *flow += through;
                if !index.contains_key(&key) {
                    heap.push(Open { flow: *flow, key });
                }
            }
        }
        Ok(())
    }
}

fn make(
    stream: &Stream<'_>,
    memo: &mut Memo,
    chunks: &mut Chunks,
    chunk: u32,
    items: Items,
    depth: Depth,
    (flow, threshold): (f64, f64),
) -> State {
    let beginnings = unfold(stream, memo, &items, threshold / flow.clamp(1e-30, 1.0), MAX_STATE_RECORDS);
    let mut entries = Vec::with_capacity(beginnings.len());
    let mut pushed: Vec<(Push, bool, f64)> = Vec::with_capacity(beginnings.len());
    for beginning in &beginnings {
        chunks.want(stream, beginning, depth, flow * beginning.probability);
    }
    for beginning in beginnings {
        let pushes = chunks.partition(stream, &beginning, depth, threshold, beginning.open == items);
        for &push in &pushes {
            pushed.push((push, beginning.end.is_some(), beginning.probability));
        }
        entries.push(Entry { probability: beginning.probability, text: beginning.text, end: beginning.end, pushes });
    }
    // Stable, as sums of binary64 depend on the order.
    pushed.sort_by_key(|&(push, from_start, _)| (push, from_start));
    pushed.dedup_by(|b, a| {
        let same = (a.0, a.1) == (b.0, b.1);
        if same {
            a.2 += b.2;
        }
        same
    });
    State { chunk, entries, pushed }
}

/// Returns how often a run of `steps` steps visits each key, and each line of the table of rows that it reads.
pub(crate) fn trial(plan: &Plan, chunks: &Chunks, steps: u32) -> (Visits, Vec<f64>) {
    let cumulative: Vec<Vec<f64>> = plan
        .states
        .iter()
        .map(|state| {
            let mut sum = 0.0;
            let add = |entry: &Entry| {
                sum += entry.probability;
                sum
            };
            state.entries.iter().map(add).collect()
        })
        .collect();
    let rows = plan.zones as usize + 1;
    let places = plan.places(chunks);
    let mut counts = vec![0u32; places.states.len()];
    let start_depth = plan.start_depth;
    let mut stack: Vec<(u32, u32)> = vec![(plan.start.0, start_depth)];
    let mut lines: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..steps {
        let (chunk, depth) = stack.pop().unwrap_or((plan.start.0, start_depth));
        let place = places.place(chunk, depth);
        let state = places.states[place];
        if state == NONE {
            // A state that is hardly ever visited is not made yet. The input continues after it: inputs that were given
            // up would be the long ones.
            continue;
        }
        let state = state as usize;
        counts[place] += 1;
        *lines.entry((chunk, if chunks.is_free(chunk) { 0 } else { depth / ROWS })).or_default() += 1;
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = (random >> 11) as f64 / (1u64 << 53) as f64;
        let cumulative = &cumulative[state];
        let entry = cumulative.partition_point(|&sum| sum <= drawn).min(cumulative.len() - 1);
        let entry = &plan.states[state].entries[entry];
        let base = if entry.end.is_some() { start_depth } else { depth };
        stack.extend(entry.pushes.iter().rev().map(|&(chunk, less)| (chunk, base - less)));
    }
    let mut visits = Visits::default();
    for &((chunk, row), _) in &plan.index {
        let of_chunk = &counts[chunk as usize * rows..][..rows];
        let count: u32 = if chunks.is_free(chunk) { of_chunk.iter().sum() } else { of_chunk[row as usize] };
        if count > 0 {
            visits.insert((chunk, row), f64::from(count) / f64::from(steps));
        }
    }
    (visits, lines.into_values().map(|count| f64::from(count) / f64::from(steps)).collect())
}

impl Plan {
    /// Renumbers the chunks in use.
    pub(crate) fn compact(&mut self, chunks: &Chunks) -> Chunks {
        let mut used = vec![false; chunks.len()];
        used[self.start.0 as usize] = true;
        self.index.iter().for_each(|(key, _)| used[key.0 as usize] = true);
        for state in &self.states {
            used[state.chunk as usize] = true;
            state.pushed.iter().for_each(|((chunk, _), ..)| used[*chunk as usize] = true);
        }
        let (chunks, numbers) = chunks.only(&used);
        let renumber = |chunk: &mut u32| *chunk = numbers[*chunk as usize];
        renumber(&mut self.start.0);
        for state in &mut self.states {
            renumber(&mut state.chunk);
            state.pushed.iter_mut().for_each(|((chunk, _), ..)| renumber(chunk));
            state.entries.iter_mut().flat_map(|entry| &mut entry.pushes).for_each(|(chunk, _)| renumber(chunk));
        }
        self.index.iter_mut().for_each(|((chunk, _), _)| renumber(chunk));
        chunks
    }

    /// Returns the states by chunk and by the depth left.
    pub(crate) fn places(&self, chunks: &Chunks) -> Places {
        let rows = self.zones as usize + 1;
        let mut states = vec![NONE; chunks.len() * rows];
        for &((chunk, row), state) in &self.index {
            let of_chunk = &mut states[chunk as usize * rows..][..rows];
            if chunks.is_free(chunk) {
                of_chunk.fill(state);
            } else {
                of_chunk[row as usize] = state;
            }
        }
        Places { rows, states }
    }
}

/// No state.
const NONE: u32 = u32::MAX;

/// Places of each chunk's states.
pub(crate) struct Places {
    rows: usize,
    states: Vec<u32>,
}

impl Places {
    fn place(&self, chunk: u32, depth: u32) -> usize {
        chunk as usize * self.rows + (depth as usize).min(self.rows - 1)
    }

    /// Returns the state at a chunk where this much is left of the depth.
    pub(crate) fn state(&self, chunk: u32, depth: u32) -> Option<u32> {
        Some(self.states[self.place(chunk, depth)]).filter(|&state| state != NONE)
    }
}

/// Steps of a trial run of the whole plan.
const TRIAL: u32 = 50_000;

/// Returns the mean bytes of text a step and the mean steps an input, in a trial run.
pub(crate) fn figures(plan: &Plan, chunks: &Chunks) -> (f64, f64) {
    let (bytes, ends) = sums(plan, &trial(plan, chunks, TRIAL).0);
    (bytes, 1.0 / ends)
}

/// Returns the mean bytes of text and the mean ends of inputs, a step.
fn sums(plan: &Plan, visits: &Visits) -> (f64, f64) {
    // In the order of the keys: sums of binary64 depend on it.
    let means: Vec<(f64, f64)> = plan
        .states
        .iter()
        .map(|state| {
            state.entries.iter().fold((0.0, 0.0), |(bytes, ends), entry| {
                let end = f64::from(u8::from(entry.end.is_some()));
                (bytes + entry.probability * entry.text.len() as f64, ends + entry.probability * end)
            })
        })
        .collect();
    plan.index.iter().fold((0.0, 0.0), |(bytes, ends), &(ref key, state)| {
        let visits = visits.get(key).copied().unwrap_or_default();
        let mean = means[state as usize];
        (bytes + visits * mean.0, ends + visits * mean.1)
    })
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::{Options, SourceFile, compile};

    use super::super::chunks::Policy;
    use super::super::frames::Grammar;
    use super::*;

    /// A plan whose states are first omitted and made later is the same as one made at once.
    #[test]
    fn a_plan_can_be_made_in_parts() {
        let text = "e ::= t | t '+' e  t ::= f | f '*' t  f ::= [0-9]+ | '(' e ')' | '[' (e (',' e)*)? ']' | name\n\
                    name ::= [a-z] [a-z0-9]* ('.' name)?";
        let (compiled, _) = compile(&SourceFile::new("parts.ebnf", text), &Options::default()).expect("a grammar");
        let grammar = Grammar::new(&compiled, Some(20), &[]);
        let stream = Stream { grammar: &grammar, zones: 12, floor: 12, behind: &[] };
        let bounds = Bounds { records: 1 << 16, most: usize::MAX };
        let chunks = || Chunks::new(Policy { often: 16.0, large: 1.0 });
        let mut memo = Memo::default();
        let mut made = |untils: &[f64]| {
            let mut attempt = Attempt::new(&stream, chunks(), Visits::default(), 1e-3);
            let keys = untils.iter().map(|&until| {
                attempt.go_on(&stream, &mut memo, until, bounds).expect("a small plan");
                attempt.plan.index.len()
            });
            (keys.collect::<Vec<usize>>(), attempt)
        };
        let (_, whole) = made(&[0.0]);
        let (keys, parts) = made(&[1e-3, 1e-6, 0.0]);
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert_eq!(parts.plan.index, whole.plan.index);
        assert_eq!(parts.plan.states.len(), whole.plan.states.len());
        let of = |entry: &Entry| (entry.probability.to_bits(), entry.text.to_vec(), entry.pushes.to_vec());
        for (part, state) in parts.plan.states.iter().zip(&whole.plan.states) {
            assert_eq!(part.chunk, state.chunk);
            assert!(part.entries.iter().map(of).eq(state.entries.iter().map(of)));
        }
    }
}
