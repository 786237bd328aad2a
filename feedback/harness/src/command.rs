//! A program that is started for each input.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::confine::{self, Confinement, Offered, Permission, Permissions, Rules};
use crate::cores;
use crate::demand::{Demand, Demanded};
use crate::error::Error;
use crate::guard::{Guard, Parts, absolute, find};
use crate::limits::Limits;
use crate::run::{Measures, Outcome, Run, Usage};
use crate::scratch::{Giving, Scratch, unwritten};
use crate::target::Target;

/// The argument that stands for the name of the input's file.
pub const FILE: &str = "@@";
/// Bytes that a program may write to one file: SIGXFSZ ends a program that writes gigabytes.
const FILE_SIZE: u64 = 1 << 30;

/// A program to run, with its arguments and environment.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) path: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) confinement: Confinement,
    pub(crate) permissions: Permissions,
    /// Cores that it may use; all if there are none.
    pub(crate) cores: Vec<usize>,
    pub(crate) limits: Limits,
    pub(crate) times_rounds: bool,
    pub(crate) demanded: Demanded,
    /// The variable that names another file than the input's.
    pub(crate) second: Option<OsString>,
}

impl Program {
    /// Returns a program by its path, or by its name in `PATH`. Where one of the arguments has `@@` in it, the program
    /// gets the name of a file with the input there; else it gets the input as its standard input.
    ///
    /// # Errors
    ///
    /// If there is no such program, or it cannot be executed.
    pub fn new(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Program, Error> {
        Ok(Program {
            path: find(program.as_ref())?,
            arguments: arguments.into_iter().map(Into::into).collect(),
            variables: std::env::vars_os().collect(),
            folder: None,
            confinement: Confinement::default(),
            permissions: Permissions::default(),
            cores: cores::allowed(),
            limits: Limits::default(),
            times_rounds: false,
            demanded: Demanded::default(),
            second: None,
        })
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Program {
        self.limits = limits;
        self
    }

    /// Sets the confinement.
    pub fn confinement(mut self, confinement: Confinement) -> Program {
        self.confinement = confinement;
        self
    }

    /// Lets it do this although it is confined.
    pub fn allow(mut self, permission: Permission) -> Program {
        self.permissions.add(permission);
        self
    }

    /// Binds the program to one core. Without this, the program may use the cores that the calling thread of
    /// [`Program::new`] may use.
    pub fn core(mut self, core: usize) -> Program {
        self.cores = vec![core];
        self
    }

    /// Measures the processor time of each input also where many inputs are taken in one process. That takes two system
    /// calls for each, which is much where an input takes a microsecond; elsewhere processor time is always known.
    pub fn times_rounds(mut self) -> Program {
        self.times_rounds = true;
        self
    }

    /// Counts what the program asks for. A library that is compiled on first use is loaded before all others. A program
    /// that takes many inputs in one process gets them one by one then, and tells nothing of its stack.
    pub fn counts(mut self, demanded: Demanded) -> Program {
        self.demanded = demanded;
        self
    }

    /// Adds an environment variable to those of this process.
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Program {
        let name = name.into();
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.into()));
        self
    }

    /// Gives the program another file beside its input, and its name in an environment variable. [`Command::hand`] says
    /// what it holds. Only a [`Command`] has such a file.
    pub fn second_file(mut self, variable: impl Into<OsString>) -> Program {
        self.second = Some(variable.into());
        self
    }

    /// Sets the folder that it runs in; by default that of this process.
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Program {
        self.folder = Some(absolute(folder.as_ref()));
        self
    }

    /// Returns the path of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the program reads a file, and not its standard input.
    pub fn reads_file(&self) -> bool {
        self.arguments.iter().any(|argument| contains_file(argument))
    }

    /// Removes the arguments that name the file of the input, and nothing else.
    pub(crate) fn without_file(mut self) -> Program {
        self.arguments.retain(|argument| argument != FILE);
        self
    }

    /// Returns a temporary folder for it.
    pub(crate) fn scratch(&self) -> Result<Scratch, Error> {
        let has_rules = self.confinement == Confinement::Confined;
        let is_kept = has_rules && confine::offered() > Offered::Nothing;
        let is_exposed = !is_kept || !self.permissions.writable.is_empty();
        Scratch::new(Giving { by_name: self.reads_file(), has_second: self.second.is_some(), has_rules, is_exposed })
    }

    /// Returns counts of what it asks for, if they were asked for.
    pub(crate) fn demand(&self) -> Result<Option<Demand>, Error> {
        self.demanded.is_any().then(|| Demand::new(&self.path, self.demanded)).transpose()
    }

