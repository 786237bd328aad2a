//! Grammars as JSON: the notation of the Fuzzing Book, where an expansion is a string with `<names>` in it, and that of
//! F1, where it is a list of symbols. The reference is `docs/grammar-json.md`.

use super::json_text::{self, Json, JsonKey, JsonKind, Locator};
use super::{Format, MAX_EXPRESSIONS};
use crate::ast::{Alternative, Expr, ExprKind, Grammar, Name, Rule, Weight};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use crate::ordered::Set;

mod labels;

/// The `fuzzingbook` format.
pub struct FuzzingBook;

impl Format for FuzzingBook {
    fn name(&self) -> &'static str {
        "fuzzingbook"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn looks_like(&self, text: &str) -> bool {
        text.trim_start_matches('\u{FEFF}').trim_start().starts_with('{')
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let Some(value) = json_text::read(file.text(), diagnostics) else { return Grammar::default() };
        let JsonKind::Object(members) = value.kind else {
            let message = format!("a grammar is an object, this is {}", value.kind.description());
            diagnostics.push(Diagnostic::error(Code::Syntax, value.span, message).help(RULE_HELP));
            return Grammar::default();
        };
        let keys = members.iter().map(|(key, _)| key.text.clone()).collect();
        let mut reader = Reader { text: file.text(), keys, expressions: 0, diagnostics };
        let mut grammar = Grammar::default();
        for (key, value) in members {
            let name = Name { text: unbracketed(&key.text).to_string(), span: key.span };
            if key.text == "<start>" && grammar.start.is_none() {
                grammar.start = Some(name.clone());
            }
            // A broken rule is kept, so that references to it are not reported too.
            let (parameters, body) = reader.rule(&key, value).unwrap_or((Vec::new(), Expr::empty(key.span)));
            grammar.rules.push(Rule { name, parameters, body });
            if reader.expressions > MAX_EXPRESSIONS {
                break;
            }
        }
        grammar
    }
}

const RULE_HELP: &str = "a rule is written `\"<name>\": [alternative, ...]`, or with parameters \
     `\"<name>\": {\"parameters\": [\"n\"], \"alternatives\": [...]}`";
const EXPANSION_HELP: &str = "an alternative is a string such as `\"<a>x\"`, a list of symbols such as `[\"<a>\", \"x\"]`, \
     or `{\"expansion\": ..., \"weight\": 2}`";

/// Returns true if a list is an expansion and its options.
fn is_weighted(items: &[Json]) -> bool {
    matches!(items, [_, Json { kind: JsonKind::Object(members), .. }] if !labels::is_symbol(members))
}

/// Returns a name without its angle brackets, if it has them.
fn unbracketed(name: &str) -> &str {
    name.strip_prefix('<').and_then(|name| name.strip_suffix('>')).filter(|name| !name.is_empty()).unwrap_or(name)
}

/// Returns true if a symbol may be intended as a rule: a word in angle brackets.
fn looks_like_a_name(symbol: &str) -> bool {
    let inside = unbracketed(symbol);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    inside.len() < symbol.len()
        && inside.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && inside.chars().all(is_part)
}

struct Reader<'t, 'd> {
    text: &'t str,
    keys: Set<String>,
    expressions: usize,
    diagnostics: &'d mut Diagnostics,
}

impl Reader<'_, '_> {
    fn error(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.diagnostics.push(Diagnostic::error(Code::Syntax, span, message).help(help));
    }

    /// Returns the parameters and the body of a rule.
    fn rule(&mut self, key: &JsonKey, value: Json) -> Option<(Vec<Name>, Expr)> {
        let JsonKind::Object(members) = value.kind else { return Some((Vec::new(), self.alternatives(key, value)?)) };
        let (mut parameters, mut body) = (None, None);
        for (member, value) in members {
            match (member.text.as_str(), value.kind) {
                ("parameters", JsonKind::Array(names)) if parameters.is_none() => {
                    parameters = Some(self.labels(names)?)
                }
                ("alternatives", kind) if body.is_none() => {
                    body = Some(self.alternatives(key, Json { kind, span: value.span })?);
                }
                _ => {
                    self.error(member.span, "this is not understood in a rule", RULE_HELP);
                    return None;
                }
            }
        }
        let Some(body) = body else {
            self.error(value.span, "this rule has no `alternatives`", RULE_HELP);
            return None;
        };
        Some((parameters.unwrap_or_default(), body))
    }

