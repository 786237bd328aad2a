//! Places that take the same texts: the nonterminals of the grammar.
//!
//! Two nodes are in one class if the oracle accepts the same probes in the place of either, and each in the place of the
//! other (Arvada's test). A sequence of siblings that passes the test becomes a node of its own, a bubble.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::asked::Asked;
use crate::tree::{Forest, Kind};

/// What a node is to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Symbol {
    /// A class of places.
    Class(usize),
    /// A set of marks that can stand for each other.
    Marks(usize),
    Blank(Kind),
}

/// A text of the samples that is tried in many places.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub text: Vec<u8>,
    /// The node that it is the text of; none for the contents of brackets and for made-up texts.
    pub node: Option<usize>,
}

/// Places that take the same texts.
#[derive(Debug, Default)]
pub(crate) struct Class {
    /// Which probes are accepted.
    pub accepted: Vec<bool>,
    /// Some of the places.
    pub places: Vec<(usize, Range<usize>)>,
    /// Some texts that are not probes.
    texts: Vec<Vec<u8>>,
    pub members: Vec<usize>,
}

/// Contents of brackets, or whole samples, that take the same texts.
#[derive(Debug)]
pub(crate) struct Content {
    accepted: Vec<bool>,
    pub accepts_nothing: bool,
    pub members: Vec<usize>,
}

pub(crate) struct Classes {
    pub probes: Vec<Probe>,
    pub classes: Vec<Class>,
    pub contents: Vec<Content>,
    /// The marks of each set.
    pub marks: Vec<BTreeSet<(u8, bool)>>,
    /// By node.
    pub symbols: BTreeMap<usize, Symbol>,
    /// The number of the content, by node.
    pub content_of: BTreeMap<usize, usize>,
    known: BTreeMap<Vec<u8>, (usize, u32)>,
}

/// A sequence of siblings, its neighbours, and the content that it is in.
type Window = (Option<Symbol>, Vec<Symbol>, Option<Symbol>, usize);

/// Places of a class that are kept.
const PLACES: usize = 8;
/// Texts of a class that are kept.
const TEXTS: usize = 4;
/// The longest sequence of siblings that is tried as a bubble.
const WINDOW: usize = 9;

impl Classes {
    pub fn find(forest: &mut Forest, asked: &mut Asked<'_>) -> Classes {
        let mut classes = Classes {
            probes: probes(forest),
            classes: Vec::new(),
            contents: Vec::new(),
            marks: Vec::new(),
            symbols: BTreeMap::new(),
            content_of: BTreeMap::new(),
            known: BTreeMap::new(),
        };
        classes.find_marks(forest, asked);
        classes.find_contents(forest, asked);
        classes.find_leaves(forest, asked);
        classes.find_bubbles(forest, asked);
        classes
    }

    pub fn symbol(&self, node: usize) -> Symbol {
        self.symbols[&node]
    }

