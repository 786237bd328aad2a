//! Manifests in pages name the crates of this repository in a way that works.

use super::{blocks, pages, read};

/// Returns the pages and the crates' own READMEs.
fn documents() -> Vec<String> {
    let own = [
        "compiler/README.md",
        "compiler/macros/README.md",
        "engine/README.md",
        "engine/parse/README.md",
        "engine/session/README.md",
        "feedback/harness/README.md",
        "feedback/infer/README.md",
        "feedback/search/README.md",
        "grammars/README.md",
        "integrations/libafl/README.md",
        "runtime/README.md",
    ];
    pages().into_iter().chain(own.map(String::from)).collect()
}

/// No crate is on a registry yet, so a version alone finds none.
#[test]
fn dependencies_on_crates_of_this_repository_have_a_path_or_its_address() {
    let manifest = read("Cargo.toml");
    let address = manifest.lines().find_map(|line| line.strip_prefix("repository = ")).expect("the repository");
    let mut found = 0;
    for page in documents() {
        let text = read(&page);
        for block in blocks(&text) {
            let is_dependency = |line: &&str| line.starts_with("gramjet") && line.contains(" = ");
            for line in block.text.lines().filter(|line| block.mark == "toml" && is_dependency(line)) {
                let works = line.contains(&format!("git = {address}")) || line.contains("path = ");
                assert!(works, "{page}:{}: `{line}` has neither `git = {address}` nor a path", block.line);
                found += 1;
            }
        }
        let installs_by_name =
            |line: &str| line.contains("cargo install gramjet") || line.contains("cargo add gramjet");
        if page != "docs/releasing.md" {
            assert!(!text.lines().any(installs_by_name), "{page}: no registry has these crates");
        }
        assert!(!text.contains("docs.rs/gramjet"), "{page}: docs.rs has none of these crates");
    }
    assert!(found > 5);
}
