//! Lines of comments have at most 120 columns, in all languages of the repository.

use std::fs;
use std::path::{Path, PathBuf};

const MOST: usize = 120;

/// Beginnings of the lines of comments, by the extension of the file; files without one are scripts.
const MARKS: [(&str, &[&str]); 13] = [
    ("rs", &["//"]),
    ("c", &["//", "/*", "* "]),
    ("h", &["//", "/*", "* "]),
    ("java", &["//", "/*", "* "]),
    ("js", &["//", "/*", "* "]),
    ("mjs", &["//", "/*", "* "]),
    ("ebnf", &["/*", "* "]),
    ("py", &["#"]),
    ("pyi", &["#"]),
    ("toml", &["#"]),
    ("lua", &["--"]),
    ("scm", &[";"]),
    ("", &["#"]),
];

/// Files of others, and producers that the Rust backend writes.
const LEFT_OUT: [&str; 4] = ["generated/src/expr.rs", "generated/src/json.rs", "tests/g4", "tests/suite"];

fn is_left_out(path: &Path, root: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name != ".ci"
        || ["target", "node_modules", "__pycache__"].contains(&&*name)
        || LEFT_OUT.iter().any(|left_out| path == root.join(left_out))
}

fn files(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            if is_left_out(&path, root) || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

/// Returns true if a line is one of a comment and too long. A row of a table cannot be broken.
fn is_too_long(line: &str, marks: &[&str]) -> bool {
    let text = line.trim_start();
    let is_row = text.trim_start_matches(['/', '!', ' ']).starts_with('|');
    line.chars().count() > MOST && marks.iter().any(|mark| text.starts_with(mark)) && !is_row
}

#[test]
fn lines_of_comments_have_at_most_120_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut looked_at, mut found) = (0, Vec::new());
    for file in files(root) {
        let extension = file.extension().unwrap_or_default().to_string_lossy();
        let Some((_, marks)) = MARKS.iter().find(|(of, _)| *of == extension) else { continue };
        let Ok(text) = fs::read_to_string(&file) else { continue };
        looked_at += 1;
        let lines = text.lines().enumerate().filter(|(_, line)| is_too_long(line, marks));
        found.extend(lines.map(|(at, line)| format!("{}:{}: {line}", file.display(), at + 1)));
    }
    assert!(looked_at > 500, "{looked_at}");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn long_comments_are_found_and_long_code_and_tables_are_not() {
    let long = "x".repeat(MOST);
    assert!(is_too_long(&format!("    /// {long}"), &["//"]));
    assert!(!is_too_long(&format!("    /// | {long} |"), &["//"]));
    assert!(!is_too_long(&format!("    let {long} = 1;"), &["//"]));
    assert!(is_too_long(&format!("# {long}"), &["#"]));
}
