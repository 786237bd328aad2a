//! A grammar as plain trees, made from an Ast or from any IR, with the facts of each tree by plain iteration: what the
//! kit's own, naive algorithms run on.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use gramjet_compiler::analysis::alphabet::Alphabets;
use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar, Name};
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::derived::{Derived, Value};
use gramjet_compiler::ir::{Codec, Facts, Ir, Node, NodeId, RuleId, Slots};
use gramjet_compiler::naming::Naming;

use facts::{Rules, set_facts};

mod facts;

pub use facts::digits;

/// A grammar: variables, each with a tree.
#[derive(Clone, Debug)]
pub struct System {
    /// The derivation of each variable. The first variables are the rules of the grammar, by number; instances that a
    /// pass has inlined follow.
    pub variables: Vec<Option<Form>>,
    /// The rule that each variable is an instance of.
    pub rule_of: Vec<usize>,
    /// The start rule.
    pub start: usize,
}

/// The derivation of a tree, and the facts about it.
#[derive(Clone, Debug)]
pub struct Form {
    /// The derivation.
    pub kind: Kind,
    /// The facts; [`UNKNOWN`] if it derives nothing.
    pub facts: Facts,
    /// The number of unique names of each kind that its shortest text gives to scopes outside it.
    pub uniques: Uniques,
    /// The least number of rounds, if it is a labelled repetition.
    rounds: u64,
}

/// The numbers of unique names, by their kinds.
pub type Uniques = BTreeMap<String, u64>;

/// The kinds of trees.
#[derive(Clone, Debug)]
pub enum Kind {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A member of a set.
    Class(CharSet),
    /// An instance of a rule: what a variable derives, one level deeper. Its parameters stand for parts with labels.
    Variable(usize, Vec<(String, String)>),
    /// One after the other.
    Seq(Vec<Form>),
    /// One of several, in canonical order.
    Choice(Vec<Form>, Option<Slots>),
    /// As many rounds.
    Repeat(Box<Form>, u32, Option<u32>),
    /// As many rounds as a number says; with a mirror, those of a repetition whose labels they see.
    Times(Box<Form>, Value<String>, Option<Mirror>),
    /// A sequence whose items have labels, with these labels in order.
    Scope(Box<Form>, Vec<String>),
    /// A part with a label.
    Label(String, Box<Form>),
    /// Bytes that follow from parts.
    Derived(Derived<String>),
    /// A part that does something with names.
    Naming(Naming<String>, Box<Form>),
    /// A part that is written in a coding.
    Coded(Codec, Box<Form>),
}

/// The rounds of a repetition whose labels are seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// The label of the repetition.
    pub label: String,
    /// The labels of a round, as far as they are known from the grammar.
    parts: Vec<Part>,
    /// The names to which its item refers.
    names: Vec<String>,
}

impl Mirror {
    /// Returns true if it sees labels of the rounds.
    pub fn sees_some(&self) -> bool {
        self.parts.iter().any(|(label, ..)| self.names.contains(label))
    }
}

/// Facts about a labelled part from the grammar alone: its label, its minimum length, and its least number of
/// rounds.
type Part = (String, u64, u64);

/// The facts of what derives nothing.
pub const UNKNOWN: Facts = Facts { min_len: u64::MAX, height: u32::MAX, min_depth: u32::MAX };

impl Form {
    fn new(kind: Kind) -> Form {
        Form { kind, facts: UNKNOWN, uniques: Uniques::new(), rounds: 0 }
    }
}

impl System {
    /// Returns the system of a grammar as written, with options put into canonical order here.
    pub fn of_grammar(grammar: &Grammar) -> System {
        let mut index = BTreeMap::new();
        for (number, rule) in grammar.rules.iter().enumerate() {
            index.entry(rule.name.text.as_str()).or_insert(number);
        }
        let start = grammar.start.as_ref().map_or(0, |name| index[name.text.as_str()]);
        let mut weights = Vec::new();
        let alphabets = Alphabets::new(grammar);
        let (seen, mirrored) = (RefCell::default(), RefCell::default());
        let parameters: Vec<&[Name]> = grammar.rules.iter().map(|rule| rule.parameters.as_slice()).collect();
        let variables = grammar.rules.iter().enumerate().map(|(rule, own)| {
            let reading = Reading {
                index: &index,
                alphabets: &alphabets,
                parameters: &parameters,
                rule,
                seen: &seen,
                mirrored: &mirrored,
            };
            Some(of_sequence(&own.body, reading, &mut weights))
        });
        let variables: Vec<Option<Form>> = variables.collect();
        let reached = reached(grammar, &index, start);
        let mut system = System { rule_of: (0..variables.len()).collect(), variables, start };
        system.find_facts(&reached);
        let mut next = weights.into_iter();
        for form in system.variables.iter_mut().flatten() {
            order_options(form, &mut next);
        }
        // Children were moved, so their parents' facts are made anew.
        system.find_facts(&reached);
        system
    }

