//! The suite that every engine runs: grammars, choice bytes and what they must produce, in `tests/suite/*.txt`.
//!
//! ```text
//! case two-options
//!   grammar ebnf
//!   | s ::= 'a' | 'b'
//!   run 7F -> "a" 1      ; by hand: 127 * 2 / 256 = 0
//!   run depth=3 len=10 80.FF*2 -> "b" 1
//! ```
//!
//! A line `|* 300 't%'` of a grammar stands for 300 alternatives, each with a bar before it and its number, from 0, for
//! `%`. A run has limits, choice bytes (hexadecimal, `-` for none; `FF*300` repeats, dots separate), the output as a
//! quoted string (`*300` after it repeats) and the number of choice bytes read. A note follows `;`. With
//! `UPDATE_EXPECT=1` the reference's test writes the differences into the file, except where the note begins with `by
//! hand`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gramjet_compiler::reference::Limits;
use gramjet_compiler::{Compiled, Options, SourceFile, compile, formats};

/// A grammar of the suite and its runs.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name, unique in the suite.
    pub name: String,
    /// The grammar's text.
    pub source: SourceFile,
    /// The grammar, compiled.
    pub compiled: Compiled,
    /// The runs.
    pub runs: Vec<Run>,
    file: PathBuf,
}

/// A run and what must come of it.
#[derive(Clone, Debug)]
pub struct Run {
    /// The limits.
    pub limits: Limits,
    /// The choice bytes.
    pub choices: Vec<u8>,
    /// The output and the number of choice bytes read; `None` where they are not filled in yet.
    pub expected: Option<(Vec<u8>, u64)>,
    /// Whether the expectation was computed without the program.
    pub by_hand: bool,
    /// The number of its line, from 0.
    line: usize,
}

/// Runs a case: what comes out for these limits and choice bytes, and how many were read.
pub type Engine<'e> = dyn FnMut(&Case, Limits, &[u8]) -> (Vec<u8>, u64) + 'e;

/// Returns all cases, in the order of the files' names; read and compiled once.
///
/// # Panics
///
/// If a file cannot be read, or a grammar does not compile.
pub fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(read_all)
}

fn read_all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suite");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry of the folder").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let cases: Vec<Case> = files.iter().flat_map(|file| read(file)).collect();
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "two cases have the same name");
    cases
}

