//! Arrays: items by their places, numbers of items, items that differ.

use super::Expansion;
use super::Reader;
use super::document::Id;
use super::facts::{Arrays, Count, Facts, Goal, Literal, Types};
use super::list::Member;
use super::make::Make;
use super::numbers;
use crate::ast::Expr;

/// The greatest number of items by place that are written out.
const MAX_PLACES: usize = 60;
/// The number of different numbers that are drawn where there is no bound.
const DIFFERENT: i128 = 8;

impl<'j> Reader<'j, '_> {
    /// Returns the arrays that fulfil the facts. `None` if there is none.
    pub(super) fn array(&mut self, facts: &Facts<'j>, make: Make) -> Option<Expr> {
        let arrays = &facts.arrays;
        let ws = make.rule(self.shared("blanks"));
        let places = self.places(arrays);
        let rest = self.rest(arrays);
        let value = |reader: &mut Self, goal: Goal| {
            let value = reader.value(goal, "item");
            make.seq([value, make.rule(reader.shared("blanks"))])
        };
        let first: Vec<Expr> = places.iter().map(|goal| value(self, goal.clone())).collect();
        let item = value(self, rest.clone());
        let plain = self.items(&first, &item, 0, arrays.count, make);
        let mut read = None;
        let drawn = match (arrays.unique, arrays.contains.as_slice()) {
            (Some(at), _) if arrays.count.max.is_none_or(|max| max > 1) => {
                read = plain;
                self.different(arrays, &places, &rest, at, make)
            }
            (_, []) => plain,
            (_, contains) => {
                read = plain;
                self.containing(contains, &first, &rest, arrays.count, make)
            }
        };
        let body = make.any_or_read([drawn?], read);
        Some(make.seq([make.text("["), ws, body, make.text("]")]))
    }

    /// Returns the goals of the first items that have schemas of their own.
    fn places(&self, arrays: &Arrays) -> Vec<Goal> {
        let lists: Vec<&[Id]> = arrays.layers.iter().map(|&layer| self.of_places(layer)).collect();
        let most = lists.iter().map(|list| list.len()).max().unwrap_or(0).min(MAX_PLACES);
        let goal = |place: usize| {
            let items = arrays.layers.iter().zip(&lists).filter_map(|(&layer, list)| match list.get(place) {
                Some(&id) => Some(id),
                None => self.of_rest(layer),
            });
            items.map(Literal::of).collect()
        };
        (0..most).map(goal).collect()
    }

    fn of_places(&self, layer: Id) -> &[Id] {
        let items = self.doc.member(layer, "items").filter(|&id| self.doc.is_array(id));
        self.doc.member(layer, "prefixItems").or(items).map(|id| self.doc.items(id)).unwrap_or_default()
    }

    fn of_rest(&self, layer: Id) -> Option<Id> {
        let items = self.doc.member(layer, "items")?;
        if self.doc.is_array(items) { self.doc.member(layer, "additionalItems") } else { Some(items) }
    }

    /// Returns the goal of the items that have no schema by their place.
    fn rest(&self, arrays: &Arrays) -> Goal {
        let mut goal: Goal = arrays.layers.iter().filter_map(|&layer| self.of_rest(layer)).map(Literal::of).collect();
        if goal.is_empty() {
            goal.extend(&arrays.unevaluated);
        }
        goal
    }

    /// Returns lists with one of `first` at each place and `item` at all others, from the place `from` on.
    fn items(&mut self, first: &[Expr], item: &Expr, from: usize, count: Count, make: Make) -> Option<Expr> {
        if count.is_empty() {
            return None;
        }
        let (min, max) = (count.min as usize, count.max.map(|max| max as usize));
        let comma = make.seq([make.text(","), make.rule(self.shared("blanks"))]);
        let drawn = max.map_or(first.len(), |max| max.min(first.len()));
        let more = make.seq([comma.clone(), item.clone()]);
        let room = |taken: usize| max.map(|max| (max - taken).min(u32::MAX as usize) as u32);
        let mut tail = if drawn == 0 && from == 0 {
            match max {
                Some(0) => return Some(make.empty()),
                _ => {
                    let least = min.saturating_sub(1) as u32;
                    let list = make.seq([item.clone(), make.many(more, least, room(1))]);
                    return Some(if min == 0 { make.maybe(list) } else { list });
                }
            }
        } else {
            make.many(more, min.saturating_sub(drawn) as u32, room(drawn))
        };
        for place in (0..drawn).rev() {
            let comma = (place + from > 0).then(|| comma.clone());
            tail = make.seq(comma.into_iter().chain([first[place].clone(), tail]));
            if place >= min {
                tail = make.maybe(tail);
            }
        }
        Some(tail)
    }

    /// Returns arrays whose first items without a place are those that must be there.
    fn containing(
        &mut self,
        contains: &[(Literal, Count)],
        first: &[Expr],
        rest: &Goal,
        count: Count,
        make: Make,
    ) -> Option<Expr> {
        let mut first = first.to_vec();
        let mut others = rest.clone();
        for (literal, times) in contains {
            let goal: Goal = rest.iter().copied().chain([*literal]).collect();
            let value = self.value(goal, "item");
            let item = make.seq([value, make.rule(self.shared("blanks"))]);
            let times_min = (times.min as usize).min(MAX_PLACES);
            first.extend(std::iter::repeat_n(item, times_min));
            if times.max.is_some() {
                others.push(Literal { schema: literal.schema, holds: false });
            }
        }
        if contains.len() > 1 && contains.iter().any(|(_, times)| times.max.is_some()) {
            self.loose(contains[0].0.schema, "stands beside another `contains`, so the items are not counted");
        }
        let value = self.value(others, "item");
        let item = make.seq([value, make.rule(self.shared("blanks"))]);
        let mut count = count;
        count.at_least(u32::try_from(first.len()).unwrap_or(u32::MAX));
        self.items(&first, &item, 0, count, make)
    }

    /// Returns arrays of items that differ by construction.
    fn different(&mut self, arrays: &Arrays, places: &[Goal], rest: &Goal, at: Id, make: Make) -> Option<Expr> {
        let mut members = Vec::new();
        if places.is_empty() {
            for expr in self.distinct(rest, make) {
                let expr = make.seq([expr, make.rule(self.shared("blanks"))]);
                members.push(Member { expr, is_required: false });
            }
        }
        if !arrays.contains.is_empty() || !places.is_empty() || members.len() < arrays.count.min as usize {
            self.loose(at, "asks for different items where they cannot be told apart");
            let value = |reader: &mut Self, goal: Goal| {
                let value = reader.value(goal, "item");
                make.seq([value, make.rule(reader.shared("blanks"))])
            };
            let first: Vec<Expr> = places.iter().map(|goal| value(self, goal.clone())).collect();
            let item = value(self, rest.clone());
            return self.items(&first, &item, 0, arrays.count, make);
        }
        self.list(members, arrays.count, make)
    }

    /// Returns expressions of values of a goal such that values of two of them differ.
    fn distinct(&mut self, goal: &Goal, make: Make) -> Vec<Expr> {
        let goal = self.resolved(goal.clone());
        let one = vec![self.value(goal.clone(), "item")];
        let leaves = match self.expand(&goal) {
            Expansion::Facts(facts) => facts,
            Expansion::Goals(_) => return one,
        };
        let [facts] = leaves.as_slice() else { return one };
        if facts.conflict.is_some() {
            return Vec::new();
        }
        if let Some(listed) = self.listed(facts) {
            return listed.into_iter().map(|text| make.text(text)).collect();
        }
        if facts.types == Types::TRUTH {
            return vec![make.text("true"), make.text("false")];
        }
        if facts.types == Types::WHOLE && facts.numbers.multiples.is_empty() && facts.excluded.is_empty() {
            return whole(facts, make);
        }
        let strings = &facts.strings;
        let is_plain = strings.patterns.is_empty() && strings.format.is_none() && facts.excluded.is_empty();
        if facts.types == Types::STRING && is_plain && strings.length.max != Some(0) {
            return self.distinct_strings(strings.length, make);
        }
        one
    }

    /// Returns strings that differ by their first letter.
    fn distinct_strings(&mut self, length: Count, make: Make) -> Vec<Expr> {
        let character = make.rule(self.shared("character"));
        let least = length.min.saturating_sub(1);
        let most = length.max.map(|max| max - 1);
        let letters =
            [(0x61, 0x63), (0x64, 0x66), (0x67, 0x69), (0x6A, 0x6C), (0x6D, 0x70), (0x71, 0x75), (0x76, 0x7A)];
        let strings = letters.iter().map(|&letters| {
            let rest = make.many(character.clone(), least, most);
            make.seq([make.text("\""), make.class(&[letters]), rest, make.text("\"")])
        });
        strings.collect()
    }
}

/// Returns whole numbers in parts of the range that the facts allow.
fn whole(facts: &Facts<'_>, make: Make) -> Vec<Expr> {
    let low = facts.numbers.low.map(|low| low.least(0));
    let high = facts.numbers.high.map(|high| high.greatest(0));
    let (from, to) = match (low, high) {
        (Some(low), Some(high)) => (low, high),
        (Some(low), None) => (low, low + 999),
        (None, Some(high)) => (high - 999, high),
        (None, None) => (-200, 999),
    };
    let parts = (to - from + 1).min(2 * DIFFERENT);
    let bound = |part: i128| from + (to - from + 1) * part / parts.max(1);
    let ranges = (0..parts).map(|part| (bound(part), bound(part + 1) - 1));
    ranges.map(|(low, high)| make.any(numbers::integers(Some(low), Some(high), make))).collect()
}
