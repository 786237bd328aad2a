//! Runs that do not end, and texts that cannot be parsed.

use std::fs;
use std::path::Path;

use super::{failures, run_in};
use crate::cli::{place, text};

/// Hangs in two loops of one function, and before one of them, in a loop that other texts leave.
const LOOPS: &str = r#"
#include <stdio.h>
int main(void) {
    volatile int zero = 0;
    int character = getchar();
    for (volatile int i = 0; i < 100 * (character & 7); i++);
    if (character == 'a') for (;;) if (zero) puts("");
    if (character == 'b') for (;;) { if (zero) putchar(0); zero = 0; }
    return 0;
}
"#;

/// Hangs in two regular expressions, in which no edge is counted.
const EXPRESSIONS: &str = "
import re
def parse(text):
    if text[:1] == 'a': re.match('(a+)+$', 'a' * 50 + 'b')
    if text[:1] == 'b': re.match('(b+)+$', 'b' * 50 + 'c')
";

#[test]
fn loops_without_end_are_told_apart_and_each_is_one_failure() {
    let place = place("fuzz-loops");
    fs::write(place.path("loops.c"), LOOPS).unwrap();
    fs::write(place.path("expressions.py"), EXPRESSIONS).unwrap();
    fs::write(place.path("words.ebnf"), "s ::= [a-f] [0-9]{0,2}").unwrap();
    assert!(run_in(&place, &["cc", "-O1", "loops.c", "-o", "loops"]).status.success());
    for (out, more) in [("o1", &["--", "./loops"][..]), ("o2", &["--text", "--", "python:expressions.py:parse"])] {
        if more.contains(&"--text") && !gramjet_needs::has_for_a_part("python3") {
            continue;
        }
        let options = ["fuzz", "words.ebnf", "-n", "150", "-o", out, "--timeout", "200ms", "--broken", "never"];
        let run = run_in(&place, &[&options[..], more].concat());
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{said}");
        let keys = failures(&place.path(out));
        assert!(keys.len() == 2 && keys.iter().all(|key| key.starts_with("timeout-")), "{keys:?} {said}");
        for (key, minimised) in
            keys.iter().map(|key| (key, fs::read(place.path(&format!("{out}/failures/{key}/minimised")))))
        {
            assert_eq!(minimised.expect("a text").len(), 1, "{key} {said}");
        }
    }
}

#[test]
fn a_text_that_cannot_be_parsed_is_not_said_to_be_outside_of_the_language() {
    let place = place("fuzz-unparsed");
    let seeds = place.path("seeds");
    fs::create_dir_all(&seeds).unwrap();
    // Each of its parts can be one or two, so there are more derivations than can be told apart.
    fs::write(place.path("ambiguous.ebnf"), "s ::= s s s | s s | 'a'").unwrap();
    fs::write(Path::new(&seeds).join("long"), "a".repeat(2000)).unwrap();
    fs::write(Path::new(&seeds).join("other"), "ab").unwrap();
    let program = "case $(wc -c) in 2000) kill -6 $$;; 2) kill -11 $$;; esac";
    let options = ["fuzz", "ambiguous.ebnf", "-n", "2", "-o", "out", "--seeds", "seeds", "--max-tests", "0", "--json"];
    let run = run_in(&place, &[&options[..], &["--no-extremes", "--", "sh", "-c", program]].concat());
    let (mut keys, said) = (failures(&place.path("out")), text(&run.stdout));
    keys.sort();
    assert!(keys[0].starts_with("broken-SIGSEGV") && keys[1].starts_with("unparsed-SIGABRT"), "{keys:?} {said}");
    let failures = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let mut failures: Vec<_> = failures.filter(|line| line["event"] == "failure").collect();
    failures.sort_by_key(|line| line["key"].to_string());
    assert_eq!(failures[0]["in_language"], serde_json::Value::Bool(false), "{said}");
    assert!(failures[1]["in_language"].is_null(), "{said}");
}
