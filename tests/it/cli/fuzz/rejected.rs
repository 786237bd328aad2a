//! Programs that take none of the first texts are quoted.

use super::run_in;
use crate::cli::{place, text};

#[test]
fn a_program_that_rejects_all_first_texts_is_quoted() {
    let place = place("fuzz-rejected");
    let script = "cat > /dev/null; echo \"line $$: unexpected\" >&2; exit 1";
    let options = ["fuzz", "json", "-n", "40", "--no-extremes", "-o", "out", "--", "sh", "-c", script];
    let found = run_in(&place, &options);
    let said = text(&found.stderr);
    let expected = "rejects all of the first 8 texts: exit status 1; it wrote `line ";
    assert!(said.matches(expected).count() == 1 && said.contains(": unexpected`"), "{said}");
}

#[test]
fn a_function_that_wants_text_is_told_from_one_that_fails() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = place("fuzz-wants-text");
    std::fs::write(place.path("mine.py"), "import re\ndef parse(data):\n    re.match('x', data)\n").expect("a file");
    let fuzz = |options: &[&str], out: &str| {
        let begin = ["fuzz", "json", "-n", "40", "--no-extremes", "-o", out];
        let found = run_in(&place, &[&begin, options, &["--", "python:mine.py:parse"]].concat());
        text(&found.stderr).to_string()
    };
    let said = fuzz(&[], "bytes");
    assert!(said.contains("fails on all of the first 8 texts: TypeError at ") && said.contains("`--text`"), "{said}");
    let said = fuzz(&["--text"], "text");
    assert!(!said.contains("first 8 texts"), "{said}");
}
