//! Words that code looks up: pairs of a text and a token in tables and comparisons, and the functions of a file.

use super::code::Token;
use crate::ordered::Map;

/// The most tokens of C between a text and its token.
const MAX_BETWEEN: usize = 8;

/// Returns the bodies of the functions that code defines, by name.
pub(super) fn functions<'c, 't>(code: &'c [Token<'t>]) -> Map<&'t str, &'c [Token<'t>]> {
    let mut found = Map::new();
    let mut at = 0;
    while at < code.len() {
        let open = match code.get(at..at + 2) {
            Some([Token::Word(name), Token::Sign('(')]) => Some(*name),
            _ => None,
        };
        at += 1;
        let Some(name) = open else { continue };
        let Some(after) = closed(code, at, ('(', ')')) else { continue };
        // Parameters of an older style may stand before the body.
        let old = code[after..].iter().take(40).position(|token| *token == Token::Sign('{'));
        let is_call = |length: usize| code[after..after + length].iter().any(|token| !may_declare(token));
        let Some(begin) = old.filter(|&length| !is_call(length)).map(|length| after + length) else { continue };
        let Some(end) = closed(code, begin, ('{', '}')) else { continue };
        found.entry(name).or_insert(&code[begin..end]);
        at = end;
    }
    found
}

/// Returns true if a token may stand between a function's parameters and its body.
fn may_declare(token: &Token<'_>) -> bool {
    matches!(token, Token::Word(word) if !matches!(*word, "if" | "while" | "for" | "return" | "switch"))
        || matches!(token, Token::Sign('*' | ';' | ','))
}

/// Returns the place after the bracket that closes the one at `open`.
pub(super) fn closed(code: &[Token<'_>], open: usize, (begin, end): (char, char)) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in code.iter().enumerate().skip(open) {
        match token {
            Token::Sign(sign) if *sign == begin => depth += 1,
            Token::Sign(sign) if *sign == end => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the words of tables such as `{ "if", IF }`, and of comparisons such as `!strcmp(text, "if") ? IF : NAME`.
pub(super) fn words(code: &[Token<'_>], known: &dyn Fn(&str) -> Option<usize>) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let Token::Text(text) = token else { continue };
        let behind = code[at + 1..].iter().take(MAX_BETWEEN).take_while(|next| !matches!(next, Token::Text(_)));
        let mut names = behind.filter_map(|next| if let Token::Word(word) = next { known(word) } else { None });
        let is_word = !text.is_empty() && !text.contains(char::is_whitespace);
        if let Some(number) = names.next().filter(|_| is_word)
            && !found.iter().any(|(other, _)| other == text)
        {
            found.push((text.clone(), number));
        }
    }
    found
}
