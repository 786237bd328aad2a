//! Blocks of pages that are marked `sh` or `bash` are run, too: with the files of a reader, who has a parser, a module
//! and some grammars. Runs that would take minutes take seconds. A block that is not run says why, in a comment on the
//! line before it: `<!-- not run: REASON -->`. Blocks marked `console,built` are run here, and print what they say.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use gramjet_testkit::tools::has;

use super::{Block, blocks, folder, has_words, pages, read, root, run};

/// Pages whose blocks are run by other tests or scripts, which name the page.
const ELSEWHERE: [(&str, &str); 4] = [
    ("docs/afl.md", "integrations/afl/tests/it/fuzzer.rs"),
    ("docs/c.md", "integrations/c/tests/it/programs.rs"),
    ("docs/libafl.md", "ci/libafl-smoke"),
    ("docs/libfuzzer.md", "ci/libfuzzer-smoke"),
];

/// Amounts that take minutes, and those that the tests take in their place.
const AMOUNTS: [(&str, &str); 7] = [
    ("--time 10m", "-n 300"),
    ("--time 30s", "--time 1s"),
    ("--bytes 10G", "--bytes 10M"),
    ("-n 1M", "-n 10k"),
    ("--study 0s", ""),
    ("--edge-budget 100M", "--edge-budget 20k"),
    ("--release", ""),
];

/// Gives searches without an end one, by runs and not by time: machines may be busy. Only what looks for failures may
/// end with status 1, as it finds some.
const PRELUDE: &str = r#"
gramjet() {
    name=$1
    shift
    case " $* " in
    *" -n "* | *" --edge-budget "*) ends= ;;
    *) ends="-n 300" ;;
    esac
    case $name in
    fuzz | evolve) set -- $ends "$@" ;;
    search) set -- $ends --study 1s "$@" ;;
    infer) set -- --max-tests 300 "$@" ;;
    *) set -- "$@" ;;
    esac
    status=0
    command gramjet "$name" "$@" || status=$?
    case $name in
    fuzz | evolve) [ $status -le 1 ] ;;
    *) return $status ;;
    esac
}
"#;

/// The reader's project in Rust.
const PROJECT: &str = "[package]\nname = \"my-project\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";

/// Returns true if a block has commands of a shell, without what they print.
fn is_shell(block: &Block<'_>) -> bool {
    ["sh", "bash"].contains(&block.mark)
}

/// Returns true if a block is run by the tests of this file.
fn is_run(page: &str, block: &Block<'_>) -> bool {
    block.mark == "console,built" || is_shell(block) && reason(page, block).is_none()
}

/// Returns why a block is not run, if it says so.
fn reason<'p>(page: &'p str, block: &Block<'_>) -> Option<&'p str> {
    let before = page.lines().nth(block.line.checked_sub(3)?)?;
    before.strip_prefix("<!-- not run: ")?.strip_suffix(" -->").filter(|reason| !reason.is_empty())
}

