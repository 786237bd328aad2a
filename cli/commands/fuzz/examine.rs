//! A failure that was found: whether it is a new one, whether it always fails, and how small it can be.

use std::sync::atomic::Ordering;
use std::time::Instant;

use gramjet_harness::Target as _;
use gramjet_search::Shorter;

use super::campaign::News;
use super::evidence::{Again, Evidence};
use super::finding::Finding;
use super::verdict::{Failed, key_with};
use super::worker::Worker;
use crate::failure::Failure;

/// At most this many failures of one kind are looked at that differ only by their edges or messages.
const ALIKE: usize = 16;
/// At most this many of them are made smaller a second time, with their message kept. The number is small, as a program
/// that repeats its input in its messages has a new message for each text.
const REPEATED: usize = 4;
/// Runs of a failure that show whether it always fails.
const CONFIRMING: u32 = 3;

/// The key of a failure; where nothing but edges tells failures apart, it has them.
fn key_of(evidence: &Evidence) -> String {
    evidence.named(&whole_key_of(evidence))
}

/// The key that it has if the text is in the language.
fn whole_key_of(evidence: &Evidence) -> String {
    let Evidence { failed, edges, .. } = evidence;
    match failed.is_bare && !edges.is_empty() {
        true => key_with(failed, edges.iter().map(|&(identity, _)| identity)),
        false => failed.key.clone(),
    }
}

