//! The stages of a search: it runs, then it looks closely at the texts that it has found.

use std::time::{Duration, Instant};

use gramjet_harness::go_on;
use gramjet_search::{Effort, Ending};

use super::anew;
use super::early_proof::Early;
use super::hunt::{Found, Hunt, Plan};
use super::meter::Meter;
use super::noise::Reference;
use super::note::Note;
use super::records;
use super::study::{Student, Study};
use super::totals::Totals;
use super::worker;
use crate::error::Error;
use crate::siblings::Siblings;
use crate::state::State;
use crate::stop::Stop;
use crate::watch::Watch;

/// The interval at which a search writes what it has done.
const SAVE: Duration = Duration::from_secs(5);

/// The time of the only run of a study after a signal.
const GLANCE: Duration = Duration::from_millis(500);

/// Texts that are run anew if the best one costs less in a new process.
const CONFIRMED: usize = 16;

/// Returns true if a cost is less than another one by more than a twentieth.
fn is_less(cost: u64, than: u64) -> bool {
    u128::from(cost) * 20 < u128::from(than) * 19
}

/// The report of a search as data, in its folder.
pub const REPORT: &str = "report.json";

/// Bounds on the study of the texts that a search has found.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    /// The time for the best text. What is left of it is for some others. 0 leaves the study out.
    pub time: Duration,
    /// The time for a survey of long texts before it; 0 leaves the survey out.
    pub survey: Duration,
    /// Time at which the study ends in any case, if there is one.
    pub end: Option<Instant>,
    /// The effort of a proof of growth.
    pub effort: Effort,
    /// The exponent whose proof ends the search, if there is one.
    pub until_exponent: Option<f64>,
}

/// The result of a study.
#[derive(Debug)]
pub enum Studied {
    /// No text has ended by itself.
    Nothing,
    /// The study was left out, or a signal came before it.
    LeftOut,
    /// The best text of all, and the texts that were studied, the best one first.
    Texts(Found, Vec<Study>),
}

