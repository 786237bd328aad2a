//! Texts that can be stretched to any depth or length: where rules contain themselves, and where something repeats
//! without a bound. And the places of short parts in short texts.
//!
//! The text of a part does not depend on what is around it, so all of these are strings that are put one after the
//! other: no derivation of such a text has to be made.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use gramjet_compiler::ir::{Composition, Ir, NodeId, RuleId};

use super::{Derivation, Deriver, Extent, Node, OpenSite};

/// Texts around a place that are longer than this, in bytes, are left out.
const LONGEST: usize = 1 << 12;
/// References that all searches for short ways from rule to rule look at together.
const MOST_STEPS: usize = 1 << 21;
/// Texts with repetitions at all places, and texts of a round that each has.
const MOST_REPEATED: usize = 512;
const MOST_ROUNDS: usize = 8;
/// Places of a rule that are looked at, and texts of all.
const MOST_AROUND: usize = 64;
const MOST_KNOWN: usize = 1 << 13;
/// Rules that lead to one with several options.
const RENAMED: usize = 4;
/// At most this many places are returned of the same parts elsewhere.
const MOST_PLACES: usize = 1 << 12;
/// References and repetitions that are looked at.
const MOST_FOUND: usize = 1 << 16;

/// The text before and after a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Around {
    /// The text before it.
    pub before: Vec<u8>,
    /// The text after it.
    pub after: Vec<u8>,
}

impl Around {
    /// Returns the number of bytes of both texts.
    pub fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Returns true if nothing is around the place.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Returns what is around a place that is itself at the place that this is around.
    fn with(&self, inner: &Around) -> Around {
        Around { before: [&self.before[..], &inner.before].concat(), after: [&inner.after[..], &self.after].concat() }
    }

    /// Writes a text with this in its place.
    pub fn write(&self, inner: &[u8], text: &mut Vec<u8>) {
        text.clear();
        text.extend_from_slice(&self.before);
        text.extend_from_slice(inner);
        text.extend_from_slice(&self.after);
    }
}

/// A short text with a part that can be put around itself, or repeated, any number of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The name of the rule that contains itself, or has the repetition.
    pub rule: String,
    /// Whether a rule contains itself. Else something repeats.
    pub is_nested: bool,
    /// The text around all levels.
    pub around: Around,
    /// The text that each level adds.
    pub each: Around,
    /// The innermost text.
    pub inner: Vec<u8>,
}

impl Stretch {
    /// Returns the length of the text with this many levels, in bytes.
    pub fn len(&self, levels: usize) -> usize {
        self.each.len().saturating_mul(levels).saturating_add(self.around.len() + self.inner.len())
    }

    /// Writes the text with this many levels, which is in the language if the repetition has to have no more.
    pub fn write(&self, levels: usize, text: &mut Vec<u8>) {
        self.write_open(levels, text);
        text.extend_from_slice(&self.inner);
        (0..levels).for_each(|_| text.extend_from_slice(&self.each.after));
        text.extend_from_slice(&self.around.after);
    }

    /// Writes the beginning of the text with this many levels, in which nothing is closed.
    pub fn write_open(&self, levels: usize, text: &mut Vec<u8>) {
        text.clear();
        text.extend_from_slice(&self.around.before);
        (0..levels).for_each(|_| text.extend_from_slice(&self.each.before));
    }
}

/// A reference from a rule to a rule.
#[derive(Debug)]
struct Reference {
    from: usize,
    to: usize,
    around: Around,
}

/// A repetition without a greatest number of rounds.
#[derive(Debug)]
struct Endless {
    rule: usize,
    around: Around,
    item: Vec<u8>,
    node: NodeId,
    /// Rules that a round refers to.
    rules: Vec<usize>,
}

/// The references and repetitions of a grammar, and for each rule the references from it.
#[derive(Debug, Default)]
struct Found {
    references: Vec<Reference>,
    endless: Vec<Endless>,
    from: BTreeMap<usize, Vec<usize>>,
}

