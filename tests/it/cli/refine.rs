//! `gramjet refine`, on real programs.

use std::fs;
use std::path::Path;

use super::fuzz::run_in;
use super::{place, text};

/// Returns a folder of this repository that has the calculator of the example.
fn calculator(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/refine").join(file).to_string_lossy().into_owned()
}

#[test]
fn the_calculator_is_repaired_and_comments_stay() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = place("refine-calculator");
    let grammar = calculator("calculator.ebnf");
    let program = format!("python:{}:check", calculator("calculator.py"));
    let options = ["refine", &grammar, "-o", "better.ebnf", "--rounds", "1", "--max-tests", "8000"];
    let repaired = run_in(&place, &[&options[..], &["--", &program]].concat());
    let said = text(&repaired.stderr);
    assert_eq!(repaired.status.code(), Some(0), "{said}");
    assert!(
        said.contains("wider, in `")
            && said.contains("gramjet: 1 change is made:\n1. `")
            && said.contains("precision (generated texts"),
        "{said}"
    );
    assert!(said.contains("100.0 % before, 100.0 % after"), "{said}");
    let diff = text(&repaired.stdout);
    assert!(
        diff.starts_with("--- ") && diff.contains("\n+") && diff.contains("one; the program takes several"),
        "{diff}"
    );
    fs::write(place.path("text"), "(2+3)(4*5)(9-12)").unwrap();
    assert_eq!(run_in(&place, &["parse", &grammar, "text"]).status.code(), Some(1));
    assert_eq!(run_in(&place, &["parse", "better.ebnf", "text"]).status.code(), Some(0), "{diff}");
}

/// Takes lists of any length; the grammars below have at most two elements.
const LISTS: &str = r#"
import re

def check(text):
    at = value(text, 0)
    if not text.startswith("[") or at != len(text):
        raise ValueError(at)

def value(text, at):
    if text[at:at + 1] != "[":
        return re.compile("[1-9]+").match(text, at).end()
    at += 1
    if text[at:at + 1] != "]":
        at = value(text, at)
        while text[at:at + 1] == ",":
            at = value(text, at + 1)
    if text[at:at + 1] != "]":
        raise ValueError(at)
    return at + 1
"#;

#[test]
fn edits_are_written_in_the_notation_of_the_grammar() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = place("refine-notations");
    let grammars = [
        (
            "g.abnf",
            "; lists\nlist = \"[\" [ value [ \",\" value ] ] \"]\" ; few\nvalue = list / 1*%x31-39 ; no zero\n",
            "; ",
        ),
        (
            "g.lark",
            "// lists\nstart: \"[\" (value (\",\" value)?)? \"]\" // few\nvalue: start -> list\n  | NUMBER // no zero\nNUMBER: /[1-9]+/\n",
            "// ",
        ),
        (
            "g.g4",
            "grammar G; // lists\nlist : '[' (value (',' value)?)? ']' ; // few\nvalue : list # inner\n  | NUMBER # number\n  ; // no zero\nNUMBER : [1-9]+ ;\n",
            "// ",
        ),
    ];
    fs::write(place.path("check.py"), LISTS).unwrap();
    fs::write(place.path("text"), "[1,2,3]").unwrap();
    for (name, grammar, comment) in grammars {
        fs::write(place.path(name), grammar).unwrap();
        let out = format!("better.{name}");
        let options =
            ["refine", name, "-o", &out, "--rounds", "1", "--max-tests", "6000", "--samples", "text", "--text"];
        let repaired = run_in(&place, &[&options[..], &["--", "python:check.py:check"]].concat());
        let said = text(&repaired.stderr);
        assert_eq!(repaired.status.code(), Some(0), "{said}");
        assert!(!said.contains("without comments"), "{name}: {said}");
        let better = fs::read_to_string(place.path(&out)).unwrap();
        for kept in ["lists", "few", "no zero"] {
            assert!(better.contains(&format!("{comment}{kept}")), "{better}");
        }
        assert_eq!(run_in(&place, &["parse", name, "text"]).status.code(), Some(1), "{name}");
        assert_eq!(run_in(&place, &["parse", &out, "text"]).status.code(), Some(0), "{better}");
    }
}

#[test]
fn what_json_does_not_have_is_dropped_and_measured() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = place("refine-json");
    let grammar = "value ::= list | [1-9] [0-9]* | 'true' | 'maybe' -- is it?\nlist ::= '[' (value (',' value)?)? ']' /* few */\n";
    fs::write(place.path("g.ebnf"), grammar).unwrap();
    fs::create_dir_all(place.path("held")).unwrap();
    fs::write(place.path("held/1"), "[1,2,3]").unwrap();
    fs::write(place.path("held/2"), "[true]").unwrap();
    let options = ["refine", "g.ebnf", "--json", "--rounds", "1", "--max-tests", "20000", "--held-out", "held"];
    let repaired = run_in(&place, &[&options[..], &["--", "python:json:loads"]].concat());
    assert_eq!(repaired.status.code(), Some(0), "{}", text(&repaired.stderr));
    let lines: Vec<serde_json::Value> =
        text(&repaired.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let directions: Vec<&str> = lines.iter().filter_map(|line| line["direction"].as_str()).collect();
    assert!(directions.contains(&"tighten") && directions.contains(&"widen"), "{lines:?}");
    let changes: Vec<&serde_json::Value> = lines.iter().filter(|line| line["event"] == "change").collect();
    let shut = changes.iter().find(|change| change["rule"] == "value").unwrap();
    assert!(
        shut["applied"] == true
            && shut["rejected"].as_u64() > Some(0)
            && shut["shuts_out"].to_string().contains("maybe"),
        "{shut}"
    );
    let end = &lines[lines.len() - 1];
    let diff = end["diff"].as_str().unwrap();
    assert!(diff.contains("-- is it?") && diff.contains("/* few */") && end["in_place"] == true, "{diff}");
    assert!(
        diff.lines().any(|line| line.starts_with('+') && !line.contains("maybe") && line.contains("'true'")),
        "{diff}"
    );
    assert_eq!((&end["recall"][0]["part"], &end["recall"][1]["part"]), (&1.into(), &2.into()), "{diff}");
    let precision = &end["precision"];
    assert!(precision[0]["part"].as_u64() < precision[1]["part"].as_u64(), "{precision}");
}

#[test]
fn a_program_that_tells_nothing_is_refused() {
    let place = place("refine-refused");
    for (program, options, code, said) in [
        (&["sh", "-c", "cat > /dev/null"][..], &[][..], 1, "accepts whatever it gets"),
        (&["sh", "-c", "exit 3"], &[], 1, "rejects all of"),
        (&["sh", "-c", "while :; do :; done"], &["--timeout", "20ms"], 1, "on 16 texts in a row"),
        (&["./nothing"], &[], 2, "there is no such program"),
        (&["cat"], &["--accept-regex", "("], 2, "--accept-regex"),
        (&["cat"], &["--samples", "nowhere"], 2, "no file or folder"),
        (&["cat"], &["--apply", "1,x"], 2, "`needed`, `all`, or numbers"),
    ] {
        let grammar = place.grammar.to_string_lossy().into_owned();
        let arguments = [&["refine", &grammar, "-o", "out"][..], options, &["--"], program].concat();
        let output = run_in(&place, &arguments);
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(code) && message.contains(said), "{program:?}: {message}");
        assert!(!Path::new(&place.path("out")).exists());
    }
}
