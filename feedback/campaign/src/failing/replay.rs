//! Failures that were found before, run again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gramjet_harness::Target as _;

use super::finding::{DEPENDS, MINIMISED, REPORT, sequence_file};
use super::verdict::{Advice, Failed, Judge, Rules};
use crate::error::Error;
use crate::state::View;
use crate::subject::{Surroundings, Tested};

/// Number of runs of a failure, as it may not fail each time.
const RUNS: u32 = 3;
/// Greatest number of inputs of a sequence that are read.
const MOST: usize = 1 << 16;

/// A program with its judge, which run failures again.
pub struct Replay {
    tested: Tested,
    judge: Judge,
}

impl Replay {
    /// Starts the program.
    ///
    /// # Errors
    ///
    /// If it cannot be run.
    pub fn new(command: &[OsString], rules: &Rules, surroundings: Surroundings) -> Result<Replay, Error> {
        Ok(Replay { tested: Tested::new(command, surroundings)?, judge: Judge::new(rules, surroundings)? })
    }

    /// Returns how the program fails on the last of these texts, after the others in the same process, which is a new
    /// one. It has three tries.
    ///
    /// # Errors
    ///
    /// If it can no longer be run.
    pub fn failure(&mut self, texts: &[Vec<u8>]) -> Result<Option<Failed>, Error> {
        for _ in 0..RUNS {
            if let Some(failed) = self.failure_of_one_run(texts)? {
                return Ok(Some(failed));
            }
        }
        Ok(None)
    }

    fn failure_of_one_run(&mut self, texts: &[Vec<u8>]) -> Result<Option<Failed>, Error> {
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

    /// Takes the advice that was given since the last call.
    pub fn advice(&mut self) -> Vec<Advice> {
        self.judge.advice()
    }
}

/// A failure that a search has kept, in a folder of its own.
#[derive(Debug)]
pub struct Kept {
    /// Name of the folder.
    pub name: String,
    view: View,
    report: serde_json::Value,
}

impl Kept {
    /// Opens the folder of a failure.
    ///
    /// # Errors
    ///
    /// If it is no folder.
    pub fn open(folder: &Path) -> Result<Kept, Error> {
        let view = View::of_folder(folder)?;
        let name = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let report = view.file(REPORT).and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default();
        Ok(Kept { name, view, report })
    }

    /// Returns the options that it was found with, as they were recorded.
    pub fn options(&self) -> Vec<String> {
        serde_json::from_value(self.report["options"].clone()).unwrap_or_default()
    }

    /// Returns the line that said why it failed when it was found.
    pub fn before(&self) -> &str {
        self.report["what"].as_str().unwrap_or("not known")
    }

    /// Returns the smaller input; if it depends on earlier ones, all of them.
    ///
    /// # Errors
    ///
    /// The reason why they cannot be read.
    pub fn texts(&self) -> Result<Vec<Vec<u8>>, String> {
        let count = self.report["sequence"].as_u64().unwrap_or(0);
        let read = |name: String| match self.view.file(&name) {
            Some(bytes) => Ok(bytes),
            None => {
                let path: PathBuf = self.view.path().join(&name);
                let why = self.view.left_alone().into_iter().find(|left| left.path == path);
                let missing = || format!("`{}` is missing", path.display().to_string().escape_debug());
                Err(why.map_or_else(missing, |why| why.to_string()))
            }
        };
        match usize::try_from(count) {
            Ok(0) => Ok(vec![read(MINIMISED.to_string())?]),
            Ok(count) if count <= MOST => (0..count).map(|number| read(sequence_file(number))).collect(),
            _ => Err(format!("{count} inputs are more than {MOST}")),
        }
    }
}
