//! A page that uses a word of the house links it to the glossary, or defines it.

use super::layout::paragraphs;
use super::{pages, read};

/// Words of the glossary that have no other meaning in pages.
const WORDS: [&str; 9] =
    ["choice bytes", "producer", "site", "slot", "pool", "tracer", "champion", "derivation", "mutant"];

/// Pages that are not held to this: what developers read, lists, and the page on failures, for now.
const FREE: [&str; 7] = [
    "README.md",
    "docs/SUMMARY.md",
    "docs/architecture.md",
    "docs/changelog.md",
    "docs/fuzz.md",
    "docs/glossary.md",
    "docs/releasing.md",
];

/// Returns the text of a page without code and without links.
fn prose(page: &str) -> String {
    let paragraphs: Vec<String> = paragraphs(page).into_iter().map(|(_, paragraph)| paragraph).collect();
    let text: Vec<&str> = paragraphs.iter().flat_map(|paragraph| paragraph.split('`').step_by(2)).collect();
    let without_links = text.join(" ").replace("](", "\u{1}");
    let parts = without_links.split('[').map(|part| match part.split_once('\u{1}') {
        Some((_, rest)) => rest.split_once(')').map_or("", |(_, rest)| rest).to_string(),
        None => part.to_string(),
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// Returns the words that a page uses and neither links nor defines.
fn unlinked(page: &str) -> Vec<&'static str> {
    let prose = prose(page);
    let words: Vec<&str> = prose.split(|character: char| !(character.is_alphanumeric() || character == '-')).collect();
    let uses = |word: &str| {
        let parts: Vec<&str> = word.split(' ').collect();
        words.iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().windows(parts.len()).any(|window| {
            window
                .iter()
                .zip(&parts)
                .all(|(used, part)| used.eq_ignore_ascii_case(part) || **used == format!("{part}s"))
        })
    };
    let is_linked = |word: &str| page.contains(&format!("(glossary.md#{})", word.replace(' ', "-")));
    let is_defined = |word: &str| page.contains(&format!("*{word}*")) || page.contains(&format!("*{word}s*"));
    WORDS.into_iter().filter(|word| uses(word) && !is_linked(word) && !is_defined(word)).collect()
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
}
