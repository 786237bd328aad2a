//! The kinds of targets that the attacks run on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::OnceLock;
use std::time::Duration;

use gramjet_harness::{Command, Error, ForkServer, Function, Limits, Outcome, Program, Subject, Target};

use crate::instrument::{compilers, is_there, succeeded, wrapper};
use crate::kit::place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A program that is started for each input, which it reads from standard input.
    Plain,
    /// Likewise, but it reads a file.
    File,
    /// A program with a fork server, which reads standard input.
    Fork,
    /// Likewise, but it reads a file.
    ForkFile,
    /// A libFuzzer harness.
    Persistent,
    /// Likewise, with inputs given ahead.
    Ahead,
    Python,
    Node,
    Java,
}

pub(super) const ALL: &[Kind] = &[
    Kind::Plain,
    Kind::File,
    Kind::Fork,
    Kind::ForkFile,
    Kind::Persistent,
    Kind::Ahead,
    Kind::Python,
    Kind::Node,
    Kind::Java,
];
pub(super) const C: &[Kind] = &[Kind::Plain, Kind::File, Kind::Fork, Kind::ForkFile, Kind::Persistent, Kind::Ahead];
/// Each input has a process of its own.
pub(super) const FRESH: &[Kind] = &[Kind::Plain, Kind::File, Kind::Fork, Kind::ForkFile];
/// Functions of languages.
pub(super) const IN_MEMORY: &[Kind] = &[Kind::Python, Kind::Node, Kind::Java];

/// Facts that were seen of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) outcome: Outcome,
    /// Each executed edge, by its place or its number, with its count.
    pub(super) edges: Vec<(String, u64)>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The programs, compiled.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    folder: PathBuf,
}

/// Returns an interpreter that each user can run.
fn interpreter(name: &str) -> Option<PathBuf> {
    [Path::new("/usr/bin"), Path::new("/usr/local/bin")]
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| path.exists())
}

