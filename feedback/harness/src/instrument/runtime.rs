//! The run time that instrumented programs are linked with: compiled on first use, and kept.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{fs, io};

use super::compiler::Compiler;
use super::link_time;
use crate::cache::Cache;
use crate::error::Error;

const COUNTERS: &str = include_str!("../../runtime/counters.c");
const DRIVER: &str = include_str!("../../runtime/driver.c");
const DEMAND: &str = include_str!("../../runtime/demand.c");
const PAGES: &str = include_str!("../../runtime/pages.ld");

/// A file that is removed when it has been passed on.
#[derive(Debug)]
pub(super) struct Passing(PathBuf);

impl Passing {
    /// Returns a response file with this text.
    pub(super) fn new(cache: &Cache, text: &[u8]) -> Result<Passing, Error> {
        let file = Passing(cache.own("arguments"));
        fs::write(&file.0, text).map_err(|source| cache.failed(source))?;
        Ok(file)
    }

    /// Returns the argument that names it.
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
    /// Returns the run time for programs of this compiler and machine.
    pub(super) fn new(
        compiler: &Compiler,
        machine: &[OsString],
        link_time: bool,
        cache: &Cache,
    ) -> Result<Runtime, Error> {
        let facts = (COUNTERS, DRIVER, PAGES, &compiler.program, &compiler.version, machine, link_time);
        let folder = cache.folder("runtime", &facts, |folder| make(compiler, machine, link_time, folder))?;
        Ok(Runtime(folder))
    }

    /// Returns the object that counts and has the fork server.
    pub(super) fn counters(&self) -> PathBuf {
        self.0.join("counters.o")
    }

    /// Returns the linker script that gives the counters pages of their own.
    pub(super) fn pages(&self) -> PathBuf {
        self.0.join("pages.ld")
    }

    /// Returns the object with the main function of libFuzzer harnesses.
    pub(super) fn driver(&self) -> PathBuf {
        self.0.join("driver.o")
    }

    /// Returns the library `libgramjet_driver.a` with the main function of libFuzzer harnesses.
    pub(super) fn driver_library(&self) -> PathBuf {
        self.0.join(LIBRARY)
    }
}

/// Returns the library that counts what programs ask for.
pub(super) fn demand_library(compiler: &Compiler, cache: &Cache) -> Result<PathBuf, Error> {
    const NAME: &str = "libgramjet_demand.so";
    let folder = cache.folder("demand", &(DEMAND, &compiler.program, &compiler.version), |folder| {
        let file = folder.join("demand.c");
        fs::write(&file, DEMAND).map_err(|source| cache.failed(source))?;
        let mut command = compiler.command();
        command.args([
            "-x",
            "c",
            "-std=gnu11",
            "-O2",
            "-fPIC",
            "-w",
            "-fno-builtin",
            "-fno-stack-protector",
            "-shared",
        ]);
        command.arg(&file).arg("-o").arg(folder.join(NAME)).args(["-ldl", "-lpthread"]);
        compiled(compiler, &mut command, "the library that counts what programs ask for")
    })?;
    Ok(folder.join(NAME))
}

/// Runs the compiler.
fn compiled(compiler: &Compiler, command: &mut std::process::Command, what: &str) -> Result<(), Error> {
    let output = command.stdin(Stdio::null()).output().map_err(|source| compiler.failed(source))?;
    if output.status.success() {
        return Ok(());
    }
    let (said, program) = (String::from_utf8_lossy(&output.stderr), compiler.program.display());
    Err(Error::Build(format!("{program} cannot compile {what}:\n{said}")))
}

const LIBRARY: &str = "libgramjet_driver.a";

fn make(compiler: &Compiler, machine: &[OsString], link_time: bool, folder: &Path) -> Result<(), Error> {
    let failed = |source: io::Error| Error::Build(format!("{} cannot be written to: {source}", folder.display()));
    for (name, source) in [("counters", COUNTERS), ("driver", DRIVER)] {
        let file = folder.join(name).with_extension("c");
        fs::write(&file, source).map_err(failed)?;
        let mut command = compiler.command();
        command.args(["-x", "c", "-std=gnu11", "-O2", "-fPIC", "-w", "-c"]).args(machine);
        if link_time {
            command.args(link_time::FLAGS).arg("-DGRAMJET_IN_PLACE");
        }
        command.arg(&file).arg("-o").arg(file.with_extension("o"));
        compiled(compiler, &mut command, "the run time of instrumented programs")?;
    }
    fs::write(folder.join("pages.ld"), PAGES).map_err(failed)?;
    let object = fs::read(folder.join("driver.o")).map_err(failed)?;
    fs::write(folder.join(LIBRARY), library("driver.o", &object)).map_err(failed)
}

/// Returns a library of one object, without an index: rustc makes its own.
fn library(name: &str, object: &[u8]) -> Vec<u8> {
    let member = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", format!("{name}/"), 0, 0, 0, 644, object.len());
    let mut library = [b"!<arch>\n", member.as_bytes(), object].concat();
    if library.len() % 2 == 1 {
        library.push(b'\n');
    }
    library
}