    /// Returns the system of an IR, lowered or residual; options stay in their order.
    pub fn of_ir(ir: &Ir) -> System {
        let rules = ir.rules().len();
        let mut system =
            System { variables: vec![None; rules], rule_of: (0..rules).collect(), start: ir.start().index() };
        for (rule, body) in ir.bodies() {
            let form = system.of_node(ir, body, &mut vec![(rule, rule.index())]);
            system.variables[rule.index()] = Some(form);
        }
        system.find_facts(&vec![true; system.variables.len()]);
        system
    }

    fn of_node(&mut self, ir: &Ir, node: NodeId, scopes: &mut Vec<(RuleId, usize)>) -> Form {
        let mut all = |nodes: &[NodeId]| nodes.iter().map(|&node| self.of_node(ir, node, scopes)).collect();
        let kind = match ir.node(node) {
            Node::Bytes(bytes) => Kind::Bytes(bytes.to_vec()),
            Node::Class(set) => Kind::Class(set.clone()),
            Node::Rule(rule) => Kind::Variable(rule.index(), Vec::new()),
            Node::Seq(items) => Kind::Seq(all(items)),
            Node::Choice(choice) => Kind::Choice(all(&choice.options), choice.slots.clone()),
            Node::Repeat { item, min, max } => Kind::Repeat(Box::new(self.of_node(ir, *item, scopes)), *min, *max),
            Node::Derived(_)
            | Node::Times { .. }
            | Node::Label { .. }
            | Node::Scope(_)
            | Node::Naming { .. }
            | Node::Coded { .. } => {
                unreachable!("the oracle knows no labels")
            }
            Node::Inline { rule, body } => {
                let variable = self.variables.len();
                self.variables.push(None);
                self.rule_of.push(rule.index());
                scopes.push((*rule, variable));
                let form = self.of_node(ir, *body, scopes);
                scopes.pop();
                self.variables[variable] = Some(form);
                Kind::Variable(variable, Vec::new())
            }
            Node::Again(rule) => {
                let scope = scopes.iter().rev().find(|(open, _)| open == rule);
                Kind::Variable(scope.expect("the verifier found the scope of each jump back").1, Vec::new())
            }
        };
        Form::new(kind)
    }

    /// Returns the facts of a variable.
    pub fn facts(&self, variable: usize) -> Facts {
        self.variables[variable].as_ref().map_or(UNKNOWN, |form| form.facts)
    }

    /// Iterates until no fact of a rule that is reached gets better, from "derives nothing" on.
    fn find_facts(&mut self, reached: &[bool]) {
        let mut facts: Vec<(Facts, Uniques)> = vec![(UNKNOWN, Uniques::new()); self.variables.len()];
        loop {
            let before = facts.clone();
            let forms = self.variables.clone();
            for (variable, form) in self.variables.iter_mut().enumerate() {
                if let Some(form) = form.as_mut().filter(|_| reached[variable]) {
                    let rules = Rules { facts: &facts, forms: &forms, depth: Cell::new(0), followed: Cell::new(0) };
                    set_facts(form, &rules, &mut Vec::new());
                    facts[variable] = (form.facts, form.uniques.clone());
                }
            }
            if facts == before {
                return;
            }
        }
    }
}

/// A grammar that is read.
#[derive(Clone, Copy)]
struct Reading<'r> {
    index: &'r BTreeMap<&'r str, usize>,
    alphabets: &'r Alphabets<'r>,
    /// The parameters of each rule.
    parameters: &'r [&'r [Name]],
    /// The number of the rule.
    rule: usize,
    /// The labels that are seen, by their addresses.
    seen: &'r RefCell<Vec<usize>>,
    /// The names to which mirrors refer, for the sequence of each round, by its address.
    mirrored: &'r RefCell<BTreeMap<usize, Vec<String>>>,
}

/// Returns for each rule whether it is reached from the start rule. One with parameters that is not may have itself
/// without end.
fn reached(grammar: &Grammar, index: &BTreeMap<&str, usize>, start: usize) -> Vec<bool> {
    fn visit<'g>(expr: &'g Expr, found: &mut Vec<&'g str>) {
        found.extend(expr.as_rule());
        expr.children_if(Alternative::is_live).for_each(|child| visit(child, found));
    }
    let mut reached = vec![false; grammar.rules.len()];
    let mut open = vec![start];
    while let Some(rule) = open.pop() {
        if !std::mem::replace(&mut reached[rule], true) {
            let mut found = Vec::new();
            visit(&grammar.rules[rule].body, &mut found);
            open.extend(found.into_iter().map(|name| index[name]));
        }
    }
    reached
}

