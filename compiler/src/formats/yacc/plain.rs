//! Grammars whose tokens have texts in their declarations, or rules in another grammar.

use super::described::{self, beside};
use super::levels;
use super::parser::{Declared, Parsed};
use super::symbols::Symbol;
use crate::ast::{self, Grammar, Name};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::formats::boundaries::{Lexical, Syntax, blanks, separate};
use crate::formats::builder::{Builder, Part, Reported};
use crate::formats::given::Given;
use crate::formats::keywords;
use crate::formats::levels::{add_origins, give_levels};
use crate::ordered::Map;

/// Returns the grammar over characters. `lexer` names the file of lex that stands beside the grammar, if there is one.
pub(super) fn grammar(
    parsed: &Parsed<'_>,
    given: &Given,
    lexer: &dyn Fn() -> Option<String>,
    builder: &mut Builder<'_>,
) -> Grammar {
    let Parsed { tokens, levels, start, rules, index } = parsed;
    let by_text = parsed.by_text();
    let mut needed: Map<&str, Span> = Map::new();
    let mut syntax = Vec::new();
    for (name, alternatives) in rules {
        let mut choice = Vec::new();
        for symbols in alternatives {
            let mut parts = Vec::new();
            for symbol in &symbols.symbols {
                let part = match symbol {
                    Symbol::Name(name, span) if index.contains_key(name.as_str()) => {
                        builder.rule(name.as_str(), *span).map(Syntax::Rule)
                    }
                    Symbol::Name(name, span) => {
                        needed.entry(name).or_insert(*span);
                        builder.rule(name.as_str(), *span).map(Syntax::Token)
                    }
                    Symbol::Text(text, span) => match by_text.get(text.as_slice()) {
                        Some(&name) if given.has(name) => {
                            needed.entry(name).or_insert(*span);
                            builder.rule(name, *span).map(Syntax::Token)
                        }
                        _ => builder.bytes(text.as_slice(), *span).map(Syntax::Token),
                    },
                };
                parts.extend(part);
            }
            choice.push(Syntax::Seq(parts));
        }
        // A rule that the budget has cut short is not reported.
        if choice.is_empty() && !builder.gives_up() {
            let help = "every alternative has `error` in it";
            builder.error(name.span, format!("rule `{}` has no alternatives left", name.text), help);
        }
        syntax.push((name.clone(), Syntax::Choice(choice)));
    }
    let names = levels::Names {
        by_text: &by_text,
        text: &|name| tokens.get(name).and_then(|declared| declared.text.as_deref()),
        is_rule: &|name| index.contains_key(name),
    };
    let bindings: Vec<_> =
        rules.iter().map(|(_, all)| all.iter().map(|one| levels.binding(one, &names)).collect()).collect();
    let is_name = |name: &str| index.contains_key(name) || tokens.contains_key(name) || needed.contains_key(name);
    let origins = give_levels(&mut syntax, &bindings, is_name, builder);
    let mut lexical: Vec<ast::Rule> = Vec::new();
    let described: Vec<_> = needed
        .keys()
        .filter_map(|&name| {
            let declared = tokens.get(name).filter(|declared| declared.is_described && !declared.end)?;
            Some((name, declared.text.as_deref()?, declared.span)).filter(|_| !given.has(name))
        })
        .collect();
    described::warning(&described, lexer).into_iter().for_each(|warning| builder.warn(warning));
    for (&name, &span) in &needed {
        if !given.has(name)
            && let Ok(part) = token(name, span, tokens.get(name), lexer, builder)
        {
            lexical.push(ast::Rule::new(Name { text: name.to_string(), span }, part.expr));
        }
    }
    let is_taken = |name: &str| index.contains_key(name) || needed.contains_key(name);
    lexical.extend(given.rules(needed.keys().copied(), is_taken, builder));
    let words = keywords::exclude(&mut syntax, &mut Lexical::new(&lexical), builder);
    let mut all = separate(syntax, &mut words.lexical(&lexical), &blanks(&[" "]), builder);
    words.add_to(&mut all, lexical);
    let start = start.clone().or_else(|| rules.first().map(|(name, _)| name.clone()));
    let grammar = Grammar { start, rules: all, ..Grammar::default() };
    let mut grammar = grammar.with_own(|name| index.contains_key(name) || tokens.contains_key(name));
    add_origins(&mut grammar, origins);
    grammar
}

/// Returns the expression of a token that no other file defines.
fn token(
    name: &str,
    span: Span,
    declared: Option<&Declared>,
    lexer: &dyn Fn() -> Option<String>,
    builder: &mut Builder<'_>,
) -> Result<Part, Reported> {
    let usual = || {
        format!("declare it with a text, `%token {name} \"text\"`, or define it in a file of tokens beside the grammar")
    };
    let help = || lexer().map_or_else(usual, |lexer| beside(&lexer));
    match declared {
        Some(Declared { end: true, .. }) => builder.bytes("", span),
        Some(Declared { text: Some(text), .. }) => builder.bytes(text.as_slice(), span),
        Some(Declared { span: declared, .. }) => {
            let message = format!("nothing says what the token `{name}` is");
            let diagnostic =
                Diagnostic::error(Code::UndefinedRule, span, message).related(*declared, "it is declared here");
            Err(builder.report(diagnostic.help(help())))
        }
        None => {
            let message = format!("`{name}` is neither a rule nor a token that is declared");
            Err(builder.report(Diagnostic::error(Code::UndefinedRule, span, message).help(help())))
        }
    }
}
