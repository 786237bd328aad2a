//! The kinds of nodes, and everything that depends on the kind alone. Passes, analyses and engines use these functions.
//!
//! A new kind is added here first. Each kind derives in one of a few ways ([`Composition`]). Code that uses only these
//! need not know the kinds.

use super::labels::{Count, Known, LabelId, Leaf, Scope, least_rounds};
use super::{Facts, Ir, KindId, NodeId, RuleId, Site, Slots, Uniques};
use crate::charset::{CharSet, Encoded};
use crate::coding::Coding;
use crate::derived::{Derived, Value};
use crate::naming::Naming;

/// A node of the grammar.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Literal bytes, which may be empty.
    Bytes(Box<[u8]>),
    /// One member of a set of at least two. One site, with the members in ascending order.
    Class(CharSet),
    /// An instance of a rule, one level deeper.
    Rule(RuleId),
    /// Nodes one after the other.
    Seq(Box<[NodeId]>),
    /// One of at least two options. One site.
    Choice(Choice),
    /// `item` at least `min` times, then one site (stop, go on) per further round, up to `max` rounds.
    Repeat {
        /// The repeated node.
        item: NodeId,
        /// The number of rounds before the first site.
        min: u32,
        /// The greatest number of rounds.
        max: Option<u32>,
    },
    /// Bytes that follow from labelled parts.
    Derived(Box<Leaf>),
    /// `item` as many times as a number says that follows from labelled parts.
    Times {
        /// The repeated node.
        item: NodeId,
        /// The number of rounds.
        rounds: Box<Value<Known>>,
    },
    /// A part with a label.
    Label {
        /// The label.
        label: LabelId,
        /// The rounds of the part.
        count: Count,
        /// The part.
        body: NodeId,
    },
    /// A part outside of which some labels are not seen.
    Scope(Box<Scope>),
    /// A part that gives or takes a name, or bounds where names are seen.
    Naming {
        /// The use that the part makes of names.
        naming: Box<Naming<KindId>>,
        /// The part.
        body: NodeId,
    },
    /// A part whose text is written in a coding.
    Coded {
        /// The coding.
        codec: Codec,
        /// The part.
        body: NodeId,
    },
    /// An instance of a rule, one level deeper, with its body in place. Made by passes.
    Inline {
        /// The rule. Its pool replaces the body beyond the depth limit.
        rule: RuleId,
        /// The body, which is derived within the limit.
        body: NodeId,
    },
    /// A jump back to the nearest enclosing [`Node::Inline`] (or the body) of the same rule. It is an instance of the
    /// rule, one level deeper, and stands in tail position there. Made by passes.
    Again(RuleId),
}

/// A coding of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// The coding.
    pub coding: Coding,
    /// The most bytes that a byte of the part is coded as; see [`Coding::growth`].
    pub growth: u8,
}

impl Codec {
    /// Returns the greatest length of the coding of `len` bytes of the part.
    pub fn longest(self, len: u64) -> u64 {
        self.coding.longest(len, self.growth)
    }

    /// Returns the greatest number of bytes of the part whose coding has at most `most` bytes.
    pub fn most_within(self, most: u64) -> u64 {
        self.coding.most_within(most, self.growth).unwrap_or(0)
    }
}

/// The options of a choice in canonical order, and their slots unless they are equally probable.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The options, at least two.
    pub options: Box<[NodeId]>,
    /// The slots of a weighted choice.
    pub slots: Option<Slots>,
}

impl Choice {
    /// Returns the site of the choice with all options.
    #[inline]
    pub fn site(&self) -> Site<'_> {
        Site::new(self.options.len() as u32, self.slots.as_ref())
    }

    /// Returns true if texts may have the option, but generated inputs do not.
    #[inline]
    pub fn is_only_read(&self, option: usize) -> bool {
        self.slots.as_ref().is_some_and(|slots| slots.is_only_read(option))
    }

    /// Returns true if it has an option that is only read.
    pub fn reads_more(&self) -> bool {
        (0..self.options.len()).any(|option| self.is_only_read(option))
    }

    /// Returns the probability of an option.
    pub fn share(&self, option: usize) -> f64 {
        match &self.slots {
            Some(slots) => slots.share(option),
            None => 1.0 / self.options.len() as f64,
        }
    }
}

