//! Real parsers accept what the shipped grammars derive. A judge that is not installed is skipped, visibly; with
//! `GRAMJET_REQUIRE_JUDGES` set it fails instead.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file in the directory for temporary files of tests.
fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The documents of a grammar, NUL-separated, in a file.
pub fn documents_from(grammar: &str, count: u32, arguments: &[&str], name: &str) -> PathBuf {
    let path = temporary(name);
    let status = Command::new(env!("CARGO_BIN_EXE_gramjet"))
        .args(["gen", grammar, "-n", &count.to_string(), "--seed", "11", "--separator", "nul", "--jobs", "2", "-o"])
        .arg(&path)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("the binary runs");
    assert!(status.success());
    path
}

/// Has a script of `tests/judges` judge the documents.
pub fn judge(script: &str, arguments: &[&str], documents: &Path) {
    let required = std::env::var_os("GRAMJET_REQUIRE_JUDGES").is_some();
    let script_path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges").join(script);
    let output = Command::new("python3")
        .arg(script_path)
        .args(arguments)
        .stdin(Stdio::from(File::open(documents).expect("the documents were written")))
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) if !required => return eprintln!("SKIPPED {script}: python3: {error}"),
        Err(error) => panic!("python3: {error}"),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(77) && !required {
        return eprintln!("SKIPPED {said}");
    }
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    eprintln!("{script}: {}", said.trim_end());
}

#[test]
fn json_is_accepted_by_serde_json_and_python() {
    let path = documents_from("grammars/json.ebnf", 100_000, &["--max-depth", "32"], "json.nul");
    let text = std::fs::read(&path).expect("the documents were written");
    let mut count = 0;
    for document in text.strip_suffix(b"\0").expect("each document ends with a NUL").split(|&byte| byte == 0) {
        let value: Result<serde_json::Value, _> = serde_json::from_slice(document);
        assert!(value.is_ok(), "{value:?}: {}", String::from_utf8_lossy(document));
        count += 1;
    }
    assert_eq!(count, 100_000);
    judge("json_judge.py", &[], &path);
}

#[test]
fn shipped_grammars_are_accepted_by_their_judges() {
    for (grammar, script, arguments) in [
        ("expr", "expr_judge.py", &[][..]),
        ("html", "html_judge.py", &[]),
        ("css", "css_judge.py", &[]),
        ("xml", "xml_judge.py", &[]),
        ("xml", "xml_judge.py", &["--xmllint"]),
    ] {
        judge(script, arguments, &documents_from(grammar, 1000, &[], &format!("{grammar}.nul")));
        // Near the limits most of a document comes from pools.
        for (limit, value) in [("--max-depth", "2"), ("--max-len", "100")] {
            let name = format!("{grammar}{limit}.nul");
            judge(script, arguments, &documents_from(grammar, 300, &[limit, value], &name));
        }
    }
}
