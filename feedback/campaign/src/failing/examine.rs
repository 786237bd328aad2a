//! A failure that was found: whether it is a new one, whether it happens again, and how small it can be.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gramjet_harness::Target as _;
use gramjet_search::Shorter;

use super::campaign::News;
use super::evidence::{Again, Evidence, Standing};
use super::finding::{DEPENDS, Finding, REPORT};
use super::sequence::{Budget, Sequence};
use super::verdict::{Failed, key_with};
use super::worker::Worker;
use crate::error::Error;

/// At most this many failures of one kind are looked at that differ only by their edges or messages.
const ALIKE: usize = 16;
/// At most this many of them are made smaller a second time, with their message kept. The number is small, as a program
/// that repeats its input in its messages has a new message for each text.
const REPEATED: usize = 4;
/// Keys of failures that depend on earlier inputs begin with it.
const SEQUENCE: &str = "sequence-";
/// Bytes of a text whose choice bytes are found.
const MOST_PARSED: usize = 1 << 16;
/// Runs of a failure that show whether it happens again, and always.
const CONFIRMING: u32 = 3;
/// Share of the time, one part in this many, for new processes where failures did not happen again: an earlier text may
/// have left a state in which every text fails.
const RENEWING: u32 = 5;
/// Time that a new process is taken to need until it was measured.
const SLOW: Duration = Duration::from_millis(200);

/// Way of making a text smaller.
#[derive(Clone, Copy, Debug)]
struct Way {
    keeps_key: bool,
    /// Each smaller text has to fail in a new process.
    is_alone: bool,
}

/// The result of looking at a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    New,
    Known,
    /// A failure that did not happen again, with the number of runs.
    NotAgain(u32),
    /// A failure that a signal has cut off.
    Interrupted,
}

/// Returns the key of a failure; where nothing but edges tells failures apart, it has them.
fn key_of(evidence: &Evidence) -> String {
    evidence.named(&whole_key_of(evidence))
}

/// Returns the key that a failure has if its text is in the language.
fn whole_key_of(evidence: &Evidence) -> String {
    let Evidence { failed, edges, .. } = evidence;
    match failed.is_bare && !edges.is_empty() {
        true => key_with(failed, edges.iter().map(|&(identity, _)| identity)),
        false => failed.key.clone(),
    }
}

/// Returns what a report says of whether the text is in the language; `None` if it says nothing.
fn standing_in(report: &serde_json::Value) -> Option<Standing> {
    Some(match report.get("in_language")?.as_bool() {
        Some(true) => Standing::Inside,
        Some(false) => Standing::Outside,
        None => Standing::Unknown,
    })
}

