//! `grammar.json` of tree-sitter. Tokens are strings, patterns and what stands in `token(...)`; a separator from the extras
//! goes between tokens that would run together.

use std::collections::BTreeSet;

use super::Format;
use super::boundaries::{Lexical, Syntax, separate};
use super::builder::{Builder, Part, Reported};
use super::json_text::{self, Json, JsonKey, JsonKind};
use super::keywords;
use super::pattern::{self, Flags};
use crate::ast::{Expr, Grammar, Name, Rule};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};

/// The `tree-sitter` format.
pub struct TreeSitter;

impl Format for TreeSitter {
    fn name(&self) -> &'static str {
        "tree-sitter"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    /// An object with a member `rules` that is an object, too.
    fn looks_like(&self, text: &str) -> bool {
        let rules = |at: usize| {
            let behind = text[at + "\"rules\"".len()..].trim_start();
            behind.strip_prefix(':').is_some_and(|behind| behind.trim_start().starts_with('{'))
        };
        text.trim_start_matches('\u{FEFF}').trim_start().starts_with('{')
            && text.contains("\"type\"")
            && text.match_indices("\"rules\"").take(10).any(|(at, _)| rules(at))
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let Some(value) = json_text::read(file.text(), diagnostics) else { return Grammar::default() };
        let mut builder = Builder::new(diagnostics);
        let JsonKind::Object(members) = value.kind else {
            let message = format!("a grammar is an object, this is {}", value.kind.description());
            builder.error(value.span, message, GRAMMAR_HELP);
            return Grammar::default();
        };
        translate(members, &mut builder)
    }
}

const GRAMMAR_HELP: &str = "it is what `tree-sitter generate` writes to `src/grammar.json`";

/// The members of an object by name.
struct Object<'j>(&'j [(JsonKey, Json)]);

impl<'j> Object<'j> {
    fn get(&self, key: &str) -> Option<&'j Json> {
        self.0.iter().find(|(name, _)| name.text == key).map(|(_, value)| value)
    }

    fn text(&self, key: &str) -> Option<&'j str> {
        match &self.get(key)?.kind {
            JsonKind::String(text) => Some(text),
            _ => None,
        }
    }
}

fn translate(members: Vec<(JsonKey, Json)>, builder: &mut Builder<'_>) -> Grammar {
    let grammar = Object(&members);
    let Some(Json { kind: JsonKind::Object(rules), .. }) = grammar.get("rules") else {
        builder.error(Span::default(), "the grammar has no rules", GRAMMAR_HELP);
        return Grammar::default();
    };
    let list = |key: &str| match grammar.get(key).map(|value| &value.kind) {
        Some(JsonKind::Array(items)) => items.as_slice(),
        _ => &[],
    };
    let tokens = rules.iter().filter(|(_, body)| is_token(body)).map(|(name, _)| name.text.as_str()).collect();
    let immediate = rules.iter().filter(|(_, body)| is_immediate(body)).map(|(name, _)| name.text.as_str()).collect();
    let defined: BTreeSet<&str> = rules.iter().map(|(name, _)| name.text.as_str()).collect();
    let mut translator = Translator { tokens, immediate, builder };
    let (mut syntax, mut lexical) = (Vec::new(), Vec::new());
    for (key, body) in rules {
        if translator.builder.gives_up() {
            break;
        }
        let name = Name { text: key.text.clone(), span: key.span };
        if translator.tokens.contains(key.text.as_str()) {
            let body = translator.lexical(body).map(|part| part.expr);
            let empty = Expr { kind: crate::ast::ExprKind::Seq(Vec::new()), span: key.span };
            lexical.push(Rule { name, body: body.unwrap_or(empty) });
        } else {
            let body = translator.syntax(body).unwrap_or(Syntax::Seq(Vec::new()));
            syntax.push((name, body));
        }
    }
    let externals = list("externals").iter().filter_map(|external| translator.external(external, &defined));
    lexical.extend(externals.collect::<Vec<Rule>>());
    // Without extras in the file, white space is.
    let mut extras = Vec::new();
    for extra in list("extras") {
        extras.extend(translator.lexical(extra).map(|part| part.expr));
    }
    let mut facts = Lexical::new(&lexical);
    let separator = if grammar.get("extras").is_none() { Some(" ") } else { facts.separator(&extras) };
    let words = keywords::exclude(&mut syntax, &mut facts, builder);
    let mut all = separate(syntax, &mut words.lexical(&lexical), separator, builder);
    words.add_to(&mut all, lexical);
    let start = rules.first().map(|(key, _)| Name { text: key.text.clone(), span: key.span });
    Grammar { start, rules: all, ..Grammar::default() }
}

/// What of a rule says only how it is parsed or shown.
fn without_wrapping(json: &Json) -> &Json {
    let mut json = json;
    while let JsonKind::Object(members) = &json.kind {
        let object = Object(members);
        let wraps = matches!(
            object.text("type"),
            Some("FIELD" | "ALIAS" | "PREC" | "PREC_LEFT" | "PREC_RIGHT" | "PREC_DYNAMIC" | "RESERVED")
        );
        match object.get("content").filter(|_| wraps) {
            Some(content) => json = content,
            None => break,
        }
    }
    json
}

fn kind(json: &Json) -> Option<&str> {
    match &json.kind {
        JsonKind::Object(members) => Object(members).text("type"),
        _ => None,
    }
}

fn is_token(body: &Json) -> bool {
    matches!(kind(without_wrapping(body)), Some("STRING" | "PATTERN" | "TOKEN" | "IMMEDIATE_TOKEN"))
}

fn is_immediate(body: &Json) -> bool {
    kind(without_wrapping(body)) == Some("IMMEDIATE_TOKEN")
}

