//! Inputs of the playground, which are those of the command.

use std::fs;

use serde_json::{Value, json};

use super::{place, stdout, text};

/// Returns the inputs of a grammar in the playground, as text or hexadecimal digits.
fn inputs(grammar: &str) -> Vec<Value> {
    let request = json!({ "task": "inputs", "grammar": grammar, "notation": "", "seed": 3, "count": 10 });
    let answer: Value = serde_json::from_str(&gramjet_playground::answer(&request.to_string())).expect("an answer");
    let inputs = answer["inputs"].as_array().unwrap_or_else(|| panic!("{answer}"));
    inputs
        .iter()
        .map(|input| if input["text"].is_string() { input["text"].clone() } else { input["hex"].clone() })
        .collect()
}

#[test]
fn inputs_are_those_of_the_command() {
    let place = place("playground");
    let csv = gramjet_grammars::by_name("csv").expect("it ships").text;
    let short = "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9] | list\n";
    // Without weights, its inputs would be too short: the command takes other weights by default.
    let without_weights =
        "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9] | list | pair\npair ::= item ':' item\n";
    for grammar in [short, without_weights, "s ::= [a-z]{1,9} @ 3 | s ',' s\n", csv] {
        fs::write(&place.grammar, grammar).unwrap();
        for engine in ["auto", "vm"] {
            let written =
                stdout(&["gen", place.grammar(), "--engine", engine, "-n", "10", "--seed", "3", "--separator", "nul"]);
            let written = text(&written);
            let expected: Vec<&str> = written.trim_end_matches('\0').split('\0').collect();
            assert_eq!(inputs(grammar), expected, "{engine}: {grammar}");
        }
    }
}
