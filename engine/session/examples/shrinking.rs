//! Measures searches for small texts. Without arguments: `prop_recursive` of proptest and `Session::minimise` from the
//! same failing values of JSON, five seeds for each property. With `serve` it answers lines of
//! `benches/shrinking/from_lark.py`.

use std::cell::Cell;
use std::io::{BufRead, Write};

use gramjet_session::{Language, Session, Settings};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

#[path = "../tests/it/properties.rs"]
mod properties;

use properties::{PROPERTIES, Property};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => serve(),
        _ => compare(),
    }
}

fn language(name: &str) -> Language {
    Language::load(name.as_ref(), &Settings::default()).expect("a grammar")
}

/// Returns the length of the result of the search, and how many tests it asks for.
fn minimised(language: &Language, text: &[u8], holds: &dyn Fn(&[u8]) -> bool) -> Option<(usize, usize)> {
    let mut session = Session::new(language, 1);
    let mut search = session.minimise(text)?;
    let mut tests = 0;
    while let Some(proposed) = search.propose() {
        let holds = holds(proposed);
        tests += 1;
        search.judge(holds);
    }
    Some((search.text().len(), tests))
}

/// Answers lines, each of which asks for one thing: all properties, whether one holds for a text, or how a search ends.
fn serve() {
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("text");
        let words: Vec<&str> = line.split('\t').collect();
        let property = |number: &str| &PROPERTIES[number.parse::<usize>().expect("a number")];
        let answer = match words[..] {
            ["properties"] => {
                let lines =
                    PROPERTIES.iter().map(|one| format!("{}\t{}\t{}", one.grammar, one.name, one.smallest.len()));
                lines.collect::<Vec<_>>().join("\x1f")
            }
            ["holds", number, text] => u8::from((property(number).holds)(&bytes(text))).to_string(),
            ["minimise", grammar, number, text] => {
                match minimised(&language(grammar), &bytes(text), &property(number).holds) {
                    Some((len, tests)) => format!("{len}\t{tests}"),
                    None => "the text does not conform".to_string(),
                }
            }
            _ => panic!("{line}"),
        };
        writeln!(answers, "{answer}").and_then(|()| answers.flush()).expect("somebody reads");
    }
}

/// Returns a text in hexadecimal.
fn bytes(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// A JSON value as property tests have it.
#[derive(Clone, Debug)]
enum Json {
    Null,
    Bool(bool),
    Number(i32),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn text(&self) -> String {
        let list = |parts: Vec<String>| parts.join(",");
        match self {
            Json::Null => "null".to_string(),
            Json::Bool(value) => value.to_string(),
            Json::Number(value) => value.to_string(),
            Json::Text(value) => quoted(value),
            Json::Array(values) => format!("[{}]", list(values.iter().map(Json::text).collect())),
            Json::Object(members) => {
                let member = |(key, value): &(String, Json)| format!("{}:{}", quoted(key), value.text());
                format!("{{{}}}", list(members.iter().map(member).collect()))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c < ' ' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i32>().prop_map(Json::Number),
        ".*".prop_map(Json::Text),
    ];
    leaf.prop_recursive(8, 256, 10, |inner| {
        // A key may come again, as in texts.
        let key = prop_oneof!["[a-c]", ".*"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..10).prop_map(Json::Array),
            prop::collection::vec((key, inner), 0..10).prop_map(Json::Object),
        ]
    })
}

fn compare() {
    let language = language("json");
    println!(
        "| property | smallest | `prop_recursive`: bytes; tests, median | here: bytes; tests, median |\n|---|---|---|---|"
    );
    for property in PROPERTIES.iter().filter(|property| property.grammar == "json") {
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for seed in 0..5 {
            let (text, found, calls) = recursive(property, seed);
            theirs.push((found, calls));
            ours.push(minimised(&language, text.as_bytes(), &property.holds).expect("it conforms"));
        }
        println!("| {} | {} | {} | {} |", property.name, property.smallest.len(), shown(&theirs), shown(&ours));
    }
}

fn shown(runs: &[(usize, usize)]) -> String {
    let mut tests: Vec<usize> = runs.iter().map(|run| run.1).collect();
    tests.sort_unstable();
    let lens: Vec<String> = runs.iter().map(|run| run.0.to_string()).collect();
    format!("{}; {}", lens.join(" "), tests[tests.len() / 2])
}

/// Returns a failing value's text, the length of proptest's result, and how often it asks.
fn recursive(property: &Property, seed: u8) -> (String, usize, usize) {
    let config = Config { failure_persistence: None, max_shrink_iters: u32::MAX, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let strategy = values();
    let holds = |value: &Json| (property.holds)(value.text().as_bytes());
    for _ in 0..1_000_000 {
        let tree = strategy.new_tree(&mut runner).expect("a value");
        let first = tree.current();
        if !holds(&first) {
            continue;
        }
        let calls = Cell::new(0_usize);
        let end = runner.run_one(tree, |value| {
            calls.set(calls.get() + 1);
            if holds(&value) { Err(TestCaseError::fail("it holds")) } else { Ok(()) }
        });
        let Err(TestError::Fail(_, last)) = end else { panic!("the value fails") };
        // The first call is on the failing value.
        return (first.text(), last.text().len(), calls.get() - 1);
    }
    panic!("no value with {}", property.name);
}