/// Returns the items of a sequence that is an item of another one, with labels or without.
fn group(item: &Expr) -> &[Expr] {
    item.unlabelled().as_seq().unwrap_or_default()
}

/// Returns the labels of an item of a sequence, also of those in its codings, each with its part.
fn labels_of(item: &Expr) -> Vec<(&Name, &Expr)> {
    item.layers().flat_map(Expr::labels).collect()
}

/// Returns the labels of groups in an item.
fn labels_of_groups(item: &Expr) -> Vec<(&Name, &Expr)> {
    group(item).iter().flat_map(|item| [labels_of(item), labels_of_groups(item)].concat()).collect()
}

/// Returns the names to which an expression refers, but those of labels of the sequences in it.
fn free_names(expr: &Expr) -> BTreeSet<String> {
    let mut all = Vec::new();
    expr.each_label_reference(&mut |label, _| all.push(label.text.clone()));
    let Some(items) = expr.as_seq() else {
        let own: BTreeSet<String> = expr.children().flat_map(free_names).collect();
        let mut bound = Vec::new();
        expr.children().for_each(|child| child.each_label_reference(&mut |label, _| bound.push(label.text.clone())));
        // What the expression itself refers to is not in its children.
        let itself = all.into_iter().filter(|name| !bound.contains(name));
        return own.into_iter().chain(itself).collect();
    };
    let bound: Vec<&str> = items
        .iter()
        .flat_map(|item| [labels_of(item), labels_of_groups(item)].concat())
        .map(|(label, _)| label.text.as_str())
        .collect();
    items.iter().flat_map(free_names).filter(|name| !bound.contains(&name.as_str())).collect()
}

/// Returns the labels that are seen in a sequence: its own, and those of groups to which something outside the group
/// refers, or something outside the sequence.
fn labels_seen<'e>(expr: &'e Expr, outside: &[String]) -> Vec<(&'e Name, &'e Expr)> {
    let items = expr.sequence();
    let mut seen = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let others = items.iter().enumerate().filter(|(other, _)| *other != number);
        let names: BTreeSet<String> = others.flat_map(|(_, other)| free_names(other)).collect();
        let is_seen = |label: &Name| names.contains(&label.text) || outside.contains(&label.text);
        seen.extend(labels_of(item));
        seen.extend(labels_of_groups(item).into_iter().filter(|(label, _)| is_seen(label)));
    }
    seen
}

/// Notes the names to which mirrors in a sequence refer, for the rounds of the repetitions with these labels.
fn add_mirrored(expr: &Expr, seen: &[(&Name, &Expr)], reading: Reading<'_>) {
    expr.each(&mut |expr| {
        let Some((label, item)) = expr.as_mirror() else { return };
        let repetition = seen.iter().find(|(own, _)| own.text == label.text);
        let Some(round) = repetition.and_then(|(_, part)| part.round()) else { return };
        let mut mirrored = reading.mirrored.borrow_mut();
        let names = mirrored.entry(std::ptr::from_ref(round).addr()).or_default();
        item.each_label_reference(&mut |label, _| names.push(label.text.clone()));
    });
}

/// Returns an expression that is a sequence of its own: its labels are seen in it, and by nothing else.
fn of_sequence(expr: &Expr, reading: Reading<'_>, weights: &mut Vec<Vec<f64>>) -> Form {
    let outside = reading.mirrored.borrow().get(&std::ptr::from_ref(expr).addr()).cloned().unwrap_or_default();
    let seen = labels_seen(expr, &outside);
    let labels: Vec<String> = seen.iter().map(|(label, _)| label.text.clone()).collect();
    // Those of open groups are not the groups' own.
    let labels: Vec<String> = {
        let outer = reading.seen.borrow();
        let is_outer = |label: &Name| outer.iter().any(|other| *other == std::ptr::from_ref(label).addr());
        let own = seen.iter().filter(|(label, _)| !is_outer(label));
        own.map(|(label, _)| label.text.clone()).filter(|label| labels.contains(label)).collect()
    };
    let first = reading.seen.borrow().len();
    reading.seen.borrow_mut().extend(seen.iter().map(|(label, _)| std::ptr::from_ref(*label).addr()));
    add_mirrored(expr, &seen, reading);
    let items = match &expr.kind {
        ExprKind::Seq(items) => {
            let kind = Kind::Seq(items.iter().map(|item| of_item(item, reading, weights)).collect());
            Form::new(kind)
        }
        _ => of_item(expr, reading, weights),
    };
    reading.seen.borrow_mut().truncate(first);
    if labels.is_empty() { items } else { Form::new(Kind::Scope(Box::new(items), labels)) }
}

