//! Searches of functions in Python.

use super::*;

pub(super) fn has_python() -> bool {
    gramjet_needs::has("python3")
}

/// Functions report errors in their input by exceptions, so these are no failures. If there is nothing else, the
/// function probably wants text.
#[test]
fn a_function_that_only_raises_exceptions_is_reported() {
    if !has_python() {
        return;
    }
    let place = place("search-raises");
    fs::write(place.path("subject.py"), "def commas(text):\n    return sum(1 for _ in range(text.count(',')))\n")
        .unwrap();
    let search = |out: &str, options: &[&str]| {
        let begin = ["search", "json", "-n", "50", "--study", "0s", "-o", out];
        let found = run_in(&place, &[&begin[..], options, &["--", "python:subject:commas"]].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        text(&found.stderr).to_string()
    };
    let said = search("bytes", &[]);
    assert!(said.contains("raised an exception in every run, first TypeError at"), "{said}");
    let said = search("text", &["--text"]);
    assert!(!said.contains("exception"), "{said}");
}

/// What Python has in C has no edges.
#[test]
fn a_cost_that_is_the_same_for_all_texts_is_reported() {
    if !has_python() {
        return;
    }
    let place = place("search-same");
    let subject = "
def in_c(text):
    text.split(',')

def commas(text):
    sum(1 for _ in text.split(','))

def endless(text):
    while '1' in text: pass
";
    fs::write(place.path("subject.py"), subject).unwrap();
    // Texts on which the function is stopped cost more.
    for (function, is_same) in [("in_c", true), ("commas", false), ("endless", false)] {
        let program = format!("python:subject:{function}");
        let options =
            ["search", "json", "-n", "150", "--study", "0s", "--edge-limit", "1000", "-o", function, "--text"];
        let found = run_in(&place, &[&options[..], &["--", &program]].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let said = text(&found.stderr);
        assert_eq!(said.contains("every text costs") && said.contains("`--cost cpu` measures that"), is_same, "{said}");
    }
}

/// A function that leaves the work to a module of Python's standard library has no edges of its own.
#[test]
fn modules_of_the_standard_library_are_counted_if_they_are_named() {
    if !has_python() {
        return;
    }
    let place = place("search-count");
    fs::write(place.path("subject.py"), "import shlex\ndef words(text): shlex.shlex(text).get_token()\n").unwrap();
    let search = |options: &[&str], function: &str| {
        let begin = ["search", "json", "-n", "150", "--study", "2s", "--survey", "0s", "--growth-len", "200", "--text"];
        run_in(&place, &[&begin[..], options, &["--", function]].concat())
    };
    let found = search(&["-o", "out"], "python:subject:words");
    let said = text(&found.stderr);
    assert!(said.contains("every text costs the same") && said.contains("`--count-module MODULE`"), "{said}");
    let found = search(&["-o", "counted", "--count-module", "textwrap,shlex,shlex"], "python:subject:words");
    let said = text(&found.stderr);
    assert_eq!(found.status.code(), Some(0), "{said}");
    assert!(!said.contains("every text costs the same") && said.contains("shlex.py:"), "{said}");
    let page = fs::read_to_string(place.path("counted/report.html")).unwrap();
    assert!(page.contains("with shlex, textwrap of the standard library"));
    // Costs that count something else cannot be compared.
    let other = search(&["-o", "counted"], "python:subject:words");
    assert_eq!(other.status.code(), Some(2), "{}", text(&other.stderr));
    assert!(text(&other.stderr).contains("edges with shlex,textwrap"), "{}", text(&other.stderr));
    for (modules, expected) in
        [("math", "no code in Python"), ("zipimport", "no code in Python"), ("no_such", "there is no module `no_such`")]
    {
        let found = search(&["-o", "wrong", "--count-module", modules], "python:subject:words");
        assert_ne!(found.status.code(), Some(0));
        assert!(text(&found.stderr).contains(expected), "{}", text(&found.stderr));
        assert!(!std::path::Path::new(&place.path("wrong")).exists());
    }
    for command in ["search", "fuzz"] {
        let found = run_in(&place, &[command, "json", "--count-module", "json", "--", "cat"]);
        assert_eq!(found.status.code(), Some(2));
        assert!(text(&found.stderr).contains("--count-module needs a function of Python"), "{}", text(&found.stderr));
    }
}
