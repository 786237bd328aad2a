//! Requests as the page makes them, hostile ones, and their answers. `tests/page.mjs` uses the page itself.

use std::thread;

use serde_json::{Value, json};

/// Returns the answer to a request.
fn answer(request: &Value) -> Value {
    answer_to(&request.to_string())
}

/// Returns the answer to a text, on a stack as large as that of the page.
fn answer_to(request: &str) -> Value {
    let request = request.to_string();
    let thread = thread::Builder::new().stack_size(8 << 20);
    let answered = thread.spawn(move || gramjet_playground::answer(&request)).expect("a thread").join();
    serde_json::from_str(&answered.expect("an answer")).expect("an answer is JSON")
}

/// Returns a request about a grammar. It has what any task needs.
fn request(task: &str, grammar: &str) -> Value {
    json!({
        "task": task, "grammar": grammar, "notation": "", "seed": 3, "count": 10, "text": "", "width": 600,
        "whole": false,
    })
}

/// Returns a request with another value of a field.
fn with(mut request: Value, name: &str, value: impl Into<Value>) -> Value {
    request[name] = value.into();
    request
}

const TASKS: [&str; 5] = ["lists", "grammar", "drawing", "inputs", "tree"];
const LISTS: &str = "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9] | list\n";

#[test]
fn what_is_no_request_is_refused() {
    let error = answer_to("{")["error"].as_str().unwrap_or_default().to_string();
    assert!(error.starts_with("the request is no JSON: "), "{error}");
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(answer_to(&nested)["error"].is_string());
    for other in ["[]", "null", "7", "\"lists\"", "{}", "{\"task\":7}"] {
        assert_eq!(answer_to(other), json!({ "error": "the request has no text \"task\"" }), "{other}");
    }
    assert_eq!(answer(&request("<b>", LISTS)), json!({ "error": "no such task: \"<b>\"" }));
}

#[test]
fn fields_of_wrong_types_are_refused() {
    let texts = ["grammar", "notation"].map(|name| ("grammar", name, "the request has no text"));
    let others = [
        ("inputs", "seed", "the request has no number"),
        ("inputs", "count", "the request has no number"),
        ("tree", "text", "the request has no text"),
        ("tree", "width", "the request has no number"),
        ("drawing", "whole", "the request does not say whether"),
    ];
    for (task, name, error) in texts.into_iter().chain(others) {
        for wrong in [json!(-1), json!(null), json!([]), json!({})] {
            let answer = answer(&with(request(task, LISTS), name, wrong));
            assert_eq!(answer, json!({ "error": format!("{error} {name:?}") }), "{task}");
        }
    }
    let unknown = with(request("grammar", LISTS), "notation", "xyz");
    assert_eq!(answer(&unknown), json!({ "error": "no such notation: \"xyz\"" }));
    let long = with(request("tree", LISTS), "text", "x".repeat((1 << 20) + 1));
    assert_eq!(answer(&long), json!({ "error": "The text has more than 1 MiB: use the command." }));
}

#[test]
fn lists_have_grammars_and_notations() {
    let lists = answer(&json!({ "task": "lists" }));
    let shipped = lists["shipped"].as_array().expect("grammars");
    let json = shipped.iter().find(|grammar| grammar["name"] == "json").expect("it ships");
    assert!(json["text"].as_str().is_some_and(|text| text.contains("::=")), "{json}");
    assert!(lists["notations"].as_array().is_some_and(|all| all.contains(&json!("ebnf"))), "{lists}");
}

#[test]
fn diagnostics_have_places_as_text_boxes_count_them() {
    assert_eq!(
        answer(&request("grammar", LISTS)),
        json!({ "notation": "ebnf", "usable": true, "diagnostics": [], "more": 0 })
    );
    // A text box has one character for each end of a line, and two for what is beyond 16 bits.
    for end in ["\n", "\r\n"] {
        let grammar = format!("s ::= '\u{1F600}'{end}t ::= other");
        let answer = answer(&request("grammar", &grammar));
        let diagnostics = answer["diagnostics"].as_array().expect("diagnostics");
        let error = diagnostics.iter().find(|one| one["error"] == true).expect("an error");
        assert_eq!(error["place"], json!({ "line": 2, "column": 7, "start": 17, "end": 22 }), "{answer}");
        assert_eq!(answer["usable"], false);
    }
}

#[test]
fn trees_are_drawn_and_mismatches_have_places() {
    let tree = |text: &str| answer(&with(request("tree", LISTS), "text", text));
    let drawn = tree("[1,[2]]");
    let picture = drawn["tree"].as_str().unwrap_or_default();
    assert!(picture.starts_with("<svg ") && picture.contains(" width=\"600\" "), "{drawn}");
    let refused = tree("[1,\n x]");
    assert_eq!(refused["place"], json!({ "line": 1, "column": 4 }), "{refused}");
    assert!(refused["refused"].as_str().is_some_and(|text| text.starts_with("expected ")), "{refused}");
    // The empty text is a text, too.
    assert!(tree("")["refused"].is_string());
    assert!(answer(&request("tree", "s ::= 'a'*"))["tree"].is_string());
}

