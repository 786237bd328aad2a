//! The search for the plan that should run fastest: each attempt is finer than the one before and made from what a
//! trial run of that has shown, as long as more bytes a step outweigh that tables are read from slower memory.

use super::ahead::Memo;
use super::chunks::{Chunks, Policy};
use super::plan::{Attempt, Bounds, Plan, TooLarge, Visits, trial};
use super::traffic::Traffic;
use super::unfold::Stream;

/// Bounds on what a plan may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) records: usize,
    /// Number of beginnings that may be made in all attempts; nothing new is tried after that.
    pub(crate) work: usize,
}

impl Budget {
    /// Returns how many beginnings one attempt may make, at most.
    fn most(self) -> usize {
        self.records.max(2 * self.work).max(LEAST_WORK)
    }
}

/// One attempt may always make this number of beginnings.
const LEAST_WORK: usize = 1 << 14;
/// The policies to try, in the order of how often they are best.
const POLICIES: [Policy; 6] = [
    Policy { often: 16.0, large: 1.0 },
    Policy { often: 64.0, large: 0.3 },
    Policy { often: 1.0, large: 0.0 },
    Policy { often: 4.0, large: 0.3 },
    Policy { often: 1.0, large: 1.0 },
    Policy { often: 16.0, large: 0.0 },
];
/// Policies that are compared before one is made finer. For each of eighteen grammars and limits the best plan of one
/// of the first three should run within 1 % of the best of all.
const COMPARED: usize = 3;
/// Once this part of the work is done, no further policy is considered: large grammars take much work for any plan.
const COMPARING: usize = 3;
/// The threshold of attempts by which policies are compared.
const COARSE: f64 = 2e-4;
/// An earlier plan, with this many times the threshold, shows which states are visited.
const FIRST: f64 = 3.0;
/// The threshold is at least this, if the tables have more than `SMALL` records: then they are limited by the size of
/// caches, not by the grammar.
const FINEST: f64 = 4e-5;
const SMALL: usize = 1 << 12;
/// From one attempt to the next the threshold shrinks to this part.
const FINER: f64 = 0.47;
/// More records are worth it if steps become this many times as fast.
const WORTH: f64 = 1.02;
/// A threshold is this many times as great where a plan does not fit, ...
const COARSER: f64 = 4.0;
/// ... up to here.
const COARSEST: f64 = 4.0;
/// A policy whose plans are slower by more than this is not considered further.
const NEAR: f64 = 0.93;
/// If steps read this number of records from beyond the second-level cache, a finer plan is slower.
const ENOUGH: f64 = 0.03;
/// A policy is made finer at most this often.
const ATTEMPTS: u32 = 8;
/// If no plan has fitted yet, all attempts together take at most this many times the work of one.
const TRIES: usize = 4;

/// The number of steps of a trial run, times the threshold, ...
const TRIAL: f64 = 2.2;
/// ... and the maximum.
const MOST_STEPS: f64 = TRIAL / FINEST;
/// This number of steps takes about as long as a beginning.
const STEPS: u32 = 16;

/// States that are visited in less than this part of the threshold are made for the plan that is taken only.
const COLD: f64 = 1e-3;

/// A plan by one policy, without states that are hardly visited, and its expected speed.
struct Found {
    speed: f64,
    /// Records and rows that a step reads from beyond the second-level cache.
    second: f64,
    attempt: Attempt,
    /// The keys that a trial run of it visited.
    visits: Visits,
}

/// The search, with its findings on the grammar and the work that was done.
struct Search<'s> {
    stream: &'s Stream<'s>,
    budget: Budget,
    memo: Memo,
}

/// Makes the plan for a stream of inputs.
pub(crate) fn plan(stream: &Stream<'_>, budget: Budget) -> Result<(Plan, Chunks), TooLarge> {
    // Not even one record for each node would fit.
    if stream.grammar.node_count() > budget.records {
        return Err(TooLarge);
    }
    let mut search = Search { stream, budget, memo: Memo::default() };
    let mut best: Option<Found> = None;
    for policies in POLICIES.chunks(COMPARED) {
        let most = search.memo.work + budget.work / COMPARING;
        let mut plans = Vec::with_capacity(COMPARED);
        for &policy in policies {
            // The first is tried in any case.
            if search.memo.work < most.min(budget.work) || search.memo.work == 0 {
                plans.extend(search.first(policy).map(|last| Policed { best: None, last }));
            }
        }
        // If there are several, two are made somewhat finer and compared again.
        sort(&mut plans);
        if plans.len() > 1 {
            plans.iter_mut().take(2).for_each(|plan| search.finer(plan, 1));
            sort(&mut plans);
        }
        let fastest = plans.first().map_or(0.0, Policed::speed);
        for mut plan in plans {
            if plan.speed() > fastest * NEAR {
                search.finer(&mut plan, ATTEMPTS);
            }
            let found = plan.best();
            if best.as_ref().is_none_or(|best| found.speed > best.speed) {
                best = Some(found);
            }
        }
    }
    let Attempt { mut plan, chunks, .. } = search.whole(best.ok_or(TooLarge)?.attempt)?;
    let chunks = plan.compact(&chunks);
    Ok((plan, chunks))
}

/// The results of one policy.
struct Policed {
    /// The best plan before the last.
    best: Option<Found>,
    last: Found,
}

impl Policed {
    fn best(self) -> Found {
        match self.best {
            Some(best) if best.speed * WORTH > self.last.speed => best,
            _ => self.last,
        }
    }

