//! Costs of a search other than edges: time, memory, allocations, the stack.

use std::fs;
use std::process::Command;

use super::last_event;
use crate::cli::fuzz::{run_in, within};
use crate::cli::{place, text};

/// Makes a buffer longer for each `m`, and goes deeper for each `(`.
const GROWS: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int deeper(void) {
    volatile char room[200] = {0};
    return getchar() == '(' ? deeper() + room[7] : 0;
}
static void run(void) {
    char *kept = NULL;
    size_t size = 0;
    deeper();
    for (int c; (c = getchar()) != EOF;) {
        if (c != 'm') continue;
        char *more = malloc(size + 8);
        if (size) memcpy(more, kept, size);
        free(kept);
        kept = more;
        size += 8;
    }
    free(kept);
}
#ifdef LOOPS
int main(void) {
    while (__AFL_LOOP(1000)) {
        rewind(stdin);
        run();
    }
}
#else
int main(void) { run(); }
#endif
";

/// The program is not instrumented.
#[test]
#[ignore = "run by ci/test"]
fn allocations_and_the_stack_are_costs_of_any_program() {
    if !gramjet_needs::has("cc") {
        return;
    }
    let place = place("search-demand");
    fs::write(place.path("grows.c"), GROWS).unwrap();
    fs::write(place.path("letters.ebnf"), "s ::= '(' s ')' | letter+\nletter ::= [am]\n").unwrap();
    let built = within(&mut Command::new("cc"), &place).args(["-O1", "grows.c", "-o", "plain"]).status().unwrap();
    assert!(built.success());
    let built = run_in(&place, &["cc", "-O1", "-DLOOPS", "grows.c", "-o", "loops"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    let search = |cost: &str, out: &str, program: &str| {
        let options = ["search", "letters.ebnf", "--survey", "0s", "--no-progress", "-n", "600", "-o", out];
        run_in(&place, &[&options[..], &["--max-len", "40", "--cost", cost, "--", program]].concat())
    };
    for program in ["./plain", "./loops"] {
        let found = search("alloc", &format!("out-{}", &program[2..]), program);
        let said = text(&found.stderr);
        assert!(found.status.success() && said.contains("Quadratic in the number of"), "{program}: {said}");
        assert!(said.contains("bytes allocated by "), "{program}: {said}");
    }
    let found = search("stack", "stack", "./plain");
    let said = text(&found.stderr);
    let deepest = said.lines().find(|line| line.contains("bytes of stack by ")).unwrap_or_default();
    assert!(found.status.success() && deepest.contains(": ((((((((((("), "{said}");
    let refused = search("alloc,stack", "refused", "./loops");
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("`stack` needs a process for each text"), "{said}");
    let refused = search("alloc", "refused", "python:json:loads");
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("`alloc` needs a program"), "{said}");
}

/// Sleeps on each text, and takes memory for each `m`.
const SLEEPER: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void run(void) {
    size_t size = 0;
    for (int c; (c = getchar()) != EOF;) if (c == 'm') size += 4 << 20;
    usleep(30000);
    volatile char *memory = malloc(size + 1);
    if (!memory) abort();
    for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
    free((void *)memory);
}
#ifdef LOOPS
int main(void) {
    while (__AFL_LOOP(1000)) {
        rewind(stdin);
        run();
    }
}
#else
int main(void) { run(); }
#endif
";

#[test]
fn processor_time_and_memory_are_costs_of_instrumented_programs() {
    let place = place("search-usage");
    fs::write(place.path("sleeper.c"), SLEEPER).unwrap();
    fs::write(place.path("three.ebnf"), "s ::= [am]{3}\n").unwrap();
    for (program, option) in [("sleeper", "-DONE"), ("loops", "-DLOOPS")] {
        let built = run_in(&place, &["cc", "-O1", option, "sleeper.c", "-o", program]);
        assert!(built.status.success(), "{}", text(&built.stderr));
    }
    let search = |program: &str, cost: &str| {
        let out = format!("{program}-{cost}");
        let program = format!("./{program}");
        let options = ["search", "three.ebnf", "--json", "--study", "0s", "-o", &out, "--cost", cost, "--", &program];
        run_in(&place, &options)
    };
    // Each text takes 30 ms by the clock.
    for program in ["sleeper", "loops"] {
        let found = search(program, "cpu");
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        assert!(!text(&found.stderr).contains("time by the clock"), "{}", text(&found.stderr));
        let cost = last_event(&found.stdout, "end")["cost"].as_u64().unwrap();
        assert!((1..25_000).contains(&cost), "{program}: {cost}");
    }
    let found = search("sleeper", "edges,rss");
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let front = last_event(&found.stdout, "front");
    assert_eq!(front["costs"], serde_json::json!(["edges", "memory"]));
    let texts = front["texts"].as_array().unwrap();
    let most = texts.iter().max_by_key(|text| text["costs"][1].as_u64()).unwrap();
    assert!(most["text"] == "mmm" && most["costs"][1].as_u64() >= Some(12 << 10), "{front}");
    let refused = search("loops", "edges,memory");
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("`memory` needs a process for each text"), "{}", text(&refused.stderr));
}
