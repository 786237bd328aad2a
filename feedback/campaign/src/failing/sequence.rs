//! Failures that depend on earlier inputs of their process: a short sequence of texts on which one fails.

use std::time::Instant;

use gramjet_harness::Target as _;
use gramjet_search::Shorter;

use super::evidence::Evidence;
use super::worker::Worker;
use crate::error::Error;

/// Bound on the search for something smaller: the number of runs, or of runs of a sequence, and the time of the end.
pub(crate) struct Budget {
    pub(crate) tests: u32,
    pub(crate) end: Instant,
}

impl Budget {
    /// Takes one run. Returns false if none is left.
    pub(crate) fn take(&mut self) -> bool {
        let is_left = self.tests > 0 && Instant::now() < self.end;
        self.tests -= u32::from(is_left);
        is_left
    }
}

/// The result of a part of a sequence in a new process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    /// The process failed on the last one of this many texts.
    Fails(usize),
    Passes,
    /// The time was over.
    Over,
}

/// Returns a short part of a sequence of `count` texts that fails: no text of it can be left out. Stretches of texts
/// are left out, long ones first, as in [`gramjet_search::Cut`]; the last text stays.
pub(crate) fn reduced<E>(count: usize, mut test: impl FnMut(&[usize]) -> Result<Trial, E>) -> Result<Vec<usize>, E> {
    let mut kept: Vec<usize> = (0..count).collect();
    let mut len = count.div_ceil(2).max(1);
    loop {
        let (mut at, mut has_cut) = (0, false);
        while at + 1 < kept.len() {
            let end = (at + len).min(kept.len() - 1);
            let mut fewer = [&kept[..at], &kept[end..]].concat();
            match test(&fewer)? {
                Trial::Fails(needed) => {
                    fewer.truncate(needed);
                    (kept, has_cut) = (fewer, true);
                }
                Trial::Passes => at = end,
                Trial::Over => return Ok(kept),
            }
        }
        if len == 1 && !has_cut {
            return Ok(kept);
        }
        len = len.div_ceil(2);
    }
}

/// A sequence of texts that fails in a new process, on its last text.
pub(crate) struct Sequence {
    pub(crate) texts: Vec<Vec<u8>>,
    pub(crate) evidence: Evidence,
}

