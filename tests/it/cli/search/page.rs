//! The page of a search: the commands on it, failures and timeouts.

use super::*;

/// Compares names as `NAMES` does, and prints the text. Does not end if the first name is `z`, and fails if it is `q`.
const ODD: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 20];
static char *names[1 << 18];
static volatile int spins;
int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    if (!strncmp(text, "q,", 2)) abort();
    if (!strncmp(text, "z,", 2))
        for (;; spins++)
            if (spins & 1) spins += 2;
    fputs(text, stdout);
    int count = 0;
    for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
        int known = 0;
        for (int i = 0; i < count; i++) known |= !strcmp(names[i], name);
        if (!known) names[count++] = name;
    }
}
"#;

/// Returns the data of a page.
fn report(place: &Place, out: &str) -> serde_json::Value {
    let json = fs::read(place.path(&format!("{out}/report.json"))).unwrap();
    serde_json::from_slice(&json).unwrap()
}

/// Runs a command of the page in the folder of the test.
fn run_again(place: &Place, shown: &serde_json::Value) -> std::process::Output {
    let line = shown["replay"].as_str().expect("a command");
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_gramjet")).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    within(shell.args(["-c", line]), place).env("PATH", path).output().unwrap()
}

fn text_of(shown: &serde_json::Value) -> String {
    String::from_utf8(serde_json::from_value(shown["text"].clone()).unwrap()).unwrap()
}

