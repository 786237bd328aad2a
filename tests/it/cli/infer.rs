//! `gramjet infer`, on real programs.

use std::fs;

use super::fuzz::run_in;
use super::{Place, place, text};

/// A place with samples of JSON in a folder, and others in a second one.
fn samples(test: &str) -> Place {
    let place = place(test);
    let folders: [(&str, &[&str]); 2] = [
        ("samples", &[r#"{"a": [1, true], "b": null}"#, r#"["x", [], {}, -2.5]"#, "[[3], 4]", "\"y\""]),
        ("others", &["true", "[1, 2, [3]]", r#"{"k": {"l": [true]}}"#]),
    ];
    for (folder, texts) in folders {
        fs::create_dir_all(place.path(folder)).unwrap();
        for (number, text) in texts.iter().enumerate() {
            fs::write(place.path(&format!("{folder}/{number}.json")), text).unwrap();
        }
    }
    place
}

fn infer(place: &Place, program: &[&str]) -> std::process::Output {
    run_in(
        place,
        &[&["infer", "--samples", "samples", "--held-out", "others", "-o", "out.ebnf", "--"], program].concat(),
    )
}

#[test]
fn a_grammar_is_inferred_from_a_function() {
    let place = samples("infer-json");
    let found = infer(&place, &["python:json:loads"]);
    let said = text(&found.stderr);
    assert_eq!(found.status.code(), Some(0), "{said}");
    assert!(said.contains("recall: 3 of 3 other files conform"), "{said}");
    let checked = run_in(&place, &["parse", "out.ebnf", "samples/0.json", "samples/1.json"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
}

#[test]
fn programs_that_tell_nothing_are_refused() {
    let place = samples("infer-refused");
    for (program, problem) in [("true", "accepts every text"), ("false", "rejects the sample")] {
        let found = infer(&place, &[program]);
        let said = text(&found.stderr);
        assert_eq!(found.status.code(), Some(1), "{said}");
        assert!(said.contains(problem), "{said}");
    }
}
