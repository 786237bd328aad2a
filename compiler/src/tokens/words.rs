//! Words without keywords: the texts that remain of a pattern when the lexer takes some for other tokens.

use super::alphabet::Alphabet;
use super::language::NEVER;
use super::language::{MAX_WRITTEN, language};
use super::sets::{Sets, each_part};
use super::states::Automata;
use super::{Fragment, Lexer, LexerRule, Outcome, Pattern};
use crate::ast::Expr;
use crate::diagnostics::Span;

/// A token, and the keywords that the lexer prefers to it.
#[derive(Clone, Debug)]
pub struct Word {
    /// The token's name.
    pub name: String,
    /// Its place.
    pub span: Span,
    /// The pattern that it matches.
    pub pattern: Pattern,
    /// The keywords.
    pub keywords: Vec<Pattern>,
}

/// An expression, and the rules that it refers to.
pub type Written = (Expr, Vec<(String, Expr)>);

/// Returns for each word an expression for its texts without the keywords, and the rules that the expression refers to.
/// Their names begin with the word's name and a full stop. `None` if no keyword is among its texts, if no other text
/// is, or if the pattern is too large or too deep.
pub fn without_keywords(words: &[Word], fragments: &[Fragment]) -> Vec<Option<Written>> {
    let mut lexer = Lexer { modes: words.len(), fragments: fragments.to_vec(), ..Lexer::default() };
    let mut places = Vec::with_capacity(words.len());
    for (mode, word) in words.iter().enumerate() {
        for pattern in word.keywords.iter().chain([&word.pattern]) {
            let (name, pattern) = (word.name.clone(), pattern.clone());
            let outcome = Outcome::Token(mode);
            lexer.rules.push(LexerRule { name, span: word.span, mode, pattern, outcome, moves: Vec::new() });
        }
        places.push(lexer.rules.len() - 1);
        lexer.tokens.push(word.name.clone());
    }
    let automata = Automata::new(&lexer, Alphabet::Unicode);
    let mut left = MAX_WRITTEN;
    words
        .iter()
        .zip(places)
        .map(|(word, rule)| {
            if is_recursive(&word.pattern, &automata.sets) || !automata.is_shaped(rule) {
                return None;
            }
            let mut name = |number: usize| format!("{}.{}", word.name, number + 2);
            let found = language(&automata, rule, None, Alphabet::Unicode, word.span, &mut left, &mut name)?;
            (!is_never(&found.0)).then_some(found)
        })
        .collect()
}

/// Returns true if no text is left. The lexer must then choose the token by context.
fn is_never(expr: &Expr) -> bool {
    expr.as_rule() == Some(NEVER)
}

fn is_recursive(pattern: &Pattern, sets: &Sets) -> bool {
    let mut recursive = false;
    each_part(pattern, &mut |part| recursive |= matches!(part, Pattern::Fragment(place) if sets.is_recursive(*place)));
    recursive
}
