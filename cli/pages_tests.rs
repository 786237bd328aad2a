//! Commands in the pages, as far as they can be read: their options exist, and their values are ones.

use std::path::Path;

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::commands::CommandLine;

/// Returns the words of the commands `gramjet` of a text, where a line has them, without what comes after a sign of the
/// shell.
fn commands(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut commands = Vec::new();
    let mut block = None;
    let joined = text.replace("\\\n", "  ");
    for (number, line) in joined.lines().enumerate() {
        if let Some(mark) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(mark) };
            continue;
        }
        match block {
            // Descriptions follow in a column of their own.
            Some("") => {
                commands.extend(words(line.split("  ").next().unwrap_or(line)).map(|words| (number + 1, words)))
            }
            Some("sh" | "bash") => commands.extend(words(line).map(|words| (number + 1, words))),
            Some(mark) if mark.starts_with("console") => {
                commands.extend(line.strip_prefix("$ ").and_then(words).map(|words| (number + 1, words)));
            }
            Some(_) => {}
            None => {
                let spans = line.split('`').skip(1).step_by(2).filter(|span| span.starts_with("gramjet "));
                commands.extend(spans.filter_map(words).map(|words| (number + 1, words)));
            }
        }
    }
    commands
}

/// Returns the words of the first command `gramjet` in a line of a shell.
fn words(line: &str) -> Option<Vec<String>> {
    let (before, after) = line.split_once("gramjet ")?;
    let begins = before.is_empty() || before.ends_with(' ') && !before.contains(['#', '"', '\'']);
    let is_name = before.trim_end().ends_with("install") || before.contains("-p ");
    if !begins || is_name {
        return None;
    }
    let (mut words, mut word, mut quote) = (vec!["gramjet".to_string()], String::new(), None);
    for character in after.chars() {
        match (character, quote) {
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(open)) if character == open => quote = None,
            ('|' | '>' | '<' | ';' | '&' | '#', None) => break,
            (' ', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    // Synopses name what a reader fills in; dots say that something was left out.
    let is_left_open = |word: &String| {
        let is_name = ["COMMAND", "STAGE", "SHELL", "ENGINE"].contains(&word.as_str());
        is_name || word.contains("...") || word == ".." || word.contains(['[', '$'])
    };
    (!words.iter().any(is_left_open)).then_some(words)
}

#[test]
fn commands_of_pages_have_options_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let book = std::fs::read_dir(root.join("docs")).expect("the book").map(|entry| entry.expect("a page").path());
    let pages = book.chain([root.join("README.md"), root.join("grammars/README.md")]);
    let (mut faults, mut parsed) = (Vec::new(), 0);
    for page in pages.filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        let text = std::fs::read_to_string(&page).expect("a page");
        for (line, words) in commands(&text) {
            parsed += 1;
            let error = CommandLine::try_parse_from(&words).err();
            // In a sentence, a command may stand without what it works on.
            let harmless = [
                ErrorKind::MissingRequiredArgument,
                ErrorKind::DisplayHelp,
                ErrorKind::DisplayVersion,
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            ];
            let lacks_value = |error: &clap::Error| error.to_string().contains("a value is required");
            if let Some(error) = error.filter(|error| !harmless.contains(&error.kind()) && !lacks_value(error)) {
                faults.push(format!("{}:{line}: {}: {error}", page.display(), words.join(" ")));
            }
        }
    }
    assert!(parsed > 100, "{parsed}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn commands_are_found_in_blocks_and_sentences() {
    let text = "Take `gramjet gen json`, or `cargo`.\n```sh\nA=1 gramjet check 'a b' -n 1 > x  # gramjet\n```\n";
    let found: Vec<String> =
        commands(text).into_iter().map(|(line, words)| format!("{line}: {}", words.join("|"))).collect();
    assert_eq!(found, ["1: gramjet|gen|json", "3: gramjet|check|a b|-n|1"]);
}
