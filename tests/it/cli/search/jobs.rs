//! Searches by several threads, and what is left of searches that are killed.

use std::collections::{HashMap, HashSet};

use super::*;

/// Returns a place with the program [`NAMES`], which also writes down each text, and the process that has started it:
/// each thread has one of its own.
fn telling(test: &str) -> Place {
    let place = place(test);
    let tells = r#"
#include <fcntl.h>
#include <unistd.h>
static void tell(void) {
    static char line[1 << 21];
    int seen = open("seen", O_WRONLY | O_APPEND | O_CREAT, 0600);
    int length = snprintf(line, sizeof line, "%d %s\n", (int)getppid(), text);
    if (write(seen, line, length) != length) _exit(1);
    close(seen);
}
int main(void) {"#;
    let reads = "stdin)] = 0;";
    let source = NAMES.replace("int main(void) {", tells).replace(reads, &format!("{reads} tell();"));
    fs::write(place.path("names.c"), source).unwrap();
    fs::write(place.path("names.ebnf"), GRAMMAR).unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "names.c", "-o", "names"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    place
}

/// Returns the whole lines that the program has written.
fn seen(place: &Place) -> Vec<(u32, String)> {
    let lines = fs::read_to_string(place.path("seen")).unwrap_or_default();
    let whole = lines.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.split_once(' '));
    whole.map(|(process, text)| (process.parse().unwrap(), text.to_string())).collect()
}

/// Each thread makes texts. Those that are among the best are run by the other one, too.
#[test]
fn threads_share_what_they_find() {
    let place = telling("search-jobs");
    // With this length there is always a better text to find.
    let options = ["search", "names.ebnf", "--max-len", "1000", "--no-progress", "--study", "0s", "--unconfined"];
    let command = [&options[..], &["--jobs", "2", "-o", "out", "--", "./names"]].concat();
    let mut gramjet = interruptible();
    let gramjet = within(gramjet.args(command).stderr(fs::File::create(place.path("log")).unwrap()), &place);
    let mut running = Running::start(gramjet);
    wait_for("texts of each thread that the other one has run", || {
        assert!(!running.has_ended(), "the search has ended by itself");
        let best = kept(&place, "out/best").into_iter();
        let best = best.map(|name| fs::read_to_string(place.path(&format!("out/best/{name}"))).unwrap());
        // Both may make the same short ones.
        let best = best.filter(|text| text.len() > 100).collect();
        let shared = shared(&seen(&place), &best);
        (shared.values().filter(|&&(made, found)| made >= 100 && found >= 3).count() == 2).then_some(())
    });
    assert_eq!(running.interrupt(), Some(130), "{}", fs::read_to_string(place.path("log")).unwrap());
}

/// Returns for each process how many texts it was the first to run, and how many of those are among the best and were
/// run by another process later.
fn shared(seen: &[(u32, String)], best: &HashSet<String>) -> HashMap<u32, (usize, usize)> {
    let mut first: HashMap<&str, u32> = HashMap::new();
    let mut counts: HashMap<u32, (usize, usize)> = HashMap::new();
    for (process, text) in seen {
        let of = *first.entry(text).or_insert_with(|| {
            counts.entry(*process).or_default().0 += 1;
            *process
        });
        if of != *process && best.contains(text) {
            counts.entry(of).or_default().1 += 1;
        }
    }
    counts
}

/// Runs what follows a kill: the page, the families if there are some, and the search as it goes on. Returns the best
/// cost, which is at least the one that was reported.
fn assert_goes_on(place: &Place, options: &[&str], reported: &[serde_json::Value]) -> u64 {
    let best: Vec<_> = reported.iter().filter(|event| event["event"] == "best").cloned().collect();
    assert_kept(place, &best);
    let page = run_in(place, &["report", "shared/one"]);
    assert_eq!(page.status.code(), Some(0), "{}", text(&page.stderr));
    let page = fs::read_to_string(place.path("shared/one/report.html")).unwrap();
    let costs: Vec<u64> = best.iter().map(|best| best["cost"].as_u64().unwrap()).collect();
    assert!(costs.is_sorted(), "{costs:?}");
    let best = best.last().unwrap();
    assert!(is_shown(place, "shared/one", best, &page), "{best}");
    assert_replays(place);
    let found = search(place, &[options, &["-n", "20", "--study", "0s", "--json"]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let end = last_event(&found.stdout, "end");
    assert!(end["cost"].as_u64() >= best["cost"].as_u64(), "{end} after {best}");
    end["cost"].as_u64().unwrap()
}

/// Asserts that the families can be run again, if there are some. Says whether there are.
fn assert_replays(place: &Place) -> bool {
    let replayed = search(place, &["-o", "shared", "--name", "one", "--unconfined", "--replay"]);
    let (said, status) = (text(&replayed.stderr), replayed.status.code());
    // A folder that was killed in the midst of a change is whole now.
    let has_families = fs::exists(place.path("shared/one/growth")).unwrap();
    if has_families {
        assert_eq!(status, Some(0), "{said}");
        assert!(text(&replayed.stdout).contains("cost ~ n^2.0"), "{}", text(&replayed.stdout));
    } else {
        assert!(status == Some(2) && said.contains("has no families of texts"), "{said}");
    }
    has_families
}

#[test]
fn several_threads_that_are_killed_have_kept_what_they_reported() {
    let place = names("search-jobs-killed");
    let options = ["-o", "shared", "--name", "one", "--jobs", "2", "--unconfined"];
    let mut cost = 0;
    // The folder is the same, so the later searches begin with what the earlier ones have found.
    for (seed, lines) in [("1", 1), ("2", 6), ("3", 2), ("4", 1)] {
        let more = ["--seed", seed, "-n", "4000", "--study", "0s"];
        let reported = killed_after(&place, &[&options[..], &more].concat(), lines);
        let best = assert_goes_on(&place, &options, &reported);
        assert!(best >= cost, "seed {seed}: {best} after {cost}");
        cost = best;
    }
}

#[test]
fn a_study_that_is_killed_loses_nothing() {
    let place = telling("search-study-killed");
    let options = ["-o", "shared", "--name", "one", "--jobs", "2", "--unconfined"];
    let growth = || {
        let entries = fs::read_dir(place.path("shared/one")).into_iter().flatten();
        let mut names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.any(|name| name.contains("growth"))
    };
    // As the study begins, within it, and as it writes its families.
    for runs in [Some(0), Some(100), Some(250), None] {
        let more = ["-n", "1000", "--study", "60s"];
        let reported = killed_once(&place, &[&options[..], &more].concat(), |event| {
            if event["event"] != "end" {
                return false;
            }
            let before = seen(&place).len();
            wait_for("the study", || match runs {
                Some(runs) => (growth() || seen(&place).len() >= before + runs).then_some(()),
                None => growth().then_some(()),
            });
            true
        });
        assert!(reported.iter().all(|event| event["event"] != "study") || runs.is_none(), "the study has ended");
        assert_goes_on(&place, &options, &reported);
    }
    // It can be completed, and completed again after a kill that leaves the families of the first one.
    let complete = || {
        let found = search(&place, &[&options[..], &["-n", "0", "--json"]].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        assert!(last_event(&found.stdout, "study")["families"].as_array().is_some_and(|all| !all.is_empty()));
        assert!(assert_replays(&place));
    };
    complete();
    let reported = killed_once(&place, &[&options[..], &["-n", "100", "--study", "60s"]].concat(), |event| {
        event["event"] == "end"
    });
    assert!(assert_replays(&place));
    assert_goes_on(&place, &options, &reported);
    complete();
}
