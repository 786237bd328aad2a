//! Other searches that keep their texts in one folder with this one, in AFL++'s way: ours, and instances of afl-fuzz.
//!
//! ```text
//! SHARED/NODE/queue/id:000012,...   texts of a search; numbers ascend, none is left out
//! SHARED/NODE/.synced/OTHER         how many texts of another search NODE has seen, as four bytes
//! ```
//!
//! Each search writes to its own `SHARED/NODE` alone, so machines can share the folder by any file system.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gramjet_session::{Language, streams};
use rustix::fs::FileType;

use crate::folder::{Folder, LeftAlone, Omissions, Unread, Why, is_missing};
use crate::state::{CHOICES, Place, StateError, choices_in, number_of};

/// The folder of the marks.
pub(crate) const SYNCED: &str = ".synced";
/// Larger texts are not read; afl-fuzz keeps none.
const MAX_BYTES: u64 = 1 << 20;
/// The longest name of a search, as in AFL++.
const MAX_NAME: usize = 24;
/// The longest name of another search that is looked at: it becomes part of the names of files.
const MAX_NODE: usize = 64;
/// Number of texts of other searches that wait, from which on no further folder is looked at.
const MOST_WAITING: usize = 1 << 16;
/// After this many texts of a search a mark is written, so that a killed search does not begin anew.
const MARK: u32 = 64;
/// The interval at which the folders of other searches are looked at.
const LOOK: Duration = Duration::from_secs(5);

/// The other searches in a shared folder, and what was seen of each.
#[derive(Debug)]
pub struct Siblings {
    folder: PathBuf,
    name: String,
    place: Place,
    waiting: VecDeque<Waiting>,
    omissions: Omissions,
    /// Time when it looked at them last.
    looked: Option<Instant>,
}

/// A text of another search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The text.
    pub text: Vec<u8>,
    /// The name of the search that has kept it.
    pub node: String,
    /// Its number there.
    pub number: u32,
    /// Path of its file.
    pub path: PathBuf,
}

impl Import {
    /// Returns the name that AFL++ gives to such a text, after the number.
    pub fn about(&self) -> String {
        format!("sync:{},src:{:06}", self.node, self.number)
    }
}

/// A text that was not read yet.
#[derive(Debug)]
struct Waiting {
    node: String,
    number: u32,
    /// Name of the file.
    name: String,
    /// No text of this search follows it.
    is_last: bool,
}

impl Siblings {
    /// Returns the searches beside `SHARED/NAME` in the folder `SHARED`. Their texts are those in `place`; afl-fuzz has
    /// them in [`Place::Queue`].
    ///
    /// # Errors
    ///
    /// If the name is no name of a search.
    pub fn new(shared: &Path, name: &str, place: Place) -> Result<Siblings, StateError> {
        if name.len() > MAX_NAME || !is_plain(name) {
            return Err(StateError::Name { name: name.to_string() });
        }
        let (waiting, omissions, looked) = Default::default();
        Ok(Siblings { folder: shared.to_path_buf(), name: name.to_string(), place, waiting, omissions, looked })
    }

    /// Returns the next text of another search, if one is known. Looks for new ones at most every five seconds.
    pub fn import(&mut self) -> Option<Import> {
        let known = self.take();
        if known.is_some() || !self.is_due() {
            return known;
        }
        self.looked = Some(Instant::now());
        self.look();
        self.take()
    }

    /// Returns true if [`Siblings::import`] would look for a text, or has one.
    pub fn is_due(&self) -> bool {
        !self.waiting.is_empty() || self.looked.is_none_or(|looked| looked.elapsed() > LOOK)
    }

    /// Looks for texts that were not seen before, unless some wait to be taken. Returns how many wait. A search whose
    /// folder cannot be read now is left for the next time.
    pub fn look(&mut self) -> usize {
        if self.waiting.is_empty() {
            let Ok(shared) = Folder::open(&self.folder) else { return 0 };
            let mut left = Vec::new();
            for entry in shared.entries(&mut left).unwrap_or_default() {
                let node = entry.name.to_string_lossy().into_owned();
                if node == self.name || node.starts_with('.') || entry.kind == FileType::RegularFile {
                    continue;
                }
                let why = entry.why().or_else(|| (node.len() > MAX_NODE || !is_plain(&node)).then_some(Why::Name));
                match why {
                    None if self.waiting.len() >= MOST_WAITING => break,
                    None => self.look_at(&shared, node),
                    Some(why) => self.leave(shared.path().join(&entry.name), why),
                }
            }
            left.into_iter().for_each(|one| self.leave(one.path, one.why));
        }
        self.waiting.len()
    }

