//! Nothing that a program, a grammar or the name of a file says reaches a terminal as a command.

use std::fs;
use std::path::Path;

use super::fuzz::run_in;
use super::{place, text};

/// Words that would change colours and titles, clear the screen, hide a line, and turn the direction of writing.
const HOSTILE: &str = "x\u{1b}[31m\u{1b}]0;own\u{7}\u{1b}[2J\r\u{9b}2J\u{202e}";

/// Returns the bytes of a text that a terminal would obey.
fn obeyed(said: &str) -> Vec<char> {
    said.chars().filter(|&c| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}').collect()
}

#[test]
fn what_is_said_has_no_control_characters() {
    let place = place("terminal");
    // A report of a sanitizer, an assertion, and an exception with such a class.
    let c = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char b[99]; int n = fread(b, 1, 99, stdin);\n\
        if (n && b[0] == '[') { fprintf(stderr, \"Assertion `WORDS' failed in WORDS\\n\"); abort(); }\n\
        if (n && b[0] == '{') { fprintf(stderr, \"==1==ERROR: AddressSanitizer: heapWORDS-buffer-overflow\\n\
        #0 0x1 in funcWORDS a.c:1\\nSUMMARY: AddressSanitizer: WORDS a.c:1 in fuWORDSnc\\n\"); exit(1); } return 0; }\n";
    let escaped: String = HOSTILE.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    fs::write(place.path("says.c"), c.replace("\\n#0", "\\n    #0").replace("WORDS", &escaped)).unwrap();
    assert!(run_in(&place, &["cc", "says.c", "-o", "says"]).status.success());
    let name: String = HOSTILE.chars().map(|character| format!("\\u{:04x}", u32::from(character))).collect();
    let python = format!("Own = type('{name}', (Exception,), {{}})\ndef parse(data):\n    raise Own('said')\n");
    fs::write(place.path("raises.py"), python).unwrap();
    for (out, program) in [("out", "./says"), ("other", "python:raises:parse")] {
        if program.starts_with("python:") && !gramjet_needs::has_for_a_part("python3") {
            continue;
        }
        for more in [&["-n", "60"][..], &["--replay"]] {
            let options = ["fuzz", "json", "-o", out, "--junit", "r.xml", "--no-progress"];
            let done = run_in(&place, &[&options[..], more, &["--", program]].concat());
            let said = text(&done.stderr);
            assert!(done.status.code() == Some(1), "{said}");
            assert!(obeyed(&said).is_empty(), "{said:?}");
            let report = fs::read_to_string(place.path("r.xml")).unwrap();
            assert!(report.contains("<failure") && obeyed(&report).is_empty(), "{report:?}");
        }
        for key in fs::read_dir(place.path(&format!("{out}/failures"))).unwrap() {
            let script = fs::read_to_string(key.unwrap().path().join("replay.sh")).unwrap();
            assert!(obeyed(&script).is_empty(), "{script:?}");
        }
    }
}

#[test]
fn names_of_files_and_texts_of_grammars_are_escaped() {
    let place = place("terminal-names");
    let grammar = format!("g{HOSTILE}.ebnf");
    fs::write(Path::new(&place.path("")).join(&grammar), format!("s ::= a{HOSTILE} | b\n")).unwrap();
    for arguments in [
        &["check", &grammar][..],
        &["gen", &grammar, "-n", "1"],
        &["gen", "json", "--weights", &grammar, "-n", "1"],
        &["fuzz", "json", "-n", "1", "-o", &grammar, "--", "cat"],
        &["search", "json", "--replay", "-o", HOSTILE, "--", "cat"],
        &["fuzz", "json", "-n", "1", "--", &grammar],
        &["parse", "json", HOSTILE],
        &["learn", "json", HOSTILE],
        &["report", HOSTILE],
    ] {
        let done = run_in(&place, arguments);
        let said = text(&done.stderr);
        assert!(done.status.code().is_some_and(|code| code == 1 || code == 2), "{arguments:?}: {said:?}");
        assert!(obeyed(&said).is_empty(), "{arguments:?}: {said:?}");
    }
}

/// One module of the command writes to standard error, and escapes what it writes.
#[test]
fn one_module_writes_to_standard_error() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("cli")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let own = fs::read_to_string(&path).unwrap();
            // These write escapes of their own: the line of progress, and colours of diagnostics.
            let is_known = ["terminal.rs", "progress.rs", "report.rs"].iter().any(|known| path.ends_with(known));
            let writes = ["eprint!", "eprintln!", "stderr().write", "(stderr", "(std::io::stderr", "(io::stderr"];
            let found: Vec<&str> = own.lines().filter(|line| writes.iter().any(|way| line.contains(way))).collect();
            assert!(is_known || found.is_empty(), "{}: {found:?}", path.display());
        }
    }
}

/// Returns what a command shows on a terminal.
#[cfg(target_os = "linux")]
fn shown(arguments: &[&str]) -> String {
    use std::io::Read as _;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = text(ptsname(&ours, Vec::new()).unwrap().to_bytes());
    let theirs = fs::File::options().read(true).write(true).open(name).unwrap();
    let mut command = super::gramjet();
    let mut child = command.args(arguments).env("TERM", "xterm").stdout(theirs).spawn().unwrap();
    // It holds the other end of the terminal.
    drop(command);
    let (mut seen, mut part) = (Vec::new(), [0; 1024]);
    let mut terminal = fs::File::from(ours);
    // The end of a terminal is an error.
    while let Ok(count @ 1..) = terminal.read(&mut part) {
        seen.extend_from_slice(&part[..count]);
    }
    assert!(child.wait().unwrap().success());
    text(&seen).replace("\r\n", "\n")
}

#[cfg(target_os = "linux")]
#[test]
fn inputs_that_are_no_text_are_described_on_a_terminal() {
    let image = shown(&["gen", "png", "-n", "2", "--seed", "4"]);
    assert!(image.matches("  signature\n").count() == 2 && image.contains("$u32be(crc32(head))"), "{image}");
    assert!(obeyed(&image).is_empty(), "{image:?}");
    // Texts, and what programs read, are as they are elsewhere.
    let json = ["gen", "json", "-n", "5", "--seed", "4"];
    assert_eq!(shown(&json), text(&super::stdout(&json)));
    let separated = shown(&["gen", "png", "--seed", "4", "--separator", "none"]);
    assert!(separated.contains("IHDR") && !separated.contains("signature"), "{separated:?}");
}
