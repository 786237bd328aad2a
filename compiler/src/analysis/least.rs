//! Least derivations: minimum length, height and depth of every rule, as a least fixpoint over superior functions.
//!
//! Knuth, *A generalization of Dijkstra's algorithm* (1977): nodes of an and-or graph become final in ascending order
//! of their cost. So each is computed once, including cycles through nullable rules.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::alphabet::Alphabets;
use crate::ast::{Expr, ExprKind, Grammar, Name, Rule, SeenLabel};
use crate::derived::{Derived, Measure, Term, Value};
use crate::ir::{Codec, Facts, First, Ir, KindId, NodeId, Rounds, Uniques};
use crate::naming::Naming;
use crate::ordered::Map;

/// The cost of a derivation: length in bytes, then height; or the height alone.
type Cost = (u64, u32);

/// An and-or graph: its nodes are numbered from 0.
#[derive(Default)]
pub struct System {
    kinds: Vec<Kind>,
    /// Pairs of a child and the parent that waits for it, until solved.
    edges: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A node that costs this many bytes.
    Literal(u64),
    /// All children; this many of them are not final yet.
    All(u32),
    /// The cheapest child.
    Any,
    /// The child this many times.
    Times(u32),
    /// Child, one level deeper.
    Deeper,
    /// Child as it is, which is given later.
    Same,
    /// Child again, without deriving it.
    Copy,
    /// Child and this many bytes.
    Plus(u64),
    /// Child, coded in the longest way.
    Coded(Codec),
}

impl System {
    fn add(&mut self, kind: Kind, children: &[u32]) -> u32 {
        let id = self.kinds.len() as u32;
        self.kinds.push(kind);
        self.edges.extend(children.iter().map(|&child| (child, id)));
        id
    }

    /// Returns the least cost of each node. Lengths are counted, or (`by_depth`) only heights. `None` where no finite
    /// derivation exists.
    fn solve(&self, by_depth: bool) -> Vec<Option<Cost>> {
        let count = self.kinds.len();
        let mut first_parent = vec![0u32; count + 1];
        for &(child, _) in &self.edges {
            first_parent[child as usize + 1] += 1;
        }
        for index in 0..count {
            first_parent[index + 1] += first_parent[index];
        }
        let mut parents = vec![0u32; self.edges.len()];
        let mut next = first_parent.clone();
        for &(child, parent) in &self.edges {
            parents[next[child as usize] as usize] = parent;
            next[child as usize] += 1;
        }
        let mut waiting: Vec<(u32, Cost)> = Vec::with_capacity(count);
        let mut queue = BinaryHeap::new();
        for (id, &kind) in self.kinds.iter().enumerate() {
            match kind {
                Kind::Literal(len) => queue.push(Reverse(((if by_depth { 0 } else { len }, 0), id as u32))),
                Kind::All(0) => queue.push(Reverse(((0, 0), id as u32))),
                _ => {}
            }
            waiting.push((if let Kind::All(children) = kind { children } else { 0 }, (0, 0)));
        }
        let mut costs: Vec<Option<Cost>> = vec![None; count];
        while let Some(Reverse((cost, id))) = queue.pop() {
            if costs[id as usize].is_some() {
                continue;
            }
            costs[id as usize] = Some(cost);
            let range = first_parent[id as usize] as usize..first_parent[id as usize + 1] as usize;
            for &parent in &parents[range] {
                if costs[parent as usize].is_some() {
                    continue;
                }
                let (len, height) = cost;
                let offer = match self.kinds[parent as usize] {
                    Kind::Literal(_) => continue,
                    Kind::Any | Kind::Same => cost,
                    Kind::Copy => (len, 0),
                    Kind::Plus(more) => (len.saturating_add(more), height),
                    // Lengths do not count if all are 0.
                    Kind::Coded(codec) => (if by_depth { 0 } else { codec.longest(len) }, height),
                    Kind::Times(times) => (len.saturating_mul(u64::from(times)), height),
                    Kind::Deeper => (len, height.saturating_add(1)),
                    Kind::All(_) => {
                        let (missing, sum) = &mut waiting[parent as usize];
                        *sum = (sum.0.saturating_add(len), sum.1.max(height));
                        *missing -= 1;
                        if *missing > 0 {
                            continue;
                        }
                        *sum
                    }
                };
                queue.push(Reverse((offer, parent)));
            }
        }
        costs
    }
}

