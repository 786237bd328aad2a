//! Checks parameters of rules, and what stands for them: parts that are complete where the rule is referred to.

use super::{Checking, MAX_LABELS, Stand, follows_in_length};
use crate::ast::{Expr, Grammar, Name, Rule};
use crate::check::Index;
use crate::derived::{Derived, Measure, Term, Value};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::Set;

/// The greatest length of a part that follows from a parameter, in bytes. Numbers that measure one are wide enough.
const MOST_BYTES: u64 = 1 << 31;

/// Reports what is wrong with parameters and what stands for them, but for the labels that are not seen.
pub(in crate::check) fn check_parameters(
    grammar: &Grammar,
    index: &Index<'_>,
    start: Option<usize>,
    diagnostics: &mut Diagnostics,
) {
    let has_calls = |rule: &Rule| {
        let mut calls = false;
        rule.body.each(&mut |expr| calls |= expr.as_call().is_some());
        calls
    };
    if !grammar.rules.iter().any(|rule| !rule.parameters.is_empty() || has_calls(rule)) {
        return;
    }
    for Rule { name, parameters, .. } in start.into_iter().map(|start| &grammar.rules[start]) {
        if let Some(first) = parameters.first() {
            let message = format!("the start rule `{}` has parameters", grammar.told(&name.text));
            let help = "no part stands for them: begin with a rule that refers to this one";
            diagnostics.push(Diagnostic::error(Code::Parameters, first.span, message).help(help));
        }
    }
    if let Some(diagnostic) = too_many(grammar) {
        return diagnostics.push(diagnostic);
    }
    let counted = counted_parameters(grammar, index);
    for rule in &grammar.rules {
        check_own(rule, diagnostics);
        check_numbers(rule, diagnostics);
        let mut called = Set::new();
        rule.body.each(&mut |expr| {
            let Some((arguments, reference)) = expr.as_call().or(expr.as_rule().map(|_| (&[][..], expr))) else {
                return;
            };
            let is_of_call = expr.as_rule().is_some() && called.contains(&expr.address());
            called.insert(reference.address());
            let Some(&target) = reference.as_rule().and_then(|name| index.get(name)).filter(|_| !is_of_call) else {
                return;
            };
            let parameters = &grammar.rules[target].parameters;
            if parameters.len() != arguments.len() {
                let name = grammar.told(&grammar.rules[target].name.text);
                diagnostics.push(wrong_number((name, parameters), arguments.len(), expr.span));
            }
            for (number, argument) in
                arguments.iter().enumerate().filter(|&(number, _)| counted[target].contains(&number))
            {
                check_counted(rule, (argument, &grammar.rules[target].parameters[number]), diagnostics);
            }
        });
    }
}

/// Reports the first rule with more parameters than a rule may have labels.
fn too_many(grammar: &Grammar) -> Option<Diagnostic> {
    let Rule { name, parameters, .. } = grammar.rules.iter().find(|rule| rule.parameters.len() > MAX_LABELS)?;
    let message = format!("rule `{}` has {} parameters", grammar.told(&name.text), parameters.len());
    let help = format!("the bound is {MAX_LABELS}; give one label to parts that are passed together");
    Some(Diagnostic::error(Code::TooLarge, name.span, message).help(help))
}

fn wrong_number((rule, parameters): (&str, &[Name]), number: usize, span: Span) -> Diagnostic {
    let labels = |number: usize| match number {
        0 => "no label".to_string(),
        1 => "one label".to_string(),
        _ => format!("{number} labels"),
    };
    let message = format!("rule `{rule}` takes {}, this gives it {}", labels(parameters.len()), labels(number));
    let names: String = parameters.iter().map(|name| format!(", {}", name.text)).collect();
    let help = match parameters {
        [] => format!("refer to it by its name alone: `{rule}`"),
        _ => format!("write `$call({rule}{names})`, with labels of parts that stand before this"),
    };
    Diagnostic::error(Code::Parameters, span, message).help(help)
}

/// Reports parameters of one name.
fn check_own(rule: &Rule, diagnostics: &mut Diagnostics) {
    for (number, name) in rule.parameters.iter().enumerate() {
        if let Some(first) = rule.parameters[..number].iter().find(|first| first.text == name.text) {
            let message = format!("`{}` is a parameter already", name.text);
            let diagnostic = Diagnostic::error(Code::DuplicateLabel, name.span, message);
            diagnostics.push(diagnostic.related(first.span, "it is first given here").help("give it another name"));
        }
    }
}

/// Returns for each rule the numbers of the parameters whose rounds are counted in it, or in what it passes them to.
fn counted_parameters(grammar: &Grammar, index: &Index<'_>) -> Vec<Set<usize>> {
    let mut counted: Vec<Set<usize>> = vec![Set::new(); grammar.rules.len()];
    // Each round adds a parameter, and a grammar has a bounded number of them.
    loop {
        let mut is_changed = false;
        for (number, rule) in grammar.rules.iter().enumerate().filter(|(_, rule)| !rule.parameters.is_empty()) {
            let place = |name: &Name| rule.parameters.iter().position(|parameter| parameter.text == name.text);
            let mut found = Vec::new();
            rule.body.each(&mut |expr| {
                let values = expr.as_derived().into_iter().flat_map(Derived::values).map(|(value, _)| value);
                let values = values.chain(expr.as_times().map(|(_, rounds)| rounds));
                let terms = values.flat_map(|value| &value.terms).filter(|term| term.measure == Measure::Count);
                found.extend(terms.filter_map(|term| place(&term.label)));
                let Some((arguments, reference)) = expr.as_call() else { return };
                let Some(&target) = reference.as_rule().and_then(|name| index.get(name)) else { return };
                let passed = arguments.iter().enumerate().filter(|(number, _)| counted[target].contains(number));
                found.extend(passed.filter_map(|(_, label)| place(label)));
            });
            for place in found {
                is_changed |= counted[number].insert(place);
            }
        }
        if !is_changed {
            return counted;
        }
    }
}

