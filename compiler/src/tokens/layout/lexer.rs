//! Adds rules for layout tokens to a lexer, so that they differ from all other tokens.

use super::{DEDENT, INDENT, NEWLINE};
use crate::charset::{CharSet, Unit};
use crate::tokens::{LayoutTokens, Lexer, LexerRule, Outcome, Pattern, TokenGrammar};

/// Characters for the beginning and the end of a block while tokens are compared. No text contains them: references to
/// [`INDENT`] and [`DEDENT`] are written in their place.
const MARKS: [u32; 2] = [0x10_FF7E, 0x10_FF7F];

impl LayoutTokens {
    /// The name of the layout rule for a token, if it is a layout token.
    pub(in crate::tokens) fn stand_in(&self, outcome: Outcome) -> Option<&'static str> {
        match outcome {
            Outcome::Token(token) if token == self.indent => Some(INDENT),
            Outcome::Token(token) if token == self.dedent => Some(DEDENT),
            Outcome::Token(token) if Some(token) == self.newline => Some(NEWLINE),
            _ => None,
        }
    }
}

impl Lexer {
    /// The first mode in which lines end.
    pub(in crate::tokens) fn layout_mode(&self) -> usize {
        let newline = self.layout.and_then(|tokens| tokens.newline);
        self.rules
            .iter()
            .find(|rule| newline.is_some_and(|token| rule.outcome == Outcome::Token(token)))
            .map_or(0, |rule| rule.mode)
    }
}

/// The grammar with lexer rules for the beginning and the end of blocks in each mode with line ends, before all other
/// rules. The end of a line becomes just a line break. Other rules for these tokens are left out.
pub(in crate::tokens) fn with_rules(grammar: &TokenGrammar, tokens: &LayoutTokens) -> TokenGrammar {
    let mut lexer = Lexer { rules: Vec::new(), ..grammar.lexer.clone() };
    let ends_line = |rule: &LexerRule| tokens.newline.is_some_and(|token| rule.outcome == Outcome::Token(token));
    let has_lines =
        |mode| tokens.newline.is_none() || grammar.lexer.rules.iter().any(|rule| rule.mode == mode && ends_line(rule));
    let span = grammar.rules[grammar.start].span;
    for mode in (0..lexer.modes).filter(|&mode| has_lines(mode)) {
        for (token, mark) in [tokens.indent, tokens.dedent].into_iter().zip(MARKS) {
            let pattern = Pattern::Set { set: CharSet::single(Unit::Char, mark), listed: true };
            let name = lexer.tokens[token].clone();
            lexer.rules.push(LexerRule {
                name,
                span,
                mode,
                pattern,
                outcome: Outcome::Token(token),
                moves: Vec::new(),
            });
        }
    }
    let mut ended = vec![false; lexer.modes];
    for rule in &grammar.lexer.rules {
        let makes_block = |token| rule.outcome == Outcome::Token(token);
        if makes_block(tokens.indent) || makes_block(tokens.dedent) {
            continue;
        }
        let mut rule = rule.clone();
        if ends_line(&rule) {
            // The first of several rules in a mode replaces them all.
            if std::mem::replace(&mut ended[rule.mode], true) {
                continue;
            }
            rule.pattern = Pattern::text("\n");
        }
        lexer.rules.push(rule);
    }
    TokenGrammar { lexer, ..grammar.clone() }
}