impl System {
    /// Returns the unique names of the cheapest derivation of each node, given the costs and what nodes do with names.
    fn uniques(&self, costs: &[Option<Cost>], namings: &[(u32, Naming<KindId>)]) -> Vec<Uniques> {
        let mut children = vec![Vec::new(); self.kinds.len()];
        for &(child, parent) in &self.edges {
            children[parent as usize].push(child);
        }
        for (of, kind) in children.iter_mut().zip(&self.kinds) {
            match kind {
                // Of children that cost as much, the first one is option 0.
                Kind::Any => {
                    let cheapest = of.iter().copied().filter(|&child| costs[child as usize].is_some());
                    *of = cheapest.min_by_key(|&child| costs[child as usize]).into_iter().collect();
                }
                Kind::Literal(_) | Kind::Copy | Kind::Coded(_) => of.clear(),
                Kind::All(_) | Kind::Times(_) | Kind::Deeper | Kind::Same | Kind::Plus(_) => {}
            }
        }
        let namings: Map<u32, &Naming<KindId>> = namings.iter().map(|(node, naming)| (*node, naming)).collect();
        let mut found: Vec<Option<Uniques>> = vec![None; self.kinds.len()];
        // What costs least does not contain itself, so each child is done before its parent.
        let mut open: Vec<u32> = (0..self.kinds.len() as u32).filter(|&node| costs[node as usize].is_some()).collect();
        while let Some(&node) = open.last() {
            let own = &children[node as usize];
            let missing: Vec<u32> = own.iter().copied().filter(|&child| found[child as usize].is_none()).collect();
            if found[node as usize].is_none() && !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            open.pop();
            if found[node as usize].is_none() {
                let of_child = |child: &u32| found[*child as usize].as_ref();
                let once = own.iter().filter_map(of_child).fold(Uniques::default(), Uniques::with);
                let times = if let Kind::Times(times) = self.kinds[node as usize] { times.into() } else { 1 };
                let all = once.times(times);
                found[node as usize] = Some(match namings.get(&node) {
                    Some(naming) => all.outside(naming),
                    None => all,
                });
            }
        }
        found.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// Returns the facts of each rule of a grammar as written (only alternatives with positive weight count); `None` for
/// rules that derive no finite string. `resolve` gives the rule of a name.
pub fn of_grammar(grammar: &Grammar, resolve: &dyn Fn(&str) -> Option<usize>) -> Vec<Option<Facts>> {
    with_labels(grammar, resolve, &Calls::default()).facts
}

/// The least length in bytes of each labelled part, or its least number of rounds, by the number of its rule and the
/// place of its label.
pub type LabelLengths = Map<(usize, u32), u64>;

/// The number of bytes by which each reference to a rule with parameters is longer than if these were empty, by the
/// number of its rule and its place.
pub type Calls = Map<(usize, u32), u64>;

/// The bytes that each scope of names keeps free for numbers that make names unique, in source order.
type Rooms = Vec<u64>;

/// Facts about the shortest derivations of a grammar's rules and labelled parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Least {
    /// The facts of each rule; `None` if it derives no finite string.
    pub facts: Vec<Option<Facts>>,
    /// The least lengths of labelled parts.
    pub lengths: LabelLengths,
    /// The least numbers of rounds of labelled repetitions.
    pub rounds: LabelLengths,
    /// The unique names of each rule's shortest derivation. Empty if the grammar has none.
    pub uniques: Vec<Uniques>,
    rooms: Rooms,
}

/// The most times that facts are computed anew: with more, the rooms of scopes follow from each other in a circle.
const MOST_ROUNDS: usize = 200;

/// Returns the facts of each rule as [`of_grammar`] does, and those of labelled parts and names, given what is known of
/// references to rules with parameters. The length of a number may depend on them, so they are computed until nothing
/// changes.
pub fn with_labels(grammar: &Grammar, resolve: &dyn Fn(&str) -> Option<usize>, calls: &Calls) -> Least {
    let kinds = grammar.kinds();
    let kinds: Map<&str, KindId> = kinds.iter().enumerate().map(|(at, &kind)| (kind, KindId::new(at as u32))).collect();
    let alphabets = Alphabets::new(grammar);
    let mut before = Least::default();
    // A length is passed on from label to label, and a rule has a bounded number of them.
    for _ in 0..MOST_ROUNDS {
        let found = once(grammar, resolve, (&kinds, &alphabets, calls), &before);
        let is_stable =
            (&found.lengths, &found.rounds, &found.rooms) == (&before.lengths, &before.rounds, &before.rooms);
        before = found;
        if is_stable {
            break;
        }
    }
    before
}

fn once(
    grammar: &Grammar,
    resolve: &dyn Fn(&str) -> Option<usize>,
    (kinds, alphabets, calls): (&Map<&str, KindId>, &Alphabets<'_>, &Calls),
    before: &Least,
) -> Least {
    let mut building = Building {
        system: System::default(),
        resolve,
        kinds,
        alphabets,
        calls,
        rule: 0,
        seen: Vec::new(),
        placed: Vec::new(),
        rounds: LabelLengths::new(),
        namings: Vec::new(),
        scopes: Vec::new(),
        before,
    };
    // The first nodes stand for the rules.
    for _ in &grammar.rules {
        building.system.add(Kind::Same, &[]);
    }
    for (index, rule) in grammar.rules.iter().enumerate() {
        building.rule = index;
        building.see_parameters(rule);
        let body = building.node(&rule.body);
        building.seen.clear();
        building.system.edges.push((body, index as u32));
    }
    let Building { system, placed, rounds, namings, scopes, .. } = building;
    let by_len = system.solve(false);
    let lengths = placed.into_iter().filter_map(|(place, node)| Some((place, by_len[node as usize]?.0))).collect();
    let (mut uniques, mut rooms) = (Vec::new(), Rooms::new());
    if namings.iter().any(|(_, naming)| naming.unique().is_some()) {
        uniques = system.uniques(&by_len, &namings);
        rooms.extend(scopes.into_iter().map(|(body, naming)| uniques[body as usize].room(&naming)));
        uniques.truncate(grammar.rules.len());
    }
    Least { facts: facts_of_first(&system, by_len, grammar.rules.len()), lengths, rounds, uniques, rooms }
}

/// A label that is seen.
#[derive(Clone, Copy)]
struct Seen<'e> {
    label: &'e Name,
    node: u32,
    part: &'e Expr,
}

/// Builds the system of a grammar.
struct Building<'b, 'e> {
    system: System,
    resolve: &'b dyn Fn(&str) -> Option<usize>,
    rule: usize,
    seen: Vec<Seen<'e>>,
    placed: Vec<((usize, u32), u32)>,
    /// The least numbers of rounds of the repetitions so far.
    rounds: LabelLengths,
    kinds: &'b Map<&'b str, KindId>,
    alphabets: &'b Alphabets<'b>,
    calls: &'b Calls,
    /// The nodes that do something with names.
    namings: Vec<(u32, Naming<KindId>)>,
    /// The scopes: their parts and kinds.
    scopes: Vec<(u32, Naming<KindId>)>,
    before: &'b Least,
}

impl<'e> Building<'_, 'e> {
    /// Returns the node of an expression that is no item of a sequence with others, or of such a sequence.
    fn node(&mut self, expr: &'e Expr) -> u32 {
        let before = self.seen.len();
        for SeenLabel { name: label, part: item, .. } in expr.seen_labels() {
            // A label of an open group is seen around it, too.
            if self.seen.iter().any(|seen| std::ptr::eq(seen.label, label)) {
                continue;
            }
            let node = self.system.add(Kind::Same, &[]);
            self.seen.push(Seen { label, node, part: item });
            self.placed.push(((self.rule, label.span.start), node));
        }
        let node = match expr.as_seq() {
            Some(items) => {
                let children: Vec<u32> = items.iter().map(|item| self.item(item)).collect();
                self.system.add(Kind::All(children.len() as u32), &children)
            }
            None => self.item(expr),
        };
        self.seen.truncate(before);
        node
    }

