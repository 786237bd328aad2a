//! `--shape`, `--weights`, `gramjet weights` and `--coverage`.

use super::*;

const LISTS: &str = "list ::= '[' (item (',' item)*)? ']'\nitem ::= [a-z] | list | list '+' list | never\n\
                     never ::= 'n' @ 0 | 'm' | 'o' @ 0.0001\n";

fn lists(place: &Place) -> String {
    let file = place.path("lists.ebnf");
    fs::write(&file, LISTS).unwrap();
    file
}

fn mean(arguments: &[&str], grammar: &str) -> f64 {
    let shared = ["gen", grammar, "-n", "4000", "--seed", "3", "--separator", "none"];
    stdout(&[&shared, arguments].concat()).len() as f64 / 4000.0
}

#[test]
fn shapes_shape_what_is_generated() {
    let place = place("shapes");
    let file = lists(&place);
    for (bytes, written) in [(60.0, &["--shape", "target-size=60"][..]), (2000.0, &["--shape", "target-size", "2k"])] {
        let found = mean(written, &file);
        assert!((found - bytes).abs() < bytes / 10.0, "{found} where {bytes} were asked for");
    }
    let found = mean(&["--shape", "target-size=60", "--max-depth", "4"], &file);
    assert!((found - 60.0).abs() < 6.0, "{found}");
    let arguments = |shape: &'static str| ["gen", "json", "-n", "20", "--seed", "5", "--shape", shape];
    let outputs: Vec<Vec<u8>> = ["uniform", "balanced", "deep"].map(|shape| stdout(&arguments(shape))).into();
    assert!(outputs[0] != outputs[1] && outputs[1] != outputs[2]);
    for engine in ENGINES {
        assert_eq!(stdout(&[&arguments("balanced")[..], &["--engine", engine]].concat()), outputs[1], "{engine}");
    }
    let output = run(&[&arguments("balanced")[..], &["--engine", "rust"]].concat());
    assert_eq!(output.status.code(), Some(2));
    for wrong in ["round", "target-size", "target-size=0"] {
        assert_eq!(run(&["gen", "json", "--shape", wrong]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn sizes_that_cannot_be_reached_are_said() {
    let place = place("shapes-unreachable");
    let file = place.path("bit.ebnf");
    fs::write(&file, "bit ::= '0' | '11'").unwrap();
    let output = run(&["gen", &file, "--shape", "target-size=500", "--seed", "1"]);
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("warning[unreachable-size]") && said.contains("to 2.0"), "{said}");
}

#[test]
fn weights_are_saved_and_loaded() {
    let place = place("shapes-weights");
    let (file, weights) = (lists(&place), place.path("lists.weights"));
    let output = run(&["weights", &file, "--shape", "target-size=200", "-o", &weights]);
    assert!(output.status.success() && text(&output.stderr).contains("spectral radius"), "{output:?}");
    let shaped = stdout(&["gen", &file, "-n", "50", "--seed", "9", "--shape", "target-size=200"]);
    assert_eq!(stdout(&["gen", &file, "-n", "50", "--seed", "9", "--weights", &weights]), shaped);
    // The choice map is that of the weights: other commands need them, too.
    let input = stdout(&["gen", &file, "--seed", "9", "--weights", &weights, "--separator", "none"]);
    let text_file = place.path("input");
    fs::write(&text_file, &input).unwrap();
    let choices = stdout(&["parse", &file, &text_file, "--choices", "--weights", &weights]);
    let choices_file = place.path("choices");
    fs::write(&choices_file, &choices).unwrap();
    assert_eq!(stdout(&["render", &file, &choices_file, "--max-depth", "none", "--weights", &weights]), input);
    // A file that was written from a file is the same, the shape that was asked for too.
    let again = text(&stdout(&["weights", &file, "--weights", &weights]));
    assert!(again.contains("\"shape\": "), "{again}");
    assert_eq!(again, fs::read_to_string(&weights).unwrap());

    fs::write(&file, LISTS.replace("'m'", "'mm'")).unwrap();
    let output = run(&["gen", &file, "--weights", &weights]);
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("error[stale-weights]"), "{said}");
    fs::write(&weights, "[]").unwrap();
    let said = text(&run(&["gen", &file, "--weights", &weights]).stderr);
    assert!(said.contains("error[invalid-weights]"), "{said}");
    assert!(text(&run(&["gen", &file, "--weights", &place.path("nothing")]).stderr).contains("cannot read"));
    assert_eq!(run(&["gen", &file, "--weights", &weights, "--shape", "deep"]).status.code(), Some(2));
    assert_eq!(run(&["weights", &file]).status.code(), Some(2));
    assert_eq!(run(&["convert", &file, "-", "--to", "ebnf", "--shape", "deep"]).status.code(), Some(2));
}

#[test]
fn coverage_is_that_of_the_run() {
    let place = place("shapes-coverage");
    let (file, report) = (lists(&place), place.path("coverage.json"));
    let coverage = format!("--coverage={report}");
    let output = run(&["gen", &file, "-n", "1", "--seed", "1", "--max-len", "2", &coverage]);
    assert_eq!(text(&output.stdout), "[]\n");
    let said = text(&output.stderr);
    assert!(said.contains("coverage: 1 of 3 rules (33.3 %), 0 of 6 alternatives (0.0 %)"), "{said}");
    assert!(said.contains("not reached: rule `item`"), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    assert_eq!((&found["schema"], &found["inputs"]), (&1.into(), &1.into()));
    assert_eq!(found["alternatives"], serde_json::json!({"reached": 0, "total": 6}));
    assert_eq!(found["by_rule"][1]["rule"], "item");
    let first = serde_json::json!({"alternative": 0, "line": 2, "column": 10, "reached": false});
    assert_eq!(found["by_rule"][1]["choices"][0]["alternatives"][0], first);
    // Any number of threads, and any part of a run.
    let covered = |arguments: &[&str]| {
        let shared = ["gen", file.as_str(), "--seed", "4", "--coverage", "-o", "/dev/null"];
        let output = run(&[&shared, arguments].concat());
        assert!(output.status.success(), "{output:?}");
        text(&output.stderr)
    };
    let some = covered(&["-n", "10", "--max-depth", "1"]);
    assert!(some.contains("2 of 3 rules") || some.contains("not reached: an alternative of `never` at"), "{some}");
    assert_eq!(covered(&["-n", "10", "--max-depth", "1", "--jobs", "3"]), some);
    let all = covered(&["-n", "30000", "--jobs", "2"]);
    assert!(all.contains("3 of 3 rules (100.0 %), 6 of 6 alternatives (100.0 %)"), "{all}");
    assert!(covered(&["--bytes", "20k"]).contains("3 of 3 rules"));
    assert_eq!(run(&["gen", &file, "--coverage", "--engine", "bulk"]).status.code(), Some(2));
}
