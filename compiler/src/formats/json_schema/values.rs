//! Whether a value that a schema lists fulfils the other keywords.

use super::Reader;
use super::expand::type_of;
use super::facts::{Count, Facts, Goal, Literal};
use super::language;
use crate::formats::json_text::{Json, JsonKind};
use crate::formats::pattern;

/// Returns true if a listed value fulfils the facts, as far as they are looked at: what is in lists and objects is not.
pub(super) fn fulfils(value: &Json, facts: &Facts<'_>, reader: &Reader<'_, '_>) -> bool {
    let number = reader.doc.exact(value);
    let is_whole = number.is_none_or(|number| number.is_whole());
    let is_in =
        |count: &Count, size: usize| size >= count.min as usize && count.max.is_none_or(|max| size <= max as usize);
    if !facts.types.has(type_of(&value.kind, is_whole)) || facts.excluded.contains(&reader.doc.canonical(value)) {
        return false;
    }
    match &value.kind {
        JsonKind::Number(_) => {
            let Some(number) = number else { return true };
            let numbers = &facts.numbers;
            let is_above = |bound: super::decimal::Bound| number > bound.at || number == bound.at && !bound.is_open;
            let is_below = |bound: super::decimal::Bound| number < bound.at || number == bound.at && !bound.is_open;
            numbers.low.is_none_or(is_above) && numbers.high.is_none_or(is_below)
        }
        JsonKind::String(text) => {
            let fits = |fits: &super::facts::Fits<'_>| {
                let found = pattern::ecma(fits.pattern).and_then(|hir| language::fits(&hir, text));
                found.is_none_or(|found| found == fits.holds)
            };
            is_in(&facts.strings.length, text.chars().count()) && facts.strings.patterns.iter().all(fits)
        }
        JsonKind::Array(items) => is_in(&facts.arrays.count, items.len()),
        JsonKind::Object(members) => {
            let has = |key: &str| members.iter().any(|(known, _)| known.text == key);
            is_in(&facts.objects.count, members.len())
                && facts.objects.required.iter().all(|key| has(key))
                && !facts.objects.forbidden.iter().any(|key| has(key))
        }
        JsonKind::Null | JsonKind::Bool(_) => true,
    }
}

/// Returns the schema alone as a goal.
pub(super) fn only(schema: super::document::Id) -> Goal {
    vec![Literal::of(schema)]
}