/// Runs the suite on an engine.
///
/// # Panics
///
/// If a run differs from its expectation; all that differ are reported.
pub fn run_suite(engine: &mut Engine<'_>) {
    let mut report = String::new();
    let mut runs = 0;
    for case in cases() {
        for run in &case.runs {
            runs += 1;
            let found = engine(case, run.limits, &run.choices);
            if run.expected.as_ref() != Some(&found) {
                let place = format!("{}:{}", case.file.display(), run.line + 1);
                let expected = run.expected.as_ref().map_or("?".into(), |(output, read)| expectation(output, *read));
                let found = expectation(&found.0, found.1);
                let _ = writeln!(report, "{} ({place})\n  expected {expected}\n  found    {found}", case.name);
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
    assert!(runs >= 100, "only {runs} runs were found");
}

/// Writes what an engine finds into the files; leaves runs that were computed by hand. To be done before anything else
/// asks for the [`cases`] and in a process of its own, as they are read once.
///
/// # Panics
///
/// If a file cannot be read or written.
pub fn bless_suite(engine: &mut Engine<'_>) {
    for case in &read_all() {
        let text = std::fs::read_to_string(&case.file).expect("the file was read before");
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        for run in case.runs.iter().filter(|run| !run.by_hand) {
            let (output, read) = engine(case, run.limits, &run.choices);
            let line = &mut lines[run.line];
            let (before, behind) = line.split_once("->").expect("the line was read before");
            let note = behind.rsplit_once(" ; ").map_or(String::new(), |(_, note)| format!(" ; {note}"));
            *line = format!("{}-> {}{note}", before, expectation(&output, read));
        }
        std::fs::write(&case.file, lines.join("\n") + "\n").expect("the file can be written");
    }
}

/// Returns true if the environment asks for [`bless_suite`].
pub fn blessing() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1")
}

fn expectation(output: &[u8], read: u64) -> String {
    if output.len() > 60 && output.iter().all(|&byte| byte == output[0]) {
        return format!("\"{}\"*{} {read}", output[..1].escape_ascii(), output.len());
    }
    format!("\"{}\" {read}", output.escape_ascii())
}

fn read(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut lines = text.lines().enumerate().peekable();
    let mut cases = Vec::new();
    while let Some((number, line)) = lines.next() {
        let place = format!("{}:{}", file.display(), number + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let name = line.strip_prefix("case ").unwrap_or_else(|| panic!("{place}: expected `case`"));
        let (_, head) = lines.next().unwrap_or_default();
        let format = head.trim().strip_prefix("grammar ").unwrap_or_else(|| panic!("{place}: expected `grammar`"));
        let mut grammar = String::new();
        let mut runs = Vec::new();
        while let Some((number, line)) = lines.next_if(|(_, line)| !line.starts_with("case ")) {
            let place = format!("{}:{}", file.display(), number + 1);
            let line = line.trim();
            if let Some(text) = line.strip_prefix("|* ") {
                let (count, text) = text.split_once(' ').unwrap_or_else(|| panic!("{place}: expected a count"));
                let count = count.parse().unwrap_or_else(|error| panic!("{place}: {error}"));
                (0..count)
                    .for_each(|number: usize| grammar += &format!(" | {}\n", text.replace('%', &number.to_string())));
            } else if let Some(text) = line.strip_prefix('|') {
                grammar += text.strip_prefix(' ').unwrap_or(text);
                grammar.push('\n');
            } else if let Some(run) = line.strip_prefix("run ") {
                runs.push(read_run(run, number).unwrap_or_else(|| panic!("{place}: not a run")));
            } else {
                assert!(line.is_empty() || line.starts_with('#'), "{place}: neither a grammar's line nor a run");
            }
        }
        let format = formats::by_name(format).unwrap_or_else(|| panic!("{place}: no such format"));
        let source = SourceFile::new(name, grammar);
        let options = Options { format: Some(format), ..Options::default() };
        let (compiled, _) = compile(&source, &options)
            .unwrap_or_else(|diagnostics| panic!("{place}: {}", diagnostics.to_plain_text(&source)));
        cases.push(Case { name: name.to_string(), source, compiled, runs, file: file.to_path_buf() });
    }
    cases
}

fn read_run(text: &str, line: usize) -> Option<Run> {
    let (asked, expected) = text.split_once("->")?;
    let (expected, note) = expected.rsplit_once(" ; ").unwrap_or((expected, ""));
    let mut limits = Limits::default();
    let mut choices = Vec::new();
    for word in asked.split_whitespace() {
        if let Some(depth) = word.strip_prefix("depth=") {
            limits.max_depth = Some(depth.parse().ok()?);
        } else if let Some(len) = word.strip_prefix("len=") {
            limits.max_len = Some(len.parse().ok()?);
        } else if word != "-" {
            for part in word.split('.') {
                let (part, count) = part.split_once('*').unwrap_or((part, "1"));
                let digits = part.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
                let bytes: Option<Vec<u8>> = digits.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect();
                choices.extend(bytes?.repeat(count.parse().ok()?));
            }
        }
    }
    let expected = match expected.trim() {
        "?" => None,
        expected => {
            let (output, read) = expected.rsplit_once(' ')?;
            let (output, count) = match output.strip_suffix('"') {
                Some(output) => (output, "1"),
                None => output.rsplit_once("\"*")?,
            };
            Some((unescaped(output.strip_prefix('"')?)?.repeat(count.parse().ok()?), read.parse().ok()?))
        }
    };
    Some(Run { limits, choices, expected, by_hand: note.starts_with("by hand"), line })
}

/// Undoes `escape_ascii`.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut output = Vec::new();
    while let Some(byte) = bytes.next() {
        output.push(match byte {
            b'\\' => match bytes.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'x' => {
                    let digits = [bytes.next()?, bytes.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                other => other,
            },
            byte => byte,
        });
    }
    Some(output)
}
