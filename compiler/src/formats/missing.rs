//! Tokens that only code makes: removes everything that needs one from the syntactic rules.

use std::cell::Cell;

use super::boundaries::Syntax;
use crate::ast::Name;
use crate::ordered::{Map, Set};

/// The most references that are followed to find the rules that derive something. Rules not found by then are removed.
const MAX_WORK: usize = 1 << 26;

/// Removes the alternatives that need a token of `missing`, and the rules that need one in all their alternatives. If
/// the rule `start` is among these, changes nothing and returns the name of such a token.
pub(super) fn leave_out(rules: &mut Vec<(Name, Syntax)>, missing: &Set<String>, start: &str) -> Result<(), String> {
    if missing.is_empty() {
        return Ok(());
    }
    // Rules that derive nothing even with all tokens are reported elsewhere.
    let able = productive(rules, &Set::new());
    let left = productive(rules, missing);
    let lost: Set<&str> = able.difference(&left).copied().collect();
    if lost.contains(start) {
        return Err(needed(rules, missing, &lost, start));
    }
    let lost: Set<String> = lost.into_iter().map(str::to_string).collect();
    rules.retain(|(name, _)| !lost.contains(&name.text));
    let is_lost = |name: &str| missing.contains(name) || lost.contains(name);
    for (_, body) in rules.iter_mut() {
        keep(body, &is_lost);
    }
    Ok(())
}

fn reference(syntax: &Syntax) -> Option<&str> {
    match syntax {
        Syntax::Token(part) | Syntax::Immediate(part) | Syntax::Rule(part) => part.expr.as_rule(),
        _ => None,
    }
}

/// Returns true if an expression still derives something if the lost names derive nothing.
fn derives(syntax: &Syntax, is_lost: &impl Fn(&str) -> bool) -> bool {
    match syntax {
        Syntax::Seq(items) => items.iter().all(|item| derives(item, is_lost)),
        Syntax::Choice(items) => items.is_empty() || items.iter().any(|item| derives(item, is_lost)),
        Syntax::Repeat(item, min, _) => *min == 0 || derives(item, is_lost),
        _ => !reference(syntax).is_some_and(is_lost),
    }
}

/// Returns the rules that derive something without the tokens `missing`: a least fixpoint.
fn productive<'r>(rules: &'r [(Name, Syntax)], missing: &Set<String>) -> Set<&'r str> {
    let mut users: Map<&str, Vec<usize>> = Map::new();
    for (number, (_, body)) in rules.iter().enumerate() {
        each_reference(body, &mut |name| users.entry(name).or_default().push(number));
    }
    let defined: Set<&str> = rules.iter().map(|(name, _)| name.text.as_str()).collect();
    let mut found: Set<&str> = Set::new();
    let mut pending: Vec<usize> = (0..rules.len()).collect();
    let work = Cell::new(0usize);
    while let Some(number) = pending.pop().filter(|_| work.get() < MAX_WORK) {
        let (name, body) = &rules[number];
        let is_lost = |name: &str| {
            work.set(work.get() + 1);
            missing.contains(name) || defined.contains(name) && !found.contains(name)
        };
        if !found.contains(name.text.as_str()) && derives(body, &is_lost) {
            found.insert(&name.text);
            pending.extend(users.get(name.text.as_str()).into_iter().flatten());
        }
    }
    found
}

/// Returns a missing token that the rule `start` needs.
fn needed(rules: &[(Name, Syntax)], missing: &Set<String>, lost: &Set<&str>, start: &str) -> String {
    let bodies: Map<&str, &Syntax> = rules.iter().map(|(name, body)| (name.text.as_str(), body)).collect();
    let mut seen = Set::new();
    let mut pending = vec![start.to_string()];
    while let Some(rule) = pending.pop() {
        let Some(body) = bodies.get(rule.as_str()).filter(|_| seen.insert(rule.clone())) else { continue };
        let mut found = None;
        each_obstacle(body, &|name| missing.contains(name) || lost.contains(name), &mut |name| {
            if missing.contains(name) {
                found.get_or_insert(name.to_string());
            } else {
                pending.push(name.to_string());
            }
        });
        if let Some(found) = found {
            return found;
        }
    }
    missing.first().cloned().unwrap_or_default()
}

/// Visits the names that keep an expression from deriving anything. Optional parts have none.
fn each_obstacle<'s>(syntax: &'s Syntax, is_lost: &impl Fn(&str) -> bool, visit: &mut dyn FnMut(&'s str)) {
    if derives(syntax, is_lost) {
        return;
    }
    match syntax {
        Syntax::Seq(items) | Syntax::Choice(items) => {
            items.iter().for_each(|item| each_obstacle(item, is_lost, visit));
        }
        Syntax::Repeat(item, ..) => each_obstacle(item, is_lost, visit),
        _ => reference(syntax).into_iter().for_each(visit),
    }
}

fn each_reference<'s>(syntax: &'s Syntax, visit: &mut dyn FnMut(&'s str)) {
    match syntax {
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter().for_each(|item| each_reference(item, visit)),
        Syntax::Repeat(item, ..) => each_reference(item, visit),
        _ => reference(syntax).into_iter().for_each(visit),
    }
}

/// Keeps the alternatives and optional parts that derive something. The whole expression must derive something.
fn keep(syntax: &mut Syntax, is_lost: &impl Fn(&str) -> bool) {
    match syntax {
        Syntax::Seq(items) => items.iter_mut().for_each(|item| keep(item, is_lost)),
        Syntax::Choice(items) => {
            items.retain(|item| derives(item, is_lost));
            items.iter_mut().for_each(|item| keep(item, is_lost));
        }
        Syntax::Repeat(item, min, _) => {
            if *min == 0 && !derives(item, is_lost) {
                *syntax = Syntax::Seq(Vec::new());
            } else {
                keep(item, is_lost);
            }
        }
        _ => {}
    }
}
