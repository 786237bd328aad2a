//! Grammars of RFCs as they stand there, in `tests/rfc`: read, compiled and generated from, and judged by Python's
//! parsers.

use std::process::Command;

use crate::validity::{documents_from, judge};

fn check(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_gramjet"))
        .args(["check"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the binary runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn grammars_of_rfcs_have_nothing_to_complain_of() {
    for (grammar, start) in [
        ("uri", "URI-reference"),
        ("json", "JSON-text"),
        ("imf", "address-list"),
        ("http", "HTTP-message"),
        ("http", "Via"),
        ("sip", "SIP-message"),
    ] {
        let file = format!("tests/rfc/{grammar}.abnf");
        // Strings of JSON have all characters of Unicode.
        let (success, said) = check(&[&file, "--start", start, "--max-depth", "20", "--allow", "huge-class"]);
        assert!(success && said.is_empty(), "{grammar}: {said}");
    }
}

#[test]
fn what_they_derive_is_accepted() {
    for (grammar, start, script, arguments) in [
        ("json", "JSON-text", "abnf_judge.py", &["text"]),
        ("uri", "URI", "abnf_judge.py", &["uri"]),
        ("imf", "date-time", "abnf_judge.py", &["date"]),
        ("imf", "mailbox", "abnf_judge.py", &["mailbox"]),
        ("http", "field-line", "abnf_judge.py", &["fields"]),
    ] {
        let options = ["--start", start, "--max-depth", "24"];
        let name = format!("{grammar}-{start}.nul");
        judge(script, arguments, 100, &documents_from(&format!("tests/rfc/{grammar}.abnf"), 2000, &options, &name));
    }
}