/// Way in which the strings of a node are composed of the strings of its children. The kinds made by passes have the
/// composition of the kinds that they replace.
#[derive(Clone, Copy, Debug)]
pub enum Composition<'i> {
    /// Literal bytes.
    Bytes(&'i [u8]),
    /// One member of a set.
    Class(&'i CharSet),
    /// An instance of a rule, one level deeper. With a body if it stands in place.
    Instance(RuleId, Option<NodeId>),
    /// All nodes one after the other.
    All(&'i [NodeId]),
    /// One option of a choice.
    One(&'i Choice),
    /// A node at least `min` times, and up to `max` times.
    Rounds {
        /// The repeated node.
        item: NodeId,
        /// The number of rounds before the first site.
        min: u32,
        /// The greatest number of rounds.
        max: Option<u32>,
    },
    /// Bytes that follow from labelled parts.
    Derived(&'i Leaf),
    /// A node as many times as a number says.
    Times {
        /// The repeated node.
        item: NodeId,
        /// The number of rounds.
        rounds: &'i Value<Known>,
    },
    /// A part with a label: the label, its rounds, the part.
    Label(LabelId, Count, NodeId),
    /// A part outside of which some labels are not seen.
    Scope(&'i Scope),
    /// A part that gives or takes a name, or bounds where names are seen.
    Naming(&'i Naming<KindId>, NodeId),
    /// A part whose text is written in a coding.
    Coded(Codec, NodeId),
}

/// A repetition: `item` at least `min` times, and up to `max` times.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// The repeated node.
    pub item: NodeId,
    /// The number of rounds before the first site.
    pub min: u32,
    /// The greatest number of rounds.
    pub max: Option<u32>,
}

/// The composition of a node if every site takes option 0.
#[derive(Clone, Copy, Debug)]
pub enum First<'i> {
    /// Literal bytes.
    Bytes(&'i [u8]),
    /// The first member of a set.
    Member(Encoded),
    /// The option-0 derivation of a rule.
    Instance(RuleId),
    /// These nodes one after the other, repeated this many times.
    Times(&'i [NodeId], u32),
}

impl Node {
    /// Returns the children, in order.
    pub fn children(&self) -> &[NodeId] {
        match self {
            Node::Bytes(_) | Node::Class(_) | Node::Rule(_) | Node::Again(_) | Node::Derived(_) => &[],
            Node::Seq(items) => items,
            Node::Choice(choice) => &choice.options,
            Node::Repeat { item, .. } | Node::Times { item, .. } => std::slice::from_ref(item),
            Node::Inline { body, .. }
            | Node::Label { body, .. }
            | Node::Naming { body, .. }
            | Node::Coded { body, .. } => std::slice::from_ref(body),
            Node::Scope(scope) => std::slice::from_ref(&scope.body),
        }
    }

    /// Returns the children in tail position: nothing of the node follows them. They are the last ones.
    pub fn tails(&self) -> &[NodeId] {
        match self {
            Node::Bytes(_) | Node::Class(_) | Node::Rule(_) | Node::Again(_) | Node::Derived(_) => &[],
            Node::Seq(items) => &items[items.len().saturating_sub(1)..],
            Node::Choice(choice) => &choice.options,
            // Another round may follow a round, and the end of a part is noted.
            Node::Repeat { .. } | Node::Times { .. } => &[],
            Node::Label { .. } | Node::Scope(_) | Node::Naming { .. } | Node::Coded { .. } => &[],
            Node::Inline { body, .. } => std::slice::from_ref(body),
        }
    }

    /// Returns the composition of the node.
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
            Node::Derived(leaf) => Composition::Derived(leaf),
            Node::Times { item, rounds } => Composition::Times { item: *item, rounds },
            Node::Label { label, count, body } => Composition::Label(*label, *count, *body),
            Node::Scope(scope) => Composition::Scope(scope),
            Node::Naming { naming, body } => Composition::Naming(naming, *body),
            Node::Coded { codec, body } => Composition::Coded(*codec, *body),
        }
    }

    /// Returns the composition of the node if every site takes option 0.
    pub fn first(&self) -> First<'_> {
        match self.composition() {
            Composition::Bytes(bytes) => First::Bytes(bytes),
            Composition::Class(set) => First::Member(set.encode(set.nth(0).unwrap_or_default())),
            Composition::Instance(rule, None) => First::Instance(rule),
            Composition::Instance(_, Some(_)) => First::Times(self.children(), 1),
            Composition::All(items) => First::Times(items, 1),
            Composition::One(choice) => First::Times(&choice.options[..1], 1),
            Composition::Rounds { min, .. } => First::Times(self.children(), min),
            Composition::Derived(_) => First::Times(&[], 0),
            Composition::Times { rounds, .. } => First::Times(self.children(), least_rounds(rounds)),
            Composition::Naming(naming, _) if naming.is_silent() => First::Times(self.children(), 0),
            Composition::Label(..) | Composition::Scope(_) | Composition::Naming(..) | Composition::Coded(..) => {
                First::Times(self.children(), 1)
            }
        }
    }

    /// Returns the site with all its options. A choice and a class have one, and so does each round of a repetition
    /// after its minimum. `None` for other nodes.
    #[inline]
    pub fn site(&self) -> Option<Site<'_>> {
        match self.composition() {
            Composition::One(choice) => Some(choice.site()),
            Composition::Class(set) => Some(Site::even(set.len())),
            Composition::Rounds { min, max, .. } => max.is_none_or(|max| max > min).then_some(Site::even(2)),
            Composition::Bytes(_) | Composition::Instance(..) | Composition::All(_) => None,
            Composition::Derived(_) | Composition::Times { .. } => None,
            Composition::Label(..) | Composition::Scope(_) | Composition::Naming(..) | Composition::Coded(..) => None,
        }
    }

    /// Returns the rule that the node is an instance of.
    pub fn instance(&self) -> Option<RuleId> {
        let Composition::Instance(rule, _) = self.composition() else { return None };
        Some(rule)
    }

    /// Returns the rule of a reference whose body stands elsewhere. Not for jumps back to an enclosing instance.
    pub fn reference(&self) -> Option<RuleId> {
        let Node::Rule(rule) = self else { return None };
        Some(*rule)
    }

    /// Returns the rule and the body of an instance whose body stands in place.
    #[inline]
    pub fn in_place(&self) -> Option<(RuleId, NodeId)> {
        let Node::Inline { rule, body } = self else { return None };
        Some((*rule, *body))
    }

    /// Returns the rule to whose enclosing instance a node jumps back.
    pub fn jump_back(&self) -> Option<RuleId> {
        let Node::Again(rule) = self else { return None };
        Some(*rule)
    }

    /// Returns the bytes of a literal.
    pub fn literal(&self) -> Option<&[u8]> {
        let Node::Bytes(bytes) = self else { return None };
        Some(bytes)
    }

    /// Returns true if the node is the empty literal.
    pub fn is_empty(&self) -> bool {
        self.literal().is_some_and(<[u8]>::is_empty)
    }

    /// Returns the set of a class.
    #[inline]
    pub fn class(&self) -> Option<&CharSet> {
        let Node::Class(set) = self else { return None };
        Some(set)
    }

    /// Returns the choice, if the node is one.
    #[inline]
    pub fn choice(&self) -> Option<&Choice> {
        let Node::Choice(choice) = self else { return None };
        Some(choice)
    }

    /// Returns the repetition, if the node is one.
    #[inline]
    pub fn rounds(&self) -> Option<Rounds> {
        let Composition::Rounds { item, min, max } = self.composition() else { return None };
        Some(Rounds { item, min, max })
    }

    /// Returns the item and the number of rounds of a node that is repeated as often as a number says.
    pub fn times(&self) -> Option<(NodeId, &Value<Known>)> {
        let Node::Times { item, rounds } = self else { return None };
        Some((*item, rounds))
    }

    /// Returns the items of a sequence.
    pub fn items(&self) -> Option<&[NodeId]> {
        let Node::Seq(items) = self else { return None };
        Some(items)
    }

    /// Returns what the bytes of the node follow from, if they do from labelled parts.
    pub fn leaf(&self) -> Option<&Leaf> {
        let Node::Derived(leaf) = self else { return None };
        Some(leaf)
    }

    /// Returns the label of the node, its rounds and its part, if it has a label.
    pub fn label(&self) -> Option<(LabelId, Count, NodeId)> {
        let Node::Label { label, count, body } = self else { return None };
        Some((*label, *count, *body))
    }

    /// Returns the scope, if the node is one.
    pub fn scope(&self) -> Option<&Scope> {
        let Node::Scope(scope) = self else { return None };
        Some(scope)
    }

    /// Returns what the node does with names and its part, if it does something with them.
    pub fn naming(&self) -> Option<(&Naming<KindId>, NodeId)> {
        let Node::Naming { naming, body } = self else { return None };
        Some((naming, *body))
    }

    /// Returns the coding of the node and its part, if it has one.
    pub fn coded(&self) -> Option<(Codec, NodeId)> {
        let Node::Coded { codec, body } = self else { return None };
        Some((*codec, *body))
    }

    /// Returns the unique names that the option-0 derivation gives to scopes outside it.
    pub(super) fn uniques(&self, ir: &Ir) -> Uniques {
        let (children, naming) = (self.children(), self.naming().map(|(naming, _)| naming));
        if let (Some(rule), []) = (self.instance(), children) {
            return ir.uniques_of_rule(rule).clone();
        }
        // Names do not pass the borders of what is coded.
        if naming.is_some_and(Naming::is_silent) || self.coded().is_some() {
            return Uniques::default();
        }
        let rounds = self.rounds().map(|rounds| rounds.min).or(self.times().map(|(_, rounds)| least_rounds(rounds)));
        let first = if self.choice().is_some() { &children[..1] } else { children };
        let once = first.iter().fold(Uniques::default(), |sum, &item| sum.with(ir.uniques(item)));
        let all = once.times(rounds.unwrap_or(1).into());
        match naming {
            Some(naming) => all.outside(naming),
            None => all,
        }
    }

    /// Returns true if the node has a label, refers to one, ends the sight of some, or does something with names.
    pub fn has_labels(&self) -> bool {
        matches!(
            self,
            Node::Derived(_)
                | Node::Times { .. }
                | Node::Label { .. }
                | Node::Scope(_)
                | Node::Naming { .. }
                | Node::Coded { .. }
        )
    }

    /// Returns the labels that the node itself refers to.
    pub(super) fn references(&self) -> Vec<LabelId> {
        match self.composition() {
            Composition::Derived(leaf) => leaf.derived.labels().map(|known| known.label).collect(),
            Composition::Times { rounds, .. } => rounds.terms.iter().map(|term| term.label.label).collect(),
            Composition::Bytes(_) | Composition::Class(_) | Composition::Instance(..) | Composition::All(_) => {
                Vec::new()
            }
            Composition::One(_) | Composition::Rounds { .. } | Composition::Label(..) => Vec::new(),
            // A mirror follows from the repetition, whatever it sees of the rounds.
            Composition::Scope(scope) => scope.repetition().into_iter().collect(),
            Composition::Naming(..) | Composition::Coded(..) => Vec::new(),
        }
    }

    /// Returns the violation of what holds for nodes of its kind, where the rules of `scopes` can be jumped back to.
    pub(super) fn verify(&self, ir: &Ir, scopes: &[RuleId]) -> Result<(), String> {
        match self {
            Node::Bytes(_) => {}
            Node::Class(set) if set.len() < 2 => return Err("a class of less than two members".into()),
            Node::Class(_) => {}
            Node::Rule(rule) if ir.body(*rule).is_none() => {
                return Err(format!("<{}> is referenced but has no body", ir.rule(*rule).name));
            }
            Node::Rule(_) => {}
            Node::Again(rule) if !scopes.contains(rule) => {
                return Err(format!("a jump back to <{}> that is not in its tail position", ir.rule(*rule).name));
            }
            Node::Again(_) => {}
            Node::Seq(items) if items.len() < 2 => return Err("a sequence of less than two items".into()),
            Node::Seq(_) => {}
            Node::Choice(choice) => {
                if choice.options.len() < 2 {
                    return Err("a choice of less than two options".into());
                }
                let facts: Vec<Facts> = choice.options.iter().map(|&option| ir.facts(option)).collect();
                if ir.is_ordered() && !facts.is_sorted_by_key(|facts| facts.min_len) {
                    return Err("options are not in canonical order".into());
                }
                if let Some(slots) = &choice.slots
                    && slots.ends().len() != choice.options.len()
                {
                    return Err("options and slots differ in number".into());
                }
            }
            Node::Repeat { min, max, .. } if max.is_some_and(|max| max < *min || max == 0) => {
                return Err("a repetition with less rounds at most than at least".into());
            }
            Node::Repeat { .. } => {}
            Node::Inline { rule, body } if ir.facts(*body).min_len != ir.rule(*rule).facts.min_len => {
                return Err(format!("an instance of <{}> with another minimum length", ir.rule(*rule).name));
            }
            Node::Inline { .. } => {}
            Node::Derived(leaf) if leaf.min_len != leaf.derived.min_len() => {
                return Err("a derived part with another minimum length".into());
            }
            Node::Derived(_)
            | Node::Times { .. }
            | Node::Label { .. }
            | Node::Scope(_)
            | Node::Naming { .. }
            | Node::Coded { .. } => {}
        }
        Ok(())
    }

    /// Returns true if two nodes are the same except for their children, and have the same number of children.
    pub(super) fn is_like(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Seq(a), Node::Seq(b)) => a.len() == b.len(),
            (Node::Choice(a), Node::Choice(b)) => a.options.len() == b.options.len() && a.slots == b.slots,
            (Node::Repeat { min: a, max: c, .. }, Node::Repeat { min: b, max: d, .. }) => (a, c) == (b, d),
            (Node::Inline { rule: a, .. }, Node::Inline { rule: b, .. }) => a == b,
            (Node::Times { rounds: a, .. }, Node::Times { rounds: b, .. }) => a == b,
            (Node::Label { label: a, count: c, .. }, Node::Label { label: b, count: d, .. }) => (a, c) == (b, d),
            (Node::Scope(a), Node::Scope(b)) => {
                let is_same = (&a.labels, &a.fields, a.role) == (&b.labels, &b.fields, b.role);
                is_same && (&a.arguments, a.longer) == (&b.arguments, b.longer)
            }
            (Node::Bytes(_) | Node::Class(_) | Node::Rule(_) | Node::Again(_) | Node::Derived(_), _) => self == other,
            (Node::Naming { naming: a, .. }, Node::Naming { naming: b, .. }) => a == b,
            (Node::Coded { codec: a, .. }, Node::Coded { codec: b, .. }) => a == b,
            (
                Node::Times { .. } | Node::Label { .. } | Node::Scope(_) | Node::Naming { .. } | Node::Coded { .. },
                _,
            ) => false,
            (Node::Seq(_) | Node::Choice(_) | Node::Repeat { .. } | Node::Inline { .. }, _) => false,
        }
    }
}

