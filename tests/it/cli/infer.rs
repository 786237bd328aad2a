//! `gramjet infer`, on real programs.

use std::fs;

use super::fuzz::run_in;
use super::{Place, place, text};

/// Returns a place with samples of JSON in a folder, and others in a second one.
fn samples(test: &str) -> Place {
    let place = place(test);
    let folders: [(&str, &[&str]); 2] = [
        ("samples", &[r#"{"a": [1, true], "b": null}"#, r#"["x", [], {}, -2.5]"#, "[[3], 4]\n", "\"y\""]),
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

/// Infers with these options and returns the exit code and the messages.
fn infer(place: &Place, options: &[&str], program: &[&str]) -> (Option<i32>, String) {
    let begin = ["infer", "--samples", "samples", "--held-out", "others", "-o", "out.ebnf"];
    let found = run_in(place, &[&begin, options, &["--"], program].concat());
    (found.status.code(), text(&found.stderr).to_string())
}

#[test]
fn a_grammar_is_inferred_from_a_function() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = samples("infer-json");
    let (code, said) = infer(&place, &[], &["python:json:loads"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("recall 1.000: 3 of 3 other files conform"), "{said}");
    assert!(said.contains("precision 1.000: the program accepts 200 of 200"), "{said}");
    let grammar = fs::read_to_string(place.path("out.ebnf")).unwrap();
    assert!(grammar.contains("pair ::= string space ':' space value"), "{grammar}");
    let all = ["parse", "out.ebnf", "samples/0.json", "samples/1.json", "samples/2.json", "samples/3.json"];
    let checked = run_in(&place, &all);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    let first = (code, said.replace(|character: char| character.is_ascii_digit(), ""));
    let (code, said) = infer(&place, &[], &["python:json:loads"]);
    assert_eq!((code, said.replace(|character: char| character.is_ascii_digit(), "")), first);
    assert_eq!(fs::read_to_string(place.path("out.ebnf")).unwrap(), grammar);
}

#[test]
fn bounds_end_the_questions_and_samples_still_conform() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = samples("infer-bounds");
    let (code, said) = infer(&place, &["--max-tests", "60"], &["python:json:loads"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("`--max-tests` ended the questions"), "{said}");
    let checked = run_in(&place, &["parse", "out.ebnf", "samples/0.json", "samples/1.json", "samples/2.json"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    let (code, said) = infer(&place, &["--max-tests", "2"], &["python:json:loads"]);
    assert!(code == Some(1) && said.contains("before the program was run on all samples"), "{said}");
    let (code, said) = infer(&place, &["--max-sample", "15"], &["python:json:loads"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("`samples/0.json` is left out: samples have at most 15 B"), "{said}");
    let (code, said) = infer(&place, &["--max-sample", "1"], &["python:json:loads"]);
    assert!(code == Some(2) && said.contains("all samples are longer than 1 B"), "{said}");
}

#[test]
fn programs_that_tell_nothing_are_refused() {
    let place = samples("infer-refused");
    for (program, timeout, problem) in [
        (&["true"][..], "10s", "accepts whatever it gets"),
        (&["false"], "10s", "rejects the sample"),
        (&["sleep", "10"], "5ms", "exceeded a limit on the sample"),
    ] {
        let (code, said) = infer(&place, &["--timeout", timeout], program);
        assert!(code == Some(1) && said.contains(problem), "{said}");
        assert!(!std::path::Path::new(&place.path("out.ebnf")).exists());
    }
}

#[test]
fn what_the_program_said_of_a_sample_is_shown_with_the_usual_cause() {
    let place = samples("infer-why");
    let script = r"cat > /dev/null; printf 'one\nline 2: no \033[31m token\n' >&2; exit 3";
    let (code, said) = infer(&place, &[], &["sh", "-c", script]);
    let expected = ".json`: exit status 3; it wrote\n    one\n    line 2: no \\u{1b}[31m token";
    assert!(code == Some(1) && said.contains(expected) && said.contains("it accepts by exit status 0"), "{said}");
    if !gramjet_needs::has_for_a_part("python3") {
        return;
    }
    let module = "import re\ndef parse(text):\n    if not re.match('[^}]', text):\n        raise ValueError('no')\n";
    std::fs::write(place.path("mine.py"), module).expect("a file");
    let (code, said) = infer(&place, &[], &["python:mine.py:parse"]);
    assert!(code == Some(1) && said.contains("cannot use a string pattern on a bytes-like object"), "{said}");
    assert!(said.contains("the function may want text, and gets bytes: `--text` gives it text"), "{said}");
    let (_, said) = infer(&place, &["--text", "--max-tests", "300"], &["python:mine.py:parse"]);
    assert!(!said.contains("rejects the sample"), "{said}");
}
