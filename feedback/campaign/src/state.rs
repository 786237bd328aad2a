//! The folder of a search: the texts worth varying, the failures, and which search they belong to.
//!
//! ```text
//! OUT/search       what is searched, one `name: value` a line; made first
//! OUT/sessions     how often it was opened
//! OUT/lock         held while a search runs
//! OUT/queue/       texts, named as AFL++ names them
//! OUT/best/        texts that cost more than all before, with their choice bytes
//! OUT/choices/     the choice bytes of texts in the queue, each file named by a hash of the text: afl-fuzz would take
//!                  files beside these for texts
//! OUT/timeouts/    texts on which the program did not end in time
//! OUT/failures/    a folder for each failure
//! OUT/unconfirmed/ a folder for each failure that did not happen again
//! OUT/.synced/     what was seen of other searches in a shared folder
//! ```
//!
//! Everything there is complete: each file or folder gets its name only when it is written. A folder that is made anew
//! replaces the old one, which has the name `.NAME.old` for a moment. After a kill at that moment it gets its name
//! back. A file gets its name only when it is on the disk. A search does not wait for lines of the log, nor for the
//! texts that it keeps and their choice bytes if nobody shares its folder: after a power failure, some of the last ones
//! can be missing or damaged.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gramjet_session::{Language, streams};
use rustix::fs::FileType;

use crate::folder::{Folder, Why, is_missing};

mod failures;
mod view;

use failures::{FAILURES, UNCONFIRMED};
pub use view::CHOICES;
use view::{DESCRIPTION, FORMAT, PLACES, same};
pub use view::{Place, StateError, View};
pub(crate) use view::{choices_in, number_of};

/// The folder of a search, locked as long as this lives.
#[derive(Debug)]
pub struct State {
    view: View,
    lock: File,
    /// The next number in each place.
    next: Mutex<[u64; PLACES.len()]>,
    session: u64,
    waits: bool,
}

