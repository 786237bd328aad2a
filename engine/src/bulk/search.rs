//! The search for the plan that should run fastest: each attempt is finer than the one before and made from what a trial run of
//! that has shown, as long as more bytes a step outweigh that tables are read from slower memory.

use super::chunks::{Chunks, Policy};
use super::plan::{Plan, TooLarge, Visits, attempt, trial};
use super::traffic::Traffic;
use super::unfold::Stream;

/// How much a plan may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) records: usize,
    /// How many beginnings may be made in all attempts; nothing new is tried after that.
    pub(crate) work: usize,
}

impl Budget {
    /// How many beginnings one attempt may make, at most.
    fn most(self) -> usize {
        self.records.max(2 * self.work).max(LEAST_WORK)
    }
}

/// One attempt may always make so many beginnings.
const LEAST_WORK: usize = 1 << 14;
/// The policies that are tried, those that are most often best first.
const POLICIES: [Policy; 6] = [
    Policy { often: 16.0, large: 0.0 },
    Policy { often: 1.0, large: 1.0 },
    Policy { often: 1.0, large: 0.0 },
    Policy { often: 16.0, large: 1.0 },
    Policy { often: 64.0, large: 0.3 },
    Policy { often: 4.0, large: 0.3 },
];
/// The threshold of a first attempt.
const COARSEST: f64 = 1.4e-4;
/// From one attempt to the next the threshold shrinks to this part. The best is the third attempt, most often: what limits the
/// tables is the size of caches, not the grammar.
const FINER: f64 = 0.6;
/// Where steps read so many records from beyond the second-level cache, a finer plan is slower.
const ENOUGH: f64 = 0.03;
/// A policy is tried at most this often: a plan that has all there is becomes no finer.
const ATTEMPTS: u32 = 8;
/// Attempts at a plan that fits, when none has, take so many times what one may take, at most.
const TRIES: usize = 4;

/// A trial run takes as long as so many beginnings, about.
const TRIAL_WORK: usize = 1 << 12;

/// A plan, its chunks, and how fast it should run.
struct Found {
    speed: f64,
    plan: Plan,
    chunks: Chunks,
}

/// Makes the plan for a stream of inputs.
pub(crate) fn plan(stream: &Stream<'_>, budget: Budget) -> Result<(Plan, Chunks), TooLarge> {
    // Not even one record for each node would fit.
    if stream.grammar.node_count() > budget.records {
        return Err(TooLarge);
    }
    let mut best: Option<Found> = None;
    let mut work = 0;
    for policy in POLICIES {
        if let Some(found) = search(stream, policy, budget, &mut work)
            && best.as_ref().is_none_or(|best| found.speed > best.speed)
        {
            best = Some(found);
        }
        if work >= budget.work {
            break;
        }
    }
    let Found { mut plan, chunks, .. } = best.ok_or(TooLarge)?;
    let chunks = plan.compact(&chunks);
    Ok((plan, chunks))
}

/// The best plan by one policy, if one fits; `work` is how many beginnings were made.
fn search(stream: &Stream<'_>, policy: Policy, budget: Budget, work: &mut usize) -> Option<Found> {
    // Many beginnings may come to the same record.
    let each = budget.most();
    let last = *work + TRIES * each;
    let (mut chunks, mut visits, mut threshold) = (Chunks::new(policy), Visits::default(), COARSEST);
    let mut best: Option<Found> = None;
    for _ in 0..ATTEMPTS {
        match attempt(stream, &mut chunks, &visits, threshold, budget.records, *work + each, work) {
            Ok(plan) => {
                let rows;
                (visits, rows) = trial(&plan, &chunks);
                *work += TRIAL_WORK;
                let traffic = Traffic::of(&plan, &visits, rows);
                let speed = traffic.speed();
                if best.as_ref().is_some_and(|best| speed < best.speed) {
                    return best;
                }
                best = Some(Found { speed, plan, chunks: chunks.clone() });
                if traffic.second > ENOUGH || *work >= budget.work {
                    return best;
                }
                threshold *= FINER;
            }
            // A large grammar.
            Err(TooLarge) if best.is_none() && threshold < 1.0 && *work < last => threshold *= 4.0,
            Err(TooLarge) => return best,
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use gramjet_compiler::{Options, SourceFile, compile};

    use super::super::frames::Grammar;
    use super::super::plan::MAX_STATE_RECORDS;
    use super::*;

    /// Ambiguous texts: many beginnings come to the same record, so records alone do not say what a plan costs.
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
        let mut work = 0;
        for policy in POLICIES {
            let before = work;
            let _ = search(&stream, policy, budget, &mut work);
            // One state may be unfolded beyond the bound: so many leaves, and what was replaced by them.
            let each = budget.most() + 2 * MAX_STATE_RECORDS + TRIAL_WORK;
            assert!(work - before <= (TRIES + 1) * each, "{work}");
        }
    }
}
