//! Checks whose failures are read.

mod limits;

use super::*;

fn message(run: impl FnOnce()) -> String {
    caught(run).expect_err("a panic")
}

/// Returns a check on a grammar in a file, which has this name.
fn on<T>(name: &str, grammar: &str, run: impl FnOnce(Check) -> T) -> T {
    let file = std::env::temp_dir().join(format!("gramjet-check-{name}-{}.ebnf", std::process::id()));
    std::fs::write(&file, grammar).expect("a file");
    let result = run(Check::new(file.display().to_string()));
    std::fs::remove_file(file).expect("the file");
    result
}

/// Returns how deep brackets nest, except for brackets in strings.
fn depth(text: &[u8]) -> u64 {
    let (mut depth, mut deepest, mut is_string, mut is_escaped) = (0, 0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => depth += 1,
            b']' | b'}' if !is_string => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[test]
fn a_failing_property_is_reported_with_a_small_text() {
    let failed = message(|| check("json", |text| assert!(depth(text) < 4, "too deep")));
    let lines: Vec<&str> = failed.lines().collect();
    assert!(lines[1].len() == 8 && lines[1].starts_with("[[[") && lines[2] == "too deep", "{failed}");
}

#[test]
fn a_property_that_holds_is_no_failure() {
    Check::new("json").texts(500).holds(|text| assert!(text.len() <= 4096));
}

#[test]
fn texts_with_something_new_in_them_are_varied() {
    let check = Check::new("json").texts(300);
    let language = check.language(Goal::New).expect("the grammar");
    let mut fuzzer = Fuzzer::new(&language, Goal::New, 1000, Seed::new(0));
    assert!(check.run(&mut fuzzer, Goal::New, |_| Ok(Observation::default())).is_ok());
    assert!(fuzzer.yields().take(3).all(|(_, made, _)| made > 10), "{:?}", fuzzer.yields().collect::<Vec<_>>());
    assert!((10..200).contains(&fuzzer.corpus().entries().len()), "{}", fuzzer.corpus().entries().len());
}

#[test]
fn texts_that_cost_most_are_kept_once() {
    let settings = Settings { max_depth: Bound::Unlimited, ..Settings::default() };
    let file = gramjet_compiler::SourceFile::new("g.ebnf", "s ::= [a-t]");
    let language = Language::compile(&file, &settings).expect("a grammar");
    let mut fuzzer = Fuzzer::new(&language, Goal::Cost, 10, Seed::new(0));
    for _ in 0..500 {
        fuzzer.propose().expect("a text");
        fuzzer.observe(Observation { cost: 1, ..Observation::default() });
    }
    assert_eq!(fuzzer.corpus().entries().len(), 20);
}

#[test]
fn the_same_seed_gives_the_same_texts() {
    let texts = |seed| {
        let mut texts = Vec::new();
        Check::new("json").seed(seed).texts(200).holds(|text| texts.push(text.to_vec()));
        texts
    };
    assert_eq!(texts(5), texts(5));
    assert_ne!(texts(5), texts(6));
}

#[test]
fn a_bound_on_cost_is_searched_against() {
    // Random texts of this length are hardly ever as deep; a search for cost comes there step by step.
    let check = Check::new("json").texts(5000).max_len(60);
    let failed = message(|| check.costs_at_most(|_| 10, depth));
    assert!(failed.ends_with("it costs 11, and for 22 bytes 10 are allowed"), "{failed}");
    Check::new("json").texts(200).max_len(60).costs_at_most(|len| len as u64, depth);
}

#[test]
fn growth_is_held_to_an_exponent() {
    let check = Check::new("json").texts(400).max_len(40);
    // Every comma is compared with all before it.
    let commas = |text: &[u8]| text.iter().filter(|&&byte| byte == b',').count() as u64;
    let failed = message(|| check.grows_at_most(1.5, |text| 20 + text.len() as u64 + commas(text).pow(2)));
    assert!(failed.contains("grows too fast") && failed.contains("cost ~ n^2.0 (95 %"), "{failed}");
    check.grows_at_most(1.2, |text| 20 + text.len() as u64 + commas(text));
    let failed = message(|| check.grows_at_most(1.2, |text| if commas(text) > 2 { panic!("three") } else { 1 }));
    assert!(failed.ends_with("three"), "{failed}");
}

/// The weights that such a grammar gets by default would split the repetition by its number of rounds.
#[test]
fn growth_is_found_in_grammars_without_weights() {
    let words = |text: &[u8]| text.split(|&byte| byte == b' ').count() as u64;
    let failed = on("words", "words ::= word (' ' word)*  word ::= [a-z]+", |check| {
        message(|| check.texts(300).max_len(30).grows_at_most(1.5, |text| words(text).pow(2)))
    });
    assert!(failed.contains("cost ~ n^2.0 (95 %") && failed.contains("a repetition in `words`"), "{failed}");
}

#[test]
fn a_grammar_that_is_not_there_is_named() {
    let failed = message(|| check("jsn", |_| {}));
    assert!(failed.contains("did you mean `json`?"), "{failed}");
}
