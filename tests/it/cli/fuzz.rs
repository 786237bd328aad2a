//! `gramjet fuzz` and the compiler wrappers, on real programs.

mod extremes;
mod hangs;
mod history;
mod hostile;
mod rejected;
mod seeds;
mod shared;
mod words;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use super::{Place, gramjet, interruptible, place, text};

/// A program that fails on `[[[[`, on `-` in an object, and on `true,false`, each in its own way.
const PLANTED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[65536];
static void enter(int depth) { if (depth > 3) abort(); }
int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    int depth = 0;
    for (char *at = text; *at; at++) {
        if (*at == '[') enter(++depth);
        if (*at == ']') depth--;
        if (!strncmp(at, "true,f", 6)) *(volatile int *)8 = 1;
        if (!strncmp(at, "\":-", 3)) for (;;) *(volatile int *)&depth = 1;
    }
    return strlen(text) > 400;
}
"#;

/// Returns the command in the folder of the test, with what compilers and interpreters need of the environment.
pub(super) fn within<'c>(command: &'c mut Command, place: &Place) -> &'c mut Command {
    let known = ["PATH", "HOME", "RUSTUP_HOME", "CARGO_HOME", "PYENV_ROOT"];
    let known = known.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.envs(known).current_dir(place.path(""))
}

/// Runs `gramjet` with arguments in the folder of the test.
pub(super) fn run_in(place: &Place, arguments: &[&str]) -> Output {
    within(gramjet().args(arguments), place).output().unwrap()
}

/// Returns the planted program, built by `gramjet cc`.
pub(super) fn planted(test: &str) -> Place {
    let place = place(test);
    fs::write(place.path("planted.c"), PLANTED).unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "planted.c", "-o", "planted"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    place
}

/// Runs the script of the only failure in a folder.
fn run_script(place: &Place, out: &str) -> Output {
    let key = failures(&place.path(out)).pop().unwrap();
    let mut command = Command::new(place.path(&format!("{out}/failures/{key}/replay.sh")));
    let folder = Path::new(env!("CARGO_BIN_EXE_gramjet")).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    within(&mut command, place).env("PATH", path).output().unwrap()
}

