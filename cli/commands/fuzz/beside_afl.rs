//! An instance of afl-fuzz beside the search, in the folder that they share.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gramjet::{Choices, Producer as _};
use gramjet_session::Language;

use crate::failure::{Failure, say};

/// Name of the instance, and of its folder.
const NAME: &str = "afl";
/// Texts to begin with, if there are no seeds, and at most so many, of at most this many bytes.
const DRAWN: u64 = 16;
const MOST_SEEDS: usize = 1000;
const LONGEST: usize = 1 << 20;
/// An instance that is asked to end may take this long.
const END: Duration = Duration::from_secs(5);
/// Lines of its output that are shown if it ends by itself.
const SHOWN: usize = 6;

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

/// An instance that runs; it ends with this value.
pub(super) struct BesideAfl {
    child: Child,
    /// Temporary folder with its seeds and its output.
    folder: PathBuf,
    has_ended: bool,
}

impl BesideAfl {
    /// Starts afl-fuzz on the program, which [`check`] has found to be built by AFL++.
    pub(super) fn start(orders: &Orders<'_>, language: &Language) -> Result<BesideAfl, Failure> {
        let folder = std::env::temp_dir().join(format!("gramjet-afl-{}", std::process::id()));
        let written = write_seeds(&folder.join("seeds"), orders.seeds, language);
        let log = written.and_then(|()| File::create(folder.join("log")));
        let log = log.and_then(|log| Ok((log.try_clone()?, log)));
        let started = log.and_then(|(stdout, stderr)| {
            let mut command = Command::new("afl-fuzz");
            command.arg("-i").arg(folder.join("seeds")).arg("-o").arg(orders.shared).args(["-S", NAME, "-m", "none"]);
            command.arg("-t").arg(orders.timeout.as_millis().max(1).to_string());
            command.arg("--").args(orders.command);
            command.envs(VARIABLES.map(|name| (name, "1")));
            if std::env::var_os("GRAMJET_GRAMMAR").is_none() {
                command.env("GRAMJET_GRAMMAR", orders.grammar);
            }
            command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn()
        });
        match started {
            Ok(child) => Ok(BesideAfl { child, folder, has_ended: false }),
            Err(error) => {
                let _ = fs::remove_dir_all(&folder);
                Err(Failure::Usage(format!("`--with-afl`: afl-fuzz cannot be started: {error}")))
            }
        }
    }

    /// Says so if it has ended by itself.
    pub(super) fn look(&mut self) {
        if self.has_ended || !matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        self.has_ended = true;
        let said = fs::read(self.folder.join("log")).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        say!("gramjet: afl-fuzz has ended: {}", lines[lines.len().saturating_sub(SHOWN)..].join("\n"));
    }
}

impl Drop for BesideAfl {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // It writes what it knows before it ends.
            interrupt(&self.child);
        }
        let begin = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begin.elapsed() < END {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Checks that AFL++ has built the program.
pub(super) fn check(command: &[std::ffi::OsString]) -> Result<(), Failure> {
    let program = command.first().map(Path::new).unwrap_or(Path::new(""));
    if gramjet_harness::instrumentation(program).is_ok_and(|found| found.is_by_afl()) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "`--with-afl`: `{}` is no program that AFL++ has built: build it with `afl-clang-fast` or its kin",
        program.display()
    )))
}

/// Asks a process to end.
#[expect(unsafe_code, reason = "the standard library sends no signal but SIGKILL")]
fn interrupt(child: &Child) {
    // SAFETY: a system call without pointers. The child was not waited for, so the number is still its own.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
}

/// Writes the texts that it begins with: seeds, or else texts of the language.
fn write_seeds(folder: &Path, seeds: &[Vec<u8>], language: &Language) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let given = seeds.iter().filter(|seed| (1..=LONGEST).contains(&seed.len())).take(MOST_SEEDS).cloned();
    let mut texts: Vec<Vec<u8>> = given.collect();
    if texts.is_empty() {
        let mut producer = language.producer();
        for seed in 0..DRAWN {
            let mut text = Vec::new();
            producer.produce(&mut Choices::random(seed), &mut text);
            texts.push(text);
        }
        texts.retain(|text| (1..=LONGEST).contains(&text.len()));
    }
    for (number, text) in texts.iter().enumerate() {
        fs::write(folder.join(format!("{number:04}")), text)?;
    }
    Ok(())
}
