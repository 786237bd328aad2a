//! The kinds of nodes, and all that is told by the kind alone. Passes, analyses and engines ask here.
//!
//! A new kind is written out here first. It stands for one of the ways in which nodes derive ([`Composition`]), which are
//! fewer: what goes by these need not know the kind.

use super::{Facts, Ir, NodeId, RuleId, Site, Slots};
use crate::charset::{CharSet, Encoded};

/// What a node derives.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// These bytes; may be empty.
    Bytes(Box<[u8]>),
    /// One member of a set of at least two; one site, members in ascending order.
    Class(CharSet),
    /// An instance of a rule, one level deeper.
    Rule(RuleId),
    /// One after the other.
    Seq(Box<[NodeId]>),
    /// One of at least two options; one site.
    Choice(Choice),
    /// `item` at least `min` times, then one site (stop, go on) per further round, up to `max` rounds.
    Repeat {
        /// What is repeated.
        item: NodeId,
        /// Rounds without a site.
        min: u32,
        /// The greatest number of rounds.
        max: Option<u32>,
    },
    /// An instance of a rule, one level deeper, whose body stands here. Made by passes.
    Inline {
        /// Whose instance it is: its pool stands in for the body beyond the depth limit.
        rule: RuleId,
        /// What it derives within the limit.
        body: NodeId,
    },
    /// An instance of a rule, one level deeper, in tail position of the nearest enclosing [`Node::Inline`] (or of the
    /// body) of the same rule: a jump back to it. Made by passes.
    Again(RuleId),
}

/// The options of a choice in canonical order and, unless they are equally probable, their slots.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The options, at least two.
    pub options: Box<[NodeId]>,
    /// The slot map of a weighted choice.
    pub slots: Option<Slots>,
}

impl Choice {
    /// Its site with all options.
    pub fn site(&self) -> Site<'_> {
        Site::new(self.options.len() as u32, self.slots.as_ref())
    }

    /// The probability of an option.
    pub fn share(&self, option: usize) -> f64 {
        match &self.slots {
            Some(slots) => slots.share(option),
            None => 1.0 / self.options.len() as f64,
        }
    }
}

