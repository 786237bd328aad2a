//! The first texts of `gramjet fuzz`: great depth, and values at bounds.

use std::fs;

use super::super::{place, text};
use super::{failures, run_in};

/// A program that recurses for each bracket, with a kilobyte of stack.
const DEEP: &str = r#"
#include <stdio.h>
static char text[1 << 23], *at = text;
static int nested(int level) {
    volatile char frame[1000];
    frame[level % 1000] = 1;
    return *at++ == '[' ? nested(level + 1) + frame[level % 1000] : 0;
}
int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    return nested(0) < 0;
}
"#;

/// Functions that recurse, that refuse an integer, and that know a word.
const FUNCTIONS: &str = "
def count(text, at):
    return 1 + count(text, at + 1) if text[at:at + 1] == '[' else 0

def deep(text):
    return count(text, 0)

def magic(text):
    if '\"open sesame\"' in text:
        raise KeyError(text)

def wide(text):
    if '9223372036854775808' in text:
        raise OverflowError(text)
";

#[test]
#[ignore = "run by ci/test"]
fn a_stack_that_overflows_is_found_at_its_least_depth() {
    let place = place("fuzz-depth");
    fs::write(place.path("deep.c"), DEEP).unwrap();
    assert!(run_in(&place, &["cc", "-O1", "deep.c", "-o", "deep"]).status.success());
    let arguments = ["fuzz", "json", "-n", "1600", "-o", "out", "--timeout", "10s", "--", "./deep", "@@"];
    let found = run_in(&place, &arguments);
    let said = text(&found.stderr);
    let keys = failures(&place.path("out"));
    assert!(keys.len() == 1 && keys[0].starts_with("depth-SIGSEGV-"), "{keys:?}: {said}");
    assert!(said.contains(" levels of `"), "{said}");
    let failing = fs::read(place.path(&format!("out/failures/{}/minimised", keys[0]))).unwrap();
    let levels = failing.iter().filter(|&&byte| byte == b'[').count();
    assert!((2000..9000).contains(&levels) && failing.len() <= 2 * levels + 1, "{levels} of {}: {said}", failing.len());
    let replayed = run_in(&place, &["fuzz", "json", "-o", "out", "--replay", "--", "./deep", "@@"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
}

#[test]
#[ignore = "run by ci/test"]
fn functions_meet_depth_and_values_at_bounds() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = place("fuzz-extremes");
    fs::write(place.path("f.py"), FUNCTIONS).unwrap();
    let fuzz = |function: &str, out: &str, options: &[&str]| {
        let begin = ["fuzz", "json", "--text", "--no-words", "-n", "2000", "-o", out, "--timeout", "10s"];
        run_in(&place, &[&begin[..], options, &["--", function]].concat());
        failures(&place.path(out))
    };
    let deep = fuzz("python:f.py:deep", "deep", &[]);
    assert_eq!(deep, ["depth-RecursionError"]);
    let failing = fs::read(place.path("deep/failures/depth-RecursionError/minimised")).unwrap();
    let levels = failing.iter().filter(|&&byte| byte == b'[').count();
    assert!((900..1000).contains(&levels), "{levels}");
    assert_eq!(fuzz("python:f.py:deep", "expected", &["--expect", "RecursionError"]), [""; 0]);
    let wide = fuzz("python:f.py:wide", "wide", &[]);
    assert!(wide.len() == 1 && wide[0].starts_with("OverflowError"), "{wide:?}");
    assert_eq!(fuzz("python:f.py:wide", "without", &["--no-extremes"]), [""; 0]);
    fs::write(place.path("words"), "door=\"open sesame\"\n").unwrap();
    let magic = fuzz("python:f.py:magic", "magic", &["--dict", "words"]);
    assert!(magic.len() == 1 && magic[0].starts_with("KeyError"), "{magic:?}");
    fs::write(place.path("words"), "door=\"open").unwrap();
    let wrong = run_in(&place, &["fuzz", "json", "-o", "wrong", "--dict", "words", "--", "cat"]);
    assert!(wrong.status.code() == Some(2) && text(&wrong.stderr).contains("words:1: "), "{}", text(&wrong.stderr));
}

#[test]
#[ignore = "run by ci/test"]
fn long_texts_may_take_long_unless_a_report_came_first() {
    let place = place("fuzz-slow");
    fs::write(place.path("nested.ebnf"), "s ::= '[' s ']' | 'x'").unwrap();
    let fuzz = |says: &str, out: &str| {
        let program = format!("[ $(wc -c < $1) -lt 5000 ] || {{ echo '{says}' >&2; while :; do :; done; }}");
        fs::write(place.path("slow.sh"), program).unwrap();
        let options = ["fuzz", "nested.ebnf", "-n", "100", "-o", out, "--timeout", "500ms", "--max-tests", "8"];
        let said = text(&run_in(&place, &[&options[..], &["--", "sh", "slow.sh", "@@"]].concat()).stderr);
        (failures(&place.path(out)), said)
    };
    let (slow, said) = fuzz("warning: long", "slow");
    assert_eq!(slow, [""; 0], "{said}");
    let (told, said) = fuzz("==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1", "told");
    assert!(told.len() == 1 && told[0].contains("heap-buffer-overflow"), "{told:?}: {said}");
}
