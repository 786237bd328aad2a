//! Sizes without options: what a grammar without weights gets where equally probable alternatives would not do.

use std::fs;

use super::{inputs_of, place, run, stdout, text};

/// Grammars without weights, and what is wrong with their inputs.
const GRAMMARS: &[(&str, &str, &str)] = &[
    (
        "endless",
        "sum ::= sum '+' sum | sum '-' sum | sum '*' sum | '(' sum ')' | [0-9]+",
        "in the mean: taking the shape target-size=1000",
    ),
    (
        "short",
        "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9] | list",
        "bytes in the mean: taking the shape target-size=1000",
    ),
    (
        "empty",
        "file ::= entry*\nentry ::= name '=' value '\\n'\nname ::= [a-z]{8}\nvalue ::= 'word'{4,9} | '[' value (',' value)* ']'",
        "50 % of the inputs are the shortest one: taking the shape target-size=1000",
    ),
];

fn mean(arguments: &[&str]) -> f64 {
    let inputs =
        inputs_of(&stdout(&[&["gen", "-n", "2000", "--seed", "7", "--separator", "len32"], arguments].concat()));
    inputs.iter().map(Vec::len).sum::<usize>() as f64 / inputs.len() as f64
}

#[test]
fn inputs_that_would_be_too_long_too_short_or_the_same_get_a_shape() {
    let place = place("sizes-shape");
    for (name, grammar, complaint) in GRAMMARS {
        let path = place.path(&format!("{name}.ebnf"));
        fs::write(&path, grammar).unwrap();
        let output = run(&["gen", &path, "--seed", "1"]);
        let said = text(&output.stderr);
        assert!(output.status.success() && said.lines().count() == 1, "{name}: {said}");
        assert!(said.starts_with("gramjet: ") && said.contains(complaint), "{name}: {said}");
        assert!(said.ends_with("(otherwise: `--shape uniform`)\n"), "{name}: {said}");
        let found = mean(&[&path]);
        assert!((800.0..1250.0).contains(&found), "{name}: {found}");
        // It is the shape that can be asked for, ...
        let asked = stdout(&["gen", &path, "-n", "50", "--seed", "1", "--shape", "target-size=1k"]);
        assert!(stdout(&["gen", &path, "-n", "50", "--seed", "1"]) == asked, "{name}");
        // ... and `check` says so, with the lengths that it makes.
        let checked = text(&stdout(&["check", &path]));
        assert!(checked.contains("weights    ") && checked.contains(complaint), "{name}: {checked}");
        let json = text(&stdout(&["check", &path, "--json"]));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(json["facts"]["by_default"].as_str().unwrap().contains(complaint), "{name}");
        let expected = json["facts"]["growth"]["expected_length_within_max_depth"].as_f64().unwrap();
        assert!((950.0..1050.0).contains(&expected), "{name}: {expected}");
        // Choice bytes are read under the same weights.
        let (file, choices) = (place.path("in"), place.path("choices"));
        fs::write(&file, &output.stdout[..output.stdout.len() - 1]).unwrap();
        stdout(&["parse", &path, &file, "--choices", "--raw", "-o", &choices]);
        let render = ["render", &path, &choices, "--max-choices", "100M"];
        assert_eq!(stdout(&render), output.stdout[..output.stdout.len() - 1], "{name}");
        assert_ne!(stdout(&[&render[..], &["--shape", "uniform"]].concat()), stdout(&render), "{name}");
    }
}

#[test]
fn who_asks_for_something_gets_it() {
    let place = place("sizes-asked");
    let (path, weights) = (place.path("a.ebnf"), place.path("a.weights"));
    fs::write(&path, GRAMMARS[1].1).unwrap();
    let uniform = stdout(&["gen", &path, "-n", "50", "--seed", "1", "--shape", "uniform"]);
    let silent = |arguments: &[&str]| {
        let output = run(&[&["gen", "-n", "50", "--seed", "1"], arguments].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {}", text(&output.stderr));
        output.stdout
    };
    assert!(silent(&[&path, "--shape", "uniform"]) == uniform);
    assert!(mean(&[&path, "--shape", "uniform"]) < 16.0);
    // A limit on the length, and weights.
    silent(&[&path, "--max-len", "100"]);
    stdout(&["weights", &path, "--shape", "balanced", "-o", &weights]);
    silent(&[&path, "--weights", &weights]);
    fs::write(&path, format!("%max-len 100\n{}", GRAMMARS[1].1)).unwrap();
    silent(&[&path]);
    fs::write(&path, GRAMMARS[1].1.replace("[0-9] |", "[0-9] @ 1 |")).unwrap();
    assert!(silent(&[&path]) == uniform);
    // Weights are the user's in notations that have them: pest's have none, though it is read with some.
    let pest = place.path("a.pest");
    let nested = "a = { \"(\" ~ a* ~ \")\" | \"x\" }\nWHITESPACE = _{ \" \" | \"\\t\" }\n";
    fs::write(&pest, nested).unwrap();
    assert!(text(&run(&["gen", &pest, "--seed", "1"]).stderr).contains("taking the shape target-size=1000"));
}

/// A grammar of few short inputs has none of another size: it keeps its weights, without a message, but `check` reports
/// this.
#[test]
fn short_inputs_stay_where_there_are_no_others() {
    let place = place("sizes-short");
    let path = place.path("a.ebnf");
    fs::write(&path, "date ::= [0-9]{4} '-' [01] [0-9] '-' [0-3] [0-9]").unwrap();
    let output = run(&["gen", &path, "--seed", "1"]);
    assert!(output.status.success() && output.stderr.is_empty() && output.stdout.len() == 11, "{output:?}");
    let checked = text(&stdout(&["check", &path]));
    assert!(
        checked.contains("no weights come near the shape target-size=1000, so alternatives stay equally probable"),
        "{checked}"
    );
}

/// A mean can be reached by making one input of nearly all.
#[test]
fn long_inputs_stay_where_shorter_ones_would_be_the_same() {
    let place = place("sizes-same");
    let path = place.path("a.ebnf");
    fs::write(&path, format!("file ::= line*\nline ::= '{}'", "x".repeat(1 << 16))).unwrap();
    let output = run(&["gen", &path, "--seed", "1"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("inputs of 66 kB in the mean; 99 % would be the shortest one in the shape target-size=1000"),
        "{said}"
    );
    assert_eq!(output.stdout, stdout(&["gen", &path, "--seed", "1", "--shape", "uniform"]));
}

#[test]
fn grammars_that_ship_have_weights_of_their_own() {
    for name in text(&stdout(&["grammars"])).lines().filter(|line| !line.starts_with(' ')) {
        let name = name.split(' ').next().unwrap();
        let checked = text(&stdout(&["check", name]));
        assert!(!checked.contains("\nweights "), "{name}: {checked}");
    }
}
