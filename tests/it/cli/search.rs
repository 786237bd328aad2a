//! `gramjet search`, on real programs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, Read as _};
use std::path::PathBuf;

use super::fuzz::{run_in, within};
use super::{Place, interruptible, place, text};

mod costs;
mod early;
mod functions;
mod jobs;
mod page;
mod resume;
mod shared;
mod study;
mod survey;
mod terminal;

/// A program that compares each name with all names before it. The loop is in one line, as compilers differ in which of
/// two lines they give its edge.
const NAMES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 20];
static char *names[1 << 18];
static int is_known(char *name, int count) {
    for (int i = 0; i < count; i++) if (!strcmp(names[i], name)) return 1;
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

/// Returns the program, built by `gramjet cc`, and the grammar.
fn names(test: &str) -> Place {
    let place = place(test);
    fs::write(place.path("names.c"), NAMES).unwrap();
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "names.c", "-o", "names"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    place
}

const SEARCH: [&str; 7] = ["search", "names.ebnf", "--max-len", "40", "--survey", "0s", "--no-progress"];

fn search(place: &Place, options: &[&str]) -> std::process::Output {
    run_in(place, &[&SEARCH[..], options, &["--", "./names"]].concat())
}

/// Returns the lines of the log without the time.
fn log(place: &Place, out: &str) -> Vec<String> {
    let log = fs::read_to_string(place.path(&format!("{out}/log.csv"))).unwrap();
    log.lines().map(|line| line.split_once(',').unwrap().1.to_string()).collect()
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
    let options = ["search", "names.ebnf", "-o", "out", "-n", "20", "--survey", "0s", "--no-progress", "--"];
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

/// Returns a JSON event of a kind, the last one.
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

/// Each seventh number of the command is too great.
#[test]
fn a_cost_that_is_great_only_once_is_not_the_best() {
    let place = names("search-noise");
    // A run that cannot be repeated counts as it is.
    for (out, next, best) in [("small", "wc -c", 20), ("none", "echo none", 1000)] {
        let count = place.path(&format!("{out}.count"));
        let counts = format!(
            "n=$(cat {count} 2> /dev/null || echo 0); echo $((n + 1)) > {count}
            case $((n % 7)) in 5) echo 1000;; 6) {next};; *) wc -c;; esac"
        );
        let cost = format!("command:{counts}");
        let begin = ["search", "names.ebnf", "--max-len", "20", "-n", "60", "--study", "0s", "--json", "--unconfined"];
        let found = run_in(&place, &[&begin[..], &["-o", out, "--cost", &cost, "--", "cat"]].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let end = last_event(&found.stdout, "end");
        assert_eq!((end["cost"].as_u64(), end["runs"].as_u64()), (Some(best), Some(60)), "{end}");
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
        // A search that finds fewer better texts ends after 4000 runs.
        let reported = killed_after(&place, &["-n", "4000", "--study", "0s", "--seed", seed, "-o", &out], lines);
        assert_kept(&place, &reported);
        let best = reported.last().unwrap();
        let page = run_in(&place, &["report", &out]);
        assert_eq!(page.status.code(), Some(0), "seed {seed}: {}", text(&page.stderr));
        let page = fs::read_to_string(place.path(&format!("{out}/report.html"))).unwrap();
        assert!(is_shown(&place, &out, best, &page), "seed {seed}: {best}");
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

/// Returns true if a page has the costliest text of the folder, and the one that was reported. It has ten of the best
/// ones, and a search may find many more before it is killed.
fn is_shown(place: &Place, out: &str, reported: &serde_json::Value, page: &str) -> bool {
    let folder = format!("{out}/best");
    let cost = |name: &String| name.split_once("cost:").unwrap().1.split(',').next().unwrap().parse::<u64>().unwrap();
    // A file that was not complete has another name.
    let kept = kept(place, &folder);
    let costliest = kept.iter().max_by_key(|name| (cost(name), (*name).clone())).unwrap();
    let costliest = fs::read_to_string(place.path(&format!("{folder}/{costliest}"))).unwrap();
    page.contains(&costliest) && (kept.len() > 10 || page.contains(reported["text"].as_str().unwrap()))
}

/// Runs a search, kills it with SIGKILL once it has reported this number of better texts, and returns those that it has
/// reported.
fn killed_after(place: &Place, options: &[&str], lines: usize) -> Vec<serde_json::Value> {
    let mut seen = 0;
    let reported = killed_once(place, options, |event| {
        seen += usize::from(event["event"] == "best");
        seen >= lines
    });
    reported.into_iter().filter(|event| event["event"] == "best").collect()
}

/// Runs a search, kills it with SIGKILL at an event that it reports, or never if there is none, and returns all events.
fn killed_once(
    place: &Place,
    options: &[&str],
    mut is_time: impl FnMut(&serde_json::Value) -> bool,
) -> Vec<serde_json::Value> {
    let mut gramjet = super::gramjet();
    let gramjet = within(gramjet.args([&SEARCH[..], options, &["--json", "--", "./names"]].concat()), place);
    let mut running = Running::start(gramjet.stdout(std::process::Stdio::piped()));
    let mut said = std::io::BufReader::new(running.0.stdout.take().unwrap());
    let mut reported = Vec::new();
    loop {
        let mut line = String::new();
        if said.read_line(&mut line).unwrap() == 0 {
            break;
        }
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        let is_over = is_time(&event);
        reported.push(event);
        if is_over {
            break;
        }
    }
    drop(running);
    // What it has written before that counts as well; the last line may be cut off.
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    reported.extend(rest.split_inclusive('\n').filter_map(|line| serde_json::from_str(line).ok()));
    assert!(reported.iter().any(|event| event["event"] == "best"), "{options:?}: the search has found nothing");
    reported
}

/// Returns the names of the texts in a folder of a search, which may write others now.
fn kept(place: &Place, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path(folder)).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("id:") && !name.ends_with(".choices")).collect()
}

