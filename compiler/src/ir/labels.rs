//! Labelled parts in an IR, and what refers to them.
//!
//! A label is seen within its [`Scope`], which is a sequence of the grammar. What refers to it knows the least that the
//! part can be, so that shortest texts are facts.

use super::{Ir, NodeId};
use crate::derived::{Derived, Measure, Term, Value};

/// A label. Labels of different places of a grammar differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(u32);

impl LabelId {
    /// Returns the label with this number.
    pub fn new(number: u32) -> LabelId {
        LabelId(number)
    }

    /// Returns the number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A reference to a label, with the least that its part can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The label.
    pub label: LabelId,
    /// The least length of the part in bytes.
    pub len: u64,
    /// The least number of rounds of the part, if it is a repetition.
    pub rounds: u64,
}

/// Rounds of a labelled part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Nothing depends on them.
    Unused,
    /// They are counted while the part is derived.
    Counted,
    /// Always this many.
    Fixed(u32),
}

/// Bytes that follow from labelled parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The kind of bytes.
    pub derived: Derived<Known>,
    /// The least length in bytes.
    pub min_len: u64,
}

/// A number of fixed width in a scope, which bounds what it measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The number.
    pub value: Value<Known>,
    /// The greatest value that can be written.
    pub greatest: u64,
}

/// The meaning of a scope for the rounds of a labelled repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// None.
    Plain,
    /// A round of the repetition with this label. Mirrors see its labels.
    Round(LabelId),
    /// The mirror of a round of the repetition with this label. Its labels are those of the round.
    Mirror(LabelId),
}

/// A part outside of which some labels are not seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The labels, in the order of their parts; the parameters of the rule that the body is, if it has arguments.
    pub labels: Box<[LabelId]>,
    /// The labels for whose parts its own labels stand, if the body is a rule with parameters. Empty otherwise.
    pub arguments: Box<[Known]>,
    /// The number of bytes by which the shortest text of that rule is longer with the shortest such parts than with
    /// empty ones.
    pub longer: u64,
    /// The fields that measure parts with these labels.
    pub fields: Box<[Field]>,
    /// The meaning for a repetition around it, or before it.
    pub role: Role,
    /// The part. The labelled parts are items of it, or the whole of it, but in a mirror, and with arguments.
    pub body: NodeId,
}

impl Scope {
    /// Returns the label of the repetition whose rounds it mirrors.
    pub fn mirrored(&self) -> Option<LabelId> {
        let Role::Mirror(label) = self.role else { return None };
        Some(label)
    }

    /// Returns the label of the repetition that it is a round of, or a mirror of a round.
    pub fn repetition(&self) -> Option<LabelId> {
        self.mirrored().or(self.round_of())
    }

    /// Returns the label of the repetition that it is a round of, if mirrors see its labels.
    pub fn round_of(&self) -> Option<LabelId> {
        let Role::Round(label) = self.role else { return None };
        Some(label)
    }
}

impl Derived<Known> {
    /// Returns the length in bytes if all parts are as short as they can be.
    pub fn min_len(&self) -> u64 {
        match self {
            Derived::Copy(known) => known.len,
            Derived::Number(value, form) => form.width(least(value)),
            Derived::Bits(bits) => bits.width(),
            Derived::Padding(known, padding) => padding.width(known.len),
        }
    }
}

/// Returns the least value of a number. Values below 0 count as 0.
pub fn least(value: &Value<Known>) -> u64 {
    let of_term = |term: &Term<Known>| match term.measure {
        Measure::Len => term.label.len,
        Measure::Count => term.label.rounds,
        Measure::Offset | Measure::Base | Measure::Sum(_) | Measure::Digest(_) => 0,
    };
    value.of(of_term).max(0).unsigned_abs()
}

/// Returns for each node whether it is a repetition whose rounds are counted while it is derived; nothing for a grammar
/// without labels.
pub fn counted_rounds(ir: &Ir) -> Vec<bool> {
    if !ir.has_labels() {
        return Vec::new();
    }
    let mut counted = vec![false; ir.node_count()];
    for node in (0..counted.len()).map(NodeId::new) {
        if let Some((_, Count::Counted, body)) = ir.node(node).label() {
            counted[body.index()] = true;
        }
    }
    counted
}

/// Returns the greatest length of a text with which each offset fits into its field, if there are offsets.
pub(super) fn longest_text(ir: &Ir) -> Option<u64> {
    let (mut seen, mut open) = (vec![false; ir.node_count()], Vec::from_iter(ir.body(ir.start())));
    let mut longest = None;
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node.index()], true) {
            continue;
        }
        open.extend(ir.children(node).iter().copied().chain(ir.node(node).instance().and_then(|rule| ir.body(rule))));
        for (value, greatest) in ir.node(node).leaf().into_iter().flat_map(|leaf| leaf.derived.values()) {
            longest = longest.into_iter().chain(value.longest_text(greatest)).min();
        }
    }
    longest
}

/// Returns the least number of rounds that a number says.
pub fn least_rounds(value: &Value<Known>) -> u32 {
    u32::try_from(least(value)).unwrap_or(u32::MAX)
}
