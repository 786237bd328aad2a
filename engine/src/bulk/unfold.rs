//! Unfolding: the beginnings of the derivations of a sequence of frames, as many as its share of the tables allows, the
//! most probable ones furthest (after Tunstall 1967).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use arrayvec::ArrayVec;

use super::ahead::{Memo, Next, in_place_of_first};
use super::frames::{Depth, Frame, Grammar, Item};

/// Bytes of text that one step emits at most.
pub(crate) const TEXT: usize = 32;
/// Frames that one step leaves open at most.
pub(crate) const FRAMES: usize = 6;
/// Chunks that they are cut into at most.
pub(crate) const OPEN: usize = 4;
/// Deterministic steps within one unfolding; more are left to the next.
const MAX_STEPS: usize = 10_000;

/// The context of all outputs: the grammar, the number of zones, and the text between inputs.
#[derive(Clone, Copy)]
pub(crate) struct Stream<'g> {
    pub(crate) grammar: &'g Grammar,
    /// With this much left of the depth, or more, tables don't depend on it.
    pub(crate) zones: u32,
    /// The least depth left where it is [`Depth::MUCH`].
    pub(crate) floor: u32,
    /// The text after each input.
    pub(crate) behind: &'g [u8],
}

impl Stream<'_> {
    /// Returns the depth of the start rule's instance: known, or much.
    pub(crate) fn start_depth(&self) -> Depth {
        match self.grammar.start_depth() {
            None => Depth::ANY,
            Some(depth) if depth < self.zones => Depth::exactly(depth),
            Some(_) => Depth::MUCH,
        }
    }
}

/// The open frames after a step, the next first.
pub(crate) type Open = ArrayVec<Item, FRAMES>;

/// A beginning: a text, and the frames that are open after it.
pub(crate) struct Beginning {
    pub(crate) probability: f64,
    pub(crate) text: ArrayVec<u8, TEXT>,
    /// Place in the text where an input ends, if one does.
    pub(crate) end: Option<u8>,
    pub(crate) open: Open,
    /// Number of options of the first open frame, if it is a choice; 0 if it is none.
    options: usize,
}

/// Copies the elements, all at once.
fn copied<T: Copy, const N: usize>(elements: &ArrayVec<T, N>) -> ArrayVec<T, N> {
    let mut copy = ArrayVec::new();
    copy.try_extend_from_slice(elements).expect("the capacity is the same");
    copy
}

impl Beginning {
    fn of(open: Open) -> Beginning {
        Beginning { probability: 1.0, text: ArrayVec::new(), end: None, open, options: 0 }
    }

    /// Goes on until a choice is open, the text is full, or nothing more is known.
    fn advance(&mut self, stream: &Stream<'_>, memo: &mut Memo) {
        self.options = 0;
        for _ in 0..MAX_STEPS {
            let Some(&first) = self.open.first() else { return };
            let ahead = memo.ahead(stream.grammar, first, stream.floor);
            match &ahead.items[..] {
                [item] => self.open[0] = *item,
                items => match in_place_of_first(&self.open, items) {
                    Some(open) => self.open = open,
                    None => return,
                },
            }
            match ahead.next {
                Next::Nothing => {}
                Next::Text(ref bytes, from, text) => {
                    let bytes = &bytes[from as usize..];
                    let taken = bytes.len().min(TEXT - self.text.len());
                    self.text.try_extend_from_slice(&bytes[..taken]).expect("there is room for these bytes");
                    if taken < bytes.len() {
                        self.open[0] = (Frame::Text { text, from: from + taken as u32 }, Depth::ANY);
                        return;
                    }
                    self.open.remove(0);
                }
                Next::Choice(options) => {
                    self.options = options;
                    return;
                }
                Next::End => {
                    if self.end.is_some() || self.text.len() + stream.behind.len() > TEXT {
                        return;
                    }
                    let start = stream.grammar.start(stream.start_depth(), stream.zones);
                    let Some(open) = in_place_of_first(&self.open, &[start, (Frame::End, Depth::ANY)]) else { return };
                    self.open = open;
                    self.end = Some(self.text.len() as u8);
                    self.text.try_extend_from_slice(stream.behind).expect("there is room for it");
                }
                Next::Unknown => return,
            }
        }
    }

    /// Appends the beginnings in its place, by the options of its first open frame; says whether none leaves too much
    /// open.
    fn expand(&self, stream: &Stream<'_>, memo: &mut Memo, beginnings: &mut Vec<Beginning>) -> bool {
        let branches = memo.branches(stream.grammar, self.open[0], stream.floor).clone();
        if self.open.len() - 1 + branches.longest > FRAMES {
            return false;
        }
        // An option that is never drawn has no record.
        for &(share, ref items) in branches.options.iter().filter(|option| option.0 > 0.0) {
            let mut beginning = Beginning {
                probability: self.probability * share,
                text: copied(&self.text),
                end: self.end,
                open: in_place_of_first(&self.open, items).expect("there is room for the longest"),
                options: 0,
            };
            beginning.advance(stream, memo);
            beginnings.push(beginning);
        }
        true
    }
}

/// A beginning, ordered by the value of one more record for its expansion.
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

/// Returns the beginnings of `items`: choices are made where the probability that a record gains is `threshold` or
/// more, up to `max` beginnings; a single frame that is a choice is made in any case. If nothing is decided, the frames
/// come back as they are.
pub(crate) fn unfold(stream: &Stream<'_>, memo: &mut Memo, items: &Open, threshold: f64, max: usize) -> Vec<Beginning> {
    let mut first = Beginning::of(copied(items));
    first.advance(stream, memo);
    let worth = match &*first.open {
        [_] if first.open == *items => f64::INFINITY,
        [_, ..] => 1.0 / (first.options.max(2) - 1) as f64,
        [] => 0.0,
    };
    let mut done = vec![first];
    // Those that others stand in place of.
    let mut replaced = Vec::new();
    let mut count = 1;
    let mut candidates = BinaryHeap::from([Candidate { worth, index: 0 }]);
    while let Some(candidate) = candidates.pop() {
        if candidate.worth < threshold {
            break;
        }
        let index = candidate.index;
        let options = done[index].options;
        if options == 0 {
            continue;
        }
        let more = options - 1;
        if candidate.worth < f64::INFINITY && count + more > max {
            continue;
        }
        let before = done.len();
        let beginning = std::mem::replace(&mut done[index], Beginning::of(Open::new()));
        let expanded = beginning.expand(stream, memo, &mut done);
        done[index] = beginning;
        if !expanded {
            continue;
        }
        replaced.push(index);
        count += more;
        for (index, beginning) in done.iter().enumerate().skip(before) {
            if beginning.options > 0 && beginning.text.len() < TEXT {
                let worth = beginning.probability / (beginning.options.max(2) - 1) as f64;
                if worth >= threshold {
                    candidates.push(Candidate { worth, index });
                }
            }
        }
    }
    memo.work += done.len();
    // From the last on, each makes way for the one at the end.
    replaced.sort_unstable();
    for index in replaced.into_iter().rev() {
        done.swap_remove(index);
    }
    merged(done)
}

/// Joins beginnings that do not differ into one.
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
