//! A failure as it is kept: made smaller, with all that is needed to see it again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gramjet_search::{State, StateError};
use serde_json::json;

use super::subject::function;
use super::verdict::{Failed, quoted};

/// The names of the files of a failure.
pub(super) const INPUT: &str = "input";
pub(super) const MINIMISED: &str = "minimised";
pub(super) const REPORT: &str = "report.json";

/// A failure that was run again and made smaller.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) failed: Failed,
    pub(super) input: Vec<u8>,
    pub(super) minimised: Vec<u8>,
    /// Choice bytes of the smaller input, with a header; none if it does not conform.
    pub(super) choices: Option<Vec<u8>>,
    /// What the program said on the smaller input.
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// In how many of so many runs it failed in the same way.
    pub(super) reproduced: (u32, u32),
    /// After this many runs and this time of the search.
    pub(super) runs: u64,
    pub(super) after: Duration,
}

/// How a program is called, for the script that runs it again.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) grammar: OsString,
    pub(super) command: Vec<OsString>,
    /// The folder in which it was run.
    pub(super) folder: PathBuf,
}

impl Finding {
    /// Whether it failed in each run.
    pub(super) fn is_reproducible(&self) -> bool {
        self.reproduced.0 == self.reproduced.1
    }

    /// Writes it, and returns where it is.
    pub(super) fn write(&self, state: &State, call: &Call) -> Result<PathBuf, StateError> {
        let report = json!({
            "key": self.failed.key,
            "what": self.failed.what,
            "command": call.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>(),
            "input_bytes": self.input.len(),
            "minimised_bytes": self.minimised.len(),
            "reproduced": self.reproduced.0,
            "of_runs": self.reproduced.1,
            "runs": self.runs,
            "seconds": self.after.as_secs_f64(),
        });
        let mut files = vec![
            (INPUT, self.input.clone()),
            (MINIMISED, self.minimised.clone()),
            ("stdout", self.stdout.clone()),
            ("stderr", self.stderr.clone()),
            (REPORT, format!("{report:#}\n").into_bytes()),
            ("replay.sh", call.script(state.folder()).into_bytes()),
        ];
        if let Some(choices) = &self.choices {
            files.push(("minimised.choices", choices.clone()));
        }
        state.fail(&self.failed.key, &files)
    }
}

impl Call {
    /// A script that runs the program on the smaller input.
    fn script(&self, out: &Path) -> String {
        let folder = quoted(&[self.folder.clone().into_os_string()]);
        let begin = format!(
            "#!/bin/sh\n# Runs the program on the input; another one may be named.\ninput=$(realpath \"${{1:-$(dirname \"$0\")/{MINIMISED}}}\")\ncd {folder} || exit 2\n"
        );
        if self.command.first().is_some_and(|word| function(word).is_some()) {
            let out = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf());
            let out = quoted(&[out.into_os_string()]);
            let (grammar, command) = (quoted(std::slice::from_ref(&self.grammar)), quoted(&self.command));
            return format!("{begin}exec gramjet fuzz {grammar} -o {out} --replay \"$input\" -- {command}\n");
        }
        let words = self.command.iter().map(|word| {
            let word = quoted(std::slice::from_ref(word));
            // The name of the file stands within the word.
            if word.starts_with('\'') { word.replace("@@", "'\"$input\"'") } else { word.replace("@@", "\"$input\"") }
        });
        let words: Vec<String> = words.collect();
        let reads_file = self.command.iter().skip(1).any(|word| word.to_string_lossy().contains("@@"));
        let stdin = if reads_file { "" } else { " < \"$input\"" };
        format!("{begin}exec {}{stdin}\n", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_the_input_where_the_program_takes_it() {
        let call = |words: &[&str]| Call {
            grammar: "json".into(),
            command: words.iter().map(OsString::from).collect(),
            folder: "/a b".into(),
        };
        let script = |words: &[&str]| call(words).script(Path::new("/out")).lines().last().map(str::to_string);
        assert_eq!(script(&["./p", "-x"]).as_deref(), Some("exec ./p -x < \"$input\""));
        assert_eq!(script(&["./p", "a b=@@"]).as_deref(), Some("exec ./p 'a b='\"$input\"''"));
        assert_eq!(script(&["./p", "@@"]).as_deref(), Some("exec ./p \"$input\""));
        let function = "exec gramjet fuzz json -o /out --replay \"$input\" -- python:json:loads";
        assert_eq!(script(&["python:json:loads"]).as_deref(), Some(function));
        assert!(call(&["./p"]).script(Path::new("/out")).contains("\ncd '/a b' || exit 2\n"));
    }
}