impl Composition<'_> {
    /// Returns facts about the strings, given the facts of the children and, for an instance, of its rule.
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
            Composition::Derived(leaf) => Facts { min_len: leaf.min_len, ..Facts::EMPTY },
            Composition::Times { rounds, .. } => match least_rounds(rounds) {
                0 => Facts::EMPTY,
                least => children.next().unwrap_or(Facts::EMPTY).times(least),
            },
            Composition::Naming(naming, _) if naming.is_silent() => Facts::EMPTY,
            Composition::Coded(codec, _) => {
                let facts = children.next().unwrap_or(Facts::EMPTY);
                Facts { min_len: codec.longest(facts.min_len), ..facts }
            }
            Composition::Scope(scope) => {
                let facts = children.next().unwrap_or(Facts::EMPTY);
                Facts { min_len: facts.min_len.saturating_add(scope.longer), ..facts }
            }
            Composition::Label(..) | Composition::Naming(..) => children.next().unwrap_or(Facts::EMPTY),
        }
    }
}

impl Ir {
    /// Returns literal bytes.
    pub fn bytes(&mut self, bytes: impl Into<Box<[u8]>>) -> NodeId {
        self.add(Node::Bytes(bytes.into()))
    }

    /// Returns the empty string.
    pub fn empty(&mut self) -> NodeId {
        self.bytes([])
    }

