//! Programs that tests need from outside, and the commands that documents show.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Returns true if a program can be run with these arguments. Otherwise the test skips the parts that need it, and is
/// counted among those that were run in part.
pub fn has(program: &str, arguments: &[&str]) -> bool {
    let is_there = Command::new(program).args(arguments).output().is_ok();
    if !is_there {
        gramjet_needs::lacks_for_a_part(program);
    }
    is_there
}

/// Returns the standard output of a program that must succeed.
pub fn succeeds(output: &Output) -> String {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?}\n{stdout}\n{stderr}", output.status);
    stdout.into_owned()
}

/// Returns the blocks of a Markdown document that are marked as `sh`.
pub fn shell_blocks(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).unwrap_or_else(|error| panic!("{}: {error}", document.display()));
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match &mut open {
            Some(block) if line.starts_with("```") => {
                blocks.push(std::mem::take(block));
                open = None;
            }
            Some(block) => *block += &format!("{line}\n"),
            None if line.trim_end() == "```sh" => open = Some(String::new()),
            None => {}
        }
    }
    blocks
}

/// Runs the `sh` blocks of a document in an empty directory with links to `links` of the workspace, with each `from`
/// replaced by its `to`. Returns their output.
pub fn run_shell_blocks(document: &Path, directory: &Path, links: &[&str], replaced: &[(&str, &str)]) -> String {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).expect("a directory");
    let root = document.parent().and_then(Path::parent).expect("the workspace");
    for link in links {
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join(link), directory.join(link)).expect("a link");
    }
    let mut script = shell_blocks(document).concat();
    assert!(!script.is_empty(), "no commands in {}", document.display());
    for (from, to) in replaced {
        assert!(script.contains(from), "`{from}` is not in {}", document.display());
        script = script.replace(from, to);
    }
    let output = Command::new("sh").args(["-ec", &script]).current_dir(directory).output().expect("a shell");
    succeeds(&output)
}
