//! Helpers for the tests of the formats and checks.

use std::sync::mpsc;
use std::time::Duration;
use std::{process, thread};

use super::{Format, Loader, Surroundings};
use crate::ast;
use crate::check::check;
use crate::diagnostics::{Diagnostics, SourceFile};

/// Returns the grammar as text, then the findings of the parser.
pub(crate) fn parsed(format: &dyn Format, text: &str) -> String {
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = format.parse(&file, &mut diagnostics);
    diagnostics.sort();
    let found = diagnostics.to_plain_text(&file);
    ast::dump(&grammar) + &found + if found.is_empty() { "" } else { "\n" }
}

/// Files that stand beside a grammar.
struct Files<'f>(&'f [(&'f str, &'f str)]);

impl Loader for Files<'_> {
    fn load(&self, name: &str) -> Result<SourceFile, String> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(name, text)| SourceFile::new(*name, *text)).ok_or("there is none".to_string())
    }
}

/// Parses like [`parsed`], with other files and with the findings of the check. A file called `tokens` is the file of
/// tokens.
pub(crate) fn parsed_with(format: &dyn Format, text: &str, files: &[(&str, &str)]) -> String {
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let tokens = files.iter().map(|(name, _)| *name).find(|name| name.starts_with("tokens"));
    let surroundings = Surroundings { tokens, loader: &Files(files), ..Surroundings::default() };
    let grammar = format.parse_within(&file, &surroundings, &mut diagnostics);
    check(&grammar, None, &mut diagnostics);
    diagnostics.sort();
    let found = diagnostics.to_plain_text(&file);
    ast::dump(&grammar) + &found + if found.is_empty() { "" } else { "\n" }
}

/// Returns the findings of the parser.
pub(crate) fn errors(format: &dyn Format, text: &str) -> String {
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    format.parse(&file, &mut diagnostics);
    diagnostics.sort();
    diagnostics.to_plain_text(&file) + "\n"
}

/// Parses, checks, renders and dumps. Returns whether the grammar is valid, and its dump.
pub(crate) fn everything(format: &dyn Format, text: &str) -> (bool, String) {
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = format.parse(&file, &mut diagnostics);
    let read = !diagnostics.has_errors();
    let checked = check(&grammar, None, &mut diagnostics);
    assert_eq!(checked.is_none(), diagnostics.has_errors());
    diagnostics.sort();
    for diagnostic in diagnostics.iter() {
        let span = diagnostic.span.unwrap_or_default();
        assert!(file.text().get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
    }
    diagnostics.to_plain_text(&file);
    (read, ast::dump(&grammar))
}

/// After this time, code is taken to hang: far longer than any test takes on a slow and busy machine.
const HANG: Duration = Duration::from_secs(600);

/// Ends the tests if `what` hangs, because linear code has become quadratic, or does not end. The limit is long, as
/// machines differ.
pub(crate) fn ends<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (done, watched) = mpsc::channel::<()>();
    let name = what.to_string();
    let watch = thread::spawn(move || {
        if watched.recv_timeout(HANG) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{name}: no end after {HANG:?}");
            process::abort();
        }
    });
    let result = work();
    drop(done);
    watch.join().expect("it only waits");
    result
}

/// Asserts that a hostile text gets an answer that contains `expected`, within the time of [`ends`]. For a long text
/// only linear code can do that.
pub(crate) fn survives(format: &dyn Format, text: &str, expected: &str) {
    let file = SourceFile::new("g", text);
    let found = ends(expected, || {
        let mut diagnostics = Diagnostics::default();
        let grammar = format.parse(&file, &mut diagnostics);
        check(&grammar, None, &mut diagnostics);
        diagnostics.to_plain_text(&file)
    });
    assert!(found.contains(expected), "{}", &found[..found.len().min(2000)]);
}

/// Visits `count` mutations of the `samples`, the same in every run.
pub(crate) fn mutations(samples: &[&str], tokens: &[&str], count: usize, mut visit: impl FnMut(&str)) {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut below = move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % bound.max(1)
    };
    for number in 0..count {
        let mut text: Vec<char> = samples[number % samples.len()].chars().collect();
        for _ in 0..=below(3) {
            let from = below(text.len() + 1);
            let to = (from + below(12)).min(text.len());
            match below(5) {
                0 => drop(text.drain(from..to)),
                1 => drop(text.splice(from..to, tokens[below(tokens.len())].chars())),
                2 => drop(text.splice(from..from, tokens[below(tokens.len())].chars())),
                3 => {
                    let copy = text[from..to].to_vec();
                    let place = below(text.len() + 1);
                    text.splice(place..place, copy);
                }
                _ => text.truncate(text.len() - below(text.len() / 8 + 1)),
            }
        }
        visit(&text.into_iter().collect::<String>());
    }
}
