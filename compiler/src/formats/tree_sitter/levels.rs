//! How tightly operators bind: `prec`, `prec.left` and `prec.right`, by numbers or by names that `precedences` orders.

use super::{Object, name_of, wrapped};
use crate::formats::json_text::{Json, JsonKind};
use crate::levels::{Binding, Chaining};
use crate::ordered::Map;

/// The level of an alternative with the number 0, which is that of alternatives without a precedence.
const ZERO: i64 = 1 << 31;

/// The levels that have names.
pub(super) struct Levels<'j>(Map<&'j str, u32>);

impl<'j> Levels<'j> {
    /// Reads the lists of names. Names of one list are ordered, the first binding tightest. A name that several lists
    /// hold has the level of the first.
    pub(super) fn of(lists: &'j [Json]) -> Levels<'j> {
        let mut levels = Map::new();
        for list in lists {
            let JsonKind::Array(names) = &list.kind else { continue };
            for (place, name) in names.iter().rev().enumerate() {
                if let Some(name) = value_of(name) {
                    levels.entry(name).or_insert(level(1 + place as i64));
                }
            }
        }
        Levels(levels)
    }

    /// Returns how tightly each alternative of a rule binds, those of choices within choices one by one. `kept` returns
    /// the alternatives of a choice that are read.
    pub(super) fn bindings<'m>(&self, body: &'m Json, kept: &dyn Fn(&'m [Json]) -> Vec<&'m Json>) -> Vec<Binding> {
        let mut found = Vec::new();
        self.add(body, Binding::new(level(0), Chaining::Left), kept, &mut found);
        found
    }

    fn add<'m>(
        &self,
        json: &'m Json,
        mut binding: Binding,
        kept: &dyn Fn(&'m [Json]) -> Vec<&'m Json>,
        found: &mut Vec<Binding>,
    ) {
        let mut json = json;
        while let JsonKind::Object(members) = &json.kind {
            let object = Object(members);
            let chaining = match object.text("type") {
                Some("PREC" | "PREC_LEFT") => Some(Chaining::Left),
                Some("PREC_RIGHT") => Some(Chaining::Right),
                _ => None,
            };
            if let Some(chaining) = chaining {
                binding = Binding::new(self.level(object.get("value")), chaining);
            }
            match (wrapped(json), object.get("members").map(|members| &members.kind)) {
                (Some(content), _) => json = content,
                (None, Some(JsonKind::Array(members))) if object.text("type") == Some("CHOICE") => {
                    return kept(members).into_iter().for_each(|member| self.add(member, binding, kept, found));
                }
                _ => break,
            }
        }
        found.push(binding);
    }

    /// Returns the level that a number or a name stands for.
    fn level(&self, value: Option<&Json>) -> u32 {
        match value.map(|value| &value.kind) {
            Some(JsonKind::String(name)) => self.0.get(name.as_str()).copied().unwrap_or(level(0)),
            Some(JsonKind::Number(number)) => level(*number as i64),
            _ => level(0),
        }
    }
}

/// Returns the level of a number.
fn level(number: i64) -> u32 {
    // The greatest level is that of operators without one.
    (number.saturating_add(ZERO)).clamp(0, i64::from(u32::MAX) - 1) as u32
}

/// Returns the name in a list of precedences. Rules stand there, too.
fn value_of(json: &Json) -> Option<&str> {
    match &json.kind {
        JsonKind::Object(members) if name_of(json).is_none() => Object(members).text("value"),
        _ => None,
    }
}
