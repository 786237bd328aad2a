//! `gramjet mutate` and `gramjet minimise`.

use std::fs;
use std::io::BufRead as _;

use super::{Place, gramjet, interruptible, place, run, stdout, text};

const NESTED: &str = "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9]+ | list | '\"' [a-z]* '\"'\n";

fn files(test: &str, content: &str) -> (Place, String, String) {
    files_of(test, NESTED, content)
}

fn files_of(test: &str, text: &str, content: &str) -> (Place, String, String) {
    let place = place(test);
    let (grammar, file) = (place.path("g.ebnf"), place.path("in"));
    fs::write(&grammar, text).unwrap();
    fs::write(&file, content).unwrap();
    (place, grammar, file)
}

#[test]
fn variants_conform_and_the_seed_decides() {
    let (place, grammar, file) = files("mutate", "[1,[22,\"abc\",[]],[[[3]]],44]");
    let arguments = ["mutate", &grammar, &file, "-n", "200", "--seed", "3"];
    let variants = text(&stdout(&arguments));
    assert_eq!(text(&stdout(&arguments)), variants);
    assert_ne!(text(&stdout(&["mutate", &grammar, &file, "-n", "200"])), variants);
    let lines: Vec<&str> = variants.lines().collect();
    let distinct: std::collections::BTreeSet<&str> = lines.iter().copied().collect();
    assert!(lines.len() == 200 && distinct.len() > 100, "{}", distinct.len());
    let folder = place.path("out/");
    stdout(&["mutate", &grammar, &file, "-n", "200", "--seed", "3", "-o", &folder]);
    let mut parse = vec!["parse".to_string(), grammar];
    for (number, line) in lines.iter().enumerate() {
        let variant = place.path(&format!("out/{number:03}"));
        assert_eq!(fs::read_to_string(&variant).unwrap(), *line);
        parse.push(variant);
    }
    stdout(&parse.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn variants_of_repaired_texts_are_right() {
    let grammar = "lines ::= line+\nline ::= $dec(len(t)) ':' t:([a-z]*) ' ' $t ';'\n";
    let (place, grammar, file) = files_of("mutate-repair", grammar, "2:abc abc;1:d e;");
    let refused = run(&["mutate", &grammar, &file]);
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.contains("in:1:1: byte 0: ") && said.contains("the length of part `t`"), "{said}");
    let variants = text(&stdout(&["mutate", &grammar, &file, "-n", "100", "--repair"]));
    let distinct: std::collections::BTreeSet<&str> = variants.lines().collect();
    assert!(distinct.len() > 50 && variants.contains("3:abc abc;"), "{variants}");
    for (number, variant) in distinct.into_iter().enumerate() {
        let path = place.path(&format!("{number}"));
        fs::write(&path, variant).unwrap();
        stdout(&["parse", &grammar, &path]);
    }
}

/// The grammar of programs whose names are declared before they are used.
const DECLARED: &str = "program ::= (statement ';')+
statement ::= 'let ' $define(v, name) | 'use ' $use(v, 'none')
name ::= [a-z]+
";

#[test]
fn variants_use_names_that_are_declared() {
    let content = "let b;use b;let aa;use aa;let c;use none;use c;";
    let (_place, grammar, file) = files_of("mutate-names", DECLARED, content);
    let variants = text(&stdout(&["mutate", &grammar, &file, "-n", "300"]));
    let distinct: std::collections::BTreeSet<&str> = variants.lines().collect();
    assert!(distinct.len() > 100, "{variants}");
    for variant in distinct {
        let mut declared = vec!["none"];
        for statement in variant.trim_end_matches(';').split(';') {
            match statement.split_once(' ') {
                Some(("let", name)) => declared.push(name),
                Some(("use", name)) => assert!(declared.contains(&name), "{variant}"),
                _ => panic!("{variant}"),
            }
        }
    }
    let small = stdout(&["minimise", &grammar, &file, "--", "sh", "-c", "! grep -q 'use aa'"]);
    assert_eq!(text(&small), "let aa;use aa;");
}

#[test]
fn variants_keep_a_length() {
    let content = "[1,[22,\"abc\",[]],[[[3]]],44]";
    let (_place, grammar, file) = files("mutate-len", content);
    for (max_len, most) in [("40", 40), ("3", content.len())] {
        let variants = text(&stdout(&["mutate", &grammar, &file, "-n", "300", "--max-len", max_len]));
        let distinct: std::collections::BTreeSet<&str> = variants.lines().collect();
        assert!(variants.lines().all(|line| line.len() <= most) && distinct.len() > 100, "{}", distinct.len());
    }
    let variants = text(&stdout(&["mutate", &grammar, &file, "-n", "300"]));
    assert!(variants.lines().any(|line| line.len() > 40));
    // A class of the start rule is changed by its choice byte alone.
    let (_place, grammar, file) = files_of("mutate-class", "s ::= [a-z] 'x'?\n", "b");
    let variants = text(&stdout(&["mutate", &grammar, &file, "-n", "50", "--max-len", "1"]));
    let distinct: std::collections::BTreeSet<&str> = variants.lines().collect();
    assert!(variants.lines().all(|line| line.len() == 1) && distinct.len() > 5, "{variants}");
}

/// Few variants of a mail change one of two copies of a boundary, or the header of the part after it.
#[test]
fn variants_of_mail_keep_its_parts() {
    let place = place("mutate-mail");
    let file = place.path("mail");
    let part = "--BOUNDARY\nContent-Type: text/plain\nSubject: a part\n\nA message part\n--BOUNDARY--\n";
    let header = "From: a@dom.ain\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"BOUNDARY\"\n";
    fs::write(&file, format!("{header}\n{part}")).unwrap();
    let output = stdout(&["mutate", "imf", &file, "-n", "300", "--seed", "1", "--separator", "nul"]);
    let variants: Vec<String> =
        output.split(|&byte| byte == 0).map(|variant| String::from_utf8_lossy(variant).into_owned()).collect();
    let is_whole = |variant: &&String| {
        let (_, part) = variant.split_once("\n\n--BOUNDARY\n").unzip();
        let fields = part.and_then(|part| part.split_once("\n\n")).map_or("", |(fields, _)| fields);
        variant.contains("boundary=\"BOUNDARY\"\n") == part.is_some() && fields.lines().all(|line| line.contains(':'))
    };
    let whole = variants.iter().filter(is_whole).count();
    assert!(whole >= 255, "{whole} of {}", variants.len());
}

#[test]
fn variants_need_a_file_that_conforms() {
    let (_place, grammar, file) = files("mutate-wrong", "[1,]");
    let output = run(&["mutate", &grammar, &file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no file conforms"), "{}", text(&output.stderr));
    let output = run(&["mutate", &grammar, "-", &file, "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("standard input can be read only once"), "{}", text(&output.stderr));
}

#[test]
fn files_that_cannot_be_used_are_told_and_the_rest_is_done() {
    let (place, grammar, file) = files("mutate-some", "[1]");
    let wrong = place.path("wrong");
    fs::write(&wrong, "[").unwrap();
    let output = run(&["mutate", &grammar, &place.path("missing"), &wrong, &file, "-n", "3"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 3);
    let said = text(&output.stderr);
    assert!(said.contains("cannot read") && said.contains("2 of 3 files were not used"), "{said}");
}

/// Variants are written as they are made: a reader that has enough ends it.
#[test]
fn variants_need_no_memory_for_all_of_them() {
    let (_place, grammar, file) = files("mutate-many", "[1,[22,\"abc\",[]],[[[3]]],44]");
    let mut child = gramjet()
        .args(["mutate", &grammar, &file, "-n", "1000000000000"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().take(10).all(|line| line.is_ok()));
    drop(lines);
    child.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn what_a_command_fails_on_becomes_small() {
    let (place, grammar, file) = files("minimise", "[1,[22,\"abc\",[]],[[[3,7777]]],44,\"needle\",[5,6]]");
    let script = "! grep -q '\\[\\[\\[.*e'";
    let small = stdout(&["minimise", &grammar, &file, "--", "sh", "-c", script]);
    assert_eq!(text(&small), "[[[\"e\"]]]");
    let named = place.path("small");
    stdout(&["tmin", &grammar, &file, "-o", &named, "--", "sh", "-c", "! grep -q 7 \"$0\"", "@@"]);
    assert_eq!(fs::read_to_string(named).unwrap(), "[7]");
}

/// Parallel runs change neither the result nor the number of tests, and no text is run twice.
#[cfg(unix)]
#[test]
fn jobs_and_remembered_answers_change_nothing_of_a_search() {
    let content = "[1,[22,\"abc\",[],[[\"k\"]]],[[[3,7777]]],44,\"needle\",[5,6],[[[[[\"nee\",4]]]]]]";
    let (place, grammar, file) = files("minimise-jobs", content);
    let minimise = |jobs: &str, max_tests: &str, seen: &str| {
        let script = format!("echo \"$(cat \"$0\")\" >> {seen}; ! grep -q '\\[\\[\\[.*e' \"$0\"");
        let options = ["-v", "--jobs", jobs, "--max-tests", max_tests, "--", "sh", "-c", &script, "@@"];
        let output = gramjet().args([&["minimise", &grammar, &file], &options[..]].concat()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let lines: Vec<String> = fs::read_to_string(seen).unwrap().lines().map(str::to_string).collect();
        (text(&output.stdout), text(&output.stderr), lines)
    };
    for max_tests in ["10k", "12"] {
        let (small, said, one) = minimise("1", max_tests, &place.path("one"));
        if max_tests == "10k" {
            assert_eq!(small, "[[[\"e\"]]]");
            assert_eq!(said, format!("gramjet: from {} bytes to 9 bytes in {} tests\n", content.len(), one.len() - 1));
        }
        let distinct: std::collections::BTreeSet<&String> = one.iter().collect();
        assert_eq!(distinct.len(), one.len(), "{one:?}");
        // A run ahead of time can be ended before it has named its text.
        let (also_small, also_said, _) = minimise("3", max_tests, &place.path("three"));
        assert_eq!((also_small, also_said), (small, said));
        ["one", "three"].iter().for_each(|name| fs::remove_file(place.path(name)).unwrap());
    }
}

/// On a terminal a line shows how far the search is, unless an option turns it off.
#[cfg(target_os = "linux")]
#[test]
fn a_line_on_a_terminal_shows_how_far_the_search_is() {
    use std::io::Read as _;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let (_place, grammar, file) = files("minimise-progress", "[1,[22,\"abc\",[]],[[[3,7777]]],44,\"needle\",[5,6]]");
    for (option, is_shown) in [("--jobs=2", true), ("--no-progress", false)] {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = text(ptsname(&ours, Vec::new()).unwrap().to_bytes());
        let theirs = fs::File::options().read(true).write(true).open(name).unwrap();
        let mut command = gramjet();
        command.args(["minimise", &grammar, &file, option, "--", "sh", "-c", "sleep 0.1; ! grep -q '\\[\\[\\[.*e'"]);
        let mut child =
            command.env("TERM", "xterm").stdout(std::process::Stdio::null()).stderr(theirs).spawn().unwrap();
        // It holds the other end of the terminal.
        drop(command);
        let (mut seen, mut part) = (Vec::new(), [0; 1024]);
        let mut terminal = fs::File::from(ours);
        // The end of a terminal is an error.
        while let Ok(count @ 1..) = terminal.read(&mut part) {
            seen.extend_from_slice(&part[..count]);
        }
        assert!(child.wait().unwrap().success());
        assert_eq!(text(&seen).contains(" B of 48 B, "), is_shown, "{}", text(&seen));
    }
}

/// The result up to a signal is written, and the message says how far the search was.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_search_with_the_best_text_so_far() {
    let (place, grammar, file) = files("minimise-signal", "[1,[22,\"abc\",[]],[[[3,7777]]],44,\"needle\",[5,6]]");
    let (runs, small) = (place.path("runs"), place.path("small"));
    for (most, jobs) in [(6, "1"), (0, "1"), (6, "2")] {
        let script = format!("echo >> {runs}; [ $(wc -l < {runs}) -gt {most} ] && sleep 1000; ! grep -q 7 \"$0\"");
        let child = interruptible()
            .args(["minimise", &grammar, &file, "-o", &small, "--timeout", "1000s", "--jobs", jobs])
            .args(["--", "sh", "-c", &script, "@@"])
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        while !fs::read(&runs).is_ok_and(|runs| runs.len() > most) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{said}");
        if most == 0 {
            assert!(said.contains("before the command had ended on ") && said.contains("nothing is written"), "{said}");
            assert!(!fs::exists(&small).unwrap());
        } else {
            let found = fs::read_to_string(&small).unwrap();
            assert!(found.contains('7') && found.len() < 48, "{found}");
            let tests = if jobs == "1" { "after 5 tests" } else { "after " };
            let reached = format!("from 48 bytes to {} bytes, which are written", found.len());
            assert!(said.starts_with("gramjet: interrupted by SIGINT ") && said.contains(tests), "{said}");
            assert!(said.contains(&reached), "{said}");
            fs::remove_file(&small).unwrap();
        }
        fs::remove_file(&runs).unwrap();
    }
}

/// Artefacts of fuzz targets are choice bytes, under the depth limit of the target's module.
#[cfg(unix)]
#[test]
fn choice_bytes_that_a_command_fails_on_become_a_small_text() {
    let (place, grammar, file) = files("minimise-choices", "[1,[[[[22,\"abc\",[]]]]],44,[5,6]]");
    let (artefact, small) = (place.path("crash-1"), place.path("small"));
    fs::write(&artefact, stdout(&["parse", &grammar, &file, "--choices", "--raw", "--shape", "uniform"])).unwrap();
    let gramjet = env!("CARGO_BIN_EXE_gramjet");
    let script = format!("! {gramjet} render {grammar} \"$0\" --shape uniform --max-depth 1000 | grep -q '\\[\\[.*c'");
    let found = stdout(&[
        "minimise",
        &grammar,
        &artefact,
        "--choices",
        "--max-depth",
        "1000",
        "--choices-output",
        &small,
        "--",
        "sh",
        "-c",
        &script,
        "@@",
    ]);
    assert_eq!(text(&found), "[[\"c\"]]");
    assert_eq!(text(&stdout(&["render", &grammar, &small, "--shape", "uniform", "--max-depth", "1000"])), "[[\"c\"]]");
    // Those of `parse` say what they are of.
    fs::write(&artefact, stdout(&["parse", &grammar, &file, "--choices"])).unwrap();
    let refused = run(&["minimise", &grammar, &artefact, "--choices", "--", "false"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("has a header"), "{}", text(&refused.stderr));
    let refused = run(&["minimise", &grammar, &file, "--max-depth", "9", "--", "false"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("need `--choices`"), "{}", text(&refused.stderr));
}

/// The target makes a text of an artefact under its limits; another derivation of that text may make another one of it.
#[cfg(unix)]
#[test]
fn targets_get_the_artefact_and_what_makes_the_same_under_their_limits() {
    let place = place("minimise-limits");
    let (grammar, artefact, expected) = (place.path("sums.ebnf"), place.path("crash"), place.path("expected"));
    let small = place.path("small");
    fs::write(&grammar, "sum ::= sum '+' sum | sum '-' sum | '(' sum ')' | [0-9]+").unwrap();
    let gramjet = env!("CARGO_BIN_EXE_gramjet");
    let limited = ["--shape", "uniform", "--max-depth", "6"];
    let mut smaller = 0;
    for number in 0..8u32 {
        let bytes: Vec<u8> =
            (0..400u32).map(|at| (at.wrapping_mul(2_654_435_761).rotate_left(number) >> 13) as u8).collect();
        fs::write(&artefact, bytes).unwrap();
        let text_of = |file: &str| stdout(&[&["render", &grammar, file, "--raw"], &limited[..]].concat());
        let made = text_of(&artefact);
        fs::write(&expected, &made).unwrap();
        // The target fails on the artefact's text, and on shorter ones with as many of one character.
        let script = format!(
            "{gramjet} render {grammar} \"$0\" --raw --shape uniform --max-depth 6 > {expected}.now
             cmp -s {expected} {expected}.now && exit 3
             [ $(wc -c < {expected}.now) -lt $(wc -c < {expected}) ] && grep -q '[1-9]' {expected}.now && exit 3
             exit 0"
        );
        let found = run(&[
            &["minimise", &grammar, &artefact, "--choices", "--max-depth", "6", "--max-tests", "40"],
            &["--choices-output", &small, "--", "sh", "-c", &script, "@@"][..],
        ]
        .concat());
        assert!(found.status.success(), "{number}: {}", text(&found.stderr));
        assert_eq!(text(&text_of(&small)), text(&found.stdout), "{number}");
        smaller += u32::from(found.stdout.len() < made.len());
    }
    assert!(smaller > 0);
}

#[cfg(unix)]
#[test]
fn choice_bytes_of_the_result_are_rendered_to_it() {
    let place = place("minimise-output");
    let (grammar, file, small) = (place.path("sums.ebnf"), place.path("in"), place.path("small"));
    // Its inputs have other weights than the ones it would be parsed with.
    fs::write(&grammar, "sum ::= sum '+' sum | sum '-' sum | sum '*' sum | '(' sum ')' | [0-9]+").unwrap();
    fs::write(&file, "1+(2-37)*4").unwrap();
    let command = ["--", "sh", "-c", "! grep -q 7"];
    let found = stdout(&[&["minimise", &grammar, &file, "--choices-output", &small], &command[..]].concat());
    assert_eq!((text(&found), stdout(&["render", &grammar, &small])), ("7".to_string(), found));
    let refused = run(&[&["minimise", &grammar, &file, "--choices-output", "-"], &command[..]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("cannot both go to standard output"), "{}", text(&refused.stderr));
}

#[cfg(unix)]
#[test]
fn commands_that_do_not_fail_are_refused() {
    let (_place, grammar, file) = files("minimise-wrong", "[1]");
    let output = run(&["minimise", &grammar, &file, "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nothing to keep"));
    let output = run(&["minimise", &grammar, &file, "--", "./there-is-no-such-command"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot run `./there-is-no-such-command`: "));
    // A timeout is an ending, too.
    let output = run(&["minimise", &grammar, &file, "--timeout", "50ms", "--max-tests", "3", "--", "sleep", "5"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Processes that the command has started end with it, at the timeout and on a signal.
#[cfg(target_os = "linux")]
#[test]
fn commands_are_ended_with_all_that_they_have_started() {
    use std::time::Duration;

    let (place, grammar, file) = files("minimise-group", "[1]");
    let (pids, survived) = (place.path("pids"), place.path("survived"));
    // A process that is not ended says so when it ends by itself, however long this test has to wait for it.
    let script = format!("(sleep 1000; echo yes > {survived}) & echo $! >> {pids}; wait");
    let all_gone = || {
        let alive =
            |pid: &str| fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
        while fs::read_to_string(&pids).unwrap().lines().any(alive) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!fs::exists(&survived).unwrap());
    };
    let output =
        run(&["minimise", &grammar, &file, "--timeout", "300ms", "--max-tests", "2", "--", "sh", "-c", &script]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    all_gone();
    fs::remove_file(&pids).unwrap();
    let child = interruptible()
        .args(["minimise", &grammar, &file, "--timeout", "1000s", "--", "sh", "-c", &script])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !fs::read_to_string(&pids).is_ok_and(|pids| pids.ends_with('\n')) {
        std::thread::sleep(Duration::from_millis(10));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("interrupted by SIGINT"), "{}", text(&output.stderr));
    all_gone();
}