impl Hunt {
    /// Begins a search in a folder, in which others may have been before.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn open(plan: Plan, state: State, stop: Stop) -> Result<Hunt, Error> {
        let before = match Totals::read(state.view())? {
            Some(totals) => totals,
            // Earlier versions have told it in the report alone.
            None => {
                let report = state.view().file(REPORT).and_then(|json| serde_json::from_slice(&json).ok());
                report.map_or_else(Totals::default, |report| Totals::of_report(&report))
            }
        };
        Ok(Hunt::new(plan, state, stop, before))
    }

    /// Searches until it is stopped, or the budget is used up. `look` is called now and then, from this thread, and at
    /// the end; the meter is that of the first worker. Returns a text whose growth was proved meanwhile, if there is
    /// one.
    ///
    /// # Errors
    ///
    /// If the program or the folder can no longer be used. What was found is written even so.
    pub fn run(
        &self,
        meter: Meter,
        siblings: Vec<Siblings>,
        depth: &Depth,
        mut look: impl FnMut(&Hunt),
    ) -> Result<Option<Vec<u8>>, Error> {
        let (mut saved, watch) = (Instant::now(), Watch::new(&self.stop, self.plan.end));
        let (ran, proved) = std::thread::scope(|scope| {
            let mut early = Early::new(depth.until_exponent, depth.effort, depth.time);
            let ran = worker::run(self, meter, siblings, || {
                look(self);
                if saved.elapsed() >= SAVE {
                    saved = Instant::now();
                    self.write_totals().unwrap_or_else(|failure| self.fail(failure));
                }
                early.look(self, scope);
            });
            (ran, early.end(self))
        });
        watch.end(&self.stop);
        self.log_end()?;
        self.write_totals()?;
        records::write_front(self)?;
        ran.map(|()| proved)
    }

    /// Searches as [`Hunt::run`] does, without studying growth meanwhile, and beside no other search.
    ///
    /// # Errors
    ///
    /// If the program cannot be run, or the folder can no longer be used.
    pub fn search(&self) -> Result<(), Error> {
        let (time, survey) = (Duration::ZERO, Duration::ZERO);
        let depth = Depth { time, survey, end: None, effort: Effort::default(), until_exponent: None };
        self.run(self.meter()?, Vec::new(), &depth, |_| {}).map(drop)
    }

    fn student<'s>(&'s self, meter: &'s mut Meter, depth: &Depth) -> Student<'s> {
        let left = depth.end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        let (effort, time) = (depth.effort, depth.time.min(left));
        Student { language: &self.plan.studied, meter, stop: &self.stop, effort, time }
    }

    /// Runs a text once more after a signal, for no longer than a moment, and returns what that shows.
    fn glance(&self, depth: &Depth, text: &[u8]) -> Option<Study> {
        let stop = Stop::default();
        go_on();
        let watch = Watch::new(&stop, Some(Instant::now() + GLANCE));
        let glance = self.meter().and_then(|mut meter| self.student(&mut meter, depth).glance(text));
        drop(watch);
        glance.ok().filter(|_| !stop.is_cut())
    }

    /// Returns the text that costs most in a new process, of the best text and the costliest ones of other behaviours.
    /// A process that takes many texts can load something for one of them, which costs more than any text does.
    fn confirmed(&self, best: Found, meter: &mut Meter) -> Result<Found, Error> {
        let first = self.cost_anew(&best.text, meter)?;
        let Some((cost, hottest)) = first.filter(|first| is_less(first.0, best.cost)) else { return Ok(best) };
        self.note(Note::Cold { cost, before: best.cost });
        let mut most = Found { cost, hottest, ..best };
        let others: Vec<(u64, Vec<u8>)> =
            self.shared().behaviours.all().into_iter().map(|(_, cost, text)| (cost, text.to_vec())).collect();
        for (cost, text) in others.into_iter().take(CONFIRMED) {
            let anew = if cost > most.cost { self.cost_anew(&text, meter)? } else { None };
            if let Some((cost, hottest)) = anew.filter(|anew| anew.0 > most.cost) {
                most = Found { text, cost, hottest, ..most };
            }
        }
        Ok(most)
    }

    /// Returns the cost of a text in a new process, with the count of the hottest edge; `None` if each run has a
    /// process of its own, the cost is not exact, or the run does not end by itself.
    fn cost_anew(&self, text: &[u8], meter: &mut Meter) -> Result<Option<(u64, u64)>, Error> {
        if self.stop.is_cut() || !meter.is_exact() {
            return Ok(None);
        }
        let measured = anew::begin(meter, &self.plan.studied, text)
            .and_then(|is_new| is_new.then(|| meter.read(text)).transpose())
            .map(|measured| measured.filter(|measured| measured.ending == Ending::Done))
            .map(|measured| measured.map(|measured| (measured.cost, measured.hottest)));
        // When the time is over, a program that has just been started ends, which says nothing.
        if self.stop.is_cut() { Ok(measured.unwrap_or_default()) } else { measured }
    }

    /// Keeps the smaller text of a study as the best one, if it costs more than that, also when it is run again. If it
    /// does not, the study has the cost that was confirmed.
    fn improve_by(&self, study: &mut Study, best: &Found, meter: &mut Meter) -> Result<Option<Found>, Error> {
        let Some((text, cost)) = study.smaller.as_mut().filter(|smaller| smaller.1 > best.cost) else {
            return Ok(None);
        };
        if self.stop.is_cut() {
            return Ok(None);
        }
        let mut reference = Reference::new(&best.text, best.cost);
        let Some((confirmed, hottest)) = meter.confirmed(text, &mut reference, &self.stop)? else {
            study.smaller = None;
            return Ok(None);
        };
        *cost = confirmed;
        if confirmed > best.cost { self.improve(text, (confirmed, hottest)).map(Some) } else { Ok(None) }
    }

    /// Looks at the best text, at one whose growth is proved, and at some others, and writes what is found. `show` gets
    /// what is known up to now: at once, as a signal may end the study, and in the end.
    ///
    /// # Errors
    ///
    /// If the program or the folder can no longer be used, or `show` fails.
    pub fn study<E: From<Error>>(
        &self,
        depth: &Depth,
        proved: Option<Vec<u8>>,
        mut show: impl FnMut(&Hunt, &[Study]) -> Result<(), E>,
    ) -> Result<Studied, E> {
        show(self, &[])?;
        let _watch = Watch::new(&self.stop, depth.end);
        let Some(best) = self.progress().best else { return Ok(Studied::Nothing) };
        if depth.time.is_zero() {
            return Ok(Studied::LeftOut);
        }
        if self.stop.is_cut() {
            if let Some(glance) = self.glance(depth, &best.text) {
                show(self, &[glance])?;
            }
            return Ok(Studied::LeftOut);
        }
        let surveyed = self.survey(depth.survey, depth.end, depth.effort)?;
        if !surveyed.is_empty() {
            show(self, &surveyed)?;
        }
        let mut begin = Instant::now();
        let begun = self.meter().and_then(|mut meter| {
            let best = self.confirmed(best, &mut meter)?;
            begin = Instant::now();
            let study = self.student(&mut meter, depth).study(&best.text)?;
            Ok((meter, best, study))
        });
        let (mut meter, mut best, mut study) = match begun {
            // When the time is over, a program that has just been started ends, which says nothing.
            Err(_) if self.stop.is_cut() => {
                if let Some(glance) = self.progress().best.and_then(|best| self.glance(depth, &best.text)) {
                    let studies: Vec<Study> = std::iter::once(glance).chain(surveyed).collect();
                    show(self, &studies)?;
                }
                return Ok(Studied::LeftOut);
            }
            begun => begun?,
        };
        // Making a text smaller finds better ones, too.
        if let Some(found) = self.improve_by(&mut study, &best, &mut meter)? {
            best = found;
            begin = Instant::now();
            study = match self.student(&mut meter, depth).study(&best.text) {
                Err(_) if self.stop.is_cut() => study,
                again => again?,
            };
        }
        let is_whole = !self.stop.is_cut();
        let end = begin + depth.time;
        let end = depth.end.map_or(end, |last| last.min(end));
        let mut studies = vec![study];
        let mut student = self.student(&mut meter, depth);
        // The growth that has ended the search is shown, if the best text does not show it.
        let exponent = depth.until_exponent.unwrap_or(f64::MAX);
        let is_shown = |proved: &Vec<u8>| *proved == studies[0].text || studies[0].is_faster_than(exponent);
        if let Some(proved) = proved.filter(|proved| is_whole && !is_shown(proved)) {
            match student.study(&proved) {
                _ if self.stop.is_cut() => {}
                proof => studies.push(proof?),
            }
        }
        let others = student.study_others(&self.behaviours(), &mut studies, end);
        if !self.stop.is_cut() {
            others?;
        }
        let mut most = best.clone();
        for study in studies.iter_mut().skip(1) {
            if let Some(found) = self.improve_by(study, &most, &mut meter)? {
                most = found;
            }
        }
        if !is_whole {
            // What an interrupted study says of growth and causes may be wrong. The survey was at its end.
            for study in &mut studies {
                (study.families, study.causes) = Default::default();
            }
        }
        let has_surveyed = !surveyed.is_empty();
        studies.extend(surveyed);
        // What an earlier study has shown of growth stays if this one was cut short.
        let is_first = self.state.view().file(&format!("{}/1/{}", records::FAMILIES, records::ABOUT)).is_none();
        if is_whole || has_surveyed && is_first {
            records::write_studied(self, &studies)?;
            records::write_families(&self.state, &studies)?;
        }
        show(self, &studies)?;
        Ok(Studied::Texts(best, studies))
    }
}
