//! Texts that searches begin with, and texts as messages show them.

use std::fs;
use std::path::Path;

use gramjet_search::CHOICES;
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

/// Returns a text on one line of at most `most` characters, with escapes.
pub fn one_line(text: &[u8], most: usize) -> String {
    let shown = match std::str::from_utf8(text) {
        Ok(text) => text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"),
        Err(_) => text.escape_ascii().to_string(),
    };
    match shown.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shown_on_one_line() {
        assert_eq!(one_line(b"a \"b\"\n'c'", 80), "a \"b\"\\n'c'");
        assert_eq!(one_line("äöü".as_bytes(), 2), "äö...");
        assert_eq!(one_line(b"\xFF\0", 80), "\\xff\\x00");
    }
}