impl Drop for State {
    /// Unlocks the file. To close it might not be enough: a process that another thread starts at this moment also has
    /// the file open until it runs its program.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl State {
    /// Opens a folder, or makes it. `facts` are names and values that distinguish this search from others; values have
    /// no line breaks.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written to, is in use, or has another search or something else in it.
    pub fn open(folder: &Path, facts: &[(&str, String)]) -> Result<State, StateError> {
        let failed = |source| StateError::Io { path: folder.to_path_buf(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let view = View::new(Folder::open(folder).map_err(failed)?);
        let own = &*view.folder;
        if view.description()?.is_none() {
            // Another search may be writing these now, or was killed before it wrote the rest.
            let is_ours = |name: &str| name == LOCK || is_unfinished(name);
            let entries = own.entries(&mut Vec::new()).map_err(failed)?;
            if entries.iter().any(|entry| !is_ours(&entry.name.to_string_lossy())) {
                return Err(StateError::Foreign { path: folder.to_path_buf() });
            }
        }
        let lock = own.open_own(LOCK).map_err(|source| view.failed(LOCK, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StateError::InUse { path: folder.to_path_buf() }),
            Err(TryLockError::Error(source)) => return Err(view.failed(LOCK, source)),
        }
        match view.description()? {
            Some(text) => same(folder, &text, facts)?,
            None => {
                let lines = facts.iter().map(|(name, value)| format!("{name}: {value}\n"));
                let text = format!("{FORMAT}\n{}", lines.collect::<String>());
                let written = own.write(DESCRIPTION, text.as_bytes(), true);
                written.map_err(|source| view.failed(DESCRIPTION, source))?;
            }
        }
        for name in PLACES.into_iter().chain([FAILURES, streams::FOLDER, UNCONFIRMED]) {
            let opened = if name == streams::FOLDER || name == UNCONFIRMED { own.within(name) } else { own.make(name) };
            match opened.and_then(|folder| remove_unfinished(&folder)) {
                Err(error) if is_missing(&error) => {}
                // A search can do without choice bytes.
                Err(error) if name == streams::FOLDER => {
                    let is_link = own.kind(name).is_ok_and(|kind| kind == Some(FileType::Symlink));
                    view.leave(name, if is_link { Why::Link } else { Why::System(error.to_string()) });
                }
                // What cannot be tidied up stays.
                Err(_) if own.within(name).is_ok() => {}
                tidied => tidied.map_err(|source| view.failed(name, source))?,
            }
        }
        restore_replaced(own).map_err(failed)?;
        let _ = remove_unfinished(own);
        let session = view.file(SESSIONS).unwrap_or_default();
        let session = String::from_utf8_lossy(&session).trim().parse().unwrap_or(0);
        let written = own.write(SESSIONS, format!("{}\n", session + 1).as_bytes(), true);
        written.map_err(|source| view.failed(SESSIONS, source))?;
        let mut next = [0; PLACES.len()];
        for (next, place) in next.iter_mut().zip(PLACES) {
            let names = view.names(place, FileType::RegularFile)?;
            // Numbers near the greatest one are those of somebody who wants no others to follow.
            let numbers = names.iter().filter_map(|name| number_of(name)).filter(|&number| number < MOST_COUNTED);
            *next = numbers.max().map_or(0, |last| last + 1);
        }
        Ok(State { view, lock, next: Mutex::new(next), session, waits: false })
    }

    /// Returns a fact about the search in a folder, if there is one.
    pub fn fact(folder: &Path, name: &str) -> Option<String> {
        let text = View::new(Folder::open(folder).ok()?).description().ok()??;
        let mut facts = text.lines().filter_map(|line| line.split_once(": "));
        facts.find(|(found, _)| *found == name).map(|(_, value)| value.to_string())
    }

    /// Returns how often the folder was opened before.
    pub fn session(&self) -> u64 {
        self.session
    }

    /// Waits from now on until the disk has each text that is kept. In folders that are shared by a network, only then
    /// it is certain that others see whole texts.
    pub fn wait_for_disk(&mut self) {
        self.waits = true;
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.view.folder.path()
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.view.folder
    }

    /// Returns how many texts were kept in a place, as their numbers say.
    pub fn count(&self, place: Place) -> u64 {
        self.next.lock().unwrap_or_else(|poisoned| poisoned.into_inner())[place as usize]
    }

    /// Returns the texts in a place, in the order in which they were found.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn texts(&self, place: Place) -> Result<Vec<Vec<u8>>, StateError> {
        Ok(self.view().texts(place)?.into_iter().map(|(_, text)| text).collect())
    }

    /// Returns the folder as a reader sees it.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Keeps a text, with its choice bytes beside it if they are given. Those of texts in the queue have a folder of
    /// their own: see `keep_choices`.
    /// `about` is the part of AFL++'s file name after the number, such as `time:52,op:splice`. Returns where the text
    /// is.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn keep(&self, place: Place, text: &[u8], choices: Option<&[u8]>, about: &str) -> Result<PathBuf, StateError> {
        let mut all = self.next.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let next = &mut all[place as usize];
        let name = format!("id:{next:06},{about}");
        let path = self.put(&format!("{}/{name}", place.name()), text, self.waits)?;
        *next += 1;
        if let Some(choices) = choices {
            self.put(&format!("{}/{name}{CHOICES}", place.name()), choices, self.waits)?;
        }
        Ok(path)
    }

    /// Keeps the choice bytes of a text in the queue, for when it is too ambiguous to be parsed again. A failure does
    /// no harm.
    pub(crate) fn keep_choices(&self, language: &Language, text: &[u8], choices: &[u8]) {
        if self.view.choices(language, text).is_none() {
            let _ = self.folder().write(streams::file(text), &language.with_header(choices), false);
        }
    }

