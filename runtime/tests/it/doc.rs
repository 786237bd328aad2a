//! Inputs as arguments of property tests and fuzz targets.

use arbitrary::{Arbitrary, Unstructured};
use gramjet::doc::Shrinker;
use gramjet::doc::proptest::docs;
use gramjet::{Doc, Limits, Producer};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

gramjet::grammar! {
    mod list = ebnf "list ::= '[' (item (',' item)*)? ']'  item ::= number @ 2 | list  number ::= [0-9]{1,5}";
    mod raw = ebnf "raw ::= #bFF*";
}

type List = Doc<list::Producer>;

#[test]
fn a_doc_is_what_its_choices_render() {
    for choices in [&b""[..], b"\xFF\x00", b"\x80\xFF\xFF\x10\x80\x00\x00"] {
        let doc = List::new(choices);
        assert_eq!(doc.text(), list::render(choices));
        assert_eq!(List::new(doc.choices()), doc);
        assert!(doc.choices().len() <= choices.len());
        assert_eq!(format!("{doc:?}"), format!("{:?}", doc.as_str().expect("it is text")));
        assert_eq!((&doc[..], doc.as_ref()), (doc.text(), doc.text()));
        assert_eq!(doc.clone().into_text(), doc.text());
    }
    let raw = Doc::<raw::Producer>::new(&[0xFF, 0]);
    assert_eq!((raw.as_str(), format!("{raw:?}").as_str()), (None, r#"b"\xff""#));
}

#[test]
fn a_fuzz_target_gets_all_bytes_as_choices() {
    let bytes = [0xFF, 0x00, 0x80, 0x7F, 0xFF, 0x90, 0x33];
    let doc = List::arbitrary_take_rest(Unstructured::new(&bytes)).expect("every byte string is valid");
    assert_eq!(doc, List::new(&bytes));
    let two = <(List, List)>::arbitrary_take_rest(Unstructured::new(&[0xFF; 40])).expect("every byte string is valid");
    assert!(two.0.text().starts_with(b"[") && two.1.text().starts_with(b"["));
}

fn depth(text: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut most = 0;
    for byte in text {
        depth = depth + usize::from(*byte == b'[') - usize::from(*byte == b']');
        most = most.max(depth);
    }
    most
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn arguments_are_valid_inputs(list: List) {
        prop_assert!(list.starts_with(b"[") && list.ends_with(b"]"));
        prop_assert_eq!(list::render(list.choices()), list.text());
    }

    #[test]
    fn limits_are_those_of_the_producer(list in docs(limited())) {
        prop_assert!(list.len() <= 20 && depth(&list) <= 4);
    }
}

fn limited() -> list::Producer {
    let mut producer = list::Producer::new();
    // Every other instance is a list; beyond the limit, one more can come from a pool.
    producer.set_limits(Limits::new().max_len(20).max_depth(4)).expect("limits that can be kept");
    producer
}

/// Returns the smallest input that a failing test on `is_bad` shrinks to.
fn shrunk(seed: u64, is_bad: fn(&[u8]) -> bool) -> Vec<u8> {
    let config = Config { cases: 5000, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let seed = proptest::test_runner::RngSeed::Fixed(seed);
    let mut runner = TestRunner::new(Config { rng_seed: seed, ..config });
    let run = runner.run(&docs(list::Producer::new()), |doc| {
        prop_assert!(!is_bad(doc.text()), "bad");
        Ok(())
    });
    match run {
        Err(TestError::Fail(_, doc)) => doc.into_text(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn failing_inputs_shrink_to_the_smallest() {
    for seed in 0..5 {
        assert_eq!(shrunk(seed, |text| depth(text) >= 4), b"[[[[]]]]");
        assert_eq!(shrunk(seed, |text| text.contains(&b'7')), b"[7]");
        let two_of_a_kind = |text: &[u8]| text.windows(3).any(|three| three == b"5,5");
        let found = shrunk(seed, two_of_a_kind);
        assert_eq!(found, b"[5,5]");
    }
}

/// Quickcheck ends with the last input on which the property failed.
#[test]
fn failing_properties_shrink_to_small_inputs() {
    use std::cell::RefCell;

    thread_local! {
        static FAILED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    fn is_shallow(list: List) -> bool {
        let holds = depth(&list) < 4;
        if !holds {
            FAILED.set(list.into_text());
        }
        holds
    }
    for _ in 0..20 {
        let tested = quickcheck::QuickCheck::new().tests(20_000).quicktest(is_shallow as fn(List) -> bool);
        assert!(tested.is_err());
        assert_eq!(FAILED.take(), b"[[[[]]]]");
    }
}

#[test]
fn what_is_proposed_is_simpler_and_ends() {
    let doc = List::new(&[0xFF, 0x80, 0xFF, 0xFF, 0xC0, 0x90, 0x80, 0xFF, 0xFF, 0xC0, 0x20]);
    // Nothing is accepted: each candidate is simpler than the first.
    let mut shrinker = Shrinker::new(list::Producer::new(), doc.clone());
    let mut proposals = 0;
    while shrinker.reject() {
        proposals += 1;
        assert!(shrinker.current().len() <= doc.len() && *shrinker.current() != doc);
    }
    assert_eq!(*shrinker.current(), doc);
    assert!((5..1000).contains(&proposals), "{proposals}");
    // All is accepted: the shortest input is the end.
    let mut shrinker = Shrinker::new(list::Producer::new(), doc);
    while shrinker.accept() {}
    assert_eq!(shrinker.current().text(), b"[]");
}
