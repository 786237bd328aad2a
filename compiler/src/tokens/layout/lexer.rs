//! Adds rules for layout tokens to a lexer, so that they differ from all other tokens.

use super::{DEDENT, INDENT, NEWLINE};
use crate::charset::{CharSet, Unit};
use crate::tokens::states::Automata;
use crate::tokens::{Alphabet, LayoutTokens, Lexer, LexerRule, Outcome, Pattern, TokenGrammar};

/// Characters for the beginning and the end of a block while tokens are compared. No text contains them: references to
/// [`INDENT`] and [`DEDENT`] are written in their place.
const MARKS: [u32; 2] = [0x10_FF7E, 0x10_FF7F];
/// The usual ends of lines, in order of preference.
const LINE_BREAKS: [&str; 3] = ["\n", "\r\n", "\r"];

impl LayoutTokens {
    /// Returns the name of the layout rule for a token, if it is a layout token.
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
    /// Returns the first mode in which lines end.
    pub(in crate::tokens) fn layout_mode(&self) -> usize {
        self.line_rule().map_or(0, |rule| rule.mode)
    }

    /// Returns the end of a line, once [`with_rules`] has written it into its lexer rule.
    pub(in crate::tokens) fn line_end(&self) -> String {
        let text = self.line_rule().and_then(|rule| rule.pattern.as_text());
        text.unwrap_or_else(|| LINE_BREAKS[0].to_string())
    }

    /// Returns the first lexer rule that makes the end of a line.
    fn line_rule(&self) -> Option<&LexerRule> {
        let newline = self.layout?.newline?;
        self.rules.iter().find(|rule| rule.outcome == Outcome::Token(newline))
    }

    /// Returns a text of the token for the end of a line: a line break if one of them is a text of it, else a shortest
    /// text.
    fn line_break(&self) -> String {
        let usual = || LINE_BREAKS[0].to_string();
        let Some(rule) = self.line_rule() else { return usual() };
        let alone = Lexer { rules: vec![rule.clone()], ..self.clone() };
        let automata = Automata::new(&alone, Alphabet::Ascii);
        let Some(dfa) = automata.of_rule(0) else { return usual() };
        let is_match = |text: &&&str| dfa.winner(automata.run(dfa, text)).is_some();
        match LINE_BREAKS.iter().find(is_match) {
            Some(text) => (*text).to_string(),
            None => automata.shortest(0).unwrap_or_else(usual),
        }
    }
}

/// Returns the grammar with lexer rules for the beginning and the end of blocks in each mode with line ends, before all
/// other rules. The end of a line becomes just one text, a line break if possible. Other rules for these tokens are
/// left out.
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
    let line_break = grammar.lexer.line_break();
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
            rule.pattern = Pattern::text(&line_break);
        }
        lexer.rules.push(rule);
    }
    TokenGrammar { lexer, ..grammar.clone() }
}
