//! The form of a node: the kind of code that an engine emits for it. All engines that emit code from a residual IR take
//! the forms from here. They differ in the code for a form and in the limits that the code keeps.

use std::ops::Deref;

use crate::analysis::jumps::Jumps;
use crate::analysis::pools::Pool;
use crate::analysis::runs::{ByteItem, Chain, TailRun, byte_item, chain, tail_run};
use crate::charset::{CharSet, Encoded};
use crate::ir::{Choice, Ir, Node, NodeId, RuleId, Site, Slots};

/// The kind of code for a node.
pub enum Form<'i> {
    /// These bytes.
    Literal(&'i [u8]),
    /// One site whose options are strings.
    Strings(Strings<'i>),
    /// A member of a set with more than [`MAX_STRINGS`] members.
    Member(&'i CharSet),
    /// Two sites without a branch: a choice among strings and choices among strings.
    Nested(Nested<'i>),
    /// Rounds of single bytes that are written out one by one.
    Chain(Chain),
    /// One site, whose options are of any kind.
    Branches(&'i Choice),
    /// Nodes one after the other.
    Sequence(&'i [NodeId]),
    /// A repetition.
    Repetition(Repetition),
    /// An instance of a rule whose body stands elsewhere.
    Call(RuleId),
    /// An instance of a rule whose body stands here, without jumps back to it.
    Instance(RuleId, NodeId),
    /// An instance of a rule whose body stands here, with jumps back to it. The last field is its run of single bytes,
    /// if it is one.
    Loop(RuleId, NodeId, Option<TailRun>),
    /// A jump back to the enclosing instance of a rule.
    JumpBack(RuleId),
    /// A node with labels, or one that follows from labelled parts. Only interpreters have code for these.
    Labels(&'i Node),
}

/// Larger classes do not become strings.
pub const MAX_STRINGS: u32 = 256;

/// A site whose options are strings, in canonical order.
#[derive(Clone, Debug)]
pub struct Strings<'i> {
    /// The strings.
    pub strings: Vec<Text<'i>>,
    /// The slots of a weighted site.
    pub slots: Option<&'i Slots>,
    /// The length of the shortest string of the class or rule that the strings stand for.
    pub min_len: u64,
}

/// A string: a literal, or a member of a set.
#[derive(Clone, Copy, Debug)]
pub enum Text<'i> {
    /// As it stands in the grammar.
    Literal(&'i [u8]),
    /// An encoded member.
    Member(Encoded),
}

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Text::Literal(bytes) => bytes,
            Text::Member(member) => member.as_ref(),
        }
    }
}

impl<'i> Strings<'i> {
    /// Returns the members of a set.
    pub fn of_class(set: &'i CharSet) -> Strings<'i> {
        let strings = set.iter().map(|member| Text::Member(set.encode(member))).collect();
        Strings { strings, slots: None, min_len: set.min_len() }
    }

    /// Returns the strings of the pool of a rule whose shortest string has the length `min_len`.
    pub fn of_pool(pool: &'i Pool, min_len: u64) -> Strings<'i> {
        let strings = pool.strings.iter().map(|string| Text::Literal(string)).collect();
        Strings { strings, slots: None, min_len }
    }

    /// Returns the site with all its options.
    pub fn site(&self) -> Site<'i> {
        Site::new(self.strings.len() as u32, self.slots)
    }

    /// Returns the length of the longest string.
    pub fn longest(&self) -> usize {
        self.strings.iter().map(|string| string.len()).max().unwrap_or(0)
    }

    /// Returns the cost of each string: the number of bytes beyond the shortest.
    pub fn costs(&self) -> Vec<u64> {
        self.strings.iter().map(|string| string.len() as u64 - self.min_len).collect()
    }

    /// Returns the byte for each choice byte, if all strings are single bytes and the site reads one choice byte.
    pub fn bytes(&self) -> Option<[u8; 256]> {
        let site = self.site();
        if site.bits() != 8 {
            return None;
        }
        let mut bytes = [0; 256];
        for (option, string) in self.strings.iter().enumerate() {
            let [byte] = **string else { return None };
            let from = if option == 0 { 0 } else { site.value_of(option as u32) };
            bytes[from as usize..].fill(byte);
        }
        Some(bytes)
    }

    /// Returns the strings.
    pub fn slices(&self) -> Vec<&[u8]> {
        self.strings.iter().map(|string| &**string).collect()
    }
}

/// An unweighted choice whose options are literals or choices of literals.
#[derive(Clone, Debug)]
pub struct Nested<'i> {
    /// The choice.
    pub choice: &'i Choice,
    /// The strings of all options.
    pub strings: Vec<&'i [u8]>,
    /// For each option, the number of its first string in the low 16 bits and the number of its strings above them.
    pub options: Vec<u32>,
    /// The length of the longest string.
    pub longest: usize,
}

impl Nested<'_> {
    /// The greatest length of a string in bytes.
    const MAX_LEN: usize = 32;
    /// The greatest size of a table of the strings, in rows of at least eight bytes. A larger one would not stay in the
    /// first-level cache.
    const MAX_TABLE: usize = 1 << 14;
}

/// A repetition.
pub struct Repetition {
    /// The node that is repeated.
    pub item: NodeId,
    /// The number of rounds before the first site.
    pub min: u32,
    /// The greatest number of rounds.
    pub max: Option<u32>,
    /// The item as single bytes, if most choice bytes lead to single bytes.
    pub bytes: Option<ByteItem>,
}

/// The forms of an IR's nodes.
#[derive(Clone, Debug)]
pub struct Forms<'i> {
    ir: &'i Ir,
    jumps: Jumps,
    /// Whether the code keeps a length limit, which can remove options.
    keeps_length: bool,
    /// Whether chains are looked for.
    has_chains: bool,
}

