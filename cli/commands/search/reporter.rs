//! The reports of a search while it runs.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use gramjet_campaign::costly::{EdgeLaw, Found, Hunt, Lately, Made, Note, Progress as Reached, Study};
use gramjet_search::Growth;
use gramjet_search::report::sparkline;
use serde_json::json;

use super::conclusion;
use super::course::Course;
use crate::failure::{Failure, say};
use crate::files::shown as shown_path;
use crate::progress::Progress;
use crate::terminal::visible_json;
use crate::units::plural;
use gramjet_campaign::one_line;
use gramjet_campaign::subject::{Spot, is_python, quoted};

/// Tells the user what is found and how far the search is.
pub(super) struct Reporter {
    progress: Progress,
    is_json: bool,
    said: Instant,
    /// The best cost over time.
    course: Course,
    /// Operators that make most texts.
    lately: Lately,
    /// Reason why standard output cannot be written to.
    pub(super) failure: Option<Failure>,
}

impl Reporter {
    pub(super) fn new(is_json: bool, is_quiet: bool) -> Reporter {
        let progress = if is_quiet { Progress::hidden() } else { Progress::of_campaign() };
        let (course, lately, failure) = Default::default();
        Reporter { progress, is_json, said: Instant::now(), course, lately, failure }
    }

    pub(super) fn look(&mut self, hunt: &Hunt) {
        self.say_notes(hunt);
        let news = hunt.news();
        if self.is_json {
            news.iter().for_each(|found| self.print(&better(found), hunt));
        } else if let Some(best) = news.last() {
            // Those in between were the best for a moment.
            self.progress.suspend(|| say!("{}", shown(best, hunt)));
        }
        let progress = hunt.progress();
        self.course.at(progress.elapsed, progress.best.as_ref().map_or(0, |best| best.cost));
        self.lately.at(progress.elapsed, &progress.operators);
        let (course, shares) = (&self.course, self.lately.shares());
        let shares = if shares.is_empty() { String::new() } else { format!("; {shares}") };
        self.progress.update_campaign(|| format!("{} {}{shares}", sparkline(&course.heights()), line(&progress)));
        if self.is_json && self.said.elapsed() >= Duration::from_secs(1) {
            self.said = Instant::now();
            self.print(&status("status", &progress), hunt);
        }
    }

    pub(super) fn end(&mut self, hunt: &Hunt) {
        self.say_notes(hunt);
        self.progress.finish();
        let progress = hunt.progress();
        if self.is_json {
            if hunt.plan.objectives.all().len() > 1 {
                self.print(&front(hunt), hunt);
            }
            self.print(&status("end", &progress), hunt);
        } else {
            say!("gramjet: {}", line(&progress));
            if let Some(exception) = hunt.only_raises() {
                say!("gramjet: the function raised an exception in every run, first {exception}");
                if !hunt.plan.surroundings.text {
                    say!("gramjet: it got bytes; `--text` gives text");
                }
            }
            if let Some(cost) = hunt.only_cost() {
                say!("gramjet: every text costs the same ({}: {cost})", hunt.plan.objectives.unit());
                if hunt.plan.objectives.counts_edges() {
                    say!(
                        "gramjet: either the program refuses all texts alike, or code without edges does the work, \
                         such as C and the standard library for Python, or the class library of Java; `--cost cpu` \
                         measures that"
                    );
                    if is_python(&hunt.plan.command) {
                        say!("gramjet: `--count-module MODULE` counts a module of the standard library, too");
                    }
                }
            }
            if progress.is_exhausted {
                say!("gramjet: all texts of at most {} were run", plural(hunt.plan.max_len as u64, "byte"));
            }
        }
    }

    /// Says what is known of the best text, and of the others that were studied.
    pub(super) fn conclude(&mut self, hunt: &Hunt, best: &Found, studies: &[Study], report: &Path) {
        if self.is_json {
            self.print(&studied(hunt, studies), hunt);
        } else {
            conclusion::lines(hunt, best, studies).iter().for_each(|line| say!("{line}"));
            say!("report: {}", shown_path(report));
        }
    }
}

