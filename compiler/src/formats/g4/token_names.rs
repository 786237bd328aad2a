//! The tokens of a grammar, by their names and numbers.

use crate::ordered::{Map, Set};

/// The tokens of a grammar.
#[derive(Default)]
pub(super) struct Tokens<'s> {
    pub(super) names: Vec<String>,
    pub(super) by_name: Map<String, usize>,
    /// The tokens that lexer rules make, or that stand for the layout of lines.
    pub(super) made: Set<&'s str>,
    pub(super) aliases: Map<&'s str, &'s str>,
    /// Tokens for literals of the parser, in order.
    pub(super) implicit: Vec<(String, usize)>,
    pub(super) implicit_ids: Map<String, usize>,
}

impl Tokens<'_> {
    /// Returns the number of a token, which is a new one if the name is.
    pub(super) fn add(&mut self, name: &str) -> usize {
        let names = &mut self.names;
        *self.by_name.entry(name.to_string()).or_insert_with(|| {
            names.push(name.to_string());
            names.len() - 1
        })
    }
}
