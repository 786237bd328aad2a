//! Constants in the files of programs.

use std::env;
use std::fs;
use std::process::Command;

use gramjet_harness::words_of;

use crate::kit::place;

const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *const names[] = {"alpha", "__proto__"};
int main(int argc, char **argv) {
    char text[100] = "";
    if (!fgets(text, sizeof text, stdin)) puts("there is no line");
    if (getenv("HOME") && fopen("/etc/hosts", "r")) printf("%s\\n", names[argc % 2]);
    if (!strcmp(text, "open-sesame") || !strncmp(text, "printf", 6)) abort();
    return 0;
}
"#;

#[test]
fn a_program_has_the_words_of_its_read_only_data() {
    let place = place("constants");
    fs::write(place.join("magic.c"), SOURCE).expect("a file");
    let compiler = env::var_os("CC").unwrap_or("cc".into());
    let built = Command::new(compiler).args(["-O1", "magic.c", "-o", "magic"]).current_dir(&place).status();
    assert!(built.expect("a compiler").success());
    let words = words_of(&place.join("magic"));
    for word in ["alpha", "__proto__", "open-sesame"] {
        assert!(words.iter().any(|known| known == word.as_bytes()), "{word}: {words:?}");
    }
    assert!(words.len() <= 4, "{words:?}");
    assert!(words_of(&place.join("magic.c")).is_empty());
}
