//! Searches end when their time is over or a signal comes, whatever the program does. The bounds are wide: a program
//! takes a minute, and a search a second.

use std::fs;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use super::fuzz::within;
use super::{Place, gramjet, interruptible, place, text};

const BOUND: Duration = Duration::from_secs(45);

/// Programs that take a minute: one sleeps, one stops itself, one writes without end.
const PROGRAMS: [&str; 3] =
    ["cat > /dev/null; sleep 60", "cat > /dev/null; (sleep 60)& kill -STOP $$; sleep 60", "while :; do echo yes; done"];

fn options<'a>(command: &'a str, out: &'a str, more: &[&'a str], program: &'a str) -> Vec<&'a str> {
    let begin = [command, "json", "-o", out, "--timeout", "60s", "--no-progress"];
    [&begin[..], more, &["--", "sh", "-c", program]].concat()
}

fn timed(place: &Place, arguments: &[&str]) -> Output {
    let begin = Instant::now();
    let output = within(gramjet().args(arguments), place).output().unwrap();
    assert!(begin.elapsed() < BOUND, "{arguments:?}: {}", text(&output.stderr));
    output
}

#[test]
#[ignore = "run by ci/test"]
fn a_search_ends_when_its_time_is_over_whatever_the_program_does() {
    let place = place("times");
    for (number, program) in PROGRAMS.iter().enumerate() {
        for command in ["fuzz", "search", "evolve"] {
            let ended = timed(&place, &options(command, &format!("{command}{number}"), &["--time", "1s"], program));
            assert!(ended.status.code().is_some_and(|code| code <= 1), "{command}: {}", text(&ended.stderr));
        }
    }
    // What was found until then is there.
    fs::create_dir(place.path("seeds")).unwrap();
    fs::write(place.path("seeds/one"), "[1, 2]").unwrap();
    let program = "text=$(cat); case $text in '['*) kill -6 $$;; esac; sleep 60";
    let found = timed(&place, &options("fuzz", "found", &["--time", "3s", "--seeds", "seeds"], program));
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    // A program that another one is compared with, and one that a text is judged by.
    for option in ["--compare", "--oracle"] {
        timed(&place, &options("fuzz", option, &["--time", "1s", option, PROGRAMS[0]], "cat"));
    }
}

#[test]
fn the_time_of_a_search_has_that_of_its_study() {
    let place = place("times-study");
    // A study alone would take its minute: each of its runs takes a second.
    let program = "cat > /dev/null; sleep 0.5";
    let ended = timed(&place, &options("search", "out", &["--time", "4s", "--study", "60s"], program));
    let said = text(&ended.stderr);
    assert!(ended.status.success() && said.contains("report: "), "{said}");
}

#[test]
fn a_signal_ends_a_search_in_a_slow_run() {
    // In an interpreter, a run that is cut short must not look like an error of the program.
    let python = "import time\ndef parse(data):\n    time.sleep(60)\n";
    for (command, program) in [("fuzz", PROGRAMS[0]), ("search", PROGRAMS[0]), ("search", "python:slow:parse")] {
        if program.starts_with("python:") && !gramjet_needs::has_for_a_part("python3") {
            continue;
        }
        let place = place(&format!("times-{command}-{}", program.len()));
        fs::write(place.path("slow.py"), python).unwrap();
        let mut search = interruptible();
        let begin = [command, "json", "-o", "out", "--timeout", "60s", "--no-progress", "--"];
        let sh = ["sh", "-c", program];
        let arguments = [&begin[..], if program.starts_with("python:") { &sh[2..] } else { &sh }].concat();
        let mut running = within(search.args(&arguments), &place).stderr(Stdio::piped()).spawn().unwrap();
        // The first run of a search is that of a sample, before it makes its folder.
        std::thread::sleep(Duration::from_secs(2));
        let begin = Instant::now();
        let process = rustix::process::Pid::from_child(&running);
        rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
        assert_eq!(running.wait().unwrap().code(), Some(130), "{command}");
        assert!(begin.elapsed() < BOUND, "{command}");
        // Nothing is known of the run.
        let kept = fs::read_dir(place.path("out/timeouts")).map_or(0, Iterator::count);
        assert_eq!(kept, 0, "{command} {program}");
    }
}
