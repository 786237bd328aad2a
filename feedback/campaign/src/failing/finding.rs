//! A failure as it is kept: made smaller, with all that is needed to see it again.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::state::{State, StateError};
use serde_json::json;

use super::evidence::Standing;
use super::verdict::Failed;
use crate::rerun;
use crate::subject::{function, quoted};

/// The names of the files of a failure.
pub const INPUT: &str = "input";
/// Name of the file of the smaller input.
pub const MINIMISED: &str = "minimised";
/// Name of the file of the report.
pub const REPORT: &str = "report.json";

/// The description of a failure that depends on earlier inputs begins with it.
pub const DEPENDS: &str = "depends on earlier inputs: ";

/// Returns the file of an input of a sequence, by its number.
pub fn sequence_file(number: usize) -> String {
    format!("sequence/{number:03}")
}

/// A failure.
#[derive(Debug)]
pub struct Finding {
    /// Class of the failure, with its key.
    pub failed: Failed,
    /// Relation of the smaller input to the language.
    pub standing: Standing,
    /// Text that failed first.
    pub input: Vec<u8>,
    /// The input itself if it is not finished.
    pub minimised: Vec<u8>,
    /// All inputs of a failure that depends on earlier ones, of which the smaller input is the last one; else empty.
    pub sequence: Vec<Vec<u8>>,
    /// The class under which it is kept if it does not happen again.
    pub class: String,
    /// Choice bytes of the smaller input, with a header; `None` if it does not conform.
    pub choices: Option<Vec<u8>>,
    /// Output of the program on the smaller input.
    pub stdout: Vec<u8>,
    /// Standard error on the smaller input.
    pub stderr: Vec<u8>,
    /// Number of runs that failed in the same way, and of all that were made.
    pub reproduced: (u32, u32),
    /// After this many runs and this time of the search.
    pub runs: u64,
    /// Time of the search when it was found.
    pub after: Duration,
    /// Whether a killed search has left it: which edges it has executed is not known.
    pub is_left: bool,
    /// Whether it was run again and made smaller. Until then it is kept as it was found.
    pub is_finished: bool,
}

/// Call of a program, for the script that runs it again.
#[derive(Clone, Debug)]
pub struct Call {
    /// Grammar as the user has named it.
    pub grammar: OsString,
    /// Words of the program under test.
    pub command: Vec<OsString>,
    /// The options that say how the program is run and what a failure is.
    pub options: Vec<String>,
    /// Only gramjet sees failures by these options.
    pub needs_us: bool,
    /// The folder in which it was run.
    pub folder: PathBuf,
}

impl Finding {
    /// Returns true if it failed in each run.
    pub fn is_reproducible(&self) -> bool {
        self.reproduced.0 == self.reproduced.1
    }

    /// Writes it, and returns where it is.
    pub fn write(&self, state: &State, call: &Call) -> Result<PathBuf, StateError> {
        let mut report = json!({
            "key": self.failed.key,
            "what": self.failed.what,
            "in_language": self.standing.is_inside(),
            "command": call.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>(),
            "options": call.options,
            "input_bytes": self.input.len(),
            "minimised_bytes": self.minimised.len(),
            "reproduced": self.reproduced.0,
            "of_runs": self.reproduced.1,
            "runs": self.runs,
            "seconds": self.after.as_secs_f64(),
            "finished": self.is_finished,
            "class": self.class,
        });
        if !self.sequence.is_empty() {
            report["sequence"] = self.sequence.len().into();
        }
        let sequence: Vec<String> = (0..self.sequence.len()).map(sequence_file).collect();
        let mut files = vec![
            (INPUT, self.input.clone()),
            (MINIMISED, self.minimised.clone()),
            ("stdout", self.stdout.clone()),
            ("stderr", self.stderr.clone()),
            ("replay.sh", call.script(self.failed.is_limit, !sequence.is_empty()).into_vec()),
        ];
        files.extend(sequence.iter().map(String::as_str).zip(self.sequence.iter().cloned()));
        if let Some(choices) = &self.choices {
            files.push(("minimised.choices", choices.clone()));
        }
        // The last one: it says which files there are.
        files.push((REPORT, format!("{report:#}\n").into_bytes()));
        state.fail(&self.failed.key, &files)
    }
}

impl Call {
    /// Returns a script that runs the program on the smaller input, within the limits if the failure is one of these,
    /// or on a sequence of inputs.
    fn script(&self, is_limit: bool, is_sequence: bool) -> OsString {
        let (what, file) = match is_sequence {
            true => ("inputs, one after the other in one process; another failure", ""),
            false => ("input; another one", MINIMISED),
        };
        let mut script = OsString::from(format!(
            "#!/bin/sh\n# Runs the program on the {what} may be named.\n\
             input=$(realpath \"${{1:-$(dirname \"$0\")/{file}}}\")\ncd "
        ));
        script.push(quoted(&[self.folder.clone().into_os_string()]));
        script.push(" || exit 2\nexec ");
        let is_function = self.command.first().is_some_and(|word| function(word).is_some());
        let pieces = if is_limit || self.needs_us || is_function || is_sequence {
            let options: Vec<OsString> = self.options.iter().map(OsString::from).collect();
            rerun::by_us(&self.grammar, &options, &self.command)
        } else {
            rerun::alone(&self.command)
        };
        script.push(pieces.join(OsStr::new("\"$input\"")));
        script.push("\n");
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_the_input_where_the_program_takes_it() {
        let call = |words: &[&[u8]], needs_us| Call {
            grammar: "json".into(),
            command: words.iter().map(|word| OsString::from_vec(word.to_vec())).collect(),
            options: vec!["--timeout".into(), "1000ms".into()],
            needs_us,
            folder: "/a b".into(),
        };
        let script = |words: &[&[u8]], needs_us| {
            let script = call(words, needs_us).script(false, false).into_vec();
            script.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().map(|line| line.escape_ascii().to_string())
        };
        assert_eq!(script(&[b"./p", b"-x"], false).as_deref(), Some(r#"exec ./p -x < \"$input\""#));
        assert_eq!(script(&[b"./p", b"a b=@@,"], false).as_deref(), Some(r#"exec ./p \'a b=\'\"$input\","#));
        assert_eq!(script(&[b"./p", b"@@"], false).as_deref(), Some(r#"exec ./p \"$input\""#));
        assert_eq!(script(&[b"./p", b"\xff", b""], false).as_deref(), Some(r#"exec ./p \'\xff\' \'\' < \"$input\""#));
        let function = r#"exec gramjet fuzz json --timeout 1000ms --replay \"$input\" -- python:json:loads"#;
        assert_eq!(script(&[b"python:json:loads"], false).as_deref(), Some(function));
        assert!(script(&[b"./p"], true).is_some_and(|line| line.ends_with(r#"--replay \"$input\" -- ./p"#)));
        assert!(
            String::from_utf8_lossy(&call(&[b"./p"], true).script(false, false).into_vec())
                .contains("\ncd '/a b' || exit 2\n")
        );
        let sequence = String::from_utf8_lossy(&call(&[b"./p"], false).script(false, true).into_vec()).into_owned();
        assert!(sequence.contains("\ninput=$(realpath \"${1:-$(dirname \"$0\")/}\")\n"), "{sequence}");
        assert!(sequence.ends_with("--replay \"$input\" -- ./p\n"), "{sequence}");
    }
}