impl Worker<'_> {
    /// Looks at a failure, and writes it if it is a new one: as it was found at first, so that it is not lost if the
    /// search is killed, then made smaller.
    pub(crate) fn examine(&mut self, text: &[u8], evidence: Evidence) -> Result<(), Error> {
        self.examine_and_tell(text, evidence).map(drop)
    }

    /// Looks at a failure. Returns true if it is known now what it is.
    fn examine_and_tell(&mut self, text: &[u8], evidence: Evidence) -> Result<bool, Error> {
        let key = key_of(&evidence);
        let Some(telling) = self.claim(&evidence, &key) else {
            let is_known = self.campaign.shared().keys.contains(&key);
            return self.leave(&evidence).map(|()| is_known);
        };
        let campaign = self.campaign;
        let class = campaign.shared().doubts.class_of(&evidence);
        let earlier = self.history.texts();
        let (state, call) = (&campaign.state, &campaign.plan.call);
        let mut finding = self.found(text, &evidence, &key, &class);
        let edges = evidence.edges.clone();
        {
            let _folders = campaign.folders();
            // Another worker's failure may have come to this key meanwhile.
            if !campaign.shared().keys.contains(&key) {
                finding.write(state, call)?;
            }
        }
        let settled = self.settle(&mut finding, evidence, telling, earlier)?;
        let _folders = campaign.folders();
        let mut shared = campaign.shared();
        let is_new = settled == Settled::New;
        let is_own = finding.failed.key == key && is_new || !shared.keys.contains(&key);
        let mut is_withdrawn = is_own && !is_new && settled != Settled::Interrupted;
        if settled == Settled::Interrupted {
            shared.left_unfinished += 1;
        }
        if let Settled::NotAgain(tried) = settled {
            shared.doubts.set_aside(state, call, &class, &finding, (&edges, tried))?;
        }
        if is_new {
            if is_own && finding.failed.key != key {
                // A sequence has files of its own, so it is written anew.
                is_withdrawn = !finding.sequence.is_empty();
                if !is_withdrawn {
                    state.rename_failure(&key, &finding.failed.key)?;
                }
            }
            let place = finding.write(state, call)?;
            if finding.sequence.is_empty() && shared.doubts.forget(&class, &edges) {
                state.forget_unconfirmed(&class)?;
            }
            shared.news.push(News { finding, place });
        }
        if is_withdrawn {
            state.withdraw_failure(&key)?;
        }
        shared.pending.remove(&key);
        Ok(settled != Settled::Interrupted)
    }

    /// Leaves a failure that is not looked at. If others like it did not happen again, earlier inputs may have left a
    /// state in which every text fails.
    fn leave(&mut self, evidence: &Evidence) -> Result<(), Error> {
        let (begun, took) = self.renewed;
        let is_doubtful = self.campaign.shared().doubts.knows(evidence);
        // Until it was measured, a new process is taken to need long.
        let took = if took.is_zero() { SLOW } else { took };
        if is_doubtful && begun.elapsed() > RENEWING * took { self.renew() } else { Ok(()) }
    }

    /// Runs the text of a failure that a killed search has left as it was found. One that does not happen again is kept
    /// apart.
    pub(crate) fn look_at_unfinished(&mut self, key: &str, text: &[u8]) -> Result<(), Error> {
        for _ in 0..CONFIRMING {
            self.renew()?;
            match self.try_again(text)? {
                Again::Cut => return Ok(()),
                Again::Passed(_) => {}
                Again::Failed(evidence) => {
                    let standing = match text.len() > MOST_PARSED {
                        true => standing_in(&self.unfinished_report(key)).unwrap_or(Standing::Unknown),
                        false => self.standing(text),
                    };
                    let evidence = evidence.of_class_of(key).standing(standing);
                    let is_settled = self.examine_and_tell(text, evidence)?;
                    // It may be another failure now, or have another key. One that was not looked at stays.
                    return if is_settled { self.withdraw_unfinished(key) } else { Ok(()) };
                }
            }
        }
        self.set_unfinished_aside(key, text)
    }

    /// Removes what a killed search has left of a failure, once it was looked at.
    fn withdraw_unfinished(&self, key: &str) -> Result<(), Error> {
        let campaign = self.campaign;
        let _folders = campaign.folders();
        let is_left =
            !campaign.shared().keys.contains(key) && campaign.state.failures()?.iter().any(|left| left == key);
        if is_left && !campaign.stop.is_cut() {
            campaign.state.withdraw_failure(key)?;
        }
        Ok(())
    }

    /// Returns the report that a killed search has left of a failure.
    fn unfinished_report(&self, key: &str) -> serde_json::Value {
        let report = self.campaign.state.failure(key, REPORT).unwrap_or_default();
        serde_json::from_slice(&report).unwrap_or_default()
    }

    fn set_unfinished_aside(&mut self, key: &str, text: &[u8]) -> Result<(), Error> {
        let campaign = self.campaign;
        let (state, call) = (&campaign.state, &campaign.plan.call);
        let file = |name: &str| state.failure(key, name).unwrap_or_default();
        let report = self.unfinished_report(key);
        let what = report["what"].as_str().unwrap_or("not known").to_string();
        // Searches of earlier versions have not told the class.
        let class = report["class"].as_str().unwrap_or(key).to_string();
        let failed = Failed { key: key.to_string(), kind: String::new(), what, is_bare: false, is_limit: false };
        let (stdout, stderr, edges) = (file("stdout"), file("stderr"), Vec::new());
        let standing = standing_in(&report).unwrap_or(Standing::Inside);
        let evidence =
            Evidence { failed, edges, is_timeout: false, is_hottest: false, standing, depth: None, stdout, stderr };
        let mut finding = self.found(text, &evidence, key, &class);
        finding.is_left = true;
        let _folders = campaign.folders();
        campaign.shared().doubts.set_aside(state, call, &class, &finding, (&[], CONFIRMING))?;
        Ok(state.withdraw_failure(key)?)
    }

    /// Lets the program run the next text in a new process.
    pub(crate) fn renew(&mut self) -> Result<(), Error> {
        self.tested.renew()?;
        self.judge.renew()?;
        self.renewed.0 = Instant::now();
        Ok(())
    }

    /// Returns a failure as it was found.
    fn found(&self, text: &[u8], evidence: &Evidence, key: &str, class: &str) -> Finding {
        let campaign = self.campaign;
        let Evidence { failed, standing, stdout, stderr, .. } = evidence.clone();
        Finding {
            failed: Failed { key: key.to_string(), ..failed },
            standing,
            input: text.to_vec(),
            minimised: text.to_vec(),
            sequence: Vec::new(),
            class: class.to_string(),
            choices: self.choices(text),
            stdout,
            stderr,
            reproduced: (1, 1),
            runs: campaign.runs.load(Ordering::Relaxed),
            after: campaign.begin.elapsed(),
            is_left: false,
            is_finished: false,
        }
    }

    fn choices(&self, text: &[u8]) -> Option<Vec<u8>> {
        // Those of a very long text take long to find.
        if text.len() <= MOST_PARSED { self.campaign.plan.language.choices_beside(text) } else { None }
    }

    /// Runs a failure again and makes it smaller, or finds the `earlier` texts that it depends on.
    fn settle(
        &mut self,
        finding: &mut Finding,
        evidence: Evidence,
        mut telling: Vec<u32>,
        earlier: Vec<Vec<u8>>,
    ) -> Result<Settled, Error> {
        let (campaign, text) = (self.campaign, &finding.input.clone());
        let (confirmed, reproduced) = self.confirm(text, &evidence)?;
        let evidence = match confirmed {
            // It was not run often enough to be set aside.
            _ if reproduced.0 == 0 && reproduced.1 < CONFIRMING => return Ok(Settled::Interrupted),
            _ if reproduced.0 == 0 => return self.settle_sequence(finding, &evidence, earlier, reproduced.1),
            Some(other) => {
                telling.clear();
                let key = key_of(&other);
                if key != finding.failed.key && campaign.shared().is_taken(&key) {
                    return Ok(Settled::Known);
                }
                other
            }
            None => evidence,
        };
        let may_shrink = evidence.depth.is_none() && text.len() <= MOST_PARSED;
        let (minimised, evidence) = match reproduced.0 == reproduced.1 && may_shrink {
            true => match self.smallest(text, evidence, telling)? {
                Some(smallest) => smallest,
                None => return Ok(Settled::Known),
            },
            false => (text.to_vec(), evidence),
        };
        if !self.is_first(&evidence) {
            return Ok(Settled::Known);
        }
        let (key, whole_key) = (key_of(&evidence), whole_key_of(&evidence));
        let Evidence { failed, standing, stdout, stderr, .. } = evidence;
        (finding.failed, finding.standing) = (Failed { key: key.clone(), ..failed }, standing);
        (finding.choices, finding.minimised) = (self.choices(&minimised), minimised);
        (finding.stdout, finding.stderr, finding.reproduced) = (stdout, stderr, reproduced);
        finding.is_finished = true;
        let mut shared = campaign.shared();
        // A text of the language that fails in this way says more.
        let is_new = !(standing.is_broken() && shared.is_taken(&whole_key)) && shared.keys.insert(key);
        Ok(if is_new { Settled::New } else { Settled::Known })
    }

    /// Runs a failure again, each time with a new process or fork server. Returns in how many of how many runs it has
    /// failed. What it did in a new process counts, and is returned; a text may fail in another way when it is alone.
    /// Once the search is to end, one run is enough.
    fn confirm(&mut self, text: &[u8], evidence: &Evidence) -> Result<(Option<Evidence>, (u32, u32)), Error> {
        let stop = &self.campaign.stop;
        let (mut other, mut fails, mut tried) = (None::<Evidence>, 0, 0);
        while tried < CONFIRMING && !(tried > 0 && stop.is_requested()) {
            self.renew()?;
            let again = self.try_again(text)?;
            if let Again::Cut = again {
                break;
            }
            if let Again::Failed(again) = again {
                let again = again.with_depth_of(evidence);
                let is_same = again.failed.kind == other.as_ref().unwrap_or(evidence).failed.kind;
                // What the process did in which it was found may come from the inputs before it.
                if fails == 0 && (!is_same || self.tested.has_history()) {
                    other = Some(again.standing(evidence.standing));
                }
                fails += u32::from(is_same || fails == 0);
            }
            if tried == 0 {
                self.renewed.1 = self.renewed.0.elapsed();
            }
            tried += 1;
        }
        Ok((other, (fails, tried)))
    }

    /// Finds a sequence of texts on which a failure happens that did not happen again in `tried` runs with its text
    /// alone.
    fn settle_sequence(
        &mut self,
        finding: &mut Finding,
        evidence: &Evidence,
        earlier: Vec<Vec<u8>>,
        tried: u32,
    ) -> Result<Settled, Error> {
        let campaign = self.campaign;
        let class = campaign.shared().doubts.class_of(evidence);
        let found = match campaign.shared().doubts.wants_sequence(&class, &evidence.edges) {
            true => Some(earlier),
            false => None,
        };
        let found = match found {
            Some(earlier) => self.sequence(earlier, evidence, &mut self.budget())?,
            None => None,
        };
        let reproduced = match &found {
            Some(found) => self.reproduced(found, CONFIRMING)?,
            None => (0, 0),
        };
        if campaign.stop.is_cut() {
            return Ok(Settled::Interrupted);
        }
        let Some(Sequence { texts, evidence: last }) = found.filter(|_| reproduced.0 > 0) else {
            return Ok(Settled::NotAgain(tried));
        };
        // A text that was made smaller, or that came before, may fail by itself.
        let alone = texts.last().filter(|&text| *text != finding.input).cloned();
        if let Some(alone) = alone
            && self.confirm(&alone, evidence)?.1.0 > 0
        {
            return Ok(Settled::NotAgain(tried));
        }
        finding.minimised = texts.last().cloned().unwrap_or_default();
        finding.standing = self.standing(&finding.minimised);
        finding.choices = self.choices(&finding.minimised);
        let key = format!("{SEQUENCE}{}", key_of(&last.clone().standing(finding.standing)));
        let what = format!("{DEPENDS}{}", last.failed.what);
        finding.failed = Failed { key: key.clone(), what, ..last.failed };
        (finding.stdout, finding.stderr) = (last.stdout, last.stderr);
        (finding.sequence, finding.reproduced, finding.is_finished) = (texts, reproduced, true);
        let mut shared = campaign.shared();
        shared.doubts.add_sequence(&class, &[&evidence.edges[..], &last.edges].concat());
        Ok(if shared.keys.insert(key) { Settled::New } else { Settled::Known })
    }

    /// Returns the runs and the time that one failure may take.
    fn budget(&self) -> Budget {
        let plan = &self.campaign.plan;
        Budget { tests: plan.shrinks, end: Instant::now() + plan.shrinking }
    }

    /// Runs a text that is like one that failed. The search does not learn from it.
    pub(crate) fn try_again(&mut self, text: &[u8]) -> Result<Again, Error> {
        let run = self.tested.run(text)?;
        self.history.push(text, run.earlier);
        let failed = self.judge.judge(text, &run)?.failed;
        if self.campaign.stop.is_cut() {
            return Ok(Again::Cut);
        }
        Ok(match failed {
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

    /// Claims a failure for this worker. Returns `None` if another run has failed like this one, as far as it is known
    /// now, or another worker looks at one with this key. Where nothing but edges tells failures apart, returns the
    /// numbers of those by which it differs from the failures before it and from runs that passed.
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
        if shared.is_taken(key) || evidence.standing.is_broken() && shared.is_taken(&whole_key_of(evidence)) {
            return None;
        }
        let is_tried = shared.doubts.see(evidence).unwrap_or_else(|| {
            let looked = shared.looked.entry(evidence.named(&failed.kind)).or_default();
            *looked += 1;
            *looked <= ALIKE
        });
        if !is_tried {
            return None;
        }
        shared.pending.insert(key.to_string());
        Some(telling)
    }

    /// Returns the numbers of edges that neither a known failure has executed nor a run that passed.
    fn telling(&self, evidence: &Evidence, is_known: impl Fn(u64) -> bool) -> Vec<u32> {
        let Evidence { edges, is_hottest, .. } = evidence;
        let has_passed = |number| !is_hottest && (self.coverage.of(number) > 0 || self.broken.of(number) > 0);
        let edges = edges.iter().filter(|&&(identity, number)| !is_known(identity) && !has_passed(number));
        edges.map(|&(_, number)| number).collect()
    }

    /// Returns true if no other run has failed like this one, whose text was made smaller: fewer of its edges have
    /// nothing to do with the failure. From here on this failure is known.
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

    /// Returns a text that is as small as possible and fails in the same way; `None` if that way is known.
    fn smallest(
        &mut self,
        text: &[u8],
        evidence: Evidence,
        telling: Vec<u32>,
    ) -> Result<Option<(Vec<u8>, Evidence)>, Error> {
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

    /// Returns the smallest text that was found which fails in the same way in a new process, and what it did. It
    /// executes one of the `telling` edges, if there are any; edges of texts that pass tell nothing, and if none is
    /// left, the failure is a known one.
    fn shrink(
        &mut self,
        text: &[u8],
        evidence: Evidence,
        telling: Vec<u32>,
        keeps_key: bool,
    ) -> Result<Option<(Vec<u8>, Evidence)>, Error> {
        let mut budget = self.budget();
        let way = Way { keeps_key, is_alone: false };
        let smallest = self.shrink_within(&mut budget, text, evidence.clone(), telling.clone(), way)?;
        let Some((smaller, after)) = &smallest else { return Ok(None) };
        if !self.tested.has_history() || smaller == text || self.fails_alone(smaller, after, keeps_key)? {
            return Ok(smallest);
        }
        // Earlier texts were the reason why some of them failed.
        self.shrink_within(&mut budget, text, evidence, telling, Way { keeps_key, is_alone: true })
    }

    /// Returns true if a text fails in the same way in a new process.
    fn fails_alone(&mut self, text: &[u8], evidence: &Evidence, keeps_key: bool) -> Result<bool, Error> {
        self.renew()?;
        let again = self.try_again(text)?;
        Ok(matches!(&again, Again::Failed(again) if again.is_like(evidence, keeps_key)))
    }

    /// Makes a text smaller within the budget. Processes may have run on earlier texts, unless the way says otherwise.
    fn shrink_within(
        &mut self,
        budget: &mut Budget,
        text: &[u8],
        evidence: Evidence,
        mut telling: Vec<u32>,
        way: Way,
    ) -> Result<Option<(Vec<u8>, Evidence)>, Error> {
        let Way { keeps_key, is_alone } = way;
        let campaign = self.campaign;
        let mut best = evidence;
        let parts = self.maker.session().minimise(text);
        if parts.is_none() && !best.standing.is_broken() {
            // It may be too ambiguous to be parsed. With bytes cut out, it may no longer be in the language.
            return Ok(Some((text.to_vec(), best)));
        }
        let mut trim = Shorter::new(parts, text);
        // A search that is to end soon still writes what it has.
        while !campaign.is_over() && budget.take() {
            let Some(proposed) = trim.propose() else { break };
            let proposed = proposed.to_vec();
            let again = match self.try_again(&proposed)? {
                Again::Cut => break,
                Again::Failed(again) => Some(again).filter(|again| {
                    let is_telling = |&(_, number): &(u64, u32)| telling.contains(&number);
                    again.is_like(&best, keeps_key) && (telling.is_empty() || again.edges.iter().any(is_telling))
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
            let again = match again {
                Some(again) if is_alone && !self.fails_alone(&proposed, &again, keeps_key)? => None,
                again => again,
            };
            trim.judge(again.is_some());
            if let Some(again) = again {
                best = again.standing(best.standing);
            }
        }
        let smallest = trim.text().to_vec();
        let standing = if best.standing.is_broken() { self.standing(&smallest) } else { best.standing };
        Ok(Some((smallest, best.standing(standing))))
    }
}
