//! Lower values at sites, for outputs of the same length.

use super::need::{Need, Range, decay, difference};
use crate::choices::{Choices, TracedInput, Tracer};

/// Tries zeros at as many sites at once as makes the expected number of zeros greatest. Then each remaining site tries
/// the next lower value, and if that helps, ever lower ones.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    /// Sites still to be set to zero.
    sites: Vec<Site>,
    /// The sites that cannot be zero; the last one is being looked at.
    stubborn: Vec<Site>,
    search: Option<Search>,
    tried: Option<Tried>,
    /// Number of further tests that may fail in a row.
    left: u32,
}

/// Place where a site reads, the number of bytes, and the part of the output that a zero there changes.
#[derive(Clone, Copy, Debug)]
struct Site {
    at: usize,
    width: usize,
    changes: Range,
}

/// Sites whose bytes are needed at a higher rate do not read zero.
const MAX_RATE: f64 = 2.0;
/// The search for plainer texts ends after this number of failed tests in a row.
const MAX_FRUITLESS: u32 = 4;

/// Below `low` the test does not hold, for `high` it does.
#[derive(Clone, Copy, Debug)]
struct Search {
    low: u32,
    high: u32,
    is_first: bool,
}

#[derive(Clone, Debug)]
enum Tried {
    /// This number of the sites, the first ones, read zero.
    Zeros(usize),
    Value(u32),
}

impl Plain {
    pub(super) fn new(best: &TracedInput, tracer: &mut (impl Tracer + ?Sized), need: &Need) -> Plain {
        let choices = best.choices();
        let (mut sites, mut stubborn) = (Vec::new(), Vec::new());
        for site in &best.trace().sites {
            let (at, width) = (site.at as usize, usize::from(site.width));
            if at + width > choices.len() || choices[at..at + width].iter().all(|&byte| byte == 0) {
                continue;
            }
            let mut candidate = choices.to_vec();
            candidate[at..at + width].fill(0);
            let mut output = Vec::new();
            let read = tracer.produce(&mut Choices::replay(&candidate), &mut output) as usize;
            let (from, to, _) = difference(best.output(), &output);
            let site = Site { at, width, changes: (from as u32, to as u32) };
            // A change of length is a change of structure. A change of bytes that a failed test has lacked rarely
            // passes.
            let is_free =
                read == candidate.len() && output.len() == best.output().len() && need.rate(site.changes) < MAX_RATE;
            if is_free { sites.push(site) } else { stubborn.push(site) }
        }
        stubborn.reverse();
        Plain { sites, stubborn, search: None, tried: None, left: MAX_FRUITLESS }
    }

    /// Returns how many sites to set to zero at once, after sorting them by the rates at which their bytes are needed.
    /// Sites whose bytes turned out to be needed become stubborn.
    fn zeros(&mut self, need: &Need) -> usize {
        let is_needed = |site: &Site| need.rate(site.changes) >= MAX_RATE;
        self.stubborn.extend(self.sites.extract_if(.., |site| is_needed(site)));
        self.sites.sort_by(|a, b| need.rate(a.changes).total_cmp(&need.rate(b.changes)));
        let (mut rate, mut most, mut count) = (0.0, 0.0, 0);
        for (site, number) in self.sites.iter().zip(1..) {
            rate += need.rate(site.changes);
            let expected = f64::from(number) * decay(rate);
            if expected > most {
                (most, count) = (expected, number as usize);
            }
        }
        count
    }

    fn value(site: Site, choices: &[u8]) -> u32 {
        choices[site.at..site.at + site.width].iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
    }

    fn set(site: Site, value: u32, choices: &mut [u8]) {
        choices[site.at..site.at + site.width].copy_from_slice(&value.to_le_bytes()[..site.width]);
    }

    /// Makes the next candidate and its output; says whether there is one. Lower values that make the same output are
    /// taken at once.
    pub(super) fn propose(
        &mut self,
        best: &mut TracedInput,
        tracer: &mut (impl Tracer + ?Sized),
        need: &Need,
        is_tested: &dyn Fn(&[u8]) -> bool,
        candidate: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> bool {
        while let Some(tried) = self.next(best.choices(), need).filter(|_| self.left > 0) {
            candidate.clear();
            candidate.extend_from_slice(best.choices());
            match tried {
                Tried::Zeros(count) => self.sites[..count].iter().for_each(|&site| Plain::set(site, 0, candidate)),
                Tried::Value(value) => Plain::set(self.stubborn[self.stubborn.len() - 1], value, candidate),
            }
            self.tried = Some(tried);
            output.clear();
            let read = tracer.produce(&mut Choices::replay(candidate), output) as usize;
            let is_same = output == best.output() && read == candidate.len();
            if is_same {
                best.retrace(tracer, candidate, candidate.len());
                self.note(true);
                continue;
            }
            candidate.truncate(read);
            let order = (output.len(), candidate.len());
            if order <= (best.output().len(), best.choices().len()) && !is_tested(output) {
                return true;
            }
            // Together they make another structure, or a text that has failed already.
            if let Some(&Tried::Zeros(count)) = self.tried.as_ref() {
                self.stubborn.push(self.sites.remove(count - 1));
                self.tried = None;
            }
            self.note(false);
        }
        false
    }

    fn next(&mut self, choices: &[u8], need: &Need) -> Option<Tried> {
        if self.search.is_none() {
            let count = self.zeros(need);
            if count > 0 {
                return Some(Tried::Zeros(count));
            }
        }
        while let Some(&site) = self.stubborn.last() {
            let value = Plain::value(site, choices);
            // Zero was tried already if it keeps the length, else it is another structure.
            let search = *self.search.get_or_insert(Search { low: 0, high: value, is_first: true });
            if search.low < search.high {
                let next = if search.is_first { search.high - 1 } else { search.low + (search.high - search.low) / 2 };
                return Some(Tried::Value(next));
            }
            self.search = None;
            self.stubborn.pop();
        }
        None
    }

    /// Records a test of the last proposal.
    pub(super) fn judge(&mut self, best: &TracedInput, need: &mut Need, holds: bool) {
        if holds {
            self.left = MAX_FRUITLESS;
        } else {
            self.left -= 1;
            if let Some(&Tried::Zeros(count)) = self.tried.as_ref() {
                let mut ranges: Vec<Range> = self.sites[..count].iter().map(|site| site.changes).collect();
                ranges.sort_unstable();
                merge(&mut ranges);
                need.fails_without(best.output(), &ranges);
            }
        }
        self.note(holds);
    }

    /// Records whether the last proposal is accepted.
    fn note(&mut self, holds: bool) {
        match self.tried.take() {
            Some(Tried::Zeros(count)) if holds => drop(self.sites.drain(..count)),
            // A site alone cannot be zero; of several it is not known which.
            Some(Tried::Zeros(1)) => self.stubborn.push(self.sites.remove(0)),
            Some(Tried::Zeros(_)) => {}
            Some(Tried::Value(value)) => {
                let Some(search) = &mut self.search else { return };
                match holds {
                    true => search.high = value,
                    // The next lower value does not help: the search at this site ends.
                    false if search.is_first => search.low = search.high,
                    false => search.low = value + 1,
                }
                if holds {
                    search.is_first = false;
                }
            }
            None => {}
        }
    }
}

/// Joins ascending ranges that overlap or touch.
fn merge(ranges: &mut Vec<Range>) {
    ranges.dedup_by(|next, last| {
        let joins = next.0 <= last.1;
        if joins {
            last.1 = last.1.max(next.1);
        }
        joins
    });
    ranges.retain(|range| range.0 < range.1);
}
