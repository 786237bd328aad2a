//! Languages that one rule for all samples does not fit: free text in one place, keywords as brackets, needed blanks.

use gramjet_compiler::{Options as CompileOptions, SourceFile, compile};
use gramjet_infer::{Inferred, Options, infer};
use gramjet_parse::{Budget, Parser};

fn inferred(samples: &[&str], mut accepts: impl FnMut(&str) -> bool) -> Inferred {
    let samples: Vec<Vec<u8>> = samples.iter().map(|sample| sample.as_bytes().to_vec()).collect();
    let options = Options { max_calls: 20_000, ..Options::default() };
    infer(&samples, &mut |text: &[u8]| std::str::from_utf8(text).is_ok_and(&mut accepts), &options).expect("a grammar")
}

/// Returns the share of texts that the grammar derives.
fn recall(inferred: &Inferred, texts: &[&str]) -> f64 {
    let file = SourceFile::new("inferred.ebnf", inferred.grammar.as_str());
    let (compiled, _) = compile(&file, &CompileOptions::default()).unwrap_or_else(|_| panic!("{}", inferred.grammar));
    let parser = Parser::new(&compiled.lowered);
    let derived = texts.iter().filter(|text| parser.parse(text.as_bytes(), &Budget::default()).is_ok());
    derived.count() as f64 / texts.len() as f64
}

/// Returns the tokens of a text: words, numbers and marks; `None` if there are others.
fn tokens(text: &str, marks: &str) -> Option<Vec<String>> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_open = false;
    for character in text.chars() {
        let is_word = character.is_ascii_alphanumeric();
        if is_word && is_open {
            tokens.last_mut()?.push(character);
        } else if is_word || marks.contains(character) {
            tokens.push(character.to_string());
        } else if !matches!(character, ' ' | '\n' | '\t' | '\r') {
            return None;
        }
        is_open = is_word;
    }
    Some(tokens)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_lowercase()) && !["if", "fi", "not"].contains(&token)
}

/// Reads settings `a = 1;`, and comments from `#` to the end of the line.
fn is_settings(text: &str) -> bool {
    let code: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap_or_default()).collect();
    let Some(tokens) = tokens(&code.join("\n"), "=;") else { return false };
    tokens.chunks(4).all(|part| match part {
        [name, equals, value, end] => {
            is_name(name) && equals == "=" && value.bytes().all(|byte| byte.is_ascii_digit()) && end == ";"
        }
        _ => false,
    })
}

#[test]
fn free_text_in_one_sample_makes_no_other_free() {
    let samples = ["a=1;", "b2=34; c=5;", "# free text!", "x = 7; # one (of) two"];
    let found = inferred(&samples, is_settings);
    let texts = ["q = 12;", "a=1;b=2;c=3;", "z=0; # (why?", "# a\nb=1;", "k9=100; m=2;"];
    let share = recall(&found, &texts);
    assert!(share >= 0.8, "{share}\n{}", found.grammar);
}

/// Reads `if not a; b fi`: statements are names and such blocks.
fn statements(tokens: &[String]) -> Option<&[String]> {
    let mut rest = statement(tokens)?;
    while rest.first().is_some_and(|token| token == ";") {
        rest = statement(&rest[1..])?;
    }
    Some(rest)
}

fn statement(tokens: &[String]) -> Option<&[String]> {
    let (first, mut rest) = tokens.split_first()?;
    if first != "if" {
        return is_name(first).then_some(rest);
    }
    while rest.first().is_some_and(|token| token == "not") {
        rest = &rest[1..];
    }
    rest = rest.split_first().filter(|(name, _)| is_name(name))?.1;
    rest = rest.split_first().filter(|(mark, _)| *mark == ":")?.1;
    let (last, rest) = statements(rest)?.split_first()?;
    (last == "fi").then_some(rest)
}