    fn seen(&self, label: &Name) -> Option<Seen<'e>> {
        self.seen.iter().rev().find(|seen| seen.label.text == label.text).copied()
    }

    /// Returns the least value of a number.
    fn least(&self, value: &Value<Name>) -> u64 {
        let of_term = |term: &Term<Name>| {
            let seen = self.seen(&term.label);
            match (term.measure, seen) {
                (Measure::Len, Some(Seen { label, .. })) => {
                    self.before.lengths.get(&(self.rule, label.span.start)).copied().unwrap_or(0)
                }
                (Measure::Count, Some(Seen { label, .. })) => {
                    let place = (self.rule, label.span.start);
                    self.rounds.get(&place).or(self.before.rounds.get(&place)).copied().unwrap_or(0)
                }
                (Measure::Len | Measure::Count | Measure::Offset | Measure::Base, _) => 0,
                (Measure::Sum(_) | Measure::Digest(_), _) => 0,
            }
        };
        value.of(of_term).max(0).unsigned_abs()
    }

    /// Returns the node of a part that does something with names.
    fn naming(&mut self, naming: &Naming<Name>, body: u32) -> u32 {
        // The checks have found all kinds.
        let kind = |kind: &Name| self.kinds.get(kind.text.as_str()).copied().unwrap_or(KindId::new(0));
        let naming = naming.map(kind);
        let mut room = 0;
        if !naming.scoped().is_empty() {
            room = self.before.rooms.get(self.scopes.len()).copied().unwrap_or(0);
            self.scopes.push((body, naming.clone()));
        }
        if naming.is_silent() {
            return self.system.add(Kind::Literal(0), &[]);
        }
        let node = self.system.add(Kind::Plus(room), &[body]);
        self.namings.push((node, naming));
        node
    }

    fn least_rounds(&self, expr: &Expr) -> u64 {
        let repeat = expr.as_repeat().map(|rounds| u64::from(rounds.min));
        repeat.or(expr.as_times().map(|(_, rounds)| self.least(rounds))).unwrap_or(0)
    }

    /// Lets the labels of a round be seen that a mirror sees.
    fn see_rounds(&mut self, mirror: &'e Expr) {
        let repetition = mirror.as_mirror().and_then(|(label, _)| self.seen(label));
        let Some(round) = repetition.and_then(|seen| seen.part.round()) else { return };
        for SeenLabel { name: label, part, .. } in round.all_labels() {
            let place = (self.rule, label.span.start);
            let found = self.placed.iter().rev().find(|(known, _)| *known == place).map(|&(_, node)| node);
            let Some(node) = found else { continue };
            self.seen.push(Seen { label, node, part });
        }
    }

    /// Lets the parameters of a rule be seen. What they stand for counts as empty, and is paid for where it is known.
    fn see_parameters(&mut self, rule: &'e Rule) {
        for label in &rule.parameters {
            let node = self.system.add(Kind::Literal(0), &[]);
            self.seen.push(Seen { label, node, part: &rule.body });
        }
    }

    /// Returns the node of a part with a label or a coding. The labels within belong to the sequence around it.
    fn layer(&mut self, part: &'e Expr) -> u32 {
        if part.as_label().is_some() || part.as_coded().is_some() { self.item(part) } else { self.node(part) }
    }

    /// Returns the node of an expression whose labels are seen, if it has some.
    fn item(&mut self, expr: &'e Expr) -> u32 {
        let system = &mut self.system;
        match &expr.kind {
            ExprKind::Label { label, item } => {
                let child = self.layer(item);
                // What the rounds follow from may not be seen outside a group.
                let rounds = self.least_rounds(item.unlabelled());
                self.rounds.insert((self.rule, label.span.start), rounds);
                // Labels of one name are reported elsewhere.
                match self.seen.iter().rev().find(|seen| std::ptr::eq(seen.label, label)).copied() {
                    Some(Seen { node, .. }) => {
                        self.system.edges.push((child, node));
                        node
                    }
                    None => child,
                }
            }
            ExprKind::Derived(Derived::Copy(label)) => match self.seen(label) {
                Some(Seen { node, .. }) => self.system.add(Kind::Copy, &[node]),
                None => self.system.add(Kind::Literal(0), &[]),
            },
            ExprKind::Derived(Derived::Number(value, form)) => {
                let width = form.width(self.least(value));
                self.system.add(Kind::Literal(width), &[])
            }
            ExprKind::Derived(Derived::Bits(bits)) => self.system.add(Kind::Literal(bits.width()), &[]),
            ExprKind::Derived(Derived::Padding(label, padding)) => {
                let place = self.seen(label).map(|seen| (self.rule, seen.label.span.start));
                let len = place.and_then(|place| self.before.lengths.get(&place)).copied().unwrap_or(0);
                self.system.add(Kind::Literal(padding.width(len)), &[])
            }
            ExprKind::Times { item, rounds, .. } => {
                let before = self.seen.len();
                self.see_rounds(expr);
                let child = self.node(item);
                self.seen.truncate(before);
                match u32::try_from(self.least(rounds)).unwrap_or(u32::MAX) {
                    0 => self.system.add(Kind::Literal(0), &[]),
                    rounds => self.system.add(Kind::Times(rounds), &[child]),
                }
            }
            ExprKind::Naming { naming, item } => {
                let body = self.node(item);
                self.naming(naming, body)
            }
            ExprKind::Coded { coding, item } => {
                let codec = Codec { coding: *coding, growth: self.alphabets.growth(self.rule, *coding, item) };
                let body = self.layer(item);
                self.system.add(Kind::Coded(codec), &[body])
            }
            ExprKind::Call { item, .. } => {
                let rule = self.item(item);
                let longer = self.calls.get(&(self.rule, expr.span.start)).copied().unwrap_or(0);
                self.system.add(Kind::Plus(longer), &[rule])
            }
            ExprKind::Bytes(bytes) => system.add(Kind::Literal(bytes.len() as u64), &[]),
            ExprKind::Class(set) if set.is_empty() => system.add(Kind::Any, &[]),
            ExprKind::Class(set) => system.add(Kind::Literal(set.min_len()), &[]),
            ExprKind::Rule(name) => match (self.resolve)(name) {
                Some(rule) => system.add(Kind::Deeper, &[rule as u32]),
                None => system.add(Kind::Any, &[]),
            },
            ExprKind::Seq(_) => self.node(expr),
            ExprKind::Choice(alternatives) => {
                let live = alternatives.iter().filter(|alternative| alternative.is_live());
                let children: Vec<u32> = live.map(|alternative| self.node(&alternative.expr)).collect();
                self.system.add(Kind::Any, &children)
            }
            // What is left out may have labels, too.
            ExprKind::Repeat { item, min, max } if *min == 0 || *max == Some(0) => {
                self.node(item);
                self.system.add(Kind::Literal(0), &[])
            }
            ExprKind::Repeat { item, min, .. } => {
                let child = self.node(item);
                self.system.add(Kind::Times(*min), &[child])
            }
        }
    }
}