/// Reports a part without rounds that stands for a parameter whose rounds are counted.
fn check_counted(rule: &Rule, (argument, parameter): (&Name, &Name), diagnostics: &mut Diagnostics) {
    let mut part = None;
    rule.body.each(&mut |expr| {
        let label = expr.as_label().filter(|(label, _)| label.text == argument.text);
        part = part.or(label.map(|(_, part)| part.unlabelled()));
    });
    if part.is_some_and(|part| part.as_repeat().is_none() && part.as_times().is_none()) {
        let message = format!("the part `{}` has no rounds", argument.text);
        let diagnostic = Diagnostic::error(Code::NoRepetition, argument.span, message);
        let help = "give the rule the label of a repetition such as `part:item*`";
        diagnostics.push(diagnostic.related(parameter.span, "the rounds of this parameter are counted").help(help));
    }
}

/// Reports numbers that could be too narrow for parts that follow from parameters.
fn check_numbers(rule: &Rule, diagnostics: &mut Diagnostics) {
    if rule.parameters.is_empty() {
        return;
    }
    let dependent = dependent_labels(rule);
    let is_dependent = |term: &&Term<Name>| {
        matches!(term.measure, Measure::Len | Measure::Count) && dependent.contains(term.label.text.as_str())
    };
    let mut report = |label: &Name, span: Span| {
        let message =
            format!("the part `{}` follows from a parameter, and can be too long for this number", label.text);
        let help = "let a number of 4 bytes or more measure it, as `$u32be(len(part))`, or one of free width; a \
                    bit field has 32 bits or more";
        diagnostics.push(Diagnostic::error(Code::NarrowField, span, message).help(help));
    };
    rule.body.each(&mut |expr| {
        let Some(derived) = expr.as_derived() else { return };
        if let Derived::Padding(label, padding) = derived
            && padding.is_exact
            && dependent.contains(label.text.as_str())
            && !rule.parameters.iter().any(|parameter| parameter.text == label.text)
        {
            return report(label, expr.span);
        }
        for (value, greatest) in derived.values().filter(|_| derived.fixed_width().is_some()) {
            let of_term = |term: &Term<Name>| if is_dependent(&term) { MOST_BYTES } else { 0 };
            if let Some(term) = value.terms.iter().find(is_dependent).filter(|_| most(value, of_term) > greatest) {
                report(&term.label, expr.span);
            }
        }
    });
}

fn most(value: &Value<Name>, of_term: impl Fn(&Term<Name>) -> u64) -> u64 {
    value.of(of_term).max(0).unsigned_abs()
}

/// Returns the parameters of a rule, and the labels of its parts that are longer if those are.
fn dependent_labels(rule: &Rule) -> Set<&str> {
    let mut dependent: Set<&str> = rule.parameters.iter().map(|name| name.text.as_str()).collect();
    loop {
        let before = dependent.len();
        rule.body.each(&mut |expr| {
            let Some((label, part)) = expr.as_label() else { return };
            let mut follows = false;
            part.each(&mut |expr| {
                follows |= follows_in_length(expr).any(|name| dependent.contains(name.text.as_str()))
            });
            if follows {
                dependent.insert(&label.text);
            }
        });
        if dependent.len() == before {
            return dependent;
        }
    }
}

impl<'e> Checking<'e, '_> {
    /// Returns the parameter of this name.
    pub(super) fn parameter(&self, label: &Name) -> Option<&'e Name> {
        self.parameters.iter().find(|parameter| parameter.text == label.text)
    }

    /// Returns where the part of a parameter stands; `None` if there is no such parameter, or it cannot be referred to,
    /// which is reported.
    pub(super) fn stand_of_parameter(&mut self, label: &Name, measure: Option<Measure>) -> Option<Stand> {
        if self.parameter(label).is_none() {
            self.unseen(label);
            return None;
        }
        if measure.is_some_and(Measure::is_of_place) {
            let message = format!("the place of the parameter `{}` is not known here", label.text);
            let help = "write the offset where the part has its label, and give that number to the rule";
            self.report(Diagnostic::error(Code::Parameters, label.span, message).help(help));
            return None;
        }
        Some(Stand::Before)
    }

    /// Looks at the labels that are given to a rule.
    pub(super) fn call(&mut self, expr: &'e Expr, arguments: &'e [Name]) {
        for label in arguments {
            self.widened(std::iter::once(label));
            if let Some(Stand::After(_)) = self.stand(label, None) {
                self.late(label, "what is given to a rule is a part that is complete: it stands before");
            }
        }
        self.content_of(expr, arguments.iter());
    }
}
