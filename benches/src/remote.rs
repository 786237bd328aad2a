//! Candidates in another process: the rivals of `rivals/`, a package with its own dependencies and lock file.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::candidate::{Candidate, Distinct, Sink, Stats};

/// The rivals' names.
pub const NAMES: [&str; 1] = ["nautilus"];

/// Builds the rivals and returns the path of their program.
///
/// # Errors
///
/// If the build fails.
pub fn build(target_folder: &Path) -> io::Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(target_folder)
        .status()?;
    if status.success() {
        Ok(target_folder.join("release/gramjet-rivals"))
    } else {
        Err(io::Error::other("the rivals cannot be built"))
    }
}

/// An engine of the rivals' program, which runs as long as this value lives.
#[derive(Debug)]
pub struct Remote {
    name: &'static str,
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Remote {
    /// Starts an engine on a grammar file. It measures its own CPU time.
    ///
    /// # Errors
    ///
    /// If the engine cannot use the grammar or keep the limit.
    pub fn start(program: &Path, name: &'static str, grammar: &Path, max_depth: u32) -> io::Result<Remote> {
        let mut process = Command::new(program)
            .arg(name)
            .arg(grammar)
            .arg(max_depth.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(commands), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let mut remote = Remote { name, process, commands, answers: BufReader::new(answers) };
        match remote.line()?.as_str() {
            "ready" => Ok(remote),
            other => Err(io::Error::other(format!("{name} answers `{other}`"))),
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(io::Error::other(format!("{} has ended", self.name))),
            _ => Ok(line.trim_end().to_string()),
        }
    }

    fn numbers<const N: usize>(&mut self, command: &str) -> io::Result<[u64; N]> {
        writeln!(self.commands, "{command}")?;
        let line = self.line()?;
        let numbers: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
        let numbers = numbers.map_err(io::Error::other)?;
        numbers.try_into().map_err(|_| io::Error::other(format!("{} answers `{line}`", self.name)))
    }
}

impl Candidate for Remote {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, bytes_target: u64, sink: &mut Sink) -> io::Result<Stats> {
        let Sink::Memory = sink else { return Err(io::Error::other("rivals are measured in memory only")) };
        let [inputs, bytes, nanoseconds] = self.numbers(&format!("run {bytes_target}"))?;
        Ok(Stats { inputs, bytes, choices: None, time: Duration::from_nanos(nanoseconds) })
    }

    fn distinct(&mut self, inputs: u64, bytes_limit: u64) -> io::Result<Distinct> {
        let [inputs, distinct] = self.numbers(&format!("distinct {inputs} {bytes_limit}"))?;
        Ok(Distinct { inputs, distinct })
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // Errors mean that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
