//! Tests of the textbook producer on a grammar small enough to list.

use std::collections::BTreeSet;

use gramjet_compiler::{Diagnostics, SourceFile, formats};

use super::emit::option_slots;
use super::flat::Flat;
use super::mean::mean_lengths;
use super::pools::{MAX_STRINGS, pools};
use crate::textbook_runtime::Session;

include!(concat!(env!("OUT_DIR"), "/small.rs"));

const SMALL: &str = include_str!("small.ebnf");

fn flat(text: &str) -> Flat {
    let file = SourceFile::new("test.ebnf", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = formats::detect(&file).parse(&file, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{}", diagnostics.to_plain_text(&file));
    Flat::new(&grammar).unwrap()
}

fn outputs(max_depth: u32, count: usize) -> Vec<String> {
    let mut session = Session::new(7);
    let mut buffer = Vec::new();
    let make = |_| {
        buffer.clear();
        small::produce(&mut session, max_depth, &mut buffer);
        std::str::from_utf8(&buffer).unwrap().to_string()
    };
    (0..count).map(make).collect()
}

/// Returns the sentences of the small grammar with at most one round of `item` after the pair.
fn sentences(with_round: bool) -> BTreeSet<String> {
    let mut sentences = BTreeSet::new();
    for word in ["yes", "no"] {
        for digits in 0..100 {
            for tail in ["", ".", ".."] {
                let head = format!("{word}={digits:02}{tail}");
                if with_round {
                    sentences.extend(["<a>", "<é>", "<b>"].map(|item| format!("{head};{item}")));
                } else {
                    sentences.insert(head);
                }
            }
        }
    }
    sentences
}

#[test]
fn outputs_are_the_language_and_no_alternative_is_lost() {
    let outputs = outputs(8, 300_000);
    let language: BTreeSet<String> = sentences(false).union(&sentences(true)).cloned().collect();
    let seen: BTreeSet<String> = outputs.iter().filter(|output| output.matches(';').count() < 2).cloned().collect();
    assert_eq!(seen, language);
    assert!(outputs.iter().all(|output| !output.contains("never")));
    let share = |count: usize| count as f64 / outputs.len() as f64;
    let yes = outputs.iter().filter(|output| output.starts_with("yes")).count();
    // The weights are 3 to 1; the share's standard deviation is below 0.0008.
    assert!((share(yes) - 0.75).abs() < 0.005, "{}", share(yes));
}

#[test]
fn mean_lengths_are_those_of_outputs() {
    for max_depth in [0, 1, 8] {
        let outputs = outputs(max_depth, 100_000);
        let measured = outputs.iter().map(String::len).sum::<usize>() as f64 / outputs.len() as f64;
        let exact = mean_lengths(&flat(SMALL), &[max_depth])[0];
        assert!((measured - exact).abs() < 0.05, "{max_depth}: {measured} is not {exact}");
    }
}

#[test]
fn beyond_the_limit_rules_are_strings_of_their_pools() {
    let allowed = sentences(false);
    assert!(outputs(0, 10_000).iter().all(|output| {
        output.split(';').all(|part| allowed.contains(part) || ["<a>", "<é>", "<b>"].contains(&part))
    }));
}

#[test]
fn pools_are_complete_or_an_even_sample() {
    let flat = flat("s ::= d '.' e\nd ::= 'x' d | [0-9]\ne ::= [a-z] [a-z] [a-z] [a-z] [a-z] [a-z] [a-z] [a-z]\n");
    let pools = pools(&flat);
    let of = |name: &str| &pools[flat.rules.iter().position(|rule| rule.counted && rule.name == name).unwrap()];
    let digits: Vec<Vec<u8>> = (b'0'..=b'9').map(|digit| vec![digit]).collect();
    assert_eq!(*of("d"), digits);
    assert_eq!(of("e").len(), MAX_STRINGS);
    for place in 0..8 {
        let letters: BTreeSet<u8> = of("e").iter().map(|string| string[place]).collect();
        assert!(letters.len() > 20, "place {place} has only {letters:?}");
    }
}

#[test]
fn slots_are_shared_as_the_weights_say() {
    assert_eq!(option_slots(3, None), [86, 85, 85]);
    assert_eq!(option_slots(257, None).iter().sum::<u32>(), 65536);
    assert_eq!(option_slots(2, Some(&[3.0, 1.0])), [192, 64]);
    assert_eq!(option_slots(2, Some(&[1e9, 1.0])), [255, 1]);
    let many = vec![1.0; 300];
    assert_eq!(option_slots(300, Some(&many)).iter().sum::<u32>(), 65536);
}

#[test]
fn what_cannot_be_produced_is_an_error() {
    let grammar = |text: &str| {
        let file = SourceFile::new("test.ebnf", text);
        formats::detect(&file).parse(&file, &mut Diagnostics::default())
    };
    assert!(Flat::new(&grammar("s ::= 'a' s\n")).unwrap_err().contains("no finite string"));
    assert!(Flat::new(&grammar("s ::= t\n")).unwrap_err().contains("no rule"));
    assert!(Flat::new(&grammar("s ::= 'a' @ 0\n")).unwrap_err().contains("switched off"));
}