struct Translator<'j, 'b, 'd> {
    /// The names of rules that are tokens, ...
    tokens: BTreeSet<&'j str>,
    /// ... and of those that stand directly behind what is before them.
    immediate: BTreeSet<&'j str>,
    builder: &'b mut Builder<'d>,
}

impl Translator<'_, '_, '_> {
    fn malformed(&mut self, span: Span, what: &str) -> Reported {
        self.builder.error(span, format!("this is no rule of tree-sitter: {what}"), GRAMMAR_HELP)
    }

    /// The members of a rule object and its type.
    fn object<'j>(&mut self, json: &'j Json) -> Result<(Object<'j>, &'j str), Reported> {
        let JsonKind::Object(members) = &json.kind else {
            return Err(self.malformed(json.span, json.kind.description()));
        };
        let object = Object(members);
        match object.text("type") {
            Some(kind) => Ok((object, kind)),
            None => Err(self.malformed(json.span, "it has no `type`")),
        }
    }

    fn content<'j>(&mut self, object: &Object<'j>, span: Span) -> Result<&'j Json, Reported> {
        object.get("content").ok_or_else(|| self.malformed(span, "it has no `content`"))
    }

    fn members<'j>(&mut self, object: &Object<'j>, span: Span) -> Result<&'j [Json], Reported> {
        match object.get("members").map(|value| &value.kind) {
            Some(JsonKind::Array(items)) => Ok(items),
            _ => Err(self.malformed(span, "it has no `members`")),
        }
    }

    fn syntax(&mut self, json: &Json) -> Result<Syntax, Reported> {
        let json = without_wrapping(json);
        let (object, kind) = self.object(json)?;
        let span = json.span;
        Ok(match kind {
            "BLANK" => Syntax::Seq(Vec::new()),
            "STRING" | "PATTERN" | "TOKEN" => Syntax::Token(self.lexical(json)?),
            "IMMEDIATE_TOKEN" => Syntax::Immediate(self.lexical(json)?),
            "SYMBOL" => {
                let Some(name) = object.text("name") else { return Err(self.malformed(span, "it has no `name`")) };
                let part = self.builder.rule(name, span)?;
                if self.immediate.contains(name) {
                    Syntax::Immediate(part)
                } else if self.tokens.contains(name) {
                    Syntax::Token(part)
                } else {
                    Syntax::Rule(part)
                }
            }
            "SEQ" | "CHOICE" => {
                let mut parts = Vec::new();
                for member in self.members(&object, span)? {
                    parts.push(self.syntax(member)?);
                }
                if kind == "SEQ" { Syntax::Seq(parts) } else { Syntax::Choice(parts) }
            }
            "REPEAT" | "REPEAT1" => {
                let item = self.content(&object, span)?;
                Syntax::Repeat(Box::new(self.syntax(item)?), u32::from(kind == "REPEAT1"), None)
            }
            other => return Err(self.malformed(span, &format!("unknown type `{}`", other.escape_debug()))),
        })
    }

    /// What stands in a token: nothing goes between its parts.
    fn lexical(&mut self, json: &Json) -> Result<Part, Reported> {
        let json = without_wrapping(json);
        let (object, kind) = self.object(json)?;
        let span = json.span;
        match kind {
            "BLANK" => self.builder.seq(Vec::new(), span),
            "STRING" | "PATTERN" => {
                let Some(value) = object.text("value") else { return Err(self.malformed(span, "it has no `value`")) };
                if kind == "STRING" {
                    return self.builder.bytes(value, span);
                }
                let mut flags = Flags::default();
                for letter in object.text("flags").unwrap_or("").chars() {
                    flags.add(letter);
                }
                pattern::part(value, flags, span, self.builder)
            }
            "TOKEN" | "IMMEDIATE_TOKEN" => {
                let content = self.content(&object, span)?;
                self.lexical(content)
            }
            "SYMBOL" => {
                let Some(name) = object.text("name") else { return Err(self.malformed(span, "it has no `name`")) };
                self.builder.rule(name, span)
            }
            "SEQ" | "CHOICE" => {
                let mut parts = Vec::new();
                for member in self.members(&object, span)? {
                    parts.push(self.lexical(member)?);
                }
                if kind == "SEQ" { self.builder.seq(parts, span) } else { self.builder.any(parts, span) }
            }
            "REPEAT" | "REPEAT1" => {
                let item = self.content(&object, span)?;
                let item = self.lexical(item)?;
                self.builder.repeat(item, u32::from(kind == "REPEAT1"), None, span)
            }
            other => Err(self.malformed(span, &format!("unknown type `{}`", other.escape_debug()))),
        }
    }

    /// A rule for a token that code outside of the grammar reads.
    fn external(&mut self, json: &Json, defined: &BTreeSet<&str>) -> Option<Rule> {
        let JsonKind::Object(members) = &json.kind else { return None };
        let name = Object(members).text("name")?;
        if defined.contains(name) || Object(members).text("type") != Some("SYMBOL") {
            return None;
        }
        let text = match name {
            _ if name.contains("newline") => "\n",
            _ if name.contains("semicolon") => ";",
            _ => "",
        };
        let shown: String = name.chars().take(80).collect();
        let message = format!(
            "the external token `{shown}` derives {}",
            if text.is_empty() { "nothing".to_string() } else { format!("`{}`", text.escape_debug()) }
        );
        let help = "code outside of the grammar reads it; add a rule of its name to say what it is";
        self.builder.report(Diagnostic::warning(Code::NotContextFree, json.span, message).help(help));
        let body = self.builder.bytes(text, json.span).ok()?.expr;
        Some(Rule { name: Name { text: name.to_string(), span: json.span }, body })
    }
}

#[cfg(test)]
mod tests;
