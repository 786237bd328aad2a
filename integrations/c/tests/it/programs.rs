//! C programs against the libraries: by themselves, with AddressSanitizer and its leak check, and under valgrind.
//! Parts that need a missing tool are left out, unless `GRAMJET_REQUIRE_JUDGES` is set.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gramjet_testkit::tools::{has, run_shell_blocks, succeeds};

/// Returns the path of the libraries, which cargo has put next to this test. The file has a hash in its name or not;
/// the newest one is meant.
fn library(ending: &str) -> PathBuf {
    let folder = std::env::current_exe().expect("this test").parent().expect("a directory").to_path_buf();
    let entries = fs::read_dir(&folder).expect("a directory").flatten().map(|entry| entry.path());
    let found = entries.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libgramjet_c") && name.ends_with(ending)
    });
    let age = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    found.max_by_key(age).unwrap_or_else(|| panic!("no libgramjet_c*{ending} in {}", folder.display()))
}

/// Builds a program with gcc; `None` without gcc.
fn build(source: &str, name: &str, flags: &[&str], library: &Path) -> Option<PathBuf> {
    if !has("gcc", &["--version"]) {
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new("gcc")
        .args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-g", "-I"])
        .arg(root.join("include"))
        .args(flags)
        .arg(root.join(source))
        .arg("-o")
        .arg(&program)
        .arg(library)
        .args(["-lpthread", "-ldl", "-lm"])
        .output()
        .expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn run(program: &Path, engine: &str) -> String {
    let mut command = Command::new(program);
    command.arg(engine).env("LD_LIBRARY_PATH", library(".so").parent().expect("a directory"));
    succeeds(&command.output().expect("the program runs"))
}

/// The output of the tour is the same on every engine, with both libraries, with and without a sanitizer.
#[test]
fn the_tour_prints_what_it_should() {
    let Some(program) = build("examples/tour.c", "tour-static", &[], &library(".a")) else { return };
    let printed = run(&program, "vm");
    let expected = "\
gramjet 0.1.0
status 2, and the text names the rule
shortest: 2 bytes
";
    assert!(printed.starts_with(expected), "{printed}");
    for part in [
        "parsed and rendered: [a,[b,[c,x]],[d,[[x]]],e]\n",
        "status 3 at byte 2: byte 2: expected \",\" or \"]\", found `;`\n",
        "1000 variants conform\nsmallest: [[x]]\ninstead of nonsense: fresh\n",
    ] {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }
    assert_eq!(printed.matches("generated: [").count(), 3);
    for engine in ["auto", "reference"] {
        assert_eq!(run(&program, engine), printed, "{engine}");
    }
    let Some(program) = build("examples/tour.c", "tour-shared", &[], &library(".so")) else { return };
    assert_eq!(run(&program, "auto"), printed);
    // Leaks are errors of AddressSanitizer.
    let Some(program) = build("examples/tour.c", "tour-asan", &["-fsanitize=address"], &library(".a")) else { return };
    assert_eq!(run(&program, "auto"), printed);
    assert_eq!(run(&program, "vm"), printed);
}

#[test]
fn misuse_is_told() {
    for (name, flags) in [("misuse", &[][..]), ("misuse-asan", &["-fsanitize=address,undefined"][..])] {
        let Some(program) = build("tests/misuse.c", name, flags, &library(".a")) else { return };
        for engine in ["auto", "vm"] {
            assert_eq!(run(&program, engine), "all calls said what they should\n");
        }
    }
}

/// The table interpreter: valgrind knows no instructions of AVX-512, which machine code may have.
#[test]
#[ignore = "run by ci/test"]
fn valgrind_finds_nothing() {
    for (source, name) in [("examples/tour.c", "tour-valgrind"), ("tests/misuse.c", "misuse-valgrind")] {
        let Some(program) = build(source, name, &[], &library(".a")) else { return };
        if !has("valgrind", &["--version"]) {
            return;
        }
        let output = Command::new("valgrind")
            .args(["--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"])
            .arg(&program)
            .arg("vm")
            .output()
            .expect("valgrind runs");
        succeeds(&output);
    }
}

/// The header is good for C++, too.
#[test]
fn the_header_is_good_for_cpp() {
    if !has("g++", &["--version"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join("header.cpp");
    fs::write(&source, "#include \"gramjet.h\"\nint main() { return gramjet_version() == nullptr; }\n")
        .expect("a file");
    let output = Command::new("g++")
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg(&source)
        .output()
        .expect("g++ runs");
    succeeds(&output);
}

/// The commands of the page.
#[test]
fn the_commands_of_the_page_work() {
    if !has("gcc", &["--version"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    let libraries = folder.with_extension("libraries");
    fs::create_dir_all(&libraries).expect("a directory");
    fs::copy(library(".a"), libraries.join("libgramjet_c.a")).expect("the static library");
    fs::copy(library(".so"), libraries.join("libgramjet_c.so")).expect("the shared library");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/c.md");
    let libraries = libraries.display().to_string();
    let replaced = [("cargo build --release -p gramjet-capi", ":"), ("target/release", libraries.as_str())];
    let printed = run_shell_blocks(&page.canonicalize().expect("the page"), &folder, &["integrations"], &replaced);
    assert_eq!(printed.matches("1000 variants conform").count(), 2, "{printed}");
}
