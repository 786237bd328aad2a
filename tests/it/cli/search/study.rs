//! Tests of what a search says in the end: the study of costly texts, growth, and the page.

use super::*;

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
    let all = "<pre class=command>gramjet search names.ebnf --max-len 40 -o out --replay -- ./names\n";
    assert_eq!(report.matches(all).count(), 1, "{report}");

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

/// Once there is a file, each seventh number of the command is too great.
#[test]
fn a_smaller_text_that_costs_more_only_once_is_not_the_best() {
    let place = names("search-study-noise");
    let (count, noisy) = (place.path("count"), place.path("noisy"));
    let counts = format!(
        "n=$(cat {count} 2> /dev/null || echo 0); echo $((n + 1)) > {count}
        if [ -e {noisy} ] && [ $((n % 7)) = 5 ]; then echo 1000; else wc -c; fi"
    );
    let cost = format!("command:{counts}");
    let run = |options: &[&str]| {
        let begin =
            ["search", "names.ebnf", "--max-len", "20", "--survey", "0s", "-o", "out", "--json", "--unconfined"];
        let found = run_in(&place, &[&begin[..], options, &["--cost", &cost, "--", "cat"]].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        text(&found.stdout)
    };
    run(&["-n", "60", "--study", "0s"]);
    fs::write(&noisy, "").unwrap();
    let said = run(&["-n", "0", "--study", "3s"]);
    let events = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let most = events.filter(|event| event["event"] == "best").filter_map(|event| event["cost"].as_u64()).max();
    assert!(most.is_none_or(|most| most <= 20), "{said}");
    assert!(log(&place, "out").iter().all(|line| !line.contains(",1000,")), "{said}");
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

/// Returns the program of two loops, and its grammar.
pub(super) fn pairs(test: &str) -> Place {
    let place = place(test);
    fs::write(place.path("pairs.c"), PAIRS).unwrap();
    fs::write(place.path("pairs.ebnf"), "s ::= a | b\na ::= 'a'+\nb ::= 'b'+\n").unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "pairs.c", "-o", "pairs"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    place
}

pub(super) fn search_pairs(place: &Place, options: &[&str]) -> String {
    let found = run_in(
        place,
        &[&["search", "pairs.ebnf", "--survey", "0s", "--no-progress"], options, &["--", "./pairs"]].concat(),
    );
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
    assert!(lines[hot - 2].contains(" edges by ") && lines[hot - 1].starts_with("smaller: "), "{said}");

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
    // The other text is the second one, with its marks, its hot lines and its tree.
    let texts: Vec<&str> = page.split("<details class=input").collect();
    let second = texts[2];
    assert!(second.contains("bbb") && second.contains("<mark") && second.contains("Derivation tree"), "{second}");
    let source = second.split("Hot lines</summary>").nth(1).unwrap_or_else(|| panic!("{second}"));
    assert!(source.contains("<code>pairs.c:12</code> in <code>of_b</code>"), "{source}");
    assert!(
        source.contains("<span class=hot><b>   12 </b>        for (int j = 0; j &lt; i; j++) pairs++;"),
        "{source}"
    );
    // Those of the best one are in their own section.
    assert!(!texts[1].contains("Hot lines</summary>") && page.contains("These are of input 1."), "{page}");

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
    let found =
        run_in(&place, &[&["search", "g.ebnf", "--survey", "0s"], &options[..], &["--", "sh", "-c", program]].concat());
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
#[ignore = "run by ci/test"]
fn a_search_ends_when_growth_is_proved() {
    let place = names("search-proof");
    let found = search(&place, &["-o", "out", "--until-exponent", "1.5", "-n", "1000000"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert!(text(&found.stderr).contains("growth faster than n^1.5 is proved"), "{}", text(&found.stderr));
    assert!(text(&found.stderr).contains("n^2.0"), "{}", text(&found.stderr));
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
    // There are no families to run again.
    assert!(!report.contains("--replay"), "{report}");
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
