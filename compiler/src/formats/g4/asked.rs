//! Predicates that ask for the next tokens, in the spellings of ANTLR's target languages: `_input.LA(1) == NAME`,
//! `self._input.LT(1).text != "word"`, `TokenStream.LA(2) != XParser.NAME && TokenStream.LA(2) != XParser.OTHER`.

use super::conditions::{Condition, TokenName, is_lexical};

/// The farthest token that is asked for.
const MAX_DISTANCE: usize = 8;

/// The stream of tokens in Go, where names of tokens begin with that of the parser.
const GO: &str = "_input.go";

/// One comparison: the tokens before the one that is asked for, and what it is compared with.
struct Comparison {
    skip: usize,
    /// The token. `None` for the end of the text.
    token: Option<TokenName>,
    negated: bool,
}

/// Returns the condition that code without blanks asks for: a comparison, or several of the same token that can be
/// joined to one.
pub(super) fn condition(code: &str) -> Option<Condition> {
    let (code, texts) = without_texts(code)?;
    let code = plain(&code);
    let code = outer(&code);
    let (parts, are_joined_by_and): (Vec<&str>, bool) = match (code.contains("&&"), code.contains("||")) {
        (true, true) => return None,
        (true, false) => (code.split("&&").collect(), true),
        (false, _) => (code.split("||").collect(), false),
    };
    let comparisons: Vec<Comparison> =
        parts.iter().map(|part| comparison(outer(part), &texts)).collect::<Option<_>>()?;
    let Comparison { skip, negated, .. } = *comparisons.first()?;
    let is_alike = comparisons.iter().all(|one| one.skip == skip && one.negated == negated);
    // "Neither this nor that", or "this or that".
    if !is_alike || comparisons.len() > 1 && negated != are_joined_by_and {
        return None;
    }
    let end = comparisons.iter().any(|one| one.token.is_none());
    let tokens = comparisons.into_iter().filter_map(|one| one.token).collect();
    Some(Condition::Next { skip, tokens, end, negated })
}

/// Returns code with the number of each text between quotes in its place, and the texts, which are no code. `None` if
/// one of them has an escape, or is not closed.
fn without_texts(code: &str) -> Option<(String, Vec<String>)> {
    let mut bare = String::new();
    let mut texts = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = if rest[at..].starts_with('"') { '"' } else { '\'' };
        let (text, behind) = rest[at + 1..].split_once(quote)?;
        if text.contains('\\') {
            return None;
        }
        bare += &format!("{}\"{}\"", &rest[..at], texts.len());
        texts.push(text.to_string());
        rest = behind;
    }
    Some((bare + rest, texts))
}

/// Returns code in the spelling of Java.
fn plain(code: &str) -> String {
    const SPELLINGS: &[(&str, &str)] = &[
        ("->", "."),
        ("::", "."),
        ("!==", "!="),
        ("===", "=="),
        (".La(", ".LA("),
        (".Lt(", ".LT("),
        (".getType()", ".type"),
        (".GetTokenType()", ".type"),
        (".Type==", ".type=="),
        (".Type!=", ".type!="),
        (".getText()", ".text"),
        (".GetText()", ".text"),
        (".Text==", ".text=="),
        (".Text!=", ".text!="),
        (".Text.", ".text."),
        (".Equals(", ".equals("),
        ("this.", ""),
        ("self.", ""),
        ("getCurrentToken()", "_input.LT(1)"),
        ("currentToken", "_input.LT(1)"),
        ("p.GetTokenStream()", GO),
        ("p.GetInputStream()", GO),
        ("getTokenStream()", "_input"),
        ("tokenStream", "_input"),
        ("TokenStream", "_input"),
        ("inputStream", "_input"),
        ("InputStream", "_input"),
        ("and_input", "&&_input"),
        ("or_input", "||_input"),
    ];
    let mut text = code.to_string();
    for (from, to) in SPELLINGS {
        text = text.replace(from, to);
    }
    text
}

/// Returns code without parentheses around the whole of it.
fn outer(code: &str) -> &str {
    let inside = code.strip_prefix('(').and_then(|code| code.strip_suffix(')'));
    let is_outer = |inside: &str| {
        let mut depth = 0i32;
        inside.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth >= 0
        })
    };
    inside.filter(|inside| is_outer(inside)).unwrap_or(code)
}

fn comparison(code: &str, texts: &[String]) -> Option<Comparison> {
    let (code, is_denied) = code.strip_prefix('!').map_or((code, false), |code| (outer(code), true));
    if let Some((text, rest)) = texts_compared(code, texts) {
        let (skip, rest) = distance(rest)?;
        return (rest == ".text").then_some(Comparison { skip, token: Some(text), negated: is_denied });
    }
    let (left, right, differs) = match (code.split_once("=="), code.split_once("!=")) {
        (Some((left, right)), None) => (left, right, false),
        (None, Some((left, right))) => (left, right, true),
        _ => return None,
    };
    let is_go = left.starts_with(GO);
    let right = if is_go { right.split_once("Parser").map_or(right, |(_, name)| name) } else { right };
    let (skip, kind) = distance(left)?;
    let token = match kind {
        ".text" => Some(TokenName::Text(quoted(right, texts)?.to_string())),
        "" | ".type" => named(right)?,
        _ => return None,
    };
    Some(Comparison { skip, token, negated: differs != is_denied })
}

/// Returns the text of `X.equals("word")` or `"word".equals(X)`, and X.
fn texts_compared<'c>(code: &'c str, texts: &[String]) -> Option<(TokenName, &'c str)> {
    let (left, right) = code.strip_suffix(')')?.split_once(".equals(")?;
    let (text, asked) = match quoted(left, texts) {
        Some(text) => (text, right),
        None => (quoted(right, texts)?, left),
    };
    Some((TokenName::Text(text.to_string()), asked))
}

/// Returns the number of tokens before the one that `_input.LA(1)` or `_input.LT(1)` asks for, and the code after it.
fn distance(code: &str) -> Option<(usize, &str)> {
    let rest = [GO, "_input", "input"].iter().find_map(|stream| code.strip_prefix(stream)?.strip_prefix('.'))?;
    let (number, rest) = rest.strip_prefix("LA(").or_else(|| rest.strip_prefix("LT("))?.split_once(')')?;
    let number: usize = number.parse().ok()?;
    (1..=MAX_DISTANCE).contains(&number).then(|| (number - 1, rest))
}

/// Returns the text whose number stands in quotes.
fn quoted<'t>(code: &str, texts: &'t [String]) -> Option<&'t str> {
    let number: usize = code.strip_prefix('"')?.strip_suffix('"')?.parse().ok()?;
    texts.get(number).map(String::as_str).filter(|text| !text.is_empty())
}

/// Returns the token that a name stands for: `None` within for the end of the text.
fn named(code: &str) -> Option<Option<TokenName>> {
    let name = code.rsplit('.').next().unwrap_or(code);
    let is_name = name.chars().all(|c| c == '_' || c.is_alphanumeric()) && is_lexical(name);
    let is_end = matches!(name, "EOF" | "Eof" | "TokenEOF");
    is_name.then(|| (!is_end).then(|| TokenName::Name(name.to_string())))
}
