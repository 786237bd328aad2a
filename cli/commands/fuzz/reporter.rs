//! The reports of a search while it runs.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::failure::say;
use crate::progress::Progress;
use crate::refusal::{hint_of, usual_cause};
use crate::terminal::visible_json;
use crate::units::plural;
use gramjet_campaign::failing::{Advice, Campaign, News, Progress as Reached, Standing, Unconfirmed};
use gramjet_campaign::one_line;

/// Greatest number of characters of a line that says how a program fails.
pub(super) const WHAT: usize = 500;

/// Tells the user what is found and how far the search is.
pub(super) struct Reporter {
    progress: Progress,
    is_json: bool,
    /// Keys and descriptions of the failures.
    pub(super) found: Vec<(String, String)>,
    said: Instant,
}

impl Reporter {
    pub(super) fn new(is_json: bool, is_quiet: bool) -> Reporter {
        let progress = if is_quiet { Progress::hidden() } else { Progress::of_campaign() };
        Reporter { progress, is_json, found: Vec::new(), said: Instant::now() }
    }

    pub(super) fn look(&mut self, campaign: &Campaign) {
        for left in campaign.left_alone() {
            self.progress.suspend(|| say!("gramjet: {left} is left alone"));
        }
        for advice in campaign.advice() {
            self.progress.suspend(|| say_advice(&advice));
        }
        for news in campaign.news() {
            self.tell(&news);
            self.found.push((news.finding.failed.key, news.finding.failed.what));
        }
        let progress = campaign.progress();
        self.progress.update_campaign(|| line(&progress));
        if self.is_json && self.said.elapsed() >= Duration::from_secs(1) {
            self.said = Instant::now();
            if !print(&status("status", &progress)) {
                campaign.stop.after(Duration::ZERO);
            }
        }
    }

    /// Tells of a failure.
    fn tell(&self, News { finding, place }: &News) {
        if self.is_json {
            print(&json!({
                "event": "failure",
                "key": finding.failed.key,
                "what": finding.failed.what,
                "sequence": finding.sequence.len(),
                "in_language": finding.standing.is_inside(),
                "bytes": finding.minimised.len(),
                "reproduced": finding.reproduced.0,
                "of_runs": finding.reproduced.1,
                "runs": finding.runs,
                "seconds": finding.after.as_secs_f64(),
                "folder": place.to_string_lossy(),
            }));
            return;
        }
        let flaky = match finding.is_reproducible() {
            true => String::new(),
            false => format!(", in {} of {} runs", finding.reproduced.0, finding.reproduced.1),
        };
        let (before, after) = (finding.input.len(), plural(finding.minimised.len() as u64, "byte"));
        let size = match finding.sequence.len() {
            0 if before == finding.minimised.len() => after,
            0 => format!("{after} (from {before})"),
            inputs => {
                let bytes = finding.sequence.iter().map(Vec::len).sum::<usize>() as u64;
                format!("{inputs} inputs of {} in all", plural(bytes, "byte"))
            }
        };
        let broken = match finding.standing {
            Standing::Inside => "",
            Standing::Outside => ", not in the language",
            Standing::Unknown => ", cannot be parsed",
        };
        self.progress.suspend(|| {
            say!(
                "{}{flaky}; {size}{broken}: {}",
                one_line(finding.failed.what.as_bytes(), WHAT),
                one_line(place.as_os_str().as_encoded_bytes(), usize::MAX)
            )
        });
    }

    pub(super) fn end(&mut self, campaign: &Campaign, unconfirmed: &[Unconfirmed]) {
        self.progress.finish();
        let progress = campaign.progress();
        if self.is_json {
            for Unconfirmed { key, what, seen, tried, place } in unconfirmed {
                print(&json!({
                    "event": "unconfirmed",
                    "key": key,
                    "what": what,
                    "seen": seen,
                    "tried": tried,
                    "folder": place.to_string_lossy(),
                }));
            }
            print(&status("end", &progress));
        } else {
            say!("gramjet: {}", line(&progress));
            let operators = operators(&progress);
            if !operators.is_empty() {
                say!("gramjet: texts kept: {operators}");
            }
            if let left @ 1.. = campaign.left_unfinished() {
                let left = plural(left as u64, "failure");
                say!("gramjet: {left} could not be run again in time: the next search in the folder does that");
            }
            if let Some(line) = unconfirmed_line(unconfirmed) {
                say!("gramjet: {line}");
            }
            if let (classes @ 1.., unexpected) = progress.exceptions {
                let classes = if classes == 1 { "1 class".to_string() } else { format!("{classes} classes") };
                let unexpected = if unexpected == progress.exceptions.0 {
                    String::new()
                } else {
                    format!(
                        ", {unexpected} of them unexpected (not IllegalArgumentException, TimeoutException, or of the \
                         program's own package)"
                    )
                };
                say!("gramjet: {classes} of exceptions{unexpected}");
            }
        }
    }
}

