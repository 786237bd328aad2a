//! The tests of strategies share these: small languages, subjects that count something, and a loop over a search.

use gramjet_compiler::SourceFile;
use gramjet_search::{Edge, Measured, Search, Seed, Strategy};
use gramjet_session::{Language, Settings};
pub(crate) use gramjet_testkit::subjects::{BRACKETS, WORDS, count_of, nesting};

use crate::strategies;

/// Returns the language of a grammar in EBNF.
pub(crate) fn language(ebnf: &str) -> Language {
    Language::compile(&SourceFile::new("g.ebnf", ebnf), &Settings::default()).expect("a grammar")
}

/// Returns a strategy by its name.
pub(crate) fn strategy(name: &str, paper: bool) -> Box<dyn Strategy> {
    strategies::by_name(name).expect("a strategy").make(paper)
}

/// Returns a search with a strategy among texts of at most `max_len` bytes.
pub(crate) fn search(ebnf: &str, strategy: Box<dyn Strategy>, max_len: usize, seed: u64) -> Search {
    Search::new(&language(ebnf), strategy, max_len, Seed::new(seed)).expect("texts that are short enough")
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
pub(crate) fn measured(cost: u64, edges: &[Edge]) -> Measured {
    Measured::of(cost, edges.to_vec())
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
