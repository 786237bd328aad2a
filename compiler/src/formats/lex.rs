//! Files of lex and flex, which say what the tokens of a grammar of yacc are.
//!
//! `file` cuts a file into definitions, rules and code. `patterns` reads its regular expressions, and `actions` finds
//! the token that an action makes. `rules` joins both to the rules of a lexer, and [`crate::tokens`] keeps its tokens
//! apart.

mod actions;
mod classes;
mod code;
mod definitions;
mod file;
mod lookups;
mod matching;
mod patterns;
mod rules;
mod strings;

use super::Loader;

pub(super) use rules::{Lexed, Wanted, read};

/// The extensions of files of lex and flex.
pub(super) const EXTENSIONS: &[&str] = &["l", "ll", "lex", "flex", "lpp", "lxx"];

/// Returns true if a file of tokens is one of lex or flex, as its name says. Files in other notations are called
/// `.lex`, too, so the text of such a file must have a line `%%`.
pub(super) fn is_lexer(name: &str, loader: &dyn Loader) -> bool {
    let extension = name.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, end)| end);
    let is_divided = || loader.load(name).is_ok_and(|file| file.text().lines().any(|line| line.starts_with("%%")));
    let is_known = EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known));
    is_known && (!extension.eq_ignore_ascii_case("lex") || is_divided())
}

#[cfg(test)]
mod tests;
