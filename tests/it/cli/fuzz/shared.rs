//! Searches that share a folder with others, and with afl-fuzz.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{planted, run_in, wait_for, within};
use crate::cli::{interruptible, text};

#[test]
fn searches_share_a_folder() {
    let place = planted("fuzz-shared");
    let fuzz = |name: &str, runs: &str| {
        let options = ["fuzz", "json", "-n", runs, "-o", "shared", "--timeout", "100ms", "--name", name];
        let output = run_in(&place, &[&options[..], &["--max-tests", "20", "--", "./planted", "@@"]].concat());
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stderr));
    };
    let queue = |name: &str| {
        let entries = fs::read_dir(place.path(&format!("shared/{name}/queue"))).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<String>>()
    };
    fuzz("one", "300");
    fuzz("two", "100");
    assert!(queue("two").iter().any(|name| name.contains(",sync:one,src:0000")), "{:?}", queue("two"));
    let mark = fs::read(place.path("shared/two/.synced/one")).unwrap();
    assert_eq!(mark, (queue("one").len() as u32).to_ne_bytes());
    fuzz("one", "100");
    assert!(queue("one").iter().all(|name| !name.contains("sync:one")), "{:?}", queue("one"));
    assert!(fs::read_dir(place.path("shared/one/choices")).unwrap().count() > 0);
    let replayed =
        run_in(&place, &["fuzz", "json", "-o", "shared", "--name", "one", "--replay", "--", "./planted", "@@"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
    let refused = run_in(&place, &["fuzz", "json", "-o", "shared", "--name", "a/b", "--", "./planted"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

/// Two searches, of which one is asked to end and the other killed, and what a third one has left in the folder.
#[test]
#[ignore = "run by ci/test"]
fn instances_of_afl_fuzz_search_beside_and_end_with_the_searches() {
    let place = planted("fuzz-with-afl");
    let (options, program) =
        (["fuzz", "json", "-o", "shared", "--with-afl"], ["--max-tests", "20", "--", "./by-afl", "@@"]);
    let refused = run_in(&place, &[&options[..], &["--name", "me", "--", "./planted", "@@"]].concat());
    assert_eq!(refused.status.code(), Some(2));
    let mut compiler = Command::new("afl-clang-fast");
    let Ok(built) = within(&mut compiler, &place).args(["-O1", "planted.c", "-o", "by-afl"]).output() else {
        return gramjet_needs::lacks("afl-clang-fast");
    };
    assert!(text(&refused.stderr).contains("is no program that AFL++ has built"), "{}", text(&refused.stderr));
    assert!(built.status.success(), "{}", text(&built.stderr));
    let refused = run_in(&place, &[&options[..], &["--name", "afl"], &program].concat());
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("instances of afl-fuzz"), "{said}");
    assert!(!Path::new(&place.path("shared")).exists());
    // It is none of theirs.
    fs::create_dir_all(place.path("shared/afl-2/queue")).unwrap();
    let start = |name: &str| {
        let mut command = interruptible();
        let options = [&options[..], &["--name", name, "--time", "10m", "--timeout", "1s"], &program].concat();
        within(command.args(options), &place).stderr(Stdio::piped()).spawn().unwrap()
    };
    let figure = |afl: &str| {
        let figures = fs::read_to_string(place.path(&format!("shared/{afl}/fuzzer_stats"))).unwrap_or_default();
        let process = figures.lines().find_map(|line| line.strip_prefix("fuzzer_pid")?.split(':').nth(1));
        process.map(|process| process.trim().to_string())
    };
    let names = |node: &str| {
        let entries = fs::read_dir(place.path(&format!("shared/{node}/queue"))).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<String>>()
    };
    let me = start("me");
    wait_for(|| figure("afl").is_some());
    let mut you = start("you");
    wait_for(|| figure("afl-3").is_some());
    let processes = [figure("afl").unwrap(), figure("afl-3").unwrap()];
    assert!(processes.iter().all(|process| is_running(process)), "{processes:?}");
    wait_for(|| names("me").iter().any(|name| name.contains(",sync:afl,")) && names("afl").len() > 1);
    assert!(Command::new("kill").args(["-INT", &me.id().to_string()]).status().unwrap().success());
    let output = me.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(130) && !said.contains("afl-fuzz has ended"), "{said}");
    assert!(said.contains("afl-fuzz searches in `shared/afl`; it runs the program unconfined"), "{said}");
    assert!(!is_running(&processes[0]) && is_running(&processes[1]), "{said}");
    you.kill().unwrap();
    you.wait().unwrap();
    wait_for(|| !is_running(&processes[1]));
    assert_eq!(names("afl-2"), [""; 0]);
}

/// Returns true if a process runs; one that nobody has waited for does not.
fn is_running(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next()).is_some_and(|state| state != 'Z')
}

/// Texts of other searches: one of the language, one that only its bytes vary, one that fails.
#[test]
fn texts_of_others_are_taken_by_what_they_are() {
    let place = planted("fuzz-kinds");
    let long = format!("\"{}\"", "x".repeat(500));
    let fuzz = |shared: &str, broken: &str| {
        let queue = place.path(&format!("{shared}/afl/queue"));
        fs::create_dir_all(&queue).unwrap();
        for (name, text) in [("id:000000,a", "[[[[ no"), ("id:000001,b", "]]] no"), ("id:000002,c", &long)] {
            fs::write(Path::new(&queue).join(name), text).unwrap();
        }
        let options = ["fuzz", "json", "-n", "5", "-o", shared, "--name", "me", "--broken", broken];
        let output = run_in(&place, &[&options[..], &["--", "./planted", "@@"]].concat());
        let said = text(&output.stderr);
        assert!(said.contains("signal 6 (SIGABRT); 4 bytes (from 7), not in the language"), "{said}");
        let kept = fs::read_dir(place.path(&format!("{shared}/me/queue"))).unwrap();
        let kept = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut kept: Vec<String> = kept.filter(|name| name.contains("sync:afl")).collect();
        kept.sort();
        let streams = fs::read_dir(place.path(&format!("{shared}/me/choices"))).map_or(0, Iterator::count);
        (kept.iter().map(|name| name.split("src:").nth(1).unwrap().to_string()).collect::<Vec<String>>(), streams > 0)
    };
    assert_eq!(fuzz("all", "always"), (vec!["000001".to_string(), "000002".to_string()], true));
    // Where texts are not broken, nothing can be made of one that does not conform.
    assert_eq!(fuzz("some", "never"), (vec!["000002".to_string()], true));
}
