//! Runs parts of a test in child processes of this program, some at the same time. So their memory can be measured, and
//! a stack overflow can be distinguished from a failure.
//!
//! The processor time of each part is printed. A part that takes ten minutes of it is ended, because it hangs. The load
//! of other processes does not count.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

/// The environment variable that names the part for the child process.
const PART: &str = "GRAMJET_HOSTILE_PART";

/// The environment variable that restricts the parts to those whose names contain it.
const ONLY: &str = "GRAMJET_HOSTILE_ONLY";

/// The greatest memory that a part may take, in KiB.
const MAX_MEMORY: u64 = 1 << 20;

/// The greatest processor time, in seconds.
const MAX_SECONDS: u32 = 600;

/// Returns the part for this process, if it is a child.
pub fn wanted() -> Option<String> {
    std::env::var(PART).ok()
}

/// Runs the test `child` for each part. It must print results with [`Meter::result`].
///
/// # Panics
///
/// If a part fails or prints no result.
pub fn run<'p>(child: &str, parts: impl IntoIterator<Item = &'p str>) {
    let only = std::env::var(ONLY).unwrap_or_default();
    let parts: Vec<&str> = parts.into_iter().filter(|part| part.contains(&only)).collect();
    assert!(!parts.is_empty(), "no part has `{only}` in its name");
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let failure = failure(child, part);
            failures.lock().expect("nothing panics while it is held").extend(failure);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().expect("nothing panicked while it was held");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs a part and returns the error.
fn failure(child: &str, part: &str) -> Option<String> {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -t {MAX_SECONDS} && exec \"$0\" \"$@\"")]).arg(program);
        shell
    } else {
        Command::new(program)
    };
    let mut process = command
        .args(["--exact", child, "--nocapture"])
        .env(PART, part)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this program can be run");
    let output = collect(process.stdout.take());
    let errors = collect(process.stderr.take());
    let status = process.wait().expect("it is a child of this process");
    let (output, errors) = (output.join().expect("it only reads"), errors.join().expect("it only reads"));
    let results: Vec<&str> = output.lines().filter(|line| line.contains("RESULT")).collect();
    results.iter().for_each(|line| println!("{line}"));
    let errors: Vec<String> = errors.lines().take(8).map(|line| line.chars().take(300).collect()).collect();
    let errors = errors.join("\n");
    match status {
        status if !status.success() => Some(format!("{part}: {status}\n{errors}")),
        _ if results.is_empty() => Some(format!("{part}: no result\n{errors}")),
        _ => None,
    }
}

/// Collects the contents of a pipe until it is closed. Runs beside the process, which so never waits for room in the
/// pipe.
fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // The text read before an error is shown.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Measures the cost of a part from the start of the meter.
pub struct Meter(Duration);

impl Meter {
    /// Starts a meter.
    pub fn start() -> Meter {
        Meter(processor_time())
    }

    /// Prints the outcome of a part and its cost.
    ///
    /// # Panics
    ///
    /// If the cost is too high.
    pub fn result(&self, part: &str, outcome: &str) {
        let (time, memory) = (processor_time() - self.0, peak_memory());
        let outcome: String = outcome.lines().next().unwrap_or("ok").chars().take(100).collect();
        println!("RESULT {part:32} {:6} ms {:5} MiB  {outcome}", time.as_millis(), memory >> 10);
        assert!(memory < MAX_MEMORY, "{part}: {memory} KiB");
    }
}

/// Returns the greatest resident memory of this process so far, in KiB. 0 if the system does not report it.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Returns the processor time of this process so far, which other processes do not affect. The time of day if the
/// system does not report it.
fn processor_time() -> Duration {
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name: the 14th and 15th field of all, in hundredths of a second (proc(5)).
    let fields: Vec<u64> = match stat.rsplit_once(") ") {
        Some((_, fields)) => fields.split(' ').skip(11).take(2).filter_map(|field| field.parse().ok()).collect(),
        None => return now(),
    };
    Duration::from_millis(10 * fields.iter().sum::<u64>())
}
