//! Makes choice bytes simpler while what is asked of their output holds.

use crate::choices::mutate::{change_rounds, shorten};
use crate::choices::{Choices, TracedInput, Tracer};

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
/// `max_tests` times. [`Minimiser`] says what is tried.
pub fn minimise(
    tracer: &mut (impl Tracer + ?Sized),
    choices: &[u8],
    max_tests: u64,
    test: &mut dyn FnMut(&[u8]) -> bool,
) -> Minimised {
    let mut minimiser = Minimiser::new(tracer, choices);
    let mut tests = 0;
    while tests < max_tests
        && let Some(output) = minimiser.propose(tracer)
    {
        tests += 1;
        let holds = test(output);
        minimiser.judge(tracer, holds);
    }
    let best = minimiser.best();
    Minimised { exhausted: tests >= max_tests, tests, output: best.output().to_vec(), choices: best.choices().to_vec() }
}

/// A search for simpler choice bytes, one candidate at a time, for callers who run the test themselves.
///
/// Simpler is what has a shorter output, then fewer choice bytes, then lower ones. It is tried, in turn, until nothing helps any
/// more: to make parts as short as they can be, large ones first; to put an instance of a rule in place of one of the same
/// rule around it; to take rounds out of repetitions, many at once, then fewer (Zeller & Hildebrandt 2002); to take the choice
/// bytes of up to eight sites in a row out, whatever they derive; to lower the value read at a site.
#[derive(Clone, Debug)]
pub struct Minimiser {
    best: TracedInput,
    /// The candidate, its choice bytes and its output; it is traced only if the test holds for it.
    candidate: Vec<u8>,
    output: Vec<u8>,
    tried: TracedInput,
    most: usize,
    pass: Pass,
    /// The choice bytes when the first pass began.
    before: Vec<u8>,
    /// Whether only whole parts are changed, and only for shorter outputs.
    parts_only: bool,
    /// Whether a candidate waits for its judgement.
    waits: bool,
}

/// What is tried, and where.
#[derive(Clone, Copy, Debug)]
enum Pass {
    /// The span of this number becomes as short as it can be.
    Shorten(u32),
    /// The inner one of a pair of nested instances stands for the outer one.
    Collapse(usize),
    /// So many rounds of one repetition, from this one on, are taken out.
    Rounds { size: usize, at: usize },
    /// So many sites, from this one on, are taken out.
    Sites { count: usize, at: usize },
    /// A site reads a lower value; which, is known once it was looked at.
    Lower { at: usize, values: Option<Values> },
    /// Nothing helps.
    Done,
}

/// For values below `low` the test does not hold, for `high` it does, if it does for all above the least; `next` is tried.
#[derive(Clone, Copy, Debug)]
struct Values {
    low: u32,
    next: u32,
    high: u32,
}

/// So many sites in a row are taken out at most.
const SITES: usize = 8;

/// So many bytes of candidates that are no simpler end the search: where many parts cannot get shorter, each would cost a run.
const MAX_IDLE: usize = 1 << 27;

impl Minimiser {
    /// A search that begins with `choices`.
    pub fn new(tracer: &mut (impl Tracer + ?Sized), choices: &[u8]) -> Minimiser {
        let most = choices.len().max(1 << 20);
        let best = TracedInput::new(tracer, choices, most);
        Minimiser {
            before: best.choices().to_vec(),
            best,
            candidate: Vec::new(),
            output: Vec::new(),
            tried: TracedInput::default(),
            most,
            pass: Pass::Shorten(0),
            parts_only: false,
            waits: false,
        }
    }

    /// Only the steps that change whole parts, and only to outputs that are shorter: the greater part of what can be reached,
    /// in much fewer tests.
    #[must_use]
    pub fn parts_only(self) -> Minimiser {
        Minimiser { parts_only: true, ..self }
    }

    /// The simplest that the test has held for.
    pub fn best(&self) -> &TracedInput {
        &self.best
    }

    /// The next candidate's output, to be tested; `None` if nothing helps any more. A candidate that was not judged is dropped.
    /// Candidates are rendered by the tracer's [`Producer::produce`](crate::Producer::produce), and traced only if they are accepted.
    pub fn propose(&mut self, tracer: &mut (impl Tracer + ?Sized)) -> Option<&[u8]> {
        if std::mem::take(&mut self.waits) {
            self.move_on(false);
        }
        let mut idle = 0;
        while !matches!(self.pass, Pass::Done) {
            if idle > MAX_IDLE {
                self.pass = Pass::Done;
                break;
            }
            self.candidate.clear();
            if !self.is_made(tracer) {
                continue;
            }
            if self.candidate != self.best.choices() {
                self.output.clear();
                let read = tracer.produce(&mut Choices::replay(&self.candidate), &mut self.output);
                self.candidate.truncate(usize::try_from(read).unwrap_or(usize::MAX));
                if self.is_simpler(&self.output, &self.candidate) {
                    self.waits = true;
                    return Some(&self.output);
                }
                idle += self.candidate.len() + self.output.len();
            }
            self.move_on(false);
        }
        None
    }

    /// Says whether the test holds for the candidate. The tracer is the one that it was proposed with.
    pub fn judge(&mut self, tracer: &mut (impl Tracer + ?Sized), holds: bool) {
        if std::mem::take(&mut self.waits) {
            let mut is_taken = false;
            if holds {
                self.tried.retrace(tracer, &self.candidate, self.most);
                // Choice bytes that were missing are there now.
                is_taken = self.is_simpler(self.tried.output(), self.tried.choices());
            }
            if is_taken {
                std::mem::swap(&mut self.best, &mut self.tried);
            }
            self.move_on(is_taken);
        }
    }

