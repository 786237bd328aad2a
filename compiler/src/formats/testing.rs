//! What the tests of the formats and of the checks share.

use std::time::Duration;

use super::Format;
use crate::ast;
use crate::check::check;
use crate::diagnostics::{Diagnostics, SourceFile};

/// The grammar as text, then what was found while it was parsed.
pub(crate) fn parsed(format: &dyn Format, text: &str) -> String {
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = format.parse(&file, &mut diagnostics);
    diagnostics.sort();
    let found = diagnostics.to_plain_text(&file);
    ast::dump(&grammar) + &found + if found.is_empty() { "" } else { "\n" }
}

/// What is found while the text is parsed.
pub(crate) fn errors(format: &dyn Format, text: &str) -> String {
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    format.parse(&file, &mut diagnostics);
    diagnostics.sort();
    diagnostics.to_plain_text(&file) + "\n"
}

/// Parses, checks, renders and dumps; returns whether the grammar is sound, and its dump.
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

/// The processor time of this thread so far, so that what else runs does not matter; nothing where the system does not tell.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    // Behind the name: the 14th and 15th field of all, in hundredths of a second (proc(5)).
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').skip(11).take(2);
    Duration::from_millis(fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10)
}

/// A hostile text must be answered soon, and the answer must hold `expected`. The bound is loose: it is to tell linear
/// from quadratic on any machine.
pub(crate) fn survives(format: &dyn Format, text: &str, expected: &str) {
    let begin = processor_time();
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = format.parse(&file, &mut diagnostics);
    let parsed = processor_time() - begin;
    check(&grammar, None, &mut diagnostics);
    let found = diagnostics.to_plain_text(&file);
    let total = processor_time() - begin;
    println!("{expected:45} {:8} bytes: {parsed:?} parsed, {total:?} in all", text.len());
    assert!(found.contains(expected), "{}", &found[..found.len().min(2000)]);
    assert!(total < Duration::from_secs(20), "{total:?}");
}

/// `count` mutations of the `samples`, the same in every run.
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
