//! Rules that an RFC writes twice: where it explains them, and in an appendix that collects them.

use super::places::{Lines, listed};
use crate::ast::{self, Rule};
use crate::diagnostics::{Code, Diagnostic};
use crate::ordered::Map;

/// The definitions of a rule.
struct Definitions {
    /// The number of the last one.
    last: usize,
    /// The number of the first one that differs from the last.
    differing: Option<usize>,
}

/// Keeps the last definition of each rule. Returns a warning that names the rules whose definitions differ.
pub(super) fn merge(rules: &mut Vec<Rule>, lines: &Lines) -> Option<Diagnostic> {
    let mut definitions: Map<&str, Definitions> = Map::new();
    for (last, rule) in rules.iter().enumerate() {
        definitions.insert(&rule.name.text, Definitions { last, differing: None });
    }
    if definitions.len() == rules.len() {
        return None;
    }
    let mut texts: Map<usize, String> = Map::new();
    for (number, rule) in rules.iter().enumerate() {
        let Some(Definitions { last, differing }) = definitions.get_mut(rule.name.text.as_str()) else { continue };
        if *last != number && differing.is_none() {
            let kept = texts.entry(*last).or_insert_with(|| ast::text(&rules[*last].body));
            *differing = (*kept != ast::text(&rule.body)).then_some(number);
        }
    }
    let warning = warning(rules, &definitions, lines);
    let is_last: Vec<bool> =
        rules.iter().enumerate().map(|(number, rule)| definitions[rule.name.text.as_str()].last == number).collect();
    let mut is_last = is_last.into_iter();
    rules.retain(|_| is_last.next() == Some(true));
    warning
}

/// Returns the warning that definitions differ, if some do.
fn warning(rules: &[Rule], definitions: &Map<&str, Definitions>, lines: &Lines) -> Option<Diagnostic> {
    let mut pairs: Vec<(usize, usize)> =
        definitions.values().filter_map(|all| Some((all.differing?, all.last))).collect();
    pairs.sort_unstable();
    let line = |number: usize| lines.number(rules[number].name.span);
    let names = listed(
        pairs
            .iter()
            .map(|&(first, last)| format!("`{}` (lines {} and {})", rules[first].name.text, line(first), line(last))),
    )?;
    let message = format!("definitions of one rule differ, and the last is taken: {names}");
    let help = "an appendix often collects the rules again; delete the definition that you do not want";
    let first = pairs.first().map(|&(first, _)| rules[first].name.span);
    Some(Diagnostic::warning(Code::DuplicateRule, first, message).help(help))
}
