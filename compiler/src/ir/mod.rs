//! The lowered intermediate representation: rules of nodes in an arena; each node is built through a constructor that
//! computes its facts.
//!
//! Architecture invariant: the options of a choice stand in canonical order (design: ascending by minimum length, height,
//! source order) from lowering on, and no pass reorders them; option numbers are part of the choice map. Where a depth
//! limit is unfolded, the order stays what it was, although lengths are others ([`Ir::is_ordered`]).

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::charset::CharSet;

mod node;
mod sites;
pub mod slots;
mod text;
mod verify;

pub use node::{Choice, Composition, First, Node};
pub use sites::Site;
pub use slots::Slots;
pub use text::{ParseError, parse, print};
pub use verify::verify;

/// A rule of an [`Ir`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(NonZeroU32);

/// A node of an [`Ir`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(NonZeroU32);

macro_rules! id {
    ($id:ident) => {
        impl $id {
            /// The id with this number.
            ///
            /// # Panics
            ///
            /// If it is 2^32 - 1 or more; the budgets of the front end bound arenas far below.
            #[inline]
            pub fn new(index: usize) -> $id {
                let number = u32::try_from(index).ok().and_then(|index| NonZeroU32::MIN.checked_add(index));
                $id(number.expect("more ids than an arena holds"))
            }

            /// The number, from 0 without gaps.
            #[inline]
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    };
}
id!(RuleId);
id!(NodeId);

/// What is known of every string that a node or rule derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Length in bytes of the shortest string; saturates.
    pub min_len: u64,
    /// Height in rule references of the lowest derivation of a string of that length.
    pub height: u32,
    /// Height in rule references of the lowest derivation of any string.
    pub min_depth: u32,
}

/// What is known of a node's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of nodes when written as a tree; saturates.
    pub size: u32,
    /// Levels of nodes, the node itself included; bounded, so that recursion over nodes is.
    pub nesting: u32,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name as in the grammar.
    pub name: String,
    /// What is known of its strings; holds for the body.
    pub facts: Facts,
}

/// A grammar in lowered form. Passes make a new one that shares the rules.
#[derive(Clone, Debug)]
pub struct Ir {
    rules: Arc<[Rule]>,
    /// What each rule derives; `None` once all its instances are inlined.
    bodies: Vec<Option<NodeId>>,
    start: RuleId,
    is_ordered: bool,
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    shapes: Vec<Shape>,
}

impl Ir {
    /// An IR with these rules (names and facts), whose bodies are still to be built and set.
    pub fn new(rules: impl IntoIterator<Item = (String, Facts)>, start: RuleId) -> Ir {
        Ir::of_rules(rules.into_iter().map(|(name, facts)| Rule { name, facts }).collect(), start, true)
    }

    /// [`Ir::new`], but the options of choices need not be in the order of their lengths: for no length limit.
    pub fn new_unordered(rules: impl IntoIterator<Item = (String, Facts)>, start: RuleId) -> Ir {
        Ir { is_ordered: false, ..Ir::new(rules, start) }
    }

    fn of_rules(rules: Arc<[Rule]>, start: RuleId, is_ordered: bool) -> Ir {
        let bodies = vec![None; rules.len()];
        Ir { rules, bodies, start, is_ordered, nodes: Vec::new(), facts: Vec::new(), shapes: Vec::new() }
    }

    /// Whether the options of each choice ascend by their minimum length, as a length limit needs it.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// An IR with the same rules and start, without bodies and nodes: what a pass fills.
    pub fn same_rules(&self) -> Ir {
        Ir::of_rules(Arc::clone(&self.rules), self.start, self.is_ordered)
    }

    /// Gives a rule its body.
    pub fn set_body(&mut self, rule: RuleId, body: NodeId) {
        self.bodies[rule.index()] = Some(body);
    }

    /// The start rule.
    pub fn start(&self) -> RuleId {
        self.start
    }

    /// The rules, with and without bodies.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The ids of all rules.
    pub fn rule_ids(&self) -> impl Iterator<Item = RuleId> + use<> {
        (0..self.rules.len()).map(RuleId::new)
    }

