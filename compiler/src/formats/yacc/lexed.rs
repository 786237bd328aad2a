//! Grammars whose tokens a file of lex describes: they become grammars over tokens.

use super::levels;
use super::parser::Parsed;
use super::symbols::Symbol;
use crate::ast::Grammar;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use crate::formats::Surroundings;
use crate::formats::lex::{self, Lexed, Wanted};
use crate::levels::Binding;
use crate::ordered::{Map, Set};
use crate::tokens::{self, Alphabet, Lexer, LexerRule, Outcome, Pattern, SeparatorPolicy, Syntax, TokenGrammar};

/// The most tokens that a message names.
const MAX_NAMES: usize = 6;

/// Returns the grammar over characters.
pub(super) fn grammar(
    parsed: &Parsed<'_>,
    file: &SourceFile,
    surroundings: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) -> Grammar {
    let Some(start) = start(parsed, surroundings.start, diagnostics) else { return Grammar::default() };
    let mut tokens = Tokens { parsed, by_text: parsed.by_text(), names: Vec::new(), by_name: Map::new() };
    let mut rules = Vec::new();
    for (name, alternatives) in &parsed.rules {
        let mut options: Vec<Syntax> = alternatives
            .iter()
            .map(|alternative| Syntax::Seq(alternative.symbols.iter().filter_map(|one| tokens.syntax(one)).collect()))
            .collect();
        if options.is_empty() {
            let message = format!("rule `{}` has no alternatives left", name.text);
            let help = "every alternative has `error` in it";
            diagnostics.push(Diagnostic::error(Code::Syntax, name.span, message).help(help));
        }
        let body = if options.len() == 1 { options.remove(0) } else { Syntax::Choice(options) };
        rules.push(tokens::Rule { name: name.text.clone(), span: name.span, body });
    }
    if diagnostics.has_errors() {
        return Grammar::default();
    }
    let span = rules[start].span;
    let Tokens { mut names, .. } = tokens;
    let declared: Set<&str> = parsed.tokens.keys().copied().collect();
    let wanted = Wanted { names: &names, declared: &declared, unused: names.len(), span };
    let Some(lexed) = lex::read(file, &wanted, diagnostics) else { return Grammar::default() };
    let Lexed { modes, rules: mut lexical, fragments, has_unread, minds_lines } = lexed;
    supply(parsed, &names, has_unread, &mut lexical, span);
    report_missing(&names, &lexical, file, span, diagnostics);
    names.push("unused".to_string());
    tokens::give_levels(&mut rules, &bindings(parsed));
    let lexer = Lexer { tokens: names, modes, rules: lexical, fragments, layout: None };
    let grammar = TokenGrammar { rules, start, lexer, has_code: minds_lines };
    tokens::expand(&grammar, &options(surroundings), diagnostics)
}

/// Returns the place of the start rule.
fn start(parsed: &Parsed<'_>, chosen: Option<&str>, diagnostics: &mut Diagnostics) -> Option<usize> {
    let declared = parsed.start.as_ref().map(|name| (name.text.as_str(), Some(name.span)));
    let Some((name, span)) = chosen.map(|name| (name, None)).or(declared) else {
        return (!parsed.rules.is_empty()).then_some(0);
    };
    let place = parsed.index.get(name).copied();
    if place.is_none() {
        let message = format!("the start rule `{}` is not defined", name.escape_debug());
        let help = "choose a rule of the grammar with `%start` or `--start`";
        diagnostics.push(Diagnostic::error(Code::UndefinedRule, span, message).help(help));
    }
    place
}

/// Returns the options for separators and alphabet. Lexers of lex read bytes, so only characters of ASCII are drawn.
fn options(surroundings: &Surroundings<'_>) -> tokens::Options {
    let separators = surroundings.options.separators;
    let usual = if separators == SeparatorPolicy::Any { separators.alphabet() } else { Alphabet::Ascii };
    tokens::Options { separators, alphabet: surroundings.options.alphabet.unwrap_or(usual) }
}

fn bindings(parsed: &Parsed<'_>) -> Vec<Vec<Binding>> {
    let by_text = parsed.by_text();
    let names = levels::Names {
        by_text: &by_text,
        text: &|name| parsed.tokens.get(name).and_then(|declared| declared.text.as_deref()),
        is_rule: &|name| parsed.index.contains_key(name),
    };
    parsed.rules.iter().map(|(_, all)| all.iter().map(|one| parsed.levels.binding(one, &names)).collect()).collect()
}

/// The tokens that rules use.
struct Tokens<'p, 't> {
    parsed: &'p Parsed<'t>,
    by_text: Map<&'p [u8], &'t str>,
    names: Vec<String>,
    by_name: Map<String, usize>,
}

impl Tokens<'_, '_> {
    /// Returns a symbol. `None` for the end of the input.
    fn syntax(&mut self, symbol: &Symbol) -> Option<Syntax> {
        let name = match symbol {
            Symbol::Name(name, _) => {
                if let Some(&rule) = self.parsed.index.get(name.as_str()) {
                    return Some(Syntax::Rule(rule));
                }
                name.clone()
            }
            Symbol::Text(text, _) => match self.by_text.get(text.as_slice()) {
                Some(name) => name.to_string(),
                None => format!("'{}'", String::from_utf8_lossy(text)),
            },
        };
        if self.parsed.tokens.get(name.as_str()).is_some_and(|declared| declared.end) {
            return None;
        }
        let next = self.names.len();
        let number = *self.by_name.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        Some(Syntax::Token(number))
    }
}

/// Adds rules for tokens whose text the grammar says and that no rule makes, if actions that are not read may.
fn supply(parsed: &Parsed<'_>, names: &[String], has_unread: bool, rules: &mut Vec<LexerRule>, span: Span) {
    let made = made(rules);
    let missing = names.iter().enumerate().filter(|(token, _)| has_unread && !made.contains(token));
    let supplied: Vec<LexerRule> = missing
        .filter_map(|(token, name)| {
            let text = match name.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')) {
                Some(text) => text.to_string(),
                None => parsed.plain_text(name)?,
            };
            let outcome = Outcome::Token(token);
            let pattern = Pattern::text(&text);
            Some(LexerRule { name: name.clone(), span, mode: 0, pattern, outcome, moves: Vec::new() })
        })
        .collect();
    rules.splice(0..0, supplied);
}

/// Returns the tokens that some rule makes.
fn made(rules: &[LexerRule]) -> Set<usize> {
    let tokens = rules.iter().filter_map(|rule| match rule.outcome {
        Outcome::Token(token) => Some(token),
        Outcome::Hidden | Outcome::More => None,
    });
    tokens.collect()
}

/// Reports the tokens that no rule makes.
fn report_missing(names: &[String], rules: &[LexerRule], file: &SourceFile, span: Span, diagnostics: &mut Diagnostics) {
    let made = made(rules);
    let missing: Vec<&String> =
        names.iter().enumerate().filter(|(token, _)| !made.contains(token)).map(|(_, name)| name).collect();
    if missing.is_empty() {
        return;
    }
    let show = |name: &&String| format!("`{}`", name.escape_debug().to_string().replace("\\'", "'"));
    let mut shown: Vec<String> = missing.iter().take(MAX_NAMES).map(show).collect();
    if missing.len() > MAX_NAMES {
        shown.push(format!("{} more", missing.len() - MAX_NAMES));
    }
    let message = format!("no rule of `{}` makes these tokens: {}", file.name(), shown.join(", "));
    let help = "what needs them is left out; write a rule for each in a copy of that file";
    diagnostics.push(Diagnostic::warning(Code::UndefinedToken, span, message).help(help));
}
