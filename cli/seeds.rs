//! Texts that searches begin with, and texts as messages show them.

use std::fs;
use std::path::Path;

use gramjet_campaign::CHOICES;
use gramjet_session::Language;

use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::texts::describe;
use crate::units::plural;

/// Returns the files of a folder. Says how many of them conform to the grammar, where the first one does not, and what
/// is done with those that do not.
pub fn seeds(folder: &Path, language: &Language, others: &str) -> Result<Vec<Vec<u8>>, Failure> {
    let failed = |source| Failure::Read { what: shown(folder).to_string(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        // A search keeps choice bytes beside its texts.
        let is_beside =
            path.to_str().and_then(|path| path.strip_suffix(CHOICES)).is_some_and(|text| Path::new(text).is_file());
        if path.is_file() && !is_beside {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    let (mut texts, mut conforming, mut first) = (Vec::new(), 0, None);
    for path in &paths {
        let text = files::read_bytes(path)?;
        match language.parse(&text) {
            Ok(_) => conforming += 1,
            Err(error) => {
                first.get_or_insert_with(|| describe(path, &text, &error));
            }
        }
        texts.push(text);
    }
    let count = plural(texts.len() as u64, "file");
    match first {
        None => say!("gramjet: {count} in {}, all conform to the grammar", shown(folder)),
        Some(first) => {
            let folder = shown(folder);
            let verb = if conforming == 1 { "conforms" } else { "conform" };
            say!("gramjet: {count} in {folder}; {conforming} {verb} to the grammar. The others are {others}:");
            say!("{first}");
        }
    }
    Ok(texts)
}
