//! Comments of documentation begin in a way that a reader understands: a function's with a verb, a field's with a noun.

use std::fs;
use std::path::{Path, PathBuf};

/// First words that no comment of a function has: it begins with a verb, such as "Returns".
const OF_FUNCTIONS: [&str; 25] = [
    "Whether", "How", "What", "Where", "Which", "When", "Why", "The", "A", "An", "Those", "That", "Of", "It", "Both",
    "All", "Each", "Every", "None", "Some", "No", "One", "Its", "Their", "Also",
];
/// First words that no other comment has. "Whether" is right for what is a `bool`.
const OF_OTHERS: [&str; 9] = ["How", "What", "Where", "Which", "When", "Why", "It", "Those", "Both"];
/// Beginnings that need the comment above.
const OF_ALL: [&str; 4] = ["The same", "Those of", "That of", "Of "];

/// The item that a comment is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Function,
    Test,
    Flag,
    Other,
}

/// Returns the kind of the item whose first line this is, after attributes.
fn item(line: &str, has_test: bool) -> Item {
    let words = line.split(' ').map(|word| word.split('(').next().unwrap_or_default());
    let is_before = |word: &&str| ["pub", "const", "async", "unsafe", "extern", "\"C\"", "default"].contains(word);
    let own = line.find(") fn ").map_or(line, |at| &line[at + 2..]);
    if words.into_iter().find(|word| !is_before(word)) == Some("fn") || own.starts_with("fn ") {
        return if has_test { Item::Test } else { Item::Function };
    }
    let of_type = line.split_once(": ").map_or("", |(_, kind)| kind);
    let is_flag = ["bool", "Option<bool", "AtomicBool", "Arc<AtomicBool", "Cell<bool", "Apart<AtomicBool"];
    if is_flag.iter().any(|kind| of_type.starts_with(kind)) { Item::Flag } else { Item::Other }
}

/// Returns true if a comment that begins so is hard to understand.
fn is_wrong(text: &str, item: Item) -> bool {
    let first = text.split([' ', ',', ':']).next().unwrap_or_default();
    let needs_another = OF_ALL.iter().any(|begin| text.starts_with(begin));
    match item {
        Item::Test => false,
        Item::Function => OF_FUNCTIONS.contains(&first) || needs_another,
        Item::Flag => OF_OTHERS.contains(&first) || needs_another,
        Item::Other => OF_OTHERS.contains(&first) || first == "Whether" || needs_another,
    }
}

/// Returns the first lines of the comments that begin wrongly, with their numbers.
fn wrong(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins =
        (0..lines.len()).filter(|&at| lines[at].starts_with("///") && (at == 0 || !lines[at - 1].starts_with("///")));
    let of = |at: usize| {
        let mut end = at;
        let (mut depth, mut has_test) = (0i32, false);
        while end < lines.len() && (depth > 0 || lines[end].starts_with("///") || lines[end].starts_with("#[")) {
            if !lines[end].starts_with("///") {
                has_test |= lines[end] == "#[test]";
                depth += lines[end].matches('[').count() as i32 - lines[end].matches(']').count() as i32;
            }
            end += 1;
        }
        let (comment, line) = (lines[at][3..].trim(), lines.get(end).copied().unwrap_or_default());
        is_wrong(comment, item(line, has_test)).then(|| (at + 1, comment.to_string()))
    };
    begins.filter_map(of).collect()
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() || name.starts_with('.') || ["target", "node_modules"].contains(&&*name) {
            continue;
        }
        if path.is_dir() {
            rust_files(&path, files);
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}

#[test]
fn comments_begin_with_a_verb_or_a_noun() {
    let mut files = Vec::new();
    rust_files(Path::new(env!("CARGO_MANIFEST_DIR")), &mut files);
    assert!(files.len() > 500, "{}", files.len());
    let of = |file: &PathBuf| {
        let text = fs::read_to_string(file).expect("a text");
        wrong(&text).into_iter().map(|(line, text)| format!("{}:{line}: {text}", file.display())).collect::<Vec<_>>()
    };
    let found: Vec<String> = files.iter().flat_map(of).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn wrong_beginnings_are_found_and_right_ones_are_not() {
    let found = |text: &str| wrong(text).len();
    for text in [
        "/// The sum.\nfn sum() {}",
        "/// Whether it is.\n#[inline]\npub(crate) const fn is(&self) -> bool {",
        "/// How many.\npub count: u64,",
        "/// The same of others.\nconst A: u8 = 1;",
        "/// Whether it is.\npub name: String,",
        "/// Those of others.\n#[cfg(any(\n    unix,\n))]\npub(super) unsafe fn all() {",
    ] {
        assert_eq!(found(text), 1, "{text}");
    }
    for text in [
        "/// Returns the sum.\nfn sum() {}",
        "/// Whether it is.\npub is: bool,",
        "/// The number.\npub count: u64,",
        "/// What is tested.\n#[test]\nfn it_is() {}",
        "// The sum.\nfn sum() {}",
    ] {
        assert_eq!(found(text), 0, "{text}");
    }
}
