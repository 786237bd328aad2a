//! The promises of `.github/SECURITY.md`: each has a test, and the test is there.

use std::fs;
use std::path::Path;

#[test]
fn each_promise_has_a_test_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join(".github/SECURITY.md")).expect("the page");
    let (promises, _) = page.split_once("## Not promised").expect("the part with promises");
    let rows: Vec<&str> =
        promises.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| test |")).collect();
    assert!(rows.len() >= 20, "{}", rows.len());
    for row in rows {
        let tests: Vec<(&str, &str)> = row.split('`').filter_map(|part| part.split_once("::")).collect();
        assert!(!tests.is_empty(), "no test: {row}");
        for (file, name) in tests {
            let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let before = text.find(&format!("fn {name}(")).map(|at| &text[..at]);
            let is_test =
                before.and_then(|before| before.rsplit("\n\n").next()).is_some_and(|own| own.contains("#[test]"));
            assert!(is_test, "{file} has no test {name}");
        }
    }
}
