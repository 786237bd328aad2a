//! A folder for objects that are compiled on first use, and kept.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io, process};

use crate::error::Error;

/// A folder for compiled objects.
#[derive(Debug)]
pub(crate) struct Cache(PathBuf);

impl Cache {
    /// Returns a cache in the user's cache folder, or, where nothing can be written there, in that for temporary files.
    pub(crate) fn new() -> Result<Cache, Error> {
        let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
        // SAFETY: a system call without pointers.
        let user = unsafe { libc::geteuid() };
        let temporary = env::temp_dir().join(format!("gramjet-cache-{user}"));
        let usual = base.map(|base| base.join("gramjet"));
        let found = usual.into_iter().chain([temporary.clone()]).find(|folder| is_usable(folder, user));
        let failed =
            || Error::Build(format!("{} cannot be written to, nor can the user's cache folder", temporary.display()));
        found.map(Cache).ok_or_else(failed)
    }

    /// Returns the folder of this name that was made from these facts. `make` fills it if there is none yet.
    pub(crate) fn folder(
        &self,
        name: &str,
        facts: &impl Hash,
        make: impl FnOnce(&Path) -> Result<(), Error>,
    ) -> Result<PathBuf, Error> {
        let folder = self.0.join(format!("{name}-{}", key(facts)));
        if !folder.exists() {
            let own = self.own(name);
            let made = fs::create_dir(&own).map_err(|source| self.failed(source)).and_then(|()| make(&own));
            // Another process may have been first; its result is the same.
            let moved = made.and_then(|()| match fs::rename(&own, &folder) {
                Err(source) if !folder.exists() => Err(self.failed(source)),
                _ => Ok(()),
            });
            let _ = fs::remove_dir_all(&own);
            moved?;
        }
        Ok(folder)
    }

    /// Returns a name that no other process uses.
    pub(crate) fn own(&self, name: &str) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        self.0.join(format!("{name}.{}.{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn failed(&self, source: io::Error) -> Error {
        Error::Build(format!("{} cannot be written to: {source}", self.0.display()))
    }
}

/// Returns true if the folder exists, or can be made, only the user can write to it, and it can be written to.
fn is_usable(folder: &Path, user: libc::uid_t) -> bool {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let Ok(facts) = fs::symlink_metadata(folder) else { return false };
    let is_own = facts.uid() == user && facts.mode() & 0o022 == 0;
    let is_link_of_own = facts.file_type().is_symlink() && facts.uid() == user;
    let Ok(path) = std::ffi::CString::new(folder.as_os_str().as_encoded_bytes()) else { return false };
    // SAFETY: a string that ends in a zero byte.
    made.is_ok() && (is_own || is_link_of_own) && unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) } == 0
}

/// Returns a name for facts; other facts have another one.
pub(crate) fn key(facts: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