    fn is_simpler(&self, output: &[u8], choices: &[u8]) -> bool {
        let (best_output, best) = (self.best.output(), self.best.choices());
        match self.parts_only {
            true => output.len() < best_output.len(),
            false => (output.len(), choices.len(), choices) < (best_output.len(), best.len(), best),
        }
    }

    /// Makes the candidate of this place of the pass, or goes on to the next one. Says whether there is a candidate.
    fn is_made(&mut self, tracer: &mut (impl Tracer + ?Sized)) -> bool {
        let best = &self.best;
        match &mut self.pass {
            Pass::Shorten(number) => {
                // Outer spans stand before inner ones. A change leaves the spans before it as they are.
                match best.long.get(best.long.partition_point(|long| long < number)) {
                    Some(&long) => {
                        *number = long;
                        let is_made = shorten(best, best.span(long), tracer, &mut self.candidate).is_some();
                        *number += u32::from(!is_made);
                        return is_made;
                    }
                    None => self.pass = Pass::Collapse(0),
                }
            }
            Pass::Collapse(at) => match best.nested.get(*at) {
                Some(&(outer, inner)) => {
                    let (outer, inner) = (best.span(outer).choices(), best.span(inner).choices());
                    let choices = best.choices();
                    for part in [&choices[..outer.start], &choices[inner], &choices[outer.end..]] {
                        self.candidate.extend_from_slice(part);
                    }
                    return true;
                }
                None => self.pass = Pass::Rounds { size: best.rounds.len().next_power_of_two(), at: 0 },
            },
            Pass::Rounds { size, at } => match best.rounds.get(*at) {
                Some(_) if *size > 0 => {
                    without_rounds(best, *at, *size, &mut self.candidate);
                    return true;
                }
                _ if *size > 1 => self.pass = Pass::Rounds { size: *size / 2, at: 0 },
                _ if self.parts_only => self.start_again(),
                _ => self.pass = Pass::Sites { count: SITES, at: 0 },
            },
            Pass::Sites { count, at } => match without_sites(best, *at, *count, &mut self.candidate) {
                Some(()) => return true,
                None if *count > 1 => self.pass = Pass::Sites { count: *count - 1, at: 0 },
                None => self.pass = Pass::Lower { at: 0, values: None },
            },
            Pass::Lower { at, values } => {
                let site = best.trace().sites.get(*at);
                let range = site.map(|site| site.at as usize..site.at as usize + usize::from(site.width));
                let Some(range) = range.filter(|range| range.end <= best.choices().len()) else {
                    self.start_again();
                    return false;
                };
                let values = values.get_or_insert_with(|| {
                    let bytes = best.choices()[range.clone()].iter();
                    let high = bytes.rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
                    Values { low: 0, next: 0, high }
                });
                if values.low < values.high {
                    self.candidate.extend_from_slice(best.choices());
                    let next = values.next.to_le_bytes();
                    let width = range.len();
                    self.candidate[range].copy_from_slice(&next[..width]);
                    return true;
                }
                self.pass = Pass::Lower { at: *at + 1, values: None };
            }
            Pass::Done => {}
        }
        false
    }

    /// Goes on behind a candidate.
    fn move_on(&mut self, holds: bool) {
        match &mut self.pass {
            Pass::Shorten(number) => *number += 1,
            Pass::Collapse(at) => *at += usize::from(!holds),
            Pass::Rounds { at, size } => *at += if holds { 0 } else { *size },
            Pass::Sites { at, .. } => *at += usize::from(!holds),
            Pass::Lower { values: Some(values), .. } => {
                match holds {
                    true => values.high = values.next,
                    false => values.low = values.next + 1,
                }
                values.next = values.low + (values.high.saturating_sub(values.low)) / 2;
            }
            Pass::Lower { .. } | Pass::Done => {}
        }
    }

    /// From the first pass on, if they have helped.
    fn start_again(&mut self) {
        if self.best.choices() == self.before {
            self.pass = Pass::Done;
        } else {
            self.before.clear();
            self.before.extend_from_slice(self.best.choices());
            self.pass = Pass::Shorten(0);
        }
    }
}

/// Writes the choice bytes without `size` rounds of one repetition, or as many as it has from that number on.
fn without_rounds(input: &TracedInput, at: usize, size: usize, candidate: &mut Vec<u8>) {
    let (first, repetition) = input.rounds[at];
    let mut span = *input.span(first);
    let same = input.rounds[at..].iter().filter(|&&(_, other)| other == repetition).take(size);
    if let Some(&(last, _)) = same.last() {
        span.choices.1 = input.span(last).choices.1;
    }
    change_rounds(input, &span, input.span(repetition), 0, candidate);
}

/// Writes the choice bytes without those of sites in a row. They need not be a span: the first of several alike, for instance,
/// which no repetition holds.
fn without_sites(input: &TracedInput, at: usize, count: usize, candidate: &mut Vec<u8>) -> Option<()> {
    let sites = &input.trace().sites;
    let choices = input.choices();
    let from = sites.get(at)?.at as usize;
    sites.get(at + count - 1)?;
    let to = sites.get(at + count).map_or(choices.len(), |site| site.at as usize);
    (from < to && to <= choices.len()).then(|| {
        candidate.extend_from_slice(&choices[..from]);
        candidate.extend_from_slice(&choices[to..]);
    })
}
