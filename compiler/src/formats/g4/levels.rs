//! How tightly the alternatives of a rule bind: earlier ones bind tighter.

use super::syntax::{Alternative, ElementKind};
use crate::levels::{Binding, Chaining};

/// Returns how tightly each alternative of the rule `name` binds. Only the references of a rule to itself have levels:
/// elsewhere an operand takes every operator.
pub(super) fn bindings(name: &str, alternatives: &[Alternative]) -> Vec<Binding> {
    let is_own = |element: Option<&super::syntax::Element>| {
        element.is_some_and(|element| matches!(&element.kind, ElementKind::Name(other) if other == name))
    };
    let is_recursive = alternatives.iter().any(|one| one.elements.len() > 1 && is_own(one.elements.first()));
    let levels = (1..=alternatives.len() as u32).rev();
    let binding = |(one, level): (&Alternative, u32)| match (is_own(one.elements.first()), is_own(one.elements.last()))
    {
        (true, true) if one.is_right => Binding::new(level, Chaining::Right),
        (true, true) => Binding::new(level, Chaining::Left),
        (true, false) => Binding { operator: level, ..Binding::GREEDY },
        (false, true) if is_recursive => Binding::new(level, Chaining::Right),
        (false, _) => Binding::GREEDY,
    };
    alternatives.iter().zip(levels).map(binding).collect()
}