impl Programs {
    /// Compiles them, once for all tests.
    pub(super) fn get() -> &'static Programs {
        static PROGRAMS: OnceLock<Programs> = OnceLock::new();
        PROGRAMS.get_or_init(Programs::new)
    }

    fn new() -> Programs {
        let folder = place("hostile-programs").join(std::process::id().to_string());
        // Those of processes that have ended are of no use.
        for entry in place("hostile-programs").read_dir().expect("the folder").flatten() {
            if !Path::new("/proc").join(entry.file_name()).exists() {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let source = sources().join("hostile.c");
        // Results of most calls do not matter to an attack.
        let cc = || {
            let mut command = Process::new(std::env::var_os("CC").unwrap_or("cc".into()));
            command.args(["-w", "-O1"]).arg(&source).arg("-o");
            command
        };
        succeeded(cc().arg(folder.join("plain")).arg("-lpthread"));
        succeeded(cc().arg(folder.join("library.so")).args(["-DLIBRARY", "-shared", "-fPIC", "-lpthread"]));
        if let Some(compiler) = compilers().first() {
            let build = |name: &str, more: &[&str]| {
                let mut command = wrapper("cc", compiler, &folder);
                succeeded(command.args(["-w", "-O1", "-o", name]).args(more).arg(&source).arg("-lpthread"));
            };
            build("fork", &[]);
            build("persistent", &["-DHARNESS", "-fsanitize=fuzzer"]);
        }
        if is_there("javac") {
            let source = sources().join("Hostile.java");
            succeeded(Process::new("javac").args(["-nowarn", "-g", "-d"]).arg(&folder).arg(source));
        }
        Programs { folder }
    }

    pub(super) fn at(folder: PathBuf) -> Programs {
        Programs { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns true if what the kind needs is there; it must be where the checks of the whole project run.
    pub(super) fn has(&self, kind: Kind) -> bool {
        let has = match kind {
            Kind::Plain | Kind::File => true,
            Kind::Fork | Kind::ForkFile => self.folder.join("fork").exists(),
            Kind::Persistent | Kind::Ahead => self.folder.join("persistent").exists(),
            Kind::Python => interpreter("python3").is_some(),
            Kind::Node => interpreter("node").is_some(),
            Kind::Java => interpreter("java").is_some() && self.folder.join("Hostile.class").exists(),
        };
        assert!(has || std::env::var_os("GRAMJET_REQUIRE_JUDGES").is_none(), "{kind:?} is not installed");
        has
    }
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/hostile")
}

/// A target of one kind.
pub(super) struct Subjected {
    kind: Kind,
    target: Running,
}

enum Running {
    Any(Box<dyn Target>),
    Function(Box<Function>),
}

impl Kind {
    /// Returns true if one process takes many inputs, so that what an input leaves in it is there for the next.
    pub(super) fn is_one_process(self) -> bool {
        !FRESH.contains(&self)
    }

    /// Returns true if a guard looks after each run.
    pub(super) fn is_plain(self) -> bool {
        matches!(self, Kind::Plain | Kind::File)
    }

    fn is_language(self) -> bool {
        IN_MEMORY.contains(&self)
    }

    pub(super) fn limits(self, time: Duration) -> Limits {
        let memory = if self.is_language() { 1 << 30 } else { 256 << 20 };
        Limits::default().with_time(time).with_memory(Some(memory)).with_processes(40).with_disk(Some(32 << 20))
    }

    /// Returns a target with these variables for its program.
    pub(super) fn target(
        self,
        programs: &Programs,
        time: Duration,
        variables: &[(&'static str, OsString)],
        folder: &Path,
    ) -> Result<Subjected, Error> {
        let limits = self.limits(time);
        let program = |name: &str, arguments: &[&str]| {
            let program = Program::new(programs.folder.join(name), arguments)?.limits(limits).folder(folder);
            Ok::<Program, Error>(variables.iter().fold(program, |program, (name, value)| program.variable(name, value)))
        };
        let function = |specification: String, name: &str| {
            let subject = Subject::new(&specification)?.limits(limits).folder(sources());
            let subject = subject.interpreter(interpreter(name).expect("an interpreter"));
            let subject = variables.iter().fold(subject, |subject, (name, value)| subject.variable(name, value));
            Ok::<Running, Error>(Running::Function(Box::new(Function::new(subject)?)))
        };
        let target = match self {
            Kind::Plain => Running::Any(Box::new(Command::new(program("plain", &[])?)?)),
            Kind::File => Running::Any(Box::new(Command::new(program("plain", &["@@"])?)?)),
            Kind::Fork => Running::Any(Box::new(ForkServer::new(program("fork", &[])?)?)),
            Kind::ForkFile => Running::Any(Box::new(ForkServer::new(program("fork", &["@@"])?)?)),
            Kind::Persistent | Kind::Ahead => Running::Any(Box::new(ForkServer::new(program("persistent", &[])?)?)),
            Kind::Python => function("python:hostile:run".into(), "python3")?,
            Kind::Node => function("node:./hostile.js#run".into(), "node")?,
            Kind::Java => function(format!("java:{}:Hostile#run", programs.folder.display()), "java")?,
        };
        Ok(Subjected { kind: self, target })
    }
}

impl Subjected {
    /// Runs inputs, all of them given together where there is room.
    pub(super) fn run_all(&mut self, inputs: &[&str]) -> Result<Vec<Seen>, Error> {
        if self.kind != Kind::Ahead {
            return inputs.iter().map(|input| self.run(input)).collect();
        }
        let target = self.target();
        inputs.iter().try_for_each(|input| target.start(input.as_bytes()))?;
        // The output is not told apart.
        inputs
            .iter()
            .map(|_| self.finish().map(|seen| Seen { stdout: String::new(), stderr: String::new(), ..seen }))
            .collect()
    }

    pub(super) fn run(&mut self, input: &str) -> Result<Seen, Error> {
        self.target().start(input.as_bytes())?;
        self.finish()
    }

    fn target(&mut self) -> &mut dyn Target {
        match &mut self.target {
            Running::Any(target) => target.as_mut(),
            Running::Function(target) => target.as_mut(),
        }
    }

    fn finish(&mut self) -> Result<Seen, Error> {
        let run = self.target().finish()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (outcome, edges) = (run.outcome, run.edges.cloned().unwrap_or_default());
        let (stdout, stderr) = (text(&run.stdout.bytes), text(&run.stderr.bytes));
        let place = |number| match &self.target {
            // Their edges have numbers in the order in which they were first seen.
            Running::Function(function) => function.place(number).map_or(String::new(), |place| place.to_string()),
            Running::Any(_) => number.to_string(),
        };
        let mut edges: Vec<(String, u64)> =
            edges.executed().iter().map(|edge| (place(edge.number), edge.count)).collect();
        edges.sort();
        Ok(Seen { outcome, edges, stdout, stderr })
    }
}
