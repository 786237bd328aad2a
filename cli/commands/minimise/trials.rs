//! Runs of a command on texts, several at the same time; answers are remembered.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use gramjet::{Choices, Producer as _};
use gramjet_session::Language;

use crate::engine::AnyProducer;
use crate::failure::{Failure, quoted};
#[cfg(unix)]
use crate::system;
use gramjet_campaign::Stop;

/// Ways in which a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself.
    Status(ExitStatus),
    /// Run that took too long.
    Timeout,
    /// Text that was not run, as no choice bytes were found that stand for it under the target's limits.
    Unreachable,
    /// A signal to gramjet was its end.
    Stopped,
}

/// The command, its running instances, and their results.
pub(super) struct Trials<'t> {
    command: &'t [OsString],
    timeout: Duration,
    /// Makes the choice bytes for the command, if it gets these instead of text.
    artefact: Option<Artefact>,
    stop: Stop,
    /// A directory of this process alone, with a file for each command that runs; removed at the end.
    directory: PathBuf,
    /// One for each job.
    running: Vec<Option<Running>>,
    /// By the hash of the text.
    endings: BTreeMap<u64, Ending>,
}

/// The file of a fuzz target that replays choice bytes under limits.
pub(super) struct Artefact {
    pub(super) choices: Vec<u8>,
    /// The text that these choice bytes stand for.
    pub(super) text: Vec<u8>,
    pub(super) language: Language,
    /// Replays as the target does.
    pub(super) producer: AnyProducer,
}

impl Artefact {
    /// Returns choice bytes from which the target makes this text: its own, or those of a derivation that its limits
    /// leave alone.
    fn choices(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        if text == self.text {
            return Some(self.choices.clone());
        }
        // A text may cost too much to parse.
        let choices = self.language.parse(text).ok()?;
        let mut replayed = Vec::new();
        self.producer.produce(&mut Choices::replay(&choices), &mut replayed);
        (replayed == text).then_some(choices)
    }
}

/// A command that runs.
struct Running {
    text: u64,
    child: Child,
    begin: Instant,
}

/// The first and the longest pause between two looks at the running commands.
const PAUSES: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(10)];

