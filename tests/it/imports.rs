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
                path => files.push(path),
            }
        }
    }
    let module = |file: &PathBuf| {
        let path = file.strip_prefix(&root).expect("within").with_extension("");
        path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("::")
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
