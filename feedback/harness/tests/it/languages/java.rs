//! Methods of Java.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use gramjet_harness::{Function, Offered, Outcome, Subject, Target, offered};

use super::kit::{
    assert_fast, counts_pass_32_bits, edges, error, exception, interpreters, limits, outcome, places, programs, short,
    subject,
};
use crate::kit::place;

/// Returns a folder with the test programs compiled; `None` where there is no Java.
fn classes() -> Option<&'static Path> {
    static CLASSES: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        if interpreters(&["javac"]).is_empty() {
            return None;
        }
        let folder = place("java");
        let source = programs().join("java/subjects/Torture.java");
        let done = Command::new("javac").args(["-nowarn", "-g", "-d"]).arg(&folder).arg(source).status();
        assert!(done.expect("javac").success());
        Some(folder)
    };
    let classes = CLASSES.get_or_init(compile).as_deref();
    if classes.is_none() {
        gramjet_needs::lacks("javac");
    }
    classes
}

fn java(class: &str) -> Option<Subject> {
    let classes = classes()?;
    Some(subject(&format!("java:{}:subjects.{class}", classes.display())))
}

fn function(class: &str) -> Option<Function> {
    java(class).map(|subject| Function::new(subject).expect("a target"))
}

#[test]
fn calls_of_java_end_at_a_number_of_edges() {
    let Some(subject) = java("Torture#run") else { return };
    let mut target = Function::new(subject.limits(limits().with_edges(Some(100_000)))).expect("a target");
    for _ in 0..2 {
        assert_eq!(outcome(&mut target, "e3"), Outcome::Exit(3));
        assert_eq!(outcome(&mut target, "l"), Outcome::Edges);
    }
}

#[test]
fn the_place_where_java_hangs_is_told() {
    let Some(subject) = java("Torture#run") else { return };
    let mut target = Function::new(short(subject)).expect("a target");
    // A first call may take longer.
    assert_eq!(outcome(&mut target, ""), Outcome::Exit(0));
    let run = target.run(b"l").expect("a run");
    assert_eq!(run.outcome, Outcome::Timeout);
    assert!(
        run.place.is_some_and(|place| place.starts_with("Torture.java") && place.ends_with(".run)")),
        "{:?}",
        run.place
    );
}

#[test]
fn java_outcomes_say_how_the_method_ended() {
    let Some(subject) = java("Torture#run") else { return };
    let mut target = Function::new(short(subject)).expect("a target");
    for (input, expected) in [
        ("", Outcome::Exit(0)),
        ("e3", Outcome::Exit(3)),
        ("h", Outcome::Exit(6)),
        ("X", Outcome::Exit(7)),
        ("y", Outcome::Exit(8)),
        ("l", Outcome::Timeout),
        ("t", Outcome::Exit(0)),
        ("T", Outcome::Exit(0)),
        ("F", Outcome::Exit(0)),
        ("c", Outcome::Exit(0)),
        ("i", Outcome::Exit(0)),
        ("Q", Outcome::Timeout),
        ("n", Outcome::Exit(0)),
        ("e0", Outcome::Exit(0)),
    ] {
        assert_eq!(outcome(&mut target, input), expected, "{input}");
    }
    let mut raised = |input: &str| exception(outcome(&mut target, input));
    assert_eq!(raised("u"), ("subjects.Torture$Unusual".into(), "Torture.java:24 (subjects.Torture.raise)".into()));
    let (class, frame) = raised("j");
    assert_eq!((&*class, &*frame), ("java.lang.NumberFormatException", "Torture.java:31 (subjects.Torture.run)"));
    let Outcome::Exception(raised_as) = outcome(&mut target, "j") else { panic!("no exception") };
    assert!(raised_as.is_a("IllegalArgumentException") && raised_as.is_a("java.lang.Throwable"), "{raised_as:?}");
    assert!(!raised_as.is_a("Error") && !raised_as.is_a("Object"), "{raised_as:?}");
    let mut raised = |input: &str| exception(outcome(&mut target, input));
    let (class, frame) = raised("r");
    assert_eq!((&*class, &*frame), ("java.lang.StackOverflowError", "Torture.java:20 (subjects.Torture.deep)"));
}

#[test]
fn memory_of_java_is_bounded() {
    let Some(subject) = java("Torture#run") else { return };
    let limits = limits().with_memory(Some(256 << 20));
    let mut target = Function::new(subject.limits(limits)).expect("a target");
    for (input, expected) in
        [("e1", Outcome::Exit(1)), ("m", Outcome::Memory), ("m", Outcome::Memory), ("e2", Outcome::Exit(2))]
    {
        assert_eq!(outcome(&mut target, input), expected, "{input}");
    }
}

