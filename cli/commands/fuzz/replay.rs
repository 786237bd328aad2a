//! Failures that were found before, run again.

use std::ffi::OsString;
use std::path::Path;

use gramjet_campaign::State;
use gramjet_harness::Target as _;
use serde_json::json;

use super::judging::{self, How};
use super::reporter::{WHAT, print, say_advice};
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::output::whole::write_output;
use crate::terminal::{is_hidden, pass_on};
use crate::units::plural;
use gramjet_campaign::failing::{Judge, Kept, REPORT, Replay};
use gramjet_campaign::one_line;
use gramjet_campaign::subject::Tested;

/// A failure of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    name: String,
    result: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passes,
    Fails(String),
    /// Failure that cannot be run again, and the reason.
    Unusable(String),
}

impl Case {
    /// Returns the case of a failure that fails.
    pub(super) fn failed(name: &str, what: &str) -> Case {
        Case { name: name.to_string(), result: Outcome::Fails(what.to_string()) }
    }
}

impl Case {
    /// Returns a line for machines.
    fn json(&self) -> serde_json::Value {
        let (result, what) = match &self.result {
            Outcome::Passes => ("passes", None),
            Outcome::Fails(what) => ("fails", Some(what)),
            Outcome::Unusable(why) => ("not run", Some(why)),
        };
        json!({ "event": "replay", "key": self.name, "result": result, "what": what })
    }
}

/// A program that runs failures again, and the options that it was made with.
struct Bench {
    options: Vec<String>,
    replay: Replay,
}

/// Runs a file, and shows what the program says and how it ends.
pub(super) fn file(
    file: &Path,
    junit_file: Option<&Path>,
    is_json: bool,
    command: &[OsString],
    how: &How,
) -> Result<(), Failure> {
    let text = files::read_bytes(file)?;
    let mut tested = Tested::new(command, how.surroundings)?;
    let mut judge = Judge::new(&how.rules, how.surroundings)?;
    let run = tested.run(&text)?;
    // If nobody reads the output, that is no error. Lines for machines are alone there.
    if !is_json {
        let _ = pass_on(&mut std::io::stdout(), &run.stdout.bytes);
    }
    let _ = pass_on(&mut std::io::stderr(), &run.stderr.bytes);
    let failed = judge.judge(&text, &run)?.failed;
    judge.advice().iter().for_each(say_advice);
    let result = failed.clone().map_or(Outcome::Passes, |failed| Outcome::Fails(failed.what));
    let case = Case { name: shown(file).to_string(), result };
    if is_json {
        print(&case.json());
    }
    if let Some(junit_file) = junit_file {
        write_output(Some(junit_file), junit(&[case]).as_bytes())?;
    }
    match failed {
        Some(failed) => Err(Failure::Found(failed.what)),
        None => {
            say!("gramjet: {}: no failure", run.outcome);
            Ok(())
        }
    }
}

