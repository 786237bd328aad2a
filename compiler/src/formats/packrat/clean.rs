//! Removes what derives no finite text. A variant of a rule is referred to before it is known whether there is any text
//! of it.

use crate::ast::{Expr, Rule};
use crate::ordered::{Map, Set};

/// Returns the names of the rules that derive a finite text.
pub(super) fn productive(rules: &[Rule]) -> Set<String> {
    let mut users: Map<&str, Vec<usize>> = Map::new();
    for (number, rule) in rules.iter().enumerate() {
        rule.body.each_reference(&mut |name| users.entry(name).or_default().push(number));
    }
    let defined: Set<&str> = rules.iter().map(|rule| rule.name.text.as_str()).collect();
    let mut found: Set<&str> = Set::new();
    let mut pending: Vec<usize> = (0..rules.len()).collect();
    while let Some(number) = pending.pop() {
        let rule = &rules[number];
        let name = rule.name.text.as_str();
        let derives = |name: &str| found.contains(name) || !defined.contains(name);
        if !found.contains(name) && has_text(&rule.body, &derives) {
            found.insert(name);
            pending.extend(users.get(name).into_iter().flatten());
        }
    }
    found.into_iter().map(str::to_string).collect()
}

/// Returns true if an expression has a text, given the rules that have one.
fn has_text(expr: &Expr, derives: &dyn Fn(&str) -> bool) -> bool {
    if let Some(name) = expr.as_rule() {
        return derives(name);
    }
    if let Some(options) = expr.as_choice() {
        return options.iter().any(|option| has_text(&option.expr, derives));
    }
    if expr.as_repeat().is_some_and(|rounds| rounds.min == 0) {
        return true;
    }
    expr.children().all(|child| has_text(child, derives))
}

/// Returns the names of the rules that the first of them reaches.
pub(super) fn reached(rules: &[Rule], start: &str) -> Set<String> {
    let by_name: Map<&str, &Rule> = rules.iter().map(|rule| (rule.name.text.as_str(), rule)).collect();
    let mut found: Set<&str> = Set::new();
    let mut pending: Vec<&str> = by_name.get_key_value(start).map(|(&name, _)| name).into_iter().collect();
    while let Some(name) = pending.pop() {
        if found.insert(name)
            && let Some(rule) = by_name.get(name)
        {
            rule.body.each_reference(&mut |name| pending.push(name));
        }
    }
    found.into_iter().map(str::to_string).collect()
}
