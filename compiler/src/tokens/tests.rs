//! Outputs are cut into the tokens that were derived, by a lexer that uses no automata.

use super::{Alphabet, SeparatorPolicy};
use crate::diagnostics::SourceFile;
use crate::formats::FormatOptions;
use crate::ordered::Set;
use crate::reference::{Limits, render};
use crate::{Options, compile, formats};

/// The lexer rules that follow the literals `if` and `.` of the parser.
const LEXER: &str =
    "ID : [a-z]+ ; INT : [0-9]+ ; REAL : [0-9]+ '.' [0-9]+ ; COMMENT : '/*' .*? '*/' ; WS : [ \\n]+ -> skip ;";
/// A letter for each lexer rule, in order of priority.
const LETTERS: &str = "FDNIRC ";

/// Returns the length of each rule's match at the beginning of a text.
fn matches(text: &str) -> [usize; 7] {
    let run = |from: usize, test: fn(char) -> bool| text[from..].chars().take_while(|&c| test(c)).count();
    let digit: fn(char) -> bool = |c| c.is_ascii_digit();
    let int = run(0, digit);
    let fraction = if int > 0 && text[int..].starts_with('.') { run(int + 1, digit) } else { 0 };
    let comment = text.strip_prefix("/*").and_then(|rest| rest.find("*/")).map_or(0, |end| end + 4);
    [
        if text.starts_with("if") { 2 } else { 0 },
        usize::from(text.starts_with('.')),
        run(0, |c| c.is_ascii_lowercase()),
        int,
        if fraction > 0 { int + 1 + fraction } else { 0 },
        comment,
        run(0, |c| c == ' ' || c == '\n'),
    ]
}

/// Returns the tokens of a text, by their letters. Hidden matches are left out.
fn cut(mut text: &str) -> String {
    let mut tokens = String::new();
    while !text.is_empty() {
        let lengths = matches(text);
        let longest = lengths.into_iter().max().unwrap_or(0);
        assert!(longest > 0, "no token at {text:?}");
        let rule = lengths.iter().position(|&length| length == longest).unwrap_or(0);
        tokens.extend(LETTERS.chars().nth(rule).filter(|&letter| letter != ' '));
        text = &text[longest..];
    }
    tokens
}

/// Returns outputs of a grammar with the lexer above.
fn outputs(rules: &str, reading: FormatOptions) -> Vec<String> {
    let file = SourceFile::new("g.g4", format!("grammar g; {rules} {LEXER}"));
    let options = Options { format: formats::by_name("g4"), reading, ..Options::default() };
    let (compiled, _) = match compile(&file, &options) {
        Ok(compiled) => compiled,
        Err(diagnostics) => panic!("{}", diagnostics.to_plain_text(&file)),
    };
    let mut state = 1u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..400)
        .map(|_| {
            let choices: Vec<u8> = (0..200).map(|_| byte()).collect();
            let run = render(&compiled.lowered, &compiled.pools, Limits::default(), &choices);
            String::from_utf8(run.output).unwrap_or_default()
        })
        .collect()
}

const RULES: &str = "start : ('if' ID | INT '.' INT | REAL INT | COMMENT ID | 'if' 'if' 'if')* EOF ;";
const PIECES: [&str; 5] = ["FN", "IDI", "RI", "CN", "FFF"];

/// Returns true if tokens are those of [`RULES`].
fn is_derived(tokens: &str) -> bool {
    let mut reachable = vec![false; tokens.len() + 1];
    reachable[0] = true;
    for place in 0..tokens.len() {
        if reachable[place] {
            for piece in PIECES.iter().filter(|piece| tokens[place..].starts_with(**piece)) {
                reachable[place + piece.len()] = true;
            }
        }
    }
    reachable[tokens.len()]
}

#[test]
fn outputs_are_cut_into_the_tokens_that_were_derived() {
    for separators in [SeparatorPolicy::Auto, SeparatorPolicy::Space] {
        for alphabet in [Alphabet::Readable, Alphabet::Ascii, Alphabet::Unicode, Alphabet::Bytes] {
            let reading = FormatOptions { separators, alphabet: Some(alphabet), ..FormatOptions::default() };
            let outputs = outputs(RULES, reading);
            assert!(outputs.iter().map(String::len).sum::<usize>() > 2000);
            for output in outputs {
                assert!(is_derived(&cut(&output)), "{output:?}");
            }
        }
    }
}

#[test]
fn without_separators_tokens_merge() {
    let reading = FormatOptions { separators: SeparatorPolicy::None, ..FormatOptions::default() };
    assert!(outputs(RULES, reading).iter().any(|output| !is_derived(&cut(output))));
}

