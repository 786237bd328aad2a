//! The facts that a folder has of its searches: what they have done in all, the course of each strategy, the texts that
//! cost most, failures and timeouts.

use std::collections::BTreeMap;

use crate::state::{Place, StateError, View};
use gramjet_search::report::{Failure, Input, Progress, ProgressPoint, Report, Smaller};

use super::log::{self, Line};
use super::records::{self, Kept};
use super::totals::Totals;
use crate::subject::quoted;

/// The best texts that the report shows.
const INPUTS: usize = 10;

/// Takes what the folder has into a report. What the report knows of the parts of a text stays.
pub fn refresh(report: &mut Report, view: &View) -> Result<(), StateError> {
    let log = view.file(log::FILE).unwrap_or_default();
    if let Some(totals) = Totals::read(view)? {
        totals.fill(report);
    }
    report.progress = courses(&log::lines(&String::from_utf8_lossy(&log)));
    report.inputs = inputs(view, &report.inputs)?;
    for input in &mut report.inputs {
        input.replay = replay(&report.on_file, &input.name);
    }
    report.failures = failures(view, &report.on_file)?;
    report.timeouts = timeouts(view, &report.on_stopped)?;
    Ok(())
}

/// Returns the command that runs the program on a file of the folder, by its pieces.
fn replay(pieces: &[String], file: &str) -> String {
    pieces.join(&*quoted(&[file.into()]).to_string_lossy())
}

/// Returns the best cost of each strategy over time. A search that went on continues the line of the one before it.
fn courses(lines: &[Line]) -> Vec<Progress> {
    let mut courses: BTreeMap<&str, Course> = BTreeMap::new();
    for line in lines {
        courses.entry(&line.strategy).or_default().add(line);
    }
    let named = |(strategy, course): (&str, Course)| Progress { strategy: strategy.to_string(), points: course.points };
    courses.into_iter().map(named).collect()
}

/// The points of one strategy.
#[derive(Default)]
struct Course {
    points: Vec<ProgressPoint>,
    session: u64,
    /// The last point of earlier sessions.
    before: ProgressPoint,
}

impl Course {
    fn add(&mut self, line: &Line) {
        let last = self.points.last().copied().unwrap_or_default();
        if line.session != self.session {
            (self.session, self.before) = (line.session, last);
        }
        self.points.push(ProgressPoint {
            seconds: self.before.seconds + line.seconds,
            executions: self.before.executions + line.runs,
            cost: line.cost.max(last.cost),
        });
    }
}

/// Returns the texts that cost most: the best one, those that were studied, and the next ones.
fn inputs(view: &View, known: &[Input]) -> Result<Vec<Input>, StateError> {
    let texts = view.texts(Place::Best)?;
    let mut inputs: Vec<Input> = texts.into_iter().map(|(name, text)| input(&name, text, known)).collect();
    // Of equal costs the text that was found last is the shortest.
    inputs.reverse();
    inputs.sort_by_key(|input| std::cmp::Reverse(input.cost));
    let mut seen = Vec::new();
    inputs.retain(|input| {
        let is_new = !seen.contains(&input.text);
        seen.push(input.text.clone());
        is_new
    });
    let studied = records::studied(view)?;
    for (kept, smaller) in &studied {
        let smaller = smaller.clone().map(|Kept { name, text, cost }| Smaller { name, text, cost });
        match inputs.iter_mut().find(|input| input.text == kept.text) {
            Some(input) => input.smaller = smaller,
            None => {
                let (name, cost) = (kept.name.clone(), kept.cost);
                inputs.push(Input { name, cost, smaller, ..known_of(kept.text.clone(), known) });
            }
        }
    }
    inputs.sort_by_key(|input| std::cmp::Reverse(input.cost));
    let is_studied = |input: &Input| studied.iter().any(|(kept, _)| kept.text == input.text);
    if let [_, next @ ..] = &mut inputs[..] {
        next.sort_by_key(|input| !is_studied(input));
    }
    inputs.truncate(INPUTS);
    Ok(inputs)
}

/// Returns a text by its file name, with what was known of it.
fn input(name: &str, text: Vec<u8>, known: &[Input]) -> Input {
    Input {
        name: format!("best/{name}"),
        cost: cost(name).unwrap_or(0),
        seconds: seconds(name).unwrap_or(0.0),
        strategy: fact(name, "op").unwrap_or_default().to_string(),
        ..known_of(text, known)
    }
}

/// Returns what a file name says, such as `id:000012,time:52,execs:9,op:splice,cost:7`.
fn fact<'n>(name: &'n str, wanted: &str) -> Option<&'n str> {
    name.split(',').find_map(|fact| fact.strip_prefix(wanted)?.strip_prefix(':'))
}

fn number(name: &str, wanted: &str) -> Option<u64> {
    fact(name, wanted)?.parse().ok()
}

/// Returns the cost of the text of a file.
pub(crate) fn cost(name: &str) -> Option<u64> {
    number(name, "cost")
}

/// Returns the time when the text of a file was found.
fn seconds(name: &str) -> Option<f64> {
    number(name, "time").map(|milliseconds| milliseconds as f64 / 1000.0)
}

