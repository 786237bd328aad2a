//! Shrinks an input by its choice bytes alone, one candidate at a time, for callers who run the test themselves.

use super::Doc;
use crate::producer::Producer;

/// Proposes simpler inputs: with shorter texts, then fewer choice bytes, then lower ones. Each is valid.
///
/// Choice bytes are taken out, many in a row first, then few at every place, then set to 0, then lowered one by one, until nothing helps any more.
pub struct Shrinker<P> {
    producer: P,
    best: Doc<P>,
    tried: Option<Doc<P>>,
    pass: Pass,
    /// Whether anything has helped since the passes began.
    improved: bool,
}

/// Up to so many bytes are taken out at every place, not only side by side.
const FEW: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Pass {
    /// So many bytes from a place on are taken out.
    TakeOut {
        count: usize,
        at: usize,
    },
    /// So many bytes from a place on become 0.
    Zero {
        count: usize,
        at: usize,
    },
    /// A byte becomes `next`. Below `low` the test does not hold, at `high` it does.
    Lower {
        at: usize,
        low: u8,
        next: u8,
        high: u8,
    },
    Done,
}

impl<P: Producer> Shrinker<P> {
    /// Shrinks `doc`, which was made by a producer like this one, with the same limits.
    pub fn new(producer: P, doc: Doc<P>) -> Shrinker<P> {
        let pass = Pass::first(doc.choices.len());
        Shrinker { producer, best: doc, tried: None, pass, improved: false }
    }

    /// The input to be tested: what was proposed last, or the simplest that was accepted.
    pub fn current(&self) -> &Doc<P> {
        self.tried.as_ref().unwrap_or(&self.best)
    }

    /// Takes what was proposed as the simplest, for the test has failed on it, and proposes another. Says whether there is one.
    pub fn accept(&mut self) -> bool {
        if let Some(tried) = self.tried.take() {
            self.best = tried;
            self.improved = true;
            self.pass = match self.pass {
                Pass::TakeOut { .. } => self.pass,
                Pass::Zero { count, at } => Pass::Zero { count, at: at + count },
                Pass::Lower { at, low, next, .. } => Pass::Lower { at, low, next: low + (next - low) / 2, high: next },
                Pass::Done => Pass::Done,
            };
        }
        self.propose()
    }

    /// Drops what was proposed, and proposes another. Says whether there is one.
    pub fn reject(&mut self) -> bool {
        if self.tried.take().is_some() {
            self.pass = self.pass.behind_failure();
        }
        self.propose()
    }

    fn propose(&mut self) -> bool {
        loop {
            let len = self.best.choices.len();
            self.pass = match self.pass {
                Pass::TakeOut { count: 0, .. } => Pass::Zero { count: len.next_power_of_two(), at: 0 },
                Pass::TakeOut { count, at } if at >= len => Pass::TakeOut { count: Pass::fewer(count), at: 0 },
                Pass::Zero { count: 0, .. } => Pass::lower(&self.best.choices, 0),
                Pass::Zero { count, at } if at >= len => Pass::Zero { count: count / 2, at: 0 },
                Pass::Lower { at, .. } if at >= len && self.improved => {
                    self.improved = false;
                    Pass::first(len)
                }
                Pass::Lower { at, .. } if at >= len => Pass::Done,
                Pass::Lower { at, low, high, .. } if low >= high => Pass::lower(&self.best.choices, at + 1),
                Pass::Done => return false,
                pass => {
                    let candidate = pass.candidate(&self.best.choices);
                    let doc = Doc::with(&mut self.producer, &candidate);
                    let order = |doc: &Doc<P>| (doc.text.len(), doc.choices.len());
                    if doc.text != self.best.text
                        && (order(&doc), &doc.choices) < (order(&self.best), &self.best.choices)
                    {
                        self.tried = Some(doc);
                        return true;
                    }
                    pass.behind_failure()
                }
            };
        }
    }
}

impl Pass {
    fn first(len: usize) -> Pass {
        Pass::TakeOut { count: len.next_power_of_two() / 2, at: 0 }
    }

    /// Halves of large numbers, then all smaller ones.
    fn fewer(count: usize) -> usize {
        if count > FEW { (count / 2).max(FEW) } else { count - 1 }
    }

    fn lower(choices: &[u8], at: usize) -> Pass {
        Pass::Lower { at, low: 0, next: 0, high: choices.get(at).copied().unwrap_or(0) }
    }

    fn candidate(self, choices: &[u8]) -> Vec<u8> {
        let mut candidate = choices.to_vec();
        let end = |at: usize, count: usize| (at + count).min(choices.len());
        match self {
            Pass::TakeOut { count, at } => drop(candidate.drain(at..end(at, count))),
            Pass::Zero { count, at } => candidate[at..end(at, count)].fill(0),
            Pass::Lower { at, next, .. } => candidate[at] = next,
            Pass::Done => {}
        }
        candidate
    }

    fn behind_failure(self) -> Pass {
        match self {
            Pass::TakeOut { count, at } => Pass::TakeOut { count, at: at + if count > FEW { count } else { 1 } },
            Pass::Zero { count, at } => Pass::Zero { count, at: at + count },
            Pass::Lower { at, next, high, .. } => {
                // `next` is below `high`.
                let low = next + 1;
                Pass::Lower { at, low, next: low + (high - low) / 2, high }
            }
            Pass::Done => Pass::Done,
        }
    }
}
