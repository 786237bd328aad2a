//! The README's picture of a session has the lines that its commands print.

use std::process::Command;

use gramjet_testkit::tools::has;

use super::root;

#[test]
fn the_picture_shows_what_its_commands_print() {
    if !has("cc", &["--version"]) || !has("python3", &["--version"]) {
        return;
    }
    let check = Command::new(root().join("ci/session"))
        .arg("--check")
        .env("GRAMJET", env!("CARGO_BIN_EXE_gramjet"))
        .output()
        .expect("the script");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}