/// Returns what was known of a text.
fn known_of(text: Vec<u8>, known: &[Input]) -> Input {
    let known = known.iter().find(|known| known.text == text);
    Input {
        spans: known.map_or_else(Vec::new, |known| known.spans.clone()),
        derivation: known.map_or_else(String::new, |known| known.derivation.clone()),
        lines: known.map_or_else(Vec::new, |known| known.lines.clone()),
        note: known.map_or_else(String::new, |known| known.note.clone()),
        text,
        ..Input::default()
    }
}

fn failures(view: &View, on_file: &[String]) -> Result<Vec<Failure>, StateError> {
    let keys = view.failures()?;
    let one = |key: String| Failure {
        text: view.failure(&key, "input").unwrap_or_default(),
        outcome: outcome(view, &key),
        replay: replay(on_file, &format!("failures/{key}/input")),
        ..Failure::default()
    };
    Ok(keys.into_iter().map(one).collect())
}

/// Returns how the program ended. Of its words, the key has the letters and digits alone.
fn outcome(view: &View, key: &str) -> String {
    let words = view.failure(key, "outcome").unwrap_or_default();
    let words = String::from_utf8_lossy(words.trim_ascii()).into_owned();
    if words.is_empty() { key.replace('-', " ") } else { words }
}

fn timeouts(view: &View, on_stopped: &[String]) -> Result<Vec<Failure>, StateError> {
    let one = |(name, text): (String, Vec<u8>)| Failure {
        outcome: "stopped at a limit".to_string(),
        text,
        seconds: seconds(&name),
        cost: cost(&name),
        replay: replay(on_stopped, &format!("timeouts/{name}")),
        ..Failure::default()
    };
    Ok(view.texts(Place::Timeouts)?.into_iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use crate::state::State;

    use super::*;

    #[test]
    fn each_strategy_has_its_course_over_all_its_sessions() {
        let log = format!(
            "{}\n1.0,10,0,5,0,1,a,x,0\n2.0,20,0,7,0,1,a,end,0\n1.0,5,0,6,0,1,b,x,1\n3.0,9,0,8,0,1,a,x,2\n",
            log::HEADING
        );
        let courses = courses(&log::lines(&log));
        let points = |course: &Progress| -> Vec<(f64, u64, u64)> {
            course.points.iter().map(|point| (point.seconds, point.executions, point.cost)).collect()
        };
        assert_eq!(courses.len(), 2);
        assert_eq!(points(&courses[0]), [(1.0, 10, 5), (2.0, 20, 7), (5.0, 29, 8)]);
        assert_eq!(points(&courses[1]), [(1.0, 5, 6)]);
    }

    #[test]
    fn failures_and_timeouts_have_what_their_files_say() {
        let folder = std::env::temp_dir().join(format!("gramjet-kept-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let state = State::open(&folder, &[]).expect("a new folder");
        let files = [("input", b"a,b".to_vec()), ("outcome", b"signal 11 (SIGSEGV)\n".to_vec())];
        state.fail("signal-11--SIGSEGV-", &files).expect("a failure");
        state.fail("signal-6", &files[..1]).expect("a failure");
        state.keep(Place::Timeouts, b"c", None, "time:1500,execs:9,op:copy,cost:70").expect("a text");
        state.keep(Place::Timeouts, b"d", None, "op:sync").expect("a text");
        state.keep(Place::Best, b"e", None, "op:copy").expect("a text");
        let pieces = |pieces: [&str; 2]| pieces.map(str::to_string).to_vec();
        let (on_file, on_stopped) = (pieces(["./p < 'a b/'", ""]), pieces(["run 'a b/'", " -- ./p"]));
        let mut report = Report { on_file, on_stopped, ..Report::default() };
        refresh(&mut report, state.view()).expect("the folder");
        let failure = |outcome: &str, text: &[u8], file: &str| Failure {
            outcome: outcome.to_string(),
            text: text.to_vec(),
            replay: format!("./p < 'a b/'{file}"),
            ..Failure::default()
        };
        let failures = [
            failure("signal 11 (SIGSEGV)", b"a,b", "failures/signal-11--SIGSEGV-/input"),
            failure("signal 6", b"a,b", "failures/signal-6/input"),
        ];
        assert_eq!(report.failures, failures);
        let stopped = |text: &[u8], file: &str| Failure {
            replay: format!("run 'a b/'timeouts/{file} -- ./p"),
            ..failure("stopped at a limit", text, "")
        };
        let first = stopped(b"c", "id:000000,time:1500,execs:9,op:copy,cost:70");
        let first = Failure { seconds: Some(1.5), cost: Some(70), ..first };
        assert_eq!(report.timeouts, [first, stopped(b"d", "id:000001,op:sync")]);
        assert_eq!(report.inputs[0].replay, "./p < 'a b/'best/id:000000,op:copy");
        // A page of an earlier version does not know how the program is run.
        (report.on_file, report.on_stopped) = Default::default();
        refresh(&mut report, state.view()).expect("the folder");
        std::fs::remove_dir_all(&folder).expect("the folder");
        assert!(report.failures.iter().chain(&report.timeouts).all(|failure| failure.replay.is_empty()));
    }

    #[test]
    fn file_names_say_where_a_text_comes_from() {
        let known = [Input { text: b"x".to_vec(), derivation: "s".to_string(), ..Input::default() }];
        let input = input("id:000012,time:1500,execs:9,op:splice,cost:7", b"x".to_vec(), &known);
        assert_eq!((input.cost, input.seconds, input.strategy.as_str()), (7, 1.5, "splice"));
        assert_eq!(input.derivation, "s");
    }
}
