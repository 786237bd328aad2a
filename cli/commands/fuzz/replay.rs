//! Failures that were found before, run again.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use gramjet_harness::Target as _;
use gramjet_search::State;

use super::finding::{MINIMISED, REPORT};
use super::subject::{Surroundings, Tested};
use super::verdict::{Failed, Judge, Rules};
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::output::whole::write_output;
use crate::units::plural;

/// A failure of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    name: String,
    /// Why it fails; none if it does not.
    failure: Option<String>,
}

impl Case {
    /// A failure.
    pub(super) fn failed(name: &str, what: &str) -> Case {
        Case { name: name.to_string(), failure: Some(what.to_string()) }
    }
}

/// Runs a file, and shows what the program says and how it ends.
pub(super) fn file(
    file: &Path,
    command: &[OsString],
    rules: &Rules,
    surroundings: Surroundings,
) -> Result<(), Failure> {
    let text = files::read_bytes(file)?;
    let (mut tested, mut judge) = (Tested::new(command, surroundings)?, Judge::new(rules, surroundings, 0)?);
    let run = tested.run(&text)?;
    let _ = std::io::stdout().write_all(&run.stdout.bytes);
    let _ = std::io::stderr().write_all(&run.stderr.bytes);
    match judge.judge(&text, &run)?.failed {
        Some(failed) => Err(Failure::Found(failed.what)),
        None => {
            say!("gramjet: {}: no failure", run.outcome);
            Ok(())
        }
    }
}

/// Runs all failures in a folder.
pub(super) fn all(
    folder: &Path,
    junit_file: Option<&Path>,
    command: &[OsString],
    rules: &Rules,
    surroundings: Surroundings,
) -> Result<(), Failure> {
    if !folder.join("search").exists() {
        return Err(Failure::Usage(format!("{} has no search in it; `-o` names the folder", shown(folder))));
    }
    let state = State::open(folder, &[])?;
    let (mut tested, mut judge) = (Tested::new(command, surroundings)?, Judge::new(rules, surroundings, 0)?);
    let mut cases = Vec::new();
    for name in state.failures()? {
        let text = state.failure(&name, MINIMISED)?;
        let verdict = {
            let run = tested.run(&text)?;
            judge.judge(&text, &run)?
        };
        let failure = verdict.failed.map(|Failed { what, .. }| what);
        match &failure {
            Some(what) => say!("fails: {name}: {what}"),
            None => say!("passes: {name} (it was: {})", before(&state, &name)),
        }
        cases.push(Case { name, failure });
    }
    if let Some(file) = junit_file {
        write_output(Some(file), junit(&cases).as_bytes())?;
    }
    let failing = cases.iter().filter(|case| case.failure.is_some()).count();
    let all = plural(cases.len() as u64, "failure");
    if failing > 0 {
        return Err(Failure::Found(format!("{failing} of {all} still there")));
    }
    say!("gramjet: none of {all} is still there");
    Ok(())
}

/// Why it failed when it was found.
fn before(state: &State, name: &str) -> String {
    let report = state.failure(name, REPORT).ok();
    let report = report.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let what = report.as_ref().and_then(|report| report["what"].as_str());
    what.unwrap_or("not known").to_string()
}

/// A report in the format of JUnit.
pub(super) fn junit(cases: &[Case]) -> String {
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"gramjet fuzz\" tests=\"{}\" failures=\"{failures}\">\n",
        cases.len()
    );
    for Case { name, failure } in cases {
        let name = escaped(name);
        text += &match failure {
            Some(what) => format!("  <testcase name=\"{name}\"><failure message=\"{}\"/></testcase>\n", escaped(what)),
            None => format!("  <testcase name=\"{name}\"/>\n"),
        };
    }
    text + "</testsuite>\n"
}

/// Text as an attribute of XML may have it.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' | '\n' | '\r' => escaped.push(' '),
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
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
        let cases = [Case::failed("a-1", "x < \"y\" & \u{1}\n"), Case { name: "b".to_string(), failure: None }];
        let lines = "<testsuite name=\"gramjet fuzz\" tests=\"2\" failures=\"1\">\n  \
            <testcase name=\"a-1\"><failure message=\"x &lt; &quot;y&quot; &amp; \u{fffd} \"/></testcase>\n  \
            <testcase name=\"b\"/>\n</testsuite>\n";
        assert!(junit(&cases).ends_with(lines), "{}", junit(&cases));
    }
}
