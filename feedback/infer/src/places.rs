//! Places that take the same texts: the nonterminals of the grammar.
//!
//! Two nodes are in one class if the oracle accepts the same probes in the place of either, and each in the place of
//! the other (Arvada's test). A sequence of siblings that passes the test becomes a node of its own, a bubble.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::asked::Asked;
use crate::lex::TokenKind;
use crate::probes::{self, Probe};
use crate::tree::{Forest, NodeKind};

/// Symbol that a node is to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Symbol {
    /// A class of places.
    Class(usize),
    /// A set of marks that can stand for each other.
    Marks(usize),
    /// White space that is a token.
    Blank(TokenKind),
}

/// Places that take the same texts.
#[derive(Debug, Default)]
pub(crate) struct Class {
    /// Answers to the probes: true for those that are accepted.
    pub accepted: Vec<bool>,
    /// Some of the places.
    pub places: Vec<(usize, Range<usize>)>,
    /// Some texts that are not probes.
    texts: Vec<Vec<u8>>,
    /// Whether its places are segments. These are a class of their own even if they have one token each.
    pub is_segment: bool,
    pub members: Vec<usize>,
}

/// Contents of brackets, or whole samples, that take the same texts.
#[derive(Debug)]
pub(crate) struct Content {
    accepted: Vec<bool>,
    pub accepts_nothing: bool,
    pub members: Vec<usize>,
}

/// A mark, and whether it follows an operand.
type Mark = (Vec<u8>, bool);

/// The classes of a forest.
pub(crate) struct Classes {
    pub probes: Vec<Probe>,
    pub classes: Vec<Class>,
    pub contents: Vec<Content>,
    /// The marks of each set.
    pub marks: Vec<BTreeSet<Mark>>,
    /// By node.
    pub symbols: BTreeMap<usize, Symbol>,
    /// The number of the content, by node.
    pub content_of: BTreeMap<usize, usize>,
    /// The class of a place with these surroundings, and how often it was found.
    known: BTreeMap<Vec<u8>, (usize, u32)>,
}

/// Places of a class that are kept.
const PLACES: usize = 8;
/// Texts of a class that are kept.
const TEXTS: usize = 5;

