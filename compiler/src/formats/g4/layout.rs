//! Finds the tokens for the indentation of lines. A lexer's superclass makes them, without a rule.

use super::sources::Sources;
use super::syntax::{Alternative, Element, ElementKind, Rule};
use super::token_names::Tokens;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::tokens::{Indent, LayoutTokens, TokenNames};

/// The usual names of the tokens for the beginning and the end of a block, and for the end of a line.
const INDENT: &str = "INDENT";
const DEDENT: &str = "DEDENT";
const NEWLINES: &[&str] = &["NEWLINE", "NL", "EOL"];

/// Returns the tokens for the layout, if there are any.
pub(super) fn tokens<'s>(
    sources: &'s Sources,
    indent: &Indent,
    tokens: &mut Tokens<'s>,
    diagnostics: &mut Diagnostics,
) -> Option<LayoutTokens> {
    if indent.off {
        return None;
    }
    let (newline, [begin, end]) = match &indent.names {
        Some(names) => chosen(sources, names, diagnostics)?,
        None => {
            let names = [INDENT, DEDENT].map(|name| known(sources, name));
            let [Some(begin), Some(end)] = names else { return None };
            if [begin, end].iter().any(|&name| tokens.made.contains(name)) {
                return None;
            }
            let newline = NEWLINES.iter().find_map(|&name| line_rule(sources, name));
            (newline, [begin, end])
        }
    };
    tokens.made.extend([begin, end]);
    Some(LayoutTokens {
        newline: newline.map(|name| tokens.add(name)),
        indent: tokens.add(begin),
        dedent: tokens.add(end),
        indentation: indent.indentation,
    })
}

/// Returns the tokens that the user has named.
fn chosen<'s>(
    sources: &'s Sources,
    names: &TokenNames,
    diagnostics: &mut Diagnostics,
) -> Option<(Option<&'s str>, [&'s str; 2])> {
    let mut refuse = |message: String, help: &str| {
        diagnostics.push(Diagnostic::error(Code::UnknownDirective, None, message).help(help));
    };
    let mut found = Vec::new();
    for name in [&names.indent, &names.dedent] {
        let name = name.as_str();
        match known(sources, name) {
            Some(name) => found.push(name),
            None => refuse(
                format!("no rule uses the token `{}` for indentation", name.escape_debug()),
                "name tokens of the grammar: `--indent tokens=NEWLINE/INDENT/DEDENT`",
            ),
        }
    }
    let newline = match &names.newline {
        Some(name) => {
            let rule = line_rule(sources, name.as_str());
            if rule.is_none() {
                refuse(
                    format!("no lexer rule makes the token `{}` for ends of lines", name.as_str().escape_debug()),
                    "name a token that the parser sees, or none: `--indent tokens=/INDENT/DEDENT`",
                );
                return None;
            }
            rule
        }
        None => None,
    };
    let [begin, end] = <[&str; 2]>::try_from(found).ok()?;
    Some((newline, [begin, end]))
}

/// Returns the grammar's spelling of the name, if the grammar declares such a token or a parser rule uses it.
fn known<'s>(sources: &'s Sources, name: &str) -> Option<&'s str> {
    let declared = sources.tokens.iter().find(|token| token.text == name).map(|token| token.text.as_str());
    declared.or_else(|| {
        let rules = sources.parser.iter().flat_map(|rule| &rule.alternatives);
        rules.flat_map(|alternative| &alternative.elements).find_map(|element| used(element, name))
    })
}

fn used<'s>(element: &'s Element, name: &str) -> Option<&'s str> {
    match &element.kind {
        ElementKind::Name(used) if used == name => Some(used),
        ElementKind::Literal(_)
        | ElementKind::Set(_)
        | ElementKind::Name(_)
        | ElementKind::Wildcard
        | ElementKind::Predicate(_) => None,
        ElementKind::Not(item) | ElementKind::Repeat { item, .. } => used(item, name),
        ElementKind::Block(alternatives) => {
            let mut elements = alternatives.iter().flat_map(|alternative: &Alternative| &alternative.elements);
            elements.find_map(|element| used(element, name))
        }
    }
}

/// Returns the grammar's spelling of a lexer rule's name, if the parser sees its tokens.
fn line_rule<'s>(sources: &'s Sources, name: &str) -> Option<&'s str> {
    let is_hidden = |rule: &Rule| {
        let mut commands = rule.alternatives.iter().flat_map(|alternative| &alternative.commands);
        commands.any(|command| matches!(command.name.text.as_str(), "skip" | "channel" | "more" | "type"))
    };
    let rule = sources.lexer.iter().find(|rule| !rule.is_fragment && rule.name.text == name)?;
    (!is_hidden(rule)).then_some(rule.name.text.as_str())
}

#[cfg(test)]
mod tests;
