//! Schemas that must not hold: one of their keywords does not.

use super::Reader;
use super::decimal::Bound;
use super::document::Id;
use super::expand::{Condition, KEYWORDS, Options, State};
use super::facts::{Facts, Fits, Literal, Types};
use crate::ordered::Set;

/// Names of properties of which a schema may say nothing.
const FRESH: [&str; 5] = ["x", "y", "other", "more", "further"];

impl<'j> Reader<'j, '_> {
    /// Adds that a schema does not hold: one of its keywords does not.
    pub(super) fn fails(&mut self, state: &mut State<'j>, id: Id) {
        if let Some(truth) = self.doc.truth(id) {
            if truth {
                state.facts.conflict = Some(id);
            }
            return;
        }
        let is_alone = |key: &str| !self.doc.is_ref_alone || key == "$ref" || self.doc.member(id, "$ref").is_none();
        // `additionalProperties: true` holds always.
        let is_free = |key: &str, at: Id| key == "additionalProperties" && self.doc.truth(at) == Some(true);
        let keys = self.doc.members(id).iter();
        let keys = keys.filter(|(key, at)| KEYWORDS.contains(key) && is_alone(key) && !is_free(key, *at));
        let (known, unknown): (Vec<_>, Vec<_>) = keys.partition(|(key, at)| self.is_breakable(id, key, *at));
        let mut options: Options<'j> = known.iter().map(|(key, _)| vec![Condition::Breaks(id, key)]).collect();
        if options.is_empty() && !unknown.is_empty() {
            options.push(vec![Condition::Loose(id)]);
        }
        match options.len() {
            0 => state.facts.conflict = Some(id),
            1 => state.pending.extend(options.remove(0).into_iter().map(|condition| (condition, Some(id)))),
            _ => {
                state.is_plain = false;
                state.choices.push((options, id));
            }
        }
    }

    /// Returns true if it can be said that a keyword does not hold.
    fn is_breakable(&self, id: Id, key: &str, at: Id) -> bool {
        const KNOWN: [&str; 23] = [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "type",
            "enum",
            "const",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minLength",
            "maxLength",
            "pattern",
            "minItems",
            "maxItems",
            "properties",
            "required",
            "minProperties",
            "maxProperties",
            "contains",
            "if",
        ];
        let is_target_known = || self.doc.text(at).is_some_and(|reference| self.doc.target(at, reference).is_some());
        match key {
            "$ref" => is_target_known(),
            "exclusiveMinimum" | "exclusiveMaximum" => self.doc.number(at).is_some(),
            "additionalProperties" => self.doc.member(id, "patternProperties").is_none(),
            "enum" | "const" => true,
            _ => KNOWN.contains(&key),
        }
    }

    /// Adds that a keyword of a schema does not hold.
    pub(super) fn breaks(&mut self, state: &mut State<'j>, id: Id, key: &'j str) {
        let Some(at) = self.doc.member(id, key) else { return };
        let isnt = |schema: Id| Condition::Is(Literal { schema, holds: false });
        let only = |state: &mut State<'j>, types: Types| state.facts.types = state.facts.types.and(types);
        match key {
            "$ref" => {
                if let Some(target) = self.doc.text(at).and_then(|reference| self.doc.target(id, reference)) {
                    state.pending.push((isnt(target), Some(id)));
                }
            }
            "not" => state.pending.push((Condition::Is(Literal::of(at)), Some(id))),
            "anyOf" | "oneOf" => {
                state.pending.extend(self.doc.items(at).iter().map(|&item| (isnt(item), Some(id))));
            }
            "allOf" => {
                let options = self.doc.items(at).iter().map(|&item| vec![isnt(item)]).collect();
                state.choices.push((options, at));
            }
            "if" => {
                let part = |key| self.doc.member(id, key);
                let yes = part("then").map(|then| vec![Condition::Is(Literal::of(at)), isnt(then)]);
                let no = part("else").map(|other| vec![isnt(at), isnt(other)]);
                state.choices.push((yes.into_iter().chain(no).collect(), at));
            }
            "type" => {
                let types = self.types(at);
                state.facts.types = state.facts.types.without(types);
            }
            "enum" | "const" => {
                let ids = if key == "enum" { self.doc.items(at).to_vec() } else { vec![at] };
                state.facts.excluded.extend(ids.into_iter().map(|id| self.doc.canonical(self.doc.json(id))));
            }
            "required" => {
                only(state, Types::OBJECT);
                let keys = self.doc.items(at).iter().filter_map(|&item| self.doc.text(item));
                state.choices.push((keys.map(|key| vec![Condition::Forbid(key)]).collect(), at));
            }
            "properties" => {
                only(state, Types::OBJECT);
                let options = self.doc.members(at).iter().map(|&(key, schema)| {
                    vec![Condition::Require(key), Condition::Property(key, Literal { schema, holds: false })]
                });
                state.choices.push((options.collect(), at));
            }
            "additionalProperties" => {
                only(state, Types::OBJECT);
                self.breaks_further(state, id, at);
            }
            "pattern" => {
                only(state, Types::STRING);
                let pattern = self.doc.text(at).map(|pattern| Fits { pattern, holds: false, at });
                state.facts.strings.patterns.extend(pattern);
            }
            "contains" => state.facts.loose.push(at),
            _ => self.breaks_bound(&mut state.facts, id, key, at),
        }
    }

    /// Adds that an object has a property which its schema does not list, and which is not as this schema has it.
    fn breaks_further(&self, state: &mut State<'j>, id: Id, at: Id) {
        let doc = &self.doc;
        let listed = |id: Id| doc.member(id, "properties").map_or(&[][..], |at| doc.members(at));
        let own: Set<&str> = listed(id).iter().map(|&(key, _)| key).collect();
        let objects = &state.facts.objects;
        let is_closed = doc.truth(at) == Some(false);
        if is_closed && objects.required.iter().any(|key| !own.contains(key)) {
            return;
        }
        let known = objects.layers.iter().flat_map(|&layer| listed(layer)).map(|&(key, _)| key);
        let mut keys: Set<&'j str> = known.chain(objects.required.iter().copied()).collect();
        // A property of which nothing is said.
        let fresh = FRESH.into_iter().find(|key| !own.contains(key) && !keys.contains(key));
        if fresh.is_none() && keys.iter().all(|key| own.contains(key)) {
            // Another name is not tried: this is told, and not taken for a contradiction.
            state.facts.loose.push(at);
            return;
        }
        keys.extend(fresh);
        let option = |key: &'j str| {
            let value = Condition::Property(key, Literal { schema: at, holds: false });
            [Some(Condition::Require(key)), (!is_closed).then_some(value)].into_iter().flatten().collect()
        };
        let options = keys.into_iter().filter(|key| !own.contains(key)).map(option).collect();
        state.choices.push((options, at));
    }

    /// Adds that a bound does not hold.
    fn breaks_bound(&self, facts: &mut Facts<'j>, id: Id, key: &str, at: Id) {
        let doc = &self.doc;
        if let (true, Some(number)) = (key.to_ascii_lowercase().ends_with("imum"), doc.number(at)) {
            facts.types = facts.types.and(Types::NUMBER);
            let beside = if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
            let was_open = key.starts_with('e') || doc.member(id, beside).and_then(|id| doc.truth(id)) == Some(true);
            let bound = Bound { at: number, is_open: !was_open };
            return if key.ends_with("inimum") { facts.numbers.at_most(bound) } else { facts.numbers.at_least(bound) };
        }
        let Some(number) = doc.count(at) else { return };
        let (types, count) = match &key[3..] {
            "Length" => (Types::STRING, &mut facts.strings.length),
            "Items" => (Types::ARRAY, &mut facts.arrays.count),
            _ => (Types::OBJECT, &mut facts.objects.count),
        };
        facts.types = facts.types.and(types);
        match (key.starts_with("min"), number) {
            (true, 0) => facts.types = Types::NONE,
            (true, number) => count.at_most(number - 1),
            (false, number) => count.at_least(number.saturating_add(1)),
        }
    }
}
