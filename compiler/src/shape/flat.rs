//! The terms of a model in one list, in the order of their evaluation. Searches for weights evaluate them a hundred
//! times, with other probabilities each time.

use super::term::{Laws, Term};

/// The terms of all rules.
#[derive(Default)]
pub(super) struct Flat {
    steps: Vec<Step>,
    /// The end of the steps of each rule.
    step_ends: Vec<u32>,
    /// The number of terms that the steps stand for.
    terms: usize,
    /// The rules that each rule refers to by itself, ascending, and the end of those of each rule.
    targets: Vec<u32>,
    ends: Vec<u32>,
}

/// A step adds something, or computes the share of what is within a term. Shares are numbered in the order of their
/// steps; the first share of each rule is 1.
enum Step {
    /// A share of a number of bytes.
    Bytes { share: u32, bytes: f64 },
    /// A share of an entry of the mean matrix.
    Entry { share: u32, entry: u32 },
    /// The share of an option.
    Option { share: u32, decision: u32, option: u32 },
    /// The share of the rounds of a repetition.
    Rounds { share: u32, decision: u32, min: u32 },
    /// The share of a fixed number of rounds.
    Times { share: u32, times: u32 },
}

/// The mean numbers of instances of rules, and of bytes, that rules derive by themselves.
pub(super) struct Means {
    /// The entries of the mean matrix, as [`Flat::row`] numbers them.
    pub entries: Vec<f64>,
    /// The bytes by rule.
    pub bytes: Vec<f64>,
}

impl Flat {
    /// Returns the terms of these rules; `None` stands for a rule that is not reachable.
    pub fn new(rules: &[Option<Term>]) -> Flat {
        let mut flat = Flat::default();
        for term in rules {
            let mut targets = Vec::new();
            if let Some(term) = term {
                each_target(term, &mut targets);
            }
            targets.sort_unstable();
            targets.dedup();
            let first = flat.targets.len() as u32;
            flat.targets.extend(&targets);
            flat.ends.push(flat.targets.len() as u32);
            if let Some(term) = term {
                let mut building = Building { flat: &mut flat, targets: &targets, first, shares: 1 };
                building.add(term, 0);
            }
            flat.step_ends.push(flat.steps.len() as u32);
        }
        flat
    }

    /// Returns the numbers of the entries of a rule.
    #[inline]
    pub fn row(&self, rule: usize) -> std::ops::Range<usize> {
        let start = if rule == 0 { 0 } else { self.ends[rule - 1] };
        start as usize..self.ends[rule] as usize
    }

    /// Returns the rule that an entry is for.
    #[inline]
    pub fn target(&self, entry: usize) -> usize {
        self.targets[entry] as usize
    }

    /// Returns the number of terms.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Evaluates the terms. `mean_rounds` gives the mean number of rounds beyond the minimum, by decision.
    pub fn means(&self, laws: &Laws, mean_rounds: impl Fn(usize) -> f64) -> Means {
        let mut means = Means { entries: vec![0.0; self.targets.len()], bytes: Vec::with_capacity(self.ends.len()) };
        let (mut shares, mut start) = (Vec::new(), 0);
        for &end in &self.step_ends {
            shares.clear();
            shares.push(1.0);
            let mut own = 0.0;
            for step in &self.steps[start..end as usize] {
                match *step {
                    Step::Bytes { share, bytes } => own += shares[share as usize] * bytes,
                    Step::Entry { share, entry } => means.entries[entry as usize] += shares[share as usize],
                    Step::Option { share, decision, option } => {
                        shares.push(shares[share as usize] * laws[decision as usize][option as usize]);
                    }
                    Step::Rounds { share, decision, min } => {
                        let rounds = f64::from(min) + mean_rounds(decision as usize);
                        shares.push(shares[share as usize] * rounds);
                    }
                    Step::Times { share, times } => shares.push(shares[share as usize] * f64::from(times)),
                }
            }
            means.bytes.push(own);
            start = end as usize;
        }
        means
    }
}

/// Adds the terms of a rule.
struct Building<'f> {
    flat: &'f mut Flat,
    /// The rules that the rule refers to, and the number of its first entry.
    targets: &'f [u32],
    first: u32,
    shares: u32,
}

impl Building<'_> {
    fn add(&mut self, term: &Term, share: u32) {
        self.flat.terms += 1;
        match term {
            Term::Bytes(bytes) => self.flat.steps.push(Step::Bytes { share, bytes: *bytes }),
            Term::Rule(rule) => {
                let place = self.targets.partition_point(|&target| (target as usize) < *rule) as u32;
                self.flat.steps.push(Step::Entry { share, entry: self.first + place });
            }
            Term::Seq(items) => items.iter().for_each(|item| self.add(item, share)),
            Term::Choice(decision, options) => {
                for (option, term) in (0..).zip(options) {
                    let within = self.share(Step::Option { share, decision: *decision as u32, option });
                    self.add(term, within);
                }
            }
            Term::Rounds(decision, item, min) => {
                let within = self.share(Step::Rounds { share, decision: *decision as u32, min: *min });
                self.add(item, within);
            }
            Term::Times(item, times) => {
                let within = self.share(Step::Times { share, times: *times });
                self.add(item, within);
            }
        }
    }

    /// Adds a step that computes a share; returns the number of the share.
    fn share(&mut self, step: Step) -> u32 {
        self.flat.steps.push(step);
        self.shares += 1;
        self.shares - 1
    }
}

fn each_target(term: &Term, targets: &mut Vec<u32>) {
    match term {
        Term::Bytes(_) => {}
        Term::Rule(rule) => targets.push(*rule as u32),
        Term::Seq(items) | Term::Choice(_, items) => items.iter().for_each(|item| each_target(item, targets)),
        Term::Rounds(_, item, _) | Term::Times(item, _) => each_target(item, targets),
    }
}
