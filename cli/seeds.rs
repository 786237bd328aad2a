//! Texts that searches begin with.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use gramjet::choices::TracedInput;
use gramjet_campaign::{CHOICES, View};
use gramjet_session::Language;

use crate::failure::{Failure, say};
use crate::files::shown;
use crate::texts::describe;
use crate::units::plural;

/// Returns the files of a folder. Says how many of them conform to the grammar, where the first one does not, and what
/// is done with those that do not. After the files come the texts of those that conform once their copies, lengths,
/// counts and checksums are right.
pub fn seeds(folder: &Path, language: &Language, others: &str) -> Result<Vec<Vec<u8>>, Failure> {
    let view = View::of_folder(folder)?;
    let files = view.files()?;
    view.left_alone().iter().for_each(|left| say!("gramjet: {left} is left alone"));
    // A search keeps choice bytes beside its texts.
    let names: HashSet<OsString> = files.iter().map(|(name, _)| name.clone()).collect();
    let is_beside = |name: &OsString| {
        name.to_str().and_then(|name| name.strip_suffix(CHOICES)).is_some_and(|text| names.contains(OsStr::new(text)))
    };
    let (mut texts, mut conforming, mut first) = (Vec::new(), 0, None);
    let mut repaired = Vec::new();
    for (name, text) in files.into_iter().filter(|(name, _)| !is_beside(name)) {
        match language.parse(&text) {
            Ok(_) => conforming += 1,
            Err(error) => {
                first.get_or_insert_with(|| describe(&folder.join(&name), &text, &error));
                repaired.extend(repair(&text, language));
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
    if !repaired.is_empty() {
        let count = plural(repaired.len() as u64, "text");
        say!("gramjet: {count} of them with the right copies, lengths, counts and checksums are used beside them");
    }
    texts.append(&mut repaired);
    Ok(texts)
}

/// Returns a text with the right copies, lengths, counts and checksums; `None` if it does not conform otherwise.
fn repair(text: &[u8], language: &Language) -> Option<Vec<u8>> {
    let choices = language.has_labels().then(|| language.repair(text).ok())??;
    Some(TracedInput::new(&mut language.unlimited_tracer(), &choices, choices.len()).output().to_vec())
}