#[test]
fn grammars_with_errors_have_answers_that_say_why() {
    let grammar = "s ::= 'a'\n  other";
    for (task, effect) in [("inputs", "There are no inputs"), ("tree", "No text can be parsed")] {
        let answer = answer(&request(task, grammar));
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(error.starts_with(&format!("{effect}: line 2, column 3: ")), "{error}");
        assert!(error.contains("`other`"), "{error}");
    }
    let drawing = answer(&request("drawing", grammar));
    assert_eq!(drawing, json!({ "error": "There is no diagram: the grammar has errors." }));
}

#[test]
fn large_diagrams_are_drawn_only_if_they_are_wanted() {
    let rules = |count: usize| -> String {
        (0..count).map(|number| format!("r{number} ::= 'a' r{}?\n", (number + 1) % count)).collect()
    };
    assert!(answer(&request("drawing", &rules(300)))["page"].is_string());
    let large = request("drawing", &rules(301));
    assert_eq!(answer(&large), json!({ "large": "The diagram has 301 rules" }));
    assert!(answer(&with(large, "whole", true))["page"].is_string());
    let error = "5001 rules are too many for a diagram: at most 5000 are drawn.";
    assert_eq!(answer(&with(request("drawing", &rules(5001)), "whole", true)), json!({ "error": error }));
}

#[test]
fn hostile_grammars_have_answers() {
    let grammars = [
        String::new(),
        "\0\u{202E}<script>".to_string(),
        format!("s ::= {}'x'{}", "(".repeat(100_000), ")".repeat(100_000)),
        "s ::= s".to_string(),
        "s ::= s s s s | 'x'{1,100000} @ 1000".to_string(),
        "{\"<start>\": [\"<start>\"]}".to_string(),
        "s ::= 'x'{99999999999999999999}".to_string(),
    ];
    for grammar in &grammars {
        for task in TASKS {
            let answer = answer(&request(task, grammar));
            assert!(answer.is_object(), "{task}: {grammar:.60}");
            let large = answer["inputs"].as_array().map_or(0, Vec::len);
            assert!(large <= 10, "{task}: {grammar:.60}");
        }
    }
    // Each prefix has as many derivations as there are ways to split it.
    let ambiguous = with(request("tree", "s ::= s s | s s s | 'a' | ''"), "text", "a".repeat(200));
    let answer = answer(&ambiguous);
    assert!(answer["tree"].is_string() || answer["refused"].is_string(), "{answer}");
}

#[test]
fn many_and_long_inputs_are_bounded() {
    let many = answer(&with(request("inputs", "s ::= [a-z]"), "count", u64::MAX));
    assert_eq!(many["inputs"].as_array().map(Vec::len), Some(1000));
    assert_eq!(many["note"], "1000 inputs are shown: at most 1000, and no more after 1 MiB.");
    let long = answer(&request("inputs", "s ::= 'x'{300000}"));
    assert_eq!(long["inputs"].as_array().map(Vec::len), Some(4), "{}", long["note"]);
    let note =
        "4 inputs are shown: at most 1000, and no more after 1 MiB. Inputs of more than 64 KiB are completed early.";
    assert!(long["note"].as_str().is_some_and(|said| said.ends_with(note)), "{}", long["note"]);
}

/// Returns the inputs of a grammar in the page, as text or hexadecimal digits.
fn inputs(grammar: &str) -> Vec<Value> {
    let answer = answer(&request("inputs", grammar));
    let inputs = answer["inputs"].as_array().unwrap_or_else(|| panic!("{answer}"));
    inputs
        .iter()
        .map(|input| if input["text"].is_string() { input["text"].clone() } else { input["hex"].clone() })
        .collect()
}

/// A grammar without weights, whose inputs would be too short: the command takes other weights by default.
const WITHOUT_WEIGHTS: &str =
    "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9] | list | pair\npair ::= item ':' item\n";

#[test]
fn weights_by_default_are_told() {
    let answer = answer(&request("inputs", WITHOUT_WEIGHTS));
    let note = answer["note"].as_str().unwrap_or_default();
    assert!(note.starts_with("Default weights: ") && note.contains("the shape target-size=1"), "{note}");
}

/// The page sends them as they are, though a text box has other ends of lines.
#[test]
fn inputs_with_other_ends_of_lines_conform() {
    for name in ["csv", "http", "imf"] {
        let grammar = gramjet_grammars::by_name(name).expect("it ships").text;
        let inputs = inputs(grammar);
        let has_end = |input: &&Value| input.as_str().is_some_and(|text| text.contains("\r\n"));
        let input = inputs.iter().find(has_end).expect("an input with CR LF");
        let answer = answer(&with(request("tree", grammar), "text", input.clone()));
        assert!(answer["tree"].is_string(), "{name}: {input}: {answer}");
    }
}
