//! The examples of the README and of the book. The commands of their console blocks are run, and print what the pages
//! say. To renew what they say, run `GRAMJET_BLESS=1 cargo test -p gramjet-cli --test it pages`.
//!
//! A block of a page whose first line is a comment with nothing but the name of a file is this file. Commands are run
//! in a folder that has these files, and the repository's folders `benches` and `grammars`. In what they print:
//!
//! - seconds and rates may differ;
//! - `...` as a line of the page stands for any lines;
//! - in blocks marked `console,varies`, which depend on the compiler, only the words have to be those of the page.
//!
//! Blocks marked `console,built` build a project, which takes long. They are run with the blocks of a shell.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod folders;
#[cfg(target_os = "linux")]
mod kept;
mod layout;
mod manifests;
mod named;
#[cfg(target_os = "linux")]
mod picture;
#[cfg(target_os = "linux")]
mod shell;
mod words;

/// A block of a page.
struct Block<'p> {
    /// The number of its first line of text, from 1.
    line: usize,
    /// Text that it is marked with.
    mark: &'p str,
    text: &'p str,
}

/// Returns the README and the pages of the book, by their paths from the root.
fn pages() -> Vec<String> {
    let names = fs::read_dir(root().join("docs")).expect("the book");
    let names = names.map(|entry| entry.expect("a page").file_name().into_string().expect("a name"));
    let mut pages: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")).collect();
    pages.push("README.md".into());
    pages.sort();
    assert!(pages.len() > 30, "{pages:?}");
    pages
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).expect("a page")
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open, mut begin) = (Vec::new(), None, 0);
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let end = begin + line.len();
        match (line.trim_end().strip_prefix("```"), open) {
            (Some(mark), None) => open = Some((number + 2, mark, end)),
            (Some(_), Some((line, mark, from))) => {
                blocks.push(Block { line, mark, text: &page[from..begin] });
                open = None;
            }
            (None, _) => {}
        }
        begin = end;
    }
    blocks
}

impl<'p> Block<'p> {
    /// Returns true if the block has commands with what they print, and builds no project.
    fn is_console(&self) -> bool {
        ["console", "console,varies"].contains(&self.mark)
    }

    /// Returns the name of the file that the block is.
    fn file(&self) -> Option<&'p str> {
        let first = self.text.lines().next()?;
        let name = ["// ", "# ", "-- "].iter().find_map(|comment| first.strip_prefix(comment))?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte));
        (is_name && Path::new(name).extension().is_some()).then_some(name)
    }

    /// Returns the commands of a console, each with what it prints.
    fn commands(&self) -> Vec<(&'p str, &'p str)> {
        let parts = self.text.strip_prefix("$ ").map_or(Vec::new(), |text| text.split("\n$ ").collect());
        parts.into_iter().map(|part| part.split_once('\n').unwrap_or((part, ""))).collect()
    }
}