/// Returns different words of the same length, from an alphabet of 16 letters.
fn words(count: usize, length: u64) -> Vec<String> {
    let word = |number: usize| -> String {
        let mixed = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (0..length).map(|place| char::from(b'a' + ((mixed >> (4 * place)) as u8 & 15))).collect()
    };
    (0..count).map(word).collect()
}

#[test]
fn names_that_are_too_many_to_be_told_from_keywords_are_reported() {
    let keywords: Vec<String> = words(3000, 14).into_iter().map(|word| format!("'{word}'")).collect();
    let text =
        format!("grammar g; s : (NAME | K)+ EOF ; K : {} ; NAME : [a-z]+ ; WS : ' ' -> skip ;", keywords.join(" | "));
    let file = SourceFile::new("g.g4", text);
    let options = Options { format: formats::by_name("g4"), ..Options::default() };
    let Ok((_, warnings)) = compile(&file, &options) else { panic!("the grammar compiles") };
    let said = warnings.to_plain_text(&file);
    assert!(said.contains("`NAME` is too large to be written without the texts"), "{said}");
}

#[test]
fn names_are_none_of_two_thousand_keywords_in_any_case() {
    let keywords: Vec<String> = (2..=5).flat_map(|length| words(500, length)).collect();
    let rules: Vec<String> =
        keywords.iter().enumerate().map(|(number, word)| format!("K{number} : '{word}' ;")).collect();
    let text = format!(
        "grammar g; options {{ caseInsensitive = true; }} s : NAME (',' NAME)* EOF ; {} NAME : [a-z_] [a-z_0-9]* ;",
        rules.join(" ")
    );
    let file = SourceFile::new("g.g4", text);
    let options = Options { format: formats::by_name("g4"), ..Options::default() };
    let (compiled, warnings) = match compile(&file, &options) {
        Ok(result) => result,
        Err(diagnostics) => panic!("{}", diagnostics.to_plain_text(&file)),
    };
    assert!(!warnings.to_plain_text(&file).contains("NAME"));
    let known: Set<&str> = keywords.iter().map(String::as_str).collect();
    let mut state = 1u64;
    let mut lengths = Set::new();
    for _ in 0..400 {
        let choices: Vec<u8> = (0..200)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        let run = render(&compiled.lowered, &compiled.pools, Limits::default(), &choices);
        let text = String::from_utf8(run.output).unwrap_or_default().to_lowercase();
        for name in text.split(',') {
            assert!(!name.is_empty() && !known.contains(name), "{text}");
            lengths.insert(name.len());
        }
    }
    assert!((1..8).all(|length| lengths.contains(&length)), "{lengths:?}");
}

#[test]
fn separators_stand_only_where_they_must() {
    let outputs = outputs("start : (ID '.' ID '.')* EOF ;", FormatOptions::default());
    assert!(outputs.iter().all(|output| !output.contains([' ', '\n'])));
}

#[test]
fn a_separator_of_two_matches_ends_what_neither_ends() {
    // A string continues over blanks, a name over comments.
    let lexer = "grammar g; s : (NAME | STRING)* ')' STRING EOF ; NAME : [a-z/*]+ ; STRING : '\\'' ~[@]* '\\'' ;
        COMMENT : '/*@*/' -> skip ; WS : ' '+ -> skip ;";
    let file = SourceFile::new("g.g4", lexer);
    let options = Options { format: formats::by_name("g4"), ..Options::default() };
    let Ok((compiled, _)) = compile(&file, &options) else { panic!("the grammar compiles") };
    for seed in 0..64u8 {
        let choices: Vec<u8> =
            (0..40).map(|place: u8| seed.wrapping_mul(37).wrapping_add(place.wrapping_mul(91))).collect();
        let run = render(&compiled.lowered, &compiled.pools, Limits::default(), &choices);
        let text = String::from_utf8(run.output).unwrap_or_default();
        let mut tokens = String::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            // A string continues up to the last quote that it can reach.
            let string = rest.split('@').next().and_then(|reach| reach.rfind('\'')).map_or(0, |last| last + 1);
            let name = rest.chars().take_while(|&c| c.is_ascii_lowercase() || c == '/' || c == '*').count();
            let (token, length) = match first {
                '\'' => ('S', string),
                ')' => (')', 1),
                ' ' => (' ', 1),
                '/' if rest.starts_with("/*@*/") => (' ', 5),
                _ => ('N', name),
            };
            tokens.extend((token != ' ').then_some(token));
            rest = &rest[length..];
        }
        let before = tokens.strip_suffix(")S").unwrap_or("?");
        assert!(before.chars().all(|token| token == 'N' || token == 'S'), "{tokens}: {text}");
    }
}
