//! Suites: `gen` with `--unique` and `--cover`.

use std::collections::BTreeSet;

use super::*;

const FINITE: &str = "a ::= [ab] 'x'{0,2} | 'c' ('1' | '2')\n";

/// Writes a grammar to a file of its own; returns its path.
fn grammar(place: &Place, name: &str, content: &str) -> String {
    let path = place.path(name);
    fs::write(&path, content).unwrap();
    path
}

fn lines(bytes: &[u8]) -> Vec<String> {
    text(bytes).lines().map(str::to_string).collect()
}

/// Returns the objects of the index of a suite.
fn index(folder: &str) -> Vec<serde_json::Value> {
    let content = fs::read_to_string(format!("{folder}/index.jsonl")).unwrap();
    content.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn unique_inputs_differ_and_end_with_the_language() {
    let place = place("suites-unique");
    let file = grammar(&place, "finite.ebnf", FINITE);
    let output = run(&["gen", &file, "--unique", "-n", "100", "--seed", "1"]);
    assert!(output.status.success());
    let mut found = lines(&output.stdout);
    found.sort();
    assert_eq!(found, ["a", "ax", "axx", "b", "bx", "bxx", "c1", "c2"]);
    let told = "8 inputs (24 bytes) are all: there are no other inputs within the limits";
    assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    // The first inputs are those of a run with repetitions, without these.
    let all = lines(&stdout(&["gen", &file, "-n", "500", "--seed", "1"]));
    let mut known = BTreeSet::new();
    let first: Vec<String> = all.into_iter().filter(|line| known.insert(line.clone())).collect();
    assert_eq!(lines(&stdout(&["gen", &file, "--unique", "-n", "5", "--seed", "1"])), first[..5]);
}

#[test]
fn unique_inputs_keep_limits_amounts_and_folders() {
    let place = place("suites-unique-limits");
    let lists = grammar(&place, "lists.ebnf", "list ::= '[' (list (',' list)*)? ']'\n");
    let output = run(&["gen", &lists, "--unique", "-n", "50", "--max-len", "7", "--seed", "1"]);
    assert!(output.status.success());
    assert_eq!(lines(&output.stdout).into_iter().collect::<BTreeSet<_>>().len(), 4);
    let bytes = stdout(&["gen", &lists, "--unique", "--bytes", "300", "--seed", "1"]);
    assert!(bytes.len() >= 300 && lines(&bytes).iter().collect::<BTreeSet<_>>().len() == lines(&bytes).len());
    let folder = place.path("out/");
    stdout(&["gen", &lists, "--unique", "-n", "9", "--seed", "1", "-o", &folder, "--ext", "txt"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 9);
}

#[test]
fn a_run_without_new_inputs_ends_with_code_1() {
    let place = place("suites-unique-tries");
    // Nearly all inputs are one, and the language is too large to be looked through.
    let level = |name: &str, next: &str| format!("{name} ::= 'x' @ 255 | {next} @ 1\n");
    let content = level("a", "b") + &level("b", "c") + &level("c", "d") + &level("d", "[a-z]{8}");
    let rare = grammar(&place, "rare.ebnf", &content);
    let output = run(&["gen", &rare, "--unique", "-n", "1M", "--seed", "1"]);
    let told = text(&output.stderr);
    let is_ended = told.contains("100000 inputs in a row were there before") && output.status.code() == Some(1);
    assert!(is_ended, "{told}");
    assert!(lines(&output.stdout).contains(&"x".to_string()));
}

#[test]
fn covers_are_folders_with_an_index() {
    let place = place("suites-cover");
    let file = grammar(&place, "sum.ebnf", "sum ::= term (('+' | '-') term)*\nterm ::= [0-9]{1,3} | '(' sum ')'\n");
    let folder = place.path("suite/");
    let output = run(&["gen", &file, "--cover", "2", "-o", &folder, "--ext", "txt"]);
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(text(&output.stderr).contains("20 of 20 paths of up to 2 alternatives in"), "{}", text(&output.stderr));
    let mut covered = BTreeSet::new();
    for line in index(&folder) {
        let name = line["file"].as_str().unwrap();
        assert!(name.ends_with(".txt") && line["valid"] == true && line["why"].is_string());
        assert!(run(&["parse", &file, &format!("{folder}/{name}")]).status.success());
        covered.extend(line["covers"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_string()));
    }
    assert_eq!(covered.len(), 20);
    assert!(covered.contains("sum-2.more > sum-3.2") && covered.contains("term.2 > sum"), "{covered:?}");
    // The same texts go to standard output.
    let joined = lines(&stdout(&["gen", &file, "--cover", "2"]));
    assert_eq!(joined.len(), index(&folder).len());
    assert_eq!(stdout(&["gen", &file, "--cover", "2", "--seed", "0"]), stdout(&["gen", &file, "--cover", "2"]));
}

#[test]
fn what_no_text_within_the_limits_has_is_told() {
    let place = place("suites-beyond");
    let file = grammar(&place, "nested.ebnf", "a ::= 'x' | '(' a ')' | '[' b ']'\nb ::= 'yyyyy' | 'z'\n");
    let folder = place.path("suite/");
    let output = run(&["gen", &file, "--cover", "1", "--max-len", "3", "-o", &folder]);
    let told = text(&output.stderr);
    assert!(told.contains("4 of 5 paths") && told.contains("beyond the limits: b.1"), "{told}");
    let last = index(&folder).pop().unwrap();
    assert_eq!((last["missing"].as_str(), last["why"].as_str()), (Some("b.1"), Some("beyond the limits")));
}

#[test]
fn suites_refuse_what_they_cannot_do() {
    let place = place("suites-wrong");
    let file = place.grammar();
    let cases: &[(&[&str], &str)] = &[
        (&["--unique", "--jobs", "2"], "cannot be used with"),
        (&["--unique", "--shard", "0/2", "--seed", "1"], "cannot be used with"),
        (&["--unique", "--engine", "bulk"], "`--unique` is not possible with `--engine bulk`"),
        (&["--cover", "0"], "0 is not in 1..=16"),
        (&["--cover", "2", "-n", "3"], "cannot be used with"),
        (&["--cover", "2", "--unique"], "cannot be used with"),
        (&["--cover", "2", "--shape", "uniform"], "cannot be used with"),
        (&["--cover", "2", "--max-len", "1"], "the shortest input of this grammar has 2 bytes"),
    ];
    for (arguments, expected) in cases {
        let output = run(&[&["gen", file], *arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
    }
}
