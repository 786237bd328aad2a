//! Checks that a grammar makes sense: every name resolves, and every reachable rule derives a finite string.
//!
//! All findings are collected. The rules are walked with worklists, so a chain of rules may be as long as the grammar.
//! Recursion is used only within one expression, whose nesting is bounded.

use std::sync::OnceLock;

use crate::analysis::least::{self, Calls, Least};
use crate::ast::{Alternative, Expr, Grammar, Name};
use crate::charset::CharSet;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity, Span};
use crate::ordered::{Map, sort_by_key};

mod index;
mod labels;
pub(crate) mod lints;
mod names;
pub(crate) mod productive;
pub(crate) mod similar;

pub use index::Index;
pub use similar::closest;

/// A grammar in which all names resolve and all reachable rules are productive.
#[derive(Clone, Debug)]
pub struct Checked<'a> {
    /// The grammar.
    pub grammar: &'a Grammar,
    /// The index of the start rule in [`Grammar::rules`].
    pub start: usize,
    /// The index of each rule by its name.
    pub index: Index<'a>,
    /// For each rule whether it can be reached from the start rule, through alternatives whose weight is not 0.
    pub reachable: Vec<bool>,
    /// Facts about shortest derivations, once something has asked.
    least: OnceLock<Least>,
}

impl Checked<'_> {
    /// Returns facts about the shortest derivations of rules and labelled parts, where nothing is known of references
    /// to rules with parameters. They are computed once.
    pub(crate) fn least(&self) -> &Least {
        let resolve = |name: &str| self.index.get(name).copied();
        self.least.get_or_init(|| least::with_labels(self.grammar, &resolve, &Calls::default()))
    }
}

/// Checks the grammar from the rule `start`. If that is `None`, from the start that the grammar names, else from its
/// first rule. For a start rule chosen by the user, unreachable rules are not reported.
///
/// Findings go into `diagnostics`. The result is `None` if there is an error, including earlier ones. Then the grammar
/// may be incomplete, so errors that could follow from missing parts are not reported.
pub fn check<'a>(grammar: &'a Grammar, start: Option<&str>, diagnostics: &mut Diagnostics) -> Option<Checked<'a>> {
    let complete = !diagnostics.has_errors();
    let index = index_rules(grammar, diagnostics);
    let own_start = start.is_none();
    let start = start_rule(grammar, start, &index, complete, diagnostics);
    check_references(grammar, &index, diagnostics);
    for rule in &grammar.rules {
        check_choices(&rule.body, diagnostics);
    }
    labels::check_labels(grammar, diagnostics);
    labels::check_parameters(grammar, &index, start, diagnostics);
    names::check_names(grammar, &index, start, diagnostics);
    let start = start.filter(|_| complete)?;
    let reachable = reachable_rules(grammar, start, &index, &Alternative::is_live);
    if own_start {
        // Rules that only alternatives of weight 0 refer to are there for texts.
        let referred_to = reachable_rules(grammar, start, &index, &|_| true);
        report_unreachable(grammar, start, &index, &referred_to, diagnostics);
    }
    let productive = productive::productive_rules(grammar, &index);
    report_unproductive(grammar, &index, &reachable, &productive, diagnostics);
    (!diagnostics.has_errors()).then(|| Checked { grammar, start, index, reachable, least: OnceLock::new() })
}

/// Returns the index of each rule by its name. Of several rules with the same name, the first one counts.
fn index_rules<'a>(grammar: &'a Grammar, diagnostics: &mut Diagnostics) -> Index<'a> {
    let mut index = Index::default();
    for (number, Name { text, span }) in grammar.rules.iter().map(|rule| &rule.name).enumerate() {
        let first = index.add(text.as_str(), number);
        if first != number {
            let message = format!("rule `{}` is defined twice", shown(text));
            diagnostics.push(
                Diagnostic::error(Code::DuplicateRule, *span, message)
                    .related(grammar.rules[first].name.span, "it is first defined here")
                    .help("rename one of them, or write both as alternatives of one rule"),
            );
        }
    }
    index
}

