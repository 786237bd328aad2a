//! Tests of what a first build of the command builds, as far as it can be held without a clock. `docs/testing.md` has
//! the bars on time, and `benches/notes` what each package took.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Returns what `cargo tree` says of each package that a build of the command needs on x86-64 under Linux.
fn tree(format: &str) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--locked", "--package", "gramjet-cli", "--edges", "normal,build"])
        .args(["--target", "x86_64-unknown-linux-gnu", "--prefix", "none", "--format", format])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names")
}

/// Returns names and versions.
fn packages() -> BTreeSet<(String, String)> {
    let packages = tree("{p}");
    let packages = packages.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?.to_string(), words.next()?.to_string()))
    });
    packages.collect()
}

#[test]
fn the_command_is_built_from_few_packages_in_one_version_each() {
    let packages = packages();
    assert!(packages.len() <= 98, "{} packages: {packages:?}", packages.len());
    let names: BTreeSet<&str> = packages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), packages.len(), "two versions of a package: {packages:?}");
    // Each of these took seconds for work that is done otherwise.
    for name in ["flate2", "iced-x86", "indicatif", "plotters", "proc-macro-error3", "typed-arena"] {
        assert!(!names.contains(name), "{name}");
    }
    // The project is to build on these.
    for name in ["clap", "dynasm", "memmap2", "proc-macro2", "quote", "rand_xoshiro", "syn"] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn macros_and_the_command_share_a_build_of_syn() {
    let tree = tree("{p} {f}");
    let builds: BTreeSet<&str> =
        tree.lines().filter(|line| line.starts_with("syn ")).map(|line| line.trim_end_matches(" (*)")).collect();
    assert_eq!(builds.len(), 1, "{builds:?}");
}
