//! The first texts of a search: texts of great depth and length, and values at bounds. They are longer than what is
//! varied later, and the same for each seed.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gramjet_harness::{Outcome, Target as _};
use gramjet_search::extremes;
use gramjet_session::decisions::Stretch;

use super::depth::{DEEP, Depth};
use super::evidence::{Again, Evidence, Standing};
use super::maker::EXTREME;
use super::verdict::Failed;
use super::worker::{Effect, Kind, Worker};
use crate::error::Error;

/// Levels, in the order in which they are tried; those of the second list after the values.
const LEVELS: [usize; 3] = [1_000, 10_000, 100_000];
const LAST_LEVELS: [usize; 2] = [65_536, 1_000_000];
/// At most this many ways to stretch a text.
const STRETCHES: usize = 96;
/// The share of runs and of time that the texts may take, one part in this many.
const SHARE: u32 = 4;
/// Time that they may take if the search has no end, and time that they may have of a short one, up to half of it.
const LONGEST: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_secs(10);
/// Runs, each with a new process or fork server, in which the least depth has to fail, and one level less has to pass.
const SURE: u32 = 5;
/// Depths that are tried, from one that has failed on, until one fails always.
const RISES: u32 = 6;

/// A text that is stretched.
struct Stretched {
    stretch: Stretch,
    /// The most levels on which the program did not fail.
    passed: usize,
    /// Whether more levels are of no use: the program has failed, or takes long.
    is_over: bool,
}

/// The program's reaction to a text.
enum Reaction {
    Passes,
    /// A run that took long, or exceeded a limit.
    Slow,
    Fails(Evidence),
    /// A run that was cut short.
    Cut,
}

