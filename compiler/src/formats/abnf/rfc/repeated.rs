//! Rules that an RFC writes twice: where it explains them, and in an appendix that collects them.

use super::places::{Lines, listed};
use crate::ast::{self, Rule};
use crate::diagnostics::{Code, Diagnostic};
use crate::ordered::{Map, Set};

/// The definitions of a rule.
struct Definitions {
    /// The number of the one that is kept.
    kept: usize,
    /// The number of the first one that differs from it.
    differing: Option<usize>,
}

/// Keeps the last definition of each rule whose names are all defined, or the last one if there is none. Returns a
/// warning that names the rules whose definitions differ.
pub(super) fn merge(rules: &mut Vec<Rule>, lines: &Lines) -> Option<Diagnostic> {
    let mut definitions: Map<&str, Definitions> = Map::new();
    let names: Set<&str> = rules.iter().map(|rule| rule.name.text.as_str()).collect();
    let is_whole = |rule: &Rule| {
        let mut is_whole = true;
        rule.body.each_reference(&mut |name| is_whole &= names.contains(name));
        is_whole
    };
    for (kept, rule) in rules.iter().enumerate() {
        let name = rule.name.text.as_str();
        if !definitions.contains_key(name) || is_whole(rule) {
            definitions.insert(name, Definitions { kept, differing: None });
        }
    }
    // Without one that is whole, the last definition is kept.
    for (number, rule) in rules.iter().enumerate() {
        if let Some(all) = definitions.get_mut(rule.name.text.as_str()).filter(|all| !is_whole(&rules[all.kept])) {
            all.kept = number;
        }
    }
    if definitions.len() == rules.len() {
        return None;
    }
    let mut texts: Map<usize, String> = Map::new();
    for (number, rule) in rules.iter().enumerate() {
        let Some(Definitions { kept, differing }) = definitions.get_mut(rule.name.text.as_str()) else { continue };
        if *kept != number && differing.is_none() {
            let text = texts.entry(*kept).or_insert_with(|| ast::text(&rules[*kept].body));
            *differing = (*text != ast::text(&rule.body)).then_some(number);
        }
    }
    let warning = warning(rules, &definitions, lines);
    let is_kept: Vec<bool> =
        rules.iter().enumerate().map(|(number, rule)| definitions[rule.name.text.as_str()].kept == number).collect();
    let mut is_kept = is_kept.into_iter();
    rules.retain(|_| is_kept.next() == Some(true));
    warning
}

/// Returns the warning that definitions differ, if some do.
fn warning(rules: &[Rule], definitions: &Map<&str, Definitions>, lines: &Lines) -> Option<Diagnostic> {
    let mut pairs: Vec<(usize, usize)> =
        definitions.values().filter_map(|all| Some((all.differing?, all.kept))).collect();
    pairs.sort_unstable();
    let line = |number: usize| lines.number(rules[number].name.span);
    let names = listed(
        pairs
            .iter()
            .map(|&(first, last)| format!("`{}` (lines {} and {})", rules[first].name.text, line(first), line(last))),
    )?;
    let message = format!("definitions of one rule differ, and that of the second line is taken: {names}");
    let help = "an appendix often collects the rules again; delete the definition that you do not want";
    let first = pairs.first().map(|&(first, _)| rules[first].name.span);
    Some(Diagnostic::warning(Code::DuplicateRule, first, message).help(help))
}