/// Asserts that better texts that were reported are in their files, with their choice bytes.
fn assert_kept(place: &Place, reported: &[serde_json::Value]) {
    for best in reported {
        // What an earlier search has found has no new file.
        let Some(file) = best["file"].as_str() else {
            assert_eq!(best["operator"], "before");
            continue;
        };
        let file = place.path(file);
        assert_eq!(fs::read_to_string(&file).unwrap(), best["text"], "{file}");
        let rendered = run_in(place, &["render", "names.ebnf", &format!("{file}.choices")]);
        assert_eq!(text(&rendered.stdout), best["text"], "{file}: {}", text(&rendered.stderr));
    }
}

/// A search that runs. It is killed if the test fails, as it might go on in the folder of the next one.
struct Running(std::process::Child);

impl Running {
    fn start(command: &mut std::process::Command) -> Running {
        Running(command.spawn().unwrap())
    }

    fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Ends it as Ctrl-C does. Returns its status.
    fn interrupt(&mut self) -> Option<i32> {
        let killed = std::process::Command::new("kill").args(["-INT", &self.0.id().to_string()]).status().unwrap();
        assert!(killed.success());
        self.0.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until something is there; what is waited for is named if it is not there after minutes.
fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begin = std::time::Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begin.elapsed() < std::time::Duration::from_secs(120), "waited for {what}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// A program that AFL++ has built does not tell what a run has used.
#[test]
fn time_by_the_clock_stands_for_processor_time_where_that_is_not_known() {
    let place = place("search-older");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("feedback/harness/tests/programs/untold.c");
    let built = std::process::Command::new("cc").arg(source).arg("-o").arg(place.path("untold")).status().unwrap();
    assert!(built.success());
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let search = |cost| run_in(&place, &[&SEARCH[..], &["-n", "5", "--cost", cost, "--", "./untold"]].concat());
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
    let files = |folder: &str| fs::read_dir(place.path(folder)).unwrap().map(|entry| entry.unwrap().path());
    let queue: BTreeSet<String> = files("out/queue").map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(queue.len() > 3, "{queue:?}");
    let render = |path: PathBuf| text(&run_in(&place, &["render", "names.ebnf", path.to_str().unwrap()]).stdout);
    assert_eq!(files("out/choices").map(render).collect::<BTreeSet<String>>(), queue);
}
