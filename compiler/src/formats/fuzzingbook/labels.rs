//! Labels, and what refers to them, as objects in lists of symbols: `{"label": "n", "expansion": [...]}`,
//! `{"copy": "n"}`, `{"number": "u16be(len(n))"}`. Such objects also repeat and choose, so that a part that refers to a
//! label need not become a rule, where the label is not seen.

use super::{Reader, unbracketed};
use crate::ast::{Alternative, Expr, ExprKind, Name};
use crate::check::closest;
use crate::coding::Coding;
use crate::derived::{Derived, Value};
use crate::diagnostics::Span;
use crate::formats::ebnf;
use crate::formats::json_text::{Json, JsonKey, JsonKind};
use crate::naming::Naming;

const HELP: &str = "a symbol is a string, `{\"label\": \"n\", \"expansion\": [...]}`, `{\"copy\": \"n\"}`, \
     `{\"number\": \"u16be(len(n))\"}`, `{\"define\": \"kind\", \"expansion\": [...]}` and its like, `{\"coding\": \"base64\", \"expansion\": [...]}`, `{\"each\": \"n\", \"expansion\": [...]}`, `{\"call\": \"<rule>\", \"with\": [\"n\"]}`, or an `expansion` or a `choice` with `min`, `max` or `times`";

/// The members of a symbol.
#[derive(Default)]
struct Members {
    label: Option<Name>,
    item: Option<Expr>,
    min: Option<u32>,
    max: Option<u32>,
    times: Option<Value<Name>>,
    naming: Option<Naming<Name>>,
    coding: Option<Coding>,
    mirrored: Option<Name>,
    called: Option<Expr>,
    arguments: Vec<Name>,
}

/// Returns true if an object is a symbol, not the options of an alternative.
pub(super) fn is_symbol(members: &[(JsonKey, Json)]) -> bool {
    let names = ["label", "copy", "number", "choice", "min", "max", "times", "coding", Expr::MIRROR, Expr::CALL];
    let names: Vec<&str> = names.into_iter().chain(Naming::WORDS).collect();
    let is_weighted = members.iter().any(|(key, _)| matches!(key.text.as_str(), "weight" | "prob"));
    members.iter().any(|(key, _)| names.contains(&key.text.as_str()))
        || !is_weighted && members.iter().any(|(key, _)| key.text == "expansion")
}

impl Reader<'_, '_> {
    /// Returns the symbol that an object is.
    pub(super) fn described_symbol(&mut self, members: Vec<(JsonKey, Json)>, span: Span) -> Option<Expr> {
        let mut found = Members::default();
        for (key, value) in members {
            let place = value.span;
            let is_read = match (key.text.as_str(), value.kind) {
                ("copy", JsonKind::String(label)) => {
                    let label = self.label(&label, place)?;
                    found.item = self.build(ExprKind::Derived(Derived::Copy(label)), span);
                    true
                }
                ("number", JsonKind::String(text)) => {
                    let number = ebnf::number(&text, place, self.diagnostics)?;
                    self.count(number.size() - 1, span)?;
                    found.item = self.build(number.kind, span);
                    true
                }
                ("times", JsonKind::String(text)) => {
                    found.times = Some(ebnf::rounds(&text, place, self.diagnostics)?);
                    true
                }
                (Expr::MIRROR, JsonKind::String(label)) => {
                    found.mirrored = Some(self.label(&label, place)?);
                    true
                }
                (Expr::CALL, JsonKind::String(name)) => {
                    found.called = self.build(ExprKind::Rule(unbracketed(&name).to_string()), place);
                    found.called.is_some()
                }
                ("with", JsonKind::Array(labels)) => {
                    found.arguments = self.labels(labels)?;
                    true
                }
                ("label", JsonKind::String(label)) => {
                    found.label = Some(self.label(&label, place)?);
                    true
                }
                (word, kinds) if Naming::WORDS.contains(&word) && found.naming.is_none() => {
                    found.naming = self.naming(word, Json { kind: kinds, span: place });
                    found.naming.is_some()
                }
                ("coding", JsonKind::String(name)) => {
                    found.coding = Some(self.coding(&name, place)?);
                    true
                }
                ("min", JsonKind::Number(number)) => {
                    found.min = whole(number);
                    found.min.is_some()
                }
                ("max", JsonKind::Number(number)) => {
                    found.max = whole(number);
                    found.max.is_some()
                }
                ("expansion", kind) => {
                    found.item = Some(self.expansion(Json { kind, span: place })?);
                    true
                }
                ("choice", JsonKind::Array(items)) => {
                    let alternatives: Option<Vec<Alternative>> =
                        items.into_iter().map(|item| self.alternative(item)).collect();
                    found.item = self.build(ExprKind::Choice(alternatives?), span);
                    true
                }
                _ => false,
            };
            if !is_read {
                self.error(key.span, "this is not understood in a symbol", HELP);
                return None;
            }
        }
        self.symbol_of(found, span)
    }

