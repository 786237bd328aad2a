//! Texts that `gramjet fuzz` begins with.

use std::fs;
use std::path::Path;

use super::super::{place, text};
use super::{failures, planted, run_in};

#[test]
fn seeds_are_run_and_varied_where_they_conform() {
    let place = planted("fuzz-seeds");
    let seeds = place.path("seeds");
    fs::create_dir_all(&seeds).unwrap();
    fs::write(Path::new(&seeds).join("a"), "[ 1, {\"k\" : true} ]").unwrap();
    fs::write(Path::new(&seeds).join("b"), "[[[[ not JSON").unwrap();
    let options = ["fuzz", "json", "-n", "1", "-o", "out", "--seeds", "seeds", "--", "./planted", "@@"];
    let output = run_in(&place, &options);
    let said = text(&output.stderr);
    assert!(said.contains("2 files in `seeds`; 1 conforms to the grammar") && said.contains("b:1:"), "{said}");
    assert!(said.contains("signal 6 (SIGABRT); 4 bytes (from 13), not in the language"), "{said}");
}

/// A program that aborts at a right length before a name.
const LENGTHS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char name[64] = "";
    unsigned length = 0;
    if (scanf("%u:%63[a-z]", &length, name) == 2 && length == strlen(name) && !strcmp(name, "sesame")) abort();
    return 0;
}
"#;

#[test]
fn a_seed_with_a_wrong_length_is_used_with_the_right_one() {
    let place = place("fuzz-seeds-labels");
    fs::write(place.path("g.ebnf"), "file ::= $dec(len(name)) ':' name:([a-z]*)\n").unwrap();
    fs::write(place.path("lengths.c"), LENGTHS).unwrap();
    assert!(run_in(&place, &["cc", "lengths.c", "-o", "lengths"]).status.success());
    fs::create_dir_all(place.path("seeds")).unwrap();
    fs::write(place.path("seeds/wrong"), "99:sesame").unwrap();
    fs::write(place.path("seeds/other"), "?").unwrap();
    let options = ["fuzz", "g.ebnf", "-n", "1", "-o", "out", "--seeds", "seeds", "--broken", "never"];
    let found = run_in(&place, &[&options[..], &["--max-tests", "0", "--", "./lengths"]].concat());
    let said = text(&found.stderr);
    assert!(said.contains("2 files in `seeds`; 0 conform to the grammar"), "{said}");
    assert!(said.contains("1 text of them with the right copies, lengths, counts and checksums"), "{said}");
    assert_eq!(failures(&place.path("out")).len(), 1, "{said}");
}
