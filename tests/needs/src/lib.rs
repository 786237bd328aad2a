//! Tools that tests need from outside. A test without its tool passes, and the program of tests says in its last line
//! how many of its tests were not run, and what they need. With `GRAMJET_REQUIRE_JUDGES` set, a missing tool is an
//! error.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};

/// The tests that were not run, or only in part, by the tool that they need.
static MISSING: Mutex<BTreeMap<(Extent, String), BTreeSet<String>>> = Mutex::new(BTreeMap::new());

/// Amount of a test that was left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    All,
    Part,
}

/// Returns true if a program can be started. Otherwise the test is counted as not run, and must return.
pub fn has(program: &str) -> bool {
    let is_there = starts(program);
    if !is_there {
        lacks(program);
    }
    is_there
}

/// Returns true if a program can be started. Otherwise the test is counted as run in part, and goes on.
pub fn has_for_a_part(program: &str) -> bool {
    let is_there = starts(program);
    if !is_there {
        record(Extent::Part, program);
    }
    is_there
}

/// Counts the test as not run for want of a tool.
pub fn lacks(tool: &str) {
    record(Extent::All, tool);
}

/// Counts the test as run in part for want of a tool.
pub fn lacks_for_a_part(tool: &str) {
    record(Extent::Part, tool);
}

fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

fn record(extent: Extent, tool: &str) {
    assert!(env::var_os("GRAMJET_REQUIRE_JUDGES").is_none(), "{tool} is not installed");
    static REPORT: Once = Once::new();
    REPORT.call_once(report_at_the_end);
    // The thread of a test has the test's name.
    let test = std::thread::current().name().unwrap_or("a thread").to_string();
    let mut missing = MISSING.lock().unwrap_or_else(PoisonError::into_inner);
    missing.entry((extent, tool.to_string())).or_default().insert(test);
}

/// Has the process say in the end what was not run: the harness of tests ends it by `exit`.
#[cfg(unix)]
fn report_at_the_end() {
    extern "C" fn report() {
        let line = line(&MISSING.lock().unwrap_or_else(PoisonError::into_inner));
        // Standard error itself, as what tests print is not shown.
        // SAFETY: the bytes are those of a string that outlives the call.
        unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    }
    // SAFETY: the function is for the C library to call at the end of the process. It uses a mutex and the heap, which
    // are there until the process has ended, and it does not unwind: what could fail is only memory.
    unsafe { libc::atexit(report) };
}

#[cfg(not(unix))]
fn report_at_the_end() {}

/// Returns the line about the tests that were left out.
fn line(missing: &BTreeMap<(Extent, String), BTreeSet<String>>) -> String {
    let of = |wanted: Extent, name: &str| {
        let counted = missing.iter().filter(|((extent, _), _)| *extent == wanted);
        let counted: Vec<String> = counted.map(|((_, tool), tests)| counted_tests(tests.len(), tool)).collect();
        (!counted.is_empty()).then(|| format!("{name}: {}", counted.join(", ")))
    };
    let parts: Vec<String> =
        [of(Extent::All, "not run"), of(Extent::Part, "run in part")].into_iter().flatten().collect();
    format!("{}\n\n", parts.join("; "))
}

fn counted_tests(count: usize, tool: &str) -> String {
    if count == 1 { format!("1 test that needs {tool}") } else { format!("{count} tests that need {tool}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_by_the_tool_that_they_need() {
        let tests = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
        let missing = BTreeMap::from([
            ((Extent::All, "node".to_string()), tests(&["a", "b"])),
            ((Extent::All, "java".to_string()), tests(&["c"])),
            ((Extent::Part, "clang".to_string()), tests(&["d"])),
        ]);
        let wanted =
            "not run: 1 test that needs java, 2 tests that need node; run in part: 1 test that needs clang\n\n";
        assert_eq!(line(&missing), wanted);
    }

    #[test]
    fn what_is_there_is_not_counted() {
        assert!(has(&env::current_exe().expect("the tests").to_string_lossy()));
        assert!(MISSING.lock().expect("the list").is_empty());
    }
}
