//! Failures that depend on earlier inputs of their process, and failures that do not happen again.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{failures, run_in, run_script};
use crate::cli::{Place, place, text};

/// Texts of a few letters.
const LETTERS: &str = "s ::= [abcx]{1,12}\n";

/// Aborts on the third text of a process that has an `x`.
const THIRD: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static int count;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (memchr(data, 'x', size) && ++count == 3) abort();
    return 0;
}
"#;

/// Aborts on `bbb` if the process has run on two others, and on `xxxx` whatever it has run on.
const ARMED: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static int armed;
static __attribute__((noinline)) void alone(void) { abort(); }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 4 && !memcmp(data, "abca", 4)) armed |= 1;
    if (size >= 4 && !memcmp(data, "caba", 4)) armed |= 2;
    if (armed == 3 && size >= 3 && !memcmp(data, "bbb", 3)) abort();
    if (size >= 4 && !memcmp(data, "xxxx", 4)) alone();
    return 0;
}
"#;

/// Returns a libFuzzer harness in a folder of the test, built by `gramjet cc`.
fn harness(test: &str, source: &str) -> Place {
    let place = place(test);
    fs::write(place.path("letters.ebnf"), LETTERS).unwrap();
    fs::write(place.path("harness.c"), source).unwrap();
    let built = run_in(&place, &["cc", "-O1", "-fsanitize=fuzzer", "harness.c", "-o", "harness"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    place
}

/// Returns the inputs of the only failure in a folder that depends on earlier ones.
fn sequence(place: &Place, out: &str) -> Vec<String> {
    let keys: Vec<String> = failures(&place.path(out)).into_iter().filter(|key| key.starts_with("sequence-")).collect();
    assert_eq!(keys.len(), 1, "{keys:?}");
    let folder = place.path(&format!("{out}/failures/{}", keys[0]));
    let read = |name: String| fs::read_to_string(Path::new(&folder).join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("report.json".into())).unwrap();
    let count = report["sequence"].as_u64().unwrap() as usize;
    assert_eq!(fs::read_dir(Path::new(&folder).join("sequence")).unwrap().count(), count);
    let inputs: Vec<String> = (0..count).map(|number| read(format!("sequence/{number:03}"))).collect();
    assert_eq!(inputs.last(), Some(&read("minimised".into())));
    inputs
}

fn lines(output: &[u8]) -> Vec<Value> {
    text(output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_failure_that_depends_on_earlier_inputs_is_a_sequence_that_is_replayed() {
    let place = harness("fuzz-third", THIRD);
    let fuzz = ["fuzz", "letters.ebnf", "-n", "300", "-o", "out", "--json", "--junit", "r.xml", "--", "./harness"];
    let found = run_in(&place, &fuzz);
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    assert_eq!(sequence(&place, "out"), ["x", "x", "x"]);
    let events = lines(&found.stdout);
    let told: Vec<&Value> = events.iter().filter(|line| line["event"] == "failure").collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["what"], "depends on earlier inputs: signal 6 (SIGABRT)");
    assert_eq!((&told[0]["sequence"], &told[0]["reproduced"]), (&3.into(), &3.into()));
    let report = fs::read_to_string(place.path("r.xml")).unwrap();
    assert!(report.contains("failures=\"1\"") && report.contains("depends on earlier inputs"), "{report}");
    // Another search in the folder finds nothing new.
    let again = run_in(&place, &["fuzz", "letters.ebnf", "-n", "300", "-o", "out", "--", "./harness"]);
    assert_eq!((again.status.code(), failures(&place.path("out")).len()), (Some(0), 1), "{}", text(&again.stderr));

    let replay = ["fuzz", "letters.ebnf", "-o", "out", "--replay", "--json", "--junit", "r.xml", "--"];
    let replayed = run_in(&place, &[&replay[..], &["./harness"]].concat());
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
    assert_eq!(lines(&replayed.stdout)[0]["what"], "depends on earlier inputs: signal 6 (SIGABRT)");
    let one = format!("out/failures/{}", failures(&place.path("out"))[0]);
    let replayed = run_in(&place, &["fuzz", "letters.ebnf", "--replay", &one, "--", "./harness"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
    assert_eq!(run_script(&place, "out").status.code(), Some(1));
    let repaired = run_in(&place, &[&replay[..], &["cat"]].concat());
    assert_eq!(repaired.status.code(), Some(0), "{}", text(&repaired.stderr));
    // What the report says may be anything.
    let path = Path::new(&place.path(&one)).join("report.json");
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("\"sequence\": 3", "\"sequence\": 1e9")).unwrap();
    let refused = run_in(&place, &["fuzz", "letters.ebnf", "--replay", &one, "--", "cat"]);
    assert!(refused.status.code() == Some(0), "{}", text(&refused.stderr));
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("1e9", "1000000000")).unwrap();
    let refused = run_in(&place, &["fuzz", "letters.ebnf", "--replay", &one, "--", "cat"]);
    assert!(text(&refused.stderr).contains("1000000000 inputs are more than"), "{}", text(&refused.stderr));
}

#[test]
fn the_inputs_on_which_a_failure_depends_are_found_among_thousands() {
    let place = harness("fuzz-armed", ARMED);
    let fuzz = ["fuzz", "letters.ebnf", "--broken", "never", "-n", "12000", "-o", "out", "--", "./harness"];
    let found = run_in(&place, &fuzz);
    let mut inputs = sequence(&place, "out");
    let last = inputs.pop();
    inputs.sort();
    assert_eq!((inputs, last), (vec!["abca".into(), "caba".into()], Some("bbb".into())), "{}", text(&found.stderr));
    // What fails alone is found as before, in a new process.
    let alone = failures(&place.path("out")).into_iter().find(|key| key.starts_with("SIGABRT-")).unwrap();
    assert_eq!(fs::read(place.path(&format!("out/failures/{alone}/minimised"))).unwrap(), b"xxxx");
    assert_eq!(failures(&place.path("out")).len(), 2, "{}", text(&found.stderr));
    // A search of costly texts leaves those alone that pass in a new process.
    let place = harness("search-third", THIRD);
    let searched =
        run_in(&place, &["search", "letters.ebnf", "-n", "500", "--survey", "0s", "-o", "out", "--", "./harness"]);
    let said = text(&searched.stderr);
    assert_eq!((searched.status.code(), failures(&place.path("out"))), (Some(0), vec![]), "{said}");
    assert!(said.contains("(signal 6 (SIGABRT)) did not happen again in 3 new processes: `out/unconfirmed/"), "{said}");
    let apart: Vec<_> = fs::read_dir(place.path("out/unconfirmed")).unwrap().flatten().collect();
    assert!(apart.len() == 1 && fs::read_to_string(apart[0].path().join("input")).unwrap().contains('x'));
}

#[test]
#[ignore = "run by ci/test"]
fn functions_that_remember_fail_in_a_sequence() {
    let python = "seen = []\ndef parse(data):\n    if seen and data.startswith(b'['):\n        raise KeyError('poisoned')\n    \
        if b'true' in data:\n        seen.append(data)\n";
    let node = "let seen = false;\nexports.parse = (data) => {\n    const text = data.toString();\n    \
        if (seen && text.startsWith('[')) throw new RangeError('poisoned');\n    if (text.includes('true')) seen = true;\n};\n";
    for (tool, file, source, function, class) in [
        ("python3", "poison.py", python, "python:poison:parse", "KeyError"),
        ("node", "poison.js", node, "node:./poison.js#parse", "RangeError"),
    ] {
        if !gramjet_needs::has_for_a_part(tool) {
            continue;
        }
        let place = place(&format!("fuzz-{tool}-poison"));
        fs::write(place.path(file), source).unwrap();
        let found = run_in(&place, &["fuzz", "json", "-n", "150", "-o", "out", "--", function]);
        let said = text(&found.stderr);
        assert!(said.contains(&format!("depends on earlier inputs: {class}")), "{said}");
        assert_eq!(sequence(&place, "out"), ["true", "[]"], "{said}");
        assert_eq!(failures(&place.path("out")).len(), 1, "{said}");
        let script = run_script(&place, "out");
        let said = text(&script.stderr);
        assert!(script.status.code() == Some(1) && said.contains("depends on earlier inputs"), "{said}");
    }
}

/// Aborts on `true` once: then a file is there. With an argument it aborts on `null`, too.
const ONCE: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char text[65536];
int main(int count, char **arguments) {
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    int is_true = strstr(text, "true") != 0;
    if (is_true && open("flag", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0) abort();
    if (count > 1 && is_true) abort();
    (void)arguments;
    return 0;
}
"#;

#[test]
fn what_does_not_happen_again_is_kept_apart_with_its_count() {
    let place = place("fuzz-once");
    fs::write(place.path("once.c"), ONCE).unwrap();
    assert!(run_in(&place, &["cc", "once.c", "-o", "once"]).status.success());
    let fuzz = |more: &[&str]| {
        let _ = fs::remove_file(place.path("flag"));
        let options =
            ["fuzz", "json", "--unconfined", "--broken", "never", "-n", "200", "-o", "out", "--junit", "r.xml"];
        run_in(&place, &[&options[..], more, &["--", "./once"]].concat())
    };
    let passed = fuzz(&[]);
    let said = text(&passed.stderr);
    assert_eq!(passed.status.code(), Some(0), "{said}");
    let line =
        "1 failure did not happen again: signal 6 (SIGABRT), seen once, not in 3 new runs: out/unconfirmed/SIGABRT-";
    assert!(said.contains(line), "{said}");
    assert_eq!(failures(&place.path("out")), [""; 0]);
    assert!(fs::read_to_string(place.path("r.xml")).unwrap().contains("tests=\"0\" failures=\"0\""));
    let passed = fuzz(&["--json"]);
    let events = lines(&passed.stdout);
    let told = events.iter().find(|line| line["event"] == "unconfirmed").expect("a line");
    assert_eq!((passed.status.code(), &told["seen"], &told["tried"]), (Some(0), &1.into(), &3.into()));
    assert_eq!(events.last().unwrap()["unconfirmed"], 1);
    // The folder has the counts of both searches, and the first text.
    let folder = place.path(&format!("out/unconfirmed/{}", told["key"].as_str().unwrap()));
    let report = fs::read_to_string(Path::new(&folder).join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["seen"], &report["tried"]), (&2.into(), &6.into()));
    assert!(fs::read_to_string(Path::new(&folder).join("input")).unwrap().contains("true"));
    let replayed = run_in(&place, &["fuzz", "json", "-o", "out", "--replay", "--", "./once"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
    // One of the class that happens again replaces it.
    fs::write(place.path("once.sh"), "exec ./once more\n").unwrap();
    let found = run_in(&place, &["fuzz", "json", "--unconfined", "-n", "60", "-o", "other", "--", "sh", "once.sh"]);
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    let key = &failures(&place.path("other"))[0];
    assert_eq!(told["key"].as_str(), Some(key.as_str()));
    fs::create_dir_all(place.path(&format!("other/unconfirmed/{key}"))).unwrap();
    fs::write(place.path(&format!("other/unconfirmed/{key}/report.json")), "{\"seen\": 2, \"tried\": 6}").unwrap();
    fs::remove_dir_all(place.path(&format!("other/failures/{key}"))).unwrap();
    let found = run_in(&place, &["fuzz", "json", "--unconfined", "-n", "60", "-o", "other", "--", "sh", "once.sh"]);
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    assert_eq!(fs::read_dir(place.path("other/unconfirmed")).unwrap().count(), 0);
}

#[test]
fn what_a_killed_search_has_found_is_kept_apart_if_it_does_not_happen_again() {
    let place = place("fuzz-unfinished");
    let fuzz = ["fuzz", "json", "-n", "0", "-o", "out", "--", "true"];
    assert!(run_in(&place, &fuzz).status.success());
    let folder = place.path("out/failures/timeout-1");
    fs::create_dir(&folder).unwrap();
    fs::write(Path::new(&folder).join("input"), "[]").unwrap();
    let report = "{\"finished\": false, \"what\": \"timeout\", \"class\": \"timeout\"}";
    fs::write(Path::new(&folder).join("report.json"), report).unwrap();
    let passed = run_in(&place, &fuzz);
    let said = text(&passed.stderr);
    let line = "did not happen again: timeout, seen once, not in 3 new runs";
    assert!(passed.status.success() && said.contains(line), "{said}");
    assert_eq!(failures(&place.path("out")), [""; 0]);
    assert_eq!(fs::read(place.path("out/unconfirmed/timeout/input")).unwrap(), b"[]");
    // One that happens again is a failure, of which nothing is left under the old key.
    fs::create_dir(&folder).unwrap();
    fs::write(Path::new(&folder).join("input"), "[]").unwrap();
    fs::write(Path::new(&folder).join("report.json"), report).unwrap();
    let fails = ["fuzz", "json", "-n", "0", "-o", "other", "--", "sh", "-c", "kill -6 $$"];
    run_in(&place, &fails);
    fs::rename(&folder, place.path("other/failures/timeout-1")).unwrap();
    assert_eq!(run_in(&place, &fails).status.code(), Some(1));
    let left = failures(&place.path("other"));
    assert!(left.len() == 1 && left[0].starts_with("SIGABRT"), "{left:?}");
}

/// A name that is longer than its buffer overwrites what follows the buffer.
const OVERFLOW: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
char name[64];
int total;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 && data[0] == 'n') memcpy(name, data + 1, size - 1);
    for (size_t i = 0; i < size && i < 64; i++) total += name[i];
    return 0;
}
"#;

#[test]
fn a_failure_that_is_told_can_be_replayed_even_if_the_program_overwrites_its_own_memory() {
    let place = harness("fuzz-overflow", OVERFLOW);
    fs::write(place.path("names.ebnf"), "s ::= 'n' [a-z]{0,12000} | [a-z]{1,20}\n").unwrap();
    fs::create_dir(place.path("seeds")).unwrap();
    fs::write(place.path("seeds/long"), format!("n{}", "a".repeat(9000))).unwrap();
    let options = ["fuzz", "names.ebnf", "-o", "out", "--max-len", "14000", "-n", "40", "--max-tests", "60"];
    let options = [&options[..], &["--seeds", "seeds", "--broken", "never", "--", "./harness"]].concat();
    let found = run_in(&place, &options);
    let replayed = run_in(&place, &["fuzz", "names.ebnf", "-o", "out", "--replay", "--", "./harness"]);
    let said = text(&replayed.stderr);
    assert!(!said.contains("passes: "), "{said}{}", text(&found.stderr));
}
