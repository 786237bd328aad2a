//! AFL++ with the custom mutator, for some seconds each. `GRAMJET_AFL_FUZZ` names the programs to run, with colons
//! between them; by default it is `afl-fuzz`. Targets are built with `afl-clang-fast`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gramjet_session::{Language, Settings};
use gramjet_testkit::tools::{has, run_shell_blocks, succeeds};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace")
}

/// Returns the path of the custom mutator, which cargo has put next to this test.
fn library() -> PathBuf {
    let folder = std::env::current_exe().expect("this test").parent().expect("a directory").to_path_buf();
    let library = folder.join("libgramjet_afl.so");
    assert!(library.exists(), "{} is missing", library.display());
    library
}

/// Returns the versions of AFL++ that are there.
fn versions() -> Vec<String> {
    let asked = std::env::var("GRAMJET_AFL_FUZZ").unwrap_or_else(|_| "afl-fuzz".to_string());
    asked.split(':').filter(|program| has(program, &["-h"])).map(str::to_string).collect()
}

fn directory(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// Returns a program of `tests/planted`, built for AFL++; `None` if that is not possible here.
fn target(program: &str, directory: &Path) -> Option<PathBuf> {
    if !has("afl-clang-fast", &["--version"]) {
        return None;
    }
    let target = directory.join(program);
    let source = root().join(format!("tests/planted/{program}.c"));
    let output = Command::new("afl-clang-fast").args(["-O1", "-DHARMLESS", "-o"]).arg(&target).arg(source).output();
    succeeds(&output.expect("afl-clang-fast runs"));
    Some(target)
}

fn afl_fuzz(version: &str) -> Command {
    let mut command = Command::new(version);
    command.env_remove("GRAMJET_AFL_FUZZ").env_remove("GRAMJET_REQUIRE_JUDGES").env_remove("GRAMJET_BLESS");
    for name in ["AFL_NO_UI", "AFL_NO_AFFINITY", "AFL_SKIP_CPUFREQ", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES"] {
        command.env(name, "1");
    }
    command.env("AFL_FRAMESHIFT_DISABLE", "1").env("AFL_CUSTOM_MUTATOR_ONLY", "1");
    command.env("AFL_CUSTOM_MUTATOR_LIBRARY", library());
    command
}

fn statistic(out: &Path, name: &str) -> u64 {
    let text = fs::read_to_string(out.join("default/fuzzer_stats")).expect("statistics");
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
    let value = line.and_then(|line| line.split(':').nth(1)).expect("the statistic");
    value.trim().parse().expect("a number")
}

/// The queue holds texts of the grammar only, found by the operations of the mutator; restarts go on with it.
#[test]
#[ignore = "run by ci/test"]
fn the_queue_holds_texts_of_the_grammar() {
    let directory = directory("fuzz");
    let Some(target) = target("json", &directory) else { return };
    let language = Language::load("json".as_ref(), &Settings::default()).expect("json ships");
    for (number, version) in versions().iter().enumerate() {
        let out = directory.join(format!("out{number}"));
        let run = |input: &Path| {
            let mut command = afl_fuzz(version);
            command
                .env("GRAMJET_GRAMMAR", "json")
                .arg("-i")
                .arg(input)
                .arg("-o")
                .arg(&out)
                .args(["-s", "7", "-V", "6"]);
            succeeds(&command.arg("--").arg(&target).output().expect("afl-fuzz runs"))
        };
        run(&root().join("tests/planted/seeds/json"));
        assert!(statistic(&out, "execs_done") > 500 && statistic(&out, "corpus_count") > 10);
        assert_eq!(statistic(&out, "saved_crashes"), 0);
        let mut found = 0;
        let entries = fs::read_dir(out.join("default/queue")).expect("a queue").flatten();
        for entry in entries.map(|entry| entry.path()).filter(|path| path.is_file()) {
            let name = entry.file_name().expect("a name").to_string_lossy().into_owned();
            let text = fs::read(&entry).expect("an entry");
            // Seeds can be anything.
            assert!(name.contains("orig:") || language.parse(&text).is_ok(), "{version} {name}");
            let operations = ["havoc", "redraw", "splice", "repeat", "collapse", "swap", "delete", "fresh"];
            found += usize::from(operations.iter().any(|operation| name.contains(operation)));
        }
        assert!(found > 5, "{version} {found}");
        assert!(fs::read_dir(out.join("default/choices")).is_ok_and(|streams| streams.count() > 5), "{version}");
        // Of the seeds that ship for this program all conform.
        let seeds = fs::read_to_string(out.join("default/gramjet_seeds")).expect("a report on the seeds");
        assert!(seeds.starts_with("[+] gramjet: all seeds conform to the grammar"), "{version}: {seeds}");
        run(Path::new("-"));
    }
}

#[test]
#[ignore = "run by ci/test"]
fn what_is_wrong_ends_the_fuzzer_with_a_message() {
    let directory = directory("wrong");
    let Some(target) = target("json", &directory) else { return };
    let wrong = directory.join("wrong.ebnf");
    fs::write(&wrong, "a ::= b").expect("a file");
    let wrong = wrong.display().to_string();
    let cases = [
        ("GRAMJET_START", "x", "GRAMJET_GRAMMAR is not set"),
        ("GRAMJET_GRAMMAR", "no-such", "grammar `no-such` not found"),
        ("GRAMJET_GRAMMAR", wrong.as_str(), "rule `b` is not defined"),
        ("GRAMJET_ENGINE", "turbo", "GRAMJET_ENGINE: unknown engine `turbo`"),
    ];
    for version in versions() {
        for (name, value, message) in cases {
            let mut command = afl_fuzz(&version);
            command.env(name, value).arg("-i").arg(root().join("tests/planted/seeds/json")).arg("-o");
            command.arg(directory.join("out")).args(["-V", "5", "--"]).arg(&target);
            let output = command.output().expect("afl-fuzz runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains(message), "{version} {name}: {said}");
        }
    }
}

/// The commands of the page, with AFL++ for some seconds instead of for ever.
#[test]
#[ignore = "run by ci/test"]
fn the_commands_of_the_page_work() {
    if versions().is_empty() || !has("afl-clang-fast", &["--version"]) {
        return;
    }
    let library = library().display().to_string();
    let printed = run_shell_blocks(
        &root().join("docs/afl.md"),
        &directory("page"),
        &["tests", "grammars"],
        &[
            ("cargo build --release -p gramjet-afl", ":"),
            ("$PWD/target/release/libgramjet_afl.so", &library),
            (
                "afl-fuzz -i",
                "AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 afl-fuzz -V 3 -i",
            ),
        ],
    );
    assert!(printed.contains("We're done here"), "{printed}");
}
