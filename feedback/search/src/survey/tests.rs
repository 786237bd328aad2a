//! Surveys of programs whose times are computed, so that they are the same on all machines.

use gramjet_compiler::SourceFile;
use gramjet_session::Settings;

use super::*;

const LIST: &str = "s ::= '[' item (',' item)* ']'  item ::= [a-z]+ | ' '+ item | s";

fn language(grammar: &str) -> Language {
    Language::compile(&SourceFile::new("g.ebnf", grammar), &Settings::default()).expect("a grammar")
}

/// Runs a survey of 3000 steps. `nanoseconds` is the time of a text. Returns the first texts that grow fast, made
/// simpler, and the number of texts that were tried.
fn surveyed(nanoseconds: impl Fn(&[u8]) -> f64) -> (Vec<Promising>, u64) {
    let language = language(LIST);
    let mut survey = Survey::new(&language, &[b"[a,b]".to_vec()], &[], 40, Seed::new(1));
    let mut timer = |text: &[u8]| {
        let seconds = 1e-9 * nanoseconds(text);
        Some(Timed { seconds: seconds.min(1.0), is_stopped: seconds > 1.0 })
    };
    for _ in 0..3000 {
        assert!(survey.step(&mut timer));
    }
    let fast = survey.fast();
    let simplest = fast.iter().take(3).map(|found| survey.simplified(found, &mut timer)).collect();
    (simplest, survey.tried())
}

/// Returns the length of the longest run of a byte.
fn run_of(text: &[u8], byte: u8) -> usize {
    text.split(|&other| other != byte).map(<[u8]>::len).max().unwrap_or(0)
}

#[test]
fn linear_work_is_not_fast() {
    let (found, tried) = surveyed(|text| 5e3 + 50.0 * text.len() as f64);
    assert_eq!(found, []);
    assert!(tried > 1000);
}

#[test]
fn blanks_that_nothing_follows_are_found() {
    // The expression `\s+$` by backtracking.
    let (found, _) = surveyed(|text| {
        let blanks = run_of(text, b' ') as f64;
        let fails = !text.ends_with(b" ");
        5e3 + 50.0 * text.len() as f64 + if fails { 5.0 * blanks * blanks } else { 0.0 }
    });
    let best = &found[0];
    assert!((1.7..2.3).contains(&best.exponent), "{best:?}");
    assert_eq!(best.stretch.each.before, b" ");
    assert!(!best.stretch.around.after.is_empty());
}

#[test]
fn exponential_work_is_found_though_long_texts_are_stopped() {
    let (found, _) = surveyed(|text| 1e3 * 2f64.powi(run_of(text, b'[').min(60) as i32));
    assert!(found.iter().any(|found| found.stretch.each.before.ends_with(b"[")), "{found:?}");
}

#[test]
fn a_slow_program_gets_shorter_texts() {
    let language = language(LIST);
    let mut survey = Survey::new(&language, &[], &[], 40, Seed::new(1));
    for _ in 0..200 {
        survey.step(&mut |text| Some(Timed { seconds: 1e-4 * text.len() as f64, is_stopped: false }));
    }
    assert!(survey.long <= 1024, "{}", survey.long);
}

#[test]
fn what_a_regular_expression_goes_back_over_is_tried() {
    // No text of the language has these bytes.
    let slow = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let from = text.find("~~=").map_or("", |at| &text[at + 3..]);
        let sevens = from.bytes().take_while(|&byte| byte == b'7').count() as f64;
        1e-9 * (5e3 + 50.0 * text.len() as f64 + if from.ends_with('7') { 0.0 } else { 5.0 * sevens * sevens })
    };
    let language = language(LIST);
    let expressions = [r"\s+x", r"^~~=[78]*7*$"].map(|pattern| gramjet_compiler::formats::pumps(pattern, ""));
    for (pumps, is_found) in [(&expressions[..], true), (&[], false)] {
        let mut survey = Survey::new(&language, &[], pumps, 40, Seed::new(1));
        let mut timer = |text: &[u8]| Some(Timed { seconds: slow(text), is_stopped: false });
        (0..300).for_each(|_| assert!(survey.step(&mut timer)));
        let found = survey.fast();
        assert_eq!(found.iter().any(|found| found.stretch.each.before == b"7"), is_found, "{found:?}");
    }
}
