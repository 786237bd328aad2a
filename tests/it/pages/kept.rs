//! The page on the folder of a search describes all that a search leaves in its folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::read;

/// Returns the names in the first column of the table of the page.
fn described() -> Vec<String> {
    let page = read("docs/fuzz-folder.md");
    let table = page.split("| in `OUT` |").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("the table");
    let cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    let names = cells.flat_map(|cell| cell.split('`').step_by(2));
    names.map(|name| name.split('/').next().unwrap_or(name).to_string()).filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_page_names_all_entries_of_a_folder() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("program"), "#!/bin/sh\ngrep -q '\\[.*\\[' && kill -ABRT $$\nexit 0\n").expect("a program");
    let described = described();
    let searches: [&[&str]; 4] = [
        &["fuzz", "json", "-n", "60", "-o", "shared", "--name", "one"],
        &["fuzz", "json", "-n", "60", "-o", "shared", "--name", "two"],
        &["evolve", "json", "-n", "60", "-o", "evolved"],
        &["search", "json", "-n", "60", "-o", "searched", "--cost", "output,command:wc -c", "--study", "2s"],
    ];
    for search in searches {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramjet"));
        command.args(search).args(["--", "sh", "program"]).current_dir(&folder);
        let output = command.output().expect("a run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!([Some(0), Some(1)].contains(&output.status.code()), "{search:?}: {said}");
    }
    for made in ["shared/one", "shared/two", "evolved", "searched"] {
        let entries = fs::read_dir(folder.join(made)).expect("the folder of a search");
        let names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
        assert!(names.len() > 7, "{names:?}");
        for name in names {
            assert!(
                described.contains(&name),
                "{made}/{name} is not in the table of docs/fuzz-folder.md: {described:?}"
            );
        }
    }
}