impl Worker<'_> {
    /// Looks at a failure, and writes it if it is a new one: as it was found at first, so that it is not lost if the
    /// search is killed, then made smaller.
    pub(super) fn examine(&mut self, text: &[u8], evidence: Evidence) -> Result<(), Failure> {
        let key = key_of(&evidence);
        let Some(telling) = self.claim(&evidence, &key) else { return Ok(()) };
        let campaign = self.campaign;
        let (state, call) = (&campaign.state, &campaign.plan.call);
        let mut finding = self.found(text, &evidence, &key);
        {
            let _folders = campaign.folders();
            // Another worker's failure may have come to this key meanwhile.
            if !campaign.shared().keys.contains(&key) {
                finding.write(state, call)?;
            }
        }
        let is_new = self.settle(&mut finding, evidence, telling)?;
        let _folders = campaign.folders();
        let is_own = finding.failed.key == key && is_new || !campaign.shared().keys.contains(&key);
        if is_new {
            if is_own && finding.failed.key != key {
                state.rename_failure(&key, &finding.failed.key)?;
            }
            let place = finding.write(state, call)?;
            campaign.shared().news.push(News { finding, place });
        } else if is_own {
            state.withdraw_failure(&key)?;
        }
        campaign.shared().pending.remove(&key);
        Ok(())
    }

    /// A failure as it was found.
    fn found(&self, text: &[u8], evidence: &Evidence, key: &str) -> Finding {
        let campaign = self.campaign;
        let Evidence { failed, is_broken, stdout, stderr, .. } = evidence.clone();
        Finding {
            failed: Failed { key: key.to_string(), ..failed },
            is_broken,
            input: text.to_vec(),
            minimised: text.to_vec(),
            choices: self.choices(text),
            stdout,
            stderr,
            reproduced: (1, 1),
            runs: campaign.runs.load(Ordering::Relaxed),
            after: campaign.begin.elapsed(),
            is_finished: false,
        }
    }

    fn choices(&self, text: &[u8]) -> Option<Vec<u8>> {
        let language = &self.campaign.plan.language;
        language.parse(text).ok().map(|choices| language.with_header(&choices))
    }

    /// Runs a failure again and makes it smaller. Whether it is a new one then.
    fn settle(&mut self, finding: &mut Finding, evidence: Evidence, telling: Vec<u32>) -> Result<bool, Failure> {
        let (campaign, text) = (self.campaign, &finding.input.clone());
        let mut reproduced = (1, 1);
        while reproduced.1 < CONFIRMING && !campaign.stop.is_requested() {
            let again = self.try_again(text)?;
            let fails = matches!(&again, Again::Failed(again) if again.failed.kind == evidence.failed.kind);
            reproduced = (reproduced.0 + u32::from(fails), reproduced.1 + 1);
        }
        let (minimised, evidence) = match reproduced.0 == reproduced.1 {
            true => match self.smallest(text, evidence, telling)? {
                Some(smallest) => smallest,
                None => return Ok(false),
            },
            false => (text.to_vec(), evidence),
        };
        if !self.is_first(&evidence) {
            return Ok(false);
        }
        let (key, whole_key) = (key_of(&evidence), whole_key_of(&evidence));
        let Evidence { failed, is_broken, stdout, stderr, .. } = evidence;
        (finding.failed, finding.is_broken) = (Failed { key: key.clone(), ..failed }, is_broken);
        (finding.choices, finding.minimised) = (self.choices(&minimised), minimised);
        (finding.stdout, finding.stderr, finding.reproduced) = (stdout, stderr, reproduced);
        finding.is_finished = true;
        let mut shared = campaign.shared();
        // A text of the language that fails in this way says more.
        Ok(!(is_broken && shared.is_taken(&whole_key)) && shared.keys.insert(key))
    }

    /// Runs a text that is like one that failed. The search does not learn from it.
    pub(super) fn try_again(&mut self, text: &[u8]) -> Result<Again, Failure> {
        let run = self.tested.run(text)?;
        let failed = self.judge.judge(text, &run)?.failed;
        // Runs that a signal has cut short say nothing.
        Ok(match failed.filter(|_| !self.campaign.stop.is_signalled()) {
            Some(failed) => {
                let evidence = Evidence::new(failed, &run);
                Again::Failed(evidence.identified(&self.tested))
            }
            None => {
                let executed = run.edges.map(|edges| edges.executed().iter().map(|edge| edge.number).collect());
                Again::Passed(executed.unwrap_or_default())
            }
        })
    }

    /// Whether no other run has failed like this one, as far as it is known now, and no other worker looks at one with
    /// this key. Where nothing but edges tells failures apart, returns the numbers of those by which it differs from
    /// the failures before it and from runs that passed.
    fn claim(&self, evidence: &Evidence, key: &str) -> Option<Vec<u32>> {
        let failed = &evidence.failed;
        let mut shared = self.campaign.shared();
        let mut telling = Vec::new();
        if failed.is_bare && !evidence.edges.is_empty() && shared.knows(evidence) {
            telling = self.telling(evidence, |identity| shared.has_executed(evidence, identity));
            if telling.is_empty() {
                return None;
            }
        }
        if shared.is_taken(key) || evidence.is_broken && shared.is_taken(&whole_key_of(evidence)) {
            return None;
        }
        let looked = shared.looked.entry(evidence.named(&failed.kind)).or_default();
        *looked += 1;
        if *looked > ALIKE {
            return None;
        }
        shared.pending.insert(key.to_string());
        Some(telling)
    }

    /// The numbers of edges that neither a known failure has executed nor a run that passed.
    fn telling(&self, evidence: &Evidence, is_known: impl Fn(u64) -> bool) -> Vec<u32> {
        let Evidence { edges, is_hottest, .. } = evidence;
        let has_passed =
            |number| !is_hottest && (self.coverage.greatest(number) > 0 || self.broken.greatest(number) > 0);
        let edges = edges.iter().filter(|&&(identity, number)| !is_known(identity) && !has_passed(number));
        edges.map(|&(_, number)| number).collect()
    }

    /// The same of the text that was made smaller, of which fewer edges have nothing to do with the failure. From here
    /// on this failure is known.
    fn is_first(&self, evidence: &Evidence) -> bool {
        if !evidence.failed.is_bare || evidence.edges.is_empty() {
            return true;
        }
        let mut shared = self.campaign.shared();
        let is_first = !shared.knows(evidence)
            || !self.telling(evidence, |identity| shared.has_executed(evidence, identity)).is_empty();
        let known = shared.bare.entry(evidence.named(&evidence.failed.key)).or_default();
        known.extend(evidence.edges.iter().map(|&(identity, _)| identity));
        is_first
    }

    /// A text that is as small as possible and fails in the same way; none if that way is known.
    fn smallest(
        &mut self,
        text: &[u8],
        evidence: Evidence,
        telling: Vec<u32>,
    ) -> Result<Option<(Vec<u8>, Evidence)>, Failure> {
        let Some(smallest) = self.shrink(text, evidence.clone(), telling, false)? else { return Ok(None) };
        let (before, after) = (&evidence.failed, &smallest.1.failed);
        let is_known = {
            let mut shared = self.campaign.shared();
            let is_known = before.key != after.key && shared.keys.contains(&evidence.named(&after.key));
            let repeated = shared.repeated.entry(evidence.named(&before.kind)).or_default();
            *repeated += usize::from(is_known);
            if is_known && *repeated > REPEATED {
                return Ok(None);
            }
            is_known
        };
        // It has become another failure, which is known. This one is not.
        if is_known { self.shrink(text, evidence, Vec::new(), true) } else { Ok(Some(smallest)) }
    }

    /// The smallest text that was found which fails in the same way, and what it did. It executes one of the `telling`
    /// edges, if there are any; edges of texts that pass tell nothing, and if none is left, the failure is a known one.
    fn shrink(
        &mut self,
        text: &[u8],
        evidence: Evidence,
        mut telling: Vec<u32>,
        keeps_key: bool,
    ) -> Result<Option<(Vec<u8>, Evidence)>, Failure> {
        let campaign = self.campaign;
        let end = Instant::now() + campaign.plan.shrinking;
        let mut best = evidence;
        let parts = self.maker.session().minimise(text);
        if parts.is_none() && !best.is_broken {
            // It may be too ambiguous to be parsed. With bytes cut out, it may no longer be in the language.
            return Ok(Some((text.to_vec(), best)));
        }
        let mut trim = Shorter::new(parts, text);
        for _ in 0..campaign.plan.shrinks {
            // A search that is to end soon still writes what it has.
            if Instant::now() > end || campaign.is_over() {
                break;
            }
            let Some(proposed) = trim.propose() else { break };
            let proposed = proposed.to_vec();
            let again = match self.try_again(&proposed)? {
                Again::Failed(again) => Some(again).filter(|again| {
                    let (one, two) = (&best.failed, &again.failed);
                    let is_same = one.kind == two.kind && (!keeps_key || one.key == two.key);
                    let is_telling = |&(_, number): &(u64, u32)| telling.contains(&number);
                    is_same && (telling.is_empty() || again.edges.iter().any(is_telling))
                }),
                Again::Passed(edges) => {
                    if !telling.is_empty() && !best.is_hottest {
                        telling.retain(|number| edges.binary_search(number).is_err());
                        if telling.is_empty() {
                            return Ok(None);
                        }
                    }
                    None
                }
            };
            trim.judge(again.is_some());
            if let Some(again) = again {
                best = again.broken(best.is_broken);
            }
        }
        let smallest = trim.text().to_vec();
        let is_broken = best.is_broken && !self.maker.session().remember(&smallest);
        Ok(Some((smallest, best.broken(is_broken))))
    }
}