    fn find_leaves(&mut self, forest: &Forest, asked: &mut Asked<'_>) {
        for parent in 0..forest.nodes.len() {
            let children = &forest.nodes[parent].children;
            for (at, &child) in children.iter().enumerate() {
                let kind = forest.nodes[child].kind;
                if kind.is_blank() {
                    self.symbols.insert(child, Symbol::Blank(kind));
                }
                if kind == Kind::Mark || kind.is_blank() {
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

    /// What tells a place from others at first sight.
    fn surroundings(&self, forest: &Forest, parent: usize, at: usize) -> Vec<u8> {
        let children = &forest.nodes[parent].children;
        let mut key = match forest.nodes[parent].kind {
            Kind::Group(open) => vec![open, self.content_of[&parent] as u8],
            _ => vec![0, 0],
        };
        let seen = |at: Option<usize>| at.and_then(|at| children.get(at)).copied();
        for near in [at.checked_sub(2), at.checked_sub(1), Some(at), Some(at + 1)] {
            key.push(0);
            let Some(node) = seen(near) else { continue };
            let kind = forest.nodes[node].kind;
            key.extend(format!("{kind:?}").bytes());
            if matches!(kind, Kind::Mark) || kind == Kind::Word && near != Some(at) {
                key.extend(forest.text(node));
            }
        }
        key
    }

    fn add(&mut self, forest: &Forest, class: usize, node: usize) {
        let one = &mut self.classes[class];
        let place = (forest.nodes[node].sample, forest.nodes[node].span.clone());
        if one.places.len() < PLACES {
            one.places.push(place);
        } else if one.members.len().is_power_of_two() {
            // Later places are often of another sort.
            let last = one.members.len().ilog2() as usize % PLACES;
            one.places[last] = place;
        }
        let text = forest.text(node).to_vec();
        let is_probe = self.probes.iter().any(|probe| probe.text == text);
        if !is_probe && one.texts.len() < TEXTS && !one.texts.contains(&text) {
            one.texts.push(text);
        }
        one.members.push(node);
        self.symbols.insert(node, Symbol::Class(class));
    }

    /// The class of a leaf or group, which may be new.
    fn classify(&mut self, forest: &Forest, node: usize, asked: &mut Asked<'_>) -> usize {
        let (sample, span) = (forest.nodes[node].sample, forest.nodes[node].span.clone());
        let accepted: Vec<bool> =
            self.probes.iter().map(|probe| asked.accepts(&forest.with(sample, &span, &probe.text))).collect();
        let alike = (0..self.classes.len()).filter(|&class| self.classes[class].accepted == accepted);
        let found = { alike }.find(|&class| self.is_mutual(forest, class, sample, &span, asked));
        found.unwrap_or_else(|| {
            self.classes.push(Class { accepted, ..Class::default() });
            self.classes.len() - 1
        })
    }

    /// Whether the texts of a class can stand in a place, and the place's text in those of the class.
    fn is_mutual(
        &self,
        forest: &Forest,
        class: usize,
        sample: usize,
        span: &Range<usize>,
        asked: &mut Asked<'_>,
    ) -> bool {
        let class = &self.classes[class];
        let text = &forest.texts[sample][span.clone()];
        asked.accepts_all(class.texts.iter().map(|text| forest.with(sample, span, text)))
            && asked.accepts_all(class.places.iter().map(|(sample, place)| forest.with(*sample, place, text)))
    }

    /// The class whose texts a sequence of siblings can stand for.
    fn class_of_window(
        &self,
        forest: &Forest,
        sample: usize,
        span: &Range<usize>,
        asked: &mut Asked<'_>,
    ) -> Option<usize> {
        let mut left: Vec<usize> = (0..self.classes.len()).collect();
        for (number, probe) in self.probes.iter().enumerate() {
            if left.is_empty() {
                return None;
            }
            let accepted = asked.accepts(&forest.with(sample, span, &probe.text));
            left.retain(|&class| self.classes[class].accepted[number] == accepted);
        }
        left.into_iter().find(|&class| self.is_mutual(forest, class, sample, span, asked))
    }

    /// Whether brackets can stand in the places of a class.
    fn takes_groups(&self, forest: &Forest, class: usize) -> bool {
        self.probes.iter().zip(&self.classes[class].accepted).any(|(probe, &accepted)| {
            accepted && probe.node.is_some_and(|node| matches!(forest.nodes[node].kind, Kind::Group(_)))
        })
    }

    /// Makes bubbles, the shortest first, until there are no more.
    fn find_bubbles(&mut self, forest: &mut Forest, asked: &mut Asked<'_>) {
        let mut decided: BTreeMap<Window, Option<usize>> = BTreeMap::new();
        let parents: Vec<usize> =
            (0..forest.nodes.len()).filter(|&node| !forest.nodes[node].children.is_empty()).collect();
        for parent in parents {
            let mut len = 1;
            while len <= forest.nodes[parent].children.len().min(WINDOW) {
                let mut at = 0;
                let mut is_changed = false;
                while at + len <= forest.nodes[parent].children.len() {
                    let children = &forest.nodes[parent].children;
                    let symbols: Vec<Symbol> = children[at..at + len].iter().map(|&node| self.symbol(node)).collect();
                    if symbols.iter().all(|symbol| matches!(symbol, Symbol::Blank(_)))
                        || len == 1 && !matches!(symbols[0], Symbol::Marks(_))
                    {
                        at += 1;
                        continue;
                    }
                    let before = at.checked_sub(1).map(|at| self.symbol(children[at]));
                    let after = children.get(at + len).map(|&node| self.symbol(node));
                    let span = forest.nodes[children[at]].span.start..forest.nodes[children[at + len - 1]].span.end;
                    let sample = forest.nodes[parent].sample;
                    let key = (before, symbols, after, self.content_of[&parent]);
                    let class = match decided.get(&key) {
                        Some(&class) => class,
                        None => self.class_of_window(forest, sample, &span, asked),
                    };
                    // A mark that stands where digits can is rarely one of them.
                    let class = class.filter(|&class| len > 1 || self.takes_groups(forest, class));
                    decided.insert(key, class);
                    if let Some(class) = class {
                        let bubble = forest.bubble(parent, at..at + len);
                        self.content_of.insert(bubble, usize::MAX);
                        self.add(forest, class, bubble);
                        is_changed = true;
                    } else {
                        at += 1;
                    }
                }
                len = if is_changed { 1 } else { len + 1 };
            }
        }
    }

    /// Finds the sets of marks that can stand for each other wherever they occur.
    fn find_marks(&mut self, forest: &Forest, asked: &mut Asked<'_>) {
        let mut found: BTreeMap<(u8, bool), Vec<usize>> = BTreeMap::new();
        for parent in &forest.nodes {
            let mut is_after_operand = false;
            for &child in &parent.children {
                let kind = forest.nodes[child].kind;
                if kind == Kind::Mark {
                    found.entry((forest.text(child)[0], is_after_operand)).or_default().push(child);
                }
                if !kind.is_blank() {
                    is_after_operand = kind != Kind::Mark;
                }
            }
        }
        for (&mark, nodes) in &found {
            let set = (0..self.marks.len()).find(|&set| {
                let others: Vec<(u8, bool)> = self.marks[set].iter().copied().collect();
                others.iter().all(|other| {
                    other.1 == mark.1
                        && are_swappable(forest, nodes, other.0, asked)
                        && are_swappable(forest, &found[other], mark.0, asked)
                })
            });
            let set = set.unwrap_or_else(|| {
                self.marks.push(BTreeSet::new());
                self.marks.len() - 1
            });
            self.marks[set].insert(mark);
            self.symbols.extend(nodes.iter().map(|&node| (node, Symbol::Marks(set))));
        }
    }

    fn find_contents(&mut self, forest: &Forest, asked: &mut Asked<'_>) {
        for node in 0..forest.nodes.len() {
            let (Kind::Group(_) | Kind::Root) = forest.nodes[node].kind else { continue };
            let (sample, span) = (forest.nodes[node].sample, forest.content(node));
            let accepted: Vec<bool> =
                self.probes.iter().map(|probe| asked.accepts(&forest.with(sample, &span, &probe.text))).collect();
            let accepts_nothing = asked.accepts(&forest.with(sample, &span, b""));
            let text = forest.texts[sample][span.clone()].to_vec();
            let is_like = |content: &&mut Content, asked: &mut Asked<'_>| {
                let member = content.members[0];
                let place = (forest.nodes[member].sample, forest.content(member));
                let other = forest.texts[place.0][place.1.clone()].to_vec();
                content.accepted == accepted
                    && content.accepts_nothing == accepts_nothing
                    && forest.nodes[member].kind == forest.nodes[node].kind
                    && asked.accepts(&forest.with(place.0, &place.1, &text))
                    && asked.accepts(&forest.with(sample, &span, &other))
            };
            let is_root = forest.nodes[node].kind == Kind::Root;
            let found = self.contents.iter_mut().position(|content| {
                is_root && forest.nodes[content.members[0]].kind == Kind::Root || is_like(&content, asked)
            });
            let number = found.unwrap_or_else(|| {
                self.contents.push(Content { accepted, accepts_nothing, members: Vec::new() });
                self.contents.len() - 1
            });
            self.contents[number].members.push(node);
            self.content_of.insert(node, number);
        }
    }
}

fn are_swappable(forest: &Forest, nodes: &[usize], mark: u8, asked: &mut Asked<'_>) -> bool {
    // The first and the last, and some between.
    let step = (nodes.len() / 5).max(1);
    nodes.iter().step_by(step).chain(nodes.last()).all(|&node| {
        let one = &forest.nodes[node];
        asked.accepts(&forest.with(one.sample, &one.span, &[mark]))
    })
}

/// Texts of all kinds.
fn probes(forest: &Forest) -> Vec<Probe> {
    let mut by_kind: BTreeMap<Kind, BTreeMap<(usize, Vec<u8>), usize>> = BTreeMap::new();
    let mut contents: BTreeSet<(Kind, usize, Vec<u8>)> = BTreeSet::new();
    for (number, node) in forest.nodes.iter().enumerate() {
        let text = forest.text(number).to_vec();
        if node.kind != Kind::Root && node.kind != Kind::Mark && !node.kind.is_blank() {
            by_kind.entry(node.kind).or_default().entry((text.len(), text)).or_insert(number);
        }
        if node.children.len() > 1 {
            let content = forest.texts[node.sample][forest.content(number)].to_vec();
            contents.insert((node.kind, content.len(), content));
        }
    }
    let mut probes = Vec::new();
    for (kind, texts) in by_kind {
        let most = if kind == Kind::Word { 14 } else { 2 };
        let longest = texts.last_key_value().filter(|_| kind == Kind::Digits);
        let chosen = texts.iter().take(most).chain(longest);
        probes.extend(chosen.map(|((_, text), &node)| Probe { text: text.clone(), node: Some(node) }));
        if kind == Kind::Digits {
            probes.push(Probe { text: b"07".to_vec(), node: None });
        }
    }
    let kinds: BTreeSet<Kind> = contents.iter().map(|content| content.0).collect();
    for kind in kinds {
        let of_kind = contents.iter().filter(|content| content.0 == kind);
        probes.extend(of_kind.take(3).map(|(_, _, text)| Probe { text: text.clone(), node: None }));
    }
    let mut seen = BTreeSet::new();
    probes.retain(|probe| seen.insert(probe.text.clone()));
    probes
}
