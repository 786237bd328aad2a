//! The groups of sequences, and the numbers of fixed width in trees.

use gramjet_compiler::derived::{Derived, Measure, Value};
use gramjet_compiler::naming::Naming;

use crate::form::{Form, Kind, System};

/// Returns the items of a sequence with labels that is an item of another one.
pub(super) fn group(item: &Form) -> Option<&Form> {
    match &item.kind {
        Kind::Scope(items, _) if matches!(items.kind, Kind::Seq(_)) => Some(items),
        Kind::Label(_, item) => group(item),
        _ => None,
    }
}

/// Adds the items of a sequence with labels, and those of groups in it.
pub(super) fn add_groups<'f>(form: &'f Form, groups: &mut Vec<&'f Form>) {
    match &form.kind {
        Kind::Scope(items, _) => {
            groups.push(items);
            add_groups(items, groups);
        }
        Kind::Seq(items) => items.iter().for_each(|item| add_groups_of_item(item, groups)),
        _ => {}
    }
}

fn add_groups_of_item<'f>(item: &'f Form, groups: &mut Vec<&'f Form>) {
    match &item.kind {
        Kind::Scope(items, _) if matches!(items.kind, Kind::Seq(_)) => add_groups(item, groups),
        Kind::Seq(_) => add_groups(item, groups),
        Kind::Label(_, item) => add_groups_of_item(item, groups),
        _ => {}
    }
}

/// Returns the greatest length with which all offsets fit into their fields, if there are some: no offset and no part
/// is longer than the text.
pub(super) fn longest_text(system: &System) -> Option<u64> {
    fn visit(form: &Form, called: &mut Vec<usize>, longest: &mut Vec<u64>) {
        match &form.kind {
            Kind::Bytes(_) | Kind::Class(_) | Kind::Derived(Derived::Copy(_) | Derived::Padding(..)) => {}
            Kind::Variable(variable, _) => called.push(*variable),
            Kind::Derived(Derived::Number(value, form)) => longest.extend(longest_with(value, form.greatest())),
            Kind::Derived(Derived::Bits(bits)) => {
                let greatest = |width: u8| ((1u128 << width) - 1) as u64;
                longest.extend(bits.fields.iter().filter_map(|(width, value)| longest_with(value, greatest(*width))));
            }
            Kind::Repeat(_, _, Some(0)) => {}
            Kind::Seq(items) | Kind::Choice(items, _) => items.iter().for_each(|item| visit(item, called, longest)),
            Kind::Naming(Naming::Declare(_), _) => {}
            Kind::Repeat(item, ..) | Kind::Times(item, ..) => visit(item, called, longest),
            Kind::Scope(item, _) | Kind::Label(_, item) => visit(item, called, longest),
            Kind::Naming(_, item) | Kind::Coded(_, item) => visit(item, called, longest),
        }
    }
    let (mut called, mut longest, mut seen) = (vec![system.start], Vec::new(), Vec::new());
    while let Some(variable) = called.pop() {
        if !seen.contains(&variable) {
            seen.push(variable);
            system.variables[variable].iter().for_each(|form| visit(form, &mut called, &mut longest));
        }
    }
    longest.into_iter().min()
}

/// Returns the greatest length with which a number fits, if it has offsets.
fn longest_with(value: &Value<String>, greatest: u64) -> Option<u64> {
    let fits = |len: u64| {
        let terms = value.terms.iter().filter(|term| term.measure != Measure::Base);
        let sum: i128 = terms.map(|term| i128::from(len) * i128::from(term.times)).sum();
        sum + i128::from(value.plus) <= i128::from(greatest) * i128::from(value.divisor)
    };
    // The greatest length that fits, bit by bit.
    let bits = (0..64).rev().map(|bit| 1 << bit);
    let longest = bits.fold(0, |len, bit| if fits(len | bit) { len | bit } else { len });
    value.terms.iter().any(|term| term.measure == Measure::Offset).then_some(longest)
}

/// Returns true if the form has numbers of fixed width.
pub(super) fn has_fields(form: &Form) -> bool {
    match &form.kind {
        Kind::Bytes(_) | Kind::Class(_) | Kind::Variable(..) | Kind::Derived(Derived::Copy(_)) => false,
        Kind::Derived(Derived::Number(_, form)) => form.fixed_width().is_some(),
        Kind::Derived(Derived::Bits(_)) => true,
        Kind::Derived(Derived::Padding(_, padding)) => padding.is_exact,
        Kind::Seq(items) | Kind::Choice(items, _) => items.iter().any(has_fields),
        Kind::Repeat(item, ..) | Kind::Times(item, ..) | Kind::Scope(item, _) => has_fields(item),
        Kind::Label(_, item) | Kind::Naming(_, item) | Kind::Coded(_, item) => has_fields(item),
    }
}
