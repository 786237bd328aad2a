//! Proofs of growth on functions that count bytes.

use gramjet_compiler::SourceFile;
use gramjet_session::{Language, Settings, Shape};

use super::*;

/// Returns the end of a run, which ends by itself or is stopped.
fn ended(by_itself: bool) -> Ending {
    if by_itself { Ending::Done } else { Ending::Stopped }
}

fn settings() -> Settings {
    Settings { shape: Some(Shape::Uniform), ..Settings::default() }
}

fn language(grammar: &str) -> Language {
    Language::compile(&SourceFile::new("g.ebnf", grammar), &settings()).expect("a grammar")
}

/// Returns the fastest family of a text, by a cost that the text determines.
fn fastest(grammar: &str, text: &str, cost: impl Fn(&[u8]) -> u64) -> (String, String) {
    let language = language(grammar);
    let mut whole = Derivation::default();
    let mut deriver = language.deriver(None);
    deriver.decode(&language.parse(text.as_bytes()).expect("it conforms"), &mut whole);
    let mut measure = |text: &[u8]| {
        let cost = cost(text);
        Some(Measured { ending: ended(cost <= 1 << 32), ..Measured::of(cost, vec![(1, cost)]) })
    };
    let families = prove(&mut deriver, &whole, Effort::default(), &mut measure);
    let family = families.first().expect("a family");
    (family.of.describe(&deriver), family.growth.as_ref().map_or(String::new(), |growth| growth.to_string()))
}

fn count(text: &[u8], byte: u8) -> u64 {
    text.iter().filter(|&&other| other == byte).count() as u64
}

#[test]
fn growth_is_proved_by_repetition() {
    let lists = "list ::= '[' (item (',' item)*)? ']'  item ::= [a-z] | list";
    let (what, growth) = fastest(lists, "[a,b,[c]]", |text| 40 + count(text, b',').pow(2) + text.len() as u64);
    assert_eq!(what, "rounds of a repetition in `list`");
    assert!(growth.contains("n^2.0"), "{growth}");
    let (what, growth) = fastest(lists, "[a,b,[c]]", |text| {
        let depth = count(text, b'[');
        if depth < 30 { 3 * (1 << depth) + text.len() as u64 } else { u64::MAX }
    });
    assert!(what.contains("`list` in `list`") || what.contains("`item` in `item`"), "{what}");
    assert!(growth.contains("2.0^n"), "{growth}");
}

#[test]
fn two_lists_that_are_multiplied_are_repeated_together() {
    let grammar = "s ::= a '-' b  a ::= 'a'*  b ::= 'b'*";
    let (what, growth) = fastest(grammar, "aa-bb", |text| 10 + count(text, b'a') * count(text, b'b'));
    assert_eq!(what, "rounds of a repetition in `a` and rounds of a repetition in `b`");
    assert!(growth.contains("n^2.0"), "{growth}");
}

#[test]
fn distinct_copies_show_what_equal_copies_hide() {
    let grammar = "s ::= (name ' ')*  name ::= [a-z] [a-z]";
    let (_, growth) = fastest(grammar, "ab cd ", |text| {
        let mut names: Vec<&[u8]> = text.split(|&byte| byte == b' ').collect();
        names.sort_unstable();
        names.dedup();
        10 + (names.len() as u64).pow(2)
    });
    assert!(growth.contains("n^2.0"), "{growth}");
}

#[test]
fn names_that_are_too_short_to_be_distinct_get_longer() {
    let (_, growth) = fastest("s ::= name (',' name)*  name ::= [a-z]+", "a,b,c", |text| {
        let mut names: Vec<&[u8]> = text.split(|&byte| byte == b',').collect();
        names.sort_unstable();
        names.dedup();
        10 + (names.len() as u64).pow(2)
    });
    assert!(growth.contains("n^2.0"), "{growth}");
}

#[test]
fn parts_of_long_and_of_costly_texts_are_repeated_alone() {
    let grammar = "s ::= 'a'* '-' 'b'*";
    let text = format!("aaa-{}", "b".repeat(4000));
    let (what, growth) = fastest(grammar, &text, |text| 10 + text.len() as u64 + count(text, b'b').pow(2));
    assert_eq!(what, "rounds of a repetition in `s`");
    assert!(growth.contains("n^2.0"), "{growth}");
    // The program is stopped on one more of the second letter.
    let (_, growth) = fastest(grammar, "aaa-bbbbbbbbbbbbbbbb", |text| {
        let letters = count(text, b'b');
        if letters > 16 { u64::MAX } else { (1 << letters) + text.len() as u64 }
    });
    assert!(growth.contains("2.0^n"), "{growth}");
}

/// A part of which even a few copies are too many is the one to know of, however little can be measured of it.
#[test]
fn families_on_which_the_program_is_stopped_come_first() {
    let language = language("s ::= 'a'* n  n ::= '(' n ')' | 'x'");
    let (mut whole, mut deriver) = (Derivation::default(), language.deriver(None));
    deriver.decode(&language.parse(b"aaa((x))").expect("it conforms"), &mut whole);
    let mut measure = |text: &[u8]| {
        let is_stopped = count(text, b'(') > 3;
        let cost = if is_stopped { 0 } else { text.len() as u64 };
        Some(Measured { ending: ended(!is_stopped), ..Measured::of(cost, Vec::new()) })
    };
    let effort = Effort { time: Duration::MAX, ..Effort::default() };
    let families = prove(&mut deriver, &whole, effort, &mut measure);
    assert!(families[0].is_cut_short() && families[0].of.describe(&deriver).contains("`n`"));
    assert_eq!(families[0].stopped_at(), families[0].members.last().map(|member| member.copies));
    let others: Vec<_> = families[1..].iter().filter(|family| family.stopped_at().is_none()).collect();
    assert!(others.iter().any(|family| family.of.describe(&deriver).contains("repetition in `s`")));
}