#[test]
fn output_of_java_belongs_to_its_run() {
    let Some(mut target) = function("Torture#run") else { return };
    for _ in 0..2 {
        let run = target.run(b"p").expect("a run");
        assert_eq!((&*run.stdout.bytes, &*run.stderr.bytes), (&b"a text\n"[..], &b"an error"[..]));
        let run = target.run(b"u").expect("a run");
        assert_eq!((&*run.stdout.bytes, &*run.stderr.bytes), (&b""[..], &b"subjects.Torture$Unusual: not usual\n"[..]));
        let run = target.run(b"t").expect("a run");
        assert_eq!(&*run.stdout.bytes, b"from a thread\n");
        let run = target.run(b"P").expect("a run");
        assert_eq!((run.stdout.bytes.len(), run.stdout.written), (1 << 16, 10_000_000));
    }
}

#[test]
fn counts_of_java_are_exact() {
    let Some(mut target) = function("Torture#count") else { return };
    let counted = places(&mut target, "aabcd");
    let of_line = |line: u32| {
        let place = format!("subjects/Torture.java:{line} (subjects.Torture.count)");
        counted.iter().filter(|(found, _)| *found == place).map(|&(_, count)| count).collect::<Vec<u64>>()
    };
    // Two of `a`, one of `b`, one of `c`, four others.
    assert_eq!(
        (of_line(78), of_line(80), of_line(84), of_line(87)),
        (vec![2], vec![1], vec![1], vec![4]),
        "{counted:?}"
    );
    for input in ["aabcc", "", "b"] {
        let first = edges(&mut target, input);
        assert!((0..100).all(|_| edges(&mut target, input) == first), "{input}");
    }
    let (short, long) = (edges(&mut target, "ab"), edges(&mut target, &"ab".repeat(100)));
    assert!(long.total() > 20 * short.total(), "{short:?} {long:?}");
}

#[test]
fn counts_of_java_pass_32_bits() {
    if let Some(mut target) = function("Torture#often") {
        counts_pass_32_bits(&mut target);
    }
}

#[test]
fn edges_of_java_keep_their_numbers_in_another_process() {
    let Some(subject) = java("Torture#run") else { return };
    let mut target = Function::new(short(subject)).expect("a target");
    let inputs = ["u", "e1", "p", "t", "nabc"];
    let before = inputs.map(|input| edges(&mut target, input));
    assert_eq!(outcome(&mut target, "l"), Outcome::Timeout);
    for (input, before) in inputs.iter().zip(&before).rev() {
        assert_eq!(edges(&mut target, input).executed(), before.executed(), "{input}");
    }
    // The counts up to the end are known.
    let spun = edges(&mut target, "l").hottest().expect("an edge");
    let place = target.place(spun.number).expect("a place").to_string();
    assert!(spun.count > 10_000 && place == "subjects/Torture.java:36 (subjects.Torture.run)", "{spun:?} {place}");
}

#[test]
fn a_java_method_is_called_on_an_object_of_its_own() {
    let Some(mut target) = function("Torture#method") else { return };
    for _ in 0..3 {
        assert_eq!(outcome(&mut target, "2"), Outcome::Exit(0));
        assert_eq!(exception(outcome(&mut target, "1")).0, "java.lang.IllegalArgumentException");
    }
}

#[test]
fn a_confined_java_method_writes_no_files() {
    if offered() < Offered::Files {
        return;
    }
    let Some(subject) = java("Torture#run") else { return };
    let outside = place("java").join("outside");
    let mut target = Function::new(subject.variable("OUTSIDE", &outside)).expect("a target");
    // As Landlock, or the namespace of mounts, refuses it.
    let refused = ["java.nio.file.AccessDeniedException", "java.nio.file.FileSystemException"];
    assert!(refused.contains(&&*exception(outcome(&mut target, "w")).0));
    assert!(!outside.exists());
}

#[test]
fn a_wrong_java_method_is_an_error_that_says_what_was_looked_for() {
    let Some(classes) = classes() else { return };
    let path = classes.display();
    for (class, expected) in [
        ("NoSuch#f", format!("there is no class `subjects.NoSuch` in {path}")),
        ("Torture#f", "the class `subjects.Torture` has no method `f` that takes byte[] or String".into()),
        ("Torture#raise", "the class `subjects.Torture` has no method `raise` that takes byte[] or String".into()),
        (
            "Torture$NoConstructor#method",
            "the class `subjects.Torture$NoConstructor` has no constructor without arguments, and `method` is not static"
                .into(),
        ),
    ] {
        let specification = format!("java:{path}:subjects.{class}");
        assert_eq!(error(subject(&specification)), format!("{specification}: {expected}"));
    }
    let error_of = error(java("Torture$Broken#method").expect("a subject"));
    assert!(error_of.contains("failed when it was loaded: subjects.Torture$Unusual: not usual"), "{error_of}");
    let error_of = error(Subject::new("java:a:b#c").expect("a subject").interpreter("no-such-java"));
    assert_eq!(error_of, "no-such-java cannot be run: there is no such program");
}

#[test]
fn java_runs_are_fast() {
    if let Some(subject) = java("Torture#count") {
        assert_fast(subject, &"aabcd ".repeat(10));
    }
}
