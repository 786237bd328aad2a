//! Unfolding: the beginnings of what a sequence of frames derives, as many as its share of the tables allows, the most
//! probable ones furthest (after Tunstall 1967).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

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

/// A beginning: a text, and what is open behind it.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    pub(crate) probability: f64,
    pub(crate) text: Vec<u8>,
    /// Where in the text an input ends, if one does.
    pub(crate) end: Option<u8>,
    /// What follows, the next first; at most [`FRAMES`] frames.
    pub(crate) open: Vec<Item>,
    /// Whether the first open frame is a choice.
    is_choice: bool,
}

impl Beginning {
    fn of(open: Vec<Item>) -> Beginning {
        Beginning { probability: 1.0, text: Vec::new(), end: None, open, is_choice: false }
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
                    self.text.extend_from_slice(&bytes[..taken]);
                    if taken < bytes.len() {
                        self.open[0] = (Frame::Text { text, from: from + taken as u32 }, Depth::ANY);
                        return;
                    }
                    self.open.remove(0);
                }
                Step::Push(items) => {
                    let count = items.iter().flatten().count();
                    if self.open.len() - 1 + count > FRAMES {
                        return;
                    }
                    self.open.splice(..1, items.into_iter().flatten());
                }
                Step::PushAll(items) => {
                    if self.open.len() - 1 + items.len() > FRAMES {
                        return;
                    }
                    self.open.splice(..1, items);
                }
                Step::Choice => {
                    self.is_choice = true;
                    return;
                }
                Step::End => {
                    if self.end.is_some() || self.text.len() + stream.behind.len() > TEXT {
                        return;
                    }
                    self.end = Some(self.text.len() as u8);
                    self.text.extend_from_slice(stream.behind);
                    let start = stream.grammar.start(stream.start_depth(), stream.zones);
                    self.open.splice(..1, [start, (Frame::End, Depth::ANY)]);
                }
                Step::Unknown => return,
            }
        }
    }

    /// The beginnings in its place, by the options of its first open frame.
    fn expand(&self, stream: &Stream<'_>) -> Option<Vec<Beginning>> {
        let options = stream.grammar.options(self.open[0], stream.floor);
        if options.iter().any(|(_, items)| self.open.len() - 1 + items.len() > FRAMES) {
            return None;
        }
        // What is never drawn has no record.
        let drawn = options.into_iter().filter(|&(share, _)| share > 0.0);
        let beginnings = drawn.map(|(share, items)| {
            let mut open = Vec::with_capacity(FRAMES);
            open.extend(items);
            open.extend_from_slice(&self.open[1..]);
            let mut beginning = Beginning {
                probability: self.probability * share,
                text: self.text.clone(),
                end: self.end,
                open,
                is_choice: false,
            };
            beginning.advance(stream);
            beginning
        });
        Some(beginnings.collect())
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
pub(crate) fn unfold(stream: &Stream<'_>, items: Vec<Item>, threshold: f64, max: usize) -> (Vec<Beginning>, usize) {
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
