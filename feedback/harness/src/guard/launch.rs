//! A program ready to be executed: all that a new process needs, made before there is one.

use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::{io, ptr};

use crate::confine::{Namespaces, Rules, drop_capabilities, drop_groups, install};
use crate::error::Error;

/// File descriptors of the harness have numbers from here on, so that none is in the way of one that a program gets.
const HIGH: RawFd = 400;

/// A program with its arguments, environment and file descriptors.
pub(crate) struct Launch {
    program: CString,
    arguments: Vec<CString>,
    variables: Vec<CString>,
    folder: Option<CString>,
    /// The descriptors of the new process, and their numbers there.
    descriptors: Vec<(OwnedFd, RawFd)>,
    file_size: u64,
    /// Rules of its confinement, if it is confined, and the namespaces that it enters.
    rules: Option<Rules>,
    namespaces: Namespaces,
    /// Whether the filters that the program inherits are in force, if there are any.
    is_filtered: bool,
    cores: Option<libc::cpu_set_t>,
    /// The arrays that `execve` takes; they point into the strings above.
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
}

// SAFETY: the pointers are into the heap blocks of the strings next to them, which nothing changes.
unsafe impl Send for Launch {}

/// The parts of a [`Launch`].
pub(crate) struct Parts {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) descriptors: Vec<(OwnedFd, RawFd)>,
    /// Rules of its confinement, if it is confined.
    pub(crate) rules: Option<Rules>,
    /// The cores of the program; none if it may use those of this thread.
    pub(crate) cores: Vec<usize>,
    pub(crate) file_size: u64,
}

impl Launch {
    pub(crate) fn new(parts: Parts) -> Result<Launch, Error> {
        let text = |text: &OsStr, what| CString::new(text.as_bytes()).map_err(|_| Error::ZeroByte { what });
        let program = text(parts.program.as_os_str(), "the name of the program")?;
        let mut arguments = vec![program.clone()];
        for argument in &parts.arguments {
            arguments.push(text(argument, "an argument of the program")?);
        }
        let mut variables = Vec::new();
        for (name, value) in &parts.variables {
            let mut variable = name.clone().into_vec();
            variable.push(b'=');
            variable.extend_from_slice(value.as_bytes());
            variables.push(CString::new(variable).map_err(|_| Error::ZeroByte { what: "an environment variable" })?);
        }
        let folder = parts.folder.as_deref().map(|folder| text(folder.as_os_str(), "the folder")).transpose()?;
        let mut descriptors = Vec::new();
        for (from, to) in parts.descriptors {
            descriptors.push((raised(from)?, to));
        }
        let array = |strings: &[CString]| {
            strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect::<Vec<*const c_char>>()
        };
        let (argv, envp) = (array(&arguments), array(&variables));
        Ok(Launch {
            program,
            arguments,
            variables,
            folder,
            descriptors,
            file_size: parts.file_size,
            rules: parts.rules.map(raised_rules).transpose()?,
            namespaces: Namespaces::default(),
            is_filtered: true,
            cores: crate::cores::set(&parts.cores),
            argv,
            envp,
        })
    }

    /// Returns the descriptors that the process which launches must keep open.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let rules = self.rules.iter().flat_map(|rules| [&rules.ruleset, &rules.scope]).flatten();
        self.descriptors.iter().map(|(from, _)| from).chain(rules).map(AsRawFd::as_raw_fd)
    }

    /// Prepares the confinement that costs much once, in the guard, which the program inherits. Returns true if signals
    /// of this process now reach none but those that descend from it.
    pub(super) fn confine_guard(&mut self) -> bool {
        let Some(rules) = &mut self.rules else { return false };
        if let Some(plan) = rules.plan.take() {
            self.namespaces = Namespaces::prepare(&plan);
            if self.namespaces.has_mounts() {
                // Its root becomes that of the namespace, so the program's folder has to be entered by its name.
                self.folder = Some(plan.folder);
            }
        }
        // SAFETY: system calls without pointers.
        let is_scoped = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && rules
                    .scope
                    .as_ref()
                    .is_some_and(|scope| libc::syscall(libc::SYS_landlock_restrict_self, scope.as_raw_fd(), 0u32) == 0)
        };
        self.is_filtered = rules.filters.iter().all(install);
        is_scoped
    }

    /// Starts the program; returns its process.
    ///
    /// The new process has this one's memory until it executes the program, so it takes no time to copy page tables;
    /// this one waits for so long.
    pub(super) fn start(&self, stack: &mut Stack) -> io::Result<libc::pid_t> {
        debug_assert_eq!(self.argv.len(), self.arguments.len() + 1);
        debug_assert_eq!(self.envp.len(), self.variables.len() + 1);
        if !self.is_filtered {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        let mut attempt = Attempt { launch: self, errno: 0 };
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the child has a stack of its own, changes no memory but `attempt`, and ends in `execve` or `_exit`.
        let process = unsafe { libc::clone(execute, stack.top(), flags, ptr::from_mut(&mut attempt).cast()) };
        if process < 0 {
            return Err(io::Error::last_os_error());
        }
        if attempt.errno != 0 {
            // SAFETY: it has ended by `_exit`.
            unsafe { libc::waitpid(process, ptr::null_mut(), 0) };
            return Err(io::Error::from_raw_os_error(attempt.errno));
        }
        Ok(process)
    }
}

struct Attempt<'l> {
    launch: &'l Launch,
    errno: c_int,
}

