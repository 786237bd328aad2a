//! The chunk store: parts of the texts on the frontier, by rule and length.

use std::collections::BTreeMap;

use gramjet_session::hash;
use rustc_hash::{FxHashMap, FxHashSet};

use super::tree::{Point, Tree};
use gramjet_session::Random;

/// Keys that tell chunks apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Rule and text.
    RuleAndText,
    /// The text alone, as the published program does. The innermost instance of a text hides all others.
    Text,
}

/// A chunk: a point of a text on the frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The number of the text on the frontier.
    pub(super) member: u32,
    point: u32,
}

impl Chunk {
    pub(super) fn point(self, tree: &Tree) -> &Point {
        &tree.points[self.point as usize]
    }
}

/// Chunks by rule and length.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    key: Key,
    /// For each rule, its chunks by length.
    rules: FxHashMap<u32, BTreeMap<usize, Vec<Chunk>>>,
    known: FxHashSet<(u32, u64)>,
}

impl Chunks {
    pub(super) fn new(key: Key) -> Chunks {
        Chunks { key, rules: FxHashMap::default(), known: FxHashSet::default() }
    }

    pub(super) fn clear(&mut self) {
        self.rules.clear();
        self.known.clear();
    }

    /// Adds all points of a text that are new.
    pub(super) fn stash(&mut self, member: u32, tree: &Tree) {
        for (number, point) in tree.points.iter().enumerate() {
            let rule = match self.key {
                Key::RuleAndText => point.symbol,
                Key::Text => 0,
            };
            if self.known.insert((rule, hash(tree.text_of(point)))) {
                let lengths = self.rules.entry(point.symbol).or_default();
                lengths.entry(point.len()).or_default().push(Chunk { member, point: number as u32 });
            }
        }
    }

    /// Returns a chunk of a rule with at most `most` bytes and another text than this one; all are equally probable.
    pub(super) fn draw<'t>(
        &self,
        random: &mut Random,
        rule: u32,
        most: usize,
        text: &[u8],
        tree_of: impl Fn(u32) -> &'t Tree,
    ) -> Option<Chunk> {
        let lengths = self.rules.get(&rule)?;
        let fitting: usize = lengths.range(..=most).map(|(_, chunks)| chunks.len()).sum();
        loop {
            let chunk = nth(lengths, (fitting > 0).then(|| random.below(fitting))?)?;
            let tree = tree_of(chunk.member);
            if tree.text_of(chunk.point(tree)) != text {
                return Some(chunk);
            }
            // One chunk at most has the text.
            if fitting == 1 {
                return None;
            }
        }
    }
}

fn nth(lengths: &BTreeMap<usize, Vec<Chunk>>, mut number: usize) -> Option<Chunk> {
    for chunks in lengths.values() {
        match chunks.get(number) {
            Some(&chunk) => return Some(chunk),
            None => number -= chunks.len(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::{desk, tree};
    use super::*;

    /// Returns the texts that are drawn for the rule of a point, sorted.
    fn drawn(chunks: &Chunks, trees: &[Tree], rule: u32, most: usize, text: &str) -> Vec<String> {
        let mut random = Random::new(1);
        let tree_of = |member: u32| &trees[member as usize];
        let text_of = |chunk: Chunk| {
            let tree = tree_of(chunk.member);
            String::from_utf8_lossy(tree.text_of(chunk.point(tree))).into_owned()
        };
        let mut texts: Vec<String> = (0..300)
            .filter_map(|_| chunks.draw(&mut random, rule, most, text.as_bytes(), tree_of).map(text_of))
            .collect();
        texts.sort();
        texts.dedup();
        texts
    }

    fn store(key: Key, trees: &[Tree]) -> Chunks {
        let mut chunks = Chunks::new(key);
        for (number, tree) in (0..).zip(trees) {
            chunks.stash(number, tree);
        }
        chunks
    }

    #[test]
    fn chunks_are_drawn_by_rule_and_length_and_have_another_text() {
        let mut desk = desk("s ::= w (' ' w)*  w ::= [a-c]+", 4);
        let trees = ["ab c", "c b", "a"].map(|text| tree(&mut desk, text));
        let chunks = store(Key::RuleAndText, &trees);
        let word = trees[0].points[0].symbol;
        assert_eq!(drawn(&chunks, &trees, word, 4, "x"), ["a", "ab", "b", "c"]);
        assert_eq!(drawn(&chunks, &trees, word, 1, "c"), ["a", "b"]);
        assert_eq!(drawn(&chunks, &trees, word, 0, "c"), [""; 0]);
        let whole = trees[0].points[2].symbol;
        assert_eq!(drawn(&chunks, &trees, whole, 3, ""), ["a", "c b"]);
        // The only one that fits has the text itself.
        assert_eq!(drawn(&chunks, &trees, whole, 1, "a"), [""; 0]);
        assert_eq!(drawn(&chunks, &trees, u32::MAX, 9, ""), [""; 0]);
    }

    #[test]
    fn chunks_of_one_length_are_equally_probable() {
        let mut desk = desk("s ::= w (' ' w)*  w ::= [a-c]+", 4);
        let trees = ["ab c", "c b", "a"].map(|text| tree(&mut desk, text));
        let chunks = store(Key::RuleAndText, &trees);
        let word = trees[0].points[0].symbol;
        let mut members = [0u32; 3];
        for _ in 0..6000 {
            let chunk = chunks.draw(&mut desk.random, word, 2, b"c", |member| &trees[member as usize]);
            members[chunk.expect("a chunk").member as usize] += 1;
        }
        // `ab` of the first, `b` of the second, `a` of the third. The standard deviation is 37.
        assert!(members.iter().all(|drawn| drawn.abs_diff(2000) < 220), "{members:?}");
    }

    #[test]
    fn with_the_text_as_key_inner_rules_hide_outer_ones() {
        let mut desk = desk("s ::= b b  b ::= a | 'z'  a ::= [xy]", 4);
        let trees = [tree(&mut desk, "xz")];
        let [a, b] = [0, 1].map(|point: usize| trees[0].points[point].symbol);
        let by_both = store(Key::RuleAndText, &trees);
        assert_eq!(drawn(&by_both, &trees, a, 9, ""), ["x"]);
        assert_eq!(drawn(&by_both, &trees, b, 9, ""), ["x", "z"]);
        let by_text = store(Key::Text, &trees);
        assert_eq!(drawn(&by_text, &trees, a, 9, ""), ["x"]);
        assert_eq!(drawn(&by_text, &trees, b, 9, ""), ["z"]);
    }
}
