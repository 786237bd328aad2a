//! Helpers for the tests of all languages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gramjet_harness::{Edges, Exception, Function, Limits, Outcome, RegularExpression, Subject, Target};

/// Returns the interpreters that are there under one of these names. The first must be there where judges must be.
pub(crate) fn interpreters(names: &[&'static str]) -> Vec<&'static str> {
    let is_there =
        |name: &&&'static str| Command::new(name).arg("--version").output().is_ok_and(|done| done.status.success());
    let found: Vec<&'static str> = names.iter().filter(is_there).copied().collect();
    if found.is_empty() {
        gramjet_needs::lacks(names[0]);
    } else if found.first() != names.first() {
        gramjet_needs::lacks_for_a_part(names[0]);
    }
    found
}

pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Returns a function of the test programs.
pub(crate) fn subject(specification: &str) -> Subject {
    Subject::new(specification).expect("a subject").folder(programs()).limits(limits())
}

pub(crate) fn limits() -> Limits {
    Limits::default().with_time(Duration::from_secs(20)).with_memory(Some(1 << 30)).with_processes(30)
}

pub(crate) fn short(subject: Subject) -> Subject {
    subject.limits(limits().with_time(Duration::from_millis(1500)))
}

pub(crate) fn outcome(target: &mut Function, input: &str) -> Outcome {
    target.run(input.as_bytes()).expect("a run").outcome
}

pub(crate) fn edges(target: &mut Function, input: &str) -> Edges {
    target.run(input.as_bytes()).expect("a run").edges.expect("edges").clone()
}

/// Returns each executed edge as its place and its count.
pub(crate) fn places(target: &mut Function, input: &str) -> Vec<(String, u64)> {
    let edges = edges(target, input);
    let place = |number| target.place(number).expect("a place").to_string();
    edges.executed().iter().map(|edge| (place(edge.number), edge.count)).collect()
}

/// Checks that counts pass 32 bits: the function `often` of a test program raises all counters to just below 2^32, and
/// counts on.
pub(crate) fn counts_pass_32_bits(target: &mut Function) {
    // Counters that have no edge yet are not cleared.
    edges(target, "abab");
    let few = edges(target, "abab");
    assert!(few.executed().iter().any(|edge| edge.count == (1 << 32) - 1 + 4), "{few:?}");
    let more = edges(target, &"ab".repeat(100));
    assert!(more.executed().iter().any(|edge| edge.count == (1 << 32) - 1 + 200), "{more:?}");
    assert_eq!(edges(target, "abab"), few);
}

/// Returns the words that a function tells when it is loaded.
pub(crate) fn told(subject: Subject) -> Vec<String> {
    let function = Function::new(subject).expect("a target");
    function.words().iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Returns the regular expressions that a function tells when it is loaded: flags, a solidus and the pattern.
pub(crate) fn expressions(subject: Subject) -> Vec<String> {
    let function = Function::new(subject).expect("a target");
    let text = |found: &RegularExpression| format!("{}/{}", found.flags, found.pattern);
    function.expressions().iter().map(text).collect()
}

/// Returns an exception without the folder that its frame's file is in.
pub(crate) fn exception(outcome: Outcome) -> (String, String) {
    let Outcome::Exception(Exception { class, frame, .. }) = outcome else { panic!("{outcome:?} is no exception") };
    let frame = frame.unwrap_or_default();
    (class, frame.rsplit_once('/').map_or(frame.clone(), |(_, name)| name.to_string()))
}

pub(crate) fn error(subject: Subject) -> String {
    Function::new(subject).err().expect("an error").to_string()
}

/// Prints the speed, and fails below 1 000 runs a second of processor time, as other tests may run at the same time.
pub(crate) fn assert_fast(subject: Subject, input: &str) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let mut target = Function::new(subject.variable("GRAMJET_TEST", &mark)).expect("a target");
    for _ in 0..1000 {
        edges(&mut target, input);
    }
    let worker = marked(&format!("GRAMJET_TEST={mark}"));
    let own = [PathBuf::from("/proc/thread-self")];
    let runs = 1000;
    let before = (processor_time(&worker), processor_time(&own));
    for _ in 0..runs {
        edges(&mut target, input);
    }
    let (time, harness) = (processor_time(&worker) - before.0, processor_time(&own) - before.1);
    let each = (time + harness) / runs;
    println!("{each:?} of processor time a run, {:?} of it in this process", harness / runs);
    assert!(!worker.is_empty() && each < Duration::from_millis(1), "{each:?} a run");
}

/// Returns the threads of the processes that have this variable.
fn marked(variable: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let variables = fs::read(entry.path().join("environ")).unwrap_or_default();
        if variables.split(|&byte| byte == 0).any(|one| one == variable.as_bytes()) {
            let threads = fs::read_dir(entry.path().join("task")).expect("its threads");
            found.extend(threads.flatten().map(|thread| thread.path()));
        }
    }
    found
}

fn processor_time(threads: &[PathBuf]) -> Duration {
    let time = |thread: &PathBuf| {
        let stat = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
        stat.split_ascii_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0)
    };
    Duration::from_nanos(threads.iter().map(time).sum())
}