/// How what a node derives is made of what its children derive. Kinds that passes make derive as those that they stand for.
#[derive(Clone, Copy, Debug)]
pub enum Composition<'i> {
    /// These bytes.
    Bytes(&'i [u8]),
    /// One member of a set.
    Class(&'i CharSet),
    /// What the rule derives, one level deeper; what its body derives where that is given.
    Instance(RuleId, Option<NodeId>),
    /// All of these, one after the other.
    All(&'i [NodeId]),
    /// One of these.
    One(&'i Choice),
    /// This at least `min` times, and up to `max` times.
    Rounds {
        /// What is repeated.
        item: NodeId,
        /// Rounds without a site.
        min: u32,
        /// The greatest number of rounds.
        max: Option<u32>,
    },
}

/// How a node derives where every site takes option 0.
#[derive(Clone, Copy, Debug)]
pub enum First<'i> {
    /// These bytes.
    Bytes(&'i [u8]),
    /// The first member of a set.
    Member(Encoded),
    /// What the rule derives so.
    Instance(RuleId),
    /// These, one after the other, so many times.
    Times(&'i [NodeId], u32),
}

impl Node {
    /// The children, in order.
    pub fn children(&self) -> &[NodeId] {
        match self {
            Node::Bytes(_) | Node::Class(_) | Node::Rule(_) | Node::Again(_) => &[],
            Node::Seq(items) => items,
            Node::Choice(choice) => &choice.options,
            Node::Repeat { item, .. } => std::slice::from_ref(item),
            Node::Inline { body, .. } => std::slice::from_ref(body),
        }
    }

    /// The children that stand in tail position of the node: after them nothing is left of it. They are the last ones.
    pub fn tails(&self) -> &[NodeId] {
        match self {
            Node::Bytes(_) | Node::Class(_) | Node::Rule(_) | Node::Again(_) => &[],
            Node::Seq(items) => &items[items.len().saturating_sub(1)..],
            Node::Choice(choice) => &choice.options,
            // Behind a round there may be another one.
            Node::Repeat { .. } => &[],
            Node::Inline { body, .. } => std::slice::from_ref(body),
        }
    }

    /// How the node derives.
    #[inline]
    pub fn composition(&self) -> Composition<'_> {
        match self {
            Node::Bytes(bytes) => Composition::Bytes(bytes),
            Node::Class(set) => Composition::Class(set),
            Node::Rule(rule) | Node::Again(rule) => Composition::Instance(*rule, None),
            Node::Inline { rule, body } => Composition::Instance(*rule, Some(*body)),
            Node::Seq(items) => Composition::All(items),
            Node::Choice(choice) => Composition::One(choice),
            Node::Repeat { item, min, max } => Composition::Rounds { item: *item, min: *min, max: *max },
        }
    }

    /// How the node derives where every site takes option 0.
    pub fn first(&self) -> First<'_> {
        match self.composition() {
            Composition::Bytes(bytes) => First::Bytes(bytes),
            Composition::Class(set) => First::Member(set.encode(set.nth(0).unwrap_or_default())),
            Composition::Instance(rule, None) => First::Instance(rule),
            Composition::Instance(_, Some(_)) => First::Times(self.children(), 1),
            Composition::All(items) => First::Times(items, 1),
            Composition::One(choice) => First::Times(&choice.options[..1], 1),
            Composition::Rounds { min, .. } => First::Times(self.children(), min),
        }
    }

    /// The site with all its options: of a choice, of a class, or of every round of a repetition after its minimum; `None` if
    /// the node itself has none.
    pub fn site(&self) -> Option<Site<'_>> {
        match self.composition() {
            Composition::One(choice) => Some(choice.site()),
            Composition::Class(set) => Some(Site::even(set.len())),
            Composition::Rounds { min, max, .. } => max.is_none_or(|max| max > min).then_some(Site::even(2)),
            Composition::Bytes(_) | Composition::Instance(..) | Composition::All(_) => None,
        }
    }

    /// The rule that the node is an instance of.
    pub fn instance(&self) -> Option<RuleId> {
        let Composition::Instance(rule, _) = self.composition() else { return None };
        Some(rule)
    }

    /// The rule whose body elsewhere a reference stands for, unless it is one that encloses the node.
    pub fn reference(&self) -> Option<RuleId> {
        let Node::Rule(rule) = self else { return None };
        Some(*rule)
    }

    /// The bytes of a literal.
    pub fn literal(&self) -> Option<&[u8]> {
        let Node::Bytes(bytes) = self else { return None };
        Some(bytes)
    }

    /// Whether it is the empty literal.
    pub fn is_empty(&self) -> bool {
        self.literal().is_some_and(<[u8]>::is_empty)
    }

    /// The set that a class is.
    pub fn class(&self) -> Option<&CharSet> {
        let Node::Class(set) = self else { return None };
        Some(set)
    }

    /// The choice that it is.
    pub fn choice(&self) -> Option<&Choice> {
        let Node::Choice(choice) = self else { return None };
        Some(choice)
    }

    /// The items of a sequence.
    pub fn items(&self) -> Option<&[NodeId]> {
        let Node::Seq(items) = self else { return None };
        Some(items)
    }

    /// Whether two nodes are the same but for their children, of which they have as many.
    pub(super) fn is_like(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Seq(a), Node::Seq(b)) => a.len() == b.len(),
            (Node::Choice(a), Node::Choice(b)) => a.options.len() == b.options.len() && a.slots == b.slots,
            (Node::Repeat { min: a, max: c, .. }, Node::Repeat { min: b, max: d, .. }) => (a, c) == (b, d),
            (Node::Inline { rule: a, .. }, Node::Inline { rule: b, .. }) => a == b,
            (Node::Bytes(_) | Node::Class(_) | Node::Rule(_) | Node::Again(_), _) => self == other,
            (Node::Seq(_) | Node::Choice(_) | Node::Repeat { .. } | Node::Inline { .. }, _) => false,
        }
    }
}

impl Composition<'_> {
    /// What is known of the strings, by what is known of those of the children, and of the instance that it is, if it is one.
    pub fn facts(
        self,
        mut children: impl Iterator<Item = Facts>,
        instance: impl FnOnce(RuleId, Option<Facts>) -> Facts,
    ) -> Facts {
        match self {
            Composition::Bytes(bytes) => Facts { min_len: bytes.len() as u64, ..Facts::EMPTY },
            Composition::Class(set) => Facts { min_len: set.min_len(), ..Facts::EMPTY },
            Composition::Instance(rule, _) => instance(rule, children.next()),
            Composition::All(_) => children.fold(Facts::EMPTY, Facts::then),
            Composition::One(_) => children.reduce(Facts::or).unwrap_or(Facts::EMPTY),
            Composition::Rounds { min: 0, .. } => Facts::EMPTY,
            Composition::Rounds { min, .. } => children.next().unwrap_or(Facts::EMPTY).times(min),
        }
    }
}

impl Ir {
    /// Adds a node with other children: the same node as `node` of `from`, whose children were rebuilt here as `children`.
    pub fn rebuild(&mut self, from: &Ir, node: NodeId, children: Vec<NodeId>) -> NodeId {
        self.like(from.node(node), children)
    }

    /// Adds a node of this IR with other children.
    pub fn with_children(&mut self, node: NodeId, children: Vec<NodeId>) -> NodeId {
        self.like(&self.node(node).clone(), children)
    }

    fn like(&mut self, node: &Node, children: Vec<NodeId>) -> NodeId {
        match node {
            Node::Bytes(bytes) => self.bytes(bytes.clone()),
            Node::Class(set) => self.class(set.clone()),
            Node::Rule(rule) => self.reference(*rule),
            Node::Again(rule) => self.again(*rule),
            Node::Seq(_) => self.seq(children),
            Node::Choice(choice) => self.choice(children, choice.slots.clone()),
            Node::Repeat { min, max, .. } => self.repeat(children[0], *min, *max),
            Node::Inline { rule, .. } => self.inline(*rule, children[0]),
        }
    }
}
