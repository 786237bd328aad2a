//! From schemas to facts: what several schemas say together, with one alternative taken of each choice.

use super::Reader;
use super::decimal::Bound;
use super::document::Id;
use super::facts::{Count, Facts, Fits, Goal, Literal, Types};
use super::values;
use crate::formats::json_text::JsonKind;
use crate::ordered::{Map, Set};

/// The greatest number of alternatives of one value if several keywords have alternatives.
const MAX_LEAVES: usize = 64;
/// The greatest number of keywords that are looked at for one value.
const MAX_STEPS: usize = 1 << 16;
/// The greatest number of keywords that are looked at to compare two alternatives.
const MAX_COMPARED: usize = 1 << 9;
/// The greatest number of alternatives of `oneOf` that are compared with each other.
const MAX_ONE_OF: usize = 64;

/// The keywords that say something of values.
pub(super) const KEYWORDS: [&str; 47] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "unevaluatedItems",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "extends",
    "disallow",
    "divisibleBy",
    "minContains",
    "maxContains",
    "then",
    "else",
    "contentSchema",
];

/// One condition on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition<'j> {
    Is(Literal),
    /// The keyword of the schema does not hold.
    Breaks(Id, &'j str),
    Require(&'j str),
    Forbid(&'j str),
    Property(&'j str, Literal),
    /// A keyword that cannot be honoured.
    Loose(Id),
}

pub(super) type Options<'j> = Vec<Vec<Condition<'j>>>;

/// The alternatives of a value.
pub(super) enum Expansion<'j> {
    /// One of other goals.
    Goals(Vec<Goal>),
    /// One of these.
    Facts(Vec<Facts<'j>>),
}

/// A search for alternatives.
#[derive(Clone)]
pub(super) struct State<'j> {
    pub(super) facts: Facts<'j>,
    pub(super) pending: Vec<(Condition<'j>, Option<Id>)>,
    pub(super) choices: Vec<(Options<'j>, Id)>,
    seen: Set<Literal>,
    /// The schema that led to each schema.
    from: Map<Id, Id>,
    pub(super) is_plain: bool,
}

/// The bounds of a search.
struct Budget {
    steps: usize,
    /// Whether the alternatives of `oneOf` may hold together.
    is_rough: bool,
}

impl<'j> Reader<'j, '_> {
    /// Returns the alternatives of a value.
    pub(super) fn expand(&mut self, goal: &Goal) -> Expansion<'j> {
        self.expanded(goal, false)
    }

    /// Returns the alternatives of a value. If `is_rough`, several ones of `oneOf` may hold.
    pub(super) fn expanded(&mut self, goal: &Goal, is_rough: bool) -> Expansion<'j> {
        let mut budget = Budget { steps: MAX_STEPS, is_rough };
        self.is_narrowed = false;
        let mut state = self.begin(goal);
        self.settle(&mut state, &mut budget);
        if let Some(goals) = plain_choice(&state) {
            return Expansion::Goals(goals);
        }
        let mut found = Vec::new();
        let widest = state.choices.iter().map(|(options, _)| options.len()).max().unwrap_or(1);
        self.explore(state, MAX_LEAVES.max(widest), &mut budget, &mut found);
        if budget.steps == 0 && !found.iter().any(|facts| facts.conflict.is_none()) {
            self.report_size(goal[0].schema);
        }
        Expansion::Facts(found)
    }

    fn begin(&self, goal: &Goal) -> State<'j> {
        let pending = goal.iter().rev().map(|&literal| (Condition::Is(literal), None)).collect();
        let (seen, from) = (Set::new(), Map::new());
        State { facts: Facts::new(), pending, choices: Vec::new(), seen, from, is_plain: true }
    }

    /// Returns true if a value may fulfil all of these schemas.
    fn may_hold(&mut self, goal: &Goal, depth: u32) -> bool {
        let mut budget = Budget { steps: MAX_COMPARED, is_rough: true };
        let mut found = Vec::new();
        let state = self.begin(goal);
        self.explore(state, MAX_LEAVES, &mut budget, &mut found);
        if budget.steps == 0 {
            return true;
        }
        found.retain(|facts| facts.conflict.is_none());
        found.iter().any(|facts| {
            let is_only_object = facts.types == Types::OBJECT && facts.values.is_none();
            depth == 0
                || !is_only_object
                || facts.objects.required.iter().all(|key| {
                    let goal = self.property(&facts.objects, key).0;
                    self.may_hold(&goal, depth - 1)
                })
        })
    }

    /// Takes all conditions that are no choices.
    fn settle(&mut self, state: &mut State<'j>, budget: &mut Budget) {
        while let Some((condition, from)) = state.pending.pop() {
            if budget.steps == 0 || state.facts.conflict.is_some() {
                return;
            }
            budget.steps -= 1;
            self.take(state, condition, from, budget);
        }
    }

    /// Adds the facts of at most `most` alternatives. Conflicts are added if there is nothing else.
    fn explore(&mut self, mut state: State<'j>, most: usize, budget: &mut Budget, found: &mut Vec<Facts<'j>>) {
        self.settle(&mut state, budget);
        if !budget.is_rough && state.facts.conflict.is_none() {
            state.facts.conflict = self.lacking(&state.facts);
        }
        if state.facts.conflict.is_some() {
            if found.is_empty() {
                found.push(state.facts);
            }
            return;
        }
        let Some((options, _)) = state.choices.pop() else {
            found.retain(|facts| facts.conflict.is_none());
            if budget.steps > 0 {
                found.push(state.facts);
            }
            return;
        };
        let end = found.iter().filter(|facts| facts.conflict.is_none()).count() + most;
        let count = options.len();
        for (number, option) in options.into_iter().enumerate() {
            let before = found.iter().filter(|facts| facts.conflict.is_none()).count();
            let share = end.saturating_sub(before) / (count - number);
            if before >= end || budget.steps == 0 {
                return;
            }
            let mut next = state.clone();
            next.pending.extend(option.into_iter().rev().map(|condition| (condition, None)));
            self.explore(next, share.max(1), budget, found);
        }
    }

    fn take(&mut self, state: &mut State<'j>, condition: Condition<'j>, from: Option<Id>, budget: &mut Budget) {
        match condition {
            Condition::Is(literal) => {
                let id = literal.schema;
                if !state.seen.insert(literal) {
                    if from.is_some_and(|from| leads(&state.from, from, id)) {
                        self.report_cycle(id);
                        state.facts.conflict = Some(id);
                    }
                    return;
                }
                if let Some(from) = from {
                    state.from.entry(id).or_insert(from);
                }
                if literal.holds { self.holds(state, id, budget) } else { self.fails(state, id) }
            }
            Condition::Breaks(id, key) => {
                state.is_plain = false;
                self.breaks(state, id, key);
            }
            Condition::Require(key) => drop(state.facts.objects.required.insert(key)),
            Condition::Forbid(key) => drop(state.facts.objects.forbidden.insert(key)),
            Condition::Property(key, literal) => state.facts.objects.further.push((key, literal)),
            Condition::Loose(id) => state.facts.loose.push(id),
        }
        let at = match condition {
            Condition::Is(literal) => literal.schema,
            Condition::Breaks(id, _) | Condition::Loose(id) => id,
            _ => from.unwrap_or(0),
        };
        state.is_plain &= matches!(condition, Condition::Is(_));
        state.facts.settle(at);
    }

    fn holds(&mut self, state: &mut State<'j>, id: Id, budget: &mut Budget) {
        if let Some(truth) = self.doc.truth(id) {
            if !truth {
                state.facts.conflict = Some(id);
            }
            return;
        }
        if !self.doc.is_object(id) {
            let message = format!("`{}` is no schema", self.doc.path(id));
            self.error(id, message, "a schema is an object, `true` or `false`");
            return;
        }
        if let Some(at) = self.doc.member(id, "$ref").filter(|_| self.doc.is_ref_alone) {
            return self.refer(state, id, at);
        }
        for (key, at) in self.doc.members(id).to_vec() {
            if KEYWORDS.contains(&key) {
                budget.steps = budget.steps.saturating_sub(1);
                self.keyword(state, id, key, at, budget);
            }
            if state.facts.conflict.is_some() {
                return;
            }
        }
    }

    fn refer(&mut self, state: &mut State<'j>, id: Id, at: Id) {
        let Some(reference) = self.doc.text(at) else { return };
        match self.doc.target(id, reference) {
            Some(target) => state.pending.push((Condition::Is(Literal::of(target)), Some(id))),
            None if reference.starts_with('#') => {
                let message = format!("`{}` refers to `{reference}`, which is not in the file", self.doc.path(id));
                self.undefined(at, message);
            }
            None => state.facts.loose.push(at),
        }
    }

    fn keyword(&mut self, state: &mut State<'j>, id: Id, key: &'j str, at: Id, budget: &mut Budget) {
        let all = |ids: &[Id]| ids.iter().map(|&id| vec![Condition::Is(Literal::of(id))]).collect::<Options<'j>>();
        let with = |key: &str| self.doc.member(id, key);
        match key {
            "$ref" | "$dynamicRef" | "$recursiveRef" => return self.refer(state, id, at),
            "allOf" => {
                let items = self.doc.items(at).iter().rev();
                return state.pending.extend(items.map(|&item| (Condition::Is(Literal::of(item)), Some(id))));
            }
            "extends" if self.doc.is_object(at) => {
                return state.pending.push((Condition::Is(Literal::of(at)), Some(id)));
            }
            "anyOf" => return state.choices.push((all(self.doc.items(at)), at)),
            "oneOf" => {
                let branches = self.doc.items(at).to_vec();
                let options = self.one_of(&branches, budget);
                return state.choices.push((options, at));
            }
            "not" => {
                return state.pending.push((Condition::Is(Literal { schema: at, holds: false }), Some(id)));
            }
            "if" => {
                let part = |key| with(key).map(|id| Condition::Is(Literal::of(id)));
                let yes = [Some(Condition::Is(Literal::of(at))), part("then")];
                let no = [Some(Condition::Is(Literal { schema: at, holds: false })), part("else")];
                let both = [yes, no].map(|conditions| conditions.into_iter().flatten().collect());
                if with("then").or(with("else")).is_some() {
                    state.choices.push((both.to_vec(), at));
                }
                return;
            }
            "dependentRequired" | "dependentSchemas" | "dependencies" => return self.dependencies(state, at),
            _ => {}
        }
        state.is_plain = false;
        self.fact(&mut state.facts, id, key, at);
        state.facts.settle(at);
    }

    /// Adds what a keyword without alternatives says.
    fn fact(&mut self, facts: &mut Facts<'j>, id: Id, key: &str, at: Id) {
        let doc = &self.doc;
        match key {
            "type" => {
                let is_nullable =
                    doc.is_openapi && doc.member(id, "nullable").and_then(|id| doc.truth(id)) == Some(true);
                let null = if is_nullable { Types::NULL } else { Types::NONE };
                facts.types = facts.types.and(self.types(at).or(null));
            }
            "enum" | "const" => {
                let listed: Vec<_> = if key == "enum" { doc.items(at).to_vec() } else { vec![at] };
                let known = facts.values.take();
                let known: Option<Set<String>> =
                    known.map(|values| values.iter().map(|value| doc.canonical(value)).collect());
                let mut seen = Set::new();
                let values = listed.into_iter().map(|id| doc.json(id)).filter(|value| {
                    let text = doc.canonical(value);
                    known.as_ref().is_none_or(|known| known.contains(&text)) && seen.insert(text)
                });
                facts.values = Some(values.collect());
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                let Some(number) = doc.number(at) else { return };
                let beside = if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
                let is_open = key.starts_with('e') || doc.member(id, beside).and_then(|id| doc.truth(id)) == Some(true);
                let bound = Bound { at: number, is_open };
                if key.ends_with("inimum") { facts.numbers.at_least(bound) } else { facts.numbers.at_most(bound) }
            }
            "multipleOf" | "divisibleBy" => {
                facts.numbers.multiples.extend(doc.number(at).filter(|number| number.digits > 0));
            }
            "pattern" => {
                facts.strings.patterns.extend(doc.text(at).map(|pattern| Fits { pattern, holds: true, at }));
            }
            "format" => facts.strings.format = doc.text(at).map(|format| (format, at)).or(facts.strings.format),
            "uniqueItems" if doc.truth(at) == Some(true) => facts.arrays.unique = Some(at),
            "items" | "prefixItems" if !facts.arrays.layers.contains(&id) => facts.arrays.layers.push(id),
            "unevaluatedItems" => facts.arrays.unevaluated.push(Literal::of(at)),
            "contains" => {
                let count = |key| doc.member(id, key).and_then(|id| doc.count(id));
                let count = Count { min: count("minContains").unwrap_or(1), max: count("maxContains") };
                facts.arrays.contains.push((Literal::of(at), count));
            }
            "required" => facts.objects.required.extend(doc.items(at).iter().filter_map(|&item| doc.text(item))),
            "properties" | "additionalProperties" | "patternProperties" if !facts.objects.layers.contains(&id) => {
                facts.objects.layers.push(id);
                let own = doc.member(id, "properties").map(|id| doc.members(id)).unwrap_or_default();
                let required = own.iter().filter(|(_, id)| {
                    doc.member(*id, "required").and_then(|required| doc.truth(required)) == Some(true)
                });
                facts.objects.required.extend(required.map(|(key, _)| *key));
            }
            "propertyNames" => facts.objects.names.push(Literal::of(at)),
            "unevaluatedProperties" => facts.objects.unevaluated.push(Literal::of(at)),
            "disallow" => facts.loose.push(at),
            _ => self.count(facts, key, at),
        }
    }

    fn count(&self, facts: &mut Facts<'j>, key: &str, at: Id) {
        let Some(number) = self.doc.count(at) else { return };
        let count = match key {
            "minLength" | "maxLength" => &mut facts.strings.length,
            "minItems" | "maxItems" => &mut facts.arrays.count,
            "minProperties" | "maxProperties" => &mut facts.objects.count,
            _ => return,
        };
        if key.starts_with("min") { count.at_least(number) } else { count.at_most(number) }
    }

    pub(super) fn types(&self, at: Id) -> Types {
        let named = |id: Id| self.doc.text(id).and_then(Types::by_name);
        match self.doc.is_array(at) {
            true => self.doc.items(at).iter().filter_map(|&id| named(id)).fold(Types::NONE, Types::or),
            false => named(at).unwrap_or(Types::ALL),
        }
    }

    /// Returns the alternatives of `oneOf`. Each says that the ones that may hold beside it do not.
    fn one_of(&mut self, items: &[Id], budget: &mut Budget) -> Options<'j> {
        let is = |&id: &Id| Condition::Is(Literal::of(id));
        if budget.is_rough || items.len() > MAX_ONE_OF {
            return items.iter().map(|id| vec![is(id)]).collect();
        }
        let mut beside: Vec<Vec<Id>> = vec![Vec::new(); items.len()];
        for (number, &item) in items.iter().enumerate() {
            for (other, &second) in items.iter().enumerate().skip(number + 1) {
                if self.overlap(item, second) {
                    beside[number].push(second);
                    beside[other].push(item);
                }
            }
        }
        self.is_narrowed |= beside.iter().any(|beside| !beside.is_empty());
        let options = items.iter().zip(beside).map(|(item, beside)| {
            let others = beside.into_iter().map(|schema| Condition::Is(Literal { schema, holds: false }));
            std::iter::once(is(item)).chain(others).collect()
        });
        options.collect()
    }

    fn overlap(&mut self, one: Id, other: Id) -> bool {
        if let Some(&known) = self.overlaps.get(&(one, other)) {
            return known;
        }
        let found = self.may_hold(&vec![Literal::of(one), Literal::of(other)], 2);
        self.overlaps.insert((one, other), found);
        found
    }

    /// Returns a schema of a required property that no value fulfils beside its others, if objects are asked for.
    fn lacking(&mut self, facts: &Facts<'j>) -> Option<Id> {
        const MAX_REQUIRED: usize = 16;
        if facts.types != Types::OBJECT || facts.values.is_some() || facts.objects.layers.len() < 2 {
            return None;
        }
        for key in facts.objects.required.iter().take(MAX_REQUIRED) {
            let goal = self.resolved(self.property(&facts.objects, key).0);
            if goal.len() < 2 {
                continue;
            }
            let known = self.held.get(&goal).copied();
            let holds = known.unwrap_or_else(|| self.may_hold(&goal, 0));
            self.held.insert(goal.clone(), holds);
            if !holds {
                return Some(goal[0].schema);
            }
        }
        None
    }

    fn dependencies(&self, state: &mut State<'j>, at: Id) {
        for &(key, then) in self.doc.members(at) {
            let mut with = vec![Condition::Require(key)];
            if self.doc.is_array(then) {
                with.extend(self.doc.items(then).iter().filter_map(|&id| self.doc.text(id)).map(Condition::Require));
            } else if let Some(text) = self.doc.text(then) {
                with.push(Condition::Require(text));
            } else {
                with.push(Condition::Is(Literal::of(then)));
            }
            state.choices.push((vec![with, vec![Condition::Forbid(key)]], then));
        }
    }

    /// Returns the goal with references followed that stand alone.
    pub(super) fn resolved(&self, goal: Goal) -> Goal {
        let mut goal: Goal = goal.into_iter().map(|literal| self.followed(literal)).collect();
        // What any value fulfils is left out.
        goal.retain(|literal| !(literal.holds && self.is_free(literal.schema)));
        goal.sort_unstable();
        goal.dedup();
        goal
    }

    fn is_free(&self, id: Id) -> bool {
        let members = self.doc.members(id);
        self.doc.truth(id) == Some(true)
            || self.doc.is_object(id) && !members.iter().any(|(key, _)| KEYWORDS.contains(key))
    }

    fn followed(&self, mut literal: Literal) -> Literal {
        for _ in 0..64 {
            let id = literal.schema;
            let mut keys = self.doc.members(id).iter().filter(|(key, _)| KEYWORDS.contains(key));
            let Some(at) = self.doc.member(id, "$ref") else { break };
            let is_alone = self.doc.is_ref_alone || keys.next().is_some() && keys.next().is_none();
            let target = self.doc.text(at).and_then(|reference| self.doc.target(id, reference));
            let Some(target) = target.filter(|_| is_alone) else { break };
            literal.schema = target;
        }
        literal
    }

    /// Returns the texts of the listed values that fulfil the facts.
    pub(super) fn listed(&self, facts: &Facts<'j>) -> Option<Vec<String>> {
        let values = facts.values.as_ref()?.iter();
        let values = values.filter(|value| values::fulfils(value, facts, self)).map(|value| self.doc.written(value));
        Some(values.collect())
    }
}