impl Reporter {
    fn say_notes(&self, hunt: &Hunt) {
        for note in hunt.notes() {
            self.progress.suspend(|| say!("gramjet: {}", noted(&note)));
        }
    }

    /// Prints a line. If nobody reads on, the search ends; any other error is kept.
    fn print(&mut self, value: &serde_json::Value, hunt: &Hunt) {
        if let Err(source) = writeln!(std::io::stdout(), "{}", visible_json(value)) {
            hunt.stop.after(Duration::ZERO);
            let failure = Failure::Write { what: "standard output".to_string(), source };
            self.failure.get_or_insert(failure);
        }
    }
}

/// Says what a search has noted.
fn noted(note: &Note) -> String {
    match note {
        Note::Resumed { texts } => format!("{} of earlier searches are run again first", plural(*texts, "text")),
        Note::Changed { file, cost, before } => {
            let best = file.parent().unwrap_or(file).to_path_buf();
            let option = quoted(&["--seeds".into(), best.into_os_string()]);
            format!(
                "warning: {} costs {cost}, and cost {before} when it was found: the program seems to have changed. The \
                 report shows the costs of both. To begin anew, name another folder with -o; its search can begin with \
                 these texts: {}",
                shown_path(file),
                option.display()
            )
        }
        Note::NotAgain { outcome, tries, folder } => format!(
            "a failure ({outcome}) did not happen again in {tries} new processes: {}. `gramjet fuzz` finds the earlier \
             inputs that a failure depends on",
            shown_path(folder)
        ),
        Note::Cold { cost, before } => format!(
            "the best text cost {before} in the search, and costs {cost} in a new process after another text: the first \
             call loads something, or earlier texts have left something. The costliest text of those that were tried \
             so is studied"
        ),
        Note::LeftAlone(left) => format!("{left} is left alone"),
        Note::Proved(exponent) => format!("growth faster than n^{exponent} is proved"),
        Note::NoProof(error) => {
            format!("the search does not end early, as the proof of growth has failed: {error}")
        }
    }
}

/// Returns a better text, for people.
fn shown(found: &Found, hunt: &Hunt) -> String {
    format!(
        "{:>8.1} s  {} {}  {}",
        found.after.as_secs_f64(),
        found.cost,
        hunt.plan.objectives.unit(),
        one_line(&found.text, 100)
    )
}

/// Returns how far a search is, for people.
fn line(progress: &Reached) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    let rate = progress.runs as f64 / seconds.max(1e-3);
    let best = progress.best.as_ref().map_or(0, |best| best.cost);
    let count = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {}", plural(count, what)),
    };
    format!(
        "{} in {seconds:.0} s ({rate:.0}/s), best {best}{}{}{}",
        plural(progress.runs, "run"),
        count(progress.edges as u64, "edge"),
        count(progress.stopped, "timeout"),
        count(progress.failed, "failure"),
    )
}

/// Returns a better text, for machines.
fn better(found: &Found) -> serde_json::Value {
    json!({
        "event": "best",
        "seconds": found.after.as_secs_f64(),
        "runs": found.runs,
        "cost": found.cost,
        "hottest": found.hottest,
        "bytes": found.text.len(),
        "operator": found.operator,
        "text": String::from_utf8_lossy(&found.text),
        "file": file(found),
    })
}

/// Returns the name of the file of a text, for machines.
fn file(found: &Found) -> Option<String> {
    found.file.as_ref().map(|file| file.to_string_lossy().into_owned())
}

/// Returns the texts that no other beats in all costs, for machines.
fn front(hunt: &Hunt) -> serde_json::Value {
    let text = |(costs, found): &(Vec<u64>, Found)| json!({ "costs": costs, "text": String::from_utf8_lossy(&found.text), "file": file(found) });
    json!({
        "event": "front",
        "costs": hunt.plan.objectives.all().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "texts": hunt.front().iter().map(text).collect::<Vec<_>>(),
    })
}