/// Shortest ways from a rule, in bytes: for each rule that it reaches, the last reference of the way.
type Ways = BTreeMap<usize, Option<usize>>;

impl Found {
    fn ways(&self, rule: usize, left: &mut usize) -> Ways {
        let mut ways = Ways::new();
        let mut open = BinaryHeap::from([Reverse((0, rule, None))]);
        while let Some(Reverse((len, at, last))) = open.pop() {
            if ways.contains_key(&at) {
                continue;
            }
            ways.insert(at, last);
            for &number in self.from.get(&at).into_iter().flatten() {
                let Some(rest) = left.checked_sub(1) else { return ways };
                *left = rest;
                let Reference { to, around, .. } = &self.references[number];
                if !ways.contains_key(to) {
                    // Of two ways with equally long texts, the one with fewer references is taken.
                    open.push(Reverse((len + 2 * around.len() + 1, *to, Some(number))));
                }
            }
        }
        ways
    }

    /// Returns the rules among these that are words. A rule is one if all rules that it refers to are: a rule that
    /// reaches a cycle is none.
    fn words(&self, reached: &Ways) -> BTreeSet<usize> {
        let mut is_word: BTreeSet<usize> = BTreeSet::new();
        loop {
            let before = is_word.len();
            for &rule in reached.keys() {
                let mut references = self.from.get(&rule).into_iter().flatten();
                if references.all(|&number| is_word.contains(&self.references[number].to)) {
                    is_word.insert(rule);
                }
            }
            if is_word.len() == before {
                return is_word;
            }
        }
    }

    /// Returns the references of the way to a rule, and the text around it; `None` if there is no way, or the text is
    /// too long.
    fn way(&self, ways: &Ways, to: usize) -> Option<(Vec<usize>, Around)> {
        let (mut references, mut around, mut at) = (Vec::new(), Around::default(), to);
        while let Some(number) = *ways.get(&at)? {
            let reference = &self.references[number];
            around = reference.around.with(&around);
            if around.len() > LONGEST {
                return None;
            }
            references.push(number);
            at = reference.from;
        }
        Some((references, around))
    }
}

impl Deriver {
    /// Returns texts that can be stretched, in the order of the rules: for each rule the one with the shortest level
    /// first. Each has a level, or surroundings, that no other has.
    pub fn stretches(&mut self) -> Vec<Stretch> {
        let found = self.found();
        let mut left = MOST_STEPS;
        let start = self.ir().start().index();
        let from_start = found.ways(start, &mut left);
        let mut stretches: BTreeMap<usize, Vec<Stretch>> = BTreeMap::new();
        let (mut cycles, mut known) = (BTreeSet::new(), BTreeSet::new());
        let mut by_target: Vec<usize> = (0..found.references.len()).collect();
        by_target.sort_by_key(|&number| found.references[number].to);
        let mut back: Option<(usize, Ways)> = None;
        for number in by_target {
            let reference = &found.references[number];
            if back.as_ref().is_none_or(|(rule, _)| *rule != reference.to) {
                back = Some((reference.to, found.ways(reference.to, &mut left)));
            }
            let Some((_, ways)) = &back else { continue };
            let Some((mut cycle, way)) = found.way(ways, reference.from) else { continue };
            cycle.push(number);
            cycle.sort_unstable();
            let each = reference.around.with(&way);
            if each.is_empty() || each.len() > LONGEST || !cycles.insert(cycle) || !known.insert(each.clone()) {
                continue;
            }
            let rule = reference.from;
            let around = found.way(&from_start, rule);
            if let (Some((_, around)), Some(inner)) = (around, self.least_of_rule(rule)) {
                let name = self.ir().rule(RuleId::new(rule)).name.clone();
                let stretch = Stretch { rule: name, is_nested: true, around, each, inner };
                stretches.entry(rule).or_default().push(stretch);
            }
        }
        let mut nested = in_turns(stretches);
        let mut repeated: BTreeMap<usize, Vec<Stretch>> = BTreeMap::new();
        let mut known = BTreeSet::new();
        for endless in &found.endless {
            let Some((_, around)) = found.way(&from_start, endless.rule) else { continue };
            let around = around.with(&endless.around);
            let each = Around { before: endless.item.clone(), after: Vec::new() };
            if !each.is_empty() && known.insert((around.clone(), each.clone())) {
                let rule = self.ir().rule(RuleId::new(endless.rule)).name.clone();
                let stretch = Stretch { rule, is_nested: false, around, each, inner: Vec::new() };
                repeated.entry(endless.rule).or_default().push(stretch);
            }
        }
        nested.extend(in_turns(repeated));
        nested
    }