    /// Returns a member of `set`, which must not be empty. A set with one member becomes literal bytes.
    pub fn class(&mut self, set: CharSet) -> NodeId {
        debug_assert!(!set.is_empty());
        if set.len() == 1 {
            let member = set.encode(set.ranges()[0].0);
            return self.bytes(member.as_ref());
        }
        self.add(Node::Class(set))
    }

    /// Returns an instance of a rule.
    pub fn reference(&mut self, rule: RuleId) -> NodeId {
        self.add(Node::Rule(rule))
    }

    /// Returns a jump back to the enclosing instance of a rule.
    pub fn again(&mut self, rule: RuleId) -> NodeId {
        self.add(Node::Again(rule))
    }

    /// Returns an instance of a rule with its body in place.
    pub fn inline(&mut self, rule: RuleId, body: NodeId) -> NodeId {
        self.add(Node::Inline { rule, body })
    }

    /// Returns a sequence. A single item stands for itself.
    pub fn seq(&mut self, items: impl Into<Box<[NodeId]>>) -> NodeId {
        let items = items.into();
        match *items {
            [] => self.empty(),
            [item] => item,
            _ => self.add(Node::Seq(items)),
        }
    }

    /// Returns a choice among options in canonical order. A single option stands for itself. There must be at least
    /// one.
    pub fn choice(&mut self, options: impl Into<Box<[NodeId]>>, slots: Option<Slots>) -> NodeId {
        let options = options.into();
        debug_assert!(!options.is_empty());
        if let [option] = *options {
            return option;
        }
        self.add(Node::Choice(Choice { options, slots }))
    }