/// Runs all failures in a folder, or the one that it is the folder of: each under the options that it was found with,
/// after which the `given` ones hold.
pub(super) fn all(
    folder: &Path,
    junit_file: Option<&Path>,
    is_json: bool,
    command: &[OsString],
    given: &[String],
) -> Result<(), Failure> {
    let has_search = folder.join("search").exists();
    if !has_search && !folder.join(REPORT).exists() {
        let folder = shown(folder);
        return Err(Failure::Usage(format!(
            "{folder} has no search in it, and is no failure of one; `-o` names the folder"
        )));
    }
    // It is locked as long as it is read.
    let state = if has_search { Some(State::open(folder, &[])?) } else { None };
    let failures = match &state {
        Some(state) => state.failures()?.iter().map(|key| folder.join("failures").join(key)).collect(),
        None => vec![folder.to_path_buf()],
    };
    let (mut cases, mut bench) = (Vec::new(), None);
    let mut is_warned = false;
    for kept in failures {
        let kept = Kept::open(&kept)?;
        let result = match kept.texts() {
            Err(why) => Outcome::Unusable(why),
            Ok(texts) => {
                let (recorded, refused) = judging::without_rights(&kept.options(), given);
                if !refused.is_empty() && !std::mem::replace(&mut is_warned, true) {
                    say!(
                        "gramjet: warning: recorded rights are not given to the program: {}. Give them yourself if you \
                         trust the folder",
                        refused.join(" ").escape_debug()
                    );
                }
                let replay = replay_for(&mut bench, [&recorded, given].concat(), command)?;
                let failed = replay.failure(&texts)?;
                replay.advice().iter().for_each(say_advice);
                failed.map_or(Outcome::Passes, |failed| Outcome::Fails(failed.what))
            }
        };
        let case = Case { name: kept.name.clone(), result };
        let Case { name, result } = &case;
        if is_json {
            print(&case.json());
        }
        match result {
            Outcome::Fails(what) => say!("fails: {name}: {}", one_line(what.as_bytes(), WHAT)),
            Outcome::Passes => say!("passes: {name} (it was: {})", one_line(kept.before().as_bytes(), WHAT)),
            Outcome::Unusable(why) => say!("not run: {name}: {why}"),
        }
        cases.push(case);
    }
    if let Some(file) = junit_file {
        write_output(Some(file), junit(&cases).as_bytes())?;
    }
    let failing = cases.iter().filter(|case| case.result != Outcome::Passes).count();
    let all = plural(cases.len() as u64, "failure");
    if failing > 0 {
        let verb = if failing == 1 { "does" } else { "do" };
        return Err(Failure::Found(format!("{failing} of {all} {verb} not pass")));
    }
    say!("gramjet: {all}, none of which is still there");
    Ok(())
}

/// Returns the program with these options, that of the failure before if they are the same.
fn replay_for<'b>(
    bench: &'b mut Option<Bench>,
    options: Vec<String>,
    command: &[OsString],
) -> Result<&'b mut Replay, Failure> {
    if bench.as_ref().is_none_or(|bench| bench.options != options) {
        let how = How::recorded(&options);
        // Two of them do not run at the same time.
        *bench = None;
        *bench = Some(Bench { options, replay: Replay::new(command, &how.rules, how.surroundings)? });
    }
    Ok(&mut bench.as_mut().expect("it was made").replay)
}

/// Returns a report in the format of JUnit.
pub(super) fn junit(cases: &[Case]) -> String {
    let count = |test: fn(&Outcome) -> bool| cases.iter().filter(|case| test(&case.result)).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"gramjet fuzz\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
        cases.len(),
        count(|result| matches!(result, Outcome::Fails(_))),
        count(|result| matches!(result, Outcome::Unusable(_)))
    );
    for Case { name, result } in cases {
        let name = escaped(name);
        let (element, message) = match result {
            Outcome::Passes => {
                text += &format!("  <testcase name=\"{name}\"/>\n");
                continue;
            }
            Outcome::Fails(what) => ("failure", what),
            Outcome::Unusable(why) => ("error", why),
        };
        text += &format!("  <testcase name=\"{name}\"><{element} message=\"{}\"/></testcase>\n", escaped(message));
    }
    text + "</testsuite>\n"
}

/// Returns a text as an attribute of XML may have it.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' | '\n' | '\r' => escaped.push(' '),
            character if is_hidden(character) || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}')
            }
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_xml_whatever_a_program_says() {
        let cases =
            [Case::failed("a-1", "x < \"y\" & \u{1}\n"), Case { name: "b".to_string(), result: Outcome::Passes }];
        let lines = "<testsuite name=\"gramjet fuzz\" tests=\"2\" failures=\"1\" errors=\"0\">\n  \
            <testcase name=\"a-1\"><failure message=\"x &lt; &quot;y&quot; &amp; \u{fffd} \"/></testcase>\n  \
            <testcase name=\"b\"/>\n</testsuite>\n";
        assert!(junit(&cases).ends_with(lines), "{}", junit(&cases));
    }
}
