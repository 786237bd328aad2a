//! The package `jsonschema` accepts what the JSON Schemas of `tests/schemas` derive. They cover the keywords, and none
//! of them gives a warning.

use std::path::{Path, PathBuf};
use std::process::Command;

use gramjet_testkit::amount;

use crate::validity::{documents_from, judge};

/// The number of documents of all schemas in a long run.
const ALL: u64 = 100_000;

/// Returns the schemas by their paths from the root.
fn schemas() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let files = std::fs::read_dir(folder).expect("the schemas").map(|entry| entry.expect("a schema").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    assert!(files.len() >= 29, "{files:?}");
    files
}

fn stem(schema: &Path) -> String {
    schema.file_name().and_then(|name| name.to_str()).expect("a name").replace(".schema.json", "")
}

#[test]
fn generated_documents_are_valid() {
    let count = (amount::part(ALL) as u32).div_ceil(2 * schemas().len() as u32);
    for schema in schemas() {
        let path = schema.to_str().expect("a path");
        for (number, limits) in [&["--shape", "target-size=300"][..], &["--max-depth", "9"]].into_iter().enumerate() {
            let documents = documents_from(path, count, limits, &format!("schemas-{}-{number}", stem(&schema)));
            judge("schema_judge.py", &[path], 100, &documents);
        }
    }
}

#[test]
fn schemas_give_no_warnings() {
    for schema in schemas() {
        let output = Command::new(env!("CARGO_BIN_EXE_gramjet"))
            .args(["check", "--deny", "loose-schema", "--deny", "unsatisfiable-schema"])
            .arg(&schema)
            .output()
            .expect("the binary runs");
        assert!(output.status.success(), "{schema:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn members_are_read_in_any_order_with_blanks_and_escapes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let accepts = |schema: &str, text: &str| {
        let file = folder.join("schemas-read.json");
        std::fs::write(&file, text).expect("the folder can be written to");
        let status = Command::new(env!("CARGO_BIN_EXE_gramjet"))
            .args(["parse", &format!("tests/schemas/{schema}.schema.json")])
            .arg(&file)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("the binary runs");
        status.status.success()
    };
    assert!(accepts("address", "{\n\t\"city\" : \"\\u00dclm\" ,\r\n \"street\": \"x\\\\\"\n}\n"));
    assert!(!accepts("address", "{\"street\": \"x\", \"town\": \"y\"}"));
    assert!(!accepts("address", "{\"street\": \"x\", \"city\": 7}"));
    assert!(accepts("all-of", "{\"name\": \"é\", \"other\": [{}], \"id\": 77}"));
    assert!(!accepts("all-of", "{\"name\": \"é\", \"id\": 501}"));
    assert!(accepts("formats", "{\"email\": \"A.B@example.org\", \"uri\": \"tel:+1\", \"time\": \"10:00:00z\"}"));
    assert!(!accepts("formats", "{\"uuid\": \"10\", \"uri\": \"tel:+1\", \"time\": \"10:00:00z\"}"));
    // All rules of strings are only read here.
    assert!(accepts("tree", r#"{"other": "x", "left": {"right": null}}"#));
    assert!(accepts(
        "one-of",
        "{\"auth\": {\"token\": \"\"}, \"shape\": {\"r\": 1.5, \"kind\": \"circle\"}, \"number\": 1}"
    ));
}