impl Classes {
    pub fn new(forest: &Forest) -> Classes {
        Classes {
            probes: probes::probes(forest),
            classes: Vec::new(),
            contents: Vec::new(),
            marks: Vec::new(),
            symbols: BTreeMap::new(),
            content_of: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// Gives each node a class. Bubbles are not looked for.
    pub fn find(forest: &Forest, asked: &mut Asked<'_>) -> Classes {
        let mut classes = Classes::new(forest);
        classes.find_marks(forest, asked);
        classes.find_contents(forest, asked);
        classes.find_children(forest, asked);
        classes
    }

    pub fn symbol(&self, node: usize) -> Symbol {
        self.symbols[&node]
    }

    /// Returns the class of a node; `None` for marks and blanks.
    pub fn class_of(&self, node: usize) -> Option<usize> {
        match self.symbols.get(&node) {
            Some(Symbol::Class(class)) => Some(*class),
            _ => None,
        }
    }

    /// Returns true if a word that no sample has can stand in the places of a class.
    pub fn is_open(&self, class: usize) -> bool {
        self.takes(class, |probe| probe.node.is_none() && probe.is_fresh_word())
    }

    /// Returns true if brackets can stand in the places of a class.
    pub fn takes_groups(&self, forest: &Forest, class: usize) -> bool {
        self.takes(class, |probe| probe.node.is_some_and(|node| matches!(forest.nodes[node].kind, NodeKind::Group(_))))
    }

    fn takes(&self, class: usize, is_wanted: impl Fn(&Probe) -> bool) -> bool {
        self.probes.iter().zip(&self.classes[class].accepted).any(|(probe, &accepted)| accepted && is_wanted(probe))
    }

    fn find_children(&mut self, forest: &Forest, asked: &mut Asked<'_>) {
        for parent in 0..forest.nodes.len() {
            for (at, &child) in forest.nodes[parent].children.iter().enumerate() {
                let kind = forest.nodes[child].kind;
                if let NodeKind::Token(kind @ (TokenKind::Space | TokenKind::Line)) = kind {
                    self.symbols.insert(child, Symbol::Blank(kind));
                }
                if kind.is_mark() || kind.is_blank() {
                    continue;
                }
                let surroundings = self.surroundings(forest, parent, at);
                let known = self.known.get(&surroundings).copied();
                let class = match known {
                    Some((class, 2)) => class,
                    _ => self.classify(forest, child, asked),
                };
                let is_same = known.is_some_and(|(before, _)| before == class);
                let count = if is_same { known.map_or(1, |(_, count)| (count + 1).min(2)) } else { 1 };
                self.known.insert(surroundings, (class, count));
                self.add(forest, class, child);
            }
        }
    }

    /// Returns what tells a place from others at first sight.
    fn surroundings(&self, forest: &Forest, parent: usize, at: usize) -> Vec<u8> {
        let children = &forest.nodes[parent].children;
        let content = self.content_of.get(&parent);
        let mut key = format!("{:?} {content:?}", forest.nodes[parent].kind).into_bytes();
        for near in [at.checked_sub(2), at.checked_sub(1), Some(at), Some(at + 1)] {
            key.push(0);
            let Some(&node) = near.and_then(|at| children.get(at)) else { continue };
            shape(forest, node, &mut key);
        }
        key
    }

    /// Adds a node to a class.
    pub fn add(&mut self, forest: &Forest, class: usize, node: usize) {
        let one = &mut self.classes[class];
        let place = (forest.nodes[node].sample, forest.nodes[node].span.clone());
        keep(&mut one.places, place, PLACES, one.members.len());
        let text = forest.text(node).to_vec();
        let is_probe = self.probes.iter().any(|probe| probe.text == text);
        if !is_probe && !one.texts.contains(&text) {
            keep(&mut one.texts, text, TEXTS, one.members.len());
        }
        one.members.push(node);
        self.symbols.insert(node, Symbol::Class(class));
    }

    /// Returns the class of a leaf or group, which may be new.
    fn classify(&mut self, forest: &Forest, node: usize, asked: &mut Asked<'_>) -> usize {
        let (sample, span) = (forest.nodes[node].sample, forest.nodes[node].span.clone());
        let accepted: Vec<bool> =
            self.probes.iter().map(|probe| forest.takes(sample, &span, &probe.text, asked)).collect();
        let is_segment = forest.nodes[node].kind == NodeKind::Segment;
        let is_alike = |class: &Class| class.is_segment == is_segment && class.accepted == accepted;
        let alike = (0..self.classes.len()).filter(|&class| is_alike(&self.classes[class]));
        let found = { alike }.find(|&class| self.is_mutual(forest, class, sample, &span, asked));
        found.unwrap_or_else(|| {
            self.classes.push(Class { accepted, is_segment, ..Class::default() });
            self.classes.len() - 1
        })
    }

    /// Returns true if the texts of a class can stand in a place, and the place's text in those of the class.
    fn is_mutual(
        &self,
        forest: &Forest,
        class: usize,
        sample: usize,
        span: &Range<usize>,
        asked: &mut Asked<'_>,
    ) -> bool {
        let class = &self.classes[class];
        let text = &forest.samples[sample].text[span.clone()];
        class.texts.iter().all(|text| forest.takes(sample, span, text, asked))
            && class.places.iter().all(|(sample, place)| forest.takes(*sample, place, text, asked))
    }

    /// Returns the class, of segments or not, whose texts a sequence of siblings can stand for.
    pub fn class_of_window(
        &self,
        forest: &Forest,
        is_segment: bool,
        sample: usize,
        span: &Range<usize>,
        asked: &mut Asked<'_>,
    ) -> Option<usize> {
        let mut left: Vec<usize> =
            (0..self.classes.len()).filter(|&class| self.classes[class].is_segment == is_segment).collect();
        for (number, probe) in self.probes.iter().enumerate() {
            if left.is_empty() {
                return None;
            }
            let accepted = forest.takes(sample, span, &probe.text, asked);
            left.retain(|&class| self.classes[class].accepted[number] == accepted);
        }
        left.into_iter().find(|&class| self.is_mutual(forest, class, sample, span, asked))
    }

    /// Finds the sets of marks that can stand for each other wherever they occur.
    fn find_marks(&mut self, forest: &Forest, asked: &mut Asked<'_>) {
        let mut found: BTreeMap<Mark, Vec<usize>> = BTreeMap::new();
        for parent in &forest.nodes {
            let mut is_after_operand = false;
            for &child in &parent.children {
                let kind = forest.nodes[child].kind;
                if kind.is_mark() {
                    found.entry((forest.text(child).to_vec(), is_after_operand)).or_default().push(child);
                }
                if !kind.is_blank() {
                    is_after_operand = !kind.is_mark();
                }
            }
        }
        for (mark, nodes) in &found {
            let set = (0..self.marks.len()).find(|&set| {
                let mut others = self.marks[set].iter();
                others.all(|other| {
                    other.1 == mark.1
                        && are_swappable(forest, nodes, &other.0, asked)
                        && are_swappable(forest, &found[other], &mark.0, asked)
                })
            });
            let set = set.unwrap_or_else(|| {
                self.marks.push(BTreeSet::new());
                self.marks.len() - 1
            });
            self.marks[set].insert(mark.clone());
            self.symbols.extend(nodes.iter().map(|&node| (node, Symbol::Marks(set))));
        }
    }

    fn find_contents(&mut self, forest: &Forest, asked: &mut Asked<'_>) {
        let mut known: BTreeMap<Vec<u8>, (usize, u32)> = BTreeMap::new();
        let parents = parents(forest);
        for node in 0..forest.nodes.len() {
            let (NodeKind::Group(_) | NodeKind::Root) = forest.nodes[node].kind else { continue };
            let mut key = Vec::new();
            shape(forest, node, &mut key);
            if let Some(&(parent, at)) = parents.get(&node) {
                key.extend(self.surroundings(forest, parent, at));
            }
            let number = match known.get(&key) {
                Some(&(number, 2)) => number,
                _ => self.content(forest, node, asked),
            };
            let count =
                known.get(&key).filter(|(before, _)| *before == number).map_or(1, |(_, count)| (count + 1).min(2));
            known.insert(key, (number, count));
            self.contents[number].members.push(node);
            self.content_of.insert(node, number);
        }
    }

    /// Returns the number of the content of brackets or a sample, which may be new.
    fn content(&mut self, forest: &Forest, node: usize, asked: &mut Asked<'_>) -> usize {
        let kind = forest.nodes[node].kind;
        let is_root = |content: &Content| forest.nodes[content.members[0]].kind == NodeKind::Root;
        let (sample, span) = (forest.nodes[node].sample, forest.content(node));
        if kind == NodeKind::Root
            && let Some(number) = self.contents.iter().position(is_root)
        {
            let takes_nothing = asked.accepts(&forest.with(sample, &span, b""));
            self.contents[number].accepts_nothing |= takes_nothing;
            return number;
        }
        let accepted: Vec<bool> =
            self.probes.iter().map(|probe| asked.accepts(&forest.with(sample, &span, &probe.text))).collect();
        let accepts_nothing = asked.accepts(&forest.with(sample, &span, b""));
        let text = forest.samples[sample].text[span.clone()].to_vec();
        let found = self.contents.iter().position(|content| {
            let member = content.members[0];
            let place = (forest.nodes[member].sample, forest.content(member));
            let other = forest.samples[place.0].text[place.1.clone()].to_vec();
            content.accepted == accepted
                && content.accepts_nothing == accepts_nothing
                && forest.nodes[member].kind == kind
                && asked.accepts(&forest.with(place.0, &place.1, &text))
                && asked.accepts(&forest.with(sample, &span, &other))
        });
        found.unwrap_or_else(|| {
            self.contents.push(Content { accepted, accepts_nothing, members: Vec::new() });
            self.contents.len() - 1
        })
    }
}

/// Keeps some of many: the first ones, then later ones in place of these, ever more rarely.
fn keep<T>(kept: &mut Vec<T>, one: T, most: usize, before: usize) {
    if kept.len() < most {
        kept.push(one);
    } else if before.is_power_of_two() {
        // Later ones are often of another sort.
        kept[before.ilog2() as usize % most] = one;
    }
}

/// Returns the parent of each node, and its place among the siblings.
fn parents(forest: &Forest) -> BTreeMap<usize, (usize, usize)> {
    let mut parents = BTreeMap::new();
    for (parent, node) in forest.nodes.iter().enumerate() {
        parents.extend(node.children.iter().enumerate().map(|(at, &child)| (child, (parent, at))));
    }
    parents
}

/// Writes the shape of a node: its kind, with the text of marks and words, and that of the children of a segment.
fn shape(forest: &Forest, node: usize, out: &mut Vec<u8>) {
    let kind = forest.nodes[node].kind;
    out.extend(format!("{kind:?}").bytes());
    if kind.is_mark() || kind.is_word() {
        out.extend(forest.text(node));
    }
    if kind == NodeKind::Segment {
        let children = forest.nodes[node].children.iter().take(12);
        for &child in children {
            out.extend(format!("{:?}", forest.nodes[child].kind).bytes());
            out.extend(
                forest
                    .text(child)
                    .iter()
                    .filter(|_| forest.nodes[child].kind.is_mark() || forest.nodes[child].kind.is_word()),
            );
        }
    }
}

fn are_swappable(forest: &Forest, nodes: &[usize], mark: &[u8], asked: &mut Asked<'_>) -> bool {
    // The first and the last, and some between.
    let step = (nodes.len() / 5).max(1);
    nodes.iter().step_by(step).chain(nodes.last()).all(|&node| {
        let one = &forest.nodes[node];
        asked.accepts(&forest.with(one.sample, &one.span, mark))
    })
}
