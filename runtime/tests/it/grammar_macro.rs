//! `gramjet::grammar!`: the contents of its modules, and its reports of errors.

use gramjet::{Choices, Limits, LimitsError, Producer};

gramjet::grammar! {
    /// From a file, with the limits of the file.
    pub mod list = "tests/grammars/list.ebnf";

    mod names = "tests/grammars/list.ebnf" { start: "name", format: "ebnf" }

    mod sums = ebnf r#"sum ::= term ("+" term)*  term ::= [1-9] [0-9]*"# { max_len: 12 };

    mod checked = ebnf r#"sum ::= term ("+" term)*  term ::= [1-9] [0-9]*"# { max_len: 12, forbid_unsafe: true }

    mod book = fuzzingbook r#"{"<start>": ["<a>!", {"expansion": "?", "weight": 3}], "<a>": ["x", "y<a>"]}"# {
        max_depth: 4,
    };

    mod abnf = "tests/grammars/pair.abnf";

    mod shaped = ebnf "list ::= '[' (list (',' list)*)? ']'" { shape: "target-size=200" };

    mod weighted = "tests/grammars/list.ebnf" { weights: "tests/grammars/list.weights" };

    mod pest = "tests/grammars/pair.pest";

    mod iso = iso_ebnf "pair = '(' , word , ',' , word , ')' ; word = { 'a' }- ;";

    // The lexer stands in a file of its own.
    mod notes = "tests/grammars/NotesParser.g4" { separator_policy: "auto", alphabet: "ascii", strict: true }

    mod notes_of_others = "tests/grammars/NotesParser.g4" { separator_policy: "any" }

    mod notes_of_any_characters = "tests/grammars/NotesParser.g4" { separator_policy: "any", alphabet: "all" }

    mod readable_notes = "tests/grammars/NotesParser.g4" { separator_policy: "any", alphabet: "readable" }
}

#[test]
fn formats_are_known_by_extension_and_by_name() {
    assert_eq!(abnf::render(&[]), b"(a,a)");
    assert_eq!(pest::render(&[]), b"(a,a)");
    assert_eq!(iso::render(&[]), b"(a,a)");
    assert_eq!(iso::render(&[255, 0, 255, 255]), b"(aa,aaa)");
}

#[test]
fn grammars_of_several_files() {
    assert_eq!(notes::render(b""), b" <a a>");
    for seed in 0..50 {
        let text = notes::generate(seed);
        assert!(text.is_ascii() && text.ends_with(b">"), "{}", text.escape_ascii());
    }
}

#[test]
fn the_policy_for_texts_of_others_brings_its_alphabet() {
    let texts = |generate: fn(u64) -> Vec<u8>| (0..50).map(generate).collect::<Vec<_>>();
    assert_eq!(texts(notes_of_others::generate), texts(notes_of_any_characters::generate));
    assert_ne!(texts(notes_of_others::generate), texts(readable_notes::generate));
}

#[test]
fn modules_offer_generation_replay_and_producers() {
    assert_eq!(list::generate(5), list::generate(5));
    assert_eq!(list::render(b""), b"[]");
    assert_eq!(list::MIN_LEN, 2);
    assert_eq!(list::DEFAULT_LIMITS, Limits::new().max_depth(6));
    assert_eq!(names::render(&[0, 0]), b"a");
    assert_eq!(sums::DEFAULT_LIMITS, Limits::new().max_len(12));
    assert_eq!(book::render(&[]), b"?");
    // The second option is the first alternative, of weight 1 in 4.
    assert_eq!(book::render(&[192, 255, 0]), b"yx!");
}

#[test]
fn code_without_unsafe_produces_the_same() {
    for seed in 0..200 {
        assert_eq!(sums::generate(seed), checked::generate(seed));
    }
}

#[test]
fn limits_are_kept_and_refused() {
    let mut producer = list::Producer::new();
    let short = producer.set_limits(Limits::new().max_len(1));
    assert_eq!(short, Err(LimitsError::TooShort { max_len: 1, min_len: 2 }));
    assert_eq!(producer.limits(), list::DEFAULT_LIMITS);
    producer.set_limits(Limits::new().max_len(9)).expect("nine bytes are enough");
    let mut choices = Choices::random(3);
    let mut longest = 0;
    for _ in 0..1000 {
        let mut output = Vec::new();
        producer.produce(&mut choices, &mut output);
        longest = longest.max(output.len());
    }
    assert_eq!(longest, 9);
}

/// It builds the macro and what it needs anew.
#[test]
#[ignore = "run by ci/test"]
fn errors_are_compile_errors_at_the_source() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

#[test]
fn shapes_and_weights() {
    let bytes: usize = gramjet::Inputs::new(shaped::Producer::new(), 7).take(4000).map(|input| input.len()).sum();
    assert!((180 * 4000..220 * 4000).contains(&bytes), "{} bytes in the mean", bytes / 4000);
    let bytes = |inputs: &mut dyn Iterator<Item = Vec<u8>>| inputs.take(1000).map(|input| input.len()).sum::<usize>();
    let own = bytes(&mut gramjet::Inputs::new(list::Producer::new(), 7));
    let weighted = bytes(&mut gramjet::Inputs::new(weighted::Producer::new(), 7));
    assert!(weighted > own + 1000, "{weighted} {own}");
}
