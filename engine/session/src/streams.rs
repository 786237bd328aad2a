//! Choice bytes of texts on disk, next to the queue of a search: `OUT/choices/HASH.choices` and, where several searches
//! share a folder, `SHARED/NODE/choices/HASH.choices`. They are needed where texts are too ambiguous to be parsed
//! again, after a restart or by another search. They are checked against the text, so that files of another grammar do
//! no harm. A header names their grammar; files of another grammar are not read. Earlier versions wrote
//! `streams/HASH`, some of them without a header; these files are still read.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::{Language, hash};

/// The directory of choice bytes in that of a search.
pub const FOLDER: &str = "choices";
/// The end of the name of a file with choice bytes.
pub const EXTENSION: &str = ".choices";
/// Larger files are not read.
pub const MAX_BYTES: u64 = 64 << 20;
/// At most this number of searches is looked at.
pub const MAX_NODES: usize = 256;

/// Returns the file with the choice bytes of a text, relative to the folder of the search.
pub fn file(text: &[u8]) -> PathBuf {
    Path::new(FOLDER).join(format!("{:016x}{EXTENSION}", hash(text)))
}

/// Returns the files in which the choice bytes of a text can be, the one of earlier versions last.
pub fn files(text: &[u8]) -> [PathBuf; 2] {
    [file(text), Path::new("streams").join(format!("{:016x}", hash(text)))]
}

/// Returns the choice bytes in the bytes of a file, unless they are another grammar's.
pub fn choices_of(language: &Language, file: &[u8]) -> Option<Vec<u8>> {
    language.without_header(file).ok().map(|(_, choices)| choices.to_vec())
}

/// Writes the choice bytes of a text into the folder of a search. A failure does no harm: texts can be parsed. Nothing
/// is written through a link.
pub fn write(language: &Language, search: &Path, text: &[u8], choices: &[u8]) {
    let (folder, path) = (search.join(FOLDER), search.join(file(text)));
    if usable(language, &path).is_some() || !(is_folder(&folder) || fs::create_dir(&folder).is_ok()) {
        return;
    }
    // Other searches read only files that are complete.
    let partial = path.with_extension("partial");
    let _ = fs::remove_file(&partial);
    let written = File::options().write(true).create_new(true).open(&partial);
    if written.and_then(|mut file| file.write_all(&language.with_header(choices))).is_ok() {
        let _ = fs::rename(&partial, &path);
    }
}

/// Returns true if there is a folder at a path, and no link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.is_dir())
}

/// Returns the choice bytes in a file, unless they are another grammar's. Links are not followed.
fn usable(language: &Language, path: &Path) -> Option<Vec<u8>> {
    if !path.parent().is_some_and(is_folder) {
        return None;
    }
    fs::symlink_metadata(path).ok().filter(|data| data.is_file() && data.len() <= MAX_BYTES)?;
    choices_of(language, &fs::read(path).ok()?)
}

/// Returns the choice bytes that a search has kept for a text.
pub fn read(language: &Language, search: &Path, text: &[u8]) -> Option<Vec<u8>> {
    files(text).iter().find_map(|file| usable(language, &search.join(file)))
}

/// Returns the choice bytes that a search has kept for a text, or one of the searches beside it.
pub fn read_shared(language: &Language, search: &Path, text: &[u8]) -> Option<Vec<u8>> {
    read(language, search, text).or_else(|| {
        let beside = fs::read_dir(search.parent()?).ok()?.take(MAX_NODES).flatten();
        let folders = beside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|entry| entry.path()).filter(|path| path != search).find_map(|path| read(language, &path, text))
    })
}
