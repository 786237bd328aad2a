//! The modules of the command import each other in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Returns for each module of the command those that it declares or names by `crate::` and `super::` paths, its tests
/// left out.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli");
    let (mut files, mut folders): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path {
                path if path.is_dir() => folders.push(path),
                path if path.ends_with("tests.rs") => {}
                path if path.extension().is_some_and(|end| end == "rs") => files.push(path),
                _ => {}
            }
        }
    }
    let module = |file: &PathBuf| {
        let path = file.strip_prefix(&root).expect("within").with_extension("");
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        parts.strip_suffix(&["mod".into()]).unwrap_or(&parts).join("::")
    };
    let modules: BTreeSet<String> = files.iter().map(module).collect();
    let named_by = |file: &PathBuf| {
        let (name, text) = (module(file), std::fs::read_to_string(file).expect("a text"));
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let parent = name.rsplit_once("::").map_or("", |(parent, _)| parent);
        let within = if name == "main" { String::new() } else { format!("{name}::") };
        let paths = text.split("crate::").skip(1).map(str::to_string);
        let paths = paths.chain(text.split(" super::").skip(1).map(|path| format!("{parent}::{path}")));
        let declared = text.lines().map(|line| line.trim_start_matches("pub "));
        let declared = declared.filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
        let paths = paths.chain(declared.map(|child| format!("{within}{child}")));
        // A path names a module, then what is in it.
        let longest = |path: String| {
            let end = path.find(|c: char| !c.is_alphanumeric() && !"_:".contains(c)).unwrap_or(path.len());
            let parts: Vec<&str> = path[..end].split("::").collect();
            (1..=parts.len()).rev().map(|len| parts[..len].join("::")).find(|path| modules.contains(path))
        };
        let named = paths.filter_map(longest).filter(|other| *other != name).collect();
        (name, named)
    };
    files.iter().map(named_by).collect()
}

#[test]
fn modules_of_the_command_do_not_import_each_other_in_a_circle() {
    let imports = imports();
    let reached = |from: &str| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from.to_string()]);
        while let Some(module) = open.pop() {
            open.extend(imports[&module].iter().filter(|next| reached.insert((*next).clone())).cloned());
        }
        reached
    };
    // This finds all modules of the command.
    assert_eq!(reached("main").len(), imports.len() - 1);
    let circular: Vec<&String> = imports.keys().filter(|module| reached(module).contains(*module)).collect();
    assert!(circular.is_empty(), "{circular:?}");
}

/// Folders of the code of libraries.
const LIBRARIES: [&str; 13] = [
    "compiler",
    "runtime",
    "engine",
    "engine/parse",
    "engine/session",
    "feedback/campaign",
    "feedback/harness",
    "feedback/infer",
    "feedback/search",
    "integrations/afl",
    "integrations/c",
    "integrations/libafl",
    "integrations/python",
];
/// Greatest number of modules of a library that import each other in a circle.
const MOST_IN_CIRCLE: usize = 2;

/// Returns the modules that the text of a module names by paths from the crate, from itself or from the one above. A
/// module may use what the one above declares, so a declaration is no import here.
fn named(module: &str, text: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let own: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
    let text: String =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut named = BTreeSet::new();
    for (at, _) in text.match_indices("::") {
        let before = &text[..at];
        let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        // A path begins here, unless another part stands before it.
        if before[..before.len() - word.len()].ends_with("::") {
            continue;
        }
        let (mut base, mut rest) = match word {
            "crate" => (Vec::new(), &text[at + 2..]),
            "self" => (own.clone(), &text[at + 2..]),
            "super" => (own[..own.len().saturating_sub(1)].to_vec(), &text[at + 2..]),
            _ => continue,
        };
        while let Some(after) = rest.strip_prefix("super::") {
            base.pop();
            rest = after;
        }
        let of_name = |c: char| c.is_alphanumeric() || c == '_';
        while let Some((part, after)) = rest.split_once("::").filter(|(part, _)| part.chars().all(of_name)) {
            base.push(part);
            rest = after;
        }
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default().split(',').map(str::trim).collect(),
            None => vec![rest],
        };
        for name in names {
            let parts = name.split("::").map(|part| part.split(|c| !of_name(c)).next().unwrap_or_default());
            let path: Vec<&str> = base.iter().copied().chain(parts).collect();
            let longest = (1..=path.len()).rev().map(|len| path[..len].join("::")).find(|path| modules.contains(path));
            named.extend(longest.filter(|other| other != module));
        }
    }
    named
}

/// Returns the circles of a library that are too large.
fn circles(root: &Path) -> Vec<Vec<String>> {
    let (mut texts, mut folders) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let is_code = path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs");
            if path.is_dir() {
                folders.push(path);
            } else if is_code && !path.iter().any(|part| part == "tests") {
                let name = path.strip_prefix(root).expect("within").with_extension("");
                let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
                let parts = parts.strip_suffix(&["mod".into()]).unwrap_or(&parts);
                let name = if parts == ["lib"] || parts == ["main"] { String::new() } else { parts.join("::") };
                let text = std::fs::read_to_string(&path).expect("a text");
                texts.insert(name, text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_string());
            }
        }
    }
    let modules: BTreeSet<String> = texts.keys().cloned().collect();
    let imports: BTreeMap<&String, BTreeSet<String>> =
        texts.iter().map(|(name, text)| (name, named(name, text, &modules))).collect();
    let reached = |from: &String| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            open.extend(imports[&module].iter().filter(|next| reached.insert((*next).clone())).cloned());
        }
        reached
    };
    let all: BTreeMap<&String, BTreeSet<String>> = modules.iter().map(|module| (module, reached(module))).collect();
    let circle = |module: &String| all[module].iter().filter(|other| all[*other].contains(module)).cloned().collect();
    let circles: BTreeSet<Vec<String>> = modules.iter().map(circle).collect();
    circles.into_iter().filter(|circle| circle.len() > MOST_IN_CIRCLE).collect()
}

#[test]
fn circles_of_modules_of_libraries_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for library in LIBRARIES {
        let circles = circles(&root.join(library).join("src"));
        assert!(circles.is_empty(), "{library}: {circles:?}");
    }
}

/// A strategy of the library then needs no more than one of a caller.
#[test]
fn campaigns_do_not_know_the_published_strategies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("feedback/campaign/src");
    let (mut folders, mut read) = (vec![root.clone()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.extend((path != root.join("strategies")).then_some(path));
            } else if !path.ends_with("src/strategies.rs") {
                let text = std::fs::read_to_string(&path).expect("a text");
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let named: Vec<&str> = code.filter(|line| line.contains("strategies::")).collect();
                assert!(named.is_empty(), "{}: {named:?}", path.display());
                read += 1;
            }
        }
    }
    assert!(read > 20, "{read}");
}

#[test]
fn imports_are_found_in_all_their_forms() {
    let modules: BTreeSet<String> = ["a", "a::b", "a::c", "d", "d::e"].map(String::from).into();
    let found = |text: &str| named("a::b", text, &modules).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(found("use super::c::X;"), "a::c");
    assert_eq!(found("use super::{Y, c};"), "a a::c");
    assert_eq!(found("use crate::d::{self, e::Z};"), "d d::e");
    assert_eq!(found("let x = super::super::d::e::f(); // crate::a::c"), "d::e");
    assert_eq!(found("use std::a::c;"), "");
}