/// Returns the names of the folders of failures, in order.
fn failures(out: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(out).join("failures")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
#[ignore = "run by ci/test"]
fn failures_are_found_made_smaller_kept_and_replayed() {
    let place = planted("fuzz-planted");
    let options = ["fuzz", "json", "--broken", "never", "-n", "1500", "-o", "out", "--timeout", "50ms"];
    let more = ["--max-tests", "300", "--junit", "report.xml", "--", "./planted", "@@"];
    let found = run_in(&place, &[&options[..], &more].concat());
    let said = text(&found.stderr);
    assert_eq!(found.status.code(), Some(1), "{said}");
    assert!(said.contains("fork server, guided by coverage") && said.contains("3 new failures in `out`"), "{said}");
    let out = place.path("out");
    let keys = failures(&out);
    let kinds: Vec<&str> = keys.iter().map(|key| key.split('-').next().unwrap()).collect();
    assert_eq!(kinds, ["SIGABRT", "SIGSEGV", "timeout"]);
    let file = |key: &str, name: &str| fs::read(Path::new(&out).join("failures").join(key).join(name)).unwrap();
    assert!(keys.iter().all(|key| file(key, "minimised").len() < 15), "{said}");
    for key in &keys {
        let script = Path::new(&out).join("failures").join(key).join("replay.sh");
        let is_timeout = key.starts_with("timeout");
        let mut replay = Command::new("timeout").arg("1").arg(script).stderr(Stdio::null()).spawn().unwrap();
        assert_eq!(replay.wait().unwrap().code() == Some(124), is_timeout, "{key}");
        let rendered = run_in(&place, &["render", "json", &format!("out/failures/{key}/minimised.choices")]);
        assert_eq!(rendered.stdout, file(key, "minimised"), "{}", text(&rendered.stderr));
    }
    let report = fs::read_to_string(place.path("report.xml")).unwrap();
    assert!(report.contains("tests=\"3\" failures=\"3\"") && report.contains("signal 6 (SIGABRT)"), "{report}");

    // The search goes on where it was, and finds nothing again.
    let again = ["fuzz", "json", "--broken", "never", "-n", "200", "-o", "out", "--timeout", "50ms"];
    let again = run_in(&place, &[&again[..], &["--", "./planted", "@@"]].concat());
    assert_eq!((again.status.code(), failures(&out)), (Some(0), keys), "{}", text(&again.stderr));
    let replayed = run_in(&place, &["fuzz", "json", "-o", "out", "--replay", "--", "./planted", "@@"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
    assert_eq!(text(&replayed.stderr).matches("fails: ").count(), 3);
    let lines = run_in(&place, &["fuzz", "json", "-o", "out", "--replay", "--json", "--", "./planted", "@@"]);
    let lines: Vec<serde_json::Value> =
        text(&lines.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.len() == 3 && lines.iter().all(|line| line["result"] == "fails"), "{lines:?}");
    let repaired = run_in(&place, &["fuzz", "json", "-o", "out", "--replay", "--", "cat", "@@"]);
    assert_eq!(repaired.status.code(), Some(0), "{}", text(&repaired.stderr));
    assert!(text(&repaired.stderr).contains("(it was: signal 6 (SIGABRT))"), "{}", text(&repaired.stderr));
    let other = run_in(&place, &["fuzz", "css", "-n", "1", "-o", "out", "--", "./planted", "@@"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("has a search with grammar `"), "{}", text(&other.stderr));
}

#[test]
fn a_thread_and_its_program_stay_on_a_free_core() {
    let place = place("fuzz-core");
    let source = "#define _GNU_SOURCE\n#include <sched.h>\n#include <stdlib.h>\nint main(void) { cpu_set_t set; \
        sched_getaffinity(0, sizeof set, &set); if (CPU_COUNT(&set) == 1) abort(); }\n";
    fs::write(place.path("core.c"), source).unwrap();
    assert!(run_in(&place, &["cc", "core.c", "-o", "core"]).status.success());
    let is_on_one = |options: &[&str]| {
        let arguments = ["fuzz", "json", "-n", "1", "-o", "out"];
        let run = run_in(&place, &[&arguments[..], options, &["--", "./core"]].concat());
        fs::remove_dir_all(place.path("out")).unwrap();
        run.status.code() == Some(1)
    };
    if std::thread::available_parallelism().unwrap().get() == 1 {
        return;
    }
    assert!(!is_on_one(&["--no-affinity"]));
    // Other tests may use all cores now and then.
    assert!((0..100).any(|_| is_on_one(&[])), "no core was free");
}

#[test]
#[ignore = "run by ci/test"]
fn several_threads_share_what_they_find() {
    let place = planted("fuzz-jobs");
    let options =
        ["fuzz", "json", "-n", "4000", "-o", "out", "--timeout", "50ms", "--max-tests", "60", "--jobs", "3", "--json"];
    let found = run_in(&place, &[&options[..], &["--broken", "never", "--", "./planted", "@@"]].concat());
    let lines: Vec<serde_json::Value> =
        text(&found.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let end = lines.last().unwrap();
    assert_eq!((end["event"].as_str(), end["failures"].as_u64()), (Some("end"), Some(3)), "{}", text(&found.stderr));
    assert!(end["runs"].as_u64().unwrap() >= 4000 && end["edges"].as_u64().unwrap() > 5);
    let (rules, all) = (end["rules"].as_u64().unwrap(), end["of_rules"].as_u64().unwrap());
    assert!(rules > 5 && rules <= all, "{end}");
    assert_eq!(lines.iter().filter(|line| line["event"] == "failure").count(), 3);
    assert!(fs::read_dir(place.path("out/queue")).unwrap().count() > 3);
}

#[test]
fn a_program_that_is_not_instrumented_is_varied_by_what_it_does() {
    let place = place("fuzz-shell");
    let script = r#"text=$(cat); case $text in *false*) echo "bad word at $$" >&2; exit 3;; esac"#;
    let options = ["fuzz", "json", "-n", "150", "-o", "out", "--max-tests", "60"];
    let run = |more: &[&str]| run_in(&place, &[&options[..], more, &["--", "sh", "-c", script]].concat());
    let passed = run(&[]);
    assert_eq!(passed.status.code(), Some(0), "{}", text(&passed.stderr));
    let found = run(&["--fail-exit", "2-4"]);
    assert!(text(&found.stderr).contains("exit status 3: bad word at 0; 5 bytes"), "{}", text(&found.stderr));
    fs::remove_dir_all(place.path("out")).unwrap();
    let found = run(&["--fail-stderr", "^bad"]);
    assert_eq!(failures(&place.path("out")).len(), 1, "{}", text(&found.stderr));
}

#[test]
fn programs_are_compared_and_their_output_is_judged() {
    let place = place("fuzz-compare");
    let fuzz = |out: &str, options: &[&str]| {
        let begin = ["fuzz", "json", "-n", "120", "--max-tests", "60", "-o", out];
        let output = run_in(&place, &[&begin, options, &["--", "cat"]].concat());
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = fuzz("o1", &["--compare", "! grep -q null"]);
    assert!(code == Some(1) && said.contains("ends with success, the other one with an error"), "{said}");
    let (code, said) = fuzz("o2", &["--compare", "tr 1 2"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = fuzz("o3", &["--compare", "tr 1 2", "--compare-output"]);
    assert!(code == Some(1) && said.contains("write different output; 1 byte"), "{said}");
    let (code, said) = fuzz("o4", &["--compare", "tr 1 2 < @@", "--normalise", "tr 1 2"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) =
        fuzz("o5", &["--oracle", r#"cmp -s - "$GRAMJET_OUTPUT" || exit 1; ! grep -q true "$GRAMJET_OUTPUT""#]);
    assert!(code == Some(1) && said.contains("the oracle refuses the output; 4 bytes"), "{said}");
    let (code, said) = fuzz("o6", &["--oracle", "exit 7"]);
    assert!(code == Some(0) && said.contains("the oracle ends with exit status 7"), "{said}");
    let (code, said) = fuzz("o7", &["--compare", "no-such-program @@"]);
    assert!(code == Some(2) && said.contains("the command of `--compare` cannot be run"), "{said}");
    // Failures found by comparing are run again by comparing.
    let replayed = run_in(&place, &["fuzz", "json", "--replay", "o3", "--", "cat"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
    let replayed = run_in(&place, &["fuzz", "json", "--replay", "o3", "--timeout", "5s", "--", "cat"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
    let script = run_script(&place, "o3");
    assert!(text(&script.stderr).contains("write different output"), "{}", text(&script.stderr));
}

#[test]
fn failures_that_differ_by_edges_or_echo_their_input_are_told_apart() {
    let place = place("fuzz-alike");
    let source = r#"
        #include <stdio.h>
        #include <string.h>
        static char text[65536];
        __attribute__((noinline)) static void one(void) { *(volatile int *)8 = 1; }
        __attribute__((noinline)) static void two(void) { *(volatile int *)8 = 2; }
        int main(void) {
            text[fread(text, 1, sizeof text - 1, stdin)] = 0;
            if (strlen(text) == 1) one();
            if (strstr(text, "null")) two();
            return 0;
        }"#;
    fs::write(place.path("alike.c"), source).unwrap();
    assert!(run_in(&place, &["cc", "alike.c", "-o", "alike"]).status.success());
    let found = run_in(&place, &["fuzz", "json", "-n", "500", "-o", "out", "--", "./alike"]);
    assert_eq!(failures(&place.path("out")).len(), 2, "{}", text(&found.stderr));
    let texts = failures(&place.path("out")).into_iter();
    let mut texts: Vec<String> =
        texts.map(|key| fs::read_to_string(place.path(&format!("out/failures/{key}/minimised"))).unwrap()).collect();
    texts.sort_by_key(String::len);
    assert!(texts[0].len() == 1 && texts[1] == "null", "{texts:?}");
    // One crash stays one, however many threads find it.
    let fuzz = ["fuzz", "json", "-n", "1500", "--jobs", "4", "-s", "3", "-o", "jobs", "--", "./alike"];
    let found = run_in(&place, &fuzz);
    assert_eq!(failures(&place.path("jobs")).len(), 2, "{}", text(&found.stderr));
    // Nor does one message hide another.
    let slip = "text=$(cat); case $text in *false*) echo no support for booleans >&2; exit 3;; \
        *[0-9]*) echo digit table missing >&2; exit 3;; esac";
    let fuzz =
        ["fuzz", "json", "-n", "150", "--max-tests", "60", "--fail-exit", "3", "-o", "slip", "--", "sh", "-c", slip];
    let found = run_in(&place, &fuzz);
    assert_eq!(failures(&place.path("slip")).len(), 2, "{}", text(&found.stderr));
    let echo = "cat >&2; kill -SEGV $$";
    let echo = ["fuzz", "json", "-n", "60", "--max-tests", "80", "-o", "echo", "--", "sh", "-c", echo];
    let found = run_in(&place, &echo);
    assert!(failures(&place.path("echo")).len() < 17, "{}", text(&found.stderr));
    assert!(text(&found.stderr).contains("; 1 byte"), "{}", text(&found.stderr));
}

#[test]
fn hangs_are_told_apart_by_where_they_are() {
    let place = place("fuzz-hangs");
    let source = r#"
        #include <stdio.h>
        #include <string.h>
        static char text[65536];
        volatile int counter;
        __attribute__((noinline)) static void one(int more) { do counter++; while (more); }
        __attribute__((noinline)) static void two(int more) { do counter--; while (more); }
        int main(void) {
            text[fread(text, 1, sizeof text - 1, stdin)] = 0;
            one(strstr(text, "null") != 0);
            two(strstr(text, "false") != 0);
            return 0;
        }"#;
    fs::write(place.path("hangs.c"), source).unwrap();
    assert!(run_in(&place, &["cc", "hangs.c", "-o", "hangs"]).status.success());
    let options =
        ["fuzz", "json", "-n", "60", "--timeout", "100ms", "--max-tests", "100", "-o", "out", "--", "./hangs"];
    let found = run_in(&place, &options);
    let smallest = text(&found.stderr).matches("timeout; 4 bytes").count()
        + text(&found.stderr).matches("timeout; 5 bytes").count();
    assert_eq!(smallest, 2, "{}", text(&found.stderr));
}

#[test]
fn exceptions_of_functions_are_failures_unless_they_are_allowed() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = place("fuzz-python");
    let source = "import json\ndef parse(data):\n    if len(json.loads(data)) > 2:\n        raise KeyError('three')\n";
    fs::write(place.path("subject.py"), source).unwrap();
    let fuzz = |out: &str, allow: &str| {
        let options =
            ["fuzz", "json", "-n", "600", "-o", out, "--no-extremes", "--expect", allow, "--", "python:subject:parse"];
        let output = run_in(&place, &options);
        (output.status.code(), text(&output.stderr), failures(&place.path(out)))
    };
    let (code, said, keys) = fuzz("o1", "TypeError");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("KeyError at ") && said.contains("subject.py:4 (parse); 5 bytes"), "{said}");
    assert_eq!(keys.len(), 1, "{keys:?}");
    assert!(text(&run_script(&place, "o1").stderr).contains("KeyError at "));
    let (code, said, _) = fuzz("o2", "TypeError,KeyError");
    assert_eq!(code, Some(0), "{said}");
    // Its parent stands for it, too.
    let (code, said, _) = fuzz("o3", "TypeError,LookupError");
    assert_eq!(code, Some(0), "{said}");
    // A program and a function are compared.
    let options =
        ["fuzz", "json", "-n", "200", "-o", "o4", "--no-extremes", "--compare", "python:subject:parse", "--", "cat"];
    let compared = run_in(&place, &options);
    assert!(text(&compared.stderr).contains("ends with success, the other one with an error"));
    let options =
        ["fuzz", "json", "-n", "200", "-o", "o5", "--no-extremes", "--compare", "python:json:loads", "--", "cat"];
    let compared = run_in(&place, &options);
    assert_eq!(compared.status.code(), Some(0), "{}", text(&compared.stderr));
}

/// Fails on a string that does not end, which no text of the language has.
const UNENDED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int character, is_within = 0;
    while ((character = getchar()) != EOF) {
        if (character == '\\') getchar();
        if (character == '"') is_within = !is_within;
    }
    if (is_within) abort();
    return 0;
}
"#;

#[test]
fn broken_texts_are_run_unless_something_else_tells_failures() {
    let place = place("fuzz-broken");
    fs::write(place.path("unended.c"), UNENDED).unwrap();
    assert!(run_in(&place, &["cc", "-O1", "unended.c", "-o", "unended"]).status.success());
    let fuzz = |out: &str, more: &[&str]| {
        let options = ["fuzz", "json", "-n", "400", "-o", out, "--json"];
        let run = run_in(&place, &[&options[..], more, &["--", "./unended"]].concat());
        (run.status.code(), text(&run.stdout))
    };
    let (code, said) = fuzz("o1", &[]);
    assert_eq!(code, Some(1), "{said}");
    let keys = failures(&place.path("o1"));
    assert!(keys.len() == 1 && keys[0].starts_with("broken-SIGABRT"), "{keys:?}");
    let folder = place.path(&format!("o1/failures/{}", keys[0]));
    assert_eq!(fs::read(Path::new(&folder).join("minimised")).unwrap(), b"\"", "{said}");
    assert!(!Path::new(&folder).join("minimised.choices").exists());
    let lines: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let failure = lines.iter().find(|line| line["event"] == "failure").expect("a failure");
    assert_eq!((&failure["in_language"], &failure["bytes"]), (&false.into(), &1.into()), "{said}");
    // The share of valid texts is one of those that are made to be valid.
    let end = lines.last().expect("a line");
    let [runs, valid, broken] = ["runs", "valid", "broken"].map(|name| end[name].as_u64().unwrap());
    assert!(broken > 20 && valid == runs - broken, "{end}");
    let replayed = run_in(&place, &["fuzz", "json", "-o", "o1", "--replay", "--junit", "r.xml", "--", "./unended"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
    let report = fs::read_to_string(place.path("r.xml")).unwrap();
    assert!(report.contains("tests=\"1\" failures=\"1\"") && report.contains(&keys[0]), "{report}");
    let replayed = run_in(&place, &["fuzz", "json", "-o", "o1", "--replay", "--junit", "r.xml", "--", "cat"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
    let report = fs::read_to_string(place.path("r.xml")).unwrap();
    assert!(report.contains("tests=\"1\" failures=\"0\""), "{report}");
    for (out, options) in
        [("o2", &["--broken", "never"][..]), ("o3", &["--oracle", "true"]), ("o4", &["--fail-exit", "9"])]
    {
        let (code, said) = fuzz(out, options);
        assert!(code == Some(0) && said.contains("\"broken\":0,"), "{said}");
    }
    let (code, said) = fuzz("o5", &["--broken", "always", "--fail-exit", "9"]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = fuzz("o6", &["--strategy", "evolve", "--broken", "always"]);
    assert!(code == Some(2) && said.is_empty(), "{said}");
}

#[test]
fn a_search_that_is_interrupted_can_go_on_and_two_on_one_folder_are_refused() {
    let place = place("fuzz-signal");
    let options = ["fuzz", "json", "-o", "out", "--", "cat"];
    let child = within(interruptible().args(options), &place).stderr(Stdio::piped()).spawn().unwrap();
    while !Path::new(&place.path("out/queue")).is_dir() || fs::read_dir(place.path("out/queue")).unwrap().count() < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = run_in(&place, &options);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains("another search is writing to out"), "{}", text(&second.stderr));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(130) && said.contains("the search in `out` can go on"), "{said}");
}

/// Waits for something to be there.
fn wait_for(is_there: impl Fn() -> bool) {
    while !is_there() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_in_hand_is_not_waited_for() {
    let place = place("fuzz-interrupt");
    let script = "touch begun; sleep 1000";
    let options = ["fuzz", "json", "-o", "out", "--unconfined", "--timeout", "1000s", "--", "sh", "-c", script];
    let child = within(interruptible().args(options), &place).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| Path::new(&place.path("begun")).exists());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(130) && said.contains("the search in `out` can go on"), "{said}");
    assert_eq!(failures(&place.path("out")), [""; 0]);
}

#[test]
fn a_failure_is_kept_before_it_is_made_smaller() {
    let place = place("fuzz-killed");
    let out = place.path("out");
    let script = "case $(cat) in *[0-9]*) while :; do :; done;; esac";
    let options = ["fuzz", "json", "-o", "out", "--timeout", "100ms"];
    let program = ["--", "sh", "-c", script];
    let mut child = within(gramjet().args(options).args(program), &place).stderr(Stdio::null()).spawn().unwrap();
    let is_there = || fs::read_dir(Path::new(&out).join("failures")).is_ok_and(|mut found| found.next().is_some());
    wait_for(|| is_there() && failures(&out).iter().any(|key| !key.starts_with('.')));
    child.kill().unwrap();
    child.wait().unwrap();
    let key = failures(&out).pop().unwrap();
    let report = || fs::read_to_string(Path::new(&out).join("failures").join(&key).join("report.json")).unwrap();
    assert!(report().contains("\"finished\": false"), "{}", report());
    assert!(Path::new(&out).join("failures").join(&key).join("replay.sh").exists());
    // The next search ends what this one has begun.
    let options = [&options[..], &["-n", "0", "--max-tests", "3"], &program].concat();
    let resumed = run_in(&place, &options);
    assert!(text(&resumed.stderr).contains("timeout; "), "{}", text(&resumed.stderr));
    assert!(report().contains("\"finished\": true"), "{}", report());
}

/// Every text fails with a message that depends on its first character, so several threads find the same failure at the
/// same time. Each failure has one folder, which is complete, and is reported once.
#[test]
fn threads_that_come_to_the_same_failure_write_it_once() {
    let place = place("fuzz-same");
    let script =
        "case $(cat) in '['*) echo list;; '{'*) echo map;; '\"'*) echo text;; *) echo other;; esac >&2; exit 3";
    let options = ["fuzz", "json", "-n", "60", "--jobs", "4", "--max-tests", "20", "--json", "--fail-exit", "3"];
    for out in ["o1", "o2", "o3"] {
        let run = run_in(&place, &[&options[..], &["-o", out, "--", "sh", "-c", script]].concat());
        assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
        let said = text(&run.stdout);
        let lines = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let told = lines.filter(|line| line["event"] == "failure");
        let mut told: Vec<String> = told.map(|line| line["key"].as_str().expect("a key").to_string()).collect();
        told.sort();
        let keys = failures(&place.path(out));
        assert_eq!(told, keys, "{said}");
        assert!((1..=4).contains(&keys.len()), "{keys:?}");
        for key in keys {
            let folder = place.path(&format!("{out}/failures/{key}"));
            let report = fs::read_to_string(Path::new(&folder).join("report.json")).unwrap();
            assert!(report.contains("\"finished\": true"), "{key}: {report}");
            assert!(Path::new(&folder).join("replay.sh").exists(), "{key}");
        }
    }
}

#[test]
fn what_cannot_be_fuzzed_is_refused_before_a_folder_is_made() {
    let place = place("fuzz-refused");
    for (arguments, said) in [
        (&["fuzz", "json", "-o", "none", "--", "./nothing"][..], "there is no such program"),
        (&["fuzz", "jsn", "-o", "none", "--", "cat"], "did you mean `json`"),
        (&["fuzz", "json", "-o", "none", "--fail-exit", "x", "--", "cat"], "`x` is no exit status"),
        (&["fuzz", "json", "-o", "none", "--fail-stderr", "(", "--", "cat"], "open group"),
        (&["fuzz", "json", "-o", "none", "--normalise", "cat", "--", "cat"], "--compare"),
        (&["fuzz", "json", "-o", "none", "--replay", "--", "cat"], "has no search in it"),
        (&["fuzz", "json", "-o", "none", "--seeds", "nowhere", "--", "cat"], "nowhere"),
        (&["fuzz", "json"], "PROGRAM"),
    ] {
        let output = run_in(&place, arguments);
        let (code, message) = (output.status.code(), text(&output.stderr));
        let is_read = arguments.contains(&"nowhere");
        assert_eq!(code, Some(if is_read { 1 } else { 2 }), "{arguments:?}: {message}");
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert!(!Path::new(&place.path("none")).exists(), "{arguments:?}");
    }
    fs::write(place.path("full"), "").unwrap();
    let output = run_in(&place, &["fuzz", "json", "-o", "full", "--", "cat"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
}

#[test]
fn wrappers_pass_all_arguments_on_and_end_as_the_compiler_does() {
    let place = place("wrappers");
    let version = run_in(&place, &["cc", "--version"]);
    let is_compiler = ["clang", "gcc", "GCC"].iter().any(|name| text(&version.stdout).contains(name));
    assert!(version.status.success() && is_compiler, "{}", text(&version.stdout));
    let wrong = run_in(&place, &["c++", "-c", "nothing.cc"]);
    assert!(!wrong.status.success() && text(&wrong.stderr).contains("nothing.cc"), "{}", text(&wrong.stderr));
    let cargo = run_in(&place, &["cargo", "-V"]);
    assert!(text(&cargo.stdout).starts_with("cargo 1."), "{}", text(&cargo.stderr));
}
