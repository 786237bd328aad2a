//! The failures of a search, each in a folder of its own, and those that did not happen again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FileType;

use super::State;
use super::view::StateError;
use crate::folder::Folder;

/// The folder of failures, and of those that did not happen again.
pub(super) const FAILURES: &str = "failures";
pub(super) const UNCONFIRMED: &str = "unconfirmed";

impl State {
    /// Returns the keys of the failures.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn failures(&self) -> Result<Vec<String>, StateError> {
        self.view().failures()
    }

    /// Returns a file of a failure.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn failure(&self, key: &str, file: &str) -> Result<Vec<u8>, StateError> {
        self.view().failure(key, file)
    }

    /// Writes a failure, a folder with these files, some of which may be in a folder within it; those whose names end
    /// in `.sh` can be executed. If it is there already, its files are replaced one by one. Returns where it is.
    ///
    /// # Errors
    ///
    /// If it cannot be written; nothing of a new one is there then.
    pub fn fail(&self, key: &str, files: &[(&str, Vec<u8>)]) -> Result<PathBuf, StateError> {
        self.put_folder(FAILURES, key, files)
    }

    /// Writes a failure that did not happen again, as [`State::fail`] writes others, apart from them.
    ///
    /// # Errors
    ///
    /// If it cannot be written; nothing of a new one is there then.
    pub fn set_aside(&self, key: &str, files: &[(&str, Vec<u8>)]) -> Result<PathBuf, StateError> {
        self.put_folder(UNCONFIRMED, key, files)
    }

    /// Returns the keys of failures that did not happen again.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn unconfirmed(&self) -> Result<Vec<String>, StateError> {
        self.view().folders(UNCONFIRMED)
    }

    /// Returns a file of a failure that did not happen again.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn unconfirmed_file(&self, key: &str, file: &str) -> Result<Vec<u8>, StateError> {
        self.view().file_of(UNCONFIRMED, key, file)
    }

    /// Removes a failure that did not happen again, if it is there, as one of its class has happened again.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn forget_unconfirmed(&self, key: &str) -> Result<(), StateError> {
        self.remove(Path::new(UNCONFIRMED).join(key))
    }

    fn remove(&self, name: PathBuf) -> Result<(), StateError> {
        self.folder().remove(&name).map_err(|source| self.view().failed(name, source))
    }

    fn put_folder(&self, kind: &str, key: &str, files: &[(&str, Vec<u8>)]) -> Result<PathBuf, StateError> {
        let name = Path::new(kind).join(key);
        let is_there = matches!(self.folder().kind(&name), Ok(Some(FileType::Directory)));
        let put = || {
            let kind = self.folder().make(kind)?;
            if is_there { write_all(&kind, Path::new(key), files) } else { put_folder_anew(&kind, key, files) }
        };
        put().map_err(|source| self.view().failed(&name, source))?;
        Ok(self.path().join(name))
    }

    /// Gives a failure another key. If there is one with that key, it stays, and this one is removed.
    ///
    /// # Errors
    ///
    /// If it cannot be done.
    pub fn rename_failure(&self, key: &str, to: &str) -> Result<(), StateError> {
        let [old, new] = [key, to].map(|key| Path::new(FAILURES).join(key));
        if matches!(self.folder().kind(&new), Ok(Some(FileType::Directory))) {
            return self.remove(old);
        }
        self.folder().rename(&old, new).map_err(|source| self.view().failed(old, source))
    }

    /// Removes a failure that has turned out to be a known one.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn withdraw_failure(&self, key: &str) -> Result<(), StateError> {
        self.remove(Path::new(FAILURES).join(key))
    }
}

/// Writes the files of a folder, one by one.
fn write_all(folder: &Folder, key: &Path, files: &[(&str, Vec<u8>)]) -> io::Result<()> {
    files.iter().try_for_each(|(name, bytes)| folder.write_new(key.join(name), bytes, name.ends_with(".sh")))
}

/// Writes a folder, which gets its name once it is complete.
fn put_folder_anew(folder: &Folder, key: &str, files: &[(&str, Vec<u8>)]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let own = format!(".{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let written = folder
        .make(&own)
        .and_then(|_| write_all(folder, Path::new(&own), files))
        .and_then(|()| folder.rename(&own, key))
        .and_then(|()| folder.sync());
    if written.is_err() {
        let _ = folder.remove(&own);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::place;
    use super::*;

    #[test]
    fn failures_are_replaced_renamed_and_withdrawn() {
        let folder = place("failures");
        let state = State::open(&folder, &[]).expect("a new folder");
        let fail = |key: &str, text: &str| {
            state.fail(key, &[("input", text.into()), ("replay.sh", "#!/bin/sh\n".into())]).expect("a failure");
        };
        let input = |key: &str| state.failure(key, "input").expect("the input");
        fail("one", "[[");
        fail("one", "[");
        assert_eq!(input("one"), b"[");
        #[cfg(unix)]
        assert!(std::process::Command::new(folder.join("failures/one/replay.sh")).status().expect("a run").success());
        fail("two", "{");
        state.rename_failure("one", "three").expect("another key");
        assert_eq!(state.failures().expect("failures"), ["three", "two"]);
        state.rename_failure("three", "two").expect("another key");
        assert_eq!((state.failures().expect("failures"), input("two")), (vec!["two".to_string()], b"{".to_vec()));
        state.withdraw_failure("two").expect("the failure");
        assert_eq!(state.failures().expect("failures"), [""; 0]);
        // Files may be in a folder within that of the failure.
        let files = [("sequence/000", b"a".to_vec()), ("sequence/001", b"b".to_vec())];
        for _ in 0..2 {
            state.fail("four", &files).expect("a failure");
            assert_eq!(state.failure("four", "sequence/001").expect("the file"), b"b");
        }
        state.rename_failure("four", "five").expect("another key");
        assert_eq!(state.failure("five", "sequence/000").expect("the file"), b"a");
        state.withdraw_failure("five").expect("the failure");
        assert_eq!(fs::read_dir(folder.join("failures")).expect("the folder").count(), 0);
        fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn what_did_not_happen_again_is_kept_apart() {
        let folder = place("unconfirmed");
        let state = State::open(&folder, &[]).expect("a new folder");
        assert_eq!(state.unconfirmed().expect("none"), [""; 0]);
        state.forget_unconfirmed("one").expect("nothing");
        state.set_aside("one", &[("input", b"[".to_vec())]).expect("a failure");
        state.set_aside("one", &[("report.json", b"{}".to_vec())]).expect("a file");
        drop(state);
        fs::create_dir(folder.join("unconfirmed/.1.0")).expect("a folder");
        let state = State::open(&folder, &[]).expect("the folder");
        assert_eq!((state.unconfirmed().expect("one"), state.failures().expect("none")), (vec!["one".into()], vec![]));
        assert_eq!(state.unconfirmed_file("one", "input").expect("the input"), b"[");
        state.forget_unconfirmed("one").expect("the failure");
        assert_eq!(state.unconfirmed().expect("none"), [""; 0]);
        fs::remove_dir_all(folder).expect("the folder");
    }
}
