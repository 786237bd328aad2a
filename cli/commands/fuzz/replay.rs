//! Failures that were found before, run again.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use gramjet_campaign::State;
use gramjet_harness::Target as _;
use serde_json::json;

use super::how::How;
use super::reporter::print;
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::output::whole::write_output;
use crate::units::plural;
use gramjet_campaign::failing::{DEPENDS, Failed, Judge, MINIMISED, REPORT, sequence_file};
use gramjet_campaign::subject::Tested;

/// A failure is run this often, as it may not fail each time.
const RUNS: u32 = 3;
/// The most inputs of a sequence that are read.
const MOST: usize = 1 << 16;

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

/// A program with its judge, and the options that both were made with.
struct Bench {
    options: Vec<String>,
    tested: Tested,
    judge: Judge,
}

impl Bench {
    fn new(options: Vec<String>, command: &[OsString], how: &How) -> Result<Bench, Failure> {
        let tested = Tested::new(command, how.surroundings)?;
        let judge = Judge::new(&how.rules, how.surroundings)?;
        Ok(Bench { options, tested, judge })
    }

    /// Returns how the program fails on the last of these texts, after the others in the same process, which is a new
    /// one.
    fn failure(&mut self, texts: &[Vec<u8>]) -> Result<Option<Failed>, Failure> {
        for _ in 0..RUNS {
            if let Some(failed) = self.failure_of_one_run(texts)? {
                return Ok(Some(failed));
            }
        }
        Ok(None)
    }

    fn failure_of_one_run(&mut self, texts: &[Vec<u8>]) -> Result<Option<Failed>, Failure> {
        self.tested.renew()?;
        self.judge.renew()?;
        let mut before = None;
        for (number, text) in texts.iter().enumerate() {
            let run = self.tested.run(text)?;
            let is_same_process = run.earlier == number as u64;
            let failed = self.judge.judge(text, &run)?.failed;
            // A text before the last one has ended the process.
            if !is_same_process || number + 1 == texts.len() {
                let failed = if is_same_process { failed } else { before };
                let what = |what: String| if number > 0 { format!("{DEPENDS}{what}") } else { what };
                return Ok(failed.map(|failed| Failed { what: what(failed.what), ..failed }));
            }
            before = failed;
        }
        Ok(None)
    }
}

/// A failure that a search has kept.
struct Kept {
    name: String,
    folder: PathBuf,
}

impl Kept {
    fn new(folder: PathBuf) -> Kept {
        let name = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Kept { name, folder }
    }

    fn file(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.folder.join(name))
    }

    /// Returns the report that the search has written on it.
    fn report(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.file(REPORT).ok()?).ok()
    }

    /// Returns the options that it was found with.
    fn options(&self) -> Vec<String> {
        let options = self.report().and_then(|report| serde_json::from_value(report["options"].clone()).ok());
        options.unwrap_or_default()
    }

    /// Returns why it failed when it was found.
    fn before(&self) -> String {
        let report = self.report();
        let what = report.as_ref().and_then(|report| report["what"].as_str());
        what.unwrap_or("not known").to_string()
    }

    /// Returns the smaller input; if it depends on earlier ones, all of them.
    fn texts(&self) -> Result<Vec<Vec<u8>>, String> {
        let count = self.report().and_then(|report| report["sequence"].as_u64()).unwrap_or(0);
        let read =
            |name: String| self.file(&name).map_err(|error| format!("{}: {error}", shown(&self.folder.join(&name))));
        match usize::try_from(count) {
            Ok(0) => Ok(vec![read(MINIMISED.to_string())?]),
            Ok(count) if count <= MOST => (0..count).map(|number| read(sequence_file(number))).collect(),
            _ => Err(format!("{count} inputs are more than {MOST}")),
        }
    }
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
    let Bench { mut tested, mut judge, .. } = Bench::new(Vec::new(), command, how)?;
    let run = tested.run(&text)?;
    // If nobody reads the output, that is no error. Lines for machines are alone there.
    if !is_json {
        let _ = std::io::stdout().write_all(&run.stdout.bytes);
    }
    let _ = std::io::stderr().write_all(&run.stderr.bytes);
    let failed = judge.judge(&text, &run)?.failed;
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
    for kept in failures.into_iter().map(Kept::new) {
        let result = match kept.texts() {
            Err(why) => Outcome::Unusable(why),
            Ok(texts) => {
                let options = [kept.options().as_slice(), given].concat();
                let bench = bench_for(&mut bench, options, command)?;
                bench.failure(&texts)?.map_or(Outcome::Passes, |failed| Outcome::Fails(failed.what))
            }
        };
        let case = Case { name: kept.name.clone(), result };
        let Case { name, result } = &case;
        if is_json {
            print(&case.json());
        }
        match result {
            Outcome::Fails(what) => say!("fails: {name}: {what}"),
            Outcome::Passes => say!("passes: {name} (it was: {})", kept.before()),
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
fn bench_for<'b>(
    bench: &'b mut Option<Bench>,
    options: Vec<String>,
    command: &[OsString],
) -> Result<&'b mut Bench, Failure> {
    if bench.as_ref().is_none_or(|bench| bench.options != options) {
        let how = How::recorded(&options);
        // Two of them do not run at the same time.
        *bench = None;
        *bench = Some(Bench::new(options, command, &how)?);
    }
    Ok(bench.as_mut().expect("it was made"))
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
        let cases =
            [Case::failed("a-1", "x < \"y\" & \u{1}\n"), Case { name: "b".to_string(), result: Outcome::Passes }];
        let lines = "<testsuite name=\"gramjet fuzz\" tests=\"2\" failures=\"1\" errors=\"0\">\n  \
            <testcase name=\"a-1\"><failure message=\"x &lt; &quot;y&quot; &amp; \u{fffd} \"/></testcase>\n  \
            <testcase name=\"b\"/>\n</testsuite>\n";
        assert!(junit(&cases).ends_with(lines), "{}", junit(&cases));
    }
}
