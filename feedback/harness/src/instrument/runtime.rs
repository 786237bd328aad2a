//! The run time that instrumented programs are linked with: compiled on first use, and kept.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io};

use super::compiler::Compiler;
use super::link_time;
use crate::error::Error;

const COUNTERS: &str = include_str!("../../runtime/counters.c");
const DRIVER: &str = include_str!("../../runtime/driver.c");

/// A folder for what is compiled once.
#[derive(Debug)]
pub(super) struct Cache(PathBuf);

impl Cache {
    /// In the user's cache folder, or, where nothing can be written there, in that for temporary files.
    pub(super) fn new() -> Result<Cache, Error> {
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

    /// What is known of a compiler. It is asked when its file has changed.
    pub(super) fn of_compiler(
        &self,
        program: &Path,
        arguments: &[OsString],
        ask: impl FnOnce() -> Result<String, Error>,
    ) -> Result<String, Error> {
        let failed = |source| Error::Program { program: program.to_path_buf(), source };
        let facts = fs::metadata(program).map_err(failed)?;
        let key = key(&(program, arguments, facts.len(), facts.mtime(), facts.mtime_nsec(), facts.ino()));
        let file = self.0.join(format!("compiler-{key}"));
        if let Ok(known) = fs::read_to_string(&file) {
            return Ok(known);
        }
        let known = ask()?;
        let own = self.own("compiler");
        fs::write(&own, &known).and_then(|()| fs::rename(&own, &file)).map_err(|source| self.failed(source))?;
        Ok(known)
    }

    /// A response file with this text.
    pub(super) fn passing(&self, text: &[u8]) -> Result<Passing, Error> {
        let file = Passing(self.own("arguments"));
        fs::write(&file.0, text).map_err(|source| self.failed(source))?;
        Ok(file)
    }

    /// A name that no other process uses.
    fn own(&self, name: &str) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        self.0.join(format!("{name}.{}.{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Build(format!("{} cannot be written to: {source}", self.0.display()))
    }
}

/// Whether the folder is there, or can be made, is the user's alone to write to, and can be written to.
fn is_usable(folder: &Path, user: libc::uid_t) -> bool {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let Ok(facts) = fs::symlink_metadata(folder) else { return false };
    let is_own = facts.uid() == user && facts.mode() & 0o022 == 0;
    let is_link_of_own = facts.file_type().is_symlink() && facts.uid() == user;
    let Ok(path) = std::ffi::CString::new(folder.as_os_str().as_encoded_bytes()) else { return false };
    // SAFETY: a string that ends in a zero byte.
    made.is_ok() && (is_own || is_link_of_own) && unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) } == 0
}

/// A file that is removed when it has been passed on.
#[derive(Debug)]
pub(super) struct Passing(PathBuf);

impl Passing {
    /// The argument that names it.
    pub(super) fn argument(&self) -> OsString {
        let mut argument = OsString::from("@");
        argument.push(&self.0);
        argument
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The run time, compiled.
#[derive(Debug)]
pub(super) struct Runtime(PathBuf);

impl Runtime {
    /// The run time for programs of this compiler and machine.
    pub(super) fn new(
        compiler: &Compiler,
        machine: &[OsString],
        link_time: bool,
        cache: &Cache,
    ) -> Result<Runtime, Error> {
        let key = key(&(COUNTERS, DRIVER, &compiler.program, &compiler.version, machine, link_time));
        let folder = cache.0.join(format!("runtime-{key}"));
        if !folder.exists() {
            let own = cache.own("runtime");
            let made = make(compiler, machine, link_time, &own);
            // Another process may have been first; what it has made is the same.
            let moved = made.and_then(|()| match fs::rename(&own, &folder) {
                Err(source) if !folder.exists() => Err(cache.failed(source)),
                _ => Ok(()),
            });
            let _ = fs::remove_dir_all(&own);
            moved?;
        }
        Ok(Runtime(folder))
    }

    /// The object that counts and has the fork server.
    pub(super) fn counters(&self) -> PathBuf {
        self.0.join("counters.o")
    }

    /// The object with the main function of libFuzzer harnesses.
    pub(super) fn driver(&self) -> PathBuf {
        self.0.join("driver.o")
    }

    /// The same in a library, `libgramjet_driver.a`.
    pub(super) fn driver_library(&self) -> PathBuf {
        self.0.join(LIBRARY)
    }
}

const LIBRARY: &str = "libgramjet_driver.a";

fn make(compiler: &Compiler, machine: &[OsString], link_time: bool, folder: &Path) -> Result<(), Error> {
    let failed = |source: io::Error| Error::Build(format!("{} cannot be written to: {source}", folder.display()));
    fs::create_dir(folder).map_err(failed)?;
    for (name, source) in [("counters", COUNTERS), ("driver", DRIVER)] {
        let file = folder.join(name).with_extension("c");
        fs::write(&file, source).map_err(failed)?;
        let mut command = compiler.command();
        command.args(["-x", "c", "-std=gnu11", "-O2", "-fPIC", "-w", "-c"]).args(machine);
        if link_time {
            command.args(link_time::FLAGS);
        }
        command.arg(&file).arg("-o").arg(file.with_extension("o")).stdin(Stdio::null());
        let output = command.output().map_err(|source| compiler.failed(source))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let program = compiler.program.display();
            return Err(Error::Build(format!(
                "{program} cannot compile the run time of instrumented programs:\n{said}"
            )));
        }
    }
    let object = fs::read(folder.join("driver.o")).map_err(failed)?;
    fs::write(folder.join(LIBRARY), library("driver.o", &object)).map_err(failed)
}

/// A library of one object, without an index: rustc makes its own.
fn library(name: &str, object: &[u8]) -> Vec<u8> {
    let member = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", format!("{name}/"), 0, 0, 0, 644, object.len());
    let mut library = [b"!<arch>\n", member.as_bytes(), object].concat();
    if library.len() % 2 == 1 {
        library.push(b'\n');
    }
    library
}

fn key(facts: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
