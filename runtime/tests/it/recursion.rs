//! Deep derivations: native recursion is bounded, and deep limits are still obeyed to the byte.

use gramjet::{Choices, Limits, Producer};
use gramjet_compiler::{Options, SourceFile, compile, reference};

const NESTED: &str = "value ::= '' | '(' value ')'";

gramjet::grammar! {
    mod nested = ebnf "value ::= '' | '(' value ')'";
    mod nested_checked = ebnf "value ::= '' | '(' value ')'" { forbid_unsafe: true };
    mod tree = ebnf "tree ::= 'x' | '(' tree tree ')'";
    mod tree_checked = ebnf "tree ::= 'x' | '(' tree tree ')'" { forbid_unsafe: true };
    mod right = ebnf "list ::= 'x' | 'x' list";
}

fn produced(producer: &mut dyn Producer, limits: Limits, choices: &[u8]) -> (Vec<u8>, u64) {
    producer.set_limits(limits).expect("the limits can be kept");
    let mut output = Vec::new();
    let read = producer.produce(&mut Choices::replay(choices), &mut output);
    (output, read)
}

#[test]
fn a_depth_of_a_hundred_thousand_does_not_overflow_the_stack() {
    let file = SourceFile::new("nested.ebnf", NESTED);
    let (compiled, _) = compile(&file, &Options::default()).expect("the grammar is right");
    for (depth, choices) in [(100_000, 200_000), (100_000, 50_000), (300_000, 1_000_000)] {
        let choices = vec![255; choices];
        let limits = reference::Limits { max_depth: Some(depth), max_len: None };
        let expected = reference::render(&compiled.lowered, &compiled.pools, limits, &choices);
        let expected = (expected.output, expected.consumed);
        let limits = Limits::new().max_depth(depth);
        assert!(produced(&mut nested::Producer::new(), limits, &choices) == expected, "{depth}");
        assert!(produced(&mut nested_checked::Producer::new(), limits, &choices) == expected, "{depth}");
    }
}

#[test]
fn recursion_without_end_finishes() {
    // Far more levels than any stack has: the output is complete all the same.
    let choices = vec![255; 60_000_000];
    let (output, read) = produced(&mut nested::Producer::new(), Limits::new(), &choices);
    assert!(read > 1_000_000 && output.len().is_multiple_of(2));
    let half = output.len() / 2;
    assert!(output[..half].iter().all(|&byte| byte == b'('));
    assert!(output[half..].iter().all(|&byte| byte == b')'));
}

#[test]
fn right_recursion_needs_no_stack() {
    let choices = vec![255; 10_000_000];
    let (output, read) = produced(&mut right::Producer::new(), Limits::new(), &choices);
    assert_eq!((output.len(), read), (10_000_001, 10_000_000));
}

#[test]
fn a_small_thread_stack_is_enough() {
    let choices = vec![255; 100_000];
    let small = std::thread::Builder::new().stack_size(512 << 10);
    let run = move || produced(&mut nested::Producer::new(), Limits::new().max_depth(100_000), &choices).0.len();
    assert_eq!(small.spawn(run).expect("threads can be had").join().expect("no overflow"), 200_000);
}

#[test]
fn the_bound_of_the_stack_is_crossed_often() {
    let file = SourceFile::new("tree.ebnf", "tree ::= 'x' | '(' tree tree ')'");
    let (compiled, _) = compile(&file, &Options::default()).expect("the grammar is right");
    // Deep on the left, then small trees on the right of every level, on both sides of the bound.
    let choices: Vec<u8> = std::iter::repeat_n(255, 4000)
        .chain((0..200_000u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8))
        .collect();
    let expected = reference::render(&compiled.lowered, &compiled.pools, reference::Limits::default(), &choices);
    assert!(expected.output.len() > 100_000);
    let expected = (expected.output, expected.consumed);
    assert!(produced(&mut tree::Producer::new(), Limits::new(), &choices) == expected);
    assert!(produced(&mut tree_checked::Producer::new(), Limits::new(), &choices) == expected);
}
