//! The tests of this crate share these: small languages, subjects that count something, and a loop over a search.

use gramjet_compiler::SourceFile;
use gramjet_session::{Language, Settings};
pub(crate) use gramjet_testkit::subjects::{BRACKETS, WORDS, count_of, nesting};

use crate::maxima::Edge;
use crate::random::Seed;
use crate::search::Search;
use crate::strategies::STRATEGIES;
use crate::strategy::{Measured, Strategy};

/// Returns the language of a grammar in EBNF.
pub(crate) fn language(ebnf: &str) -> Language {
    Language::compile(&SourceFile::new("g.ebnf", ebnf), &Settings::default()).expect("a grammar")
}

/// Returns a strategy by its name.
pub(crate) fn strategy(name: &str) -> Box<dyn Strategy> {
    STRATEGIES.iter().find(|kind| kind.name == name).expect("a strategy").make(false)
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

#[test]
fn subjects_count_what_they_say() {
    assert_eq!(nesting(b"(a(b))()"), (2, vec![(0, 2), (1, 1)]));
    assert_eq!(count_of(b'a')(b"abba"), (2, vec![(97, 2), (98, 2)]));
    assert_eq!(measured(3, &[(0, 2), (1, 7)]).hottest, 7);
}

#[test]
fn a_search_at_random_finds_what_is_near() {
    let best = run(&mut search(BRACKETS, strategy("random"), 30, 1), 500, nesting);
    assert!((2..15).contains(&best), "{best}");
}