    /// Writes a text to a file of the search, with its choice bytes beside it if they are given.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_text(&self, name: &str, text: &[u8], choices: Option<&[u8]>) -> Result<(), StateError> {
        self.write(name, text)?;
        choices.map_or(Ok(()), |choices| self.write(&format!("{name}{CHOICES}"), choices).map(drop))
    }

    /// Writes a file of the search, such as its report. Returns where it is.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StateError> {
        self.put(name, bytes, true)
    }

    fn put(&self, name: &str, bytes: &[u8], waits: bool) -> Result<PathBuf, StateError> {
        self.folder().write(name, bytes, waits).map_err(|source| self.view.failed(name, source))?;
        Ok(self.path().join(name))
    }

    /// Makes a folder of the search anew. `write` writes its files to a folder within that of the search, whose name it
    /// gets. The old folder goes when the new one is complete; of a killed process, one of the two is there.
    ///
    /// # Errors
    ///
    /// If it cannot be written; the old one is there then.
    pub fn replace(&self, name: &str, write: impl FnOnce(&str) -> Result<(), StateError>) -> Result<(), StateError> {
        let (own, old) = (format!(".{name}.{}", std::process::id()), replaced(name));
        let folder = self.folder();
        let swap = || {
            if folder.kind(name)?.is_some() {
                folder.rename(name, &old)?;
            }
            folder.rename(&own, name).inspect_err(|_| drop(folder.rename(&old, name)))?;
            folder.remove(&old)
        };
        let swapped = write(&own).and_then(|()| swap().map_err(|source| self.view.failed(name, source)));
        if swapped.is_err() {
            let _ = folder.remove(&own);
        }
        swapped
    }

    /// Appends a line to a file of the search; a new file begins with `heading`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn append(&self, name: &str, heading: &str, line: &str) -> Result<(), StateError> {
        let appended = self.folder().append(name, heading, line);
        appended.map_err(|source| self.view.failed(name, source))
    }
}

/// Numbers of texts from this one on are not counted on from.
const MOST_COUNTED: u64 = 1 << 31;

/// The file that is locked while a search runs, and the one that counts the searches.
const LOCK: &str = "lock";
const SESSIONS: &str = "sessions";

/// Returns the name of a folder while a new one takes its place.
fn replaced(name: &str) -> String {
    format!(".{name}{REPLACED}")
}

/// The end of that name. Files and folders that are not complete have the number of a process there.
const REPLACED: &str = ".old";

/// Gives folders their names back whose new ones a killed search has not put in their places.
fn restore_replaced(folder: &Folder) -> io::Result<()> {
    for entry in folder.entries(&mut Vec::new())? {
        let name = entry.name.to_string_lossy();
        let Some(name) = name.strip_prefix('.').and_then(|name| name.strip_suffix(REPLACED)) else { continue };
        if folder.kind(name)?.is_none() {
            folder.rename(&entry.name, name)?;
        }
    }
    Ok(())
}

/// Names of what is replaced as a whole, and of files that earlier versions have written.
const WRITTEN: [&str; 9] =
    ["search", "sessions", "growth", "studied", "front", "weights", "last-texts", "report", "totals"];

/// Returns true for names that a search gives to what is not complete: `.gramjet.PID.N` for files, `.PID.N` for folders
/// of failures, `.NAME.PID` and `.NAME.old` for what is replaced, and those of earlier versions. Other hidden files are
/// somebody else's.
fn is_unfinished(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((rest, last)) = name.strip_prefix('.').and_then(|name| name.rsplit_once('.')) else { return false };
    if !is_number(last) && format!(".{last}") != REPLACED {
        return false;
    }
    let first = rest.split('.').next().unwrap_or_default();
    let is_file = first == "gramjet" && rest.split('.').nth(1).is_some_and(is_number);
    is_file || is_number(rest) || WRITTEN.contains(&first) || rest.starts_with("id:")
}

