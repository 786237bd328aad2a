//! The failures of a search, each in a folder of its own, and those that did not happen again.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::view::StateError;
use super::{State, write};

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
        let path = self.folder.join(UNCONFIRMED);
        fs::create_dir_all(&path).map_err(|source| StateError::Io { path, source })?;
        self.put_folder(UNCONFIRMED, key, files)
    }

    /// Returns the keys of failures that did not happen again.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn unconfirmed(&self) -> Result<Vec<String>, StateError> {
        if self.folder.join(UNCONFIRMED).is_dir() { self.view().folders(UNCONFIRMED) } else { Ok(Vec::new()) }
    }

    /// Returns a file of a failure that did not happen again.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn unconfirmed_file(&self, key: &str, file: &str) -> Result<Vec<u8>, StateError> {
        let path = self.folder.join(UNCONFIRMED).join(key).join(file);
        fs::read(&path).map_err(|source| StateError::Io { path, source })
    }

    /// Removes a failure that did not happen again, if it is there, as one of its class has happened again.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn forget_unconfirmed(&self, key: &str) -> Result<(), StateError> {
        let path = self.folder.join(UNCONFIRMED).join(key);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StateError::Io { path, source: error }),
            _ => Ok(()),
        }
    }

    fn put_folder(&self, kind: &str, key: &str, files: &[(&str, Vec<u8>)]) -> Result<PathBuf, StateError> {
        let folder = self.folder.join(kind).join(key);
        if !folder.is_dir() {
            return self.put_folder_anew(kind, key, files);
        }
        for (name, bytes) in files {
            let path = folder.join(name);
            let put = || {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                write(&path, bytes)?;
                set_executable(&path)
            };
            put().map_err(|source| StateError::Io { path: path.clone(), source })?;
        }
        Ok(folder)
    }

    /// Gives a failure another key. If there is one with that key, it stays, and this one is removed.
    ///
    /// # Errors
    ///
    /// If it cannot be done.
    pub fn rename_failure(&self, key: &str, to: &str) -> Result<(), StateError> {
        let [old, new] = [key, to].map(|key| self.folder.join(FAILURES).join(key));
        let renamed = if new.is_dir() { fs::remove_dir_all(&old) } else { fs::rename(&old, &new) };
        renamed.map_err(|source| StateError::Io { path: old, source })
    }

    /// Removes a failure that has turned out to be a known one.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn withdraw_failure(&self, key: &str) -> Result<(), StateError> {
        let folder = self.folder.join(FAILURES).join(key);
        fs::remove_dir_all(&folder).map_err(|source| StateError::Io { path: folder, source })
    }

    fn put_folder_anew(&self, kind: &str, key: &str, files: &[(&str, Vec<u8>)]) -> Result<PathBuf, StateError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let failures = self.folder.join(kind);
        let own = failures.join(format!(".{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let folder = failures.join(key);
        let write = || {
            fs::create_dir(&own)?;
            for (name, bytes) in files {
                let path = own.join(name);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                let mut file = File::create(&path)?;
                file.write_all(bytes)?;
                set_executable(&path)?;
                file.sync_all()?;
            }
            fs::rename(&own, &folder)?;
            File::open(&failures)?.sync_all()
        };
        let written = write();
        let _ = fs::remove_dir_all(&own);
        written.map(|()| folder.clone()).map_err(|source| StateError::Io { path: folder, source })
    }
}

/// Lets a script be executed.
fn set_executable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if path.extension().is_some_and(|extension| extension == "sh") {
        return fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755));
    }
    let _ = path;
    Ok(())
}

#[cfg(test)]
mod tests {
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
