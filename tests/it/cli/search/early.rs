//! Searches that end once growth is proved.

use std::fs;

use super::super::{place, text};
use super::run_in;

/// Texts of small letters cost most, and their cost is linear. That of other texts is quadratic.
const TWO: &str = "
#include <unistd.h>
int main(void) {
    static char text[1 << 20];
    volatile int count = 0;
    int length = read(0, text, sizeof text);
    if (text[0] >= 'a')
        for (int i = 0; i < length; i++) for (int j = 0; j < 1000; j++) count++;
    else
        for (int i = 0; i < length; i++) for (int j = 0; j < i; j++) count++;
}
";

#[test]
#[ignore = "run by ci/test"]
fn growth_of_a_text_that_is_not_the_best_ends_a_search() {
    let place = place("search-early");
    fs::write(place.path("two.c"), TWO).unwrap();
    fs::write(place.path("two.ebnf"), "s ::= [a-z]+ | [A-Z]+\n").unwrap();
    let built = run_in(&place, &["cc", "-O1", "-g", "two.c", "-o", "two"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    let options = [
        "search",
        "two.ebnf",
        "--max-len",
        "20",
        "--no-progress",
        "-o",
        "out",
        "--survey",
        "0s",
        "--until-exponent",
        "1.5",
    ];
    let found = run_in(&place, &[&options[..], &["--time", "10m", "--", "./two"]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let said = text(&found.stderr);
    assert!(said.contains("growth faster than n^1.5 is proved"), "{said}");
    // What is proved is shown, too.
    assert!(
        said.lines().any(|line| line.starts_with("also hot at two.c:10") && line.contains("cost ~ n^2.0")),
        "{said}"
    );
}
