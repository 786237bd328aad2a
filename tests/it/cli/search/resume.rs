//! Searches that go on in a folder, and those of nodes.

use std::fs;

use super::super::{Place, text};
use super::{NAMES, last_event, names, run_in, search};

/// Returns the names of the files in a folder, without the time.
fn kept(place: &Place, folder: &str) -> Vec<String> {
    let names =
        fs::read_dir(place.path(folder)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let timeless = |name: String| name.split(',').filter(|part| !part.starts_with("time:")).collect();
    let mut names: Vec<String> = names.map(timeless).collect();
    names.sort();
    names
}

#[test]
fn what_a_search_begins_with_does_not_use_up_its_budget() {
    let place = names("resume-budget");
    let first = search(&place, &["-n", "1000", "-o", "out", "--study", "0s"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    // One text of the folder executes more edges than that, and all together far more.
    let found = search(&place, &["--edge-budget", "150", "-o", "out", "--study", "0s", "--json"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert!(text(&found.stderr).contains("of earlier searches are run again first"), "{}", text(&found.stderr));
    let end = last_event(&found.stdout, "end");
    let made: u64 = end["operators"].as_array().unwrap().iter().map(|made| made["runs"].as_u64().unwrap()).sum();
    assert!(made > 0 && end["edges_executed"].as_u64() > Some(1000), "{end}");
    // Seeds do not count either.
    fs::create_dir(place.path("seeds")).unwrap();
    fs::write(place.path("seeds/one"), "q,w,e,r,t,y,u,i,o,p,a,s,d,f,g,h").unwrap();
    let options = ["--edge-budget", "100", "-o", "seeded", "--seeds", "seeds", "--study", "0s", "--json"];
    let found = search(&place, &options);
    let end = last_event(&found.stdout, "end");
    assert!(end["operators"].as_array().unwrap().iter().any(|made| made["operator"] != "seed"), "{end}");
}

#[test]
fn a_program_that_has_changed_is_noticed() {
    let place = names("resume-changed");
    let again = || {
        let found = search(&place, &["-n", "300", "-o", "out", "--study", "0s"]);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        text(&found.stderr).to_string()
    };
    assert!(!again().contains("run again"));
    let same = again();
    assert!(same.contains("run again first") && !same.contains("to have changed"), "{same}");
    let mended = NAMES.replace("for (int i = 0; i < count; i++)", "for (int i = 0; i < 1 && i < count; i++)");
    assert_ne!(mended, NAMES);
    fs::write(place.path("names.c"), mended).unwrap();
    assert!(run_in(&place, &["cc", "-O1", "-g", "names.c", "-o", "names"]).status.success());
    // It is said as long as the page has the costs of before.
    again();
    let changed = again();
    assert!(changed.contains("seems to have changed") && changed.contains("--seeds out/best"), "{changed}");
}

#[test]
fn nodes_make_different_texts() {
    let place = names("resume-nodes");
    for (folder, name) in [("a", "one"), ("b", "two"), ("c", "one")] {
        let options = ["-n", "50", "-o", folder, "--name", name, "--strategy", "random", "--study", "0s"];
        let found = search(&place, &options);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    }
    assert_ne!(kept(&place, "a/one/queue"), kept(&place, "b/two/queue"));
    assert_eq!(kept(&place, "a/one/queue"), kept(&place, "c/one/queue"));
    for (folder, name) in [("d", "one"), ("e", "two")] {
        let options =
            ["fuzz", "names.ebnf", "-n", "50", "-o", folder, "--name", name, "--no-progress", "--", "./names"];
        let found = run_in(&place, &options);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    }
    assert_ne!(kept(&place, "d/one/queue"), kept(&place, "e/two/queue"));
}

/// The command prints nothing for the empty text, which is not in the language.
#[test]
fn a_command_needs_no_cost_for_the_empty_text() {
    let place = names("resume-empty");
    let cost = "command:awk '{ print length($0) }'";
    let options = ["-n", "40", "-o", "out", "--jobs", "2", "--cost", cost, "--study", "0s", "--json"];
    let found = search(&place, &options);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert!(last_event(&found.stdout, "end")["runs"].as_u64() >= Some(40), "{}", text(&found.stdout));
}

#[test]
fn a_text_on_which_the_program_is_stopped_is_kept_once() {
    let place = names("resume-stopped");
    fs::write(place.path("few.ebnf"), "names ::= name (',' name)*\nname ::= [ab]\n").unwrap();
    let options = ["-n", "400", "--edge-limit", "16", "-o", "out", "--study", "0s", "--jobs", "2", "--", "./names"];
    for _ in 0..2 {
        let found =
            run_in(&place, &[&["search", "few.ebnf", "--max-len", "9", "--no-progress"], &options[..]].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    }
    let files = fs::read_dir(place.path("out/timeouts")).unwrap();
    let mut texts: Vec<_> = files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert!(count > 1 && texts.len() == count, "{count} files, {} texts", texts.len());
}