/// Returns an item of a sequence, whose labels belong to the sequence, also those in its codings.
fn of_item(expr: &Expr, reading: Reading<'_>, weights: &mut Vec<Vec<f64>>) -> Form {
    match &expr.kind {
        ExprKind::Label { label, item } => {
            Form::new(Kind::Label(label.text.clone(), Box::new(of_item(item, reading, weights))))
        }
        ExprKind::Coded { coding, item } => {
            let growth = reading.alphabets.growth(reading.rule, *coding, item);
            let codec = Codec { coding: *coding, growth };
            Form::new(Kind::Coded(codec, Box::new(of_item(item, reading, weights))))
        }
        _ => of_expr(expr, reading, weights),
    }
}

fn of_expr(expr: &Expr, reading: Reading<'_>, weights: &mut Vec<Vec<f64>>) -> Form {
    let kind = match &expr.kind {
        ExprKind::Bytes(bytes) => Kind::Bytes(bytes.clone()),
        ExprKind::Class(set) => Kind::Class(set.clone()),
        ExprKind::Rule(name) => Kind::Variable(reading.index[name.as_str()], Vec::new()),
        ExprKind::Call { arguments, item } => {
            let variable = reading.index[item.as_rule().expect("a rule is referred to")];
            let parameters = reading.parameters[variable].iter();
            let given = parameters.zip(arguments).map(|(own, label)| (own.text.clone(), label.text.clone()));
            Kind::Variable(variable, given.collect())
        }
        ExprKind::Seq(_) => return of_sequence(expr, reading, weights),
        ExprKind::Choice(alternatives) => {
            let place = weights.len();
            weights.push(Vec::new());
            let mut options = Vec::new();
            for alternative in alternatives {
                let weight = alternative.weight.map_or(1.0, |weight| weight.value);
                if weight != 0.0 {
                    weights[place].push(weight);
                    options.push(of_sequence(&alternative.expr, reading, weights));
                }
            }
            Kind::Choice(options, None)
        }
        ExprKind::Repeat { item, min, max } => Kind::Repeat(Box::new(of_sequence(item, reading, weights)), *min, *max),
        ExprKind::Times { item, rounds, .. } => {
            let mirror = expr.as_mirror().map(|(label, item)| {
                let mut names = Vec::new();
                item.each_label_reference(&mut |label, _| names.push(label.text.clone()));
                Mirror { label: label.text.clone(), parts: Vec::new(), names }
            });
            let rounds = rounds.map(&mut |label| label.text.clone());
            Kind::Times(Box::new(of_sequence(item, reading, weights)), rounds, mirror)
        }
        ExprKind::Label { .. } | ExprKind::Coded { .. } => return of_sequence(expr, reading, weights),
        ExprKind::Derived(derived) => Kind::Derived(derived.map(&mut |label| label.text.clone())),
        ExprKind::Naming { naming, item } => {
            let naming = naming.map(|kind| kind.text.clone());
            Kind::Naming(naming, Box::new(of_sequence(item, reading, weights)))
        }
    };
    Form::new(kind)
}

/// Puts the options of all choices in order; `weights` has the weights of the choices from the outside in, left to
/// right.
fn order_options(form: &mut Form, weights: &mut impl Iterator<Item = Vec<f64>>) {
    match &mut form.kind {
        Kind::Bytes(_) | Kind::Class(_) | Kind::Variable(..) | Kind::Derived(_) => {}
        Kind::Seq(items) => items.iter_mut().for_each(|item| order_options(item, weights)),
        Kind::Repeat(item, ..)
        | Kind::Times(item, ..)
        | Kind::Scope(item, _)
        | Kind::Label(_, item)
        | Kind::Naming(_, item)
        | Kind::Coded(_, item) => {
            order_options(item, weights);
        }
        Kind::Choice(options, slots) => {
            let own = weights.next().expect("each choice has noted its weights");
            options.iter_mut().for_each(|option| order_options(option, weights));
            let mut order: Vec<usize> = (0..options.len()).collect();
            order.sort_by_key(|&option| (options[option].facts.min_len, options[option].facts.height, option));
            if own.iter().any(|&weight| weight != own[0]) {
                *slots = Slots::from_weights(&order.iter().map(|&option| own[option]).collect::<Vec<_>>());
            }
            *options = order.iter().map(|&option| options[option].clone()).collect();
        }
    }
}
