//! All doors decide alike which limits are in force: the command, emitted Rust, and sessions, which C, Python, AFL++,
//! libFuzzer and LibAFL use.

use std::path::Path;
use std::process::Command;

use gramjet_compiler::SourceFile;
use gramjet_session::{Bound, Language, Settings};

/// Grammars: with limits in the file, with one of them, without any, and one that has no pools.
const GRAMMARS: [&str; 4] = [
    "%max-depth 5\n%max-len 90\nlist ::= '[' (list (',' list)*)? ']'\n",
    "%max-len 70\nlist ::= '[' (list (',' list)*)? ']'\n",
    "list ::= '[' (list (',' list)*)? ']'\n",
    "list ::= 'a'{70000} | '[' list ']'\n",
];

/// Returns the limits that a text has after `Limits::with(`, without blanks.
fn of_rust(text: &str) -> String {
    let at = text.find("Limits::with(").map(|at| at + "Limits::with(".len()).expect("limits");
    let limits = text[at..].split(");").next().unwrap_or_default();
    let limits: String = limits.chars().filter(|character| !character.is_whitespace()).collect();
    limits.trim_end_matches(',').replace("::gramjet::Limits::DEFAULT_MAX_DEPTH", "32")
}

fn gramjet(arguments: &[String]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_gramjet")).args(arguments).output().expect("the command");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the limits as the command tells them.
fn of_command(file: &str, options: &[String]) -> Option<(Option<u64>, Option<u64>)> {
    let (succeeds, said) = gramjet(&[&["check".into(), file.into()], options].concat());
    let line = said.lines().find_map(|line| line.strip_prefix("limits     "));
    let number = |what: &str| {
        let rest = line?.split_once(what)?.1;
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    };
    succeeds.then(|| (number("maximum depth "), number("maximum length ")))
}

/// Returns the limits of a session, or of a fuzzer that has one.
fn of_session(text: &str, depth: Bound, len: Bound) -> Option<(Option<u64>, Option<u64>)> {
    let settings = Settings { max_depth: depth, max_len: len, ..Settings::default() };
    let language = Language::compile(&SourceFile::new("list.ebnf", text), &settings).ok()?;
    Some((language.limits().depth().map(u64::from), language.limits().length()))
}

#[test]
fn all_doors_have_the_same_limits() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits");
    std::fs::create_dir_all(&folder).expect("a folder");
    let bounds = [Bound::Default, Bound::Unlimited, Bound::At(60)];
    let option = |name: &str, bound: Bound| match bound {
        Bound::Default => None,
        Bound::Unlimited => Some(format!("{name}=none")),
        Bound::At(value) => Some(format!("{name}={value}")),
    };
    let mut compared = 0;
    for (number, text) in GRAMMARS.iter().enumerate() {
        let file = folder.join(format!("{number}.ebnf"));
        std::fs::write(&file, text).expect("a file");
        let file = file.to_str().expect("text");
        for (depth, len) in bounds.iter().flat_map(|&depth| bounds.iter().map(move |&len| (depth, len))) {
            let options: Vec<String> =
                [option("--max-depth", depth), option("--max-len", len)].into_iter().flatten().collect();
            let about = format!("{text:.20} {options:?}");
            let command = of_command(file, &options);
            assert_eq!(of_session(text, depth, len), command, "{about}");
            compared += u32::from(command.is_some());
            // Emitted Rust cannot be told to have no limit.
            if depth == Bound::Unlimited || len == Bound::Unlimited {
                continue;
            }
            let (emits, emitted) = gramjet(&[&["emit".to_string(), "rust".into(), file.into()], &options[..]].concat());
            assert_eq!(emits, command.is_some(), "{about}");
            if let Some((depth, len)) = command {
                assert_eq!(of_rust(&emitted), format!("{depth:?},{len:?}"), "{about}");
            }
        }
    }
    assert!(compared > 20, "{compared}");
}
