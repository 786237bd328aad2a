//! Grammars of Nautilus: Python files that call `ctx.rule("A", "x{B}")`, and JSON lists of `["A", "x{B}"]`.
//!
//! Python is not run: calls with literals are read, other code is reported.

use super::Format;
use super::builder::{Builder, Part, Reported, RuleList};
use super::glance;
use super::json_text::{self, Json, JsonKind};
use crate::ast::{Grammar, Name, Weight};
use crate::diagnostics::{Diagnostics, SourceFile, Span};
use crate::ordered::Set;

mod calls;

/// The `nautilus` format.
pub struct Nautilus;

impl Format for Nautilus {
    fn name(&self) -> &'static str {
        "nautilus"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["py", "json"]
    }

    fn looks_like(&self, text: &str) -> bool {
        is_json(text) || glance::lines(text).any(|line| line.starts_with("ctx.") && line.contains('('))
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let mut rules = RuleList::default();
        let mut builder;
        if is_json(file.text()) {
            let Some(value) = json_text::read(file.text(), diagnostics) else { return Grammar::default() };
            builder = Builder::new(diagnostics);
            read_list(value, &mut rules, &mut builder);
        } else {
            builder = Builder::new(diagnostics);
            calls::read(file.text(), &mut rules, &mut builder);
        }
        let rules = rules.finish(&mut builder);
        let start = rules.iter().find(|rule| rule.name.text == "START").map(|rule| rule.name.clone());
        Grammar { start, rules, ..Grammar::default() }
    }
}

fn is_json(text: &str) -> bool {
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    text.strip_prefix('[').is_some_and(|text| text.trim_start().starts_with(['[', ']']))
}

const RULE_HELP: &str = "a rule is written `[\"NAME\", \"text {OTHER} text\"]`";

/// Reads `[["A", "x{B}"], ...]`.
fn read_list(value: Json, rules: &mut RuleList, builder: &mut Builder<'_>) {
    let JsonKind::Array(items) = value.kind else { return };
    for item in items {
        if builder.gives_up() {
            return;
        }
        let JsonKind::Array(pair) = item.kind else {
            builder.error(
                item.span,
                format!("a rule is a list of two strings, this is {}", item.kind.description()),
                RULE_HELP,
            );
            continue;
        };
        match pair.as_slice() {
            [Json { kind: JsonKind::String(name), span }, Json { kind: JsonKind::String(text), span: place }] => {
                // The errors have been reported.
                let _ = add_rule(rules, builder, (name, *span), (text.as_bytes(), *place), None);
            }
            _ => drop(builder.error(item.span, "a rule is a list of two strings", RULE_HELP)),
        }
    }
}

/// Adds an alternative.
fn add_rule(
    rules: &mut RuleList,
    builder: &mut Builder<'_>,
    (name, span): (&str, Span),
    (text, place): (&[u8], Span),
    weight: Option<Weight>,
) -> Result<(), Reported> {
    if !is_name(name) {
        let help = "names begin with a capital letter and go on with letters, digits, `_` and `-`";
        return Err(builder.error(span, format!("`{}` is no name", name.escape_debug()), help));
    }
    let rule = rules.rule(Name { text: name.to_string(), span }, builder)?;
    let part = expansion(builder, text, place)?;
    rules.add(rule, [(part, weight)]);
    Ok(())
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Returns a text with `{NAME}` or `{NAME:label}` in it. Literal braces are `\{` and `\}`. As in Nautilus, the braces
/// of a reference are not empty and contain no backslash. An opening brace that begins no reference, as in `{}`, is
/// text.
fn expansion(builder: &mut Builder<'_>, text: &[u8], span: Span) -> Result<Part, Reported> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut at = 0;
    let mut has_text_braces = false;
    while at < text.len() {
        match text[at] {
            b'\\' if matches!(text.get(at + 1), Some(b'{' | b'}')) => {
                literal.push(text[at + 1]);
                at += 2;
            }
            b'{' => {
                // Searches only up to the next brace, so that many braces take linear time.
                let length = text[at + 1..]
                    .iter()
                    .position(|&byte| matches!(byte, b'{' | b'}' | b'\\'))
                    .map(|between| between + 1);
                let Some(length) = length.filter(|&length| length > 1 && text[at + length] == b'}') else {
                    let help = "Nautilus leaves such a brace out; here it is text, which `\\{` is in both";
                    if !std::mem::replace(&mut has_text_braces, true) {
                        builder.approximate(span, "a brace begins no reference", help);
                    }
                    literal.push(b'{');
                    at += 1;
                    continue;
                };
                let name = std::str::from_utf8(&text[at + 1..at + length]).ok();
                let name = name.map(|name| name.split(':').next().unwrap_or(name)).filter(|name| is_name(name));
                let Some(name) = name else {
                    let help =
                        "a reference is `{NAME}`, where the name begins with a capital letter; a brace itself is `\\{`";
                    return Err(builder.error(span, "this brace begins no reference", help));
                };
                if !literal.is_empty() {
                    parts.push(builder.bytes(std::mem::take(&mut literal), span)?);
                }
                parts.push(builder.rule(name, span)?);
                at += length + 1;
            }
            byte => {
                literal.push(byte);
                at += 1;
            }
        }
    }
    if !literal.is_empty() || parts.is_empty() {
        parts.push(builder.bytes(literal, span)?);
    }
    builder.seq(parts, span)
}

/// Returns true if a name occurs twice in a list. Such a name must derive the same text twice, but is drawn twice here.
fn repeats(names: &[String]) -> bool {
    let mut seen = Set::new();
    !names.iter().all(|name| seen.insert(name))
}

#[cfg(test)]
mod tests;
