//! The words for a repair: edits with their evidence, and what came of it.

use std::time::Instant;

use gramjet_infer::refine::{Apply, Change, Direction, Edit, Report, Share};
use serde_json::{Value, json};

use crate::failure::{Failure, say};
use crate::oracle::Counts;
use crate::output::whole::write_output;
use crate::progress::Progress;
use crate::units::plural;
use gramjet_campaign::one_line;

/// Tells the user, or a program.
pub(super) struct Telling {
    progress: Progress,
    is_json: bool,
    begin: Instant,
    edits: usize,
}

/// Characters of an example that are shown, and examples of an edit.
const SHOWN: usize = 60;
const EXAMPLES: usize = 3;

/// A share of generated texts below which something is wrong with more than parts of the grammar.
const LOW: f64 = 0.2;

impl Telling {
    pub(super) fn new(is_json: bool, is_quiet: bool) -> Telling {
        let progress = if is_json || is_quiet { Progress::hidden() } else { Progress::of_campaign() };
        Telling { progress, is_json, begin: Instant::now(), edits: 0 }
    }

    /// Renews the progress line.
    pub(super) fn look(&mut self, counts: Counts) {
        let edits = self.edits;
        self.progress.update_campaign(|| {
            format!("{}, {:.0}/s, {}", plural(counts.runs, "run"), counts.pace(), plural(edits as u64, "edit"))
        });
    }

    pub(super) fn edit(&mut self, edit: &Edit) {
        self.edits += 1;
        if self.is_json {
            // A reader that has gone is noticed at the end.
            let _ = print(&as_json(edit));
            return;
        }
        self.progress.suspend(|| {
            let direction = match edit.direction {
                Direction::Widen => "wider",
                Direction::Tighten => "tighter",
            };
            say!("{direction}, in `{}`: {}", edit.rule, edit.what);
            let [accepted, rejected] = [&edit.accepted, &edit.rejected]
                .map(|[before, after]| format!("{} before, {} after, of {}", before.part, after.part, after.of));
            say!("   accepted texts that conform: {accepted}; rejected ones: {rejected}");
            let shows = match edit.direction {
                Direction::Widen => "what is new",
                Direction::Tighten => "what is gone",
            };
            say!("   the program accepts {} of {} fresh texts with {shows}", edit.fresh.part, edit.fresh.of);
            say!("   such as {}", examples(&edit.examples));
        });
    }

    /// Says which changes are made, and which are not, with what speaks for each.
    fn changes(&self, report: &Report, (apply, has_samples): (&Apply, bool)) {
        let numbered: Vec<(usize, &Change)> = (1..).zip(&report.changes).collect();
        let (applied, others): (Vec<_>, Vec<_>) = numbered.iter().partition(|(_, change)| change.is_applied);
        let are = |count: usize| if count == 1 { "change is" } else { "changes are" };
        if !applied.is_empty() {
            say!("gramjet: {} {} made:", applied.len(), are(applied.len()));
            applied.iter().for_each(|(number, change)| say_of_change(*number, change, report));
        }
        if !others.is_empty() {
            let numbers = others.iter().map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(",");
            say!(
                "gramjet: {} {} not made, as {}: `--apply all` takes all changes, `--apply {numbers}` takes these alone",
                others.len(),
                are(others.len()),
                why_not(apply, has_samples)
            );
            others.iter().for_each(|(number, change)| say_of_change(*number, change, report));
        }
    }

