//! Surveys of the processor time of long texts.

use super::functions::has_python;
use super::*;

/// Regular expressions of Python work where nothing is counted. Times that double with each byte are seen on any
/// machine.
#[test]
#[ignore = "run by ci/test"]
fn work_that_counts_nothing_is_found_by_its_time() {
    if !has_python() {
        return;
    }
    let place = place("search-survey");
    fs::write(place.path("words.ebnf"), "text ::= word (' ' word)* '.'?  word ::= [a-z]+").unwrap();
    fs::write(place.path("subject.py"), "import re\n\ndef words(text):\n    return re.match(r'^(\\w+\\s?)*$', text)\n")
        .unwrap();
    let search = |out: &str, survey: &str| {
        let _ = fs::remove_dir_all(place.path(out));
        let options =
            ["search", "words.ebnf", "-n", "200", "--survey", survey, "--study", "2s", "--text", "--no-progress"];
        let found = run_in(&place, &[&options[..], &["-o", out, "--", "python:subject.py:words"]].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        text(&found.stderr).to_string()
    };
    let expected = "Exponential in processor time, and not in what is counted, in the number of copies of `";
    // A machine with much else to do may need longer.
    let is_found = |said: &String| said.contains(expected);
    let said = Some(search("found", "30s")).filter(is_found).unwrap_or_else(|| search("found", "120s"));
    assert!(is_found(&said), "{said}");
    assert!(said.contains(", at subject.py:4 (words): "), "{said}");
    // The texts of the family are there to be run again.
    let families = fs::read_dir(place.path("found/growth")).unwrap().map(|entry| entry.unwrap().path().join("about"));
    let about: Vec<String> = families.filter_map(|about| fs::read_to_string(about).ok()).collect();
    assert!(about.iter().any(|about| about.starts_with("copies of `")), "{about:?}");
    assert!(!search("without", "0s").contains("Exponential"));
}