    /// The rules that have a body.
    pub fn bodies(&self) -> impl Iterator<Item = (RuleId, NodeId)> + '_ {
        self.rule_ids().filter_map(|rule| self.body(rule).map(|body| (rule, body)))
    }

    /// A rule.
    pub fn rule(&self, rule: RuleId) -> &Rule {
        &self.rules[rule.index()]
    }

    /// The body of a rule.
    pub fn body(&self, rule: RuleId) -> Option<NodeId> {
        self.bodies[rule.index()]
    }

    /// For each rule where a body of it stands: its own, or that of an inlined instance.
    pub fn homes(&self) -> Vec<Option<NodeId>> {
        let mut homes: Vec<Option<NodeId>> = self.bodies.clone();
        for node in &self.nodes {
            if let Node::Inline { rule, body } = node {
                homes[rule.index()].get_or_insert(*body);
            }
        }
        homes
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// A node.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// What is known of a node's strings.
    pub fn facts(&self, node: NodeId) -> Facts {
        self.facts[node.index()]
    }

    /// What is known of a node's shape.
    pub fn shape(&self, node: NodeId) -> Shape {
        self.shapes[node.index()]
    }

    /// The children of a node, in order.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        self.node(node).children()
    }

    /// The children that stand in tail position of a node; the last ones.
    pub fn tails(&self, node: NodeId) -> &[NodeId] {
        self.node(node).tails()
    }

    /// The options of a choice, if all of them are literals.
    pub fn literals(&self, node: NodeId) -> Option<Vec<&[u8]>> {
        self.node(node).choice()?.options.iter().map(|&option| self.node(option).literal()).collect()
    }

    /// The site of a node with all its options, if the node itself has one.
    pub fn site_of(&self, node: NodeId) -> Option<Site<'_>> {
        self.node(node).site()
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        let children = node.children().iter().map(|child| self.facts[child.index()]);
        let instance = |rule: RuleId, body: Option<Facts>| body.unwrap_or(self.rule(rule).facts).one_deeper();
        let facts = node.composition().facts(children, instance);
        let mut shape = Shape { size: 1, nesting: 0 };
        for child in node.children() {
            let child = self.shapes[child.index()];
            shape.size = shape.size.saturating_add(child.size);
            shape.nesting = shape.nesting.max(child.nesting);
        }
        shape.nesting += 1;
        self.nodes.push(node);
        self.facts.push(facts);
        self.shapes.push(shape);
        id
    }

    /// Literal bytes.
    pub fn bytes(&mut self, bytes: impl Into<Box<[u8]>>) -> NodeId {
        self.add(Node::Bytes(bytes.into()))
    }

    /// The empty string.
    pub fn empty(&mut self) -> NodeId {
        self.bytes([])
    }

    /// A member of `set`, which must not be empty; a set of one is literal bytes.
    pub fn class(&mut self, set: CharSet) -> NodeId {
        debug_assert!(!set.is_empty());
        if set.len() == 1 {
            let member = set.encode(set.ranges()[0].0);
            return self.bytes(member.as_ref());
        }
        self.add(Node::Class(set))
    }

    /// An instance of a rule.
    pub fn reference(&mut self, rule: RuleId) -> NodeId {
        self.add(Node::Rule(rule))
    }

    /// A jump back to the enclosing instance of a rule.
    pub fn again(&mut self, rule: RuleId) -> NodeId {
        self.add(Node::Again(rule))
    }

    /// An instance of a rule with its body in place.
    pub fn inline(&mut self, rule: RuleId, body: NodeId) -> NodeId {
        self.add(Node::Inline { rule, body })
    }

    /// A sequence; one item stands for itself.
    pub fn seq(&mut self, items: impl Into<Box<[NodeId]>>) -> NodeId {
        let items = items.into();
        match *items {
            [] => self.empty(),
            [item] => item,
            _ => self.add(Node::Seq(items)),
        }
    }

    /// A choice among options in canonical order; one option stands for itself. There must be one.
    pub fn choice(&mut self, options: impl Into<Box<[NodeId]>>, slots: Option<Slots>) -> NodeId {
        let options = options.into();
        debug_assert!(!options.is_empty());
        if let [option] = *options {
            return option;
        }
        self.add(Node::Choice(Choice { options, slots }))
    }

    /// A repetition; exactly one round stands for itself, no round for the empty string.
    pub fn repeat(&mut self, item: NodeId, min: u32, max: Option<u32>) -> NodeId {
        match (min, max) {
            (_, Some(0)) => self.empty(),
            (1, Some(1)) => item,
            _ => self.add(Node::Repeat { item, min, max }),
        }
    }

    /// Whether two nodes are written the same. Large nodes are taken to differ.
    pub fn is_written_like(&self, a: NodeId, b: NodeId) -> bool {
        const MAX_COMPARED: u32 = 1000;
        if a == b {
            return true;
        }
        if self.shape(a) != self.shape(b) || self.shape(a).size > MAX_COMPARED {
            return false;
        }
        let are_alike = self.node(a).is_like(self.node(b));
        are_alike && self.children(a).iter().zip(self.children(b)).all(|(&a, &b)| self.is_written_like(a, b))
    }
}

impl Facts {
    /// Of the empty string.
    pub const EMPTY: Facts = Facts { min_len: 0, height: 0, min_depth: 0 };

    /// Of this followed by `next`.
    pub fn then(self, next: Facts) -> Facts {
        Facts {
            min_len: self.min_len.saturating_add(next.min_len),
            height: self.height.max(next.height),
            min_depth: self.min_depth.max(next.min_depth),
        }
    }

    /// Of this or `other`.
    pub fn or(self, other: Facts) -> Facts {
        let (min_len, height) = (self.min_len, self.height).min((other.min_len, other.height));
        Facts { min_len, height, min_depth: self.min_depth.min(other.min_depth) }
    }

    /// Of this `count` times, which must not be 0.
    pub fn times(self, count: u32) -> Facts {
        Facts { min_len: self.min_len.saturating_mul(u64::from(count)), ..self }
    }

    /// Of a rule instance whose body this describes.
    pub fn one_deeper(self) -> Facts {
        Facts {
            min_len: self.min_len,
            height: self.height.saturating_add(1),
            min_depth: self.min_depth.saturating_add(1),
        }
    }
}
