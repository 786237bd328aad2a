//! Families of long texts: each part of a grammar that contains itself or repeats, stretched. To parse them takes steps
//! that are linear in their length.

use std::collections::BTreeSet;

use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_grammars::{SHIPPED, Shipped};
use gramjet_parse::{Budget, Parser};
use gramjet_session::decisions::Stretch;
use gramjet_session::{Language, Settings};

/// A family grows linearly if the second half of its longest text takes at most this multiple of the steps of the
/// quarter before, twice over.
const MOST: f64 = 1.3;

/// A byte may take this number of steps, however it grows.
const FEW: f64 = 40.0;

/// Families that are ambiguous until their last byte, so that each open part stays possible: the `else` of a statement
/// belongs to any `if` before it, and `\1` refers to any group before it. Their steps or their memory are quadratic.
const AMBIGUOUS: [(&str, &str); 3] = [("c", "statement"), ("javascript", "statement"), ("regex", "referring")];

/// Returns the ways to stretch texts of a grammar, each once.
fn stretches(language: &Language) -> Vec<Stretch> {
    let mut deriver = language.deriver(None);
    let mut known = BTreeSet::new();
    let mut all = deriver.stretches();
    all.extend(deriver.repetitions());
    all.retain(|stretch| {
        let mut text = Vec::new();
        stretch.write(3, &mut text);
        known.insert(text)
    });
    all
}

/// Returns what is wrong with the families of a grammar, up to texts of this many bytes, and their number.
fn check(shipped: &Shipped, longest: usize) -> (usize, Vec<String>) {
    let file = SourceFile::new(format!("{}.ebnf", shipped.name), shipped.text);
    let language = Language::compile(&file, &Settings::default()).expect("a shipped grammar");
    let (compiled, _) = compile(&file, &Options::default()).expect("a shipped grammar");
    let parser = Parser::new(&compiled.lowered);
    let mut families = stretches(&language);
    families.retain(|family| !AMBIGUOUS.contains(&(shipped.name, family.rule.as_str())));
    let mut wrong = Vec::new();
    for family in &families {
        let text = |len: usize| {
            let mut text = Vec::new();
            family.write(len.saturating_sub(family.len(0)) / family.each.len().max(1), &mut text);
            text
        };
        let steps = |len: usize| {
            let text = text(len);
            let parsed = parser.parse(&text, &Budget::default());
            parsed.map(|parsed| (text.len() as f64, parsed.work.steps as f64))
        };
        let shown = || String::from_utf8_lossy(&text(family.len(6))).escape_debug().to_string();
        let found = [longest / 4, longest / 2, longest].map(steps);
        match found {
            [Ok(first), Ok(second), Ok(third)] => {
                let slope = |one: (f64, f64), other: (f64, f64)| (other.1 - one.1) / (other.0 - one.0).max(1.0);
                let (before, after) = (slope(first, second), slope(second, third));
                if after > FEW && after > MOST * before {
                    wrong.push(format!(
                        "{}, {}: {before:.0}, then {after:.0} steps a byte: {}",
                        shipped.name,
                        family.rule,
                        shown()
                    ));
                }
            }
            [first, second, third] => {
                let error = first.and(second).and(third).expect_err("one of them");
                wrong.push(format!("{}, {}: {error:?}: {}", shipped.name, family.rule, shown()));
            }
        }
    }
    (families.len(), wrong)
}

/// Checks all families of some grammars up to texts of this many bytes.
fn check_all<'g>(grammars: impl Iterator<Item = &'g Shipped>, longest: usize) {
    let (mut number, mut wrong) = (0, Vec::new());
    for shipped in grammars {
        let (families, some) = check(shipped, longest);
        println!("{}: {} of {families} families", shipped.name, families - some.len());
        number += families;
        wrong.extend(some);
    }
    assert!(wrong.is_empty(), "{} of {number} families are not linear:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn families_of_some_grammars_are_linear() {
    let some = ["json", "toml", "xml", "lua", "sh"];
    check_all(SHIPPED.iter().filter(|shipped| some.contains(&shipped.name)), 1 << 13);
}

#[test]
#[ignore = "run by ci/long"]
fn families_are_linear_in_a_long_run() {
    let longest = std::env::var("GRAMJET_TEST_LONGEST").ok().and_then(|longest| longest.parse().ok());
    check_all(SHIPPED.iter(), longest.unwrap_or(1 << 20));
}
