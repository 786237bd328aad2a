//! Tests of runs that end before their plan does: full disks, closed pipes, signals, inputs without bound.

use std::fs;
use std::io::Read;
use std::process::{Child, Command, Output, Stdio};

use super::{Place, gramjet, inputs_of, interruptible, place, run, text};

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error_that_says_how_far_it_came() {
    let place = place("full");
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = gramjet().args(["gen", place.grammar(), "-n", "5"]).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.contains("No space left") && message.contains("0 inputs (0 bytes)"), "{message}");
    for arguments in [&["-o", "/dev/full"][..], &["-o", "/dev/full", "--jobs", "3", "--bytes", "10M"]] {
        let output = run(&[&["gen", place.grammar()], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    }
    assert_eq!(run(&["gen", place.grammar(), "-o", "/dev/full", "--mmap"]).status.code(), Some(2));
    let texts = gramjet().args(["man"]).stdout(full()).output().unwrap();
    assert_eq!(texts.status.code(), Some(1));
    for arguments in [&["--help"][..], &["--version"], &["gen", "--help"], &["help", "minimise"]] {
        let help = gramjet().args(arguments).stdout(full()).output().unwrap();
        assert_eq!(help.status.code(), Some(1), "{arguments:?}");
        assert!(text(&help.stderr).contains("cannot write standard output: No space left"), "{}", text(&help.stderr));
    }
    // The message is not read either.
    let both = gramjet().args(["gen", "nothing"]).stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(both.code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn what_there_is_room_for_is_written_in_either_mode() {
    let place = place("room");
    let file = place.path("output");
    // The room of a disk as a limit on the file, in blocks of 512 bytes; the signal that says so is ignored, or not.
    for (blocks, least, trap) in [(0, 0, ""), (100, 0, "trap '' XFSZ;"), (20_000, 10_100_000, "")] {
        for mode in ["write", "mmap"] {
            let script = format!("{trap} ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let mut command = Command::new("sh");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_gramjet"), "gen", place.grammar()]);
            command.args(["--seed", "7", "--bytes", "40M", "-o", &file]);
            command.args(["--write-mode", mode, "--separator", "len32"]);
            let output = command.output().unwrap();
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{message}");
            let written = fs::read(&file).unwrap();
            let inputs = inputs_of(&written).len();
            let told = format!("{inputs} inputs ({} bytes) were written before", written.len());
            assert!(message.contains(&told), "{mode}: {message}");
            assert!(written.len() >= least, "{}", written.len());
        }
    }
}

/// Starts an endless run and waits for the first bytes of its output.
fn endless(place: &Place, arguments: &[&str]) -> Child {
    let mut child = interruptible()
        .args(["gen", place.grammar(), "--seed", "7", "--time", "1h"])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(first, *b"[");
    child
}

#[test]
fn a_closed_pipe_is_success() {
    let place = place("pipe");
    for jobs in ["1", "3"] {
        let mut child = endless(&place, &["--jobs", jobs]);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    }
}

#[test]
#[cfg(unix)]
fn signals_end_at_an_input() {
    use rustix::process::{Pid, Signal, kill_process};
    let place = place("signals");
    for (signal, code, name) in [(Signal::INT, 130, "SIGINT"), (Signal::TERM, 143, "SIGTERM")] {
        for jobs in ["1", "3"] {
            let mut child = endless(&place, &["--jobs", jobs, "--separator", "nul"]);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let mut rest = Vec::new();
            child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(code));
            assert!(rest.ends_with(b"]\0"));
            let message = text(&output.stderr);
            assert!(message.contains(&format!("interrupted by {name} after")), "{message}");
            assert!(message.contains(&format!("({} bytes)", rest.len() + 1)), "{message}");
        }
    }
}

/// The grammar comes through a pipe with a name, so the command is known to wait for it, with its handlers in place.
#[test]
#[cfg(unix)]
fn a_signal_ends_what_comes_before_the_first_input() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::Write;
    let place = place("before");
    let file = place.path("output");
    let pipe = place.path("pipe.ebnf");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let start = || {
        let mut command = interruptible();
        command.args(["gen", &pipe, "--engine", "bulk", "--time", "1h", "-o", &file]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        (child, fs::OpenOptions::new().write(true).open(&pipe).unwrap())
    };
    for (signal, code, name) in [(Signal::INT, 130, "SIGINT"), (Signal::TERM, 143, "SIGTERM")] {
        let interrupted = |child: Child| {
            kill_process(Pid::from_child(&child), signal).unwrap();
            let output = child.wait_with_output().unwrap();
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{message}");
            assert!(message.contains(&format!("gramjet: interrupted by {name} after ")), "{message}");
            message
        };
        let (child, writer) = start();
        let message = interrupted(child);
        assert!(message.contains("after 0 inputs (0 bytes)") && !fs::exists(&file).unwrap(), "{message}");
        drop(writer);
        // Wherever the command is then: it reads, compiles, makes tables or writes.
        let (child, mut writer) = start();
        writer.write_all(fs::read_to_string("grammars/css.ebnf").unwrap().as_bytes()).unwrap();
        drop(writer);
        interrupted(child);
        let _ = fs::remove_file(&file);
    }
}

