//! The survey of long texts: their processor time, with nothing counted of functions, so that the time is the
//! program's own.

use std::time::{Duration, Instant};

use gramjet_compiler::formats::{Pump, pumps};
use gramjet_harness::Counting;
use gramjet_search::{Edge, Effort, Ending, Family, Measured, Member, Runs, Survey, Timed, prove_bytes};
use gramjet_session::decisions::Around;

use super::hunt::Hunt;
use super::meter::{Meter, Objective, Objectives};
use super::study::{EdgeLaw, Grown, Hot, Study, fastest, shares};
use crate::error::Error;
use crate::stop::Stop;
use crate::subject::{Tested, function};

/// No run of the survey takes longer.
const LONGEST_RUN: Duration = Duration::from_secs(1);
/// A run that was stopped has taken at least this share of it, if that was the reason.
const STOPPED: f64 = 0.5;
/// A survey of less time does not ask for the regular expressions of the program, which takes a second or two.
const LISTED: Duration = Duration::from_secs(4);
/// The share of the time that is for the search; the rest is for proofs.
const SEARCHING: f64 = 0.5;
/// Texts whose growth is measured, and of those the ones that are shown.
const TRIED: usize = 8;
const SHOWN: usize = 3;
/// The shares of the time that is left: to make a text simpler, and for a proof.
const SIMPLIFYING: f64 = 0.25;
const PROOF: f64 = 0.4;
/// Each copy multiplies the time by this, where few copies stop a program.
const SUDDEN: f64 = 2.0;
/// Counts whose growth is not proved to be faster say nothing; times are less exact.
const LINEAR: f64 = 1.2;
const LINEAR_TIME: f64 = 1.4;
/// Copies of the text that a new process runs first.
const WARMING: usize = 6;
/// The share of the time that a line has to take to be the place of a law.
const MOST: f64 = 0.5;
/// The text that is shown is the longest member of at most this many bytes.
const SHORT: usize = 200;

/// Numbers that say how far a survey has looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surveyed {
    /// Number of texts that were tried, each at several lengths.
    pub tried: u64,
    /// Length of the longest one, in bytes.
    pub longest: usize,
}

/// Takes the processor time of texts.
struct Clock<'c> {
    meter: Meter,
    stop: &'c Stop,
    /// A quick text. A process that has just begun runs it first, as its first call loads what others find loaded.
    warm: Vec<u8>,
    is_cold: bool,
    failed: Option<Error>,
}

impl<'c> Clock<'c> {
    fn new(hunt: &'c Hunt, counting: Counting) -> Result<Clock<'c>, Error> {
        let plan = &hunt.plan;
        let mut surroundings = plan.surroundings.of_functions(counting);
        surroundings.limits = surroundings.limits.with_time(surroundings.limits.time.min(LONGEST_RUN));
        let meter = Meter::new(&plan.command, surroundings, &Objectives::one(Objective::Cpu))?;
        Ok(Clock { meter, stop: &hunt.stop, warm: Vec::new(), is_cold: true, failed: None })
    }

    fn read(&mut self, text: &[u8]) -> Option<&Measured> {
        if self.failed.is_some() || self.stop.is_cut() {
            return None;
        }
        if self.is_cold && !self.warm.is_empty() {
            self.is_cold = false;
            let warm = std::mem::take(&mut self.warm);
            let is_run = self.meter.read(&warm).map(drop);
            self.warm = warm;
            self.note(is_run)?;
        }
        match self.meter.read(text) {
            // A run that was cut short says nothing.
            Ok(_) if self.stop.is_cut() => None,
            Ok(measured) => {
                // What was stopped, or has failed, had a process that has ended.
                self.is_cold = measured.ending != Ending::Done;
                if self.warm.is_empty() && !self.is_cold {
                    self.warm = text.to_vec();
                }
                Some(measured)
            }
            Err(failure) => {
                self.failed = Some(failure);
                None
            }
        }
    }

    fn note(&mut self, result: Result<(), Error>) -> Option<()> {
        match result {
            Ok(()) => Some(()),
            Err(failure) => {
                self.failed = Some(failure);
                None
            }
        }
    }

    fn time(&mut self, text: &[u8]) -> Option<Timed> {
        let measured = self.read(text)?;
        Some(match measured.ending {
            Ending::Done => Timed { seconds: measured.seconds, is_stopped: false },
            // Only the limit on time says that a text takes long.
            Ending::Stopped if measured.seconds >= STOPPED * LONGEST_RUN.as_secs_f64() => {
                Timed { seconds: measured.seconds, is_stopped: true }
            }
            Ending::Stopped | Ending::Failed => Timed { seconds: 0.0, is_stopped: false },
        })
    }

    /// Returns why the program could not be run. When the time is over, a program that has just been started ends,
    /// which says nothing.
    fn failure(&mut self) -> Option<Error> {
        self.failed.take().filter(|_| !self.stop.is_cut())
    }
}

impl Runs for Clock<'_> {
    fn run(&mut self, text: &[u8]) -> Option<Measured> {
        self.read(text).cloned()
    }

