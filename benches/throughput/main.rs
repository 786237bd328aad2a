//! `cargo bench`: throughput of every engine on every grammar, paired with the textbook producer.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Parser;
use gramjet_benches::candidate::Sink;
use gramjet_benches::measure::{Effort, measure};
use gramjet_benches::remote;
use gramjet_benches::report::{CSV_HEADING, Cell, csv_rows, date, table_heading, table_rows};

use engines::Subject;

mod engines;

/// Throughput of every engine on every grammar, in MiB of output per second of CPU time.
#[derive(Parser)]
struct Args {
    /// Fewer and shorter runs.
    #[arg(long)]
    quick: bool,
    /// Only cells whose `grammar/depth/sink` has this in it.
    #[arg(long, default_value = "")]
    filter: String,
    /// Only these engines, separated by commas; the textbook producer always runs.
    #[arg(long, value_delimiter = ',')]
    engines: Vec<String>,
    /// Rounds.
    #[arg(long)]
    runs: Option<usize>,
    /// Also writes the results to this file, as CSV.
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Also keeps the results as `record/<arch>/<date>.csv` in the package.
    #[arg(long)]
    record: bool,
    /// Also the rivals of `rivals/`, which are built first (some minutes); in memory only.
    #[arg(long)]
    rivals: bool,
    /// An option that cargo passes.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The measured depth limits, and the one that replaces the last for grammars that grow too fast.
const MAX_DEPTHS: [u32; 3] = [8, 32, 128];
const LAST_FOR_EXPRESSIONS: u32 = 64;

/// Cells with a greater mean length in bytes are left out.
const MAX_MEAN: f64 = (64 << 20) as f64;

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("throughput: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let runs = args.runs.unwrap_or(if args.quick { 3 } else { 9 });
    let (run_time, distinct_inputs) = if args.quick { (20, 2_000) } else { (100, 10_000) };
    let effort = Effort { runs, run_time: Duration::from_millis(run_time), distinct_inputs };
    let mut outputs = csv_files(args)?;
    for output in &mut outputs {
        output.write_all(CSV_HEADING.as_bytes())?;
    }
    let rivals =
        if args.rivals { Some(remote::build(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("rivals"))?) } else { None };
    println!("{}", table_heading());
    for subject in engines::SUBJECTS {
        for (max_depth, mean) in subject.mean_lengths(&depths(subject))? {
            for sink_name in ["memory", "file"] {
                let cell = Cell { grammar: subject.name.to_string(), max_depth, sink: sink_name };
                if !format!("{}/{max_depth}/{sink_name}", cell.grammar).contains(&args.filter) {
                    continue;
                }
                if mean > MAX_MEAN {
                    println!(
                        "{:<11} {max_depth:>5} {sink_name:<6} (left out: {mean:.1e} bytes an input)",
                        cell.grammar
                    );
                    continue;
                }
                let mut candidates = engines::candidates(subject, max_depth);
                if let (Some(program), "memory") = (&rivals, sink_name) {
                    candidates.extend(engines::rivals(subject, max_depth, program));
                }
                let wanted = |name: &str| name == "textbook" || args.engines.iter().any(|wanted| wanted == name);
                candidates.retain(|candidate| args.engines.is_empty() || wanted(candidate.name()));
                let mut scratch = Scratch::new(sink_name)?;
                let rows = measure(candidates, &mut scratch.sink, effort)?;
                print!("{}", table_rows(&cell, &rows));
                io::stdout().flush()?;
                for output in &mut outputs {
                    output.write_all(csv_rows(&cell, &rows, runs).as_bytes())?;
                }
            }
        }
    }
    Ok(())
}

fn depths(subject: &Subject) -> Vec<u32> {
    let mut depths = MAX_DEPTHS.to_vec();
    if subject.name.ends_with("expr") {
        depths[MAX_DEPTHS.len() - 1] = LAST_FOR_EXPRESSIONS;
    }
    depths
}

fn csv_files(args: &Args) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    if let Some(path) = &args.csv {
        files.push(File::create(path)?);
    }
    if args.record {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("record").join(std::env::consts::ARCH);
        fs::create_dir_all(&folder)?;
        files.push(File::create(folder.join(format!("{}.csv", date(SystemTime::now()))))?);
    }
    Ok(files)
}

/// A sink and the file that it leaves.
struct Scratch {
    sink: Sink,
    path: Option<PathBuf>,
}

impl Scratch {
    fn new(name: &str) -> io::Result<Scratch> {
        if name == "memory" {
            return Ok(Scratch { sink: Sink::Memory, path: None });
        }
        let shared_memory = Path::new("/dev/shm");
        let folder = if shared_memory.is_dir() { shared_memory.to_path_buf() } else { std::env::temp_dir() };
        let path = folder.join(format!("gramjet-throughput-{}", std::process::id()));
        Ok(Scratch { sink: Sink::File(File::create(&path)?), path: Some(path) })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // A file that is left over does no harm.
            let _ = fs::remove_file(path);
        }
    }
}
