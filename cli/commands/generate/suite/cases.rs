//! The texts of a suite in a directory with an index, or one after the other.

use std::fs;
use std::path::Path;

use gramjet_session::suite::Case;
use serde::Serialize;

use crate::commands::generate::destination::{Destination, OutputArgs};
use crate::failure::{Failure, quoted};
use crate::output::whole::write_output;

/// The file with a line for each text.
const INDEX: &str = "index.jsonl";

/// A line of the index.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    valid: bool,
    why: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    covers: &'a [String],
}

/// A line for what no text has.
#[derive(Serialize)]
pub struct Missing<'a> {
    /// The name of what is missing.
    pub missing: &'a str,
    /// The reason.
    pub why: &'a str,
}

/// Checks that a folder has no suite yet: texts of two suites would be mixed.
pub fn check_new(destination: &Destination<'_>) -> Result<(), Failure> {
    let Destination::Directory(folder) = destination else { return Ok(()) };
    if fs::symlink_metadata(folder.join(INDEX)).is_err() {
        return Ok(());
    }
    Err(Failure::Usage(format!("{} has a suite already: give a new folder, or remove it", quoted(folder))))
}

/// Writes the texts of a suite. `missing` are further lines of the index.
pub fn write(
    cases: &[Case],
    missing: &[Missing<'_>],
    output: &OutputArgs,
    destination: &Destination<'_>,
) -> Result<(), Failure> {
    match destination {
        Destination::Directory(folder) => write_folder(cases, missing, output, folder),
        Destination::File(path) => write_output(Some(path), &joined(cases, output, destination)),
        Destination::StandardOutput => write_output(None, &joined(cases, output, destination)),
    }
}

/// Returns the texts with their separators; those that are not in the language only if all are so.
fn joined(cases: &[Case], output: &OutputArgs, destination: &Destination<'_>) -> Vec<u8> {
    let separator = destination.separator(output);
    let is_mixed = cases.iter().any(|case| case.is_valid);
    let written = cases.iter().filter(|case| case.is_valid || !is_mixed);
    written.flat_map(|case| separator.around(case.text.clone())).collect()
}

fn write_folder(cases: &[Case], missing: &[Missing<'_>], output: &OutputArgs, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|source| Failure::writing(folder, source))?;
    let extension = output.extension().map_or(String::new(), |extension| format!(".{extension}"));
    let digits = cases.len().to_string().len().max(4);
    let mut index = String::new();
    for (number, case) in (1..).zip(cases) {
        let name = format!("{number:0digits$}-{}{extension}", case.name);
        let path = folder.join(&name);
        fs::write(&path, &case.text).map_err(|source| Failure::writing(&path, source))?;
        let (why, covers, is_valid) = (&case.why, &case.covers, case.is_valid);
        let (rule, kind, at) = (case.rule.as_deref(), case.kind, case.at);
        index += &line(&Line { file: &name, valid: is_valid, why, rule, kind, at, covers });
    }
    missing.iter().for_each(|missing| index += &line(missing));
    write_output(Some(&folder.join(INDEX)), index.as_bytes())
}

fn line(object: &impl Serialize) -> String {
    // Strings, numbers and lists of them can always be written.
    serde_json::to_string(object).unwrap_or_default() + "\n"
}
