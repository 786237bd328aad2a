//! Makes choice bytes simpler while what is asked of their output holds.

use crate::choices::mutate::{change_rounds, shorten};
use crate::choices::{TracedInput, Tracer};

/// What [`minimise`] has found.
#[derive(Clone, Debug)]
pub struct Minimised {
    /// The simplest choice bytes found, all of which are read.
    pub choices: Vec<u8>,
    /// Their output.
    pub output: Vec<u8>,
    /// How often the test was asked.
    pub tests: u64,
    /// Whether the number of tests ended the search.
    pub exhausted: bool,
}

/// Searches for simpler choice bytes for whose output `test` holds, as it must for that of `choices`. Asks it at most
/// `max_tests` times.
///
/// Simpler is what has a shorter output, then fewer choice bytes, then lower ones. It is tried, in turn, until nothing helps any
/// more: to make parts as short as they can be, large ones first; to put an instance of a rule in place of one of the same
/// rule around it; to take rounds out of repetitions, many at once, then fewer (Zeller & Hildebrandt 2002); to take the choice
/// bytes of up to eight sites in a row out, whatever they derive; to lower the value read at a site.
pub fn minimise(
    tracer: &mut (impl Tracer + ?Sized),
    choices: &[u8],
    max_tests: u64,
    test: &mut dyn FnMut(&[u8]) -> bool,
) -> Minimised {
    let most = choices.len().max(1 << 20);
    let best = TracedInput::new(tracer, choices, most);
    let mut search =
        Search { tracer, test, best, tried: TracedInput::default(), candidate: Vec::new(), most, tests: 0, max_tests };
    loop {
        let before = search.best.choices().to_vec();
        search.shorten_parts();
        search.collapse();
        search.take_rounds_out();
        search.take_sites_out();
        search.lower();
        if search.is_exhausted() || search.best.choices() == before {
            break;
        }
    }
    Minimised {
        exhausted: search.is_exhausted(),
        tests: search.tests,
        output: search.best.output().to_vec(),
        choices: search.best.choices().to_vec(),
    }
}

struct Search<'s, T: Tracer + ?Sized> {
    tracer: &'s mut T,
    test: &'s mut dyn FnMut(&[u8]) -> bool,
    best: TracedInput,
    tried: TracedInput,
    candidate: Vec<u8>,
    most: usize,
    tests: u64,
    max_tests: u64,
}

impl<T: Tracer + ?Sized> Search<'_, T> {
    fn is_exhausted(&self) -> bool {
        self.tests >= self.max_tests
    }

    /// Takes the candidate if it is simpler and the test holds.
    fn accept(&mut self) -> bool {
        if self.is_exhausted() || self.candidate == self.best.choices() {
            return false;
        }
        self.tried.retrace(self.tracer, &self.candidate, self.most);
        let order = |input: &TracedInput| (input.output().len(), input.choices().len());
        let (tried, best) = (order(&self.tried), order(&self.best));
        if (tried, self.tried.choices()) >= (best, self.best.choices()) {
            return false;
        }
        self.tests += 1;
        let holds = (self.test)(self.tried.output());
        if holds {
            std::mem::swap(&mut self.best, &mut self.tried);
        }
        holds
    }

    /// The parts behind a place in the list of spans, after a change there.
    fn shorten_parts(&mut self) {
        // Outer spans stand before inner ones. A change leaves the spans before it as they are.
        let mut number = 0;
        while (number as usize) < self.best.trace().spans.len() && !self.is_exhausted() {
            if self.best.long.binary_search(&number).is_ok() {
                self.candidate.clear();
                let span = *self.best.span(number);
                if shorten(&self.best, &span, self.tracer, &mut self.candidate).is_some() {
                    self.accept();
                }
            }
            number += 1;
        }
    }

    fn collapse(&mut self) {
        let mut at = 0;
        while at < self.best.nested.len() && !self.is_exhausted() {
            let (outer, inner) = self.best.nested[at];
            let (outer, inner) = (self.best.span(outer).choices(), self.best.span(inner).choices());
            let choices = self.best.choices();
            self.candidate.clear();
            for part in [&choices[..outer.start], &choices[inner], &choices[outer.end..]] {
                self.candidate.extend_from_slice(part);
            }
            if !self.accept() {
                at += 1;
            }
        }
    }

    /// Rounds of one repetition that follow each other, in halves, quarters and so on.
    fn take_rounds_out(&mut self) {
        let mut size = self.best.rounds.len().next_power_of_two();
        while size > 0 {
            let mut at = 0;
            while at < self.best.rounds.len() && !self.is_exhausted() {
                if !self.without_rounds(at, size) || !self.accept() {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Makes a candidate without `size` rounds of one repetition, from that number on.
    fn without_rounds(&mut self, at: usize, size: usize) -> bool {
        let (first, repetition) = self.best.rounds[at];
        let same = self.best.rounds[at..].iter().filter(|&&(_, other)| other == repetition).take(size);
        let Some(&(last, _)) = same.last() else { return false };
        let mut span = *self.best.span(first);
        span.choices.1 = self.best.span(last).choices.1;
        self.candidate.clear();
        change_rounds(&self.best, &span, self.best.span(repetition), 0, &mut self.candidate);
        true
    }

    /// Choice bytes in a row that need not be a span: the first of several alike, for instance, which no repetition holds.
    fn take_sites_out(&mut self) {
        for count in (1..=8).rev() {
            let mut at = 0;
            while at + count <= self.best.trace().sites.len() && !self.is_exhausted() {
                let sites = &self.best.trace().sites[at..];
                let from = sites[0].at as usize;
                let to = sites.get(count).map_or(self.best.choices().len(), |site| site.at as usize);
                let choices = self.best.choices();
                if from >= to || to > choices.len() {
                    break;
                }
                self.candidate.clear();
                self.candidate.extend_from_slice(&choices[..from]);
                self.candidate.extend_from_slice(&choices[to..]);
                if !self.accept() {
                    at += 1;
                }
            }
        }
    }

    fn lower(&mut self) {
        let mut at = 0;
        while at < self.best.trace().sites.len() && !self.is_exhausted() {
            let site = self.best.trace().sites[at];
            let range = site.at as usize..site.at as usize + usize::from(site.width);
            if range.end > self.best.choices().len() {
                break;
            }
            let value =
                self.best.choices()[range.clone()].iter().rev().fold(0u32, |value, &byte| value << 8 | u32::from(byte));
            // The least value for which the test holds, if it does for all above that: between `low`, for which it does not,
            // and `high`, for which it does.
            let (mut low, mut high) = (0, value);
            let mut next = 0u32;
            while low < high && !self.is_exhausted() {
                self.candidate.clear();
                self.candidate.extend_from_slice(self.best.choices());
                self.candidate[range.clone()].copy_from_slice(&next.to_le_bytes()[..range.len()]);
                if self.accept() {
                    high = next;
                } else {
                    low = next + 1;
                }
                next = low + (high - low) / 2;
            }
            at += 1;
        }
    }
}
