//! Wrong arguments and grammars: what is said, and the exit code.

use super::*;

#[test]
fn wrong_arguments_are_code_2() {
    let place = place("wrong");
    let grammar = place.grammar();
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["gen"], "GRAMMAR"),
        (&["gen", grammar, "-n", "-1"], "-1"),
        (&["gen", grammar, "-n", "1", "--bytes", "1"], "cannot be used with"),
        (&["gen", grammar, "--bytes", "10X"], "not a unit of size"),
        (&["gen", grammar, "--time", "1y"], "not a unit of time"),
        (&["gen", grammar, "--jobs", "0"], "threads"),
        (&["gen", grammar, "--shard", "3/3", "--seed", "1"], "shard 3 does not exist"),
        (&["gen", grammar, "--shard", "0/3"], "--seed"),
        (&["gen", grammar, "--engine", "rust"], "shipped"),
        (&["gen", grammar, "--format", "cobol"], "possible values"),
        (&["gen", grammar, "--mmap"], "-o"),
        (&["gen", grammar, "--ext", "x"], "--output"),
        (
            &["gen", grammar, "--max-len", "1"],
            "length of 1 byte is too small: the shortest input of this grammar has 2 bytes",
        ),
        (&["gen", grammar, "-n", "abc"], "a number is expected, such as 100"),
        (&["gen", grammar, "-n", "-5"], "a number is expected, such as 100"),
        (&["gen", grammar, "--seed", "-1"], "a seed is a number from 0 to 2^64 - 1"),
        (&["gen", grammar, "--seed", "-0x1"], "invalid value '-0x1' for '--seed <SEED>': a seed is a number"),
        (&["gen", grammar, "-s", "-0X1f"], "invalid value '-0X1f' for '--seed <SEED>': a seed is a number"),
        (&["gen", grammar, "--max-depth", "-1"], "a number of levels, or `none`, is expected"),
        (&["gen", grammar, "-o", grammar, "--ext", "txt"], "is not a directory; `--ext`"),
        (&["gen", grammar, "--start", "lits"], "lits"),
        (&["gen", "no-such-grammar"], "`gramjet grammars` lists"),
        (&["gen", "no/such/file"], "no such file"),
        (&["gen", &grammar.replace("list.ebnf", "lst.ebnf")], "list.ebnf"),
        (&["gen", ""], "empty"),
        (&["dump", "nonsense", grammar], "possible values"),
        (&["emit", "cobol", grammar], "possible values"),
        (&["completions", "dos"], "possible values"),
        (&["man", "nonsense"], "no command"),
        (&["render", "-", "-"], "standard input"),
    ];
    for (arguments, expected) in cases {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn bad_grammars() {
    let place = place("bad");
    let file = place.path("bad.ebnf");
    let refused = |content: &[u8], code, expected: &str| {
        fs::write(&file, content).unwrap();
        let output = run(&["gen", &file]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(expected) && output.stdout.is_empty(), "{message}");
        assert!(!message.contains('\u{1b}'), "no colours in a file: {message}");
        message
    };
    let message = refused(b"a ::= 'x' b\nc ::= 'y'\n", 2, "error[undefined-rule]");
    assert!(message.contains("bad.ebnf:1:11") && message.contains("^"), "{message}");
    let forced = |variables: &[(&str, &str)]| {
        let mut command = gramjet();
        text(&command.args(["gen", &file]).envs(variables.iter().copied()).output().unwrap().stderr)
    };
    assert!(forced(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert!(!forced(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
    refused(b"a ::= 'x", 2, "does not compile: ");
    refused(b"", 2, "does not compile: ");
    refused(b"a ::= '\xff'", 2, "not UTF-8 text: byte 0xff at offset 7");
    // An excerpt of a long line is short.
    let long = format!("a ::= {} b", "'x' ".repeat(500_000));
    let message = refused(long.as_bytes(), 2, "error[");
    assert!(message.len() < 2000, "{} bytes", message.len());
    for command in ["check", "emit rust", "dump pools"].map(|command| command.split(' ').collect::<Vec<_>>()) {
        let output = run(&[&command[..], &[&file]].concat());
        assert_eq!(output.status.code(), Some(2), "{command:?}");
    }
    // The understood part is shown, and the error.
    fs::write(&file, "a ::= 'x'\nb ::= c\n").unwrap();
    let dumped = run(&["dump", "ast", &file]);
    assert!(dumped.status.code() == Some(2) && text(&dumped.stderr).contains("error[undefined-rule]"));
    assert!(text(&dumped.stdout).contains("\"x\""), "{}", text(&dumped.stdout));
    fs::write(&file, "a ::= 'x'\nb ::= 'y'\n").unwrap();
    for stage in ["ast", "share-tails"] {
        let dumped = run(&["dump", stage, &file]);
        assert!(dumped.status.success() && text(&dumped.stderr).contains("warning[unreachable-rule]"));
    }
    let help = text(&stdout(&["dump", "--help"]));
    assert!(help.contains("beyond the depth limit") && help.contains("Repetitions of a fixed"), "{help}");
    let directory = run(&["gen", place.directory.to_str().unwrap()]);
    assert_eq!(directory.status.code(), Some(2));
    assert!(text(&directory.stderr).contains("directory"));
}
