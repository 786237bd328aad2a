//! Independent readers accept what the grammars of `tests/labelled` derive, and shipped ones, in which parts follow
//! from other parts: names of tags, attributes and entities, columns, lengths, padding, checksums of headers, bit
//! fields, indentation, and texts in codings.

use std::path::{Path, PathBuf};
use std::process::Command;

use gramjet_testkit::amount;

use crate::validity::{documents_from, judge};

/// The number of documents of a grammar in a long run.
const ALL: u64 = 100_000;

/// The limits of the documents. The shortest ones leave no room for most options.
const LIMITS: [&[&str]; 6] = [
    &["--max-len", "60"],
    &["--shape", "target-size=1k", "--max-len", "4KiB"],
    &["--shape", "deep", "--max-len", "600"],
    &["--shape", "balanced", "--max-len", "300"],
    &["--shape", "target-size=300", "--max-depth", "8"],
    &["--shape", "uniform", "--max-len", "1KiB"],
];

/// The limits of archives, of which the shortest has a thousand bytes.
const ARCHIVES: [&[&str]; 4] = [
    &["--max-len", "2048"],
    &["--shape", "target-size=4k", "--max-len", "16KiB"],
    &["--shape", "balanced", "--max-len", "6000"],
    &["--shape", "uniform", "--max-len", "8KiB", "--max-depth", "8"],
];

/// The number of archives in a long run.
const ALL_ARCHIVES: u64 = 20_000;

/// Writes documents of a grammar, for each of the limits, to files of their own.
fn documents(grammar: &str) -> Vec<PathBuf> {
    let (limits, all) = if grammar == "tar" { (&ARCHIVES[..], ALL_ARCHIVES) } else { (&LIMITS[..], ALL) };
    let count = (amount::part(all) as u32).div_ceil(limits.len() as u32);
    let made = limits.iter().copied().enumerate().map(|(number, limits)| {
        let own = format!("tests/labelled/{grammar}.ebnf");
        let path = if Path::new(env!("CARGO_MANIFEST_DIR")).join(&own).exists() { own } else { grammar.to_string() };
        let has_any_byte = ["codings", "ipv4", "png", "tar", "values", "zip"].contains(&grammar);
        let separator = if has_any_byte { &["--separator", "len32"][..] } else { &[] };
        // The shortest image and the shortest archive have more bytes than the shortest limit.
        let limits = if ["png", "zip"].contains(&grammar) && number == 0 { &["--max-len", "200"][..] } else { limits };
        documents_from(&path, count, &[limits, separator].concat(), &format!("labelled-{grammar}-{number}"))
    });
    made.collect()
}

#[test]
fn documents_with_names_are_well_formed_xml() {
    for path in documents("xml") {
        judge("xml_judge.py", &[], 100, &path);
        judge("xml_judge.py", &["--xmllint"], 100, &path);
    }
}

#[test]
fn tables_have_equal_columns() {
    for path in documents("csv") {
        judge("csv_judge.py", &["--columns"], 100, &path);
    }
}

#[test]
fn lengths_of_values_are_right() {
    for path in documents("values") {
        judge("values_judge.py", &[], 100, &path);
    }
}

#[test]
fn coded_texts_are_decoded() {
    for path in documents("codings") {
        judge("codings_judge.py", &[], 100, &path);
    }
}

#[test]
fn archives_are_read_up_to_their_ends() {
    for path in documents("tar") {
        judge("tar_judge.py", &[], 100, &path);
        judge("tar_judge.py", &["--tar"], 100, &path);
    }
}

#[test]
fn directories_of_archives_are_those_of_their_entries() {
    for path in documents("zip") {
        judge("zip_judge.py", &[], 100, &path);
        judge("zip_judge.py", &["--unzip"], 100, &path);
    }
}

#[test]
fn images_are_loaded() {
    for path in documents("png") {
        judge("png_judge.py", &[], 100, &path);
        judge("png_judge.py", &["--pngcheck"], 100, &path);
    }
}

#[test]
fn lines_of_blocks_have_one_indentation() {
    for path in documents("blocks") {
        judge("python_judge.py", &["--syntax"], 100, &path);
    }
}

#[test]
fn checksums_of_headers_are_right() {
    for path in documents("ipv4") {
        judge("ipv4_judge.py", &[], 100, &path);
    }
}

#[test]
fn mutants_of_documents_with_names_are_well_formed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labelled-documents");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let all = documents_from("tests/labelled/xml.ebnf", 40, LIMITS[1], "labelled-documents.nul");
    let text = std::fs::read(all).expect("the documents were written");
    let mut files = Vec::new();
    for (number, document) in text.split(|&byte| byte == 0).filter(|document| !document.is_empty()).enumerate() {
        files.push(folder.join(format!("{number}.xml")));
        std::fs::write(&files[number], document).expect("the folder can be written to");
    }
    let (output, count) = (folder.join("mutants.nul"), amount::part(10_000).to_string());
    let status = Command::new(env!("CARGO_BIN_EXE_gramjet"))
        .args(["mutate", "tests/labelled/xml.ebnf", "-n", &count, "--seed", "5", "--separator", "nul", "-o"])
        .arg(&output)
        .args(&files)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("the binary runs");
    assert!(status.success());
    // Prefixes are read and taken over, but not declared.
    judge("xml_judge.py", &["--no-namespaces"], 100, &output);
}