    /// Says what came of it.
    pub(super) fn end(
        &mut self,
        report: &Report,
        recall: [Option<Share>; 2],
        diff: &str,
        (counts, wish): (Counts, (&Apply, bool)),
    ) -> Result<(), Failure> {
        self.progress.finish();
        let seconds = self.begin.elapsed().as_secs_f64();
        if self.is_json {
            for (number, change) in (1..).zip(&report.changes) {
                print(&change_as_json(number, change, report))?;
            }
            return print(&json!({
                "event": "end",
                "edits": report.edits.len(),
                "changes": report.changes.iter().filter(|change| change.is_applied).count(),
                "precision": report.precision.map(|share| share.map(of)),
                "recall": recall.map(|share| share.map(of)),
                "unread": report.unread.iter().map(|text| lossy(text)).collect::<Vec<_>>(),
                "rejected": report.rejected.iter().map(|text| lossy(text)).collect::<Vec<_>>(),
                "in_place": report.edited.is_in_place,
                "complete": report.is_complete,
                "rounds": report.rounds,
                "runs": counts.runs,
                "seconds": seconds,
                "diff": diff,
            }));
        }
        let edits = plural(report.edits.len() as u64, "edit");
        let rounds = plural(u64::from(report.rounds), "round");
        say!("gramjet: {edits} in {rounds}; {} in {seconds:.0} s", plural(counts.runs, "run"));
        self.changes(report, wish);
        say_change("precision (generated texts that the program accepts)", report.precision);
        if let Some(share) = report.precision[0].filter(|share| share.ratio() < LOW) {
            say!(
                "gramjet: the program accepts only {} of {} generated texts: see whether it says otherwise what it accepts \
                 (`--accept-regex`, `--reject-regex`), or whether all texts need something, such as a line feed at the end",
                share.part,
                share.of
            );
        }
        say_change("recall (held-out texts that conform)", recall);
        if !report.unread.is_empty() {
            say!("gramjet: the program accepts, and the grammar still lacks: {}", examples(&report.unread));
        }
        if !report.rejected.is_empty() {
            say!("gramjet: the program rejects, and the grammar still has: {}", examples(&report.rejected));
        }
        Ok(())
    }
}

/// Returns why changes are not made.
fn why_not(apply: &Apply, has_samples: bool) -> &'static str {
    match (apply, has_samples) {
        (Apply::These(_) | Apply::All, _) => "`--apply` leaves them out",
        (Apply::Needed, true) => "no sample needs them",
        (Apply::Needed, false) => "few texts need them",
    }
}

fn say_of_change(number: usize, change: &Change, report: &Report) {
    say!("{number}. `{}`: {}", change.rule, what(change, report));
    if change.accepted > 0 {
        let texts = plural(change.accepted as u64, "text");
        let samples = match change.samples {
            0 => String::new(),
            samples => format!(", {} among them", plural(samples as u64, "sample")),
        };
        say!("   lets in {texts} that the program accepts{samples}, such as {}", examples(&change.lets_in));
    }
    if change.rejected > 0 {
        let texts = plural(change.rejected as u64, "text");
        say!("   shuts out {texts} that the program rejects, such as {}", examples(&change.shuts_out));
    }
}

/// Returns what the edits of a change do, in their order.
fn what(change: &Change, report: &Report) -> String {
    let edits = change.edits.iter().filter_map(|&edit| report.edits.get(edit));
    edits.map(|edit| edit.what.as_str()).collect::<Vec<_>>().join("; then ")
}

fn say_change(what: &str, shares: [Option<Share>; 2]) {
    let percent = |share: Share| format!("{:.1} %", 100.0 * share.ratio());
    match shares {
        [Some(before), Some(after)] => say!("gramjet: {what}: {} before, {} after", percent(before), percent(after)),
        [Some(before), None] => say!("gramjet: {what}: {} before; not measured after", percent(before)),
        [None, _] => {}
    }
}

fn examples(texts: &[Vec<u8>]) -> String {
    let shown: Vec<String> = texts.iter().take(EXAMPLES).map(|text| format!("`{}`", one_line(text, SHOWN))).collect();
    shown.join(", ")
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn of(share: Share) -> Value {
    json!({ "part": share.part, "of": share.of })
}

fn as_json(edit: &Edit) -> Value {
    json!({
        "event": "edit",
        "direction": match edit.direction { Direction::Widen => "widen", Direction::Tighten => "tighten" },
        "rule": edit.rule,
        "what": edit.what,
        "accepted": edit.accepted.map(of),
        "rejected": edit.rejected.map(of),
        "fresh": of(edit.fresh),
        "examples": edit.examples.iter().map(|text| lossy(text)).collect::<Vec<_>>(),
    })
}

fn change_as_json(number: usize, change: &Change, report: &Report) -> Value {
    let texts = |texts: &[Vec<u8>]| texts.iter().map(|text| lossy(text)).collect::<Vec<_>>();
    json!({
        "event": "change",
        "number": number,
        "rule": change.rule,
        "what": what(change, report),
        "edits": change.edits.iter().map(|edit| edit + 1).collect::<Vec<_>>(),
        "samples": change.samples,
        "accepted": change.accepted,
        "rejected": change.rejected,
        "applied": change.is_applied,
        "lets_in": texts(&change.lets_in),
        "shuts_out": texts(&change.shuts_out),
    })
}

fn print(value: &Value) -> Result<(), Failure> {
    write_output(None, format!("{value}\n").as_bytes())
}