/// Removes the incomplete files of a killed search.
fn remove_unfinished(folder: &Folder) -> io::Result<()> {
    for entry in folder.entries(&mut Vec::new())? {
        if entry.name.to_str().is_some_and(is_unfinished) {
            folder.remove(&entry.name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::SourceFile;
    use gramjet_session::Settings;

    use super::*;
    use crate::siblings::SYNCED;

    pub(super) fn place(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("gramjet-state-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_search_goes_on_where_it_was() {
        let folder = place("resume");
        let facts = [("grammar", "json".to_string())];
        let state = State::open(&folder, &facts).expect("a new folder");
        state.keep(Place::Queue, b"[1]", None, "op:fresh").expect("a text");
        state.keep(Place::Queue, b"[2]", None, "op:mutate").expect("a text");
        let path = state.fail("SIGSEGV-1", &[("input", b"[".to_vec()), ("replay.sh", Vec::new())]).expect("a failure");
        assert_eq!(fs::read(path.join("input")).expect("the input"), b"[");
        drop(state);
        let state = State::open(&folder, &facts).expect("the folder");
        assert_eq!(state.texts(Place::Queue).expect("texts"), [b"[1]", b"[2]"]);
        assert_eq!(state.failures().expect("failures"), ["SIGSEGV-1"]);
        state.keep(Place::Queue, b"[3]", None, "op:fresh").expect("a text");
        assert_eq!(state.texts(Place::Queue).expect("texts").len(), 3);
        let best = state.keep(Place::Best, b"[[]]", Some(&[1, 2]), "cost:7").expect("a text");
        assert!(best.ends_with("best/id:000000,cost:7"));
        assert_eq!(fs::read(folder.join("best/id:000000,cost:7.choices")).expect("choices"), [1, 2]);
        assert_eq!(state.texts(Place::Best).expect("texts"), [b"[[]]"]);
        // afl-fuzz takes all files in the queue for texts.
        let grammar = SourceFile::new("s.ebnf", "s ::= '[' [0-9] ']'");
        let language = Language::compile(&grammar, &Settings::default()).expect("a grammar");
        state.keep_choices(&language, b"[3]", &[3]);
        assert_eq!(state.view().choices(&language, b"[3]"), Some(vec![3]));
        assert_eq!(fs::read_dir(folder.join("queue")).expect("the queue").count(), 3);
        // Earlier versions had them elsewhere.
        fs::create_dir(folder.join("streams")).expect("a folder");
        fs::rename(folder.join(streams::file(b"[3]")), folder.join(&streams::files(b"[3]")[1])).expect("a file");
        assert_eq!(state.view().choices(&language, b"[3]"), Some(vec![3]));
        state.append("log.csv", "a,b", "1,2").expect("a line");
        state.append("log.csv", "a,b", "3,4").expect("a line");
        assert_eq!(fs::read(folder.join("log.csv")).expect("the log"), b"a,b\n1,2\n3,4\n");
        state.write("growth/1/input", b"x").expect("a file");
        fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn a_folder_is_made_anew() {
        let folder = place("replace");
        let state = State::open(&folder, &[]).expect("a new folder");
        for text in [b"one", b"two"] {
            let write = |own: &str| state.write(&format!("{own}/1/{}", text[0]), text).map(drop);
            state.replace("growth", write).expect("a folder");
            let names = fs::read_dir(folder.join("growth/1")).expect("the folder").count();
            assert_eq!((names, fs::read(folder.join(format!("growth/1/{}", text[0]))).ok()), (1, Some(text.to_vec())));
        }
        let failed = state.replace("growth", |own| {
            state.write(&format!("{own}/1/half"), b"")?;
            state.write(&format!("{own}/1/half/more"), b"").map(drop)
        });
        assert!(failed.is_err() && !folder.join("growth/1/half").exists() && folder.join("growth/1").is_dir());
        let hidden = fs::read_dir(&folder).expect("the folder").filter_map(Result::ok);
        assert_eq!(hidden.filter(|entry| entry.file_name().to_string_lossy().starts_with('.')).count(), 0);
        fs::remove_dir_all(folder).expect("the folder");
    }

    /// A search that is killed while a new folder takes the place of an old one has reported the old one.
    #[test]
    fn a_folder_that_was_being_replaced_is_there_again() {
        let folder = place("killed");
        State::open(&folder, &[]).expect("a new folder");
        let write = |name: &str, text: &str| {
            fs::create_dir_all(folder.join(name)).expect("a folder");
            fs::write(folder.join(name).join("about"), text).expect("a file");
        };
        let about = || fs::read_to_string(folder.join("growth/about")).expect("the file");
        // Between the two renames.
        write(".growth.old", "proved");
        write(".growth.123", "new");
        State::open(&folder, &[]).expect("the folder");
        assert_eq!(about(), "proved");
        // After both.
        write(".growth.old", "older");
        write(".growth.124", "half");
        State::open(&folder, &[]).expect("the folder");
        assert_eq!(about(), "proved");
        assert!([".growth.old", ".growth.123", ".growth.124"].iter().all(|name| !folder.join(name).exists()));
        fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn other_folders_are_left_alone() {
        let folder = place("other");
        let facts = |grammar: &str| [("grammar", grammar.to_string())];
        let state = State::open(&folder, &facts("json")).expect("a new folder");
        assert!(matches!(State::open(&folder, &facts("json")), Err(StateError::InUse { .. })));
        drop(state);
        assert_eq!(State::open(&folder, &facts("json")).expect("the folder").session(), 1);
        assert_eq!(State::fact(&folder, "grammar").as_deref(), Some("json"));
        assert_eq!(State::fact(&folder, "program"), None);
        let error = State::open(&folder, &facts("css")).expect_err("another grammar").to_string();
        assert!(error.ends_with("with grammar `json`, not `css`; name another folder"), "{error}");
        fs::write(folder.join("search"), "gramjet search 7\n").expect("a file");
        assert!(matches!(State::open(&folder, &facts("json")), Err(StateError::Version { .. })));
        fs::remove_file(folder.join("search")).expect("the file");
        assert!(matches!(State::open(&folder, &facts("json")), Err(StateError::Foreign { .. })));
        fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn hidden_files_of_others_stay() {
        let folder = place("hidden");
        fs::create_dir_all(folder.join(".git")).expect("a folder");
        fs::write(folder.join(".bashrc"), "").expect("a file");
        assert!(matches!(State::open(&folder, &[]), Err(StateError::Foreign { .. })));
        assert!(folder.join(".git").is_dir() && folder.join(".bashrc").exists());
        for name in [".gramjet.12.0", ".search.12", ".12.3", ".growth.old", ".growth.7", ".id:000000,op:x.12"] {
            assert!(is_unfinished(name), "{name}");
        }
        for name in [".git", ".bashrc", ".gramjet", ".gramjet.x.0", ".12", "..", ".config.2", SYNCED, "a.1", ".x.old"] {
            assert!(!is_unfinished(name), "{name}");
        }
        fs::remove_dir_all(&folder).expect("the folder");
        let state = State::open(&folder, &[]).expect("a new folder");
        drop(state);
        fs::create_dir(folder.join(".git")).expect("a folder");
        State::open(&folder, &[]).expect("the folder");
        assert!(folder.join(".git").is_dir());
        fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let folder = place("full");
        let state = State::open(&folder, &[]).expect("a new folder");
        fs::write(folder.join("failures/key"), "a file").expect("a file");
        assert!(state.fail("key", &[("input", vec![1])]).is_err());
        assert_eq!(state.failures().expect("failures"), [""; 0]);
        assert_eq!(fs::read_dir(folder.join("failures")).expect("the folder").count(), 1);
        drop(state);
        // The remains of a killed search are removed.
        fs::create_dir(folder.join("failures/.1.0")).expect("a folder");
        fs::write(folder.join("queue/.id:000000.1"), "").expect("a file");
        fs::create_dir(folder.join(SYNCED)).expect("a folder");
        State::open(&folder, &[]).expect("the folder");
        assert_eq!(fs::read_dir(folder.join("failures")).expect("the folder").count(), 1);
        assert_eq!(fs::read_dir(folder.join("queue")).expect("the folder").count(), 0);
        assert!(folder.join(SYNCED).is_dir());
        fs::remove_dir_all(folder).expect("the folder");
    }
}