    /// Returns a repetition. Exactly one round becomes the item, no rounds the empty string.
    pub fn repeat(&mut self, item: NodeId, min: u32, max: Option<u32>) -> NodeId {
        match (min, max) {
            (_, Some(0)) => self.empty(),
            (1, Some(1)) => item,
            _ => self.add(Node::Repeat { item, min, max }),
        }
    }

    /// Returns bytes that follow from labelled parts.
    pub fn derived(&mut self, derived: Derived<Known>) -> NodeId {
        let min_len = derived.min_len();
        self.add(Node::Derived(Box::new(Leaf { derived, min_len })))
    }

    /// Returns a node as many times as a number says.
    pub fn times(&mut self, item: NodeId, rounds: Value<Known>) -> NodeId {
        self.add(Node::Times { item, rounds: Box::new(rounds) })
    }

    /// Returns a part with a label.
    pub fn label(&mut self, label: LabelId, count: Count, body: NodeId) -> NodeId {
        self.add(Node::Label { label, count, body })
    }

    /// Returns a part outside of which some labels are not seen.
    pub fn scope(&mut self, scope: Scope) -> NodeId {
        self.add(Node::Scope(Box::new(scope)))
    }

    /// Returns a part that gives or takes a name, or bounds where names are seen.
    pub fn naming(&mut self, naming: Naming<KindId>, body: NodeId) -> NodeId {
        self.add(Node::Naming { naming: Box::new(naming), body })
    }

    /// Returns a part whose text is written in a coding.
    pub fn coded(&mut self, codec: Codec, body: NodeId) -> NodeId {
        self.add(Node::Coded { codec, body })
    }

    /// Adds a copy of `node` of the IR `from`, with the rebuilt `children`.
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
            Node::Derived(leaf) => self.derived(leaf.derived.clone()),
            Node::Times { rounds, .. } => self.times(children[0], (**rounds).clone()),
            Node::Label { label, count, .. } => self.label(*label, *count, children[0]),
            Node::Scope(scope) => self.scope(Scope { body: children[0], ..(**scope).clone() }),
            Node::Naming { naming, .. } => self.naming((**naming).clone(), children[0]),
            Node::Coded { codec, .. } => self.coded(*codec, children[0]),
        }
    }
}