fn start_rule(
    grammar: &Grammar,
    asked: Option<&str>,
    index: &Index<'_>,
    complete: bool,
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    if grammar.rules.is_empty() {
        if complete {
            diagnostics.push(
                Diagnostic::error(Code::NoRules, None, "the grammar defines no rule")
                    .help("a rule is written `name ::= expression`, or `\"<name>\": [alternative, ...]` in JSON"),
            );
        }
        return None;
    }
    let (name, span) = match (asked, &grammar.start) {
        // The name may be copied from a JSON grammar.
        (Some(name), _) => (name.strip_prefix('<').and_then(|n| n.strip_suffix('>')).unwrap_or(name), None),
        (None, Some(name)) => (name.text.as_str(), Some(name.span)),
        (None, None) => return Some(0),
    };
    let found = asked.and_then(|asked| index.get(asked)).or_else(|| index.get(name));
    if found.is_none() {
        let message = format!("the start rule `{}` is not defined", shown(name));
        let mut diagnostic = Diagnostic::error(Code::UndefinedRule, span, message);
        // Only the rules that have names of the user's.
        let own = |(name, _): &(&&str, &usize)| !grammar.origins.contains_key(**name);
        let index = index.sorted();
        let index: Map<&str, usize> = index.iter().filter(own).map(|(&name, &place)| (name, place)).collect();
        let suggestion = similar::suggestion(name, &index, &mut similar::Budget::default());
        diagnostic.help = Some(suggestion.unwrap_or_else(|| similar::rules(&index)));
        diagnostics.push(diagnostic);
    }
    found.copied()
}

/// The places where an undefined name is used.
#[derive(Default)]
struct Uses {
    count: usize,
    first: Vec<Span>,
}

/// Reports each undefined name once.
fn check_references(grammar: &Grammar, index: &Index<'_>, diagnostics: &mut Diagnostics) {
    let mut undefined: Map<&str, Uses> = Map::new();
    for rule in &grammar.rules {
        each_reference(&rule.body, &|_| true, &mut |name, span| {
            if index.get(name).is_none() {
                let uses = undefined.entry(name).or_default();
                uses.count += 1;
                if uses.first.len() < 3 {
                    uses.first.push(span);
                }
            }
        });
    }
    let mut undefined: Vec<(&str, Uses)> = undefined.into_iter().collect();
    sort_by_key(&mut undefined, |(_, uses)| uses.first.first().copied());
    let mut budget = similar::Budget::default();
    let index = if undefined.is_empty() { Map::new() } else { index.sorted() };
    for (name, uses) in undefined {
        let mut message = format!("rule `{}` is not defined", shown(name));
        if uses.count > 1 {
            message += &format!(" (used {} times)", uses.count);
        }
        let mut diagnostic = Diagnostic::error(Code::UndefinedRule, uses.first.first().copied(), message);
        for &span in uses.first.iter().skip(1) {
            diagnostic = diagnostic.related(span, "also used here");
        }
        diagnostic.help = Some(similar::suggestion(name, &index, &mut budget).unwrap_or_else(|| {
            let count = index.len();
            let none =
                if count == 1 { "the only rule has no".into() } else { format!("none of the {count} rules has a") };
            format!("{none} similar name; every rule must be defined in this file")
        }));
        diagnostics.push(diagnostic);
    }
}

/// Test of whether an alternative counts.
type Counts<'c> = &'c dyn Fn(&Alternative) -> bool;

/// Calls `visit` for each reference in `expr` and in its alternatives that count, in source order.
fn each_reference<'a>(expr: &'a Expr, counts: Counts<'_>, visit: &mut impl FnMut(&'a str, Span)) {
    if let Some(name) = expr.as_rule() {
        visit(name, expr.span);
    }
    expr.children_if(counts).for_each(|child| each_reference(child, counts, visit));
}

