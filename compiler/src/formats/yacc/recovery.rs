//! Alternatives for the recovery from errors: rules that have no others are left out, and what needs them.

use super::symbols::{Symbol, Symbols};
use crate::ast::Name;
use crate::ordered::Map;

/// The place of an alternative: the number of its rule, and its own.
type Place = (usize, usize);

/// Removes the rules without alternatives, and the alternatives that need them. Returns the names of these rules. If
/// `start` is one, changes nothing.
pub(super) fn leave_out(rules: &mut Vec<(Name, Vec<Symbols>)>, start: &str) -> Vec<String> {
    let (is_lost, is_dead) = lost(rules);
    let is_start_lost = rules.iter().zip(&is_lost).any(|((name, _), &is_lost)| is_lost && name.text == start);
    if is_start_lost || !is_lost.contains(&true) {
        return Vec::new();
    }
    let mut left = Vec::new();
    let mut names = Vec::new();
    for (((name, alternatives), is_lost), is_dead) in std::mem::take(rules).into_iter().zip(is_lost).zip(is_dead) {
        if is_lost {
            names.push(name.text);
            continue;
        }
        let alive = alternatives.into_iter().zip(is_dead).filter(|(_, is_dead)| !is_dead);
        left.push((name, alive.map(|(symbols, _)| symbols).collect()));
    }
    *rules = left;
    names
}

/// Returns the rules that have no alternative left, and the alternatives that need one of them.
fn lost(rules: &[(Name, Vec<Symbols>)]) -> (Vec<bool>, Vec<Vec<bool>>) {
    let users = users(rules);
    let mut is_dead: Vec<Vec<bool>> = rules.iter().map(|(_, all)| vec![false; all.len()]).collect();
    let mut alive: Vec<usize> = rules.iter().map(|(_, all)| all.len()).collect();
    let mut is_lost: Vec<bool> = alive.iter().map(|&alive| alive == 0).collect();
    let mut pending: Vec<usize> = (0..rules.len()).filter(|&number| is_lost[number]).collect();
    while let Some(number) = pending.pop() {
        for &(rule, alternative) in users.get(rules[number].0.text.as_str()).into_iter().flatten() {
            if std::mem::replace(&mut is_dead[rule][alternative], true) {
                continue;
            }
            alive[rule] -= 1;
            if alive[rule] == 0 {
                is_lost[rule] = true;
                pending.push(rule);
            }
        }
    }
    (is_lost, is_dead)
}

/// Returns the alternatives in which each name stands.
fn users(rules: &[(Name, Vec<Symbols>)]) -> Map<&str, Vec<Place>> {
    let mut users: Map<&str, Vec<Place>> = Map::new();
    for (rule, (_, alternatives)) in rules.iter().enumerate() {
        for (alternative, symbols) in alternatives.iter().enumerate() {
            for symbol in &symbols.symbols {
                if let Symbol::Name(name, _) = symbol {
                    users.entry(name).or_default().push((rule, alternative));
                }
            }
        }
    }
    users
}
