//! Facts that a value must have: the keywords of several schemas together, without alternatives.

use super::decimal::{Bound, Decimal};
use super::document::Id;
use crate::formats::json_text::Json;
use crate::ordered::Set;

/// A set of types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NULL: Types = Types(1);
    pub(super) const TRUTH: Types = Types(2);
    /// Numbers without a fraction.
    pub(super) const WHOLE: Types = Types(4);
    /// Numbers with a fraction.
    pub(super) const FRACTION: Types = Types(8);
    pub(super) const STRING: Types = Types(16);
    pub(super) const ARRAY: Types = Types(32);
    pub(super) const OBJECT: Types = Types(64);
    pub(super) const NUMBER: Types = Types(12);
    pub(super) const ALL: Types = Types(127);
    pub(super) const NONE: Types = Types(0);

    /// Returns the type of this name.
    pub(super) fn by_name(name: &str) -> Option<Types> {
        Some(match name {
            "null" => Types::NULL,
            "boolean" => Types::TRUTH,
            "integer" => Types::WHOLE,
            "number" => Types::NUMBER,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            "any" => Types::ALL,
            _ => return None,
        })
    }

    pub(super) fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(super) fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub(super) fn without(self, other: Types) -> Types {
        Types(self.0 & !other.0)
    }
}

/// A schema, or its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Literal {
    pub(super) schema: Id,
    pub(super) holds: bool,
}

impl Literal {
    pub(super) fn of(schema: Id) -> Literal {
        Literal { schema, holds: true }
    }
}

/// Schemas that a value fulfils together, in order.
pub(super) type Goal = Vec<Literal>;

/// The limits of a number of things.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

impl Count {
    const ANY: Count = Count { min: 0, max: None };

    pub(super) fn at_least(&mut self, min: u32) {
        self.min = self.min.max(min);
    }

    pub(super) fn at_most(&mut self, max: u32) {
        self.max = Some(self.max.map_or(max, |known| known.min(max)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.max.is_some_and(|max| max < self.min)
    }
}

/// Facts that numbers must have.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    pub(super) low: Option<Bound>,
    pub(super) high: Option<Bound>,
    pub(super) multiples: Vec<Decimal>,
}

impl Numbers {
    pub(super) fn at_least(&mut self, bound: Bound) {
        let is_weaker = |known: Bound| (known.at, known.is_open) > (bound.at, bound.is_open);
        if !self.low.is_some_and(is_weaker) {
            self.low = Some(bound);
        }
    }

    pub(super) fn at_most(&mut self, bound: Bound) {
        let is_weaker = |known: Bound| (known.at, !known.is_open) < (bound.at, !bound.is_open);
        if !self.high.is_some_and(is_weaker) {
            self.high = Some(bound);
        }
    }
}

/// A pattern that a text fits, or does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fits<'j> {
    pub(super) pattern: &'j str,
    pub(super) holds: bool,
    pub(super) at: Id,
}

/// Facts that strings must have.
#[derive(Clone, Debug)]
pub(super) struct Strings<'j> {
    pub(super) length: Count,
    pub(super) patterns: Vec<Fits<'j>>,
    pub(super) format: Option<(&'j str, Id)>,
}

/// Facts that arrays must have.
#[derive(Clone, Debug)]
pub(super) struct Arrays {
    pub(super) count: Count,
    pub(super) unique: Option<Id>,
    /// The schemas with keywords for items.
    pub(super) layers: Vec<Id>,
    pub(super) unevaluated: Vec<Literal>,
    pub(super) contains: Vec<(Literal, Count)>,
}

/// Facts that objects must have.
#[derive(Clone, Debug)]
pub(super) struct Objects<'j> {
    pub(super) count: Count,
    pub(super) required: Set<&'j str>,
    pub(super) forbidden: Set<&'j str>,
    /// The schemas with keywords for properties.
    pub(super) layers: Vec<Id>,
    pub(super) unevaluated: Vec<Literal>,
    /// Further schemas of properties.
    pub(super) further: Vec<(&'j str, Literal)>,
    pub(super) names: Vec<Literal>,
}

/// Facts that a value must have.
#[derive(Clone, Debug)]
pub(super) struct Facts<'j> {
    pub(super) types: Types,
    /// The only values, if they are listed.
    pub(super) values: Option<Vec<&'j Json>>,
    /// Canonical texts of values that are out.
    pub(super) excluded: Set<String>,
    pub(super) numbers: Numbers,
    pub(super) strings: Strings<'j>,
    pub(super) arrays: Arrays,
    pub(super) objects: Objects<'j>,
    /// The keywords that are not honoured.
    pub(super) loose: Vec<Id>,
    /// The first schema that nothing can fulfil beside the others.
    pub(super) conflict: Option<Id>,
}

impl Facts<'_> {
    pub(super) fn new() -> Self {
        Facts {
            types: Types::ALL,
            values: None,
            excluded: Set::new(),
            numbers: Numbers::default(),
            strings: Strings { length: Count::ANY, patterns: Vec::new(), format: None },
            arrays: Arrays {
                count: Count::ANY,
                unique: None,
                layers: Vec::new(),
                unevaluated: Vec::new(),
                contains: Vec::new(),
            },
            objects: Objects {
                count: Count::ANY,
                required: Set::new(),
                forbidden: Set::new(),
                layers: Vec::new(),
                unevaluated: Vec::new(),
                further: Vec::new(),
                names: Vec::new(),
            },
            loose: Vec::new(),
            conflict: None,
        }
    }

    /// Removes the types of which no value can fulfil the facts. `at` is the keyword that was added last.
    pub(super) fn settle(&mut self, at: Id) {
        let numbers = &self.numbers;
        if let (Some(low), Some(high)) = (numbers.low, numbers.high) {
            if low.at > high.at || low.at == high.at && (low.is_open || high.is_open) {
                self.types = self.types.without(Types::NUMBER);
            } else if low.least(0) > high.greatest(0) {
                self.types = self.types.without(Types::WHOLE);
            }
        }
        if self.strings.length.is_empty() {
            self.types = self.types.without(Types::STRING);
        }
        if self.arrays.count.is_empty() {
            self.types = self.types.without(Types::ARRAY);
        }
        let objects = &self.objects;
        let is_crowded = objects.count.max.is_some_and(|max| (max as usize) < objects.required.len());
        if objects.count.is_empty() || is_crowded || objects.required.iter().any(|key| objects.forbidden.contains(key))
        {
            self.types = self.types.without(Types::OBJECT);
        }
        let has_none = self.types == Types::NONE || self.values.as_ref().is_some_and(Vec::is_empty);
        if has_none && self.conflict.is_none() {
            self.conflict = Some(at);
        }
    }
}