    fn speed(&self) -> f64 {
        self.best.as_ref().map_or(self.last.speed, |best| best.speed.max(self.last.speed))
    }
}

/// Sorts plans, the fastest first.
fn sort(plans: &mut [Policed]) {
    plans.sort_by(|a, b| b.speed().total_cmp(&a.speed()));
}

impl Search<'_> {
    fn bounds(&self) -> Bounds {
        // Many beginnings may come to the same record.
        Bounds { records: self.budget.records, most: self.memo.work + self.budget.most() }
    }

    /// Makes one attempt, and finds its expected value.
    fn look(&mut self, mut attempt: Attempt) -> Result<Found, TooLarge> {
        let (until, bounds) = (COLD * attempt.threshold, self.bounds());
        attempt.go_on(self.stream, &mut self.memo, until, bounds)?;
        let steps = (TRIAL / attempt.threshold.min(1.0)).min(MOST_STEPS) as u32;
        let (visits, rows) = trial(&attempt.plan, &attempt.chunks, steps);
        self.memo.work += (steps / STEPS) as usize;
        let traffic = Traffic::of(&attempt.plan, &visits, rows);
        Ok(Found { speed: traffic.speed(), second: traffic.second, attempt, visits })
    }

    /// Returns a coarse plan by a policy, if one fits.
    fn first(&mut self, policy: Policy) -> Option<Found> {
        let last = self.memo.work + TRIES * self.budget.most();
        let mut threshold = COARSE;
        while threshold < COARSEST && self.memo.work < last {
            let first = Attempt::new(self.stream, Chunks::new(policy), Visits::default(), FIRST * threshold);
            if let Ok(first) = self.look(first) {
                let (chunks, visits) = (first.attempt.chunks.clone(), first.visits.clone());
                let second = Attempt::new(self.stream, chunks, visits, threshold);
                return Some(self.look(second).ok().filter(|second| second.speed > first.speed).unwrap_or(first));
            }
            // A large grammar.
            threshold *= COARSER;
        }
        None
    }

    /// Makes the last plan of a policy finer, at most `attempts` times. It goes on after a plan that is no better, as
    /// that shows more exactly which states are visited.
    fn finer(&mut self, policy: &mut Policed, attempts: u32) {
        for _ in 0..attempts {
            let Found { second, attempt, visits, .. } = &policy.last;
            let threshold = attempt.threshold * FINER;
            let is_fine = threshold < FINEST && attempt.plan.records > SMALL;
            if *second > ENOUGH || self.memo.work >= self.budget.work || is_fine {
                break;
            }
            let records = attempt.plan.records;
            let attempt = Attempt::new(self.stream, attempt.chunks.clone(), visits.clone(), threshold);
            let Ok(found) = self.look(attempt) else { break };
            let has_all = found.attempt.plan.records == records;
            let before = std::mem::replace(&mut policy.last, found);
            if policy.best.as_ref().is_none_or(|best| before.speed > best.speed * WORTH) {
                policy.best = Some(before);
            }
            if has_all {
                break;
            }
        }
    }

    /// Returns an attempt with all states, or a coarser one if they do not fit.
    fn whole(&mut self, mut attempt: Attempt) -> Result<Attempt, TooLarge> {
        let last = self.memo.work + TRIES * self.budget.most();
        loop {
            let bounds = self.bounds();
            match attempt.go_on(self.stream, &mut self.memo, 0.0, bounds) {
                Ok(()) => return Ok(attempt),
                Err(TooLarge) => {
                    let threshold = attempt.threshold * COARSER;
                    if threshold > COARSEST || self.memo.work >= last {
                        return Err(TooLarge);
                    }
                    attempt = Attempt::new(self.stream, attempt.chunks, attempt.visits, threshold);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use gramjet_compiler::{Options, SourceFile, compile};

    use super::super::frames::Grammar;
    use super::super::plan::MAX_STATE_RECORDS;
    use super::*;

    /// Ambiguous texts: many beginnings come to the same record, so records alone do not show the cost of a plan.
    #[test]
    fn work_is_bounded_where_beginnings_are_merged() {
        let mut text = "d ::= 'ab' | 'a' e  e ::= 'b' | 'b' f  f ::= '' | '' g  g ::= '' | ''\n".to_string();
        let many = "d ".repeat(20);
        for rule in 0..300 {
            let _ = writeln!(text, "r{rule} ::= q{rule} q{rule} q{rule} {many} q{rule} ::= '' @ 1 | r{} @ 9", rule + 1);
        }
        let text = format!("%start r0\n{text}r300 ::= 'z' {many}");
        let (compiled, _) = compile(&SourceFile::new("merged.ebnf", text), &Options::default()).expect("a grammar");
        let grammar = Grammar::new(&compiled, None, &[]);
        let stream = Stream { grammar: &grammar, zones: 0, floor: 0, behind: &[] };
        let budget = Budget { records: 1 << 12, work: 1 << 14 };
        let mut search = Search { stream: &stream, budget, memo: Memo::default() };
        for policy in POLICIES {
            let before = search.memo.work;
            if let Some(last) = search.first(policy) {
                let mut plan = Policed { best: None, last };
                search.finer(&mut plan, ATTEMPTS);
                let _ = search.whole(plan.best().attempt);
            }
            // Unfolding one state may exceed the bound: by its leaves, and by the nodes that they replace.
            let each = budget.most() + 2 * MAX_STATE_RECORDS + MOST_STEPS as usize / STEPS as usize;
            assert!(search.memo.work - before <= 2 * (TRIES + 1) * each, "{}", search.memo.work);
        }
    }
}