    /// Returns the parts of a program that a guard starts. It finds its input and its temporary files in `scratch`, and
    /// what it asks for is counted in `demand`.
    pub(crate) fn parts(&self, scratch: &Scratch, demand: Option<&Demand>) -> Result<Parts, Error> {
        let is_confined = self.confinement == Confinement::Confined;
        let input = scratch.input();
        let arguments = self.arguments.iter().map(|argument| with_file(argument, input)).collect();
        let mut variables = self.variables.clone();
        variables.retain(|(name, _)| name != "TMPDIR");
        variables.push(("TMPDIR".into(), scratch.temporary().into()));
        if let Some((name, path)) = self.second.as_ref().zip(scratch.second()) {
            variables.retain(|(known, _)| known != name);
            variables.push((name.clone(), path.into()));
        }
        let stdin = if self.reads_file() { nothing()? } else { scratch.descriptor()? };
        let input = self.reads_file().then(|| scratch.input().to_path_buf());
        let writable = [scratch.temporary()].into_iter().chain(input).collect();
        let folder = self.folder.as_deref();
        let rules = is_confined.then(|| Rules::new(&self.path, &self.permissions, writable, folder)).transpose()?;
        let mut parts = Parts {
            program: self.path.clone(),
            arguments,
            variables,
            folder: self.folder.clone(),
            descriptors: vec![(stdin, 0)],
            rules,
            cores: self.cores.clone(),
            file_size: FILE_SIZE,
        };
        if let Some(demand) = demand {
            demand.add_to(&mut parts)?;
        }
        Ok(parts)
    }
}

fn nothing() -> Result<std::os::fd::OwnedFd, Error> {
    let file = std::fs::File::open("/dev/null");
    file.map(Into::into).map_err(|source| Error::System { what: "/dev/null cannot be opened", source })
}

fn contains_file(argument: &OsStr) -> bool {
    argument.as_encoded_bytes().windows(FILE.len()).any(|part| part == FILE.as_bytes())
}

/// Returns the argument with the file's name for `@@`.
fn with_file(argument: &OsStr, file: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut rest = argument.as_bytes();
    let mut whole = Vec::new();
    while let Some(at) = rest.windows(FILE.len()).position(|part| part == FILE.as_bytes()) {
        whole.extend_from_slice(&rest[..at]);
        whole.extend_from_slice(file.as_os_str().as_bytes());
        rest = &rest[at + FILE.len()..];
    }
    whole.extend_from_slice(rest);
    OsString::from_vec(whole)
}

/// A program that is started for each input, so any program will do.
///
/// The peak of memory that is reported is at least that of this process when the `Command` was made, as a new process
/// begins with this one's memory.
pub struct Command {
    program: Program,
    // Dropped before the folder that its processes may write to.
    guard: Guard,
    scratch: Scratch,
    /// Counts of what it asks for, if they were asked for.
    demand: Option<Demand>,
    /// Content of the other file, for programs that get one.
    second: Vec<u8>,
    is_begun: bool,
}

impl Command {
    /// Prepares the program to be run.
    ///
    /// # Errors
    ///
    /// If the operating system refuses a necessary call.
    pub fn new(program: Program) -> Result<Command, Error> {
        let scratch = program.scratch()?;
        let demand = program.demand()?;
        let guard = guard(&program, &scratch, demand.as_ref())?;
        Ok(Command { program, guard, scratch, demand, second: Vec::new(), is_begun: false })
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns what is known of the usage of a run.
    pub fn measures(&self) -> Measures {
        let Demanded { allocations, stack } = self.program.demanded;
        Measures { cpu: true, peak_memory: true, allocated: allocations, stack }
    }

    /// Says what the other file of the program holds from the next run on ([`Program::second_file`]).
    pub fn hand(&mut self, bytes: &[u8]) {
        self.second.clear();
        self.second.extend_from_slice(bytes);
    }

    /// Begins anew in a folder of its own.
    fn renew(&mut self) -> Result<(), Error> {
        let scratch = self.program.scratch()?;
        self.guard = guard(&self.program, &scratch, self.demand.as_ref())?;
        self.scratch = scratch;
        Ok(())
    }

    /// Lets a guard start the program.
    fn begin(&mut self, input: &[u8]) -> Result<(), Error> {
        if self.scratch.write_both(input, Some(&self.second))? {
            // The program has done something to its files that cannot be undone.
            self.renew()?;
            if self.scratch.write_both(input, Some(&self.second))? {
                return Err(unwritten(io::Error::from(io::ErrorKind::NotFound)));
            }
        }
        self.demand.iter().for_each(|demand| {
            demand.start();
            demand.begin();
        });
        // Without a guard the run is lost, as it is if the guard ends later.
        match self.guard.begin(&self.program.limits) {
            Err(Error::Guard) => Ok(()),
            result => result,
        }
    }
}

fn guard(program: &Program, scratch: &Scratch, demand: Option<&Demand>) -> Result<Guard, Error> {
    Guard::new(program.parts(scratch, demand)?, scratch)
}

impl Target for Command {
    fn start(&mut self, input: &[u8]) -> Result<(), Error> {
        if self.is_begun {
            self.finish()?;
        }
        self.begin(input)?;
        self.is_begun = true;
        Ok(())
    }

    fn finish(&mut self) -> Result<Run<'_>, Error> {
        assert!(std::mem::take(&mut self.is_begun), "a run was begun");
        let ended = self.guard.end_of_run(&self.program.limits);
        self.scratch.tidy();
        let (outcome, usage) = match ended {
            Err(Error::Guard) => {
                self.renew()?;
                (Outcome::Lost, Usage::default())
            }
            result => result?,
        };
        let usage = match &self.demand {
            Some(demand) => {
                if !outcome.is_abnormal() {
                    demand.check()?;
                }
                demand.tell(usage)
            }
            None => usage,
        };
        let [stdout, stderr] = self.guard.captured();
        Ok(Run { outcome, earlier: 0, usage, edges: None, place: None, stdout, stderr })
    }
}
