//! Measures how many inputs a second a program takes: `rate [--ahead] SECONDS INPUTS PROGRAM [ARGUMENT]...`. The input
//! is the contents of a file, or the inputs are the files of a folder, in the order of their names and then from the
//! first again. `once` in place of SECONDS runs each input once. With `--ahead` the program gets as many inputs at a
//! time as it takes, else one.
//!
//! Prints the outcome of a first execution, which is not measured. At the end, prints executions a second of the clock,
//! and the processor time of the harness itself for each execution.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use gramjet_harness::{Command, ForkServer, Instrumentation, Program, Target, instrumentation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args_os().skip(1).peekable();
    let is_ahead = arguments.next_if(|first| first == "--ahead").is_some();
    let mut argument = |name| arguments.next().ok_or(format!("{name} is missing"));
    let seconds = argument("SECONDS")?;
    let seconds: Option<f64> = if seconds == "once" { None } else { Some(seconds.to_string_lossy().parse()?) };
    let inputs = inputs(Path::new(&argument("INPUTS")?))?;
    let program = Program::new(argument("PROGRAM")?, arguments)?;
    let mut target: Box<dyn Target> = match instrumentation(program.path())? {
        Instrumentation { by: None, .. } => Box::new(Command::new(program)?),
        _ => Box::new(ForkServer::new(program)?),
    };
    let first = inputs.first().ok_or("the folder has no files")?;
    let run = target.run(first)?;
    println!(
        "outcome: {}; edges executed: {:?}",
        run.outcome,
        run.edges.map(|edges| (edges.executed().len(), edges.total()))
    );
    let (begin, before) = (Instant::now(), own_time());
    let (mut started, mut runs) = (0usize, 0u32);
    let room = if is_ahead { target.room() } else { 1 };
    let rounds = if seconds.is_none() { 1 } else { usize::MAX };
    let is_time_left = |_: &&Vec<u8>| seconds.is_none_or(|seconds| begin.elapsed().as_secs_f64() < seconds);
    for input in (0..rounds).flat_map(|_| &inputs).take_while(is_time_left) {
        target.start(input)?;
        started += 1;
        if started == room {
            target.finish()?;
            (started, runs) = (started - 1, runs + 1);
        }
    }
    for _ in 0..started {
        target.finish()?;
        runs += 1;
    }
    let (wall, own) = (begin.elapsed().as_secs_f64(), (own_time() - before).as_secs_f64());
    println!(
        "{:.0} executions a second; {:.1} us of the harness each",
        f64::from(runs) / wall,
        own / f64::from(runs) * 1e6
    );
    Ok(())
}

/// Returns the contents of a file, or of the files in a folder.
fn inputs(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    if !path.is_dir() {
        return Ok(vec![fs::read(path)?]);
    }
    let mut files: Vec<PathBuf> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    files.iter().map(fs::read).collect()
}

/// Returns the processor time of this process, without that of its children.
fn own_time() -> Duration {
    // SAFETY: zeroes are a value of this type, and the pointer is to a live one.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}