    fn symbol_of(&mut self, mut found: Members, span: Span) -> Option<Expr> {
        let arguments = std::mem::take(&mut found.arguments);
        if found.called.is_none() && !arguments.is_empty() || found.called.is_some() && found.item.is_some() {
            self.error(span, "labels are passed to a rule", "write `{\"call\": \"<rule>\", \"with\": [\"n\"]}`");
            return None;
        }
        if let Some(rule) = found.called {
            found.item = self.build(Expr::call(rule, arguments, span).kind, span);
        }
        let Members { label, item: Some(mut item), min, max, times, naming, coding, mirrored, .. } = found else {
            self.error(span, "this symbol derives nothing", HELP);
            return None;
        };
        let (is_bounded, is_alone) = (min.is_some() || max.is_some(), times.is_some() || mirrored.is_some());
        if max.is_some_and(|max| max < min.unwrap_or(0))
            || is_alone && is_bounded
            || times.is_some() && mirrored.is_some()
        {
            self.error(
                span,
                "the bounds of this repetition contradict each other",
                "`min` is at most `max`; `times` and `each` stand alone",
            );
            return None;
        }
        if let Some(rounds) = times {
            item = self.build(ExprKind::Times { item: Box::new(item), rounds, is_mirror: false }, span)?;
        } else if let Some(label) = mirrored {
            item = self.build(Expr::mirror(label, item, span).kind, span)?;
        } else if min.is_some() || max.is_some() {
            item = self.build(ExprKind::Repeat { item: Box::new(item), min: min.unwrap_or(0), max }, span)?;
        }
        if let Some(naming) = naming {
            item = self.build(ExprKind::Naming { naming, item: Box::new(item) }, span)?;
        }
        if let Some(coding) = coding {
            item = self.build(ExprKind::Coded { coding, item: Box::new(item) }, span)?;
        }
        match label {
            Some(label) => self.build(ExprKind::Label { label, item: Box::new(item) }, span),
            None => Some(item),
        }
    }

    /// Returns what is said of names: of one kind, or of a list of kinds.
    fn naming(&mut self, word: &str, kinds: Json) -> Option<Naming<Name>> {
        let kinds = match kinds.kind {
            JsonKind::Array(kinds) if word == "scope" => kinds,
            _ => vec![kinds],
        };
        let kinds: Option<Vec<Name>> = kinds
            .into_iter()
            .map(|kind| match kind.kind {
                JsonKind::String(text) => self.name(&text, kind.span),
                _ => None,
            })
            .collect();
        Naming::by_word(word, kinds?)
    }

    /// Returns a list of labels.
    pub(super) fn labels(&mut self, labels: Vec<Json>) -> Option<Vec<Name>> {
        let label = |label: Json| match label.kind {
            JsonKind::String(text) => self.label(&text, label.span),
            other => {
                let help = "write `[\"n\"]`";
                self.error(label.span, format!("a label is a string, this is {}", other.description()), help);
                None
            }
        };
        labels.into_iter().map(label).collect()
    }

    fn coding(&mut self, name: &str, span: Span) -> Option<Coding> {
        let coding = Coding::by_name(name);
        if coding.is_none() {
            let known = Coding::names().collect::<Vec<_>>();
            let similar = closest(name, known.iter().copied())
                .map_or_else(String::new, |similar| format!("did you mean `{similar}`? "));
            self.error(span, format!("unknown coding `{name}`"), &format!("{similar}Known: {}", known.join(", ")));
        }
        coding
    }

    fn label(&mut self, text: &str, span: Span) -> Option<Name> {
        if ebnf::reserved(text).is_some() {
            self.error(span, format!("`{text}` is reserved and no label"), "give the part another label");
            return None;
        }
        self.name(text, span)
    }

    /// Returns a label, or the kind of a name.
    fn name(&mut self, text: &str, span: Span) -> Option<Name> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let is_name = text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(is_part);
        if !is_name || text.ends_with('-') {
            let help = "a label begins with a letter or `_`, and goes on with letters, digits, `_`, `.` and `-`";
            self.error(span, "this is not a label", help);
            return None;
        }
        Some(Name { text: text.to_string(), span })
    }
}

/// Returns a number of rounds.
fn whole(number: f64) -> Option<u32> {
    (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as u32)
}