    fn alternatives(&mut self, key: &JsonKey, value: Json) -> Option<Expr> {
        let JsonKind::Array(items) = value.kind else {
            let message = format!("the alternatives of a rule are a list, this is {}", value.kind.description());
            self.error(value.span, message, RULE_HELP);
            return None;
        };
        if items.is_empty() {
            let message = format!("rule `{}` has no alternatives", unbracketed(&key.text));
            self.error(value.span, message, "the empty string is `[\"\"]`");
            return None;
        }
        let count = items.len();
        let mut alternatives: Vec<Alternative> = items.into_iter().filter_map(|item| self.alternative(item)).collect();
        if alternatives.len() < count {
            return None;
        }
        match alternatives.pop() {
            Some(Alternative { expr, weight: None }) if alternatives.is_empty() => Some(expr),
            last => {
                alternatives.extend(last);
                self.build(ExprKind::Choice(alternatives), value.span)
            }
        }
    }

    fn alternative(&mut self, item: Json) -> Option<Alternative> {
        match item.kind {
            JsonKind::Object(members) => self.described_alternative(members, item.span),
            JsonKind::Array(mut items) if is_weighted(&items) => {
                // The Fuzzing Book's `(expansion, opts(prob=0.9))`.
                let options = items.pop()?;
                let JsonKind::Object(members) = options.kind else { return None };
                let weight = self.weight(members)?;
                let expr = self.expansion(items.pop()?)?;
                Some(Alternative { expr, weight })
            }
            _ => Some(Alternative { expr: self.expansion(item)?, weight: None }),
        }
    }

    /// Reads `{"expansion": ..., "weight": ...}`.
    fn described_alternative(&mut self, mut members: Vec<(JsonKey, Json)>, span: Span) -> Option<Alternative> {
        let Some(place) = members.iter().position(|(key, _)| key.text == "expansion") else {
            self.error(span, "this alternative has no `expansion`", EXPANSION_HELP);
            return None;
        };
        let (_, expansion) = members.remove(place);
        let weight = self.weight(members)?;
        Some(Alternative { expr: self.expansion(expansion)?, weight })
    }

    /// Returns the weight among the options of an alternative. `Some(None)` if there is none, `None` if there is an
    /// error.
    fn weight(&mut self, options: Vec<(JsonKey, Json)>) -> Option<Option<Weight>> {
        let mut found: Option<Weight> = None;
        for (key, value) in options {
            match (key.text.as_str(), &value.kind) {
                ("weight" | "prob", _) if found.is_some() => {
                    self.error(key.span, "this alternative has two weights", "`prob` is another name for `weight`");
                    return None;
                }
                ("weight" | "prob", &JsonKind::Number(number)) if number.is_finite() && number >= 0.0 => {
                    found = Some(Weight { value: number, span: value.span });
                }
                ("weight" | "prob", _) => {
                    self.error(value.span, "this is not a weight", "a weight is a number, zero or more");
                    return None;
                }
                (other, _) => {
                    let message = format!("unknown option `{}`", other.chars().take(80).collect::<String>());
                    self.diagnostics.push(
                        Diagnostic::error(Code::UnknownDirective, key.span, message)
                            .help("an alternative has one `expansion`, and perhaps a `weight` (or `prob`)"),
                    );
                    return None;
                }
            }
        }
        Some(found)
    }