    /// Returns short texts with a repetition that has no bound: wherever the rule stands that has it, and with each of
    /// the first texts that a round can be. They take turns, so the first ones are as different as they can be.
    pub fn repetitions(&mut self) -> Vec<Stretch> {
        let found = self.found();
        let mut left = MOST_STEPS;
        let from_start = found.ways(self.ir().start().index(), &mut left);
        let mut known = BTreeSet::new();
        let mut repeated: BTreeMap<usize, Vec<Stretch>> = BTreeMap::new();
        for (number, endless) in found.endless.iter().enumerate() {
            let rounds = self.rounds_of(endless.node, &endless.item);
            let way = |rule: usize| found.way(&from_start, rule).map(|(_, around)| around);
            if known.len() >= MOST_KNOWN {
                break;
            }
            let references = found.references.iter().filter(|reference| reference.to == endless.rule).take(MOST_AROUND);
            let places = references.filter_map(|reference| Some(way(reference.from)?.with(&reference.around)));
            let places: Vec<Around> = way(endless.rule).into_iter().chain(places).collect();
            for round in &rounds {
                for place in &places {
                    let (around, each) =
                        (place.with(&endless.around), Around { before: round.clone(), after: Vec::new() });
                    if around.len() > LONGEST || !known.insert((around.clone(), each.clone())) {
                        continue;
                    }
                    let rule = self.ir().rule(RuleId::new(endless.rule)).name.clone();
                    let stretch = Stretch { rule, is_nested: false, around, each, inner: Vec::new() };
                    repeated.entry(number).or_default().push(stretch);
                }
            }
        }
        let mut all = in_turns(repeated);
        all.truncate(MOST_REPEATED);
        all
    }

    /// Returns short texts that a round can be: one for each of the first options, if it is a choice.
    fn rounds_of(&mut self, item: NodeId, least: &[u8]) -> Vec<Vec<u8>> {
        let mut node = item;
        for _ in 0..RENAMED {
            let Some(rule) = self.ir().node(node).instance() else { break };
            let Some(body) = self.ir().bodies().find(|(of, _)| *of == rule).map(|(_, body)| body) else { break };
            node = body;
        }
        let mut rounds = vec![least.to_vec()];
        if let Composition::One(choice) = self.ir().node(node).composition() {
            let options: Vec<NodeId> = choice.options.iter().take(MOST_ROUNDS).copied().collect();
            let mut known = BTreeMap::new();
            rounds.extend(options.into_iter().filter_map(|option| self.round(option, &mut known)));
        }
        rounds.retain(|round| !round.is_empty());
        rounds.sort();
        rounds.dedup();
        rounds
    }

