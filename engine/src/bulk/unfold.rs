//! Unfolding: the beginnings of what a sequence of frames derives, as many as its share of the tables allows, the most
//! probable ones furthest (after Tunstall 1967).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use arrayvec::ArrayVec;

use super::frames::{Depth, Frame, Grammar, Item, Step};

/// Bytes of text that one step emits at most.
pub(crate) const TEXT: usize = 32;
/// Frames that one step leaves open at most.
pub(crate) const FRAMES: usize = 6;
/// Chunks that they are cut into at most.
pub(crate) const OPEN: usize = 4;
/// Deterministic steps within one unfolding; more are left to the next.
const MAX_STEPS: usize = 10_000;

/// What all outputs are part of: the grammar, the number of zones, and what stands between inputs.
#[derive(Clone, Copy)]
pub(crate) struct Stream<'g> {
    pub(crate) grammar: &'g Grammar,
    /// With this much left of the depth, or more, tables don't depend on it.
    pub(crate) zones: u32,
    /// What is left at least where it is [`Depth::MUCH`].
    pub(crate) floor: u32,
    /// The text behind each input.
    pub(crate) behind: &'g [u8],
}

impl Stream<'_> {
    /// The depth of the start rule's instance: known, or much.
    pub(crate) fn start_depth(&self) -> Depth {
        match self.grammar.start_depth() {
            None => Depth::ANY,
            Some(depth) if depth < self.zones => Depth::exactly(depth),
            Some(_) => Depth::MUCH,
        }
    }
}

/// What a step leaves open, the next first.
pub(crate) type Open = ArrayVec<Item, FRAMES>;

/// A beginning: a text, and what is open behind it.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    pub(crate) probability: f64,
    pub(crate) text: ArrayVec<u8, TEXT>,
    /// Where in the text an input ends, if one does.
    pub(crate) end: Option<u8>,
    pub(crate) open: Open,
    /// Whether the first open frame is a choice.
    is_choice: bool,
}

impl Beginning {
    fn of(open: Open) -> Beginning {
        Beginning { probability: 1.0, text: ArrayVec::new(), end: None, open, is_choice: false }
    }

    /// Puts frames in place of the first open one, unless there would be too many.
    fn replace_first(&mut self, items: impl ExactSizeIterator<Item = Item>) -> bool {
        let count = self.open.len() - 1;
        if count + items.len() > FRAMES {
            return false;
        }
        let mut open: Open = items.collect();
        open.extend(self.open.drain(1..));
        self.open = open;
        true
    }

    /// Goes on until a choice is open, the text is full, or nothing more is known.
    fn advance(&mut self, stream: &Stream<'_>) {
        self.is_choice = false;
        for _ in 0..MAX_STEPS {
            let Some(&first) = self.open.first() else { return };
            match stream.grammar.step(first, stream.floor) {
                Step::Text(text, from) => {
                    let bytes = stream.grammar.text(text);
                    let bytes = &bytes[from as usize..];
                    let taken = bytes.len().min(TEXT - self.text.len());
                    self.text.extend(bytes[..taken].iter().copied());
                    if taken < bytes.len() {
                        self.open[0] = (Frame::Text { text, from: from + taken as u32 }, Depth::ANY);
                        return;
                    }
                    self.open.remove(0);
                }
                Step::Push(items) => {
                    if !self.replace_first(items.into_iter().flatten().collect::<ArrayVec<Item, 2>>().into_iter()) {
                        return;
                    }
                }
                Step::PushAll(items) => {
                    if !self.replace_first(items.iter().copied()) {
                        return;
                    }
                }
                Step::Choice => {
                    self.is_choice = true;
                    return;
                }
                Step::End => {
                    if self.end.is_some() || self.text.len() + stream.behind.len() > TEXT {
                        return;
                    }
                    let start = stream.grammar.start(stream.start_depth(), stream.zones);
                    let end = self.text.len() as u8;
                    if !self.replace_first([start, (Frame::End, Depth::ANY)].into_iter()) {
                        return;
                    }
                    self.end = Some(end);
                    self.text.extend(stream.behind.iter().copied());
                }
                Step::Unknown => return,
            }
        }
    }

    /// The beginnings in its place, by the options of its first open frame; `None` if one leaves too much open.
    fn expand(&self, stream: &Stream<'_>) -> Option<Vec<Beginning>> {
        let options = stream.grammar.options(self.open[0], stream.floor);
        if options.iter().any(|(_, items)| self.open.len() - 1 + items.len() > FRAMES) {
            return None;
        }
        let mut beginnings = Vec::with_capacity(options.len());
        for &(share, ref items) in options.iter() {
            let mut beginning = Beginning { probability: self.probability * share, ..self.clone() };
            beginning.replace_first(items.iter().copied());
            // What is never drawn has no record.
            if share > 0.0 {
                beginning.advance(stream);
                beginnings.push(beginning);
            }
        }
        Some(beginnings)
    }
}

/// A beginning by what one more record for its expansion would be worth.
struct Candidate {
    worth: f64,
    index: usize,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.worth.total_cmp(&other.worth).then(other.index.cmp(&self.index))
    }
}

/// The beginnings of `items`: choices are made where the probability that a record gains is `threshold` or more, up to `max`
/// beginnings; a single frame that is a choice is made in any case. If nothing is decided, the frames come back as they
/// are. Also how many were made on the way.
pub(crate) fn unfold(stream: &Stream<'_>, items: Open, threshold: f64, max: usize) -> (Vec<Beginning>, usize) {
    let mut first = Beginning::of(items.clone());
    first.advance(stream);
    let worth = match &*first.open {
        [_] if first.open == items => f64::INFINITY,
        [item, ..] => 1.0 / (stream.grammar.option_count(item.0).max(2) - 1) as f64,
        [] => 0.0,
    };
    let mut done: Vec<Option<Beginning>> = vec![Some(first)];
    let mut count = 1;
    let mut candidates = BinaryHeap::from([Candidate { worth, index: 0 }]);
    while let Some(candidate) = candidates.pop() {
        let Some(beginning) = done[candidate.index].as_ref().filter(|beginning| beginning.is_choice) else { continue };
        if candidate.worth < threshold {
            break;
        }
        let forced = candidate.worth == f64::INFINITY;
        let more = stream.grammar.option_count(beginning.open[0].0) - 1;
        if !forced && count + more > max {
            continue;
        }
        let Some(expanded) = beginning.expand(stream) else { continue };
        done[candidate.index] = None;
        count += more;
        for beginning in expanded {
            if beginning.is_choice && beginning.text.len() < TEXT {
                let arity = stream.grammar.option_count(beginning.open[0].0);
                let worth = beginning.probability / (arity.max(2) - 1) as f64;
                candidates.push(Candidate { worth, index: done.len() });
            }
            done.push(Some(beginning));
        }
    }
    let made = done.len();
    (merged(done.into_iter().flatten().collect()), made)
}

/// Beginnings that do not differ, once.
fn merged(mut beginnings: Vec<Beginning>) -> Vec<Beginning> {
    beginnings.sort_by(|a, b| (&a.text, a.end, &a.open).cmp(&(&b.text, b.end, &b.open)));
    beginnings.dedup_by(|b, a| {
        let same = (&a.text, a.end, &a.open) == (&b.text, b.end, &b.open);
        if same {
            a.probability += b.probability;
        }
        same
    });
    beginnings
}
