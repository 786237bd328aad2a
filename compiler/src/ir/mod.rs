//! The lowered intermediate representation: rules of nodes in an arena. Each node is built by a constructor that
//! computes its facts.
//!
//! Architecture invariant: the options of a choice are in canonical order (design: ascending by minimum length, height,
//! source order) from lowering on. No pass reorders them, because option numbers are part of the choice map. Unfolding
//! a depth limit keeps the order, although the lengths change ([`Ir::is_ordered`]).

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::ordered::sort_by_key;

pub mod labels;
mod names;
mod node;
mod sites;
pub mod slots;
mod text;
mod verify;

pub use labels::{Count, Field, Known, LabelId, Leaf, Role, Scope};
pub use names::{KindId, Uniques};
pub use node::{Choice, Codec, Composition, First, Node, Rounds};
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
            /// Returns the id with this number.
            ///
            /// # Panics
            ///
            /// If it is 2^32 - 1 or more. The budgets of the front end keep arenas far smaller.
            #[inline]
            pub fn new(index: usize) -> $id {
                let number = u32::try_from(index).ok().and_then(|index| NonZeroU32::MIN.checked_add(index));
                $id(number.expect("more ids than an arena holds"))
            }

            /// Returns the number, from 0 without gaps.
            #[inline]
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    };
}
id!(RuleId);
id!(NodeId);

/// Facts about the strings of a node or rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Length in bytes of the shortest string; saturates.
    pub min_len: u64,
    /// Height in rule references of the lowest derivation of a string of that length.
    pub height: u32,
    /// Height in rule references of the lowest derivation of any string.
    pub min_depth: u32,
}

/// Facts about the shape of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of nodes when written as a tree; saturates.
    pub size: u32,
    /// Levels of nodes, including the node itself. They are bounded, so code may recurse over nodes.
    pub nesting: u32,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name as in the grammar.
    pub name: String,
    /// Facts about its strings, and those of its body.
    pub facts: Facts,
}

/// A grammar in lowered form. Passes make a new one with the same rules.
#[derive(Clone, Debug)]
pub struct Ir {
    rules: Arc<[Rule]>,
    /// The body of each rule. `None` once all its instances are inlined.
    bodies: Vec<Option<NodeId>>,
    start: RuleId,
    is_ordered: bool,
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    shapes: Vec<Shape>,
    /// The labels that each node refers to and that are seen outside it.
    free: Vec<Box<[LabelId]>>,
    /// The number of labels; at least 1 if bytes are derived, from labels or from nothing.
    labels: usize,
    /// Whether some parts are coded.
    has_codes: bool,
    /// Whether some parts are mirrors.
    has_mirrors: bool,
    /// The names of the labels, as far as they are known. They are for messages.
    label_names: Vec<String>,
    /// The greatest length of a text with which each offset fits into its field, if there are offsets.
    longest_text: Option<u64>,
    common: Arc<Common>,
    /// The unique names of each node's option-0 derivation, and the most that a child has. Empty without unique names.
    uniques: Vec<(Uniques, u64)>,
}

/// The kinds of names of a grammar, and the parameters of its rules.
#[derive(Clone, Debug, Default)]
struct Common {
    /// The name of each kind.
    kinds: Vec<String>,
    /// The parameters of each rule. Empty if no rule has some.
    parameters: Vec<Box<[LabelId]>>,
    /// The unique names of each rule's option-0 derivation. Empty if the grammar has none.
    uniques: Vec<Uniques>,
}

impl Ir {
    /// Returns an IR with these rules (names and facts). Their bodies must be built and set.
    pub fn new(rules: impl IntoIterator<Item = (String, Facts)>, start: RuleId) -> Ir {
        Ir::of_rules(rules.into_iter().map(|(name, facts)| Rule { name, facts }).collect(), start, true)
    }

