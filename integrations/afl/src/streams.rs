//! Choice bytes of queue entries on disk, next to the queue: `OUT/INSTANCE/streams/HASH`. They are needed where texts
//! are too ambiguous to be parsed again, after a restart or by another instance. They are checked against the text, so
//! that files of another grammar do no harm. A header names their grammar; files of another grammar are not read. Files
//! of earlier versions have no header.

use std::fs;
use std::path::Path;

use gramjet_session::{Language, hash};

/// The directory of choice bytes in that of an instance.
const STREAMS: &str = "streams";
/// Larger files are not read.
const MAX_BYTES: u64 = 64 << 20;
/// At most this number of instances is searched.
const MAX_INSTANCES: usize = 256;

/// `OUT/INSTANCE` of a queue entry, `OUT/INSTANCE/queue/id:...`.
pub fn instance(entry: &Path) -> Option<&Path> {
    entry.parent().filter(|queue| queue.ends_with("queue")).and_then(Path::parent)
}

fn name(text: &[u8]) -> String {
    format!("{:016x}", hash(text))
}

/// Writes the choice bytes of a queue entry. A failure does no harm: texts can be parsed.
pub fn write(language: &Language, entry: &Path, text: &[u8], choices: &[u8]) {
    let Some(instance) = instance(entry) else { return };
    let folder = instance.join(STREAMS);
    let path = folder.join(name(text));
    if usable(language, &path).is_some() || !(folder.is_dir() || fs::create_dir(&folder).is_ok()) {
        return;
    }
    // Other instances read only files that are complete.
    let partial = folder.join(format!("{}.partial", name(text)));
    if fs::write(&partial, language.with_header(choices)).is_ok() {
        let _ = fs::rename(&partial, &path);
    }
}

/// The choice bytes in a file, unless they are another grammar's.
fn usable(language: &Language, path: &Path) -> Option<Vec<u8>> {
    fs::metadata(path).ok().filter(|data| data.is_file() && data.len() <= MAX_BYTES)?;
    let file = fs::read(path).ok()?;
    language.without_header(&file).ok().map(|(_, choices)| choices.to_vec())
}

/// The choice bytes that are stored for the text of a queue entry, by its own instance or by another one of the same
/// run.
pub fn read(language: &Language, entry: &Path, text: &[u8]) -> Option<Vec<u8>> {
    let own = instance(entry)?;
    let name = name(text);
    let of_instance = |instance: &Path| -> Option<Vec<u8>> { usable(language, &instance.join(STREAMS).join(&name)) };
    of_instance(own).or_else(|| {
        let beside = fs::read_dir(own.parent()?).ok()?.take(MAX_INSTANCES).flatten();
        beside.map(|entry| entry.path()).filter(|path| path != own).find_map(|path| of_instance(&path))
    })
}
