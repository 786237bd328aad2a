//! Commands of pages name only files that the page shows or makes, that the repository has, or that a reader brings.

use std::collections::HashSet;

use super::{Block, blocks, pages, read, root};

/// Files of the reader, beside those whose names begin with `my`.
const OF_THE_READER: [&str; 8] = [
    "./configure",
    // A text of the reader's.
    "crash.json",
    "text.json",
    "other.json",
    // Grammars of the collection grammars-v4.
    "JSON.g4",
    "XMLParser.g4",
    // The crate that a page builds, whose other files `cargo fuzz init` makes.
    "fuzz/json.ebnf",
    "json.ebnf",
];

/// Endings of files that commands read.
const READ: [&str; 12] =
    [".c", ".choices", ".csv", ".ebnf", ".g4", ".html", ".js", ".json", ".lark", ".py", ".txt", ".weights"];

/// Returns the commands of a block, without comments.
pub(super) fn commands<'p>(block: &Block<'p>) -> Vec<&'p str> {
    let lines = block.text.lines();
    match block.mark {
        "sh" | "bash" => lines.map(|line| line.split(" #").next().unwrap_or(line)).collect(),
        // Descriptions follow in a column of their own.
        "" => lines.map(|line| line.split("  ").next().unwrap_or(line)).collect(),
        mark if mark.starts_with("console") => lines.filter_map(|line| line.strip_prefix("$ ")).collect(),
        _ => Vec::new(),
    }
}

/// Returns the files that a page's commands name and nobody has.
fn unknown(page: &str, text: &str) -> Vec<String> {
    let blocks = blocks(text);
    let mut known: HashSet<&str> = blocks.iter().filter_map(Block::file).collect();
    let mut unknown = Vec::new();
    for block in &blocks {
        for command in commands(block) {
            let words: Vec<&str> = command.split([' ', '=']).filter(|word| !word.is_empty()).collect();
            known.extend(words.windows(2).filter(|pair| ["-o", ">"].contains(&pair[0])).map(|pair| pair[1]));
            let is_file = |word: &&str| {
                let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte));
                is_plain && (word.starts_with("./") || READ.iter().any(|end| word.ends_with(end)))
            };
            for file in words.into_iter().filter(is_file) {
                let name = file.trim_start_matches("../").trim_start_matches("./");
                let is_readers = name.starts_with("my") || OF_THE_READER.contains(&file);
                if !(is_readers || known.contains(name) || root().join(name).exists()) {
                    unknown.push(format!("{page}:{}: `{file}` in `{command}`", block.line));
                }
            }
        }
    }
    unknown
}

#[test]
fn commands_name_files_that_there_are() {
    let unknown: Vec<String> = pages().iter().flat_map(|page| unknown(page, &read(page))).collect();
    assert!(
        unknown.is_empty(),
        "show these files, in a block whose first line is a comment with the name:\n{}",
        unknown.join("\n")
    );
}

#[test]
fn files_are_shown_made_or_unknown() {
    let page =
        "```c\n// shown.c\n```\n```sh\ncc shown.c -o made\n./made other.c my.c > a.json\ncat a.json # b.json\n```\n";
    assert_eq!(unknown("page", page), ["page:5: `other.c` in `./made other.c my.c > a.json`"]);
}