impl<'i> Forms<'i> {
    /// Returns the forms for code that keeps a length limit if `keeps_length`.
    pub fn new(ir: &'i Ir, keeps_length: bool) -> Forms<'i> {
        Forms { ir, jumps: Jumps::new(ir), keeps_length, has_chains: false }
    }

    /// Returns the same forms, with chains. They are for IRs with an unfolded depth limit only: chains look through
    /// references, so these must not count as levels.
    #[must_use]
    pub fn with_chains(self) -> Forms<'i> {
        Forms { has_chains: !self.ir.is_ordered(), ..self }
    }

    /// Returns the form of a node.
    pub fn of(&self, node: NodeId) -> Form<'i> {
        match self.ir.node(node) {
            Node::Bytes(bytes) => Form::Literal(bytes),
            Node::Class(set) if set.len() > MAX_STRINGS => Form::Member(set),
            Node::Class(set) => Form::Strings(Strings::of_class(set)),
            Node::Rule(rule) => Form::Call(*rule),
            Node::Seq(items) => Form::Sequence(items),
            Node::Choice(choice) => self.of_choice(node, choice),
            &Node::Repeat { item, min, max } => {
                Form::Repetition(Repetition { item, min, max, bytes: byte_item(self.ir, item) })
            }
            Node::Inline { rule, body } => self.of_instance(*rule, *body),
            Node::Again(rule) => Form::JumpBack(*rule),
            node @ (Node::Derived(_) | Node::Times { .. }) => Form::Labels(node),
            node @ (Node::Label { .. } | Node::Scope(_) | Node::Naming { .. } | Node::Coded { .. }) => {
                Form::Labels(node)
            }
        }
    }

    /// Returns the form of an instance of a rule: [`Form::Instance`] or [`Form::Loop`].
    pub fn of_instance(&self, rule: RuleId, body: NodeId) -> Form<'i> {
        if self.is_loop(rule, body) {
            Form::Loop(rule, body, self.run_of(rule, body))
        } else {
            Form::Instance(rule, body)
        }
    }

    /// Returns the run of single bytes that an instance of a rule is, if it is one. It is a loop, as it jumps back to
    /// itself.
    pub fn run_of(&self, rule: RuleId, body: NodeId) -> Option<TailRun> {
        tail_run(self.ir, rule, body)
    }

    /// Returns true if there are jumps back to the instance of a rule.
    pub fn is_loop(&self, rule: RuleId, body: NodeId) -> bool {
        self.jumps.lead_back(self.ir, body, rule)
    }

    /// Returns the node as a chain, if it is one.
    pub fn chain(&self, node: NodeId) -> Option<Chain> {
        if self.has_chains { chain(self.ir, node) } else { None }
    }

    /// Returns true if a node is a literal or one site whose options are strings.
    pub fn is_strings(&self, node: NodeId) -> bool {
        let (found, literals) = (self.ir.node(node), self.ir.literals(node));
        found.literal().is_some() || found.class().is_some() || literals.is_some()
    }

    fn of_choice(&self, node: NodeId, choice: &'i Choice) -> Form<'i> {
        if let Some(literals) = self.ir.literals(node) {
            let strings = literals.into_iter().map(Text::Literal).collect();
            let min_len = self.ir.facts(node).min_len;
            return Form::Strings(Strings { strings, slots: choice.slots.as_ref(), min_len });
        }
        if let Some(chain) = self.chain(node) {
            return Form::Chain(chain);
        }
        match self.nested(choice) {
            Some(nested) => Form::Nested(nested),
            None => Form::Branches(choice),
        }
    }

    fn nested(&self, choice: &'i Choice) -> Option<Nested<'i>> {
        let is_even = |choice: &Choice| choice.slots.is_none() && choice.options.len() <= 256;
        if !is_even(choice) {
            return None;
        }
        let (mut options, mut strings) = (Vec::with_capacity(choice.options.len()), Vec::new());
        for &option in &choice.options {
            let first = strings.len() as u32;
            match self.ir.node(option).literal() {
                Some(bytes) => strings.push(bytes),
                None => strings
                    .extend(self.ir.literals(option).filter(|_| self.ir.node(option).choice().is_some_and(is_even))?),
            }
            options.push(first | (strings.len() as u32 - first) << 16);
        }
        let longest = strings.iter().map(|string| string.len()).max()?;
        // A length limit can narrow either site, unless all strings cost the same.
        let is_narrowed = self.keeps_length && strings.iter().any(|string| string.len() != longest);
        let is_small =
            longest <= Nested::MAX_LEN && strings.len() * longest.next_power_of_two().max(8) <= Nested::MAX_TABLE;
        (is_small && !is_narrowed).then_some(Nested { choice, strings, options, longest })
    }
}