#[test]
fn texts_failures_and_timeouts_have_the_command_that_runs_them() {
    let place = place("search-commands");
    fs::write(place.path("odd.c"), ODD).unwrap();
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "odd.c", "-o", "odd"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    for (out, program) in [("it's out", &["./odd"][..]), ("file", &["./odd", "@@"])] {
        let limits = ["--edge-limit", "100000", "--timeout", "2s"];
        let options = ["-n", "1500", "--seed", "1", "--study", "0s", "-o", out, "--"];
        let found = run_in(&place, &[&SEARCH[..], &limits, &options, program].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let report = report(&place, out);
        let inputs = report["inputs"].as_array().unwrap();
        assert!(inputs.len() > 5, "{inputs:?}");
        for input in inputs {
            let again = run_again(&place, input);
            assert!(again.status.success() && text(&again.stdout) == text_of(input), "{input}: {again:?}");
        }
        let failure = &report["failures"][0];
        assert_eq!(failure["outcome"], "signal 6 (SIGABRT)");
        assert_eq!(run_again(&place, failure).status.code(), Some(128 + 6), "{failure}");
        // The program would run for ever on the text of a timeout, so it has a limit.
        let timeouts = report["timeouts"].as_array().unwrap();
        let timeout = timeouts.iter().find(|timeout| timeout["cost"] == 100_000).unwrap();
        assert!(timeout["seconds"].is_f64(), "{timeout}");
        assert_eq!(run_again(&place, timeout).status.code(), Some(1), "{timeout}");
        let command = timeout["replay"].as_str().unwrap();
        let name = command.split_once("timeouts/").and_then(|(_, rest)| rest.split_once(" -- ")).unwrap().0;
        let kept = fs::read_to_string(place.path(&format!("{out}/timeouts/{name}"))).unwrap();
        assert!(kept.starts_with("z,") && kept == text_of(timeout), "{kept}");
        let page = fs::read_to_string(place.path(&format!("{out}/report.html"))).unwrap();
        assert!(page.contains(">signal 6 (SIGABRT)<") && !page.contains(">Place<"), "{page}");
        assert_eq!((page.matches(">First after<").count(), page.matches(">Found<").count()), (1, 0), "{page}");
    }
}

#[test]
fn functions_are_run_again_by_a_command_of_ours() {
    if !functions::has_python() {
        return;
    }
    let place = place("search-commands-python");
    let subject = "def commas(text):\n    print(text, end='')\n    return sum(1 for _ in text.split(','))\n";
    fs::write(place.path("subject.py"), subject).unwrap();
    let options = ["search", "json", "-n", "60", "--study", "0s", "-o", "out", "--text", "--", "python:subject:commas"];
    let found = run_in(&place, &options);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let best = &report(&place, "out")["inputs"][0];
    let again = run_again(&place, best);
    assert!(again.status.success() && text(&again.stdout) == text_of(best), "{best}: {again:?}");
}

#[test]
fn a_replay_has_the_fastest_place_and_says_what_differs() {
    let place = study::pairs("search-replay");
    let usual = ["--max-len", "8", "--growth-len", "500", "-o", "out"];
    study::search_pairs(&place, &[&["-n", "1500"], &usual[..]].concat());
    let replay = || {
        let options = ["--edge-limit", "1000000", "--replay", "--", "./pairs"];
        let replayed = run_in(&place, &[&["search", "pairs.ebnf"], &usual[..], &options].concat());
        assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
        text(&replayed.stdout).to_string()
    };
    let said = replay();
    for line in ["\nfastest: pairs.c:8 (of_a), n^2.0 (95 %: ", "\nfastest: pairs.c:12 (of_b), n^2.0 (95 %: "] {
        assert!(said.contains(line), "{said}");
    }
    assert!(!said.contains("differs") && !said.contains(", failed"), "{said}");
    // The program is another one now: it refuses long texts of `a`, and does not end on long ones of `b`.
    let source = fs::read_to_string(place.path("pairs.c")).unwrap();
    let source = source.replace("of_a(int length) {", "of_a(int length) { if (length > 200) __builtin_trap();");
    let source = source
        .replace("of_b(int length) {", "of_b(int length) { for (; length > 200; pairs++) if (pairs & 1) pairs += 2;");
    fs::write(place.path("pairs.c"), source.replace("j < length", "j < 9")).unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "pairs.c", "-o", "pairs"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    let said = replay();
    let families: Vec<&str> = said.split("`out/growth/").skip(1).collect();
    let family =
        |place: &str| *families.iter().find(|family| family.contains(place)).unwrap_or_else(|| panic!("{said}"));
    let of_a = family("(of_a)");
    assert!(of_a.contains(" edges, failed\n") && !of_a.contains(", stopped"), "{of_a}");
    assert!(of_a.contains("\ncost ~ n^1.0") && of_a.contains("\nfastest: pairs.c:"), "{of_a}");
    assert!(of_a.contains("\ndiffers from what the search has recorded: cost ~ n^2.0 (95 %: "), "{of_a}");
    let recorded = "\ndiffers from what the search has recorded: fastest: pairs.c:8 (of_a), n^2.0";
    assert!(of_a.contains(recorded), "{of_a}");
    let of_b = family("(of_b)");
    assert!(of_b.contains(" edges, stopped\n") && !of_b.contains(", failed"), "{of_b}");
    assert!(of_b.contains("\ncost ~ n^2.0") && !of_b.contains("differs"), "{of_b}");
}

/// Changed bytes can cost more than all texts of the grammar.
#[test]
fn a_best_text_that_is_not_of_the_grammar_is_not_studied_and_this_is_said() {
    let place = place("search-foreign");
    fs::write(place.path("a.ebnf"), "s ::= 'a'\n").unwrap();
    let options = [
        "search",
        "a.ebnf",
        "-n",
        "200",
        "--survey",
        "0s",
        "-o",
        "out",
        "--cost",
        "output",
        "--strategy",
        "bytes",
        "--",
        "cat",
    ];
    let found = run_in(&place, &options);
    let said = text(&found.stderr);
    assert_eq!(found.status.code(), Some(0), "{said}");
    let lines = said.lines().filter(|line| line.starts_with("not studied: the best text is not of the grammar"));
    assert_eq!(lines.count(), 1, "{said}");
    fs::remove_file(place.path("out/report.html")).unwrap();
    assert_eq!(run_in(&place, &["report", "out"]).status.code(), Some(0));
    let page = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert_eq!(page.matches("<p class=note>This text is not of the grammar").count(), 1, "{page}");
}
