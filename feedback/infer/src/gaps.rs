//! White space between tokens: where it may stand, where it must, and which.

use std::collections::{BTreeMap, BTreeSet};

use crate::asked::Asked;
use crate::lex::TokenKind;
use crate::places::{Classes, Symbol};
use crate::set::Set;
use crate::tree::{Forest, NodeKind};

/// In which sequences a gap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    Content(usize),
    Class(usize),
}

/// A gap after a symbol, or before all others.
pub(crate) type Key = (Owner, Option<Symbol>);

/// White space that may stand in a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gap {
    /// White space that the samples have there.
    pub originals: BTreeSet<Vec<u8>>,
    /// Whether other white space can stand there, too.
    pub is_open: bool,
    /// Whether white space must stand there, as a keyword would be part of another word.
    pub is_needed: bool,
    /// By the kind of the token before.
    places: BTreeMap<Option<TokenKind>, Vec<(usize, usize)>>,
    has_joints: bool,
}

/// All gaps.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    after: BTreeMap<Key, Gap>,
    /// Keywords that white space must precede.
    before: BTreeMap<Symbol, Gap>,
    /// Between brackets with nothing else, by the content.
    empty: BTreeMap<usize, Gap>,
    /// Before and after whole samples.
    pub lead: Gap,
    pub trail: Gap,
    /// The white space of gaps, and that around whole samples.
    pub blanks: Set,
    pub outer_blanks: Set,
}

/// Gaps after a kind of token in which white space is tried.
const PLACES: usize = 5;
/// White space that is tried.
const BLANKS: [u8; 4] = [b' ', b'\t', b'\n', b'\r'];

impl Gaps {
    pub fn find(forest: &Forest, classes: &Classes, asked: &mut Asked<'_>) -> Gaps {
        let mut gaps = Gaps::default();
        for node in 0..forest.nodes.len() {
            gaps.collect(forest, classes, node);
        }
        for ((_, symbol), gap) in &mut gaps.after {
            let is_keyword = symbol.is_some_and(|symbol| is_keyword(forest, classes, symbol));
            gap.is_needed = is_keyword && gap.has_joints && !gap.originals.contains(&Vec::new());
        }
        for gap in gaps.before.values_mut() {
            gap.is_needed = gap.has_joints && !gap.originals.contains(&Vec::new());
        }
        gaps.blanks = open(forest, gaps.after.values_mut().chain(gaps.empty.values_mut()).collect(), asked);
        gaps.outer_blanks = open(forest, vec![&mut gaps.lead, &mut gaps.trail], asked);
        gaps
    }

    pub fn after(&self, key: Key) -> Option<&Gap> {
        self.after.get(&key)
    }

    /// Returns the gap between brackets with nothing else.
    pub fn empty(&self, content: usize) -> Gap {
        self.empty.get(&content).cloned().unwrap_or_default()
    }

    /// Returns true if white space must precede a symbol.
    pub fn is_needed_before(&self, symbol: Symbol) -> bool {
        self.before.get(&symbol).is_some_and(|gap| gap.is_needed)
    }

    fn collect(&mut self, forest: &Forest, classes: &Classes, node: usize) {
        let one = &forest.nodes[node];
        let sample = one.sample;
        if one.kind == NodeKind::Root {
            self.lead.add(forest, sample, 0);
            self.trail.add(forest, sample, one.span.end);
        }
        if one.children.is_empty() && !matches!(one.kind, NodeKind::Group(_)) {
            return;
        }
        let owner = match (classes.content_of.get(&node), classes.class_of(node)) {
            (Some(&content), _) => Owner::Content(content),
            (None, Some(class)) => Owner::Class(class),
            (None, None) => return,
        };
        if let (NodeKind::Group(_), Owner::Content(content)) = (one.kind, owner) {
            let gap = match one.children.is_empty() {
                true => self.empty.entry(content).or_default(),
                false => self.after.entry((owner, None)).or_default(),
            };
            gap.add(forest, sample, one.span.start + 1);
        }
        let last =
            if let NodeKind::Group(_) = one.kind { one.children.len() } else { one.children.len().saturating_sub(1) };
        for (at, &child) in one.children.iter().enumerate().take(last) {
            let end = forest.nodes[child].span.end;
            self.after.entry((owner, Some(classes.symbol(child)))).or_default().add(forest, sample, end);
            let next = one.children.get(at + 1).map(|&next| classes.symbol(next));
            if let Some(next) = next.filter(|&next| is_keyword(forest, classes, next)) {
                self.before.entry(next).or_default().add(forest, sample, end);
            }
        }
    }
}

impl Gap {
    fn add(&mut self, forest: &Forest, sample: usize, at: usize) {
        let gap = forest.gap(sample, at);
        self.originals.insert(gap.map_or(Vec::new(), |gap| gap.original.clone()));
        match gap.is_some_and(|gap| gap.is_joint) {
            true => self.has_joints = true,
            false => self.places.entry(forest.token_before(sample, at)).or_default().push((sample, at)),
        }
    }

    /// Returns some of the places.
    fn some(&self) -> Vec<(usize, usize)> {
        let some = |places: &Vec<(usize, usize)>| {
            let step = (places.len() / PLACES).max(1);
            places.iter().copied().step_by(step).collect::<Vec<_>>()
        };
        self.places.values().flat_map(some).collect()
    }
}

/// Returns true if a symbol is a word for which no other can stand.
fn is_keyword(forest: &Forest, classes: &Classes, symbol: Symbol) -> bool {
    let Symbol::Class(class) = symbol else { return false };
    let is_word = |&node: &usize| forest.nodes[node].kind.is_word();
    !classes.is_open(class) && classes.classes[class].members.iter().all(is_word)
}

/// Finds the gaps in which other white space can stand, and the white space that can stand in all of these or does.
fn open(forest: &Forest, mut gaps: Vec<&mut Gap>, asked: &mut Asked<'_>) -> Set {
    let mut takes = |(sample, at): (usize, usize), part: &[u8]| asked.accepts(&forest.with(sample, &(at..at), part));
    let mut places = Vec::new();
    let mut observed = Set::default();
    for gap in &mut gaps {
        let some = gap.some();
        gap.is_open =
            !forest.is_free && !some.is_empty() && some.iter().all(|&place| takes(place, b" ") && takes(place, b"  "));
        gap.is_open |= gap.has_joints;
        if gap.is_open {
            places.extend(some);
        }
        let bytes = gap.originals.iter().flatten();
        bytes.filter(|byte| byte.is_ascii()).for_each(|&byte| observed.insert(byte));
    }
    places.truncate(40);
    let fits = |byte: &u8| !places.is_empty() && places.iter().all(|&place| takes(place, &[*byte]));
    Set::of(BLANKS.into_iter().filter(fits)).union(observed)
}