/// Returns what is known of the texts that were studied, for machines: the best one, and the others within it.
fn studied(hunt: &Hunt, studies: &[Study]) -> serde_json::Value {
    let others: Vec<_> = studies.iter().skip(1).map(known).collect();
    let mut event = studies.first().map_or_else(|| known(&Study::default()), known);
    event["event"] = json!("study");
    event["verdict"] = json!(hunt.verdict(studies));
    event["others"] = json!(others);
    event
}

/// Returns what is known of a text.
fn known(study: &Study) -> serde_json::Value {
    let spot = |spot: &Option<Spot>| spot.as_ref().map(Spot::to_string);
    let law = |edge: &EdgeLaw| json!({ "place": spot(&edge.spot), "count": edge.count, "law": edge.law() });
    let families = study.families.iter().map(|grown| {
        let points = grown.family.members.iter().map(|member| json!([member.copies, member.text.len(), member.cost]));
        json!({
            "repeated": grown.what,
            "growth": grown.family.growth.as_ref().map(ToString::to_string),
            "law": grown.family.growth.as_ref().and_then(law_of),
            "time": grown.family.time.as_ref().map(ToString::to_string),
            "fastest": grown.fastest.as_ref().and_then(|edge| spot(&edge.spot)),
            "fastest_law": grown.fastest.as_ref().map(EdgeLaw::law),
            "edges": grown.hottest.iter().map(law).collect::<Vec<_>>(),
            "points": points.collect::<Vec<_>>(),
        })
    });
    let hot = study.hot.iter().map(|hot| json!({ "place": spot(&hot.spot), "count": hot.count, "share": hot.share }));
    let causes = study.causes.iter().map(|cause| {
        let (from, to) = (cause.bytes.start, cause.bytes.end);
        json!({ "from": from, "to": to, "rule": cause.rule, "share": cause.share, "place": spot(&cause.spot) })
    });
    let smaller = study.smaller.as_ref();
    json!({
        "text": String::from_utf8_lossy(&study.text),
        "cost": study.cost,
        "smaller": smaller.map(|(text, cost)| json!({ "text": String::from_utf8_lossy(text), "cost": cost })),
        "hot": hot.collect::<Vec<_>>(),
        "causes": causes.collect::<Vec<_>>(),
        "families": families.collect::<Vec<_>>(),
    })
}

/// Returns a law that is known, in parts: the least power that is proved, the range of the fit, and the size at which
/// it was checked.
fn law_of(growth: &Growth) -> Option<serde_json::Value> {
    let checked = growth.checked()?;
    let ((from, to), proved) = (growth.range(), growth.proved());
    // JSON has no infinite numbers.
    let proved = if proved.is_finite() { json!(proved) } else { json!("exponential") };
    Some(json!({
        "law": growth.law(),
        "faster_than": proved,
        "sizes": growth.sizes(),
        "from": from,
        "to": to,
        "checked_at": checked,
        "bounded": growth.bounded().map(ToString::to_string),
    }))
}

/// Returns how far a search is, for machines.
fn status(event: &str, progress: &Reached) -> serde_json::Value {
    let made = |made: &Made| json!({ "operator": made.operator, "runs": made.runs, "better": made.better });
    json!({
        "event": event,
        "seconds": progress.elapsed.as_secs_f64(),
        "runs": progress.runs,
        "repeats": progress.repeats,
        "edges_executed": progress.edges_executed,
        "edges": progress.edges,
        "timeouts": progress.stopped,
        "failures": progress.failed,
        "cost": progress.best.as_ref().map(|best| best.cost),
        "operators": progress.operators.all().iter().map(made).collect::<Vec<_>>(),
        "exhausted": progress.is_exhausted,
    })
}