/// Copies the files of a folder and of the folders in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the reader's files") {
        let entry = entry.expect("a file");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else if !to.exists() {
            fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

/// Returns a folder with the files of a page and those of the reader.
fn readers(page: &str, blocks: &[Block<'_>]) -> PathBuf {
    let folder = folder(&format!("shell/{page}"), blocks);
    copy(&root().join("tests/it/pages/reader"), &folder);
    fs::set_permissions(folder.join("configure"), fs::Permissions::from_mode(0o755)).expect("a program");
    project(&folder);
    let built = Command::new("cc").args(["-O1", "my-parser.c", "-o", "my-parser"]).current_dir(&folder).status();
    assert!(built.expect("a compiler").success(), "the reader's program does not compile");
    folder
}

/// Makes the reader's project, or completes that of the page: with the versions of this repository, beside a clone.
fn project(folder: &Path) {
    let manifest = fs::read_to_string(folder.join("Cargo.toml"));
    fs::create_dir_all(folder.join("src")).expect("a folder");
    if let Ok(of_page) = manifest {
        fs::write(folder.join("Cargo.toml"), of_page + "\n[workspace]\n").expect("a manifest");
        fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("a copy");
        // Another page may have made it.
        let _ = std::os::unix::fs::symlink(root(), folder.with_file_name("gramjet"));
    } else {
        fs::write(folder.join("Cargo.toml"), PROJECT).expect("a manifest");
        fs::write(folder.join("src/main.rs"), "fn main() {}\n").expect("a program");
    }
}

/// Runs commands that build a project, and returns the first one that prints other words than the page says.
fn differing(page: &str, block: &Block<'_>, folder: &Path) -> Option<String> {
    block.commands().into_iter().find_map(|(command, says)| {
        let printed = run(&format!("export CARGO_TARGET_DIR='{}'; {command}", folder.join("built").display()), folder);
        (!has_words(says, &printed)).then(|| format!("{page}:{}: {command}\n{printed}", block.line))
    })
}

/// Runs the blocks of a page one after the other, and returns those that fail, with what they print.
fn failing(page: &str, text: &str) -> Vec<String> {
    let blocks = blocks(text);
    let folder = readers(page, &blocks);
    let binary = Path::new(env!("CARGO_BIN_EXE_gramjet")).parent().expect("the binary is in a directory");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut failing = Vec::new();
    for block in blocks.iter().filter(|block| is_run(text, block)) {
        if !is_shell(block) {
            failing.extend(differing(page, block, &folder));
            continue;
        }
        let commands = AMOUNTS.iter().fold(block.text.to_string(), |commands, (from, to)| commands.replace(from, to));
        let output = Command::new("bash")
            .args(["-eo", "pipefail", "-c", &format!("{PRELUDE}\n{{\n{commands}\n}} 2>&1")])
            .current_dir(&folder)
            .env("PATH", &path)
            .env("NO_COLOR", "1")
            .env("CARGO_TARGET_DIR", folder.join("built"))
            .output()
            .expect("a shell");
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stdout);
            let last: Vec<&str> = said.lines().rev().take(10).collect();
            failing.push(format!("{page}:{}: {}\n{}", block.line, output.status, last.join("\n")));
        }
    }
    failing
}

#[test]
#[ignore = "run by ci/test"]
fn commands_of_a_shell_work() {
    let needed = [("cc", "--version"), ("python3", "--version"), ("bc", "--version"), ("make", "--version")];
    if !needed.iter().all(|(program, argument)| has(program, &[argument])) {
        return;
    }
    let texts: Vec<(String, String)> = pages().into_iter().map(|page| (page.clone(), read(&page))).collect();
    let has_some = |page: &str, text: &str| {
        let has_some = blocks(text).iter().any(|block| is_run(text, block));
        has_some && !ELSEWHERE.iter().any(|(elsewhere, _)| *elsewhere == page)
    };
    let found: Vec<String> = std::thread::scope(|scope| {
        let run = texts.iter().filter(|(page, text)| has_some(page, text));
        let begun: Vec<_> = run.map(|(page, text)| scope.spawn(|| failing(page, text))).collect();
        assert!(begun.len() > 10, "{}", begun.len());
        begun.into_iter().flat_map(|page| page.join().expect("the commands of a page")).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn at_most_one_block_in_ten_is_not_run() {
    let (mut run, mut not_run) = (0, Vec::new());
    for page in pages() {
        let text = read(&page);
        for block in blocks(&text) {
            if block.mark.is_empty() && page != "docs/cli.md" {
                panic!("{page}:{}: say what this is: `sh`, `console`, `text`", block.line);
            }
            match reason(&text, &block) {
                Some(reason) if is_shell(&block) => not_run.push(format!("{page}:{}: {reason}", block.line)),
                Some(_) => panic!("{page}:{}: only blocks of `sh` and `bash` can be left out", block.line),
                None => run += u32::from(is_shell(&block) || block.mark.starts_with("console")),
            }
        }
    }
    println!("{run} are run. Not run:\n{}", not_run.join("\n"));
    assert!(not_run.len() * 9 <= run as usize, "{run} are run; not run:\n{}", not_run.join("\n"));
}

#[test]
fn what_runs_blocks_elsewhere_names_the_page() {
    for (page, by) in ELSEWHERE {
        assert!(read(by).contains(page), "{by} does not name {page}");
        assert!(blocks(&read(page)).iter().any(is_shell), "{page} has no blocks of `sh`");
    }
}

#[test]
fn a_comment_before_a_block_says_why_it_is_not_run() {
    let page =
        "<!-- not run: it takes an hour -->\n```sh\na\n```\n\n```sh\nb\n```\n<!-- not run:  -->\n```sh\nc\n```\n";
    let reasons: Vec<_> = blocks(page).iter().map(|block| reason(page, block)).collect();
    assert_eq!(reasons, [Some("it takes an hour"), None, None]);
}