/// As shells without job control start commands in the background: an interrupt from the keyboard is not for them.
#[test]
#[cfg(unix)]
fn signals_that_were_ignored_stay_ignored() {
    use rustix::process::{Pid, Signal, kill_process};
    let place = place("ignored");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' INT; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_gramjet"), "gen", place.grammar()]);
    command.args(["--seed", "7", "--time", "1h", "--separator", "nul"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    // More than was on its way, and more than is made between two looks at the signals.
    let mut more = vec![0; 8 << 20];
    child.stdout.as_mut().unwrap().read_exact(&mut more).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.stdout.take().unwrap().read_to_end(&mut more).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
#[cfg(target_os = "linux")]
fn a_mapped_file_that_others_make_shorter_is_an_error() {
    let place = place("shorter");
    let path = place.path("output");
    let mut command = gramjet();
    command.args(["gen", place.grammar(), "--seed", "7", "--time", "1h", "-o", &path, "--write-mode", "mmap"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // Sooner or later this hits a window that is being written.
    let end = loop {
        if let Some(end) = child.try_wait().unwrap() {
            break end;
        }
        if let Ok(file) = fs::OpenOptions::new().write(true).open(&path) {
            file.set_len(0).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(end.code(), Some(1), "{message}");
    assert!(message.contains("another process has made the file shorter"), "{message}");
}

#[test]
#[cfg(unix)]
fn a_signal_ends_a_run_inside_an_endless_input() {
    use rustix::process::{Pid, Signal, kill_process};
    let place = place("endless");
    // Rounds without output in rounds, 256 of each on average.
    let rules = (0..7).map(|level| format!("r{level} ::= '' @ 1e-9 | r{} r{level}\n", level + 1));
    fs::write(&place.grammar, rules.collect::<String>() + "r7 ::= '' | '' @ 2\n").unwrap();
    let file = place.path("output");
    for arguments in [&["-o", &file, "--no-mmap"][..], &["-o", &file, "--jobs", "2"], &[]] {
        let mut command = interruptible();
        command.args(["gen", place.grammar(), "--max-depth", "none", "--max-choices", "1000T", "-n", "9"]);
        let child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty() && fs::read(&file).unwrap().is_empty());
        assert!(text(&output.stderr).contains("interrupted by SIGINT after 0 inputs"), "{}", text(&output.stderr));
    }
}

#[test]
fn an_input_without_bound_is_an_error() {
    let place = place("unbounded");
    let long = "x".repeat(50_000);
    fs::write(&place.grammar, format!("s ::= 'x' | t s\nt ::= '{long}' | '{long}y'\n")).unwrap();
    let choices = place.path("choices");
    fs::write(&choices, [255; 80_000]).unwrap();
    let refused = |output: Output| {
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{message}");
        for part in ["an input has more than 1.00 GiB", "`--max-len`", "`--max-depth`", "0 inputs"] {
            assert!(message.contains(part), "{message}");
        }
    };
    refused(run(&["render", place.grammar(), &choices, "--max-depth", "none"]));
    // 2^32 times the long word within the default depth.
    fs::write(&place.grammar, format!("s ::= 'x' | s t s @ 9\nt ::= '{long}' | '{long}y'\n")).unwrap();
    refused(run(&["gen", place.grammar(), "-n", "9", "--seed", "7"]));
}

#[test]
#[cfg(unix)]
fn a_second_signal_ends_a_run_that_nobody_reads() {
    use rustix::process::{Pid, Signal, kill_process};
    let place = place("second");
    let mut child = endless(&place, &[]);
    // The pipe is full sooner or later; then the first signal alone ends nothing.
    let end = loop {
        if let Some(end) = child.try_wait().unwrap() {
            break end;
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert_eq!(end.code(), Some(130));
}