/// Runs a command line in `folder`, with the built `gramjet` first in the path; returns what it printed.
fn run(line: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_gramjet")).parent().expect("the binary is in a directory");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {line}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .output()
        .expect("a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns a new folder for the commands of a page, with its files.
fn folder(page: &str, blocks: &[Block<'_>]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages").join(page);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a temporary directory");
    #[cfg(unix)]
    for name in ["benches", "grammars"] {
        std::os::unix::fs::symlink(root().join(name), folder.join(name)).expect("a link");
    }
    for block in blocks {
        if let Some(name) = block.file() {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, block.text).expect("a file of the page");
        }
    }
    folder
}

/// Returns the page with what its commands print.
fn renewed(page: &str, text: &str) -> String {
    let blocks = blocks(text);
    let folder = folder(page, &blocks);
    let mut renewed = text.to_string();
    let mut shift = 0;
    for block in blocks.iter().filter(|block| block.is_console()) {
        let commands = block.commands();
        assert!(!commands.is_empty(), "{page}:{}: a console begins with `$ `", block.line);
        let mut said = String::new();
        for (command, prints) in commands {
            let printed = run(command, &folder);
            let agrees = if block.mark == "console" { agrees(prints, &printed) } else { has_words(prints, &printed) };
            said += &format!("$ {command}\n{}", if agrees { prints } else { &printed });
            if !said.ends_with('\n') {
                said += "\n";
            }
        }
        let begin = block.text.as_ptr() as usize - text.as_ptr() as usize;
        let at = begin.checked_add_signed(shift).expect("a place in the page");
        renewed.replace_range(at..at + block.text.len(), &said);
        shift += said.len() as isize - block.text.len() as isize;
    }
    renewed
}

/// Returns true if a command printed what the page says.
fn agrees(said: &str, printed: &str) -> bool {
    let lines = |text: &str| text.lines().map(without_times).collect::<Vec<_>>();
    let (said, printed) = (lines(said), lines(printed));
    match said.iter().position(|line| line == "...") {
        None => said == printed,
        Some(at) => printed.starts_with(&said[..at]) && printed[at..].ends_with(&said[at + 1..]),
    }
}

/// Returns a line without numbers of seconds, and without rates.
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_unit =
        |word: Option<&&str>| word.is_some_and(|word| ["s", "ms"].contains(&word.trim_end_matches([',', ':'])));
    let same = words.iter().enumerate().map(|(at, word)| {
        let is_time = word.parse::<f64>().is_ok() && is_unit(words.get(at + 1));
        if is_time || word.contains("/s") { "#" } else { word }
    });
    same.collect::<Vec<_>>().join(" ")
}

/// Returns true if the lines that a command printed have the words of those of the page, in any order of lines. A word
/// has three letters or more, and no digits.
fn has_words(said: &str, printed: &str) -> bool {
    let words = |line: &str| {
        let words = line.split(|character: char| !character.is_alphanumeric());
        let is_word = |word: &&str| word.len() > 2 && word.chars().all(char::is_alphabetic);
        words.filter(is_word).collect::<Vec<_>>().join(" ")
    };
    let lines = |text: &str| text.lines().map(words).filter(|line| !line.is_empty()).collect::<BTreeSet<_>>();
    let (known, printed) = (lines(said), lines(printed));
    known == printed || said.lines().any(|line| line == "...") && known.is_subset(&printed)
}

/// Pages whose commands need a program, and its arguments to see if it is there.
const NEEDS: [(&str, &str, &[&str]); 1] = [("docs/refine.md", "python3", &["--version"])];

/// Returns true if the commands of a page can run: those that run programs work on Linux only.
fn can_run(page: &str) -> bool {
    let needs = NEEDS.iter().find(|(needing, ..)| *needing == page);
    (cfg!(target_os = "linux") || page == "README.md")
        && needs.is_none_or(|(_, program, arguments)| gramjet_testkit::tools::has(program, arguments))
}

#[test]
fn console_examples_print_what_they_say() {
    let texts: Vec<(String, String)> = pages().into_iter().map(|page| (page.clone(), read(&page))).collect();
    let has_console = |text: &str| blocks(text).iter().any(Block::is_console);
    let examples: Vec<_> = texts.iter().filter(|(page, text)| has_console(text) && can_run(page)).collect();
    let renewed: Vec<String> = std::thread::scope(|scope| {
        let begun: Vec<_> = examples.iter().map(|(page, text)| scope.spawn(|| renewed(page, text))).collect();
        begun.into_iter().map(|page| page.join().expect("the commands of a page")).collect()
    });
    let mut stale = Vec::new();
    for ((page, said), renewed) in examples.into_iter().zip(renewed) {
        if std::env::var_os("GRAMJET_BLESS").is_some() {
            fs::write(root().join(page), &renewed).expect("the workspace can be written");
        } else if let Some((printed, said)) = renewed.lines().zip(said.lines()).find(|(printed, said)| printed != said)
        {
            stale.push(format!("{page}: printed: {printed}\n{page}: said: {said}"));
        } else if renewed != *said {
            stale.push(format!("{page}: it has more or fewer lines"));
        }
    }
    assert!(
        stale.is_empty(),
        "{}\nrun GRAMJET_BLESS=1 cargo test -p gramjet-cli --test it pages, and read what changed",
        stale.join("\n")
    );
}

#[test]
fn examples_may_differ_in_times_and_where_they_vary_in_all_but_words() {
    assert!(agrees("12 runs in 3 s (4/s)\n", "12 runs in 26 s (58/s)\n"));
    assert!(!agrees("12 runs in 3 s (4/s)\n", "13 runs in 3 s (4/s)\n"));
    assert!(agrees("one\n...\nfour\n", "one\ntwo\nthree\nfour\n"));
    assert!(!agrees("one\n...\nfour\n", "one\n"));
    assert!(!agrees("one\n", "one\ntwo\n"));
    assert!(has_words("is_known, 171 times\n", "is_known, 190 times\n"));
    assert!(has_words("one: a\ntwo\n", "two\none: b\n"));
    assert!(!has_words("one\n", "two\n"));
    assert!(!has_words("one\n", "one\ntwo\n"));
    assert!(has_words("one\n...\n", "one\ntwo\n"));
}
