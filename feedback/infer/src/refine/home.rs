//! Finds the place where a new alternative is at home: among others of its sort. Several places may let the same texts
//! in; a reader of the grammar expects `'false'` beside `'true'` and a rule beside rules.

use std::collections::VecDeque;

use gramjet_compiler::ast::{Expr, Grammar};

use crate::refine::candidate::Candidate;
use crate::refine::place::ExprPath;
use crate::refine::widen::{alternative, rank};

/// At most this many places are looked at.
const MOST_PLACES: usize = 40;

/// Kind of an alternative, as far as a reader tells alternatives apart at first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Word,
    Mark,
    Rule,
    Class,
    Other,
}

fn sort(expr: &Expr) -> Sort {
    match (expr.as_bytes(), expr.as_rule()) {
        (Some([b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.., ..]), _) => Sort::Word,
        (Some(_), _) => Sort::Mark,
        (None, Some(_)) => Sort::Rule,
        (None, None) if expr.as_class().is_some() => Sort::Class,
        (None, None) => Sort::Other,
    }
}

/// Returns how many alternatives of the sort of `with` there are at a place.
fn fellows(grammar: &Grammar, place: &ExprPath, with: &Expr) -> usize {
    let alternatives = place.get(grammar).and_then(Expr::as_choice).unwrap_or_default();
    alternatives.iter().filter(|one| one.is_live() && sort(&one.expr) == sort(with)).count()
}

/// Returns the same addition at other places where it has more fellows, those with most first: in choices that have
/// this rule as an alternative, and in rules that are alternatives here, and so on.
pub(crate) fn homes(grammar: &Grammar, candidate: &Candidate) -> Vec<Candidate> {
    let with = &candidate.part;
    if candidate.rank != rank::ALTERNATIVE {
        return Vec::new();
    }
    let own = fellows(grammar, &candidate.place, with);
    let is_body = candidate.place.path.is_empty() || is_choice(grammar, &candidate.place);
    // What may stand for a rule here may belong to the rule.
    let first = if is_body { Some(candidate.place.clone()) } else { referred(grammar, &candidate.place) };
    let mut known: Vec<ExprPath> = first.into_iter().collect();
    let mut open = VecDeque::from(known.clone());
    while let Some(place) = open.pop_front().filter(|_| known.len() < MOST_PLACES) {
        for next in above(grammar, &place).into_iter().chain(below(grammar, &place)) {
            if !known.contains(&next) {
                known.push(next.clone());
                open.push_back(next);
            }
        }
    }
    let mut homes: Vec<(usize, ExprPath)> =
        known.into_iter().map(|place| (fellows(grammar, &place, with), place)).filter(|home| home.0 > own).collect();
    // Of several, the nearest one is first.
    homes.sort_by_key(|home| std::cmp::Reverse(home.0));
    let added = |(_, place): (usize, ExprPath)| Some(alternative(&place, place.get(grammar)?, with.clone()));
    homes.into_iter().filter_map(added).map(|home| Candidate { is_lax: candidate.is_lax, ..home }).collect()
}

/// Returns the body of the rule that a place refers to, if that is a choice.
fn referred(grammar: &Grammar, place: &ExprPath) -> Option<ExprPath> {
    let name = place.get(grammar)?.as_rule()?;
    let rule = grammar.rules.iter().position(|rule| rule.name.text == name)?;
    Some(ExprPath::body(rule)).filter(|place| is_choice(grammar, place))
}

fn is_choice(grammar: &Grammar, place: &ExprPath) -> bool {
    place.get(grammar).is_some_and(|expr| expr.as_choice().is_some())
}

/// Returns the choices that have the rule of a body as an alternative.
fn above(grammar: &Grammar, place: &ExprPath) -> Vec<ExprPath> {
    if !place.path.is_empty() {
        return Vec::new();
    }
    let name = grammar.rules[place.rule].name.text.as_str();
    let mut found = Vec::new();
    for rule in 0..grammar.rules.len() {
        let mut open = vec![ExprPath::body(rule)];
        while let Some(place) = open.pop() {
            let Some(expr) = place.get(grammar) else { continue };
            let alternatives = expr.as_choice().unwrap_or_default();
            if alternatives.iter().any(|one| one.is_live() && one.expr.as_rule() == Some(name)) {
                found.push(place.clone());
            }
            open.extend((0..expr.children().count()).rev().map(|number| place.child(number)));
        }
    }
    found
}

/// Returns the bodies of the rules that are alternatives of a choice, if these are choices.
fn below(grammar: &Grammar, place: &ExprPath) -> Vec<ExprPath> {
    let alternatives = place.get(grammar).and_then(Expr::as_choice).unwrap_or_default();
    let names = alternatives.iter().filter(|one| one.is_live()).filter_map(|one| one.expr.as_rule());
    let body = |name: &str| Some(ExprPath::body(grammar.rules.iter().position(|rule| rule.name.text == name)?));
    names.filter_map(body).filter(|place| is_choice(grammar, place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refine::place::{literal, reference};
    use crate::refine::testing::grammar;

    const JSON: &str = "value ::= object | string | number | word\nobject ::= '{' [a-z]* '}' | '{}'\nword ::= 'true' | 'null'\n\
                        string ::= '\"' [a-z]* '\"'\nnumber ::= [0-9]+\n";

    fn first_home(rule: usize, with: Expr) -> Option<String> {
        let grammar = grammar(JSON);
        let place = ExprPath::body(rule);
        let candidate = alternative(&place, place.get(&grammar)?, with);
        homes(&grammar, &candidate).first().map(|home| grammar.rules[home.place.rule].name.text.clone())
    }

    #[test]
    fn an_alternative_is_at_home_among_others_of_its_sort() {
        assert_eq!(first_home(1, literal(b"false")).as_deref(), Some("word"));
        assert_eq!(first_home(1, reference("array")).as_deref(), Some("value"));
        assert_eq!(first_home(2, literal(b"false")), None);
        assert_eq!(first_home(0, reference("array")), None);
        // A place that refers to a rule has no fellows; the rule has.
        let text = "list ::= '[' unit ']'\nunit ::= 'px' | '%'\n";
        let (grammar, place) = (grammar(text), ExprPath { rule: 0, path: vec![1] });
        let candidate = alternative(&place, place.get(&grammar).expect("a reference"), literal(b"em"));
        assert_eq!(homes(&grammar, &candidate).first().map(|home| home.place.rule), Some(1));
        // A mark is no word.
        assert_eq!(first_home(3, literal(b"[]")).as_deref(), Some("object"));
    }
}
