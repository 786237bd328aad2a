//! Every crate that is meant for publishing has the usual files and fields, and its code reads no file outside of its
//! package. `ci/package` builds each from its package alone.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Returns the folders of the workspace's crates.
fn members() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("the manifest");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).expect("the members");
    members.split('"').skip(1).step_by(2).map(|member| root.join(member)).collect()
}

/// Returns the folders of the published crates.
fn published() -> Vec<PathBuf> {
    let libafl = Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations/libafl");
    let crates = members().into_iter().chain([libafl]);
    let published: Vec<PathBuf> = crates.filter(|folder| !has_line(&manifest_of(folder), "publish = false")).collect();
    assert!(published.len() > 10, "{published:?}");
    published
}

fn manifest_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest")
}

fn has_line(text: &str, wanted: &str) -> bool {
    text.lines().any(|line| line == wanted)
}

#[test]
fn published_crates_have_what_the_registry_shows() {
    for folder in published() {
        // The command's package is the repository, whose licences are in a folder.
        let is_root = folder == Path::new(env!("CARGO_MANIFEST_DIR")).join(".");
        let licences =
            if is_root { ["LICENSES/MIT.txt", "LICENSES/Apache-2.0.txt"] } else { ["LICENSE-MIT", "LICENSE-APACHE"] };
        for file in licences.into_iter().chain(["README.md"]) {
            let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
            assert!(text.len() > 100, "{} has no {file}", folder.display());
        }
        let manifest = manifest_of(&folder);
        for needed in ["\ndescription = ", "\nkeywords", "\ncategories", "\nrepository", "\nlicense"] {
            assert!(manifest.contains(needed), "{} has no{needed}", folder.display());
        }
        assert!(manifest.contains("[package.metadata.docs.rs]\nall-features = true\n"), "{}", folder.display());
    }
}

#[test]
fn published_code_reads_no_file_of_another_package() {
    for folder in published() {
        // The command's code is next to the manifest of the workspace.
        let code = if folder.join("src").is_dir() { folder.join("src") } else { folder.join("cli") };
        for file in rust_files(&code) {
            let text = fs::read_to_string(&file).expect("a source file");
            for (line, path) in included(&text) {
                let path = lexical(&file.parent().expect("a file is in a folder").join(path));
                assert!(
                    path.starts_with(&folder),
                    "{}:{line}: {} is not in the package",
                    file.display(),
                    path.display()
                );
            }
        }
    }
}

/// Else cargo builds the compiler twice for a crate that has the macro and the engine.
#[test]
fn the_macro_and_the_engine_can_share_a_compiler() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of_macro = manifest_of(&root.join("compiler/macros"));
    let of_engine = manifest_of(&root.join("engine"));
    let asked = of_macro.lines().find(|line| line.starts_with("gramjet-compiler = ")).expect("it needs the compiler");
    let features = asked.split_once("features = [").and_then(|(_, rest)| rest.split_once(']')).expect("features").0;
    let shared: Vec<String> =
        features.split(',').map(|name| format!("\"gramjet-compiler/{}\"", name.trim().trim_matches('"'))).collect();
    let expected = format!("\nmacros = [{}]\n", shared.join(", "));
    assert!(of_engine.contains(&expected), "the engine has no{expected}");
}

/// A library that says that it has no tests is not built for them, so tests in it would not run.
#[test]
fn libraries_without_tests_have_none() {
    for folder in members() {
        let manifest = manifest_of(&folder);
        for (setting, beginnings) in
            [("test = false", ["#[test]", "#[cfg(test)]"]), ("doctest = false", ["/// ```", "//! ```"])]
        {
            let files = if has_line(&manifest, setting) { rust_files(&folder.join("src")) } else { Vec::new() };
            for file in files {
                let text = fs::read_to_string(&file).expect("a source file");
                let is_test = |line: &str| beginnings.iter().any(|beginning| line.trim_start().starts_with(beginning));
                assert_eq!(text.lines().find(|line| is_test(line)), None, "{}: {setting}", file.display());
            }
        }
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of source files") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Returns the beginnings of paths that are included relative to the file, with their lines.
fn included(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(number, line)| {
        let (_, after) = line.split_once("include_str!(").or_else(|| line.split_once("include_bytes!("))?;
        let path = after.trim_start_matches("concat!(").strip_prefix('"')?.split('"').next()?;
        Some((number + 1, path))
    })
}

/// Returns the path without `..`, as it is written: links are followed when a package is made.
fn lexical(path: &Path) -> PathBuf {
    let mut lexical = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(lexical.pop()),
            component => lexical.push(component),
        }
    }
    lexical
}

/// Greatest number of published crates.
const MOST: usize = 14;

#[test]
fn published_crates_are_few_and_stand_in_the_code_map() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/architecture.md")).expect("the page");
    let published = published();
    assert!(published.len() <= MOST, "{}: {published:?}", published.len());
    for folder in published {
        let manifest = manifest_of(&folder);
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).expect("a name").trim_matches('"');
        assert!(page.lines().any(|line| line.contains(&format!("| `{name}` |"))), "{name} is not in the code map");
    }
}
