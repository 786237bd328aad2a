//! A page links a word of the house to the glossary where it uses the word first, or defines it there.

use super::layout::paragraphs;
use super::{pages, read};

/// Words of the glossary that have no other meaning in pages.
const WORDS: [&str; 13] = [
    "choice bytes",
    "producer",
    "site",
    "slot",
    "pool",
    "tracer",
    "champion",
    "derivation",
    "mutant",
    "input",
    "round",
    "family",
    "law",
];

/// Pages that are not held to this: the first one, lists, and what maintainers do.
const FREE: [&str; 5] = ["README.md", "docs/SUMMARY.md", "docs/changelog.md", "docs/glossary.md", "docs/releasing.md"];

/// Sign before a word that is linked to the glossary, or defined.
const KNOWN: char = '\u{1}';

/// Returns a paragraph without code and other links, with a sign before each word that it links or defines.
fn marked(paragraph: &str) -> String {
    let text: Vec<&str> = paragraph.split('`').step_by(2).collect();
    let text = text.join(" ");
    let mut parts = text.split('[');
    let mut marked = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let Some((target, rest)) = part.split_once("](").and_then(|(_, rest)| rest.split_once(')')) else {
            marked += &format!(" {part}");
            continue;
        };
        let word = target.strip_prefix("glossary.md#").map(|word| format!("{KNOWN}{word}"));
        marked += &format!(" {} {rest}", word.unwrap_or_default());
    }
    WORDS.iter().fold(marked, |text, word| {
        let known = format!(" {KNOWN}{} ", word.replace(' ', "-"));
        text.replace(&format!("*{word}*"), &known).replace(&format!("*{}*", plural(word)), &known)
    })
}

fn plural(word: &str) -> String {
    word.strip_suffix('y').map_or(format!("{word}s"), |stem| format!("{stem}ies"))
}

/// Returns true if a page has `word` at the beginning of these words, in the singular or the plural.
fn is_used(words: &[&str], word: &str) -> bool {
    let mut parts = word.split(' ').enumerate();
    parts.all(|(at, part)| {
        let is_part = |used: &&str| used.eq_ignore_ascii_case(part) || used.eq_ignore_ascii_case(&plural(part));
        words.get(at).is_some_and(is_part)
    })
}

/// Returns the words that a page uses before it links or defines them.
fn unlinked(page: &str) -> Vec<&'static str> {
    let text: Vec<String> = paragraphs(page).into_iter().map(|(_, paragraph)| marked(&paragraph)).collect();
    let text = text.join(" ");
    let is_sign = |character: char| !character.is_alphanumeric() && character != KNOWN;
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches(is_sign)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let first = |word: &str| {
        let known = format!("{KNOWN}{}", word.replace(' ', "-"));
        let end = words.iter().position(|used| *used == known).unwrap_or(words.len());
        // Standard input is no text that gramjet makes.
        let is_standard = |at: usize| at > 0 && words[at - 1].eq_ignore_ascii_case("standard");
        (0..end).any(|at| is_used(&words[at..], word) && !is_standard(at))
    };
    WORDS.into_iter().filter(|word| first(word)).collect()
}

#[test]
fn words_of_the_house_are_linked_to_the_glossary() {
    let glossary = read("docs/glossary.md").to_lowercase();
    for word in WORDS {
        assert!(glossary.contains(&format!("\n## {word}\n")), "the glossary lacks `{word}`");
    }
    let pages = pages().into_iter().filter(|page| !FREE.contains(&page.as_str()));
    let found: Vec<String> =
        pages.flat_map(|page| unlinked(&read(&page)).into_iter().map(move |word| format!("{page}: {word}"))).collect();
    assert!(found.is_empty(), "link the first use to docs/glossary.md:\n{}", found.join("\n"));
}

#[test]
fn words_in_code_and_in_links_need_no_other_link() {
    assert_eq!(unlinked("A producer reads choice\nbytes at sites."), ["choice bytes", "producer", "site"]);
    assert_eq!(unlinked("A *producer* reads [choice bytes](choice-map.md) at `site`s, as a website does."), [""; 0]);
    assert_eq!(unlinked("A [site](glossary.md#site) is a site.\n```\npool\n```\n"), [""; 0]);
    assert_eq!(unlinked("Laws and *families*, read from standard input."), ["law"]);
}

#[test]
fn words_are_linked_where_they_are_used_first() {
    assert_eq!(unlinked("A site is a [site](glossary.md#site)."), ["site"]);
    assert_eq!(unlinked("Some [choice bytes](glossary.md#choice-bytes), then choice bytes."), [""; 0]);
}
