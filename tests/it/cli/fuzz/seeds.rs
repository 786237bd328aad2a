//! Texts that `gramjet fuzz` begins with, of grammars with labels.

use std::fs;

use super::super::{place, text};
use super::{failures, run_in};

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
    if !gramjet_needs::has_for_a_part("cc") {
        return;
    }
    let place = place("fuzz-seeds-labels");
    fs::write(place.path("g.ebnf"), "file ::= $dec(len(name)) ':' name:([a-z]*)\n").unwrap();
    fs::write(place.path("lengths.c"), LENGTHS).unwrap();
    let built = std::process::Command::new("cc")
        .args([&place.path("lengths.c"), "-o", &place.path("lengths")])
        .status()
        .expect("cc runs");
    assert!(built.success());
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
