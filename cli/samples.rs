//! The parts of a grammar that samples use: their files are found, parsed and counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gramjet_compiler::Compiled;
use gramjet_compiler::limits::Limits;
use gramjet_compiler::machine::{Machine, Part, Task};
use gramjet_compiler::shape::learn::Counts;
use gramjet_parse::{Budget, Parser};

use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::texts::describe;

/// Returns the files that `paths` name, and those in the folders that they name, by name. In a folder with a failure,
/// only the input is a sample.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            find_in(path, &mut found)?;
        } else if path.as_os_str() == "-" || path.exists() {
            found.push(path.clone());
        } else {
            return Err(Failure::Usage(format!("there is no file or folder {}", shown(path))));
        }
    }
    if found.is_empty() {
        Err(Failure::Usage("there are no samples: the folders have no files".to_string()))
    } else {
        Ok(found)
    }
}

fn find_in(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |source| Failure::Read { what: shown(folder).to_string(), source };
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let (input, script) = (folder.join("input"), folder.join("replay.sh"));
        if is_regular(&input) && is_regular(&script) {
            found.push(input);
            continue;
        }
        let entries = fs::read_dir(&folder).map_err(failed)?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
        paths.retain(|path| !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")));
        paths.sort_unstable();
        let mut inner = Vec::new();
        for path in paths {
            // Links are not followed, so there is an end, and nothing outside is read.
            match fs::symlink_metadata(&path).map(|data| data.file_type()) {
                Ok(kind) if kind.is_dir() => inner.push(path),
                // Choice bytes stand beside their texts.
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|extension| extension == "choices") => {}
                Ok(kind) if kind.is_file() => found.push(path),
                Ok(kind) if kind.is_symlink() => {
                    say!("gramjet: {} (a link, which is not followed) is left alone", shown(&path));
                }
                Ok(_) => say!("gramjet: {} (no regular file) is left alone", shown(&path)),
                Err(error) => say!("gramjet: {} ({error}) is left alone", shown(&path)),
            }
        }
        folders.extend(inner.into_iter().rev());
    }
    Ok(())
}

fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.is_file())
}

/// Way of reading samples.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Budget of the parser for each sample.
    pub budget: Budget,
    /// The number of threads.
    pub jobs: usize,
    /// Whether the first sample that does not conform ends it.
    pub is_strict: bool,
}

/// Facts that were found in samples.
#[derive(Debug)]
pub struct Found {
    /// Counts of what their derivations use.
    pub counts: Counts,
    /// The samples that were parsed, and their bytes.
    pub parsed: (u64, u64),
    /// The samples that were left out.
    pub left_out: u64,
}

/// Messages about samples that are left out, beyond which only their number is said.
const MOST_MESSAGES: usize = 20;

/// Parses and counts samples. Those that cannot be read or do not conform are reported and left out.
pub fn count(compiled: &Compiled, samples: &[PathBuf], reading: &Reading) -> Result<Found, Failure> {
    let shared = Shared {
        parser: Parser::new(&compiled.lowered),
        next: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        problems: Mutex::new(Vec::new()),
    };
    let jobs = reading.jobs.clamp(1, samples.len().max(1));
    let parts: Vec<Found> = std::thread::scope(|scope| {
        let work = || count_some(compiled, samples, reading, &shared);
        let threads: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let own = work();
        // A thread that has panicked has said why.
        std::iter::once(own).chain(threads.into_iter().filter_map(|thread| thread.join().ok())).collect()
    });
    let mut all = Found { counts: Counts::new(&compiled.lowered), parsed: (0, 0), left_out: 0 };
    for part in &parts {
        all.counts.add(&part.counts);
        all.parsed = (all.parsed.0 + part.parsed.0, all.parsed.1 + part.parsed.1);
        all.left_out += part.left_out;
    }
    let mut problems = shared.problems.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    problems.sort_unstable();
    problems.iter().take(MOST_MESSAGES).for_each(|(_, problem)| say!("{problem}"));
    if problems.len() > MOST_MESSAGES {
        say!("gramjet: {} more samples are left out", problems.len() - MOST_MESSAGES);
    }
    match problems.first() {
        Some((sample, _)) if reading.is_strict => {
            Err(Failure::Nonconforming(format!("{} was not parsed", shown(&samples[*sample]))))
        }
        _ => Ok(all),
    }
}

/// Counts texts that are at hand. Those that do not conform are left out.
pub fn count_texts(compiled: &Compiled, texts: &[Vec<u8>]) -> Found {
    let mut found = Found { counts: Counts::new(&compiled.lowered), parsed: (0, 0), left_out: 0 };
    let (parser, mut memory) = (Parser::new(&compiled.lowered), Memory::default());
    for text in texts {
        match parser.parse(text, &Budget::default()) {
            Ok(parsed) => {
                memory.count(compiled, &parsed.choices, &mut found.counts);
                found.parsed = (found.parsed.0 + 1, found.parsed.1 + text.len() as u64);
            }
            Err(_) => found.left_out += 1,
        }
    }
    found
}

/// State that threads share.
struct Shared {
    parser: Parser,
    next: AtomicUsize,
    is_over: AtomicBool,
    /// Reasons why samples are left out, with their numbers.
    problems: Mutex<Vec<(usize, String)>>,
}

/// Counts samples until there are no more.
fn count_some(compiled: &Compiled, samples: &[PathBuf], reading: &Reading, shared: &Shared) -> Found {
    let mut found = Found { counts: Counts::new(&compiled.lowered), parsed: (0, 0), left_out: 0 };
    let mut memory = Memory::default();
    while !shared.is_over.load(Ordering::Relaxed) {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(sample) = samples.get(number) else { break };
        match choices_of(sample, shared, &reading.budget) {
            Ok((choices, len)) => {
                memory.count(compiled, &choices, &mut found.counts);
                found.parsed = (found.parsed.0 + 1, found.parsed.1 + len);
            }
            Err(problem) => {
                found.left_out += 1;
                shared.problems.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, problem));
                shared.is_over.fetch_or(reading.is_strict, Ordering::Relaxed);
            }
        }
    }
    found
}

fn choices_of(sample: &Path, shared: &Shared, budget: &Budget) -> Result<(Vec<u8>, u64), String> {
    let text = files::read_bytes(sample).map_err(|failure| format!("gramjet: {failure}"))?;
    let parsed = shared.parser.parse(&text, budget).map_err(|error| describe(sample, &text, &error))?;
    Ok((parsed.choices, text.len() as u64))
}

/// Memory that is used again for each sample.
#[derive(Default)]
struct Memory {
    output: Vec<u8>,
    tasks: Vec<Task>,
}

impl Memory {
    fn count(&mut self, compiled: &Compiled, choices: &[u8], counts: &mut Counts) {
        self.output.clear();
        let mut bytes = choices.iter().copied();
        let (ir, limits) = (&compiled.lowered, Limits::default());
        let start = Part::Rule(ir.start());
        Machine::new(ir, &compiled.pools, limits, u64::MAX, || bytes.next(), &mut self.output, counts).derive(
            start,
            0,
            &mut self.tasks,
        );
    }
}