/// The stack of a process until it executes its program.
pub(super) struct Stack(Box<[u128]>);

impl Stack {
    pub(super) fn new() -> Stack {
        Stack(vec![0; 1 << 12].into_boxed_slice())
    }

    fn top(&mut self) -> *mut c_void {
        self.0.as_mut_ptr_range().end.cast()
    }
}

/// Runs in the new process, up to its program.
extern "C" fn execute(attempt: *mut c_void) -> c_int {
    // SAFETY: `Launch::start` gives this pointer, and waits.
    let attempt = unsafe { &mut *attempt.cast::<Attempt<'_>>() };
    // SAFETY: only system calls on data that `Launch` has prepared.
    unsafe {
        attempt.errno = match prepare(attempt.launch) {
            Ok(()) => {
                let launch = attempt.launch;
                libc::execve(launch.program.as_ptr(), launch.argv.as_ptr(), launch.envp.as_ptr());
                *libc::__errno_location()
            }
            Err(()) => *libc::__errno_location(),
        };
        libc::_exit(127)
    }
}

/// # Safety
///
/// Only in the new process.
unsafe fn prepare(launch: &Launch) -> Result<(), ()> {
    let check = |result: c_int| if result < 0 { Err(()) } else { Ok(()) };
    // SAFETY: system calls with pointers to live values.
    unsafe {
        libc::setsid();
        // In a namespace of users they cannot be given up any more.
        if launch.rules.as_ref().is_some_and(|rules| rules.is_root && !rules.keeps_privileges) {
            // Some containers do not allow that; `gramjet confinement` says so.
            drop_groups();
        }
        if !launch.namespaces.enter() {
            return Err(());
        }
        // The guard is its parent; should it be killed, this goes with it.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        for (from, to) in &launch.descriptors {
            check(libc::dup2(from.as_raw_fd(), *to))?;
        }
        if let Some(cores) = &launch.cores {
            // A core that is gone since is no reason not to run.
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), cores);
        }
        let limit = libc::rlimit { rlim_cur: launch.file_size, rlim_max: launch.file_size };
        libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
        if let Some(folder) = &launch.folder {
            check(libc::chdir(folder.as_ptr()))?;
        }
        if let Some(rules) = &launch.rules {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            check(libc::setrlimit(libc::RLIMIT_CORE, &none))?;
            // In a namespace of users every process begins with all capabilities there.
            let has_user = launch.namespaces.has_user();
            if (has_user || !rules.keeps_privileges) && !drop_capabilities() {
                return Err(());
            }
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            if let Some(ruleset) = &rules.ruleset {
                check(libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0u32) as c_int)?;
            }
            if rules.last.as_ref().is_some_and(|filter| !install(filter)) {
                return Err(());
            }
        }
    }
    Ok(())
}

fn raised_rules(mut rules: Rules) -> Result<Rules, Error> {
    rules.ruleset = rules.ruleset.map(raised).transpose()?;
    rules.scope = rules.scope.map(raised).transpose()?;
    Ok(rules)
}

/// Returns the same file under a high number, closed on execution.
pub(super) fn raised(descriptor: OwnedFd) -> Result<OwnedFd, Error> {
    if descriptor.as_raw_fd() >= HIGH {
        return Ok(descriptor);
    }
    // SAFETY: the descriptor is open; the new one has no other owner.
    unsafe {
        let high = libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, HIGH);
        if high < 0 {
            Err(Error::last("a file descriptor cannot be duplicated"))
        } else {
            Ok(OwnedFd::from_raw_fd(high))
        }
    }
}

/// Returns the path at which cargo has put this program if it was built for a named target: `target/TARGET/release/x`
/// for `target/release/x`. `gramjet cargo` builds for a named target.
fn built_for_target(program: &Path) -> Option<PathBuf> {
    let mut folders = program.ancestors().skip(1);
    let target = folders.find(|folder| folder.file_name().is_some_and(|name| name == "target"))?;
    let rest = program.strip_prefix(target).ok()?;
    let for_target = std::fs::read_dir(target).ok()?.flatten().map(|entry| entry.path().join(rest));
    for_target.filter(|path| path.is_file()).min()
}

/// Returns the path of a program: the path itself if it has a slash, else the first file of that name in `PATH` that
/// can be executed.
pub(crate) fn find(program: &OsStr) -> Result<PathBuf, Error> {
    let is_program = |path: &Path| {
        let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
        // SAFETY: a string that ends in a zero byte.
        unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
    };
    let missing = |kind| {
        let source = match kind {
            io::ErrorKind::NotFound => {
                let other = built_for_target(Path::new(program));
                let hint = other.map_or(String::new(), |path| format!("; cargo has built {}", path.display()));
                io::Error::new(kind, format!("there is no such program{hint}"))
            }
            _ => io::Error::from(kind),
        };
        Err(Error::Program { program: PathBuf::from(program), source })
    };
    if program.as_bytes().contains(&b'/') {
        let path = std::path::absolute(program).map_err(|source| Error::Program { program: program.into(), source })?;
        return match () {
            () if !path.exists() => missing(io::ErrorKind::NotFound),
            () if path.is_dir() => missing(io::ErrorKind::IsADirectory),
            () if !is_program(&path) => missing(io::ErrorKind::PermissionDenied),
            () => Ok(path),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file() && is_program(path));
    found.map_or_else(|| missing(io::ErrorKind::NotFound), |path| std::path::absolute(&path).or(Ok(path)))
}
