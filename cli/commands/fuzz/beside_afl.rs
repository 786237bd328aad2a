//! An instance of afl-fuzz beside the search, in the folder that they share.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, PipeReader, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gramjet_session::{Language, Session};

use crate::arguments::node::name_for_afl;
use crate::failure::{Failure, say};
use crate::files::shown;
use crate::system::kill_group;

/// Texts have at most this many bytes if neither the command line nor the grammar says otherwise.
pub const MAX_LEN: u64 = 4096;

/// The program that is started.
const AFL_FUZZ: &str = "afl-fuzz";
/// Instances of afl-fuzz that searches may have in one folder.
const MOST_INSTANCES: u32 = 999;
/// Number of texts to begin with that are drawn if there are no seeds.
const DRAWN: u64 = 16;
/// Greatest number of texts to begin with.
const MOST_SEEDS: usize = 1000;
/// Greatest length in bytes of a text to begin with.
const LONGEST: usize = 1 << 20;
/// An instance that is asked to end may take this long.
const END: Duration = Duration::from_secs(5);
/// The last bytes of its output are kept, and the last lines of these shown if it ends by itself.
const KEPT: usize = 4096;
const SHOWN: usize = 6;
/// Time until it is known what an instance that has ended said last.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Interval between two looks at something that will be there soon.
const SOON: Duration = Duration::from_millis(20);

/// Variables of afl-fuzz that let it run without a terminal, on any core, go on in its folder, and take over texts of
/// others each minute.
const VARIABLES: [&str; 7] = [
    "AFL_NO_UI",
    "AFL_NO_COLOR",
    "AFL_NO_AFFINITY",
    "AFL_SKIP_CPUFREQ",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
    "AFL_AUTORESUME",
    "AFL_SYNC_TIME",
];

/// Facts that afl-fuzz is started with.
pub(super) struct Orders<'a> {
    /// Folder that both share.
    pub(super) shared: &'a Path,
    /// Grammar as the user has named it, for the custom mutator, if the user loads it.
    pub(super) grammar: &'a std::ffi::OsStr,
    /// Words of the program.
    pub(super) command: &'a [std::ffi::OsString],
    /// Limit on a run by the clock.
    pub(super) timeout: Duration,
    /// Texts to begin with.
    pub(super) seeds: &'a [Vec<u8>],
}

/// An instance that runs; it ends with this value, and with this process.
pub(super) struct BesideAfl {
    child: Child,
    /// Last bytes of its output, and the thread that reads them.
    said: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    /// Its folder among those of the searches, and the file that keeps others from it.
    folder: PathBuf,
    lock: File,
    /// The seeds, until it has read them.
    seeds: Option<Seeds>,
    has_ended: bool,
}

impl BesideAfl {
    /// Starts afl-fuzz on the program, which [`check`] has found to be built by AFL++.
    pub(super) fn start(orders: &Orders<'_>, language: &Language) -> Result<BesideAfl, Failure> {
        let failed = |error| Failure::Usage(format!("`--with-afl`: {AFL_FUZZ} cannot be started: {error}"));
        let beside = start(orders, language).map_err(failed)?;
        say!(
            "gramjet: {AFL_FUZZ} searches in {}; it runs the program unconfined, with a limit on time alone",
            shown(&beside.folder)
        );
        Ok(beside)
    }

    /// Removes the seeds as soon as they are read. Says so if it has ended by itself.
    pub(super) fn look(&mut self) {
        if self.has_ended {
            return;
        }
        if self.seeds.is_some() && is_searching(&self.folder, self.child.id()) {
            self.seeds = None;
        }
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        self.has_ended = true;
        self.seeds = None;
        // A process that it has left may still have its output open.
        wait_until(LAST_WORDS, || self.reader.is_finished());
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        say!("gramjet: {AFL_FUZZ} has ended: {}", lines[lines.len().saturating_sub(SHOWN)..].join("\n"));
    }
}

impl Drop for BesideAfl {
    fn drop(&mut self) {
        let child = &mut self.child;
        if matches!(child.try_wait(), Ok(None)) {
            // It writes what it knows before it ends.
            interrupt(child);
        }
        if !wait_until(END, || !matches!(child.try_wait(), Ok(None))) {
            kill_group(child);
            let _ = child.wait();
        }
        // To close it might not be enough: a process that another thread starts at this moment also has it.
        let _ = self.lock.unlock();
    }
}

/// Checks that there is an afl-fuzz, and that AFL++ has built the program.
pub(super) fn check(command: &[std::ffi::OsString]) -> Result<(), Failure> {
    if found(OsStr::new(AFL_FUZZ)).is_none() {
        return Err(Failure::Usage(format!("`--with-afl` needs `{AFL_FUZZ}`, which no folder of `$PATH` has")));
    }
    let program = command.first().map_or(OsStr::new(""), |program| program.as_os_str());
    let file = found(program).unwrap_or_else(|| PathBuf::from(program));
    if gramjet_harness::instrumentation(&file).is_ok_and(|found| found.is_by_afl()) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "`--with-afl`: `{}` is no program that AFL++ has built: build it with `afl-clang-fast` or its kin",
        program.display()
    )))
}

/// Returns the file of a program, which is looked for in `$PATH` if its name is no path.
fn found(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    let is_executable = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(program)).find(is_executable)
}