    fn can_repeat(&self) -> bool {
        true
    }

    fn renew(&mut self) -> bool {
        // The proof itself begins with a text of the family.
        self.is_cold = false;
        self.meter.renew().unwrap_or_else(|failure| {
            self.failed = Some(failure);
            false
        })
    }
}

impl Hunt {
    /// Looks for long texts whose processor time grows fast, for so long. Returns a study of each that is proved, the
    /// fastest one first.
    pub(super) fn survey(&self, time: Duration, end: Option<Instant>, effort: Effort) -> Result<Vec<Study>, Error> {
        let begin = Instant::now();
        let end = end.map_or(begin + time, |last| last.min(begin + time));
        if time.is_zero() || self.stop.is_cut() {
            return Ok(Vec::new());
        }
        let mut studies = Vec::new();
        let result = self.survey_until((begin, end), effort, &mut studies);
        // What has just been started ends when the time is over.
        if self.stop.is_cut() { Ok(studies) } else { result.map(|()| studies) }
    }

    fn survey_until(
        &self,
        (begin, end): (Instant, Instant),
        effort: Effort,
        studies: &mut Vec<Study>,
    ) -> Result<(), Error> {
        let plan = &self.plan;
        let mut clock = Clock::new(self, Counting::Nothing)?;
        let texts = self.short_texts();
        let searching = begin + (end - begin).mul_f64(SEARCHING);
        let pumps = if end - begin >= LISTED { self.pumps(searching) } else { Vec::new() };
        let mut survey = Survey::new(&plan.studied, &texts, &pumps, plan.max_len, plan.seed);
        let is_over = || Instant::now() >= searching || self.stop.is_cut();
        while !is_over() && !survey.has_enough() && survey.step(&mut |text| clock.time(text)) {}
        clock.failure().map_or(Ok(()), Err)?;
        let mut promising = survey.fast();
        promising.truncate(TRIED);
        self.note_survey(Surveyed { tried: survey.tried(), longest: survey.longest() });
        let counts = plan.objectives.first() != &Objective::Cpu;
        let mut counter = if counts { Some(self.meter_in(self.limited())?) } else { None };
        let mut deriver = plan.studied.deriver(None);
        let mut tried: Vec<Around> = Vec::new();
        let mut sudden: Option<(String, Family)> = None;
        for found in &promising {
            let left = || end.saturating_duration_since(Instant::now());
            if studies.len() == SHOWN || left().is_zero() || self.stop.is_cut() {
                break;
            }
            let until = Instant::now() + left().mul_f64(SIMPLIFYING);
            let found = survey.simplified(found, &mut |text| clock.time(text).filter(|_| Instant::now() < until));
            if tried.contains(&found.stretch.each) {
                continue;
            }
            tried.push(found.stretch.each.clone());
            let effort = Effort { time: left().mul_f64(PROOF), ..effort };
            let family = prove_bytes(&mut deriver, &found.stretch, effort, &mut clock);
            clock.failure().map_or(Ok(()), Err)?;
            let Some(mut family) = family else { continue };
            let is_timed = family.time.as_ref().is_some_and(|time| time.is_superlinear(LINEAR_TIME));
            if !is_timed && !is_sudden(&family) {
                continue;
            }
            if let Some(counter) = &mut counter {
                let until = Instant::now() + left();
                // Its first call would count what is loaded for it.
                let mut like = Vec::new();
                found.stretch.write(WARMING, &mut like);
                let is_begun = counter.renew().and_then(|_| counter.read(&like).map(drop)).is_ok();
                let mut count = |text: &[u8]| counter.read(text).ok().filter(|_| Instant::now() < until).cloned();
                family.recount(|text| if is_begun { count(text) } else { None });
            }
            let what = family.of.describe(&deriver);
            if is_fast(&family) {
                studies.push(self.study_of(family, what, &mut counter));
            } else if !is_timed {
                sudden.get_or_insert((what, family));
            }
        }
        // Few copies stop the program, so no law can be known: that is worth a line if nothing else is.
        if let Some((what, family)) = sudden.filter(|_| studies.is_empty() && !self.stop.is_cut()) {
            studies.push(self.study_of(family, what, &mut counter));
        }
        Ok(())
    }