#[test]
fn no_more_runs_than_allowed() {
    let mut runs = 0;
    let language = language("s ::= 'a'*");
    let mut whole = Derivation::default();
    let mut deriver = language.deriver(None);
    deriver.decode(&language.parse(b"aaa").expect("it conforms"), &mut whole);
    let mut measure = |text: &[u8]| {
        runs += 1;
        Some(Measured::of(text.len() as u64, Vec::new()))
    };
    prove(&mut deriver, &whole, Effort { runs: 7, ..Effort::default() }, &mut measure);
    assert_eq!(runs, 7);
    let mut none = |_: &[u8]| None;
    assert!(prove(&mut deriver, &whole, Effort::default(), &mut none).is_empty());
}

/// Returns the number of a byte between the first of one byte and the next of another.
fn count_within(text: &[u8], (open, close): (u8, u8), byte: u8) -> u64 {
    let inside = text.split(|&other| other == open).nth(1).unwrap_or_default();
    count(inside.split(|&other| other == close).next().unwrap_or_default(), byte)
}

#[test]
fn of_like_lists_the_one_whose_rounds_grow_is_found() {
    let grammar = "s ::= '[' l ']' '{' l '}' '<' l '>'  l ::= 'a'*";
    for brackets in [(b'[', b']'), (b'{', b'}'), (b'<', b'>')] {
        let cost = |text: &[u8]| 10 + text.len() as u64 + count_within(text, brackets, b'a').pow(2);
        let (what, growth) = fastest(grammar, "[aa]{aa}<aa>", cost);
        assert_eq!(what, "rounds of a repetition in `l`");
        assert!(growth.contains("n^2.0"), "{brackets:?}: {growth}");
    }
}

#[test]
fn of_many_like_lists_the_one_whose_distinct_rounds_grow_is_found() {
    let grammar = "s ::= list*  list ::= '(' (name ' ')* ')'  name ::= [a-z] [a-z]";
    let text = "(ab cd )".repeat(15);
    for number in [1, 6, 13, 15] {
        let (what, growth) = fastest(grammar, &text, |text| {
            let list = text.split(|&byte| byte == b'(').nth(number).unwrap_or_default();
            let mut names: Vec<&[u8]> = list.split(|&byte| byte == b' ').collect();
            names.sort_unstable();
            names.dedup();
            10 + text.len() as u64 + (names.len() as u64).pow(2)
        });
        assert_eq!(what, "rounds of a repetition in `list`, all distinct");
        assert!(growth.contains("n^2.0"), "{number}: {growth}");
    }
}

#[test]
fn of_like_nested_lists_the_one_whose_rounds_grow_is_found() {
    let grammar = "l ::= 'a'* ('(' l ')')?";
    for level in 0..4 {
        let (what, growth) = fastest(grammar, "aa(aa(aa(aa)))", |text| {
            let (mut depth, mut letters) = (0, 0);
            for byte in text {
                match byte {
                    b'(' => depth += 1,
                    b')' => depth -= 1,
                    _ => letters += u64::from(depth == level),
                }
            }
            10 + text.len() as u64 + letters.pow(2)
        });
        assert_eq!(what, "rounds of a repetition in `l`");
        assert!(growth.contains("n^2.0"), "{level}: {growth}");
    }
}

#[test]
fn of_like_nestings_the_one_whose_levels_grow_is_found() {
    let grammar = "s ::= '[' n ']' '{' n '}'  n ::= '(' n ')' | 'x'";
    for brackets in [(b'[', b']'), (b'{', b'}')] {
        let cost = |text: &[u8]| 10 + text.len() as u64 + count_within(text, brackets, b'(').pow(2);
        let (what, growth) = fastest(grammar, "[((x))]{((x))}", cost);
        assert_eq!(what, "`n` in `n`");
        assert!(growth.contains("n^2.0"), "{brackets:?}: {growth}");
    }
}

/// First looks see linear growth in both lists.
#[test]
fn of_like_lists_that_begin_alike_the_one_that_grows_later_is_found() {
    let grammar = "s ::= '[' l ']' '{' l '}'  l ::= 'a'*";
    for brackets in [(b'[', b']'), (b'{', b'}')] {
        let (_, growth) = fastest(grammar, "[aa]{aa}", |text| {
            let late = count_within(text, brackets, b'a').saturating_sub(40);
            10 + text.len() as u64 + late.pow(2)
        });
        assert!(growth.contains("n^2."), "{brackets:?}: {growth}");
    }
}

#[test]
fn the_choice_among_many_places_takes_few_runs() {
    let language = language("s ::= l*  l ::= 'a'* ';'");
    let mut deriver = language.deriver(None);
    let mut whole = Derivation::default();
    deriver.decode(&language.parse("aa;".repeat(400).as_bytes()).expect("it conforms"), &mut whole);
    for allowed in [2000, 100] {
        let mut runs = 0;
        let mut measure = |text: &[u8]| {
            runs += 1;
            Some(Measured::of(text.len() as u64, Vec::new()))
        };
        prove(&mut deriver, &whole, Effort { runs: allowed, ..Effort::default() }, &mut measure);
        assert!(runs <= allowed.min(700), "{runs} of {allowed}");
    }
}
