//! The functions and macros of a file, and the words that its code looks up: pairs of a text and a token in tables and
//! comparisons.

use super::code::Token;
use crate::ordered::{Map, Set};

/// The most tokens of C between a text and its token.
const MAX_BETWEEN: usize = 8;

/// Words of code that changes what is matched. All but the first are called.
const CHANGES: &[&str] = &["REJECT", "yyless", "unput", "yyunput", "input", "yyinput"];

/// Words that change the start condition.
pub(super) const MOVES: &[&str] = &["BEGIN", "yy_push_state", "yy_pop_state"];

/// Returns for each opening bracket the place after the one of its kind that closes it. `None` for all other tokens.
pub(super) fn closings(code: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut found = vec![None; code.len()];
    let mut open: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for (at, token) in code.iter().enumerate() {
        match token {
            Token::Sign('(') => open[0].push(at),
            Token::Sign('{') => open[1].push(at),
            Token::Sign(sign @ (')' | '}')) => {
                if let Some(begin) = open[usize::from(*sign == '}')].pop() {
                    found[begin] = Some(at + 1);
                }
            }
            Token::Sign(_) | Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Char(_) => {}
        }
    }
    found
}

/// Returns the bodies of the functions that code defines, by name.
pub(super) fn functions<'c, 't>(code: &'c [Token<'t>]) -> Map<&'t str, &'c [Token<'t>]> {
    let closings = closings(code);
    let mut found = Map::new();
    let mut at = 0;
    while at < code.len() {
        let open = match code.get(at..at + 2) {
            Some([Token::Word(name), Token::Sign('(')]) => Some(*name),
            _ => None,
        };
        at += 1;
        let Some(name) = open else { continue };
        let Some(after) = closings[at] else { continue };
        // Parameters of an older style may stand before the body.
        let old = code[after..].iter().take(40).position(|token| *token == Token::Sign('{'));
        let is_call = |length: usize| code[after..after + length].iter().any(|token| !may_declare(token));
        let Some(begin) = old.filter(|&length| !is_call(length)).map(|length| after + length) else { continue };
        let Some(end) = closings[begin] else { continue };
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

/// Returns true if the word at a place changes what is matched.
pub(super) fn changes(code: &[Token<'_>], at: usize) -> bool {
    let Token::Word(word) = &code[at] else { return false };
    CHANGES.contains(word) && (*word == CHANGES[0] || code.get(at + 1) == Some(&Token::Sign('(')))
}

/// The functions and macros that have an effect on the lexer, by themselves or through others that they use.
#[derive(Default)]
pub(super) struct Effects<'c> {
    /// Names of what changes the matches.
    pub(super) changing: Set<&'c str>,
    /// Names of what changes the start condition.
    pub(super) moving: Set<&'c str>,
    /// Names of macros that return.
    pub(super) returning: Set<&'c str>,
}

impl<'c> Effects<'c> {
    /// Returns the effects of functions and macros, given their bodies.
    pub(super) fn new<'b>(
        functions: impl Iterator<Item = (&'c str, &'b [Token<'c>])>,
        macros: impl Iterator<Item = (&'c str, &'b [Token<'c>])>,
    ) -> Effects<'c>
    where
        'c: 'b,
    {
        let mut changing = Reach::default();
        let mut moving = Reach::default();
        let mut returning = Reach::default();
        let moves = |body: &[Token<'_>], at: usize| matches!(&body[at], Token::Word(word) if MOVES.contains(word));
        let returns = |body: &[Token<'_>], at: usize| body[at].is("return") || body[at].is("yyterminate");
        for (name, body) in functions {
            changing.add(name, body, changes);
            moving.add(name, body, moves);
        }
        for (name, body) in macros {
            changing.add(name, body, changes);
            moving.add(name, body, moves);
            returning.add(name, body, returns);
        }
        Effects { changing: changing.all(), moving: moving.all(), returning: returning.all() }
    }
}

/// The names that have a property, and those that use other names.
#[derive(Default)]
struct Reach<'c> {
    found: Set<&'c str>,
    /// For each word, the names in whose bodies it stands.
    users: Map<&'c str, Vec<&'c str>>,
}

impl<'c> Reach<'c> {
    fn add(&mut self, name: &'c str, body: &[Token<'c>], has: impl Fn(&[Token<'_>], usize) -> bool) {
        for (at, token) in body.iter().enumerate() {
            let Token::Word(word) = token else { continue };
            if has(body, at) {
                self.found.insert(name);
            }
            self.users.entry(word).or_default().push(name);
        }
    }

    /// Returns the names that have the property, or use one that does.
    fn all(mut self) -> Set<&'c str> {
        let mut pending: Vec<&str> = self.found.iter().copied().collect();
        while let Some(name) = pending.pop() {
            for user in self.users.remove(name).unwrap_or_default() {
                if self.found.insert(user) {
                    pending.push(user);
                }
            }
        }
        self.found
    }
}

/// Returns the words of tables such as `{ "if", IF }`, and of comparisons such as `!strcmp(text, "if") ? IF : NAME`.
pub(super) fn words(code: &[Token<'_>], known: &dyn Fn(&str) -> Option<usize>) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    let mut seen: Set<&str> = Set::new();
    // The places of the brackets that are open.
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in code.iter().enumerate() {
        match token {
            Token::Sign('(' | '{' | '[') => open.push(at),
            Token::Sign(')' | '}' | ']') => drop(open.pop()),
            Token::Text(text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
                if let Some(behind) = decides(code, at, open.last().copied())
                    && let Some(number) = token_behind(&code[behind..], known)
                    && seen.insert(text)
                {
                    found.push((text.clone(), number));
                }
            }
            Token::Sign(_) | Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Char(_) => {}
        }
    }
    found
}

/// Returns the place after a text in a table or a comparison from which its token may stand. `None` if the text is in
/// neither.
fn decides(code: &[Token<'_>], at: usize, open: Option<usize>) -> Option<usize> {
    let sign = |place: Option<usize>, sign: char| place.and_then(|at| code.get(at)) == Some(&Token::Sign(sign));
    let before = at.checked_sub(1);
    let is_compared = sign(before, '=') && sign(at.checked_sub(2), '=');
    let is_assigned =
        sign(before, '[') && sign(Some(at + 1), ']') && sign(Some(at + 2), '=') && !sign(Some(at + 3), '=');
    if is_compared || is_assigned {
        return Some(at + 1);
    }
    let open = open?;
    if code[open] == Token::Sign('{') {
        // A member of a table, not an argument or a value that is returned.
        let begins = [sign(before, '{'), sign(before, ','), sign(before, '=')].contains(&true);
        return (begins && sign(Some(at + 1), ',')).then_some(at + 1);
    }
    let Token::Word(called) = code.get(open.checked_sub(1)?)? else { return None };
    let called = called.to_ascii_lowercase();
    let length = code[at..].iter().take(MAX_BETWEEN).position(|token| *token == Token::Sign(')'))?;
    let end = at + length + 1;
    let is_zero = sign(Some(end), '=') && sign(Some(end + 1), '=') && code.get(end + 2) == Some(&Token::Number("0"));
    let is_denied = sign(open.checked_sub(2), '!');
    let is_equal = called.contains("cmp") && (is_zero || is_denied) || called.contains("equal") && !is_denied;
    is_equal.then_some(end)
}

/// Returns the token that code names before the next text, label or end of a statement or table.
fn token_behind(code: &[Token<'_>], known: &dyn Fn(&str) -> Option<usize>) -> Option<usize> {
    const PATH: [Token<'static>; 2] = [Token::Sign(':'), Token::Sign(':')];
    let mut at = 0;
    while at < MAX_BETWEEN {
        if code[at..].starts_with(&PATH) {
            at += 2;
            continue;
        }
        match code.get(at)? {
            Token::Text(_) | Token::Sign(';' | ':' | '}' | '[') => return None,
            Token::Word(word) if let Some(token) = known(word) => return Some(token),
            Token::Word(_) | Token::Number(_) | Token::Char(_) | Token::Sign(_) => at += 1,
        }
    }
    None
}