impl<'t> Trials<'t> {
    pub(super) fn new(
        command: &'t [OsString],
        timeout: Duration,
        jobs: usize,
        artefact: Option<Artefact>,
        stop: Stop,
    ) -> Result<Trials<'t>, Failure> {
        let directory = new_directory()?;
        let running = std::iter::repeat_with(|| None).take(jobs).collect();
        Ok(Trials { command, timeout, artefact, stop, directory, running, endings: BTreeMap::new() })
    }

    /// Returns true if there is room for another command in addition to the one that the search waits for.
    pub(super) fn has_room_beside(&self) -> bool {
        self.running.len() > 1 && self.running.iter().any(Option::is_none) && !self.stop.is_requested()
    }

    /// Starts the command on a text, unless its ending is known, or it runs. The caller has room for it.
    pub(super) fn start(&mut self, text: &[u8]) -> Result<(), Failure> {
        let (bytes, text) = (text, hash(text));
        let runs = |running: &Option<Running>| running.as_ref().is_some_and(|running| running.text == text);
        if self.endings.contains_key(&text) || self.running.iter().any(runs) || self.stop.is_requested() {
            return Ok(());
        }
        let found = self.artefact.as_mut().map(|artefact| artefact.choices(bytes));
        let bytes = match &found {
            None => bytes,
            Some(Some(choices)) => choices,
            Some(None) => {
                self.endings.insert(text, Ending::Unreachable);
                return Ok(());
            }
        };
        let room = match self.running.iter().position(Option::is_none) {
            Some(room) => room,
            None => {
                // The text that the search waits for has priority over those that run ahead.
                self.end(0);
                0
            }
        };
        let name = format!("input-{room}");
        let mut path = self.directory.join(&name);
        if write_new(&path, bytes).is_err() {
            // A command can do anything to the directory. It is left, and another one made.
            self.directory = new_directory()?;
            path = self.directory.join(&name);
            write_new(&path, bytes).map_err(|error| Failure::writing(&path, error))?;
        }
        let program = &self.command[0];
        let child = spawn(program, &self.command[1..], &path)
            .map_err(|error| Failure::Usage(format!("cannot run {}: {error}", quoted(program))))?;
        self.running[room] = Some(Running { text, child, begin: Instant::now() });
        Ok(())
    }

    /// Returns how the command ends on a text, on which it is started if it was not yet. `tick` is called from time to
    /// time.
    pub(super) fn ending(&mut self, text: &[u8], tick: &mut dyn FnMut()) -> Result<Ending, Failure> {
        self.start(text)?;
        let name = hash(text);
        let mut pause = PAUSES[0];
        loop {
            if self.stop.is_requested() {
                self.drop_all();
                return Ok(Ending::Stopped);
            }
            self.look().map_err(|source| Failure::Read { what: "how the command ended".to_string(), source })?;
            tick();
            if let Some(&ending) = self.endings.get(&name) {
                return Ok(ending);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    /// Records the commands that have ended, and ends those that run too long.
    fn look(&mut self) -> io::Result<()> {
        for place in &mut self.running {
            let Some(running) = place else { continue };
            let ending = match running.child.try_wait()? {
                Some(status) => Ending::Status(status),
                None if running.begin.elapsed() >= self.timeout => {
                    kill(&mut running.child);
                    Ending::Timeout
                }
                None => continue,
            };
            self.endings.insert(running.text, ending);
            *place = None;
        }
        Ok(())
    }

    /// Returns the choice bytes that stand for a text, if the command gets these.
    pub(super) fn choices(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        self.artefact.as_mut()?.choices(text)
    }

    /// Ends all that runs.
    pub(super) fn drop_all(&mut self) {
        (0..self.running.len()).for_each(|place| self.end(place));
    }

    fn end(&mut self, place: usize) {
        if let Some(mut running) = self.running[place].take() {
            kill(&mut running.child);
        }
    }
}

impl Drop for Trials<'_> {
    fn drop(&mut self) {
        self.drop_all();
        // A directory that is left over does no harm.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Returns a directory for the inputs of commands that is new.
fn new_directory() -> Result<PathBuf, Failure> {
    let base = std::env::temp_dir();
    for number in 0u32.. {
        let path = base.join(format!("gramjet-minimise-{}-{number}", std::process::id()));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failure::writing(&path, error)),
        }
    }
    Err(Failure::writing(&base, io::Error::from(io::ErrorKind::AlreadyExists)))
}

/// Writes a file that was not there before. A command can have put a link in its place, which must not be followed.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.parent().is_some_and(Path::is_symlink) {
        return Err(io::Error::other("the command has put a link in the place of its folder"));
    }
    let removed = if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if let Err(error) = removed
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    File::create_new(path)?.write_all(bytes)
}

fn spawn(program: &OsString, arguments: &[OsString], path: &Path) -> io::Result<Child> {
    let mut names_file = false;
    let arguments = arguments.iter().map(|argument| match argument.to_str() {
        Some(text) if text.contains("@@") => {
            names_file = true;
            OsString::from(text.replace("@@", &path.to_string_lossy()))
        }
        _ => argument.clone(),
    });
    let arguments: Vec<OsString> = arguments.collect();
    let stdin = if names_file { Stdio::null() } else { File::open(path)?.into() };
    let mut command = Command::new(program);
    command.args(arguments).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
    // Processes that the command starts end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Ends a command and all processes that it has started.
fn kill(child: &mut Child) {
    // It is not waited for yet, so its group number is still its own.
    #[cfg(unix)]
    system::kill_group(child);
    // It cannot be killed only if it has ended.
    let _ = child.kill();
    let _ = child.wait();
}

fn hash(text: &[u8]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}