impl Worker<'_> {
    /// Returns a short sequence of the texts that fails in a new process as the last one did; `None` if there is none.
    pub(crate) fn sequence(
        &mut self,
        texts: Vec<Vec<u8>>,
        failed: &Evidence,
        budget: &mut Budget,
    ) -> Result<Option<Sequence>, Error> {
        if texts.len() < 2 {
            return Ok(None);
        }
        let Some((needed, evidence)) = self.replay(&texts, failed, None)? else { return Ok(None) };
        let mut found = Sequence { texts, evidence };
        found.texts.truncate(needed);
        let all = found.texts.clone();
        let kept = reduced(all.len(), |part| {
            if !self.may_go_on(budget) {
                return Ok(Trial::Over);
            }
            let part: Vec<Vec<u8>> = part.iter().map(|&number| all[number].clone()).collect();
            Ok::<_, Error>(match self.replay(&part, failed, Some(budget.end))? {
                Some((needed, evidence)) => {
                    found.evidence = evidence;
                    Trial::Fails(needed)
                }
                None => Trial::Passes,
            })
        })?;
        found.texts = kept.into_iter().map(|number| all[number].clone()).collect();
        for number in (0..found.texts.len()).rev() {
            self.shorten(&mut found, number, failed, budget)?;
        }
        Ok(Some(found))
    }

    /// Makes a text of a sequence smaller.
    fn shorten(
        &mut self,
        found: &mut Sequence,
        number: usize,
        failed: &Evidence,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        // A sequence that fails earlier has lost its last texts.
        let Some(text) = found.texts.get(number).cloned() else { return Ok(()) };
        let parts = self.maker.session().minimise(&text);
        if parts.is_none() && self.maker.session().remember(&text) {
            // With bytes cut out, it may no longer be in the language.
            return Ok(());
        }
        let mut shorter = Shorter::new(parts, &text);
        while self.may_go_on(budget) {
            let Some(proposed) = shorter.propose() else { break };
            let mut texts = found.texts.clone();
            texts[number] = proposed.to_vec();
            let replayed = self.replay(&texts, failed, Some(budget.end))?;
            shorter.judge(replayed.is_some());
            if let Some((needed, evidence)) = replayed {
                texts.truncate(needed);
                *found = Sequence { texts, evidence };
                if number + 1 > needed {
                    break;
                }
            }
        }
        Ok(())
    }

    fn may_go_on(&self, budget: &mut Budget) -> bool {
        !self.campaign.stop.is_cut() && budget.take()
    }

    /// Runs texts in a new process until one fails in the same way, if several have run by then. Returns how many have,
    /// and what the last one did.
    fn replay(
        &mut self,
        texts: &[Vec<u8>],
        failed: &Evidence,
        end: Option<Instant>,
    ) -> Result<Option<(usize, Evidence)>, Error> {
        self.renew()?;
        for (number, text) in texts.iter().enumerate() {
            let run = self.tested.run(text)?;
            self.history.push(text, run.earlier);
            let (is_same_process, verdict) = (run.earlier == number as u64, self.judge.judge(text, &run)?);
            if self.campaign.stop.is_cut() || !is_same_process {
                return Ok(None);
            }
            if let Some(again) = verdict.failed.filter(|again| again.plain_kind() == failed.failed.plain_kind()) {
                // It needs no others.
                if number == 0 {
                    continue;
                }
                let evidence = Evidence::new(again, &run).identified(&self.tested).standing(failed.standing);
                return Ok(Some((number + 1, evidence)));
            }
            if end.is_some_and(|end| Instant::now() > end) {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Runs a sequence in new processes. Returns in how many it fails, and their number.
    pub(crate) fn reproduced(&mut self, found: &Sequence, tries: u32) -> Result<(u32, u32), Error> {
        let (mut fails, mut tried) = (0, 0);
        while tried < tries && !(tried > 0 && self.campaign.stop.is_requested()) {
            let replayed = self.replay(&found.texts, &found.evidence, None)?;
            fails += u32::from(replayed.is_some_and(|(needed, _)| needed == found.texts.len()));
            tried += 1;
        }
        Ok((fails, tried))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reduces a sequence of which some texts are needed, in their order, and the last of them fails.
    fn of_those(count: usize, needed: &[usize], most: usize) -> (Vec<usize>, usize) {
        let mut tests = 0;
        let test = |part: &[usize]| {
            tests += 1;
            let mut left = needed.iter().peekable();
            let at = part.iter().position(|number| {
                left.next_if_eq(&number);
                left.peek().is_none()
            });
            Ok::<_, ()>(match at {
                _ if tests > most => Trial::Over,
                Some(at) => Trial::Fails(at + 1),
                None => Trial::Passes,
            })
        };
        (reduced(count, test).expect("a part"), tests)
    }

    #[test]
    fn only_the_texts_that_are_needed_stay() {
        for (count, needed) in [
            (4096, &[17, 4095][..]),
            (4096, &[0, 2047, 4095]),
            (4096, &[4093, 4094, 4095]),
            (1000, &[3, 500, 501, 999]),
            (3, &[0, 1, 2]),
            (2, &[0, 1]),
            // It fails before the last text.
            (100, &[7, 50]),
        ] {
            let (kept, tests) = of_those(count, needed, usize::MAX);
            assert_eq!(kept, needed, "{count}");
            assert!(tests <= 8 * needed.len() * (count.ilog2() as usize + 1), "{count}: {tests}");
        }
    }

    #[test]
    fn a_sequence_fails_whenever_the_time_is_over() {
        for most in 0..40 {
            let (kept, tests) = of_those(1000, &[3, 500, 999], most);
            assert!([3, 500, 999].iter().all(|number| kept.contains(number)), "{most}: {kept:?}");
            assert!(tests <= most + 1);
        }
    }
}