/// Returns the facts of each rule of an IR from its bodies; `None` for rules without a body or without a finite string.
pub fn of_ir(ir: &Ir) -> Vec<Option<Facts>> {
    let mut system = System::default();
    let rules = ir.rules().len();
    for _ in 0..rules {
        system.add(Kind::Same, &[]);
    }
    // Nodes are numbered after the rules; children come before their parents in the arena.
    let id = |node: NodeId| (rules + node.index()) as u32;
    // The body of an instance can be referenced from any place: by a rule or by an inlined instance.
    let homes = ir.homes();
    for index in 0..ir.node_count() {
        let node = NodeId::new(index);
        let children: Vec<u32> = ir.children(node).iter().map(|&child| id(child)).collect();
        let parts = ir.node(node);
        if let Some(rule) = parts.instance() {
            match children.first().copied().or(homes[rule.index()].map(id)) {
                Some(home) => system.add(Kind::Deeper, &[home]),
                None => system.add(Kind::Any, &[]),
            };
        } else if let Some(Rounds { min: min @ 1.., .. }) = parts.rounds() {
            system.add(Kind::Times(min), &children);
        } else if parts.choice().is_some() {
            system.add(Kind::Any, &children);
        } else if parts.items().is_some() {
            system.add(Kind::All(children.len() as u32), &children);
        } else if let Some((codec, _)) = parts.coded() {
            system.add(Kind::Coded(codec), &children);
        } else if let (Some(&child), true) = (children.first(), parts.has_labels()) {
            match parts.first() {
                First::Times(_, 0) => system.add(Kind::Literal(0), &[]),
                First::Times(_, 1) => {
                    let naming = parts.naming().map(|(naming, _)| naming);
                    let room = naming.map_or(0, |naming| ir.uniques(ir.children(node)[0]).room(naming));
                    let longer = parts.scope().map_or(0, |scope| scope.longer);
                    system.add(Kind::Plus(room.saturating_add(longer)), &[child])
                }
                First::Times(_, rounds) => system.add(Kind::Times(rounds), &[child]),
                First::Bytes(_) | First::Member(_) | First::Instance(_) => system.add(Kind::Same, &[child]),
            };
        } else {
            // What a leaf is itself counts, not the facts that are to be checked. A repetition that may have no rounds
            // adds nothing.
            let literal = parts.literal().map(|bytes| bytes.len() as u64);
            let class = parts.class().map(|set| set.min_len());
            let own = literal.or(class).or(parts.rounds().map(|_| 0));
            system.add(Kind::Literal(own.unwrap_or_else(|| ir.facts(node).min_len)), &[]);
        }
    }
    for (rule, body) in ir.bodies() {
        system.edges.push((id(body), rule.index() as u32));
    }
    facts_of_first(&system, system.solve(false), rules)
}

fn facts_of_first(system: &System, by_len: Vec<Option<Cost>>, count: usize) -> Vec<Option<Facts>> {
    let by_depth = system.solve(true);
    (0..count)
        .map(|rule| {
            let (min_len, height) = by_len[rule]?;
            let (_, min_depth) = by_depth[rule]?;
            Some(Facts { min_len, height, min_depth })
        })
        .collect()
}