    /// Returns the same as [`Ir::new`], but without the order of options by length. It supports no length limit.
    pub fn new_unordered(rules: impl IntoIterator<Item = (String, Facts)>, start: RuleId) -> Ir {
        Ir { is_ordered: false, ..Ir::new(rules, start) }
    }

    fn of_rules(rules: Arc<[Rule]>, start: RuleId, is_ordered: bool) -> Ir {
        let bodies = vec![None; rules.len()];
        let (nodes, facts, shapes, free) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (label_names, common, uniques) = (Vec::new(), Arc::default(), Vec::new());
        let (labels, has_codes, has_mirrors, longest_text) = (0, false, false, None);
        Ir {
            rules,
            bodies,
            start,
            is_ordered,
            nodes,
            facts,
            shapes,
            free,
            labels,
            has_codes,
            has_mirrors,
            label_names,
            longest_text,
            common,
            uniques,
        }
    }

    /// Returns true if the options of each choice ascend by minimum length, as a length limit requires.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Returns an IR with the same rules and start, without bodies and nodes, for a pass to fill.
    pub fn same_rules(&self) -> Ir {
        let (label_names, common) = (self.label_names.clone(), Arc::clone(&self.common));
        let longest_text = self.longest_text;
        let labels = self.common.parameters.iter().flatten().map(|label| label.index() + 1).max().unwrap_or(0);
        Ir {
            label_names,
            longest_text,
            labels,
            common,
            ..Ir::of_rules(Arc::clone(&self.rules), self.start, self.is_ordered)
        }
    }

    /// Gives the kinds of names their names, and rules the unique names of their option-0 derivations: of each rule, or
    /// of none if there are none. Nodes are added later.
    pub fn set_kinds(&mut self, names: Vec<String>, uniques: Vec<Uniques>) {
        let common = Arc::make_mut(&mut self.common);
        (common.kinds, common.uniques) = (names, uniques);
    }

    /// Gives each rule its parameters; none if no rule has some. Nodes are added later.
    pub fn set_parameters(&mut self, parameters: Vec<Box<[LabelId]>>) {
        let most = parameters.iter().flatten().map(|label| label.index() + 1).max();
        self.labels = self.labels.max(most.unwrap_or(0));
        Arc::make_mut(&mut self.common).parameters = parameters;
    }

    /// Returns the parameters of a rule.
    #[inline]
    pub fn parameters(&self, rule: RuleId) -> &[LabelId] {
        self.common.parameters.get(rule.index()).map_or(&[], |parameters| parameters)
    }

    /// Returns true if some rules have parameters.
    #[inline]
    pub fn has_parameters(&self) -> bool {
        !self.common.parameters.is_empty()
    }

    /// Returns the names of the kinds of names.
    pub fn kinds(&self) -> &[String] {
        &self.common.kinds
    }

    /// Returns the unique names that the option-0 derivation of a node gives to scopes outside it.
    #[inline]
    pub fn uniques(&self, node: NodeId) -> &Uniques {
        self.uniques.get(node.index()).map_or(Uniques::NONE, |(uniques, _)| uniques)
    }

    /// Returns the unique names that the option-0 derivation of a rule gives to scopes outside it.
    pub fn uniques_of_rule(&self, rule: RuleId) -> &Uniques {
        self.common.uniques.get(rule.index()).unwrap_or(Uniques::NONE)
    }

    /// Returns true if the cost of what a site of the node decides depends on the text before it: on labelled parts, or
    /// on the names that are given.
    #[inline]
    pub fn is_open(&self, node: NodeId) -> bool {
        !self.free(node).is_empty() || self.most_uniques(node) > 0
    }

    /// Returns the most unique names that the option-0 derivation of a child of the node gives to scopes outside it.
    #[inline]
    pub fn most_uniques(&self, node: NodeId) -> u64 {
        self.uniques.get(node.index()).map_or(0, |&(_, most)| most)
    }