fn start(orders: &Orders<'_>, language: &Language) -> io::Result<BesideAfl> {
    let (name, lock) = claim(orders.shared)?;
    let seeds = Seeds::write(orders.seeds, language)?;
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(AFL_FUZZ);
    command.arg("-i").arg(&seeds.folder).arg("-o").arg(orders.shared).args(["-S", &name, "-m", "none"]);
    command.arg("-t").arg(orders.timeout.as_millis().max(1).to_string());
    command.arg("--").args(orders.command);
    command.envs(VARIABLES.map(|name| (name, "1")));
    if std::env::var_os("GRAMJET_GRAMMAR").is_none() {
        command.env("GRAMJET_GRAMMAR", orders.grammar);
    }
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    // Signals of the terminal are for the search, which ends it.
    command.process_group(0);
    end_with_this_process(&mut command);
    let said = Arc::default();
    let kept = Arc::clone(&said);
    let thread = thread::Builder::new().name(AFL_FUZZ.to_string());
    let reader = thread.spawn(move || keep_end(reader, &kept))?;
    let child = command.spawn()?;
    let folder = orders.shared.join(name);
    Ok(BesideAfl { child, said, reader, folder, lock, seeds: Some(seeds), has_ended: false })
}

/// Returns the first name of an instance that no other search has now, and the file that keeps others from it. A folder
/// that an instance of `--with-afl` has left is used again, and any other is left alone.
fn claim(shared: &Path) -> io::Result<(String, File)> {
    for name in (1..=MOST_INSTANCES).map(name_for_afl) {
        let path = shared.join(format!(".{name}.lock"));
        match fs::symlink_metadata(shared.join(&name)) {
            Ok(folder) if !folder.is_dir() || fs::symlink_metadata(&path).is_err() => continue,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let lock = options.open(&path)?;
        match lock.try_lock() {
            Ok(()) => return Ok((name, lock)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{MOST_INSTANCES} instances have their folders in `{}`", shared.display())))
}

/// Returns true if the instance with this number of a process has read its seeds: then it writes figures.
fn is_searching(folder: &Path, process: u32) -> bool {
    let figures = fs::read_to_string(folder.join("fuzzer_stats")).unwrap_or_default();
    let mut figures = figures.lines().filter_map(|line| line.split_once(':'));
    figures.any(|(name, value)| name.trim() == "fuzzer_pid" && value.trim().parse() == Ok(process))
}

/// Lets a command be asked to end when the thread that starts it ends, however that happens. Here that is the first
/// thread, which lives as long as the process.
#[expect(unsafe_code, reason = "the standard library has no safe form of it")]
fn end_with_this_process(command: &mut Command) {
    let this = libc::pid_t::try_from(std::process::id());
    let prepare = move || {
        // SAFETY: a system call that takes numbers.
        if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // It may have ended before.
        // SAFETY: a system call without arguments.
        let parent = unsafe { libc::getppid() };
        if this == Ok(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: the function makes two system calls, and allocates nothing.
    unsafe { command.pre_exec(prepare) };
}

/// Asks a process to end.
#[expect(unsafe_code, reason = "the standard library sends no signal but SIGKILL")]
fn interrupt(child: &Child) {
    // SAFETY: a system call without pointers. The child was not waited for, so the number is still its own.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
}

/// Waits until something is so, and at most this long. Returns whether it is.
fn wait_until(most: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !is_so() {
        if begin.elapsed() >= most {
            return false;
        }
        thread::sleep(SOON);
    }
    true
}

/// Reads output to its end, and keeps the last bytes.
fn keep_end(mut output: PipeReader, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; KEPT];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return,
            Ok(len) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&buffer[..len]);
                let surplus = kept.len().saturating_sub(KEPT);
                kept.drain(..surplus);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Texts that afl-fuzz begins with, in a new folder that other users may not read. It is removed with this value.
struct Seeds {
    folder: PathBuf,
}

impl Seeds {
    /// Writes seeds, or else texts of the language, no longer than those of the search.
    fn write(seeds: &[Vec<u8>], language: &Language) -> io::Result<Seeds> {
        let given = seeds.iter().filter(|seed| (1..=LONGEST).contains(&seed.len())).take(MOST_SEEDS).cloned();
        let mut texts: Vec<Vec<u8>> = given.collect();
        if texts.is_empty() {
            texts = drawn(language);
        }
        if texts.is_empty() {
            return Err(io::Error::other("no text is short enough to begin with"));
        }
        let seeds = Seeds { folder: new_folder()? };
        for (number, text) in texts.iter().enumerate() {
            fs::write(seeds.folder.join(format!("{number:04}")), text)?;
        }
        Ok(seeds)
    }
}

impl Drop for Seeds {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns some texts of the language.
fn drawn(language: &Language) -> Vec<Vec<u8>> {
    let most = usize::try_from(language.limits().length().unwrap_or(MAX_LEN)).unwrap_or(LONGEST);
    let mut session = Session::new(language, 0);
    let mut texts = Vec::new();
    for _ in 0..DRAWN {
        let mut text = Vec::new();
        if session.fresh(most.min(LONGEST), &mut text).is_some() && !text.is_empty() {
            texts.push(text);
        }
    }
    texts
}

/// Makes a temporary folder. What is there under its name already is left alone.
fn new_folder() -> io::Result<PathBuf> {
    let base = std::path::absolute(std::env::temp_dir())?;
    let mut number = 0u64;
    loop {
        let path = base.join(format!("gramjet-afl-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}
