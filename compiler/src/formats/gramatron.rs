//! Grammars of Gramatron: its source grammars (JSON, with terminals in quotes inside strings), their Greibach normal
//! form, and its automata.

use super::Format;
use super::builder::{Builder, Part, Reported, RuleList};
use super::glance;
use super::json_text::{self, Json, JsonKey, JsonKind};
use super::scanner::Scanner;
use crate::ast::{Grammar, Name};
use crate::diagnostics::{Diagnostics, SourceFile, Span};

/// The `gramatron` format.
pub struct Gramatron;

impl Format for Gramatron {
    fn name(&self) -> &'static str {
        "gramatron"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    /// Looks for an object that has an automaton, or whose first key has no angle brackets and a list of strings. No
    /// symbol may begin with an angle bracket.
    fn looks_like(&self, text: &str) -> bool {
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
        let Some(inside) = text.strip_prefix('{').map(str::trim_start) else { return false };
        if glance::has_key(text, "pda") && glance::has_key(text, "init_state") {
            return true;
        }
        let mut scan = Scanner::new(inside);
        let key = scan.eat("\"") && !scan.sees("<") && scan.take_past("\"").is_some();
        scan.take_while(char::is_whitespace);
        let colon = scan.eat(":");
        scan.take_while(char::is_whitespace);
        let list = scan.eat("[");
        scan.take_while(char::is_whitespace);
        key && colon && list && scan.sees("\"") && !text.contains("\"<")
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let Some(value) = json_text::read(file.text(), diagnostics) else { return Grammar::default() };
        let mut builder = Builder::new(diagnostics);
        let JsonKind::Object(members) = value.kind else {
            let message = format!("a grammar is an object, this is {}", value.kind.description());
            builder.error(value.span, message, RULE_HELP);
            return Grammar::default();
        };
        if members.iter().any(|(key, _)| key.text == "pda") {
            automaton(members, &mut builder)
        } else {
            source(members, &mut builder)
        }
    }
}

const RULE_HELP: &str = "a rule is written `\"NAME\": [\"'text' OTHER\", ...]`";

/// Returns a source grammar, or one in Greibach normal form, which names the start in a rule `Start`.
fn source(members: Vec<(JsonKey, Json)>, builder: &mut Builder<'_>) -> Grammar {
    let mut rules = RuleList::default();
    let mut start = None;
    for (key, value) in members {
        let JsonKind::Array(items) = value.kind else {
            let message = format!("the alternatives of a rule are a list, this is {}", value.kind.description());
            builder.error(value.span, message, RULE_HELP);
            continue;
        };
        let name = Name { text: key.text, span: key.span };
        if let ("Start", [Json { kind: JsonKind::String(target), span }]) = (name.text.as_str(), items.as_slice()) {
            start = Some(Name { text: target.clone(), span: *span });
            continue;
        }
        if items.is_empty() {
            let message = format!("rule `{}` has no alternatives", name.text);
            builder.error(value.span, message, "the empty string is `[\"''\"]`");
        }
        let Ok(rule) = rules.rule(name, builder) else { break };
        for item in items {
            if builder.gives_up() {
                break;
            }
            let JsonKind::String(text) = &item.kind else {
                let message = format!("an alternative is a string, this is {}", item.kind.description());
                builder.error(item.span, message, RULE_HELP);
                continue;
            };
            if let Ok(part) = alternative(text, item.span, builder) {
                rules.add(rule, [(part, None)]);
            }
        }
    }
    let rules = rules.finish(builder);
    let start = start.or_else(|| rules.iter().find(|rule| rule.name.text == "PROGRAM").map(|rule| rule.name.clone()));
    Grammar { start, rules, ..Grammar::default() }
}

/// Reads symbols with blanks between them. Terminals are in quotes, with `'\n'` as the only escape.
fn alternative(text: &str, span: Span, builder: &mut Builder<'_>) -> Result<Part, Reported> {
    let mut scan = Scanner::new(text);
    let mut parts = Vec::new();
    loop {
        scan.take_while(char::is_whitespace);
        match scan.peek() {
            None => return builder.seq(parts, span),
            Some(quote @ ('\'' | '"')) => {
                scan.next();
                let Some(terminal) = scan.take_past(if quote == '"' { "\"" } else { "'" }) else {
                    return Err(builder.error(span, "a terminal is not closed", RULE_HELP));
                };
                parts.push(builder.bytes(unescaped(terminal), span)?);
            }
            Some(_) => {
                let name = scan.take_while(|c| !c.is_whitespace() && c != '\'' && c != '"');
                parts.push(builder.rule(name, span)?);
            }
        }
    }
}

/// Returns the text of a terminal: Gramatron writes a line feed as a backslash and an `n`.
fn unescaped(terminal: &str) -> &str {
    if terminal == "\\n" { "\n" } else { terminal }
}

/// Returns an automaton: each state is a rule whose alternatives are its transitions, `[id, state, terminal]`.
fn automaton(members: Vec<(JsonKey, Json)>, builder: &mut Builder<'_>) -> Grammar {
    const HELP: &str = "an automaton is `{\"init_state\": 0, \"final_state\": 1, \"numstates\": 2, \"pda\": {\"0\": [[\"0_1\", 1, \"text\"]]}}`";
    let mut rules = RuleList::default();
    let (mut start, mut last, mut pda) = (None, None, None);
    for (key, value) in members {
        match key.text.as_str() {
            "init_state" => start = state(&value).map(|text| Name { text, span: value.span }),
            "final_state" => last = state(&value).map(|text| Name { text, span: value.span }),
            "pda" => pda = Some(value),
            _ => {}
        }
    }
    let (Some(start), Some(last), Some(pda)) = (start, last, pda) else {
        builder.error(Span::default(), "the automaton has no initial state, no final state or no transitions", HELP);
        return Grammar::default();
    };
    let JsonKind::Object(states) = pda.kind else {
        builder.error(pda.span, "the transitions are an object", HELP);
        return Grammar::default();
    };
    for (key, value) in states {
        let name = Name { text: format!("s{}", key.text), span: key.span };
        let Ok(rule) = rules.rule(name, builder) else { break };
        let JsonKind::Array(transitions) = value.kind else {
            builder.error(value.span, "the transitions of a state are a list", HELP);
            continue;
        };
        for transition in transitions {
            let JsonKind::Array(parts) = &transition.kind else {
                builder.error(transition.span, "a transition is a list of three", HELP);
                continue;
            };
            let [_, target, Json { kind: JsonKind::String(terminal), .. }] = parts.as_slice() else {
                builder.error(transition.span, "a transition is a list of three", HELP);
                continue;
            };
            let Some(target) = state(target) else {
                builder.error(target.span, "this is no state", HELP);
                continue;
            };
            let Ok(text) = builder.bytes(unescaped(terminal), transition.span) else { break };
            let part = builder.rule(target, transition.span).and_then(|next| builder.seq(vec![text, next], value.span));
            if let Ok(part) = part {
                rules.add(rule, [(part, None)]);
            }
        }
    }
    let span = last.span;
    if let Ok(end) = rules.rule(last, builder)
        && let Ok(part) = builder.seq(Vec::new(), span)
    {
        rules.add(end, [(part, None)]);
    }
    Grammar { start: Some(start), rules: rules.finish(builder), ..Grammar::default() }
}

/// Returns the rule of a state, which is a number or a string.
fn state(value: &Json) -> Option<String> {
    match &value.kind {
        JsonKind::String(text) => Some(format!("s{text}")),
        JsonKind::Number(number) if number.fract() == 0.0 => Some(format!("s{number}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
