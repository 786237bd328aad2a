//! Files of lex and flex, which say what the tokens of a grammar of yacc are.
//!
//! `file` cuts a file into definitions, rules and code. `patterns` reads its regular expressions, and `actions` finds
//! the token that an action makes. `rules` joins both to the rules of a lexer, and [`crate::tokens`] keeps its tokens
//! apart.

mod actions;
mod classes;
mod code;
mod file;
mod lookups;
mod patterns;
mod rules;
mod strings;

pub(super) use rules::{Lexed, Wanted, read};

/// The extensions of files of lex and flex.
pub(super) const EXTENSIONS: &[&str] = &["l", "ll", "lex", "flex", "lpp", "lxx"];

/// Returns true if a file of this name is one of lex or flex.
pub(super) fn is_called(name: &str) -> bool {
    let extension = name.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, end)| end);
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests;
