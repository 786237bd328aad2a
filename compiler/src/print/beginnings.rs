//! Finds the rules that begin with themselves, which readers of some notations refuse.

use crate::ast::{Alternative, Expr, Rule};
use crate::ordered::{Map, sort_by};

/// Returns for each rule whether it derives the empty string.
pub(super) fn nullable_rules<'g>(rules: &[&'g Rule]) -> Map<&'g str, bool> {
    let mut nullable: Map<&str, bool> = rules.iter().map(|rule| (rule.name.text.as_str(), false)).collect();
    // The number of passes is at most the length of a chain of references. If the budget is exceeded, the rules count
    // as nullable.
    for pass in 0.. {
        let mut changed = false;
        for rule in rules {
            let now = pass > 100 || is_nullable(&rule.body, &nullable);
            if now && nullable.insert(&rule.name.text, true) == Some(false) {
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    nullable
}

fn is_nullable(expr: &Expr, nullable: &Map<&str, bool>) -> bool {
    if let Some(bytes) = expr.as_bytes() {
        return bytes.is_empty();
    }
    if let Some(name) = expr.as_rule() {
        return nullable.get(name).copied().unwrap_or(false);
    }
    let is_any = |all: &[Alternative]| all.iter().any(|one| is_nullable(&one.expr, nullable));
    let may_be_left_out = expr.as_repeat().is_some_and(|rounds| rounds.min == 0) || expr.as_times().is_some();
    let others = || expr.as_class().is_none() && expr.children().all(|child| is_nullable(child, nullable));
    may_be_left_out || expr.as_choice().map_or_else(others, is_any)
}

/// Returns the rules that can begin with themselves.
pub(super) fn left_recursive<'g>(rules: &[&'g Rule], nullable: &Map<&str, bool>) -> Vec<&'g Rule> {
    let index: Map<&str, usize> =
        rules.iter().enumerate().map(|(number, rule)| (rule.name.text.as_str(), number)).collect();
    let mut begins: Vec<Vec<usize>> = Vec::new();
    for rule in rules {
        let mut first = Vec::new();
        beginnings(&rule.body, nullable, &mut |name| first.extend(index.get(name).copied()));
        sort_by(&mut first, Ord::cmp);
        first.dedup();
        begins.push(first);
    }
    // Removes the rules that lead to no cycle until nothing changes (Kahn's algorithm, backwards).
    let mut open: Vec<usize> = begins.iter().map(Vec::len).collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); rules.len()];
    for (rule, first) in begins.iter().enumerate() {
        first.iter().for_each(|&used| users[used].push(rule));
    }
    let mut done: Vec<usize> = (0..rules.len()).filter(|&rule| open[rule] == 0).collect();
    while let Some(rule) = done.pop() {
        for &user in &users[rule] {
            open[user] -= 1;
            if open[user] == 0 {
                done.push(user);
            }
        }
    }
    // The remaining rules lead to a cycle. Those that a cycle also leads to are in one.
    let mut used: Vec<usize> = users.iter().map(|users| users.iter().filter(|&&user| open[user] > 0).count()).collect();
    let mut done: Vec<usize> = (0..rules.len()).filter(|&rule| open[rule] > 0 && used[rule] == 0).collect();
    while let Some(rule) = done.pop() {
        open[rule] = 0;
        for &first in &begins[rule] {
            used[first] -= 1;
            if used[first] == 0 && open[first] > 0 {
                done.push(first);
            }
        }
    }
    rules.iter().zip(open).filter(|&(_, open)| open > 0).map(|(&rule, _)| rule).collect()
}

/// Calls `visit` with each rule that an expression can begin with.
fn beginnings<'g>(expr: &'g Expr, nullable: &Map<&str, bool>, visit: &mut impl FnMut(&'g str)) {
    expr.as_rule().into_iter().for_each(&mut *visit);
    for child in expr.children() {
        beginnings(child, nullable, visit);
        if expr.as_seq().is_some() && !is_nullable(child, nullable) {
            break;
        }
    }
}