/// Gives advice on the runs of a program.
pub(super) fn say_advice(advice: &Advice) {
    match advice {
        Advice::NotJudged(why) => say!("gramjet: warning: {why}; such runs are not judged"),
        Advice::Refused { sign } => say!("gramjet: {}", hint_of(sign)),
        Advice::Rejected { texts, are_failures, said, gets_text } => {
            match (usual_cause(said, *gets_text), are_failures) {
                (Some(cause), true) => {
                    say!("gramjet: the program fails on all of the first {texts} texts: {said}\n  {cause}");
                }
                // The failure says as much.
                (None, true) => {}
                (cause, false) => {
                    let cause = cause.map_or(String::new(), |cause| format!("\n  {cause}"));
                    say!("gramjet: the program rejects all of the first {texts} texts: {said}{cause}");
                }
            }
        }
    }
}

/// Returns how far a search is, for people.
fn line(progress: &Reached) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    let rate = progress.runs as f64 / seconds.max(1e-3);
    let edges = match progress.edges {
        0 => String::new(),
        edges => format!(", {}", plural(edges as u64, "edge")),
    };
    let valid = 100.0 * progress.valid as f64 / (progress.runs.saturating_sub(progress.broken) as f64).max(1.0);
    let (rules, all) = progress.rules;
    format!(
        "{} in {seconds:.0} s ({rate:.0}/s), {valid:.0} % valid{edges}, {rules} of {all} rules, {} kept, {}",
        plural(progress.runs, "run"),
        plural(progress.texts as u64, "text"),
        plural(progress.failures as u64, "failure")
    )
}

/// Returns how many texts of each operator were kept, for people.
fn operators(progress: &Reached) -> String {
    let used = progress.yields.iter().filter(|&&(_, made, _)| made > 0);
    let shown = used.map(|(operator, made, kept)| format!("{kept} of {made} by {operator}"));
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns what did not happen again, for people; `None` if there is nothing.
fn unconfirmed_line(unconfirmed: &[Unconfirmed]) -> Option<String> {
    let times = |count| if count == 1 { "once".to_string() } else { format!("{count} times") };
    match unconfirmed {
        [] => None,
        [Unconfirmed { what, seen, tried, place, .. }] => Some(format!(
            "1 failure did not happen again: {}, seen {}, not in {}: {}",
            one_line(what.as_bytes(), WHAT),
            times(*seen),
            plural(*tried, "new run"),
            place.display()
        )),
        [first, ..] => {
            let folder = first.place.parent().unwrap_or(&first.place).display();
            let seen = unconfirmed.iter().map(|one| one.seen).sum();
            Some(format!("{} failures did not happen again, seen {}: {folder}", unconfirmed.len(), times(seen)))
        }
    }
}

/// Returns how far a search is, for machines.
fn status(event: &str, progress: &Reached) -> serde_json::Value {
    let operators = progress.yields.iter();
    let operators = operators.map(|(operator, made, kept)| (operator, json!({ "made": made, "kept": kept })));
    json!({
        "event": event,
        "seconds": progress.elapsed.as_secs_f64(),
        "runs": progress.runs,
        "valid": progress.valid,
        "broken": progress.broken,
        "failing": progress.failing,
        "edges": progress.edges,
        "rules": progress.rules.0,
        "of_rules": progress.rules.1,
        "texts": progress.texts,
        "failures": progress.failures,
        "unconfirmed": progress.unconfirmed,
        "exceptions": progress.exceptions.0,
        "unexpected_exceptions": progress.exceptions.1,
        "operators": operators.collect::<std::collections::BTreeMap<_, _>>(),
    })
}

/// Returns true if somebody still reads it.
pub(super) fn print(value: &serde_json::Value) -> bool {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{}", visible_json(value)).is_ok()
}
