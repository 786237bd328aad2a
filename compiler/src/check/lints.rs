//! Lints: grammars that compile, but are likely to disappoint. Only `gramjet check` reports them.

use crate::ast::{Alternative, Expr};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::ordered::Set;
use crate::shape::{Facts, Weights, each_place};

use super::{Checked, reachable_rules, shown};

/// A class with more members reads three choice bytes for each member.
const HUGE: u32 = 1 << 16;
/// Classes with less than this share of a choice are not reported.
const RARE: f64 = 1.0 / 8.0;
/// The number of a cycle's rules that are shown.
const SHOWN: usize = 3;

/// Runs the lints under these weights, with which the grammar grows so. `is_limited` says whether the file or the user
/// limits depth or length, `depth` is the limit in force.
pub(crate) fn lints(
    checked: &Checked<'_>,
    (weights, growth): (&Weights, &Facts),
    is_limited: bool,
    depth: Option<u32>,
    diagnostics: &mut Diagnostics,
) {
    if growth.length.is_none() && !is_limited {
        diagnostics.push(unbounded_length(checked, growth, depth));
    }
    // Nothing is drawn from what only texts have.
    let only_of_weights = only_of_weights(checked, weights);
    let is_only_of_weights = |one: &Alternative| only_of_weights.contains(&std::ptr::from_ref(one));
    let is_drawn = |one: &Alternative| one.is_generated() || is_only_of_weights(one);
    let drawn = reachable_rules(checked.grammar, checked.start, &checked.index, &is_drawn);
    for (rule, _) in checked.grammar.rules.iter().zip(&drawn).filter(|(_, is_drawn)| **is_drawn) {
        huge_classes(&rule.body, &is_only_of_weights, diagnostics);
    }
}

/// Returns the alternatives that the grammar has for texts only, and to which the weights of a file give a share.
fn only_of_weights(checked: &Checked<'_>, weights: &Weights) -> Set<*const Alternative> {
    let mut found = Set::new();
    for (rule, body) in checked.grammar.rules.iter().enumerate() {
        each_place(&body.body, &mut 0, &mut |place, expr| {
            let Some(all) = expr.as_choice() else { return };
            let of_weights =
                all.iter().enumerate().filter(|(index, one)| !one.is_generated() && weights.has(rule, place, *index));
            of_weights.for_each(|(_, one)| {
                found.insert(std::ptr::from_ref(one));
            });
        });
    }
    found
}

fn unbounded_length(checked: &Checked<'_>, growth: &Facts, depth: Option<u32>) -> Diagnostic {
    let rules = &checked.grammar.rules;
    let first = growth.critical.first().map(|&rule| &rules[rule].name);
    let told = |text| checked.grammar.told(text);
    let name = first.map_or_else(String::new, |name| format!("`{}`", shown(told(&name.text))));
    let mut message = format!(
        "the expected length of inputs has no bound: the recursion through {name} has a spectral radius of {:.3}, \
         which is not below 1",
        growth.radius
    );
    if let (Some(depth), Some(length)) = (depth, growth.limited_length) {
        message += &format!("; with the maximum depth of {depth}, inputs have {length:.0} bytes in the mean");
    }
    let mut diagnostic = Diagnostic::warning(Code::UnboundedLength, first.map(|name| name.span), message);
    let mut known: Set<&str> = first.iter().map(|name| told(&name.text)).collect();
    for &rule in &growth.critical {
        let name = &rules[rule].name;
        if known.len() <= SHOWN && known.insert(told(&name.text)) {
            diagnostic = diagnostic.related(name.span, format!("`{}` takes part in it", shown(told(&name.text))));
        }
    }
    diagnostic.help(
        "take `--shape balanced`, give the alternatives that end a recursion more weight, or set `--max-depth` or \
         `--max-len`",
    )
}

fn huge_classes(expr: &Expr, is_only_of_weights: &dyn Fn(&Alternative) -> bool, diagnostics: &mut Diagnostics) {
    if let Some(set) = expr.as_class().filter(|set| set.len() > HUGE)
        && !diagnostics.iter().any(|one| one.code == Code::HugeClass && one.span == Some(expr.span))
    {
        let message = format!(
            "this class has {} members: nearly all that is drawn from it are rare characters of other scripts",
            set.len()
        );
        diagnostics.push(
            Diagnostic::warning(Code::HugeClass, expr.span, message)
                .help("name the characters that matter, as one weighted alternative beside the rest"),
        );
    }
    let weight = |one: &Alternative| one.weight.map_or(1.0, |weight| weight.value);
    let total: f64 = expr.as_choice().unwrap_or_default().iter().map(weight).sum();
    let is_frequent = |one: &Alternative| one.is_generated() && weight(one) >= RARE * total;
    let examined = expr.children_if(|one| is_frequent(one) || is_only_of_weights(one));
    examined.for_each(|part| huge_classes(part, is_only_of_weights, diagnostics));
}
