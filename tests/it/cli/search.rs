//! `gramjet search`, on real programs.

use std::fs;
use std::io::{BufRead as _, Read as _};

use super::fuzz::{run_in, within};
use super::{Place, interruptible, place, text};

/// A program that compares each name with all names before it.
const NAMES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 20];
static char *names[1 << 18];
static int is_known(char *name, int count) {
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name)) return 1;
    return 0;
}
int main(void) {
    int count = 0;
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    for (char *name = strtok(text, ","); name; name = strtok(NULL, ","))
        if (!is_known(name, count)) names[count++] = name;
    if (count > 8) printf("%d\n", count);
    if (count > 100000) for (;;) { }
    return 0;
}
"#;

const GRAMMAR: &str = "names ::= name (',' name)*\nname ::= [a-z]+\n";

/// The program, built by `gramjet cc`, and the grammar.
fn names(test: &str) -> Place {
    let place = place(test);
    fs::write(place.path("names.c"), NAMES).unwrap();
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "names.c", "-o", "names"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    place
}

const SEARCH: [&str; 5] = ["search", "names.ebnf", "--max-len", "40", "--no-progress"];

fn search(place: &Place, options: &[&str]) -> std::process::Output {
    run_in(place, &[&SEARCH[..], options, &["--", "./names"]].concat())
}

/// The lines of the log without the time.
fn log(place: &Place, out: &str) -> Vec<String> {
    let log = fs::read_to_string(place.path(&format!("{out}/log.csv"))).unwrap();
    log.lines().map(|line| line.split_once(',').unwrap().1.to_string()).collect()
}

#[test]
fn the_costly_text_its_causes_and_its_growth_are_found() {
    let place = names("search-names");
    let found = search(&place, &["-n", "2500", "-o", "out"]);
    let said = text(&found.stderr);
    assert_eq!(found.status.code(), Some(0), "{said}");
    // Twenty names of one letter each fit.
    let best = fs::read_dir(place.path("out/best")).unwrap().map(|entry| entry.unwrap().path());
    let mut best: Vec<_> = best.filter(|path| !path.to_string_lossy().ends_with(".choices")).collect();
    best.sort();
    let best = fs::read(best.last().unwrap()).unwrap();
    assert!(best.split(|&byte| byte == b',').count() >= 18, "{said}");
    assert!(said.contains("names.c:8 (is_known)"), "{said}");
    assert!(said.contains("growth: cost ~ n^2.0") && said.contains("in the number of rounds"), "{said}");
    assert!(said.contains("; fastest: names.c:8 (is_known), n^2.0 (95 %: "), "{said}");
    let report = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(report.contains("is_known") && report.contains("n^2.0") && report.contains("<svg"), "{report}");
    assert!(!report.contains("<script"));

    let replayed = search(&place, &["-o", "out", "--replay"]);
    assert_eq!(replayed.status.code(), Some(0));
    assert!(text(&replayed.stdout).contains("cost ~ n^2.0"), "{}", text(&replayed.stdout));
    assert!(text(&replayed.stdout).contains("     1 copies"), "{}", text(&replayed.stdout));

    // The search goes on where it was, with all that it knew.
    let best = |said: &str| said.split(", best ").nth(1).unwrap().split([',', '\n']).next().unwrap().to_string();
    let again = search(&place, &["-n", "0", "-o", "out", "--study", "0s", "--time", "1ms"]);
    assert_eq!(best(&text(&again.stderr)), log(&place, "out").last().unwrap().split(',').nth(2).unwrap());
    assert!(fs::exists(place.path("out/growth/1/costs.csv")).unwrap() && log(&place, "out").len() > 3);
    let other = run_in(&place, &["search", "names.ebnf", "-n", "1", "-o", "out", "--", "./names"]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other.stderr));
    assert!(text(&other.stderr).contains("has a search with length `40`"), "{}", text(&other.stderr));
}

/// Two loops: pairs of `a` cost more than pairs of `b`.
const PAIRS: &str = r#"
#include <stdio.h>
#include <string.h>
static char text[1 << 20];
static volatile int pairs;
static void of_a(int length) {
    for (int i = 0; i < length; i++)
        for (int j = 0; j < length; j++) pairs++;
}
static void of_b(int length) {
    for (int i = 0; i < length; i++)
        for (int j = 0; j < i; j++) pairs++;
}
int main(void) {
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    if (*text == 'a') of_a(strlen(text));
    if (*text == 'b') of_b(strlen(text));
    return 0;
}
"#;

