//! Texts that can be stretched, and places: what they make is in the language.

use gramjet_compiler::SourceFile;
use gramjet_session::decisions::{Around, Stretch};
use gramjet_session::{Language, Settings};

fn language(grammar: &str) -> Language {
    Language::compile(&SourceFile::new("g.ebnf", grammar), &Settings::default()).expect("a grammar")
}

fn written(stretch: &Stretch, levels: usize) -> String {
    let mut text = Vec::new();
    stretch.write(levels, &mut text);
    assert_eq!(text.len(), stretch.len(levels));
    String::from_utf8(text).expect("UTF-8")
}

#[test]
fn each_way_in_which_a_rule_contains_itself_is_a_stretch() {
    let value = "value ::= array | object | [0-9]  array ::= '[' (value (',' value)*)? ']'
        object ::= '{' (key ':' value)? '}'  key ::= '\"' [a-z]* '\"'";
    let language = language(value);
    let stretches = language.deriver(None).stretches();
    let nested: Vec<String> =
        stretches.iter().filter(|stretch| stretch.is_nested).map(|stretch| written(stretch, 2)).collect();
    for begin in ["[[", "[0,[0,", "{\"\":{\"\":"] {
        assert!(nested.iter().any(|text| text.starts_with(begin)), "{begin}: {nested:?}");
    }
    assert_eq!(nested.len(), 3, "{nested:?}");
    let repeated: Vec<String> =
        stretches.iter().filter(|stretch| !stretch.is_nested).map(|stretch| written(stretch, 3)).collect();
    assert!(
        repeated.contains(&"[0,0,0,0]".to_string()) && repeated.contains(&"{\"aaa\":0}".to_string()),
        "{repeated:?}"
    );
}

#[test]
fn stretched_texts_are_in_the_language() {
    let names = ["json", "json5", "toml", "yaml", "xml", "css", "markdown", "javascript", "sql", "regex", "lua", "ini"];
    let (mut nested, mut repeats) = (0, 0);
    for name in names {
        let language = Language::load(name.as_ref(), &Settings::default()).expect("a shipped grammar");
        let stretches = language.deriver(None).stretches();
        nested += usize::from(stretches.iter().any(|stretch| stretch.is_nested));
        repeats += usize::from(stretches.iter().any(|stretch| !stretch.is_nested));
        for stretch in stretches.iter().take(40) {
            // A repetition may have to have some rounds.
            let text = written(stretch, 9);
            assert!(language.parse(text.as_bytes()).is_ok(), "{name}, {}: {text}", stretch.rule);
        }
    }
    // Some grammars have a bound for whatever repeats in texts that are made, not only read.
    assert!(nested > 6 && repeats > 3, "{nested}, {repeats}");
}

#[test]
fn depth_costs_no_stack_and_no_more_memory_than_the_text() {
    let language = language("s ::= '(' s ')' | 'x' s | ''");
    let stretches = language.deriver(None).stretches();
    let deepest = stretches.iter().map(|stretch| written(stretch, 1_000_000).len()).collect::<Vec<_>>();
    assert_eq!(deepest, [1_000_000, 2_000_000]);
    let mut open = Vec::new();
    stretches[1].write_open(5, &mut open);
    assert_eq!(open, b"(((((");
}

#[test]
fn what_is_left_recursive_is_nested_too() {
    let language = language("sum ::= sum '+' [0-9] | [0-9]");
    let texts: Vec<String> = language.deriver(None).stretches().iter().map(|stretch| written(stretch, 3)).collect();
    assert_eq!(texts, ["0+0+0+0"]);
}

#[test]
fn places_are_those_of_words_and_of_characters() {
    let language =
        language("list ::= '[' item* ']'  item ::= word | list  word ::= '<' [a-z]* '>' | number  number ::= [0-9]+");
    let around = |before: &str, after: &str| Around { before: before.into(), after: after.into() };
    let mut places = language.deriver(None).places();
    places.sort();
    assert_eq!(places, [around("[", "]"), around("[<", ">]")]);
}

#[test]
fn repetitions_stand_wherever_their_rule_stands_with_each_text_of_a_round() {
    let language = language("list ::= '[' s item s ']'  item ::= '<' char* '>'  char ::= [a-z] | '%' s  s ::= ' '*");
    let texts: Vec<String> = language.deriver(None).repetitions().iter().map(|stretch| written(stretch, 3)).collect();
    for expected in ["[   <>]", "[<>   ]", "[<%   >]", "[<aaa>]", "[<%%%>]"] {
        assert!(texts.iter().any(|text| text == expected), "{expected} of {texts:?}");
    }
}

/// Rules that refer to each other in all ways have many cycles, and the search for them has an end.
#[test]
fn grammars_with_many_cycles_are_looked_at_in_time() {
    let names: Vec<String> = (0..60).map(|number| format!("r{number}")).collect();
    let rules: String = names.iter().map(|name| format!("{name} ::= '{name}' ({})?\n", names.join(" | "))).collect();
    let stretches = language(&rules).deriver(None).stretches();
    assert!(stretches.len() > 1000, "{}", stretches.len());
}
