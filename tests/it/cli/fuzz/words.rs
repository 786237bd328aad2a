//! Constants of a program, which `gramjet fuzz` puts into texts.

use std::fs;

use super::super::{place, text};
use super::{failures, run_in};

/// A program that aborts at one name of a member.
const NAMES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 23];
int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    for (char *at = text, *end; (at = strchr(at, '"')) && (end = strchr(at + 1, '"')); at = end + 1) {
        if (end[1] != ':') continue;
        *end = 0;
        if (!strcmp(at + 1, "open-sesame")) abort();
    }
    return 0;
}
"#;

/// Functions that know one name of a member, from another module.
const FUNCTIONS: [(&str, &str); 4] = [
    ("helper.py", "KEY = 'open sesame'\nOTHERS = {'alpha': 1, 'beta': 2}\n"),
    (
        "names.py",
        "import json\nimport helper\n\ndef parse(text):\n    value = json.loads(text)\n    \
         if isinstance(value, dict) and helper.KEY in value:\n        raise KeyError(text)\n",
    ),
    ("helper.js", "exports.KEY = 'open sesame';\nexports.others = { alpha: 1, beta: 2 };\n"),
    (
        "names.js",
        "const helper = require('./helper');\nexports.parse = (text) => {\n    const value = JSON.parse(text);\n    \
         if (value !== null && Object.hasOwn(Object(value), helper.KEY)) throw new TypeError(text);\n};\n",
    ),
];

/// Searches, and returns the failures and what was said.
fn fuzz(place: &super::super::Place, out: &str, options: &[&str], program: &[&str]) -> (Vec<String>, String) {
    let begin = ["fuzz", "json", "-n", "2000", "-o", out, "--timeout", "10s", "--max-tests", "40"];
    let found = run_in(place, &[&begin[..], options, &["--"], program].concat());
    (failures(&place.path(out)), text(&found.stderr))
}

#[test]
#[ignore = "run by ci/test"]
fn constants_of_functions_are_found_as_names_of_members() {
    let place = place("fuzz-words");
    for (name, source) in FUNCTIONS {
        fs::write(place.path(name), source).unwrap();
    }
    let python = ("python:names.py:parse", "KeyError", "RecursionError,ValueError");
    let node = ("node:./names.js#parse", "TypeError", "RangeError,SyntaxError");
    for (tool, (function, class, expected)) in [("python3", python), ("node", node)] {
        if !gramjet_needs::has_for_a_part(tool) {
            continue;
        }
        let options = ["--text", "--expect", expected];
        let (keys, said) = fuzz(&place, class, &options, &[function]);
        assert!(keys.len() == 1 && keys[0].starts_with(class), "{keys:?}: {said}");
        assert!(said.contains(" words of the program\n"), "{said}");
        let without = [&options[..], &["--no-words"]].concat();
        let (keys, said) = fuzz(&place, &format!("{class}-without"), &without, &[function]);
        assert_eq!(keys, [""; 0], "{said}");
        assert!(!said.contains("words of the program"), "{said}");
        // The first texts are not needed, only faster.
        let later = [&options[..], &["--no-extremes"]].concat();
        let (keys, said) = fuzz(&place, &format!("{class}-later"), &later, &[function]);
        assert_eq!(keys.len(), 1, "{said}");
    }
}

#[test]
#[ignore = "run by ci/test"]
fn constants_of_programs_are_found_as_names_of_members() {
    let place = place("fuzz-strings");
    fs::write(place.path("names.c"), NAMES).unwrap();
    assert!(run_in(&place, &["cc", "-O1", "names.c", "-o", "names"]).status.success());
    let (keys, said) = fuzz(&place, "out", &[], &["./names", "@@"]);
    assert!(keys.len() == 1 && keys[0].contains("SIGABRT"), "{keys:?}: {said}");
    let (keys, said) = fuzz(&place, "without", &["--no-words"], &["./names", "@@"]);
    assert_eq!(keys, [""; 0], "{said}");
}