    /// Returns what is around each rule that reaches no rule which contains itself, and around the rounds of each
    /// repetition without a bound that has no such rule, in a short text; each once.
    pub fn places(&mut self) -> Vec<Around> {
        let found = self.found();
        let mut left = MOST_STEPS;
        let from_start = found.ways(self.ir().start().index(), &mut left);
        let is_word = found.words(&from_start);
        let words = is_word.iter().filter_map(|&rule| Some(found.way(&from_start, rule)?.1));
        let plain = found.endless.iter().filter(|endless| endless.rules.iter().all(|rule| is_word.contains(rule)));
        let rounds = plain.filter_map(|endless| Some(found.way(&from_start, endless.rule)?.1.with(&endless.around)));
        let mut known = BTreeSet::new();
        words.chain(rounds).filter(|around| known.insert(around.clone())).collect()
    }

    /// Returns the places of [`Deriver::places`], and then those that the same parts have elsewhere: around each
    /// reference from a rule which contains itself, or reaches one that does, to one that does not, and around all that
    /// the latter reaches.
    pub fn all_places(&mut self) -> Vec<Around> {
        let found = self.found();
        let mut left = MOST_STEPS;
        let from_start = found.ways(self.ir().start().index(), &mut left);
        let is_word = found.words(&from_start);
        let is_plain = |endless: &&Endless| endless.rules.iter().all(|rule| is_word.contains(rule));
        // What is around each part of a word, in the word.
        let mut parts: BTreeMap<usize, Vec<Around>> = BTreeMap::new();
        let mut places = self.places();
        let mut known: BTreeSet<Around> = places.iter().cloned().collect();
        for reference in &found.references {
            if is_word.contains(&reference.from) || !is_word.contains(&reference.to) {
                continue;
            }
            let Some((_, outer)) = found.way(&from_start, reference.from) else { continue };
            let outer = outer.with(&reference.around);
            let parts = parts.entry(reference.to).or_insert_with(|| {
                let ways = found.ways(reference.to, &mut left);
                let rules = ways.keys().filter_map(|&rule| Some(found.way(&ways, rule)?.1));
                let plain = found.endless.iter().filter(is_plain);
                let rounds = plain.filter_map(|endless| Some(found.way(&ways, endless.rule)?.1.with(&endless.around)));
                rules.chain(rounds).collect()
            });
            for place in parts.iter().map(|part| outer.with(part)) {
                if places.len() >= MOST_PLACES {
                    return places;
                }
                if place.len() <= LONGEST && known.insert(place.clone()) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// Finds the references and the endless repetitions in the bodies of all rules.
    fn found(&mut self) -> Found {
        let mut found = Found::default();
        let bodies: Vec<(RuleId, NodeId)> = self.ir().bodies().collect();
        let mut least = BTreeMap::new();
        for (rule, body) in bodies {
            self.find_in(rule.index(), body, &mut least, &mut found);
        }
        for (number, reference) in found.references.iter().enumerate() {
            found.from.entry(reference.from).or_default().push(number);
        }
        found
    }

    fn find_in(&mut self, rule: usize, body: NodeId, least: &mut BTreeMap<usize, Option<Vec<u8>>>, found: &mut Found) {
        let mut open = vec![(body, Around::default())];
        while let Some((node, around)) = open.pop() {
            if found.references.len() + found.endless.len() > MOST_FOUND {
                return;
            }
            // The children, with the nodes that stand before and after each.
            let mut within: Vec<(NodeId, Vec<NodeId>, Vec<NodeId>)> = Vec::new();
            let mut repeated = None;
            match self.ir().node(node).composition() {
                Composition::Bytes(_) | Composition::Class(_) => {}
                // A text around something is not copied where bytes follow from others.
                Composition::Derived(_)
                | Composition::Times { .. }
                | Composition::Label(..)
                | Composition::Scope(_)
                | Composition::Naming(..)
                | Composition::Coded(..) => {}
                Composition::Instance(to, _) => {
                    found.references.push(Reference { from: rule, to: to.index(), around: around.clone() });
                }
                Composition::All(items) => {
                    let one = |at: usize| (items[at], items[..at].to_vec(), items[at + 1..].to_vec());
                    within.extend((0..items.len()).filter(|&at| !is_leaf(self.ir(), items[at])).map(one));
                }
                Composition::One(choice) => {
                    within.extend(choice.options.iter().map(|&option| (option, Vec::new(), Vec::new())));
                }
                Composition::Rounds { max: Some(0), .. } => {}
                Composition::Rounds { item, min, max } => {
                    // With more rounds than this, the text would be too long.
                    let others = (min.saturating_sub(1) as usize).min(LONGEST + 1);
                    within.push((item, Vec::new(), vec![item; others]));
                    repeated = max.is_none().then_some(item);
                }
            }
            if let Some(item) = repeated
                && let Some(text) = self.round(item, least)
            {
                let rules = rules_in(self.ir(), item);
                found.endless.push(Endless { rule, around: around.clone(), item: text, node: item, rules });
            }
            for (inner, before, after) in within {
                let (Some(before), Some(after)) = (self.least_of(&before, least), self.least_of(&after, least)) else {
                    continue;
                };
                let around = around.with(&Around { before, after });
                if around.len() <= LONGEST {
                    open.push((inner, around));
                }
            }
        }
    }

    /// Returns a short text of a round that is not empty.
    fn round(&mut self, item: NodeId, least: &mut BTreeMap<usize, Option<Vec<u8>>>) -> Option<Vec<u8>> {
        if let Composition::Class(set) = self.ir().node(item).composition() {
            // A letter is more usual than what comes first, which may be a control character.
            let member = [b'a', b'A', b'0', b' '].into_iter().map(u32::from).find(|&member| set.contains(member));
            return Some(set.encode(member.or(set.nth(0))?).as_ref().to_vec());
        }
        self.least_of(&[item], least)
    }

    /// Returns the shortest text of nodes one after the other; `None` if it is too long.
    fn least_of(&mut self, nodes: &[NodeId], least: &mut BTreeMap<usize, Option<Vec<u8>>>) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for &node in nodes {
            let known = match least.get(&node.index()) {
                Some(known) => known.clone(),
                None => {
                    let made = self.least(Node::Node(node));
                    least.insert(node.index(), made.clone());
                    made
                }
            };
            text.extend(known?);
            if text.len() > LONGEST {
                return None;
            }
        }
        Some(text)
    }

    fn least_of_rule(&mut self, rule: usize) -> Option<Vec<u8>> {
        self.least(Node::Rule(RuleId::new(rule)))
    }

    fn least(&mut self, part: Node) -> Option<Vec<u8>> {
        if self.min_len_of(self.grammar.symbol(part)) > LONGEST as u64 {
            return None;
        }
        let mut made = Derivation::default();
        self.run((part, 0), Some(0), &[], &mut |_: &OpenSite<'_>| 0, Extent::NoParts, &mut made);
        (made.text.len() <= LONGEST).then_some(made.text)
    }
}

/// Returns true if nothing in the node refers to a rule or repeats.
fn is_leaf(ir: &Ir, node: NodeId) -> bool {
    matches!(ir.node(node).composition(), Composition::Bytes(_) | Composition::Class(_))
}

/// Returns the rules that a node refers to.
fn rules_in(ir: &Ir, node: NodeId) -> Vec<usize> {
    let (mut open, mut rules) = (vec![node], Vec::new());
    while let Some(node) = open.pop() {
        rules.extend(ir.node(node).instance().map(RuleId::index));
        open.extend(ir.children(node));
    }
    rules
}

/// Returns the first of each rule, then the second, and so on; those with the shortest levels first.
fn in_turns(mut stretches: BTreeMap<usize, Vec<Stretch>>) -> Vec<Stretch> {
    for of_rule in stretches.values_mut() {
        of_rule.sort_by_key(|stretch| stretch.each.len());
    }
    let mut ranked: Vec<(usize, Stretch)> =
        stretches.into_values().flat_map(|of_rule| of_rule.into_iter().enumerate()).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, stretch)| stretch).collect()
}