/// The program of two loops, and its grammar.
fn pairs(test: &str) -> Place {
    let place = place(test);
    fs::write(place.path("pairs.c"), PAIRS).unwrap();
    fs::write(place.path("pairs.ebnf"), "s ::= a | b\na ::= 'a'+\nb ::= 'b'+\n").unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "pairs.c", "-o", "pairs"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    place
}

fn search_pairs(place: &Place, options: &[&str]) -> String {
    let found = run_in(place, &[&["search", "pairs.ebnf", "--no-progress"], options, &["--", "./pairs"]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    text(if options.contains(&"--json") { &found.stdout } else { &found.stderr }).to_string()
}

#[test]
fn the_study_is_told_to_people_and_to_machines_and_kept() {
    let place = pairs("search-study");
    let said = search_pairs(&place, &["-n", "1500", "-o", "out"]);
    let lines: Vec<&str> = said.lines().collect();
    let line = |start: &str| lines.iter().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{said}"));
    assert!(
        line("cause: `aaa").contains("` (a), ") && line("cause: ").contains(" of the cost, most of it at pairs.c:")
    );
    assert!(line("growth: ").contains("; fastest: pairs.c:8 (of_a), n^2.0 (95 %: "), "{said}");
    assert!(line("also hot at pairs.c:12 (of_b): ").contains("; growth: cost ~ n^2.0"), "{said}");
    // The line before the hot ones is that of the smaller text.
    let hot = lines.iter().position(|line| line.starts_with("hot: ")).unwrap();
    assert!([hot - 2, hot - 1].iter().all(|&at| lines[at].contains(" edges by ")), "{said}");

    // The same from the folder.
    let json = search_pairs(&place, &["-n", "0", "-o", "out", "--json"]);
    let study = last_event(json.as_bytes(), "study");
    let best = study["text"].as_str().unwrap();
    let cause = &study["causes"][0];
    assert_eq!(
        (cause["rule"].as_str(), cause["from"].as_u64(), cause["to"].as_u64()),
        (Some("a"), Some(0), Some(best.len() as u64))
    );
    assert!(cause["share"].as_f64().unwrap() > 0.9 && cause["place"].as_str().unwrap().contains("(of_a)"), "{cause}");
    let smaller = &study["smaller"];
    let (text_of, cost_of) = (smaller["text"].as_str().unwrap(), smaller["cost"].as_u64().unwrap());
    assert!(text_of.len() < best.len() && cost_of as f64 >= 0.95 * study["cost"].as_f64().unwrap(), "{smaller}");
    let family = &study["families"][0];
    assert_eq!(family["fastest"], "pairs.c:8 (of_a)");
    assert!(family["fastest_law"].as_str().unwrap().starts_with("n^2.0 (95 %: "), "{family}");
    assert!(
        family["edges"].as_array().unwrap().iter().any(|edge| edge["law"].as_str().unwrap().starts_with("n^1.0")),
        "{family}"
    );
    let other = &study["others"][0];
    assert!(
        other["text"].as_str().unwrap().bytes().all(|byte| byte == b'b')
            && study["others"].as_array().unwrap().len() == 1,
        "{study}"
    );
    assert_eq!(other["families"][0]["fastest"], "pairs.c:12 (of_b)");

    // Both texts and the smaller ones are kept, and the families say which text they are of.
    let read = |name: &str| {
        fs::read_to_string(place.path(&format!("out/{name}"))).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    assert_eq!((read("studied/1/text").as_str(), read("studied/1/smaller").as_str()), (best, text_of));
    assert_eq!(read("studied/2/text"), other["text"].as_str().unwrap());
    assert!(read("studied/2/smaller").len() < read("studied/2/text").len() && !read("studied/2/smaller").contains('a'));
    for name in ["1/text", "1/smaller", "2/text", "2/smaller"] {
        let rendered = run_in(&place, &["render", "pairs.ebnf", &format!("out/studied/{name}.choices")]);
        assert_eq!(text(&rendered.stdout), read(&format!("studied/{name}")), "{}", text(&rendered.stderr));
    }
    assert!(read("growth/1/about").contains("fastest: pairs.c:8 (of_a), n^2.0") && read("growth/1/text") == best);
    let families = fs::read_dir(place.path("out/growth")).unwrap().count();
    assert_eq!(read(&format!("growth/{families}/text")), read("studied/2/text"));

    // So does the page, also one that is made anew, and after a search without a study.
    search_pairs(&place, &["-n", "20", "-o", "out", "--study", "0s"]);
    fs::remove_file(place.path("out/report.html")).unwrap();
    assert_eq!(run_in(&place, &["report", "out"]).status.code(), Some(0));
    let page = read("report.html");
    for part in ["studied/1/smaller", "pairs.c:8 (of_a), n^2.0", "pairs.c:12 (of_b), n^2.0", "Hottest edges"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    // The other text is the second one, with its marks and its tree.
    let second = page.split("<details class=input").nth(2).unwrap();
    assert!(second.contains("bbb") && second.contains("<mark") && second.contains("Derivation tree"), "{second}");

    // A study that is killed while its folder takes the place of the old one leaves the old one.
    fs::rename(place.path("out/growth"), place.path("out/.growth.old")).unwrap();
    fs::create_dir(place.path("out/.growth.1")).unwrap();
    let replayed = run_in(&place, &["search", "pairs.ebnf", "-o", "out", "--replay", "--", "./pairs"]);
    assert!(text(&replayed.stdout).contains("cost ~ n^2.0"), "{}", text(&replayed.stderr));
}

/// What cannot be measured is said, not left out.
#[test]
fn growth_that_stops_the_program_comes_first() {
    let place = place("search-stopped");
    fs::write(place.path("g.ebnf"), "s ::= 'a'* n\nn ::= '(' n ')' | 'x'\n").unwrap();
    let program = "read -r text; case $text in *'(((('*) exec sleep 60;; *'((('*) text=$text$text$text;; esac; \
                   printf %s \"$text\"";
    let options = ["--max-len", "9", "-n", "60", "--cost", "output", "--timeout", "300ms", "--no-progress"];
    let found = run_in(&place, &[&["search", "g.ebnf"], &options[..], &["--", "sh", "-c", program]].concat());
    let said = text(&found.stderr);
    assert_eq!(found.status.code(), Some(0), "{said}");
    let first = said.lines().find(|line| line.starts_with("growth: ")).unwrap_or_default();
    assert!(first.starts_with("growth: stopped at n = ") && first.contains("`n`"), "{said}");
}

/// Weights of a shape split repetitions by their numbers of rounds. Growth is measured without them.
#[test]
fn growth_is_found_under_any_weights() {
    let place = names("search-shape");
    let found = search(&place, &["-n", "1500", "-o", "out", "--shape", "target-size=100"]);
    let said = text(&found.stderr);
    assert!(said.contains("growth: cost ~ n^2.0") && said.contains("in the number of rounds"), "{said}");
}

#[test]
fn searches_share_a_folder() {
    let place = names("search-shared");
    let node = |name: &str, runs: &str, strategy: &str| {
        let options = ["-n", runs, "-o", "shared", "--name", name, "--strategy", strategy, "--study", "0s", "--json"];
        let found = search(&place, &options);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        last_event(&found.stdout, "end")["cost"].as_u64().expect("a cost")
    };
    let kept = |name: &str, what: &str| {
        let entries = fs::read_dir(place.path(&format!("shared/{name}/{what}"))).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<String>>()
    };
    // afl-fuzz has no folder of best texts, and may have texts that do not conform.
    fs::create_dir_all(place.path("shared/afl/queue")).unwrap();
    fs::write(place.path("shared/afl/queue/id:000000,orig:a"), "a,b,c").unwrap();
    fs::write(place.path("shared/afl/queue/id:000001,op:havoc"), "\0,,").unwrap();
    let best = node("one", "2000", "portfolio");
    assert!(kept("one", "queue").iter().any(|name| name.contains("op:sync") && name.contains(",sync:afl,src:000000")));
    // Random texts alone would cost far less within these runs.
    assert!(node("two", "60", "random") >= best);
    let from_one = kept("two", "best").into_iter().filter(|name| name.contains(",sync:one,src:"));
    assert!(from_one.count() > 0, "{:?}", kept("two", "best"));
    // What was taken over stays, and a search does not take its own texts back.
    assert!(node("two", "0", "random") >= best);
    node("one", "60", "portfolio");
    let own = [kept("one", "best"), kept("one", "queue")].concat();
    assert!(own.iter().all(|name| !name.contains("sync:one")), "{own:?}");
    let refused = search(&place, &["-n", "1", "-o", "shared", "--name", "a/b"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

#[test]
fn equal_seeds_and_budgets_give_equal_searches() {
    let place = names("search-seeds");
    // With and without a core of its own.
    for (out, option) in [("one", "--json"), ("two", "--json"), ("any", "--no-affinity")] {
        let found = search(&place, &["-o", out, "--edge-budget", "300000", "--seed", "7", "--study", "0s", option]);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    }
    assert_eq!(log(&place, "one"), log(&place, "two"));
    assert_eq!(log(&place, "one"), log(&place, "any"));
    assert!(log(&place, "one").len() > 10);
    search(&place, &["-o", "three", "--edge-budget", "300000", "--seed", "8", "--study", "0s"]);
    assert_ne!(log(&place, "one"), log(&place, "three"));
}

/// Texts are made in the thread that runs them, and later in another one if that is faster. With one core they are not.
#[test]
#[ignore = "run by ci/test"]
fn a_search_goes_the_same_way_on_one_core_and_on_several() {
    let place = names("search-cores");
    let source = "#include <unistd.h>
__AFL_FUZZ_INIT();
int main(void) {
    __AFL_INIT();
    const unsigned char *text = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(100000)) {
        volatile int alike = 0, length = __AFL_FUZZ_TESTCASE_LEN;
        for (int i = 0; i < length; i++)
            for (int j = 0; j < i; j++) if (text[i] == text[j]) alike++;
    }
}
";
    fs::write(place.path("alike.c"), source).unwrap();
    let built = run_in(&place, &["cc", "-O1", "alike.c", "-o", "alike"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    let options = ["-n", "60000", "--study", "0s", "--no-affinity", "-o"];
    let found = run_in(&place, &[&SEARCH[..], &options, &["several", "--", "./alike"]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let mut one = std::process::Command::new("taskset");
    one.args(["-c", "0", env!("CARGO_BIN_EXE_gramjet")]).args(SEARCH).args(options).args(["one", "--", "./alike"]);
    let found = within(&mut one, &place).output().unwrap();
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert_eq!(log(&place, "one"), log(&place, "several"));
    assert!(log(&place, "one").len() > 10);
}

#[test]
fn every_strategy_and_every_cost_searches() {
    let place = names("search-strategies");
    let strategies = [
        "portfolio",
        "random",
        "bytes",
        "bias-only",
        "treeline",
        "slackline",
        "slackline-mc",
        "gramrand",
        "saffron",
        "evolve",
    ];
    for strategy in strategies {
        let out = format!("out-{strategy}");
        let found = search(&place, &["-n", "300", "-o", &out, "--study", "0s", "--strategy", strategy, "--jobs", "2"]);
        assert_eq!(found.status.code(), Some(0), "{strategy}: {}", text(&found.stderr));
        assert!(log(&place, &out).len() > 1, "{strategy}");
    }
    for cost in ["hottest", "cpu", "memory", "output", "command:wc -c"] {
        let program = if cost == "memory" { "cat" } else { "./names" };
        let options = ["-n", "60", "-o", cost, "--study", "0s", "--cost", cost, "--json", "--", program];
        let found = run_in(&place, &[&SEARCH[..], &options].concat());
        assert_eq!(found.status.code(), Some(0), "{cost}: {}", text(&found.stderr));
        let end = text(&found.stdout).lines().last().unwrap().to_string();
        let end: serde_json::Value = serde_json::from_str(&end).expect("JSON");
        assert_eq!((end["event"].as_str(), end["runs"].as_u64()), (Some("end"), Some(60)), "{cost}");
        let counts = end["cost"].as_u64().expect("a number");
        // Only lists of more than eight names print anything.
        assert!(counts > 0 || cost == "output", "{cost}: {end}");
    }
}

#[test]
fn runs_are_stopped_at_a_number_of_edges() {
    let place = names("search-edge-limit");
    let search = |out: &str| {
        let options = ["-o", out, "-n", "1000", "--seed", "1", "--study", "0s", "--edge-limit", "100"];
        let found = search(&place, &options);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let names = |folder: &str| -> Vec<String> {
            let folder = fs::read_dir(place.path(&format!("{out}/{folder}"))).unwrap();
            let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            // The name has the time, as well.
            let timeless = |name: String| name.split(',').filter(|part| !part.starts_with("time:")).collect();
            let mut names: Vec<String> = names.filter(|name| !name.ends_with(".choices")).map(timeless).collect();
            names.sort();
            names
        };
        (names("best"), names("timeouts"))
    };
    let (best, stopped) = search("one");
    let costs = |names: &[String]| -> Vec<u64> {
        names.iter().map(|name| name.rsplit_once("cost:").unwrap().1.parse().unwrap()).collect()
    };
    assert!(costs(&best).iter().all(|&cost| cost <= 100), "{best:?}");
    assert!(stopped.len() > 10 && costs(&stopped).iter().all(|&cost| cost == 100), "{stopped:?}");
    assert_eq!((best, stopped), search("two"));
}

#[test]
#[ignore = "run by ci/test"]
fn a_search_ends_when_growth_is_proved() {
    let place = names("search-proof");
    let found = search(&place, &["-o", "out", "--until-exponent", "1.5", "-n", "1000000"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert!(text(&found.stderr).contains("growth faster than n^1.5 is proved"), "{}", text(&found.stderr));
    assert!(text(&found.stderr).contains("n^2.0"), "{}", text(&found.stderr));
}

#[test]
fn searches_that_cannot_be_made_are_refused() {
    let place = place("search-refused");
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let refused = |arguments: &[&str], message: &str| {
        let refused = run_in(&place, &[&["search", "names.ebnf", "-o", "out"], arguments].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(message), "{}", text(&refused.stderr));
    };
    refused(&["--cost", "edges", "--", "cat"], "needs a program built by gramjet cc");
    refused(&["--cost", "edge", "--", "cat"], "use edges, hottest, cpu");
    refused(&["--max-len", "0", "-n", "1", "--", "cat"], "longer than 0 bytes: give at least `--max-len 1`");
    refused(&["--cost", "command:echo x", "-n", "1", "--", "cat"], "must print a number");
    refused(&["--edge-budget", "5", "--", "cat"], "needs a program that counts its edges");
    refused(&["--edge-limit", "5", "--", "cat"], "--edge-limit needs a program built by gramjet cc");
    refused(&["--edge-limit", "5", "--replay", "--", "cat"], "--edge-limit needs a program built by gramjet cc");
    refused(&["--until-exponent", "2", "--study", "0s", "--", "cat"], "needs time for --study");
    refused(&["--replay", "--", "cat"], "has no search in it");
    refused(&["--strategy", "treline", "--", "cat"], "treeline");
    refused(&["--until-exponent", "0.5", "--", "cat"], "use a number from 1 on");
    refused(&["-n", "1", "--", "./missing"], "missing");
}

#[test]
fn a_program_that_fails_on_every_text_is_reported() {
    let place = place("search-failing");
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let options = ["search", "names.ebnf", "-o", "out", "-n", "20", "--no-progress", "--"];
    let found = run_in(&place, &[&options[..], &["sh", "-c", "kill -SEGV $$"]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert!(
        text(&found.stderr).contains("no text ended by itself; report: `out/report.html`"),
        "{}",
        text(&found.stderr)
    );
    let report = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(report.contains("SIGSEGV"), "{report}");
}

#[test]
fn the_report_says_how_to_go_on() {
    let place = names("search-again");
    let found = search(&place, &["-n", "50", "--study", "0s", "-o", "a -- b", "--start", "name", "--seed=3"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let report = fs::read_to_string(place.path("a -- b/report.html")).unwrap();
    let again = "gramjet search names.ebnf --max-len 40 -o &#39;a -- b&#39; --start name --seed=3 -- ./names";
    let quoted = again.replace("&#39;", "'");
    assert!(report.contains(again) || report.contains(&quoted), "{report}");
    assert!(report.contains("--seed=3 --replay -- ./names"), "{report}");
}

/// A JSON event of a kind, the last one.
fn last_event(stdout: &[u8], kind: &str) -> serde_json::Value {
    let events = text(stdout);
    let mut events = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    events.rfind(|event| event["event"] == kind).expect(kind)
}

#[test]
fn a_search_ends_when_all_texts_were_run() {
    let place = names("search-exhausted");
    fs::write(place.path("few.ebnf"), "names ::= name ',' name\nname ::= [a-d]\n").unwrap();
    let options = ["search", "few.ebnf", "-o", "out", "--no-progress", "--study", "0s", "--jobs", "2", "--", "./names"];
    let found = run_in(&place, &options);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert!(text(&found.stderr).contains("all texts of at most 60 bytes were run"), "{}", text(&found.stderr));
    let again = run_in(&place, &[&options[..7], &["--json", "--", "./names"]].concat());
    assert_eq!(last_event(&again.stdout, "end")["exhausted"], true);
}

#[test]
fn several_costs_keep_the_texts_that_no_other_beats() {
    let place = names("search-several");
    let found = search(&place, &["-n", "600", "-o", "out", "--cost", "edges,command:wc -c", "--json", "--study", "0s"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let front = last_event(&found.stdout, "front");
    assert_eq!(front["costs"], serde_json::json!(["edges", "command:wc -c"]));
    let texts = front["texts"].as_array().unwrap();
    let costs = |text: &serde_json::Value| [0, 1].map(|cost| text["costs"][cost].as_u64().unwrap());
    for one in texts {
        assert_eq!(costs(one)[1], one["text"].as_str().unwrap().len() as u64);
        let file = fs::read(place.path(one["file"].as_str().unwrap())).unwrap();
        assert_eq!(file, one["text"].as_str().unwrap().as_bytes());
        assert!(!texts.iter().any(|other| other != one && (0..2).all(|cost| costs(other)[cost] >= costs(one)[cost])));
    }
    assert_eq!(fs::read_dir(place.path("out/front")).unwrap().count(), texts.len() + 1);
    let report = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(report.contains("<section id=trade-offs>"), "{report}");
    // The search goes on with all of them.
    let again = search(&place, &["-n", "0", "-o", "out", "--cost", "edges", "--cost", "command:wc -c", "--json"]);
    assert_eq!(last_event(&again.stdout, "front")["texts"].as_array().unwrap().len(), texts.len());
}

#[test]
fn a_report_has_all_strategies_that_were_run() {
    let place = names("search-report");
    for strategy in ["random", "portfolio"] {
        let options = ["-n", "200", "-o", "out", "--strategy", strategy, "--from-scratch", "--json", "--study", "0s"];
        let found = search(&place, &options);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let best = last_event(&found.stdout, "best");
        let file = fs::read(place.path(best["file"].as_str().unwrap())).unwrap();
        assert_eq!(file, best["text"].as_str().unwrap().as_bytes());
    }
    fs::remove_file(place.path("out/report.html")).unwrap();
    let made = run_in(&place, &["report", "out"]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let report = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(report.contains("</span>random") && report.contains("</span>portfolio"), "{report}");
    let none = run_in(&place, &["report", "."]);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none.stderr));
    assert!(text(&none.stderr).contains("has no search in it"), "{}", text(&none.stderr));
}

/// The study of a search stays when the search goes on without one, and when it is killed.
#[test]
fn a_report_keeps_what_was_proved() {
    let place = names("search-kept");
    search(&place, &["-n", "2500", "-o", "out"]);
    search(&place, &["-n", "20", "-o", "out", "--study", "0s"]);
    let report = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(report.contains("n^2.0") && report.contains("is_known"), "{report}");
}

#[test]
fn an_interrupted_search_leaves_a_page_with_what_is_known() {
    let place = names("search-interrupted");
    let command = [&SEARCH[..], &["-o", "out", "--", "./names"]].concat();
    let mut running = within(interruptible().args(command), &place).spawn().unwrap();
    while fs::read_to_string(place.path("out/log.csv")).map_or(0, |log| log.lines().count()) < 4 {
        assert!(running.try_wait().unwrap().is_none(), "the search has ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    let report = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(report.contains("<section id=lines>") && report.contains("is_known"), "{report}");
}

#[test]
fn options_that_do_not_fit_the_strategy_or_the_program_are_refused() {
    let place = names("search-explore");
    let found = search(&place, &["-n", "60", "-o", "out", "--new-coverage", "--study", "0s"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    for (options, message) in [
        (&["--new-coverage", "--", "cat"][..], "--new-coverage needs a program that counts its edges"),
        (&["--new-coverage", "--strategy", "random", "--", "./names"], "needs --strategy portfolio"),
        (&["--saffron", "batch=9", "--", "./names"], "--saffron needs --strategy saffron"),
        (&["--strategy", "saffron", "--saffron", "batches=9", "--", "./names"], "`batches` is none of batch, kept"),
        (&["--cost", "edges,edges", "--", "./names"], "the cost `edges` is given twice"),
    ] {
        let refused = run_in(&place, &[&SEARCH[..], &["-o", "other"], options].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(message), "{}", text(&refused.stderr));
    }
}

/// Functions report errors in their input by exceptions, so these are no failures. If there is nothing else, the
/// function probably wants text.
#[test]
fn a_function_that_only_raises_exceptions_is_reported() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        assert!(std::env::var_os("GRAMJET_REQUIRE_JUDGES").is_none(), "python3 is not installed");
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
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        assert!(std::env::var_os("GRAMJET_REQUIRE_JUDGES").is_none(), "python3 is not installed");
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

/// A search that is killed by force at any moment has on disk what it has reported, and goes on from there.
#[test]
fn what_was_reported_is_kept_however_the_search_ends() {
    let place = names("search-sigkill");
    let mut cost = 0;
    for (seed, lines) in [("1", 1), ("2", 2), ("3", 5), ("4", 9), ("5", 14), ("6", 3)] {
        // The folder stays for the second half of them.
        let out = if seed < "4" { format!("out{seed}") } else { "out".to_string() };
        let reported = killed_after(&place, &out, seed, lines);
        for best in &reported {
            // What an earlier search has found has no new file.
            let Some(file) = best["file"].as_str() else {
                assert_eq!(best["operator"], "before");
                continue;
            };
            let file = place.path(file);
            assert_eq!(fs::read_to_string(&file).unwrap(), best["text"], "seed {seed}: {file}");
            let choices = format!("{file}.choices");
            let rendered = run_in(&place, &["render", "names.ebnf", &choices]);
            assert_eq!(text(&rendered.stdout), best["text"], "seed {seed}: {}", text(&rendered.stderr));
        }
        let best = reported.last().unwrap();
        let page = run_in(&place, &["report", &out]);
        assert_eq!(page.status.code(), Some(0), "seed {seed}: {}", text(&page.stderr));
        let page = fs::read_to_string(place.path(&format!("{out}/report.html"))).unwrap();
        assert!(page.contains(best["text"].as_str().unwrap()), "seed {seed}: {best}");
        // It goes on.
        let found = search(&place, &["-o", &out, "-n", "1", "--json", "--study", "0s"]);
        assert_eq!(found.status.code(), Some(0), "seed {seed}: {}", text(&found.stderr));
        let end = last_event(&found.stdout, "end");
        assert!(end["cost"].as_u64() >= best["cost"].as_u64(), "seed {seed}: {end} after {best}");
        if out == "out" {
            assert!(best["cost"].as_u64().unwrap() >= cost, "seed {seed}: {best} after {cost}");
            cost = end["cost"].as_u64().unwrap();
        }
    }
}

/// Runs a search, kills it with SIGKILL once it has reported this number of better texts, and returns those that it has
/// reported.
fn killed_after(place: &Place, out: &str, seed: &str, lines: usize) -> Vec<serde_json::Value> {
    // A search that finds fewer better texts ends after 4000 runs.
    let options = ["-n", "4000", "--study", "0s", "--json", "--seed", seed, "-o", out, "--", "./names"];
    let command = [&SEARCH[..], &options].concat();
    let mut gramjet = super::gramjet();
    let gramjet = within(gramjet.args(command), place);
    let mut running = gramjet.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut said = std::io::BufReader::new(running.stdout.take().unwrap());
    let mut reported = Vec::new();
    while reported.len() < lines {
        let mut line = String::new();
        if said.read_line(&mut line).unwrap() == 0 {
            break;
        }
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        reported.extend((event["event"] == "best").then_some(event));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    // What it has written before that counts as well; the last line may be cut off.
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    let whole = rest.split_inclusive('\n').filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    reported.extend(whole.filter(|event| event["event"] == "best"));
    assert!(!reported.is_empty(), "seed {seed}: the search has found nothing");
    reported
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

/// A program of an earlier version does not tell what a run has used.
#[test]
fn time_by_the_clock_stands_for_processor_time_where_that_is_not_known() {
    let place = place("search-older");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("feedback/harness/tests/programs/older.c");
    let built = std::process::Command::new("cc").arg(source).arg("-o").arg(place.path("older")).status().unwrap();
    assert!(built.success());
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let search = |cost| run_in(&place, &[&SEARCH[..], &["-n", "5", "--cost", cost, "--", "./older"]].concat());
    let found = search("cpu");
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert!(text(&found.stderr).contains("the cost `cpu` is its time by the clock"), "{}", text(&found.stderr));
    assert_eq!(search("memory").status.code(), Some(2));
}

#[test]
fn memory_is_also_called_rss() {
    let place = place("search-rss");
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let search = |cost| run_in(&place, &[&SEARCH[..], &["-n", "5", "-o", "out", "--cost", cost, "--", "cat"]].concat());
    for cost in ["rss", "memory"] {
        let found = search(cost);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    }
    let refused = search("cpu");
    assert!(text(&refused.stderr).contains("has a search with cost `memory`"), "{}", text(&refused.stderr));
}

#[test]
fn published_constants_need_a_published_strategy() {
    let place = names("search-paper");
    for options in [&["--paper"][..], &["--paper", "--strategy", "random"]] {
        let refused = search(&place, &[&["-n", "9", "-o", "out"], options].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        let message = "--paper needs a published --strategy: bytes, bias-only, treeline, slackline, slackline-mc, \
                       gramrand, saffron, evolve";
        assert!(text(&refused.stderr).contains(message), "{}", text(&refused.stderr));
    }
    for strategy in ["treeline", "evolve"] {
        let out = format!("out-{strategy}");
        let found = search(&place, &["-n", "150", "-o", &out, "--paper", "--strategy", strategy, "--study", "0s"]);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let report = fs::read_to_string(place.path(&format!("{out}/report.html"))).unwrap();
        assert!(report.contains(&format!("{strategy}, as published")), "{report}");
    }
}

/// They are not in the queue itself: afl-fuzz would take them for texts.
#[test]
fn texts_of_the_queue_have_choice_bytes() {
    let place = names("search-choices");
    let found = search(&place, &["-n", "300", "-o", "out", "--study", "0s"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let entries = fs::read_dir(place.path("out/queue")).unwrap().map(|entry| entry.unwrap().file_name());
    let queue: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    assert!(queue.len() > 3, "{queue:?}");
    for name in &queue {
        let rendered = run_in(&place, &["render", "names.ebnf", &format!("out/choices/{name}.choices")]);
        let kept = fs::read_to_string(place.path(&format!("out/queue/{name}"))).unwrap();
        assert_eq!(text(&rendered.stdout), kept, "{name}: {}", text(&rendered.stderr));
    }
    assert_eq!(fs::read_dir(place.path("out/choices")).unwrap().count(), queue.len());
}

#[test]
fn a_report_adds_up_all_searches_in_the_folder() {
    let place = names("search-sums");
    let search = |runs: &str, options: &[&str]| {
        let found = search(&place, &[&["-n", runs, "-o", "out", "--json", "--study", "0s"], options].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        last_event(&found.stdout, "end")
    };
    let report = || {
        let json = fs::read(place.path("out/report.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&json).unwrap()
    };
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let sum = |list: &serde_json::Value, what: &str| -> u64 {
        list.as_array().unwrap().iter().map(|one| number(&one[what])).sum()
    };
    let first = search("200", &[]);
    // All texts of the first search are its own.
    assert_eq!(sum(&first["operators"], "runs"), number(&first["runs"]));
    assert!(sum(&first["operators"], "better") > 1, "{first}");
    assert_eq!(report()["executions"], first["runs"]);
    let second = search("100", &["--strategy", "slackline"]);
    let (both, runs) = (report(), number(&first["runs"]) + number(&second["runs"]));
    assert_eq!((number(&both["executions"]), sum(&both["costs"], "runs")), (runs, runs));
    let seconds = [&both, &first, &second].map(|value| value["seconds"].as_f64().unwrap());
    assert!((seconds[0] - seconds[1] - seconds[2]).abs() < 0.01, "{seconds:?}");
    assert_eq!(sum(&both["operators"], "runs"), sum(&first["operators"], "runs") + sum(&second["operators"], "runs"));
    // A search that makes no text adds nothing.
    search("0", &[]);
    assert_eq!((&report()["executions"], &report()["costs"]), (&both["executions"], &both["costs"]));
    // The page is made from the folder.
    fs::remove_file(place.path("out/report.html")).unwrap();
    assert_eq!(run_in(&place, &["report", "out"]).status.code(), Some(0));
    let page = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(page.contains("<section id=operators>") && page.contains("<code>hybrid</code>"), "{page}");
    // A folder of an earlier version has the numbers of its report alone.
    fs::remove_file(place.path("out/totals.json")).unwrap();
    let third = search("50", &[]);
    assert_eq!(number(&report()["executions"]), runs + number(&third["runs"]));
    assert_eq!(sum(&report()["costs"], "runs"), runs + number(&third["runs"]));
}
