//! Prose in rules of an RFC, and rules that are defined elsewhere: what needs them is left out.

use super::places::listed;
use super::start::widest;
use crate::ast::{Expr, Grammar, Name, Rule};
use crate::check::Index;
use crate::check::productive::productive_rules;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::prune::prune;
use crate::ordered::{Map, Set};

/// Advice about the rules of other documents.
const HELP: &str = "the rules of another RFC can stand in the same file: put its text in front, or write the rule yourself \
                    as `name = elements`";

/// Removes the alternatives that need prose or an undefined rule, and the rules that need one in all alternatives. The
/// start is `start`, or the rule that reaches the most others. Reports what it reaches of these. If the start itself
/// would be removed, that is an error.
pub(super) fn leave_out(grammar: &mut Grammar, start: Option<&str>, diagnostics: &mut Diagnostics) {
    leave_out_endless(grammar, start, diagnostics);
    let lost = lost_rules(grammar);
    let defined: Set<String> = grammar.rules.iter().map(|rule| rule.name.text.clone()).collect();
    if start.is_none() {
        grammar.start = widest(&grammar.rules);
    }
    let chosen = grammar.start.as_ref().map(|name| name.text.clone());
    let start = start.map(str::to_string).or(chosen).unwrap_or_default();
    let missing = missing(grammar, &start);
    if lost.contains(&start) {
        diagnostics.push(needed(&start, &missing));
        grammar.rules.clear();
        return;
    }
    if !missing.is_empty() {
        let message = format!("what needs rules of other documents, or prose, is left out: {}", shown(&missing));
        let first = missing.first().map(|name| name.span);
        diagnostics.push(Diagnostic::warning(Code::NotContextFree, first, message).help(HELP));
    }
    grammar.rules.retain(|rule| !lost.contains(&rule.name.text));
    let derives = |name: &str| defined.contains(name) && !lost.contains(name);
    for rule in &mut grammar.rules {
        prune(&mut rule.body, &derives);
    }
}

/// Removes the alternatives that need a rule which never ends: all its alternatives need such a rule. One line
/// reports such rules. Changes nothing if the start is one of them.
fn leave_out_endless(grammar: &mut Grammar, start: Option<&str>, diagnostics: &mut Diagnostics) {
    let mut index: Map<String, usize> = Map::new();
    for (number, rule) in grammar.rules.iter().enumerate() {
        index.insert(rule.name.text.clone(), number);
    }
    let able = productive_rules(grammar, &borrowed(&index));
    let endless: Vec<&Rule> =
        grammar.rules.iter().zip(&able).filter(|(_, able)| !**able).map(|(rule, _)| rule).collect();
    let names: Set<String> = endless.iter().map(|rule| rule.name.text.clone()).collect();
    if endless.is_empty() || endless.len() == grammar.rules.len() || start.is_some_and(|start| names.contains(start)) {
        return;
    }
    let list = listed(endless.iter().map(|rule| format!("`{}`", rule.name.text))).unwrap_or_default();
    let message = format!("rules that never end are left out, as all their alternatives need such a rule: {list}");
    let help = "an example may have been read as a rule; `--start` with one of these names shows why";
    let first = endless.first().map(|rule| rule.name.span);
    diagnostics.push(Diagnostic::warning(Code::UnproductiveRule, first, message).help(help));
    grammar.rules.retain(|rule| !names.contains(&rule.name.text));
    for rule in &mut grammar.rules {
        prune(&mut rule.body, &|name| !names.contains(name));
    }
}

/// Returns the rules that derive something only with rules that are not defined.
fn lost_rules(grammar: &mut Grammar) -> Set<String> {
    // All names without a definition stand for a rule that derives nothing: it needs itself.
    const NOTHING: &str = "<>";
    let span = Span::default();
    let mut index: Map<String, usize> = Map::new();
    for (number, rule) in grammar.rules.iter().enumerate() {
        index.insert(rule.name.text.clone(), number);
    }
    let able = productive_rules(grammar, &borrowed(&index));
    let nothing = grammar.rules.len();
    for rule in &grammar.rules {
        rule.body.each_reference(&mut |name| {
            if !index.contains_key(name) {
                index.insert(name.to_string(), nothing);
            }
        });
    }
    index.insert(NOTHING.to_string(), nothing);
    grammar.rules.push(Rule::new(Name { text: NOTHING.to_string(), span }, Expr::rule(NOTHING, span)));
    let left = productive_rules(grammar, &borrowed(&index));
    grammar.rules.pop();
    // Rules that derive nothing even with all names are reported elsewhere.
    let is_lost = |number: usize| able[number] && !left[number];
    let names = grammar.rules.iter().enumerate().filter(|&(number, _)| is_lost(number));
    names.map(|(_, rule)| rule.name.text.clone()).collect()
}

fn borrowed(index: &Map<String, usize>) -> Index<'_> {
    index.iter().map(|(name, &number)| (name.as_str(), number)).collect()
}

/// Returns the names without a definition that a rule reaches, each with its first place.
fn missing(grammar: &Grammar, start: &str) -> Vec<Name> {
    let index: Map<&str, &Rule> = grammar.rules.iter().map(|rule| (rule.name.text.as_str(), rule)).collect();
    let mut seen: Set<&str> = Set::new();
    let mut missing = Vec::new();
    let mut pending: Vec<&Rule> = index.get(start).copied().into_iter().collect();
    while let Some(rule) = pending.pop() {
        rule.body.each(&mut |expr| {
            let Some(name) = expr.as_rule().filter(|name| seen.insert(name)) else { return };
            match index.get(name) {
                Some(&rule) => pending.push(rule),
                None => missing.push(Name { text: name.to_string(), span: expr.span }),
            }
        });
    }
    missing.sort_by_key(|name| name.span);
    missing
}

/// Returns the error that the start needs what no rule says.
fn needed(start: &str, missing: &[Name]) -> Diagnostic {
    let shown_start: String = start.chars().take(80).collect();
    let message =
        format!("the start rule `{shown_start}` needs rules of other documents, or prose: {}", shown(missing));
    let help = format!("{HELP}; `--start NAME` takes another rule as the start");
    Diagnostic::error(Code::UndefinedRule, missing.first().map(|name| name.span), message).help(help)
}

fn shown(missing: &[Name]) -> String {
    let shorten = |name: &Name| {
        let text = name.text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("`{}`", text.chars().take(80).collect::<String>())
    };
    listed(missing.iter().map(shorten)).unwrap_or_default()
}