#[test]
fn keywords_nest_and_keep_their_blanks() {
    let reads =
        |text: &str| tokens(text, ":;").is_some_and(|tokens| statements(&tokens).is_some_and(<[String]>::is_empty));
    let samples = ["a", "b; c", "if a : b fi", "if not x : y; z fi", "if p : if not q : r fi fi; s"];
    let found = inferred(&samples, reads);
    let texts = [
        "d;e;f",
        "if not not k : m fi",
        "if a : if b : if c : d fi fi fi",
        "if u : v fi; if not w : x fi",
        "if g : h; if not i : j fi; k fi",
        "if a:b fi",
    ];
    let share = recall(&found, &texts);
    assert!(share >= 0.8, "{share}\n{}", found.grammar);
    assert!(!found.grammar.contains("'not' space "), "{}", found.grammar);
}

/// Reads elements with tags of equal names, words between them, and elements of one tag.
fn elements(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|one: char| one.is_alphanumeric() || one == ' ');
        if !rest.starts_with('<') || rest.starts_with("</") {
            return Some(rest);
        }
        rest = element(rest)?;
    }
}

fn element(text: &str) -> Option<&str> {
    let (name, rest) = tag_name(text.strip_prefix('<')?)?;
    if let Some(rest) = rest.strip_prefix("/>") {
        return Some(rest);
    }
    let rest = elements(rest.strip_prefix('>')?)?;
    rest.strip_prefix("</")?.strip_prefix(name)?.strip_prefix('>')
}

fn tag_name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|one: char| !one.is_alphanumeric())?;
    text.starts_with(char::is_alphabetic).then(|| text.split_at(end))
}

#[test]
fn tags_have_any_name_that_is_given_twice() {
    let samples = ["<a/>", "<b>text</b>", "<c><d/></c>", "<e>some <f>more</f> text</e>", "<g></g>"];
    let found = inferred(&samples, |text| element(text) == Some(""));
    assert!(found.grammar.contains("'<' name:") && found.grammar.contains("'</' $name '>'"), "{}", found.grammar);
    let texts = ["<head></head>", "<x1><y2/></x1>", "<li><é><z9/></é><p/></li>", "<h1><h2></h2></h1>"];
    let share = recall(&found, &texts);
    assert!(share >= 1.0, "{share}\n{}", found.grammar);
    assert_eq!(recall(&found, &["<head></body>"]), 0.0, "{}", found.grammar);
    // Few of the letters that it draws are beyond ASCII.
    assert!(found.grammar.contains("letter_beyond_ascii ::= ["), "{}", found.grammar);
}

#[test]
fn names_of_two_tags_may_differ() {
    let is_pair = |text: &str| {
        let (open, rest) = tag_name(text.strip_prefix('<')?)?;
        let (close, rest) = tag_name(rest.strip_prefix("><q/></")?)?;
        (rest == ">" && !open.is_empty() && !close.is_empty()).then_some(())
    };
    let found = inferred(&["<a><q/></a>", "<b><q/></b>"], |text| is_pair(text).is_some());
    let texts = ["<head><q/></body>", "<x><q/></x>"];
    assert!(recall(&found, &texts) >= 1.0, "{}", found.grammar);
}

#[test]
fn tried_words_do_not_get_into_the_grammar() {
    // Words of letters that differ, each with a semicolon.
    let is_word = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        !word.is_empty() && letters.len() == word.len() && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_list = |text: &str| {
        let inner = text.strip_prefix('(')?.strip_suffix(";)")?;
        inner.split(';').all(is_word).then_some(())
    };
    let found = inferred(&["(ab;)", "(cd;ef;)", "(gh;ij;kl;)"], |text| is_list(text).is_some());
    assert!(!found.grammar.contains("7q") && found.verbatim == 0, "{}", found.grammar);
    assert_eq!(recall(&found, &["(ab;)", "(cd;ef;)", "(gh;ij;kl;)", "(kl;ab;)"]), 1.0, "{}", found.grammar);
}
