//! E3: replay of uniform bytes draws outputs with the probabilities computed from the grammar.
//!
//! Chi-square at a significance of 1e-6 for each grammar, with fixed seeds.

use std::collections::BTreeMap;

use gramjet_compiler::formats::{Format, ebnf::Ebnf};
use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::{Compiled, Diagnostics, Options, SourceFile, compile};
use gramjet_testkit::form::System;
use gramjet_testkit::probability::{Drawing, distribution};
use gramjet_testkit::statistics::{chi_square, chi_square_bound};
use gramjet_testkit::{Rng, Shape, compiled, random_grammar};

const GRAMMARS: [(&str, Limits); 4] = [
    ("s ::= a b | b @ 3 | 'z' @ 0.2\na ::= 'x' | 'y' | 'w'\nb ::= [0-4] | '-' b1\nb1 ::= '9' @ 7 | '88'", NO_LIMITS),
    ("s ::= ('a' | 'b' @ 2){1,3} [#x78#x79#xE9]? t\nt ::= '' | 'c' | 'dd' @ 0.01", NO_LIMITS),
    ("s ::= '(' s ')' s | 'x' | 'y' @ 2", Limits { max_depth: Some(2), max_len: Some(9) }),
    ("s ::= [a-c] s | 'zz' | t @ 5\nt ::= 'q'{2} | [r-t] s", Limits { max_depth: Some(3), max_len: None }),
];

const NO_LIMITS: Limits = Limits { max_depth: None, max_len: None };

fn both(text: &str) -> (Compiled, System) {
    let file = SourceFile::new("g.ebnf", text);
    let (compiled, _) = compile(&file, &Options::default()).expect("a sound grammar");
    (compiled, System::of_grammar(&Ebnf.parse(&file, &mut Diagnostics::default())))
}

fn counts(compiled: &Compiled, limits: Limits, total: u64, seed: u64) -> BTreeMap<Vec<u8>, u64> {
    let mut rng = Rng::new(seed);
    let mut counts = BTreeMap::new();
    for _ in 0..total {
        // Long enough for every derivation here.
        let run = render(&compiled.residual, &compiled.pools, limits, &rng.bytes(80));
        assert!(run.consumed < 80);
        *counts.entry(run.output).or_insert(0) += 1;
    }
    counts
}

/// Returns the statistic divided by its bound. Up to 1, the counts agree with the probabilities.
fn deviation(counts: &BTreeMap<Vec<u8>, u64>, probabilities: &BTreeMap<Vec<u8>, f64>, total: u64) -> f64 {
    assert!(counts.keys().all(|output| probabilities.contains_key(output)), "an output of probability 0");
    let cells =
        probabilities.iter().map(|(output, &probability)| (counts.get(output).copied().unwrap_or(0), probability));
    let (statistic, freedom) = chi_square(cells, total);
    assert!(freedom > 5, "{freedom} degrees of freedom show nothing");
    statistic / chi_square_bound(freedom)
}

#[test]
fn replay_draws_with_the_exact_probabilities() {
    for (number, (text, limits)) in GRAMMARS.into_iter().enumerate() {
        let (compiled, system) = both(text);
        let exact = distribution(&system, &compiled.pools, limits, Drawing::Replay, 0.0);
        let sum: f64 = exact.values().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        const TOTAL: u64 = 20_000;
        let counts = counts(&compiled, limits, TOTAL, number as u64);
        let deviation = deviation(&counts, &exact, TOTAL);
        println!("{} outputs, deviation {deviation:.3}", exact.len());
        assert!(deviation < 1.0, "{text}: {deviation}");
    }
}

/// The test must notice small errors: here the weight 2 is taken for 1.5.
#[test]
fn the_test_notices_wrong_probabilities() {
    let (compiled, _) = both("s ::= ('a' | 'b' @ 2){3}");
    let (wrong, system) = both("s ::= ('a' | 'b' @ 1.5){3}");
    let exact = distribution(&system, &wrong.pools, NO_LIMITS, Drawing::Replay, 0.0);
    assert!(deviation(&counts(&compiled, NO_LIMITS, 20_000, 1), &exact, 20_000) > 1.0);
}

/// Replay differs from the grammar's own probabilities by at most one slot of 256 at each site.
#[test]
fn the_choice_map_is_near_the_exact_probabilities() {
    let mut compared = 0;
    for seed in gramjet_testkit::amount::seeds(0..2000) {
        let grammar = random_grammar(&mut Rng::new(seed), &Shape::FINITE);
        let compiled = compiled(&grammar);
        let system = System::of_grammar(&grammar);
        let replay = distribution(&system, &compiled.pools, NO_LIMITS, Drawing::Replay, 1e-7);
        let exact = distribution(&system, &compiled.pools, NO_LIMITS, Drawing::Exact, 1e-7);
        for (output, probability) in &exact {
            let found = replay.get(output).copied().unwrap_or(0.0);
            assert!((found - probability).abs() < 0.03, "{} {found} {probability}", output.escape_ascii());
        }
        compared += usize::from(exact.len() > 3);
    }
    assert!(compared > gramjet_testkit::amount::part(750) as usize, "{compared}");
}
