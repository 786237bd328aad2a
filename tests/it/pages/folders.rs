//! Searches of a page do not get into each other's folder, where the second one would be refused.

use std::collections::HashMap;

use super::named::commands;
use super::{blocks, pages, read};

/// Returns the folder of a search and its node, and what tells it from others: command, grammar, limit on length,
/// program.
fn search(command: &str) -> Option<(Vec<&str>, Vec<&str>)> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "gramjet")?;
    let default = match words.get(at + 1).copied()? {
        "fuzz" => "fuzz-out",
        "evolve" => "evolve-out",
        "search" => "search-out",
        _ => return None,
    };
    let end = words.iter().position(|word| *word == "--")?;
    let value = |name: &str| words[..end].windows(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
    let folder = vec![value("-o").unwrap_or(default), value("--name").unwrap_or_default()];
    let mut facts = vec![words[at + 1], words[at + 2], value("--max-len").unwrap_or_default()];
    facts.extend(&words[end..]);
    Some((folder, facts))
}

/// Returns the commands of a page whose folder has another search of the page.
fn colliding(page: &str, text: &str) -> Vec<String> {
    let mut folders = HashMap::new();
    let mut colliding = Vec::new();
    for block in blocks(text) {
        for command in commands(&block) {
            let Some((folder, facts)) = search(command).filter(|(_, facts)| facts[1] != "GRAMMAR") else { continue };
            if *folders.entry(folder).or_insert_with(|| facts.clone()) != facts {
                colliding.push(format!("{page}:{}: {command}", block.line));
            }
        }
    }
    colliding
}

#[test]
fn searches_of_a_page_have_folders_of_their_own() {
    let colliding: Vec<String> = pages().iter().flat_map(|page| colliding(page, &read(page))).collect();
    assert!(colliding.is_empty(), "give these a folder of their own with `-o`:\n{}", colliding.join("\n"));
}

#[test]
fn searches_with_another_program_or_grammar_collide() {
    let page = "```sh\ngramjet fuzz json -- ./one\ngramjet fuzz json -o two -- ./two\ngramjet fuzz json -n 0 -- ./one\n\
                gramjet fuzz json -- ./two # again\ngramjet search json -- ./two\n```\n";
    assert_eq!(colliding("page", page), ["page:2: gramjet fuzz json -- ./two"]);
}
