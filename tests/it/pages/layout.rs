//! Pages are wrapped at 100 columns, and the cells of their tables are short.

use std::fs;
use std::path::{Path, PathBuf};

const COLUMNS: usize = 100;
/// Greatest number of characters of a cell.
const CELL: usize = 200;

/// Returns the pages: those of the documentation, and those that the repository shows.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs", ".github"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder");
        pages.extend(
            entries
                .map(|entry| entry.expect("an entry").path())
                .filter(|path| path.extension().is_some_and(|end| end == "md")),
        );
    }
    pages
}

/// Returns what is wrong with the lines of a page, with their numbers.
fn wrong(page: &str) -> Vec<(usize, String)> {
    let (mut wrong, mut is_code) = (Vec::new(), false);
    for (number, line) in (1..).zip(page.lines()) {
        let text = line.trim_start();
        if text.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if is_code || text.starts_with('<') || text.starts_with("[![") {
            continue;
        }
        if text.starts_with('|') {
            let cells = text.split(" | ").map(|cell| cell.trim_matches(['|', ' ']).chars().count());
            wrong.extend(cells.filter(|&len| len > CELL).map(|len| (number, format!("a cell of {len} characters"))));
        // A link cannot be wrapped.
        } else if line.chars().count() > COLUMNS && text.contains(' ') {
            wrong.push((number, line.to_string()));
        }
    }
    wrong
}

#[test]
fn pages_have_100_columns_and_short_cells() {
    let of = |page: &PathBuf| {
        let text = fs::read_to_string(page).expect("a page");
        wrong(&text).into_iter().map(|(line, what)| format!("{}:{line}: {what}", page.display())).collect::<Vec<_>>()
    };
    let pages = pages();
    assert!(pages.len() > 30, "{}", pages.len());
    let found: Vec<String> = pages.iter().flat_map(of).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn long_lines_and_cells_are_found() {
    let long = "x ".repeat(60);
    assert_eq!(wrong(&format!("{long}\n\n```\n{long}\n```\n| a | {long}{long} |\n")).len(), 2);
}
