//! The README's console examples: each command is run, and prints what the README says. To renew what it says, run
//! `GRAMJET_BLESS=1 cargo test -p gramjet-cli --test it readme`.

use std::path::Path;
use std::process::Command;

/// Runs a command line in `directory`, with the built `gramjet` first in the path; returns what it printed.
fn run(line: &str, directory: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_gramjet")).parent().expect("the binary is in a directory");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("{line} 2>&1")])
        .current_dir(directory)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .output()
        .expect("a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn console_examples_print_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).expect("the README");
    let mut actual = String::new();
    let mut commands = 0;
    let mut in_console = false;
    for line in readme.split_inclusive('\n') {
        if line.starts_with("```") {
            in_console = line.trim_end() == "```console";
        } else if in_console {
            if let Some(command) = line.strip_prefix("$ ") {
                actual += line;
                actual += &run(command.trim_end(), &directory);
                commands += 1;
            }
            continue;
        }
        actual += line;
    }
    assert!(commands > 5);
    if std::env::var_os("GRAMJET_BLESS").is_some() {
        std::fs::write(&path, actual).expect("the workspace can be written");
    } else {
        let differs = actual.split('\n').zip(readme.split('\n')).find(|(actual, said)| actual != said);
        assert!(
            actual == readme,
            "the README is stale (printed, said: {differs:?}); run GRAMJET_BLESS=1 cargo test -p gramjet-cli --test it readme"
        );
    }
}