impl Worker<'_> {
    /// Runs the texts, a share of them if there are other workers. The first search in a folder does that.
    pub(crate) fn run_extremes(&mut self) -> Result<(), Error> {
        let campaign = self.campaign;
        let plan = &campaign.plan;
        let Some(longest) = plan.extremes.filter(|_| plan.making.kind.is_none() && campaign.state.session() == 0)
        else {
            return Ok(());
        };
        let begin = Instant::now();
        let of_whole = |whole: Duration| (whole / SHARE).max(SHORT.min(whole / 2));
        let time = plan.end.map_or(LONGEST, |end| of_whole(end.saturating_duration_since(begin)));
        let budget = Budget { end: begin + time, runs: plan.runs / u64::from(SHARE), longest };
        let stretches = plan.language.deriver(None).stretches();
        let own = stretches.into_iter().take(STRETCHES).skip(self.number).step_by(plan.jobs);
        let mut own: Vec<Stretched> = own.map(|stretch| Stretched { stretch, passed: 0, is_over: false }).collect();
        for levels in LEVELS {
            self.stretch_all(&mut own, levels, &budget)?;
        }
        self.run_values(&budget)?;
        for levels in LAST_LEVELS {
            self.stretch_all(&mut own, levels, &budget)?;
        }
        Ok(())
    }

    /// Runs short texts with values at bounds.
    fn run_values(&mut self, budget: &Budget) -> Result<(), Error> {
        let plan = &self.campaign.plan;
        if !self.is_within(budget) {
            return Ok(());
        }
        let mut is_over = || !self.is_within(budget);
        let texts = extremes(&plan.language, &plan.words, plan.making.breaks, budget.longest, &mut is_over);
        for extreme in texts.into_iter().skip(self.number).step_by(plan.jobs) {
            if !self.may_run(budget) {
                return Ok(());
            }
            // What a text does that is too long to be kept must not hide shorter ones.
            if extreme.text.len() > plan.max_len {
                let standing = if extreme.is_of_language { Standing::Inside } else { Standing::Outside };
                if let Reaction::Fails(evidence) = self.run_stretched(&extreme.text)? {
                    self.examine(&extreme.text, evidence.standing(standing))?;
                }
                continue;
            }
            let kind = if extreme.is_of_language { Kind::OfLanguage } else { Kind::Broken };
            let effect = self.run_and_count(&extreme.text, kind)?;
            let is_kept = effect == Effect::New;
            if is_kept {
                self.maker.add(&extreme.text, false, false);
                self.keep(&extreme.text, &format!("op:{EXTREME}"), true)?;
            }
            self.count_extreme(is_kept);
        }
        Ok(())
    }

    /// Runs all texts with this many levels.
    fn stretch_all(&mut self, all: &mut [Stretched], levels: usize, budget: &Budget) -> Result<(), Error> {
        let mut text = Vec::new();
        for stretched in all {
            let Stretched { stretch, passed, is_over } = stretched;
            let room = budget.longest.saturating_sub(stretch.len(0)) / stretch.each.len();
            let levels = levels.min(room);
            if *is_over || levels <= *passed {
                continue;
            }
            if !self.may_run(budget) {
                return Ok(());
            }
            stretch.write(levels, &mut text);
            match self.run_stretched(&text)? {
                Reaction::Passes => *passed = levels,
                Reaction::Slow => *is_over = true,
                Reaction::Cut => return Ok(()),
                Reaction::Fails(evidence) => {
                    *is_over = true;
                    self.find_least(stretch, (*passed, levels), evidence)?;
                }
            }
        }
        Ok(())
    }

    /// Returns true if another of these texts may be run.
    fn is_within(&self, budget: &Budget) -> bool {
        let campaign = self.campaign;
        let is_left = campaign.begun.load(Ordering::Relaxed) < budget.runs && Instant::now() < budget.end;
        is_left && !campaign.is_over()
    }

    /// Returns true if another of these texts may be run, and counts the run.
    fn may_run(&self, budget: &Budget) -> bool {
        let may = self.is_within(budget);
        self.campaign.begun.fetch_add(u64::from(may), Ordering::Relaxed);
        may
    }

    /// Runs a text that may be far longer than those which are varied. The search does not learn from what it does, as
    /// shorter texts that do the same would not be kept.
    fn run_stretched(&mut self, text: &[u8]) -> Result<Reaction, Error> {
        let campaign = self.campaign;
        let run = self.tested.run(text)?;
        self.history.push(text, run.earlier);
        if campaign.stop.is_cut() {
            return Ok(Reaction::Cut);
        }
        let took = run.usage.cpu.map_or(run.usage.wall, |cpu| cpu.min(run.usage.wall));
        let is_slow = took > campaign.plan.surroundings.limits.time / 2;
        // So long a text may well take more than other texts may.
        let is_limit = matches!(
            run.outcome,
            Outcome::Timeout | Outcome::Memory | Outcome::Processes | Outcome::Disk | Outcome::Edges
        );
        let verdict = self.judge.judge(text, &run)?;
        // A run may exceed a limit after it has told of another failure, of which the words say more then.
        let is_told = |failed: &Failed| failed.what != run.outcome.to_string();
        let evidence = verdict.failed.filter(|failed| !is_limit || is_told(failed));
        let evidence = evidence.map(|failed| Evidence::new(failed, &run));
        let evidence = evidence.map(|evidence| evidence.identified(&self.tested));
        campaign.runs.fetch_add(1, Ordering::Relaxed);
        campaign.valid.fetch_add(u64::from(verdict.is_valid), Ordering::Relaxed);
        campaign.failing.fetch_add(u64::from(evidence.is_some()), Ordering::Relaxed);
        self.judge.advice().into_iter().for_each(|advice| campaign.advise(advice));
        self.count_extreme(false);
        Ok(match evidence {
            Some(evidence) => Reaction::Fails(evidence),
            None if is_limit || is_slow => Reaction::Slow,
            None => Reaction::Passes,
        })
    }

    fn count_extreme(&self, is_kept: bool) {
        let mut shared = self.campaign.shared();
        if let Some((_, made, kept)) = shared.yields.iter_mut().find(|(name, ..)| *name == EXTREME) {
            *made += 1;
            *kept += u64::from(is_kept);
        }
    }

    /// Finds the least number of levels at which the program fails, by halves, and looks at that failure. It is one of
    /// depth if there have to be many levels.
    fn find_least(
        &mut self,
        stretch: &Stretch,
        (passed, levels): (usize, usize),
        evidence: Evidence,
    ) -> Result<(), Error> {
        let depth = |levels| Depth { levels, rule: stretch.rule.clone(), is_nested: stretch.is_nested };
        if self.campaign.shared().is_taken(&evidence.clone().at_depth(&depth(levels)).failed.key) {
            return Ok(());
        }
        let plan = &self.campaign.plan;
        let (end, mut left) = (Instant::now() + plan.shrinking, plan.shrinks);
        let (first, mut text) = (evidence.clone(), Vec::new());
        let (mut passed, mut least, mut evidence) = (passed, levels, evidence);
        let mut next = if passed == 0 { 1 } else { passed.midpoint(least) };
        // A failure that was found is written, however far this comes.
        let is_over = |left: u32| left == 0 || Instant::now() >= end || self.campaign.is_over();
        while (least - passed > 1 || passed == 0 && least > 1) && !is_over(left) {
            left -= 1;
            stretch.write(next, &mut text);
            match self.try_again(&text)? {
                Again::Failed(again) if again.is_like(&first, false) => (least, evidence) = (next, again),
                Again::Failed(_) | Again::Passed(_) => passed = next,
                Again::Cut => break,
            }
            next = passed.midpoint(least).max(1);
        }
        if least > DEEP && !is_over(left) && !self.is_bound(stretch, (passed, least), &first)? {
            least = self.surely_failing(stretch, (least, levels), &first)?;
        }
        stretch.write(least, &mut text);
        let evidence = if least > DEEP { evidence.at_depth(&depth(least)) } else { evidence };
        self.examine(&text, evidence)
    }

    /// Returns true if the program passes and fails at these levels in each of some runs. Where a stack ends is not the
    /// same in all processes: there, chance decides.
    fn is_bound(
        &mut self,
        stretch: &Stretch,
        (passed, least): (usize, usize),
        first: &Evidence,
    ) -> Result<bool, Error> {
        Ok(self.is_always(stretch, least, first, true)? && self.is_always(stretch, passed, first, false)?)
    }

    /// Returns a number of levels, at most the last of these, at which the program fails whatever chance decides.
    fn surely_failing(
        &mut self,
        stretch: &Stretch,
        (least, levels): (usize, usize),
        first: &Evidence,
    ) -> Result<usize, Error> {
        let (mut sure, mut rise) = (least, least / 64 + 1);
        for _ in 0..RISES {
            if sure >= levels || self.campaign.is_over() {
                return Ok(sure.min(levels));
            }
            if self.is_always(stretch, sure, first, true)? {
                // Some runs more might pass there, but not above it, unless the program refuses that depth.
                let above = (sure + rise).min(levels);
                return Ok(if self.is_always(stretch, above, first, true)? { above } else { sure });
            }
            sure += rise;
            rise *= 2;
        }
        Ok(levels)
    }

    /// Returns true if the program fails like `first`, or passes, in each of some runs, or if the search is cut short.
    fn is_always(&mut self, stretch: &Stretch, levels: usize, first: &Evidence, fails: bool) -> Result<bool, Error> {
        let mut text = Vec::new();
        stretch.write(levels, &mut text);
        for _ in 0..SURE {
            // All children of one fork server have the stack at one place.
            self.renew()?;
            let has_failed = match self.try_again(&text)? {
                Again::Failed(again) => again.is_like(first, false),
                Again::Passed(_) => false,
                Again::Cut => return Ok(true),
            };
            if has_failed != fails {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Bounds on these texts.
struct Budget {
    end: Instant,
    /// Runs of all workers.
    runs: u64,
    /// Bytes of a text.
    longest: usize,
}
