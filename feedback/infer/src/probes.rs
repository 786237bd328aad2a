//! Texts that are tried in many places.

use std::collections::{BTreeMap, BTreeSet};

use crate::lex::TokenKind;
use crate::tree::{Forest, NodeKind};

/// A text that is tried in many places.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub text: Vec<u8>,
    /// The node that it is the text of; `None` for the contents of brackets and for made-up texts.
    pub node: Option<usize>,
}

/// A word that few texts have.
pub(crate) const FRESH: &[u8] = b"qzx";

impl Probe {
    pub fn is_fresh_word(&self) -> bool {
        self.text == FRESH
    }
}

/// Returns the probes of a kind.
fn most(kind: NodeKind) -> usize {
    match kind {
        NodeKind::Token(TokenKind::Word) => 24,
        NodeKind::Segment => 10,
        _ => 2,
    }
}

/// Returns texts of all kinds: the shortest ones, and those of segments that look different.
pub(crate) fn probes(forest: &Forest) -> Vec<Probe> {
    let mut by_kind: BTreeMap<NodeKind, BTreeMap<(usize, Vec<u8>), usize>> = BTreeMap::new();
    let mut contents: BTreeSet<(NodeKind, usize, Vec<u8>)> = BTreeSet::new();
    for (number, node) in forest.nodes.iter().enumerate() {
        let text = forest.text(number).to_vec();
        if node.kind != NodeKind::Root && !node.kind.is_mark() && !node.kind.is_blank() {
            by_kind.entry(node.kind).or_default().entry((text.len(), text)).or_insert(number);
        }
        if node.children.len() > 1 && node.kind != NodeKind::Segment {
            let content = forest.samples[node.sample].text[forest.content(number)].to_vec();
            contents.insert((node.kind, content.len(), content));
        }
    }
    let mut probes = vec![Probe { text: FRESH.to_vec(), node: None }];
    for (kind, texts) in by_kind {
        let longest = texts.last_key_value().filter(|_| kind == NodeKind::Token(TokenKind::Number));
        let all = texts.iter().chain(longest);
        let mut seen = BTreeSet::new();
        let distinct = all.filter(|&(_, &node)| kind != NodeKind::Segment || seen.insert(kinds(forest, node)));
        let chosen = distinct.take(most(kind));
        probes.extend(chosen.map(|((_, text), &node)| Probe { text: text.clone(), node: Some(node) }));
    }
    let kinds: BTreeSet<NodeKind> = contents.iter().map(|content| content.0).collect();
    for kind in kinds {
        let of_kind = contents.iter().filter(|content| content.0 == kind);
        probes.extend(of_kind.take(2).map(|(_, _, text)| Probe { text: text.clone(), node: None }));
    }
    let mut seen = BTreeSet::new();
    probes.retain(|probe| seen.insert(probe.text.clone()));
    probes
}

fn kinds(forest: &Forest, node: usize) -> Vec<(NodeKind, Vec<u8>)> {
    let child = |&child: &usize| {
        let kind = forest.nodes[child].kind;
        (kind, if kind.is_mark() { forest.text(child).to_vec() } else { Vec::new() })
    };
    forest.nodes[node].children.iter().map(child).collect()
}
