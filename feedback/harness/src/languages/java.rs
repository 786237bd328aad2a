//! Methods of Java, counted by an agent that puts counters into classes when they are loaded.
//!
//! The agent takes the copy of the library ASM that JDKs from 9 to 23 have in themselves, or else `asm.jar` of Debian's
//! package libasm-java.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use super::subject::Subject;
use crate::cache::Cache;
use crate::command::Program;
use crate::error::Error;
use crate::guard::find;

const SOURCES: [(&str, &str); 3] = [
    ("Agent.java", include_str!("../../workers/java/gramjet/Agent.java")),
    ("Channel.java", include_str!("../../workers/java/gramjet/Channel.java")),
    ("Worker.java", include_str!("../../workers/java/gramjet/Worker.java")),
];
/// The package of ASM in a JDK, and elsewhere.
const INNER_ASM: &str = "jdk.internal.org.objectweb.asm";
const ASM: &str = "org.objectweb.asm";
const EXPORTS: &str = "java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED";
/// Path at which Debian has ASM.
const LIBRARY: &str = "/usr/share/java/asm.jar";

/// Returns the virtual machine with its worker.
pub(super) fn program(subject: &Subject, class_path: &str, class: &str, method: &str) -> Result<Program, Error> {
    let java = find(&subject.interpreter_or("java"))?;
    let jar = worker(&java)?;
    let mut arguments = vec![
        format!("-javaagent:{}", jar.display()),
        "--add-exports".into(),
        EXPORTS.into(),
        "-XX:+UseSerialGC".into(),
        // It writes to a file outside the temporary folder.
        "-XX:-UsePerfData".into(),
        // Exceptions that are thrown often would have no frames.
        "-XX:-OmitStackTraceInFastThrow".into(),
        "-XX:ErrorFile=/dev/null".into(),
    ];
    if let Some(memory) = subject.limits.memory {
        // The heap is full sooner than the limit is reached, so garbage is collected before.
        arguments.push(format!("-Xmx{}m", ((memory >> 20) * 3 / 4).max(8)));
    }
    let kind = if subject.takes_text { "text" } else { "bytes" };
    arguments.extend(["-cp", class_path, "gramjet.Worker", class, method, kind].map(String::from));
    Program::new(java, arguments)
}

/// Returns the archive with the worker and its agent.
fn worker(java: &Path) -> Result<PathBuf, Error> {
    let java = fs::canonicalize(java).map_err(|source| Error::Program { program: java.to_path_buf(), source })?;
    let facts = fs::metadata(&java).map_err(|source| Error::Program { program: java.clone(), source })?;
    let facts = (SOURCES, &java, facts.len(), facts.mtime(), facts.ino(), Path::new(LIBRARY).exists());
    let folder = Cache::new()?.folder("java", &facts, |folder| make(&java, folder))?;
    Ok(folder.join("worker.jar"))
}

fn make(java: &Path, folder: &Path) -> Result<(), Error> {
    let mut result = compile(java, folder, false);
    if result.is_err() && Path::new(LIBRARY).exists() {
        result = compile(java, folder, true);
    }
    result
}

/// Compiles the worker with the JDK's ASM, or with the library.
fn compile(java: &Path, folder: &Path, with_library: bool) -> Result<(), Error> {
    let failed = |source: io::Error| Error::Build(format!("{} cannot be written to: {source}", folder.display()));
    let mut javac = Command::new(tool(java, "javac")?);
    javac.args(["-proc:none", "-nowarn", "-d"]).arg(folder.join("classes"));
    let mut manifest = "Premain-Class: gramjet.Agent\n".to_string();
    if with_library {
        javac.args(["-cp", LIBRARY]);
        manifest += &format!("Class-Path: file:{LIBRARY}\n");
    } else {
        javac.args(["--add-exports", EXPORTS]);
    }
    for (name, source) in SOURCES {
        let source = if with_library { source.replace(INNER_ASM, ASM) } else { source.into() };
        let file = folder.join(name);
        fs::write(&file, source).map_err(failed)?;
        javac.arg(file);
    }
    succeed(javac, "the worker for Java cannot be compiled")?;
    fs::write(folder.join("manifest"), manifest).map_err(failed)?;
    let mut jar = Command::new(tool(java, "jar")?);
    jar.arg("--create").arg("--file").arg(folder.join("worker.jar")).arg("--manifest").arg(folder.join("manifest"));
    jar.arg("-C").arg(folder.join("classes")).arg(".");
    succeed(jar, "the worker for Java cannot be packed")
}

/// Returns a program of the JDK that the virtual machine is from, or of another one.
fn tool(java: &Path, name: &str) -> Result<PathBuf, Error> {
    let beside = java.with_file_name(name);
    if beside.exists() { Ok(beside) } else { find(name.as_ref()) }
}

fn succeed(mut command: Command, what: &str) -> Result<(), Error> {
    let program = PathBuf::from(command.get_program());
    let output = command.stdin(Stdio::null()).output().map_err(|source| Error::Program { program, source })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [&*output.stdout, &output.stderr].concat();
    Err(Error::Build(format!("{what}:\n{}", String::from_utf8_lossy(&said).trim())))
}
