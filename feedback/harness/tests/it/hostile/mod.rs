//! Programs that do harm: whatever they do, the next input is run as if nothing had been, no process and no file is
//! left, and nothing else on the machine is touched.
//!
//! Each attack of [`table`] runs on each kind of target where it applies, as the user of the tests and, if that is
//! root, as another one. A process of its own stands for each kind, as an attack may end the harness.

mod child;
mod kinds;
mod long;
mod table;
mod victims;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::chown;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, process, thread};

use child::{JOB, Job, MARK};
use gramjet_harness::{Offered, offered};
use kinds::{ALL, Kind, Programs};

use crate::kit::place;

/// The user that has no rights.
const NOBODY: u32 = 65534;
/// Processes at a time: most of them wait.
const AT_A_TIME: usize = 8;
/// A process that says nothing for so long hangs.
const SILENCE: Duration = Duration::from_secs(120);

/// Not a test, but the process that the tests below start.
#[test]
fn child() {
    if let Ok(job) = env::var(JOB) {
        child::run(&Job::parse(&job));
    }
}

#[test]
#[ignore = "run by ci/test"]
fn hostile_programs_harm_nobody() {
    assert_harmless(None);
}

#[test]
#[ignore = "run by ci/test"]
fn hostile_programs_of_another_user_harm_nobody() {
    if !is_root() {
        println!("not run: attacks as another user, which need root to begin with");
        return;
    }
    assert_harmless(Some(NOBODY));
}

fn is_root() -> bool {
    // SAFETY: a system call without pointers.
    unsafe { libc::geteuid() == 0 }
}

/// Returns true if the kernel offers what the suite is about; says so if not.
fn is_offered() -> bool {
    let is_offered = offered() >= Offered::Signals;
    if !is_offered {
        println!("not run: attacks, as this kernel has no Landlock with scopes (Linux 6.12)");
    }
    is_offered
}

fn assert_harmless(user: Option<u32>) {
    if !is_offered() {
        return;
    }
    let programs = Programs::get();
    let kinds = kinds_asked(programs);
    let mut jobs: Vec<(Kind, usize)> =
        kinds.iter().flat_map(|&kind| (0..SHARDS).map(move |shard| (kind, shard))).collect();
    // Java takes longest.
    jobs.sort_by_key(|(kind, _)| ALL.iter().rev().position(|other| other == kind));
    let run = |&(kind, shard): &(Kind, usize)| attacked(programs, kind, shard, user);
    let found: Vec<Vec<String>> = at_once(&jobs, AT_A_TIME, run);
    let (ok, failed): (Vec<String>, Vec<String>) =
        found.into_iter().flatten().partition(|line| line.starts_with("ok "));
    let milliseconds = |line: &String| line.split(' ').nth(1).and_then(|time| time.parse::<u64>().ok());
    let mut slowest = ok.clone();
    slowest.sort_by_key(milliseconds);
    let slowest: Vec<&str> = slowest.iter().rev().take(SLOWEST).map(|line| &line["ok ".len()..]).collect();
    println!("{} attacks harmed nobody; most milliseconds: {}", ok.len(), slowest.join(", "));
    assert!(failed.is_empty(), "{} attacks succeeded:\n{}", failed.len(), failed.join("\n"));
}

/// Returns the kinds to run: all that are there, or the one of `GRAMJET_TEST_KIND`. `GRAMJET_TEST_ATTACK` is a part of
/// the names of the attacks to run.
fn kinds_asked(programs: &Programs) -> Vec<Kind> {
    let only = env::var("GRAMJET_TEST_KIND").ok();
    let is_asked = |kind: &Kind| only.as_ref().is_none_or(|only| format!("{kind:?}") == *only);
    ALL.iter().copied().filter(is_asked).filter(|&kind| programs.has(kind)).collect()
}

/// Attacks of which the test says how long they took.
const SLOWEST: usize = 24;
/// Parts of the table that run side by side.
const SHARDS: usize = 2;

/// Calls a function for each job, a few at a time.
fn at_once<J: Sync, R: Send>(jobs: &[J], at_a_time: usize, run: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run(job);
                    results.lock().expect("results").push(result);
                }
            });
        }
    });
    results.into_inner().expect("results")
}

/// Returns the attacks on one kind of target: a line each, `ok` or what is wrong.
fn attacked(programs: &Programs, kind: Kind, shard: usize, user: Option<u32>) -> Vec<String> {
    let who = if user.is_some() { "another user" } else { "this user" };
    let mut lines = Vec::new();
    let mut from = 0;
    loop {
        let folder = own_folder(user);
        let job = Job { kind, programs: programs.folder().into(), folder: folder.clone(), shard, shards: SHARDS, from };
        let mut at = None;
        let ended = supervise("hostile::child", &job.text(), &folder, user, |line| {
            if let Some(rest) = line.strip_prefix("begin ") {
                at = rest
                    .split_once(' ')
                    .map(|(number, name)| (number.parse::<usize>().expect("a number"), name.to_string()));
            } else if let Some(rest) = line.strip_prefix("fail ") {
                lines.push(format!("{kind:?}, {who}: {rest}"));
            } else if line.starts_with("ok ") {
                lines.push(line.to_string());
            }
        });
        victims::clear(&folder);
        let Some(how) = ended else { return lines };
        let Some((number, name)) = at else {
            lines.push(format!("{kind:?}, {who}: the harness {how} before the first attack"));
            return lines;
        };
        lines.push(format!("{kind:?}, {who}: {name} the harness {how}"));
        from = number + 1;
    }
}

/// Returns a new folder for a process of this user.
fn own_folder(user: Option<u32>) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let folder = place("hostile").join(format!("{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    victims::clear(&folder);
    for folder in [folder.clone(), folder.join("tmp"), folder.join("home")] {
        fs::create_dir_all(&folder).expect("a folder");
        chown(&folder, user, user).expect("its owner");
    }
    folder
}

/// Runs one of the functions of this program in a process of its own, and reads its lines; how it has failed, if it
/// has.
fn supervise(
    function: &str,
    job: &str,
    folder: &std::path::Path,
    user: Option<u32>,
    mut read: impl FnMut(&str),
) -> Option<String> {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", function, "--nocapture", "--include-ignored", "--test-threads", "1"]);
    command.env(JOB, job).env("TMPDIR", folder.join("tmp")).env("HOME", folder.join("home"));
    command.env("XDG_CACHE_HOME", folder.join("home")).env_remove("GRAMJET_MAP").current_dir(folder);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let log = fs::File::create(folder.join("log")).expect("a file");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().expect("a process");
    let (sender, lines) = mpsc::channel();
    let output = child.stdout.take().expect("its output");
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    let mut has_ended = false;
    loop {
        match lines.recv_timeout(SILENCE) {
            Ok(line) => {
                if let Some((_, line)) = line.split_once(MARK) {
                    has_ended |= line == "end" || line.starts_with("fail setup");
                    read(line);
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let _ = child.kill().and_then(|()| child.wait());
                return Some("hangs".into());
            }
        }
    }
    let status = child.wait().expect("its end");
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let said: String = log.lines().filter(|line| line.contains("panicked") || line.contains("error")).take(3).collect();
    match (has_ended, status.signal()) {
        (true, _) => None,
        (false, Some(signal)) => Some(format!("was ended by signal {signal} {said}")),
        (false, None) => Some(format!("ended with {status} {said}")),
    }
}