    /// Gives a rule its body.
    pub fn set_body(&mut self, rule: RuleId, body: NodeId) {
        self.bodies[rule.index()] = Some(body);
    }

    /// Returns the start rule.
    #[inline]
    pub fn start(&self) -> RuleId {
        self.start
    }

    /// Returns the rules, with and without bodies.
    #[inline]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the ids of all rules.
    pub fn rule_ids(&self) -> impl Iterator<Item = RuleId> + use<> {
        (0..self.rules.len()).map(RuleId::new)
    }

    /// Returns the rules that have a body.
    pub fn bodies(&self) -> impl Iterator<Item = (RuleId, NodeId)> + '_ {
        self.rule_ids().filter_map(|rule| self.body(rule).map(|body| (rule, body)))
    }

    /// Returns a rule.
    #[inline]
    pub fn rule(&self, rule: RuleId) -> &Rule {
        &self.rules[rule.index()]
    }

    /// Returns the body of a rule.
    #[inline]
    pub fn body(&self, rule: RuleId) -> Option<NodeId> {
        self.bodies[rule.index()]
    }

    /// Returns a body for each rule: its own, or that of an inlined instance.
    pub fn homes(&self) -> Vec<Option<NodeId>> {
        let mut homes: Vec<Option<NodeId>> = self.bodies.clone();
        for (rule, body) in self.nodes.iter().filter_map(Node::in_place) {
            homes[rule.index()].get_or_insert(body);
        }
        homes
    }

    /// Returns true if texts may have alternatives that generated inputs do not have.
    pub fn reads_more(&self) -> bool {
        self.nodes.iter().filter_map(Node::choice).any(Choice::reads_more)
    }

    /// Returns the number of nodes.
    #[inline]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns a node.
    #[inline]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// Returns facts about the strings of a node.
    #[inline]
    pub fn facts(&self, node: NodeId) -> Facts {
        self.facts[node.index()]
    }

    /// Returns facts about the shape of a node.
    pub fn shape(&self, node: NodeId) -> Shape {
        self.shapes[node.index()]
    }

    /// Returns the children of a node, in order.
    #[inline]
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        self.node(node).children()
    }

    /// Returns the children in tail position of a node. They are the last ones.
    pub fn tails(&self, node: NodeId) -> &[NodeId] {
        self.node(node).tails()
    }

    /// Returns the options of a choice, if all of them are literals.
    pub fn literals(&self, node: NodeId) -> Option<Vec<&[u8]>> {
        self.node(node).choice()?.options.iter().map(|&option| self.node(option).literal()).collect()
    }

    /// Returns the site of a node with all its options, if the node itself has one.
    pub fn site_of(&self, node: NodeId) -> Option<Site<'_>> {
        self.node(node).site()
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        let children = node.children().iter().map(|child| self.facts[child.index()]);
        let instance = |rule: RuleId, body: Option<Facts>| body.unwrap_or(self.rule(rule).facts).one_deeper();
        let mut facts = node.composition().facts(children, instance);
        if !self.common.uniques.is_empty() {
            if let Some((naming, body)) = node.naming() {
                facts.min_len = facts.min_len.saturating_add(self.uniques(body).room(naming));
            }
            let most = node.children().iter().map(|&child| self.uniques(child).total()).max();
            self.uniques.push((node.uniques(self), most.unwrap_or(0)));
        }
        let mut shape = Shape { size: 1, nesting: 0 };
        for child in node.children() {
            let child = self.shapes[child.index()];
            shape.size = shape.size.saturating_add(child.size);
            shape.nesting = shape.nesting.max(child.nesting);
        }
        shape.nesting += 1;
        let free = self.free_labels(&node);
        if let Node::Label { label, .. } = node {
            self.labels = self.labels.max(label.index() + 1);
        }
        if node.leaf().is_some() {
            // Also a bit field that is a constant makes the grammar one with labels.
            self.labels = self.labels.max(1);
        }
        self.has_codes |= node.coded().is_some();
        self.has_mirrors |= node.scope().is_some_and(|scope| scope.mirrored().is_some());
        self.free.push(free);
        self.nodes.push(node);
        self.facts.push(facts);
        self.shapes.push(shape);
        id
    }

    /// Returns the labels that a node refers to and that are seen outside it, in ascending order.
    fn free_labels(&self, node: &Node) -> Box<[LabelId]> {
        // Labels are seen in one rule, but for those that its parameters stand for.
        let children = if node.in_place().is_some() { &[] } else { node.children() };
        let mut free = node.references();
        free.extend(node.instance().into_iter().flat_map(|rule| self.parameters(rule)));
        free.extend(children.iter().flat_map(|child| &self.free[child.index()]).copied());
        if let Node::Scope(scope) = node {
            free.retain(|label| !scope.labels.contains(label));
            free.extend(scope.arguments.iter().map(|known| known.label));
        }
        sort_by_key(&mut free, |&label| label);
        free.dedup();
        free.into()
    }

    /// Returns the labels that a node refers to and that are seen outside it, in ascending order.
    #[inline]
    pub fn free(&self, node: NodeId) -> &[LabelId] {
        &self.free[node.index()]
    }

    /// Returns the number of labels: each has a lower number.
    #[inline]
    pub fn label_count(&self) -> usize {
        self.labels
    }

    /// Gives the label of the next number its name.
    pub fn name_label(&mut self, name: impl Into<String>) {
        self.label_names.push(name.into());
    }

    /// Returns the name of a label; `None` if it is not known.
    pub fn label_name(&self, label: LabelId) -> Option<&str> {
        self.label_names.get(label.index()).map(String::as_str)
    }

    /// Notes how long texts may be, once all rules have their bodies. The passes keep it.
    pub fn bound_texts(&mut self) {
        self.longest_text = labels::longest_text(self);
    }

    /// Returns the greatest length of a text with which each offset fits into its field, if there are offsets.
    #[inline]
    pub fn longest_text(&self) -> Option<u64> {
        self.longest_text
    }

    /// Returns true if something in the grammar follows from other parts of a text.
    #[inline]
    pub fn has_labels(&self) -> bool {
        self.labels > 0 || self.has_codes || !self.common.kinds.is_empty()
    }

    /// Returns true if some parts are coded.
    #[inline]
    pub fn has_codes(&self) -> bool {
        self.has_codes
    }

    /// Returns true if something is derived once for each round of a repetition, and sees the labels of that round.
    #[inline]
    pub fn has_mirrors(&self) -> bool {
        self.has_mirrors
    }

    /// Returns true if two nodes are written the same. Large nodes count as different.
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
    /// The facts of the empty string.
    pub const EMPTY: Facts = Facts { min_len: 0, height: 0, min_depth: 0 };

    /// Returns the facts of this followed by `next`.
    pub fn then(self, next: Facts) -> Facts {
        Facts {
            min_len: self.min_len.saturating_add(next.min_len),
            height: self.height.max(next.height),
            min_depth: self.min_depth.max(next.min_depth),
        }
    }

    /// Returns the facts of a choice between this and `other`.
    pub fn or(self, other: Facts) -> Facts {
        let (min_len, height) = (self.min_len, self.height).min((other.min_len, other.height));
        Facts { min_len, height, min_depth: self.min_depth.min(other.min_depth) }
    }

    /// Returns the facts of `count` rounds of this. `count` must not be 0.
    pub fn times(self, count: u32) -> Facts {
        Facts { min_len: self.min_len.saturating_mul(u64::from(count)), ..self }
    }

    /// Returns the facts of a rule instance with this body.
    pub fn one_deeper(self) -> Facts {
        Facts {
            min_len: self.min_len,
            height: self.height.saturating_add(1),
            min_depth: self.min_depth.saturating_add(1),
        }
    }
}
