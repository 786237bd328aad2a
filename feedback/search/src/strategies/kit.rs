//! The tests of strategies share these: small languages, subjects that count something, and a loop over a search.

use gramjet_compiler::SourceFile;
use gramjet_session::{Language, Settings};

use crate::maxima::Edge;
use crate::search::Search;
use crate::strategies;
use crate::strategy::{Measured, Strategy};

/// Brackets that nest, with letters between them.
pub(crate) const BRACKETS: &str = "s ::= '' | '(' s ')' s | [a-d] s";

/// Words of letters with spaces between them.
pub(crate) const WORDS: &str = "s ::= w (' ' w)*  w ::= [a-z]+";

/// Returns the language of a grammar in EBNF.
pub(crate) fn language(ebnf: &str) -> Language {
    Language::compile(&SourceFile::new("g.ebnf", ebnf), &Settings::default()).expect("a grammar")
}

/// Returns a strategy by its name.
pub(crate) fn strategy(name: &str, paper: bool) -> Box<dyn Strategy> {
    strategies::by_name(name, paper).expect("a strategy")
}

/// Returns a search with a strategy among texts of at most `max_len` bytes.
pub(crate) fn search(ebnf: &str, strategy: Box<dyn Strategy>, max_len: usize, seed: u64) -> Search {
    Search::new(&language(ebnf), strategy, max_len, seed).expect("texts that are short enough")
}

/// Runs a subject on this many proposed texts; returns the greatest cost so far.
pub(crate) fn run(search: &mut Search, runs: u64, subject: impl Fn(&[u8]) -> (u64, Vec<Edge>)) -> u64 {
    for _ in 0..runs {
        let (cost, edges) = subject(&search.propose().text);
        search.observe(&measured(cost, &edges));
    }
    search.best().map_or(0, |best| best.cost)
}

/// Returns the measurements of a run that ended by itself.
pub(crate) fn measured(cost: u64, edges: &[Edge]) -> Measured<'_> {
    let hottest = edges.iter().map(|edge| edge.1).max().unwrap_or(0);
    Measured { cost, hottest, edges, ..Measured::default() }
}

/// Returns the greatest cost that a strategy reaches in this many runs, with its published constants or not.
pub(crate) fn best_of(
    (name, paper): (&str, bool),
    (ebnf, max_len): (&str, usize),
    (seed, runs): (u64, u64),
    subject: impl Fn(&[u8]) -> (u64, Vec<Edge>),
) -> u64 {
    run(&mut search(ebnf, strategy(name, paper), max_len, seed), runs, subject)
}

/// Returns the sum of what [`best_of`] reaches with each of the seeds 1 to 5, among texts of at most 30 bytes.
pub(crate) fn best_of_five(
    (name, paper): (&str, bool),
    ebnf: &str,
    runs: u64,
    subject: impl Fn(&[u8]) -> (u64, Vec<Edge>),
) -> u64 {
    (1..=5).map(|seed| best_of((name, paper), (ebnf, 30), (seed, runs), &subject)).sum()
}

/// Returns a subject that costs as much as brackets nest. Each level is an edge, executed once for each bracket that
/// opens it.
pub(crate) fn nesting(text: &[u8]) -> (u64, Vec<Edge>) {
    let (mut levels, mut depth) = (Vec::new(), 0usize);
    for byte in text {
        match byte {
            b'(' => {
                if depth == levels.len() {
                    levels.push(0);
                }
                levels[depth] += 1;
                depth += 1;
            }
            b')' => depth -= 1,
            _ => {}
        }
    }
    (levels.len() as u64, (0..).zip(levels).collect())
}

/// Returns a subject that costs as much as a byte is often in the text. Each byte value is an edge.
pub(crate) fn count_of(wanted: u8) -> impl Fn(&[u8]) -> (u64, Vec<Edge>) {
    move |text| {
        let mut counts = [0; 256];
        for &byte in text {
            counts[usize::from(byte)] += 1;
        }
        let edges = (0..).zip(counts).filter(|edge| edge.1 > 0).collect();
        (counts[usize::from(wanted)], edges)
    }
}

#[test]
fn subjects_count_what_they_say() {
    assert_eq!(nesting(b"(a(b))()"), (2, vec![(0, 2), (1, 1)]));
    assert_eq!(count_of(b'a')(b"abba"), (2, vec![(97, 2), (98, 2)]));
    assert_eq!(measured(3, &[(0, 2), (1, 7)]).hottest, 7);
}

#[test]
fn a_search_at_random_finds_what_is_near() {
    let best = best_of(("random", false), (BRACKETS, 30), (1, 500), nesting);
    assert!((2..15).contains(&best), "{best}");
}