    fn expansion(&mut self, json: Json) -> Option<Expr> {
        match json.kind {
            JsonKind::String(text) => self.string_expansion(&text, json.span),
            JsonKind::Array(symbols) => {
                let parts: Option<Vec<Expr>> = symbols.into_iter().map(|symbol| self.symbol(symbol)).collect();
                self.sequence(parts?, json.span)
            }
            other => {
                let message = format!("an expansion is a string or a list of strings, this is {}", other.description());
                self.error(json.span, message, EXPANSION_HELP);
                None
            }
        }
    }

    /// Returns a symbol of the list form.
    fn symbol(&mut self, json: Json) -> Option<Expr> {
        let text = match json.kind {
            JsonKind::String(text) => text,
            JsonKind::Object(members) => return self.described_symbol(members, json.span),
            other => {
                let message = format!("a symbol is a string, this is {}", other.description());
                self.error(json.span, message, EXPANSION_HELP);
                return None;
            }
        };
        let kind = if self.keys.contains(&text) {
            ExprKind::Rule(unbracketed(&text).to_string())
        } else {
            if looks_like_a_name(&text) {
                let message = format!("`{}` is no key of the grammar, so it is text", text.escape_debug());
                let help = "in a list each symbol that is a key is a rule, and all others are text; define the rule if it is one";
                self.diagnostics.push(Diagnostic::warning(Code::UndefinedRule, json.span, message).help(help));
            }
            ExprKind::Bytes(text.into_bytes())
        };
        self.build(kind, json.span)
    }

    /// Returns the string form: names in angle brackets, the rest is literal text.
    fn string_expansion(&mut self, text: &str, span: Span) -> Option<Expr> {
        let mut locator = Locator::new(self.text, span);
        let mut parts = Vec::new();
        // The start of the literal text that was not added yet, and the start of the search for the next `<`.
        let (mut literal, mut from) = (0, 0);
        while let Some(open) = text[from..].find('<').map(|offset| from + offset) {
            from = open + 1;
            let Some(end) = text[from..].find(['<', '>', ' ']).map(|offset| from + offset) else { break };
            if end == from || !text[end..].starts_with('>') {
                // If this `<` ends no name, another one after it may begin a name.
                from = end;
                continue;
            }
            if literal < open {
                let place = Span::new(locator.locate(literal), locator.locate(open));
                parts.push(self.build(ExprKind::Bytes(text[literal..open].into()), place)?);
            }
            let place = Span::new(locator.locate(open), locator.locate(end + 1));
            parts.push(self.build(ExprKind::Rule(text[from..end].to_string()), place)?);
            literal = end + 1;
            from = literal;
        }
        if literal < text.len() {
            let place = Span::new(locator.locate(literal), locator.locate(text.len()));
            parts.push(self.build(ExprKind::Bytes(text[literal..].into()), place)?);
        }
        self.sequence(parts, span)
    }

    /// Returns a single part as it is, several (or none) as a sequence.
    fn sequence(&mut self, mut parts: Vec<Expr>, span: Span) -> Option<Expr> {
        match parts.pop() {
            Some(only) if parts.is_empty() => Some(only),
            last => {
                parts.extend(last);
                self.build(ExprKind::Seq(parts), span)
            }
        }
    }

    fn build(&mut self, kind: ExprKind, span: Span) -> Option<Expr> {
        self.count(1, span)?;
        Some(Expr { kind, span })
    }

    /// Counts further expressions. `None` if there are too many, which is reported once.
    fn count(&mut self, expressions: usize, span: Span) -> Option<()> {
        let before = self.expressions;
        self.expressions = before.saturating_add(expressions);
        if before <= MAX_EXPRESSIONS && self.expressions > MAX_EXPRESSIONS {
            let message = format!("the grammar has more than {MAX_EXPRESSIONS} expressions");
            self.diagnostics.push(Diagnostic::error(Code::TooLarge, span, message));
        }
        (self.expressions <= MAX_EXPRESSIONS).then_some(())
    }
}

#[cfg(test)]
mod tests;