/// Returns true if the schema `from` was led to from `id`.
fn leads(map: &Map<Id, Id>, mut from: Id, id: Id) -> bool {
    for _ in 0..=map.iter().count() {
        if from == id {
            return true;
        }
        match map.get(&from) {
            Some(&before) => from = before,
            None => return false,
        }
    }
    false
}

/// Returns the alternatives of a goal that says nothing but that one of them holds.
fn plain_choice(state: &State<'_>) -> Option<Vec<Goal>> {
    let [(options, _)] = state.choices.as_slice() else { return None };
    if !state.is_plain || state.facts.conflict.is_some() || !state.facts.loose.is_empty() {
        return None;
    }
    let literals = |option: &Vec<Condition<'_>>| -> Option<Goal> {
        let literal = |condition: &Condition<'_>| match condition {
            Condition::Is(literal) => Some(*literal),
            _ => None,
        };
        option.iter().map(literal).collect()
    };
    options.iter().map(literals).collect()
}

/// Returns true if a value is of one of these types.
pub(super) fn type_of(kind: &JsonKind, is_whole: bool) -> Types {
    match kind {
        JsonKind::Null => Types::NULL,
        JsonKind::Bool(_) => Types::TRUTH,
        JsonKind::Number(_) if is_whole => Types::WHOLE,
        JsonKind::Number(_) => Types::FRACTION,
        JsonKind::String(_) => Types::STRING,
        JsonKind::Array(_) => Types::ARRAY,
        JsonKind::Object(_) => Types::OBJECT,
    }
}
