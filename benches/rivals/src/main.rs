//! Other producers for the throughput benchmark, in a process of their own: `gramjet-rivals ENGINE GRAMMAR LIMIT`.
//!
//! Reads commands from standard input and answers each with a line on standard output, after a first line `ready`:
//!
//! - `run BYTES`: makes inputs until they have at least `BYTES` bytes; answers `INPUTS BYTES NANOSECONDS`, of CPU time;
//! - `distinct INPUTS BYTES`: makes at most `INPUTS` inputs and about `BYTES` bytes; answers `INPUTS DISTINCT`.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use gramjet_compiler::{Diagnostics, SourceFile, formats};
use rustix::time::{ClockId, clock_gettime};

use flat::Flat;

#[allow(dead_code)]
#[path = "../../src/textbook/flat.rs"]
mod flat;
mod nautilus;

/// A rival: replaces the buffer's content by the next input.
trait Rival {
    fn next(&mut self, buffer: &mut Vec<u8>);
}

/// Size of a block, as for the engines of the benchmark itself.
const BLOCK_BYTES: usize = 1 << 16;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("gramjet-rivals: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, engine, path, limit] = arguments.as_slice() else { return Err("three arguments are needed".into()) };
    let file = SourceFile::new(path, std::fs::read_to_string(path)?);
    let grammar = formats::detect(&file).parse(&file, &mut Diagnostics::default());
    let flat = Flat::new(&grammar)?;
    let context = match engine.as_str() {
        "nautilus" => nautilus::context(&flat, limit.parse()?)?,
        _ => return Err(format!("unknown engine `{engine}`").into()),
    };
    let mut rival = nautilus::Nautilus::new(&context);
    let mut stdout = std::io::stdout();
    writeln!(stdout, "ready")?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["run", bytes] => {
                let (inputs, bytes, time) = run(&mut rival, bytes.parse()?);
                writeln!(stdout, "{inputs} {bytes} {}", time.as_nanos())?;
            }
            ["distinct", inputs, bytes] => {
                let (inputs, distinct) = distinct(&mut rival, inputs.parse()?, bytes.parse()?);
                writeln!(stdout, "{inputs} {distinct}")?;
            }
            _ => return Err(format!("unknown command `{line}`").into()),
        }
    }
    Ok(())
}

fn run(rival: &mut impl Rival, bytes_target: u64) -> (u64, u64, Duration) {
    let (mut inputs, mut bytes) = (0, 0);
    let mut input = Vec::new();
    let mut block = Vec::with_capacity(2 * BLOCK_BYTES);
    let start = thread_time();
    while bytes < bytes_target {
        block.clear();
        while block.len() < BLOCK_BYTES {
            rival.next(&mut input);
            block.extend_from_slice(&input);
            inputs += 1;
        }
        bytes += block.len() as u64;
    }
    (inputs, bytes, thread_time().saturating_sub(start))
}

fn distinct(rival: &mut impl Rival, inputs: u64, bytes_limit: u64) -> (u64, u64) {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut seen = HashSet::new();
    let (mut made, mut bytes) = (0, 0);
    let mut input = Vec::new();
    while made < inputs && bytes < bytes_limit {
        rival.next(&mut input);
        made += 1;
        bytes += input.len() as u64;
        seen.insert(hasher.hash_one(&input));
    }
    (made, seen.len() as u64)
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock starts at 0 and counts up.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
