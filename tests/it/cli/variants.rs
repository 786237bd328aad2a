//! `gramjet mutate` and `gramjet minimise`.

use std::fs;

use super::{Place, place, run, stdout, text};

const NESTED: &str = "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9]+ | list | '\"' [a-z]* '\"'\n";

fn files(test: &str, content: &str) -> (Place, String, String) {
    let place = place(test);
    let (grammar, file) = (place.path("nested.ebnf"), place.path("in"));
    fs::write(&grammar, NESTED).unwrap();
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
fn variants_need_a_file_that_conforms() {
    let (_place, grammar, file) = files("mutate-wrong", "[1,]");
    let output = run(&["mutate", &grammar, &file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no file conforms"), "{}", text(&output.stderr));
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