    /// Returns texts for each regular expression of the function's code, of as many as there is time for; none if they
    /// are not known.
    fn pumps(&self, end: Instant) -> Vec<Vec<Pump>> {
        let plan = &self.plan;
        if !self.is_scripted() {
            return Vec::new();
        }
        let surroundings = plan.surroundings.of_functions(Counting::Executed).telling_expressions();
        // What cannot be asked has none: the survey itself says why it does not run.
        let Ok(tested) = Tested::new(&plan.command, surroundings) else { return Vec::new() };
        let is_over = || Instant::now() >= end || self.stop.is_cut();
        let expressions = tested.expressions().iter().take_while(|_| !is_over());
        expressions.map(|found| pumps(&found.pattern, &found.flags)).collect()
    }

    /// Returns true for a function of Python or Node.
    fn is_scripted(&self) -> bool {
        let function = self.plan.command.first().and_then(function).unwrap_or_default();
        ["python:", "node:"].iter().any(|language| function.starts_with(language))
    }

    /// Returns texts that the search has kept: pieces are taken from them.
    fn short_texts(&self) -> Vec<Vec<u8>> {
        let mut texts: Vec<Vec<u8>> = self.behaviours();
        texts.extend(self.progress().best.map(|best| best.text));
        texts
    }

    fn limited(&self) -> crate::subject::Surroundings {
        let mut surroundings = self.plan.surroundings.timed(true);
        surroundings.limits = surroundings.limits.with_time(surroundings.limits.time.min(2 * LONGEST_RUN));
        surroundings
    }

    /// Returns what is shown of a family.
    fn study_of(&self, family: Family, what: String, counter: &mut Option<Meter>) -> Study {
        let ended = || family.members.iter().filter(|member| !member.is_stopped);
        let shown = ended().rfind(|member| member.text.len() <= SHORT).or_else(|| ended().next());
        let (text, cost, edges) =
            shown.map_or_else(Default::default, |member| (member.text.clone(), member.cost, member.edges.clone()));
        let is_foreign = self.plan.studied.parse(&text).is_err();
        let longest = ended().next_back().map(|member| member.text.clone()).unwrap_or_default();
        let hidden = family.time.clone().filter(|_| family.hidden().is_some());
        let mut grown = Grown { what, family, fastest: None, hottest: Vec::new() };
        let hot = match (hidden, counter) {
            (None, Some(counter)) => {
                let edges = grown.family.edges();
                grown.fastest = fastest(counter, &edges);
                let counts = counter.read(&longest).map(|measured| measured.edges.clone()).unwrap_or_default();
                shares(&counts, |edge| counter.tested.spot(edge))
            }
            (growth, _) => {
                let hot = self.sampled(&longest).unwrap_or_default();
                let growth = growth.or_else(|| grown.family.growth.clone());
                let most = hot.first().filter(|hot| hot.spot.is_some() && hot.share >= MOST);
                grown.fastest =
                    most.zip(growth).map(|(hot, growth)| EdgeLaw { spot: hot.spot.clone(), count: hot.count, growth });
                hot
            }
        };
        Study { text, cost, hot, families: vec![grown], is_foreign, edges, ..Study::default() }
    }

    /// Returns the lines at which a text spends its time, by samples; none where they cannot be taken.
    fn sampled(&self, text: &[u8]) -> Result<Vec<Hot>, Error> {
        if !self.is_scripted() {
            return Ok(Vec::new());
        }
        let mut clock = Clock::new(self, Counting::Samples)?;
        let edges: Vec<Edge> = clock.read(text).map(|measured| measured.edges.clone()).unwrap_or_default();
        clock.failure().map_or(Ok(()), Err)?;
        Ok(shares(&edges, |edge| clock.meter.tested.spot(edge)))
    }
}

/// Returns true if few copies stop the program, and each of the last ones before has multiplied the time.
fn is_sudden(family: &Family) -> bool {
    let ended: Vec<&Member> = family.members.iter().filter(|member| !member.is_stopped).collect();
    let is_steep = |two: &[&Member]| {
        let copies = two[1].copies.saturating_sub(two[0].copies).min(8) as i32;
        two[1].seconds > two[0].seconds * SUDDEN.powi(copies)
    };
    family.is_cut_short() && ended.len() > SHOWN && ended[ended.len() - SHOWN..].windows(2).all(is_steep)
}

/// Returns true if a family grows faster than linearly.
fn is_fast(family: &Family) -> bool {
    let is_proved = family.growth.as_ref().is_some_and(|growth| growth.is_superlinear(LINEAR));
    is_proved || family.hidden().is_some()
}
