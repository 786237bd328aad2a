//! Choice bytes of texts on disk, next to the queue of a search: `OUT/streams/HASH` and, where several searches share a
//! folder, `SHARED/NODE/streams/HASH`. They are needed where texts are too ambiguous to be parsed again, after a
//! restart or by another search. They are checked against the text, so that files of another grammar do no harm. A
//! header names their grammar; files of another grammar are not read. Files of earlier versions have no header.

use std::fs;
use std::path::Path;

use crate::{Language, hash};

/// The directory of choice bytes in that of a search.
const STREAMS: &str = "streams";
/// Larger files are not read.
const MAX_BYTES: u64 = 64 << 20;
/// At most this number of searches is looked at.
const MAX_NODES: usize = 256;

fn name(text: &[u8]) -> String {
    format!("{:016x}", hash(text))
}

/// Writes the choice bytes of a text into the folder of a search. A failure does no harm: texts can be parsed.
pub fn write(language: &Language, search: &Path, text: &[u8], choices: &[u8]) {
    let folder = search.join(STREAMS);
    let path = folder.join(name(text));
    if usable(language, &path).is_some() || !(folder.is_dir() || fs::create_dir(&folder).is_ok()) {
        return;
    }
    // Other searches read only files that are complete.
    let partial = folder.join(format!("{}.partial", name(text)));
    if fs::write(&partial, language.with_header(choices)).is_ok() {
        let _ = fs::rename(&partial, &path);
    }
}

/// Returns the choice bytes in a file, unless they are another grammar's.
fn usable(language: &Language, path: &Path) -> Option<Vec<u8>> {
    fs::metadata(path).ok().filter(|data| data.is_file() && data.len() <= MAX_BYTES)?;
    let file = fs::read(path).ok()?;
    language.without_header(&file).ok().map(|(_, choices)| choices.to_vec())
}

/// Returns the choice bytes that a search has kept for a text.
pub fn read(language: &Language, search: &Path, text: &[u8]) -> Option<Vec<u8>> {
    usable(language, &search.join(STREAMS).join(name(text)))
}

/// Returns the choice bytes that a search has kept for a text, or one of the searches beside it.
pub fn read_shared(language: &Language, search: &Path, text: &[u8]) -> Option<Vec<u8>> {
    read(language, search, text).or_else(|| {
        let beside = fs::read_dir(search.parent()?).ok()?.take(MAX_NODES).flatten();
        beside.map(|entry| entry.path()).filter(|path| path != search).find_map(|path| read(language, &path, text))
    })
}