    fn look_at(&mut self, shared: &Folder, node: String) {
        let folder = match shared.within(Path::new(&node).join(self.place.name())) {
            Ok(folder) => folder,
            Err(error) if is_missing(&error) => return,
            Err(error) => {
                return self.leave(shared.path().join(node).join(self.place.name()), Why::System(error.to_string()));
            }
        };
        let (seen, mut left, mut found) = (self.seen(shared, &node), Vec::new(), Vec::new());
        for entry in folder.entries(&mut left).unwrap_or_default() {
            let why = entry.why();
            match entry.name.into_string() {
                Ok(name) if name.starts_with('.') || name.ends_with(CHOICES) => {}
                Ok(name) => match (
                    why,
                    number_of(&name).and_then(|number| u32::try_from(number).ok().filter(|&number| number < u32::MAX)),
                ) {
                    (Some(why), _) => self.leave(folder.path().join(name), why),
                    (None, Some(number)) if entry.kind == FileType::RegularFile => {
                        found.extend((number >= seen).then_some((number, name)));
                    }
                    (None, _) => self.leave(folder.path().join(name), Why::Name),
                },
                Err(name) => self.leave(folder.path().join(name), why.unwrap_or(Why::Name)),
            }
        }
        left.into_iter().for_each(|one| self.leave(one.path, one.why));
        found.sort_unstable();
        let last = found.len();
        for (at, (number, name)) in found.into_iter().enumerate() {
            self.waiting.push_back(Waiting { node: node.clone(), number, name, is_last: at + 1 == last });
        }
    }

    /// Returns the choice bytes that another search has kept for a text.
    pub(crate) fn choices(&self, language: &Language, text: &[u8]) -> Option<Vec<u8>> {
        let shared = Folder::open(&self.folder).ok()?;
        let nodes = shared.entries(&mut Vec::new()).ok()?;
        let nodes = nodes.into_iter().filter(|node| node.kind == FileType::Directory && node.name != *self.name);
        let mut nodes = nodes.take(streams::MAX_NODES);
        nodes.find_map(|node| choices_in(&shared, Path::new(&node.name), language, text))
    }

    /// Takes the entries of other searches' folders that were left alone since the last call, each once.
    pub fn left_alone(&mut self) -> Vec<LeftAlone> {
        self.omissions.take()
    }

    fn leave(&mut self, path: PathBuf, why: Why) {
        self.omissions.add(path, why);
    }

    /// Returns the next of the texts that [`Siblings::look`] has found. Texts that came from this search are left out.
    pub fn take(&mut self) -> Option<Import> {
        while let Some(Waiting { node, number, name, is_last }) = self.waiting.pop_front() {
            let within = Path::new(&node).join(self.place.name()).join(&name);
            let path = self.folder.join(&within);
            let read = Folder::open(&self.folder).map_err(|_| Unread::Missing);
            let text = match read.and_then(|shared| shared.read(&within, MAX_BYTES)) {
                Ok(text) => Some(text),
                Err(Unread::Missing) => None,
                Err(Unread::Left(why)) => {
                    self.leave(path.clone(), why);
                    None
                }
            };
            if is_last && text.as_ref().is_some_and(Vec::is_empty) {
                // It is being written.
                if let Some(before) = number.checked_sub(1) {
                    self.mark(&node, before);
                }
                continue;
            }
            if is_last || number % MARK == 0 {
                self.mark(&node, number);
            }
            match text {
                Some(text) if !self.is_own(&name) => return Some(Import { text, node, number, path }),
                _ => {}
            }
        }
        None
    }

    /// Returns true if the other search has the text from this one.
    fn is_own(&self, name: &str) -> bool {
        name.split(',').filter_map(|part| part.strip_prefix("sync:")).any(|from| from == self.name)
    }

    /// Returns the number of the first text that was not seen.
    fn seen(&self, shared: &Folder, node: &str) -> u32 {
        let bytes = shared.read(self.marks().join(node), 4).unwrap_or_default();
        bytes.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }

