//! Texts of declarations that describe their tokens for messages, such as `IDENT "identifier"`.

use crate::diagnostics::{Code, Diagnostic, Span};

/// The last words of texts that describe a kind of tokens.
const KINDS: &[&str] =
    &["literal", "constant", "identifier", "name", "number", "value", "character", "comment", "token"];

/// Returns true if the text of a token's declaration describes the token: it is a word in lower case, or several words,
/// that are not in the token's name, or several words of which the last is a kind of tokens. The text of `LE "<="` is
/// the token, and so is that of `KW_IF "if"`.
pub(super) fn describes(name: &str, text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let letters =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let word = letters(text);
    let is_word = !word.is_empty() && text.chars().all(|c| c.is_lowercase() || c.is_whitespace());
    let has_words = text.split_whitespace().filter(|part| part.chars().any(char::is_alphabetic)).count() > 1;
    let is_kind = text.split_whitespace().next_back().is_some_and(|last| KINDS.contains(&last));
    has_words && is_kind || (is_word || has_words) && !letters(name).contains(&word)
}

/// Returns the advice to name the file of lex that stands beside the grammar.
pub(super) fn beside(lexer: &str) -> String {
    format!("`{lexer}` beside it says what its tokens are: add `--tokens {lexer}`")
}

/// Returns the warning that texts are drawn which describe their tokens. `None` if there are none. `lexer` names the
/// file of lex that stands beside the grammar, if there is one.
pub(super) fn warning(tokens: &[(&str, &[u8], Span)], lexer: &dyn Fn() -> Option<String>) -> Option<Diagnostic> {
    const SHOWN: usize = 3;
    let &(first, _, span) = tokens.first()?;
    let show = |&(name, text, _): &(&str, &[u8], Span)| {
        let text: String = String::from_utf8_lossy(text).chars().take(40).collect();
        format!("`{name} \"{}\"`", text.escape_debug())
    };
    let shown: Vec<String> = tokens.iter().take(SHOWN).map(show).collect();
    let more = match tokens.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("texts that seem to describe their tokens are drawn as they are: {}{more}", shown.join(", "));
    let usual =
        || format!("say what such tokens are in a file for `--tokens`, with rules such as `{first} ::= [a-z]+`");
    let help = lexer().map_or_else(usual, |lexer| beside(&lexer));
    Some(Diagnostic::warning(Code::UndefinedToken, span, message).help(help))
}
