//! Pages can be read: they are short, their sentences and the cells of their tables are short, and their lines are
//! wrapped at 100 columns.

use std::fs;
use std::path::{Path, PathBuf};

const COLUMNS: usize = 100;
/// Greatest number of characters of a cell.
const CELL: usize = 200;
/// Greatest number of words of a page.
const PAGE: usize = 2000;
/// Greatest number of words of a sentence.
const SENTENCE: usize = 30;

/// Greatest number of lines of the list of pages, where pages below others are folded.
const SCREEN: usize = 40;

/// The page that is a list, and grows.
const LIST: &str = "docs/changelog.md";

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

/// Returns the paragraphs and the items of lists of a page, with the numbers of their first lines.
pub(super) fn paragraphs(page: &str) -> Vec<(usize, String)> {
    let (mut paragraphs, mut is_code, mut goes_on) = (Vec::<(usize, String)>::new(), false, false);
    for (number, line) in (1..).zip(page.lines()) {
        let text = line.trim_start();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || text.is_empty() || text.starts_with(['|', '<', '#']) || text.starts_with("[![") {
            goes_on = false;
            continue;
        }
        let digits = text.trim_start_matches(|character: char| character.is_ascii_digit());
        let item = text.strip_prefix("- ").or(digits.strip_prefix(". ").filter(|_| digits.len() < text.len()));
        match paragraphs.last_mut().filter(|_| goes_on && item.is_none()) {
            Some((_, paragraph)) => *paragraph += &format!(" {text}"),
            None => paragraphs.push((number, item.unwrap_or(text).to_string())),
        }
        goes_on = true;
    }
    paragraphs
}

/// Returns a paragraph without the targets of its links, and with a word in place of each piece of code.
fn plain(paragraph: &str) -> String {
    let without_code: Vec<&str> =
        paragraph.split('`').enumerate().map(|(at, part)| if at % 2 == 1 { "X" } else { part }).collect();
    let mut parts = Vec::new();
    for (at, part) in without_code.concat().split("](").enumerate() {
        parts.push(if at == 0 { part } else { part.split_once(')').map_or(part, |(_, rest)| rest) }.to_string());
    }
    parts.concat()
}

/// Returns the numbers of words of the sentences of a paragraph, each with its first words.
fn sentences(paragraph: &str) -> Vec<(usize, String)> {
    let plain = plain(paragraph);
    let words: Vec<&str> = plain.split_whitespace().collect();
    let (mut sentences, mut begin) = (Vec::new(), 0);
    for at in 0..words.len() {
        let ends = words[at].trim_end_matches([')', ']', '"', '\'', '*', '_']).ends_with(['.', '!', '?']);
        let begins = |word: &&str| {
            word.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit() || "\"'(*[_".contains(first))
        };
        if at + 1 == words.len() || ends && words.get(at + 1).is_some_and(begins) {
            sentences.push((at + 1 - begin, words[begin..(begin + 8).min(at + 1)].join(" ")));
            begin = at + 1;
        }
    }
    sentences
}

/// Returns that a page is too long, if it is.
fn too_long(page: &str) -> Vec<(usize, String)> {
    let words = page.split_whitespace().count();
    (words > PAGE).then(|| (1, format!("a page of {words} words: cut it in two"))).into_iter().collect()
}

/// Returns the sentences of a page that are too long, with the numbers of lines.
fn long_sentences(page: &str) -> Vec<(usize, String)> {
    let of = |(line, paragraph): (usize, String)| {
        let long = sentences(&paragraph).into_iter().filter(|(words, _)| *words > SENTENCE);
        long.map(|(words, begin)| (line, format!("a sentence of {words} words: {begin} ..."))).collect::<Vec<_>>()
    };
    paragraphs(page).into_iter().flat_map(of).collect()
}

/// Asserts that `look` finds nothing on pages.
fn hold(look: fn(&str) -> Vec<(usize, String)>, is_free: fn(&Path) -> bool) {
    let of = |page: &PathBuf| {
        let text = fs::read_to_string(page).expect("a page");
        look(&text).into_iter().map(|(line, what)| format!("{}:{line}: {what}", page.display())).collect::<Vec<_>>()
    };
    let pages = pages();
    assert!(pages.len() > 30, "{}", pages.len());
    let found: Vec<String> = pages.iter().filter(|page| !is_free(page)).flat_map(of).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn pages_have_100_columns_and_short_cells() {
    hold(wrong, |_| false);
}

#[test]
fn pages_and_sentences_are_short() {
    hold(too_long, |page| page.ends_with(LIST));
    hold(long_sentences, |_| false);
}

/// The list beside each page of the book folds what stands below another page.
#[test]
fn the_list_of_pages_fits_a_screen() {
    let list = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/SUMMARY.md")).expect("the list");
    let lines = list.lines().skip(1).filter(|line| line.starts_with(['-', '[', '#']) && *line != "---").count();
    assert!((20..=SCREEN).contains(&lines), "{lines} lines: put some pages below others");
}

#[test]
fn long_lines_and_cells_are_found() {
    let long = "x ".repeat(60);
    assert_eq!(wrong(&format!("{long}\n\n```\n{long}\n```\n| a | {long}{long} |\n")).len(), 2);
}

#[test]
fn long_pages_and_sentences_are_found() {
    let words = |count: usize| "word ".repeat(count);
    assert_eq!(long_sentences(&words(30)), []);
    assert_eq!(long_sentences(&words(31)).len(), 1);
    assert_eq!(long_sentences(&format!("# {}\n```\n{}\n```\n| {} |\n", words(31), words(31), words(31))), []);
    assert_eq!(long_sentences(&format!("{}\n- {}\n12. {}\n", words(20), words(20), words(20))), []);
    assert_eq!(
        long_sentences(&format!("{}\n{}", words(20), words(20))),
        [(1, format!("a sentence of 40 words: {}...", words(8)))]
    );
    assert_eq!(too_long(&"One. ".repeat(2001)), [(1, "a page of 2001 words: cut it in two".into())]);
    let counts = |text: &str| sentences(text).into_iter().map(|(words, _)| words).collect::<Vec<_>>();
    assert_eq!(counts("Take `a b c. D`, or [this one](that.md). (Not 1.5 bytes.) `x` is. And e.g. this"), [5, 3, 2, 3]);
}