/// Reports choices and classes without a possible option.
fn check_choices(expr: &Expr, diagnostics: &mut Diagnostics) {
    let is_reported = |d: &Diagnostic| d.severity == Severity::Error && d.span == Some(expr.span);
    // The format may have reported the empty class already.
    if expr.as_class().is_some_and(CharSet::is_empty) && !diagnostics.iter().any(is_reported) {
        diagnostics.push(Diagnostic::error(Code::EmptyClass, expr.span, "this class has no members"));
    }
    if let Some(alternatives) = expr.as_choice() {
        if !alternatives.iter().any(Alternative::is_live) {
            let span = alternatives.first().and_then(|first| first.weight).map_or(expr.span, |weight| weight.span);
            diagnostics.push(
                Diagnostic::error(Code::ZeroWeights, span, "every alternative of this choice has weight 0")
                    .help("weight 0 switches an alternative off; at least one must be left"),
            );
        } else if let [Alternative { weight: Some(weight), .. }] = alternatives {
            diagnostics.push(
                Diagnostic::warning(Code::UnusedWeight, weight.span, "this weight has no effect")
                    .help("there is only one alternative; a weight compares the alternatives of one choice"),
            );
        }
    }
    expr.children().for_each(|child| check_choices(child, diagnostics));
}

/// Returns the rules that the start rule reaches through alternatives that count.
fn reachable_rules(grammar: &Grammar, start: usize, index: &Index<'_>, counts: Counts<'_>) -> Vec<bool> {
    let mut reachable = vec![false; grammar.rules.len()];
    reachable[start] = true;
    let mut pending = vec![start];
    while let Some(number) = pending.pop() {
        each_reference(&grammar.rules[number].body, counts, &mut |name, _| {
            if let Some(&target) = index.get(name)
                && !std::mem::replace(&mut reachable[target], true)
            {
                pending.push(target);
            }
        });
    }
    reachable
}

fn report_unreachable(
    grammar: &Grammar,
    start: usize,
    index: &Index<'_>,
    reachable: &[bool],
    diagnostics: &mut Diagnostics,
) {
    let start = shown(&grammar.rules[start].name.text);
    for (number, rule) in grammar.rules.iter().enumerate().filter(|&(number, _)| !reachable[number]) {
        let Name { text, span } = &rule.name;
        // A second definition has been reported, and is never reached.
        let is_second = index.get(text.as_str()) != Some(&number);
        if !is_second && !grammar.class_rules.contains(text) && !grammar.made.contains(text) {
            let message = format!("rule `{}` cannot be reached from `{start}`", shown(text));
            diagnostics.push(
                Diagnostic::warning(Code::UnreachableRule, *span, message)
                    .help("refer to it from a rule that can be reached, make it the start rule, or remove it"),
            );
        }
    }
}

fn report_unproductive(
    grammar: &Grammar,
    index: &Index<'_>,
    reachable: &[bool],
    productive: &[bool],
    diagnostics: &mut Diagnostics,
) {
    for (number, rule) in grammar.rules.iter().enumerate().filter(|&(number, _)| !productive[number]) {
        let Name { text, span } = &rule.name;
        let message = format!("rule `{}` derives no finite string", shown(text));
        let mut diagnostic = Diagnostic::error(Code::UnproductiveRule, *span, message);
        if !reachable[number] {
            diagnostic.severity = Severity::Warning;
        }
        let mut cause = None;
        each_reference(&rule.body, &Alternative::is_live, &mut |name, place| {
            let target = index.get(name).copied();
            if cause.is_none() && target.is_some_and(|target| !productive[target]) {
                cause = Some((name, place, target == Some(number)));
            }
        });
        diagnostics.push(match cause {
            Some((_, place, true)) => diagnostic
                .related(place, "it needs itself here")
                .help("add an alternative that does not refer back to the rule"),
            Some((name, place, false)) => diagnostic
                .related(place, format!("it needs `{}`, which derives no finite string either", shown(name)))
                .help("add an alternative to one of the rules that does not refer back to it"),
            None => diagnostic,
        });
    }
}

/// Returns a name for a message. Long names are shortened.
fn shown(name: &str) -> String {
    const MAX: usize = 80;
    let cut: String = name.chars().take(MAX).map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if name.chars().nth(MAX).is_some() { cut + "..." } else { cut }
}

#[cfg(test)]
mod tests;
