//! Lower values at sites, for outputs of the same length.

use super::need::{Need, difference};
use crate::choices::{Choices, TracedInput, Tracer};

/// Tries zeros at all sites at once, then at halves of the groups for which the test fails. Then each remaining site
/// tries the next lower value, and if that helps, ever lower ones.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    /// Where the sites read, and how many bytes.
    sites: Vec<(usize, usize)>,
    /// Groups of sites still to be set to zero: the first site, and the one after the last.
    groups: Vec<(usize, usize)>,
    /// The sites that cannot be zero; the last one is being looked at.
    stubborn: Vec<usize>,
    search: Option<Search>,
    tried: Option<Tried>,
    /// How many more tests of single sites may fail in a row.
    left: u32,
}

/// Sites whose bytes are needed at a higher rate do not read zero.
const MAX_RATE: f64 = 2.0;
/// The search for plainer texts ends after this number of failed tests of single sites in a row.
const MAX_FRUITLESS: u32 = 4;

/// Below `low` the test does not hold, for `high` it does.
#[derive(Clone, Copy, Debug)]
struct Search {
    low: u32,
    high: u32,
    is_first: bool,
}

#[derive(Clone, Copy, Debug)]
enum Tried {
    Group(usize, usize),
    Value(u32),
}

impl Plain {
    pub(super) fn new(best: &TracedInput, tracer: &mut (impl Tracer + ?Sized), need: &Need) -> Plain {
        let choices = best.choices();
        let is_there = |&(at, width): &(usize, usize)| at + width <= choices.len();
        let is_chosen = |&(at, width): &(usize, usize)| choices[at..at + width].iter().any(|&byte| byte > 0);
        let all = best.trace().sites.iter().map(|site| (site.at as usize, usize::from(site.width)));
        let all = all.filter(is_there).filter(is_chosen);
        // A change of length is a change of structure. A change of bytes that a failed test has lacked rarely passes.
        let mut is_free = |&(at, width): &(usize, usize)| {
            let mut candidate = choices.to_vec();
            candidate[at..at + width].fill(0);
            let mut output = Vec::new();
            let read = tracer.produce(&mut Choices::replay(&candidate), &mut output) as usize;
            let (from, to, _) = difference(best.output(), &output);
            read == candidate.len()
                && output.len() == best.output().len()
                && need.rate((from as u32, to as u32)) < MAX_RATE
        };
        let (sites, others): (Vec<_>, Vec<_>) = all.partition(&mut is_free);
        let count = sites.len();
        let sites = [sites, others].concat();
        let mut stubborn: Vec<usize> = (count..sites.len()).collect();
        stubborn.reverse();
        let groups = if count > 0 { vec![(0, count)] } else { Vec::new() };
        Plain { sites, groups, stubborn, search: None, tried: None, left: MAX_FRUITLESS }
    }

    fn value(&self, site: usize, choices: &[u8]) -> u32 {
        let (at, width) = self.sites[site];
        choices[at..at + width].iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
    }

    fn set(&self, site: usize, value: u32, choices: &mut [u8]) {
        let (at, width) = self.sites[site];
        choices[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }

    /// Makes the next candidate and its output; says whether there is one. Lower values that make the same output are
    /// taken at once.
    pub(super) fn propose(
        &mut self,
        best: &mut TracedInput,
        tracer: &mut (impl Tracer + ?Sized),
        is_tested: &dyn Fn(&[u8]) -> bool,
        candidate: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> bool {
        while let Some(tried) = self.next(best.choices()).filter(|_| self.left > 0) {
            candidate.clear();
            candidate.extend_from_slice(best.choices());
            match tried {
                Tried::Group(from, to) => (from..to).for_each(|site| self.set(site, 0, candidate)),
                Tried::Value(value) => self.set(self.stubborn[self.stubborn.len() - 1], value, candidate),
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
            self.note(false);
        }
        false
    }

    fn next(&mut self, choices: &[u8]) -> Option<Tried> {
        if let Some(&(from, to)) = self.groups.last() {
            return Some(Tried::Group(from, to));
        }
        while let Some(&site) = self.stubborn.last() {
            let value = self.value(site, choices);
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
    pub(super) fn judge(&mut self, holds: bool) {
        match self.tried {
            _ if holds => self.left = MAX_FRUITLESS,
            // Groups are halved: there are few.
            Some(Tried::Group(..)) | None => {}
            Some(Tried::Value(_)) => self.left -= 1,
        }
        self.note(holds);
    }

    /// Records whether the last proposal is accepted.
    fn note(&mut self, holds: bool) {
        match self.tried.take() {
            Some(Tried::Group(from, to)) => {
                self.groups.pop();
                if holds {
                } else if to - from > 1 {
                    let middle = from + (to - from) / 2;
                    self.groups.extend([(middle, to), (from, middle)]);
                } else {
                    self.stubborn.push(from);
                }
            }
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
