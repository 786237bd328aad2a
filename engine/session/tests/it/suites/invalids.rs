//! Texts that are not in the language.

use gramjet_session::suite::edits::Kind;
use gramjet_session::suite::invalid::{Invalid, invalid};

use super::*;

fn made(grammar: &Compiled, count: u64) -> Invalid {
    let parser = Parser::new(&grammar.lowered);
    invalid(grammar, &parser, Limits::default(), (count, 5), &|| false).expect("a small grammar")
}

/// Returns the texts that are one character away from a text: left out, doubled, exchanged, replaced, put in.
fn neighbours(text: &[u8], alphabet: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut near = BTreeSet::new();
    for at in 0..=text.len() {
        let (before, after) = text.split_at(at);
        near.extend(alphabet.iter().map(|&byte| [before, &[byte], after].concat()));
        if let Some((_, rest)) = after.split_first() {
            near.insert([before, rest].concat());
            near.extend(alphabet.iter().map(|&byte| [before, &[byte], rest].concat()));
        }
        if let [first, second, rest @ ..] = after {
            near.insert([before, &[*second, *first], rest].concat());
        }
    }
    near
}

#[test]
fn invalid_texts_are_refused_and_near_valid_ones() {
    let grammar = compiled("s ::= '(' [a-c]{2,3} (',' s)? ')'");
    let parser = Parser::new(&grammar.lowered);
    let all = made(&grammar, 600);
    let texts: BTreeSet<&Vec<u8>> = all.cases.iter().map(|case| &case.text).collect();
    assert_eq!((texts.len(), all.unclear), (600, 0));
    for case in &all.cases {
        assert!(!case.is_valid && parser.parse(&case.text, &Budget::default()).is_err(), "{:?}", case.text);
        assert!(case.at.is_some_and(|at| at <= case.text.len()) && case.rule.as_deref() == Some("s"));
    }
    // All single characters are tokens of their own here, or members.
    let alphabet: Vec<u8> = (0x20..0x7F).collect();
    for case in all.cases.iter().filter(|case| case.kind.is_some_and(|kind| kind.ends_with("character"))) {
        let is_near =
            neighbours(&case.text, &alphabet).iter().any(|text| parser.parse(text, &Budget::default()).is_ok());
        assert!(is_near, "{}: {:?}", case.why, String::from_utf8_lossy(&case.text));
    }
}

#[test]
fn kinds_of_changes_are_balanced() {
    let all = made(&shipped("json"), 420);
    assert_eq!(all.cases.len(), 420);
    for (kind, count) in &all.by_kind {
        // Rounds too few leave texts that others have, so they are rare in some grammars.
        assert!(*count >= 15, "{kind}: {count} of {:?}", all.by_kind);
    }
    let of_kind = |kind: Kind| all.cases.iter().filter(move |case| case.kind == Some(kind.name()));
    assert!(of_kind(Kind::Truncated).all(|case| case.at == Some(case.text.len())));
    assert!(of_kind(Kind::ClassEdge).count() >= 15);
    let rules: BTreeSet<&str> = all.cases.iter().filter_map(|case| case.rule.as_deref()).collect();
    assert!(rules.len() >= 18, "{rules:?}");
}

#[test]
fn rounds_are_missing_or_too_many() {
    let all = made(&compiled("s ::= 'x'{2,4} ';' (a b){1,2} ';' c{3}  a ::= 'a'  b ::= 'b'  c ::= [01]"), 2000);
    let of_kind = |kind: Kind| -> BTreeSet<String> {
        let own = all.cases.iter().filter(|case| case.kind == Some(kind.name()));
        own.map(|case| String::from_utf8_lossy(&case.text).into_owned()).collect()
    };
    let (few, many) = (of_kind(Kind::TooFewRounds), of_kind(Kind::TooManyRounds));
    assert!(few.iter().any(|text| text.starts_with("x;")), "{few:?}");
    assert!(few.iter().any(|text| text.contains(";;")), "{few:?}");
    assert!(many.iter().any(|text| text.starts_with("xxxxx;")), "{many:?}");
    assert!(many.iter().any(|text| text.contains(";ababab;")), "{many:?}");
}

#[test]
fn a_language_of_all_texts_has_none() {
    let all = made(&compiled("s ::= ([#x0-#xD7FF#xE000-#x10FFFF] | [#b80-#bFF])*"), 10);
    assert!(all.cases.is_empty() && all.valid > 100, "{:?}", all.cases);
}

#[test]
fn changes_break_what_follows_from_labels() {
    let grammar =
        compiled("file ::= chunk+  chunk ::= $u8(len(d)) d:([a-z]{1,5} name:word '=' $name)  word ::= [A-Z]+");
    let all = made(&grammar, 140);
    assert_eq!(all.cases.len(), 140, "{:?}", all.by_kind);
}