    /// Records that the text with this number was seen, and all before it. If that cannot be recorded, texts are taken
    /// again by a later search, and nothing else.
    fn mark(&mut self, node: &str, number: u32) {
        let (mark, seen) = (self.marks().join(node), number.saturating_add(1));
        let written = Folder::open(&self.folder).and_then(|shared| shared.write(&mark, &seen.to_ne_bytes(), true));
        if let Err(error) = written {
            self.leave(self.folder.join(mark), Why::System(error.to_string()));
        }
    }

    /// Returns the name of the folder of the marks within the shared one.
    fn marks(&self) -> PathBuf {
        let marks = Path::new(&self.name).join(SYNCED);
        // afl-fuzz knows queues alone. No search has a name that begins with a dot.
        if self.place == Place::Queue { marks } else { marks.join(format!(".{}", self.place.name())) }
    }
}

/// Returns true if a name of a search needs no care in names of files.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns a shared folder with the queues of two searches.
    fn shared(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("gramjet-siblings-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for (name, text) in [
            ("afl/queue/id:000000,time:0,execs:0,orig:a", "[0]"),
            ("afl/queue/id:000001,sync:me,src:000004,+cov", "[1]"),
            ("afl/queue/id:000002,src:000000,time:9,execs:70,op:havoc,rep:2", "[2]"),
            ("afl/queue/.state/x", ""),
            ("other/queue/id:000000,op:fresh", "{}"),
            ("me/queue/id:000000,op:fresh", "mine"),
            ("notes", "a file"),
        ] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    fn all(siblings: &mut Siblings) -> Vec<(String, u32, String)> {
        siblings.look();
        let next = || siblings.take();
        let text = |import: Import| (import.node, import.number, String::from_utf8(import.text).expect("text"));
        std::iter::from_fn(next).map(text).collect()
    }

    fn import(node: &str, number: u32, text: &str) -> (String, u32, String) {
        (node.to_string(), number, text.to_string())
    }

    #[test]
    fn texts_of_other_searches_are_taken_once_and_own_ones_never() {
        let folder = shared("once");
        let mut siblings = Siblings::new(&folder, "me", Place::Queue).expect("a name");
        let found = [import("afl", 0, "[0]"), import("afl", 2, "[2]"), import("other", 0, "{}")];
        assert_eq!(all(&mut siblings), found);
        assert_eq!(all(&mut siblings), []);
        // AFL++'s form: the number of the next text.
        assert_eq!(fs::read(folder.join("me/.synced/afl")).expect("a mark"), 3u32.to_ne_bytes());
        fs::write(folder.join("other/queue/id:000001,op:mutate"), "{ }").expect("a file");
        let mut again = Siblings::new(&folder, "me", Place::Queue).expect("a name");
        assert_eq!(all(&mut again), [import("other", 1, "{ }")]);
        fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn texts_that_are_being_written_are_taken_later() {
        let folder = shared("later");
        let new = folder.join("other/queue/id:000001,op:mutate");
        fs::write(&new, "").expect("a file");
        let mut siblings = Siblings::new(&folder, "me", Place::Queue).expect("a name");
        assert_eq!(all(&mut siblings).len(), 3);
        fs::write(&new, "{ }").expect("a file");
        assert_eq!(all(&mut siblings), [import("other", 1, "{ }")]);
        fs::write(folder.join("other/queue/id:000002,op:mutate"), vec![b'x'; MAX_BYTES as usize + 1]).expect("a file");
        fs::write(folder.join("other/queue/id:000003,op:mutate"), "{  }").expect("a file");
        assert_eq!(all(&mut siblings), [import("other", 3, "{  }")]);
        fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn places_have_marks_of_their_own() {
        let folder = shared("places");
        fs::create_dir_all(folder.join("other/best")).expect("a folder");
        fs::write(folder.join("other/best/id:000000,cost:9"), "{}").expect("a file");
        fs::write(folder.join("other/best/id:000000,cost:9.choices"), "x").expect("a file");
        let mut best = Siblings::new(&folder, "me", Place::Best).expect("a name");
        assert_eq!(all(&mut best), [import("other", 0, "{}")]);
        assert_eq!(all(&mut best), []);
        assert_eq!(all(&mut Siblings::new(&folder, "me", Place::Queue).expect("a name")).len(), 3);
        fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn names_are_those_that_afl_accepts() {
        for name in ["", "a/b", "..", "a b", "x".repeat(25).as_str()] {
            assert!(Siblings::new(Path::new("."), name, Place::Queue).is_err(), "{name}");
        }
        assert!(Siblings::new(Path::new("."), "node_1-a", Place::Queue).is_ok());
    }
}
