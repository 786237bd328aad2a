//! A text with the points at which it is changed: instances of rules.

use std::cmp::Reverse;

use gramjet_session::SpanKind;
use gramjet_session::decisions::{Derivation, Part};

use gramjet_search::Desk;
use gramjet_session::Random;

/// If the whole text is drawn as the point of a hybrid, another point is drawn at most this many times.
const REDRAWS: usize = 3;

/// An instance of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) symbol: u32,
    pub(super) depth: u32,
    decisions: (u32, u32),
    text: (u32, u32),
}

impl Point {
    fn new(part: &Part) -> Point {
        Point { symbol: part.symbol, depth: part.depth, decisions: part.decisions, text: part.text }
    }

    /// Returns the length of its text in bytes.
    pub(super) fn len(&self) -> usize {
        (self.text.1 - self.text.0) as usize
    }
}

/// A text with its decisions and points.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) text: Box<[u8]>,
    options: Box<[u32]>,
    /// Inner points come before those that they are in, and the whole text last.
    pub(super) points: Box<[Point]>,
}

impl Tree {
    /// Returns the tree of a derivation; `None` if the text has no derivation.
    pub(super) fn new(derivation: &Derivation) -> Option<Tree> {
        Some(Tree {
            text: derivation.text.as_slice().into(),
            options: derivation.options().collect(),
            points: points(derivation)?,
        })
    }

    /// Returns its memory in bytes, roughly.
    pub(super) fn bytes(&self) -> usize {
        // Each point is a chunk, too.
        self.text.len() + 4 * self.options.len() + 64 * self.points.len()
    }

    pub(super) fn text_of(&self, point: &Point) -> &[u8] {
        &self.text[point.text.0 as usize..point.text.1 as usize]
    }

    pub(super) fn options_of(&self, point: &Point) -> &[u32] {
        &self.options[point.decisions.0 as usize..point.decisions.1 as usize]
    }

    /// Draws any point.
    pub(super) fn draw_point(&self, random: &mut Random) -> &Point {
        &self.points[random.below(self.points.len())]
    }

    /// Returns a point for a part of another text. `None` if it is the whole text and there are other points.
    pub(super) fn draw_inner(&self, random: &mut Random) -> Option<&Point> {
        let whole = self.points.len() - 1;
        let number = (0..=REDRAWS).map(|_| random.below(whole + 1)).find(|&number| number < whole || whole == 0)?;
        Some(&self.points[number])
    }

    /// Derives the text with other options at a point. `options` is scratch memory.
    pub(super) fn splice(
        &self,
        point: &Point,
        part: impl IntoIterator<Item = u32>,
        desk: &mut Desk,
        options: &mut Vec<u32>,
        spliced: &mut Derivation,
    ) {
        let (from, to) = (point.decisions.0 as usize, point.decisions.1 as usize);
        options.clear();
        options.extend_from_slice(&self.options[..from]);
        options.extend(part);
        options.extend_from_slice(&self.options[to..]);
        desk.deriver.replay(options, spliced);
    }
}

/// Returns the points of a derivation: its instances of rules, without those that decide nothing, and with chains of
/// unit rules as one point, the innermost one.
fn points(derivation: &Derivation) -> Option<Box<[Point]>> {
    let whole = derivation.parts.first()?;
    let mut found: Vec<(u32, Reverse<usize>, Point)> = Vec::new();
    for (number, part) in derivation.parts.iter().enumerate() {
        if part.kind != SpanKind::Rule || part.decisions.0 == part.decisions.1 {
            continue;
        }
        let point = Point::new(part);
        // An instance with the decisions of the one found before it is within that one.
        if let Some((.., outer)) = found.last()
            && (outer.decisions, outer.text) == (point.decisions, point.text)
        {
            found.pop();
        }
        found.push((part.next, Reverse(number), point));
    }
    found.sort_unstable_by_key(|&(next, number, _)| (next, number));
    if found.is_empty() {
        return Some([Point::new(whole)].into());
    }
    Some(found.into_iter().map(|(.., point)| point).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::strategies::kit;

    pub(in super::super) fn desk(ebnf: &str, max_len: usize) -> Desk {
        let deriver = kit::language(ebnf).deriver(Some(max_len as u64));
        Desk::new(deriver, max_len, Random::new(1))
    }

    /// Returns the derivation of a text: the first one that is drawn.
    pub(in super::super) fn derivation(desk: &mut Desk, text: &str) -> Derivation {
        let mut derivation = Derivation::default();
        for _ in 0..1_000_000 {
            desk.draw(&mut derivation);
            if derivation.text == text.as_bytes() {
                return derivation;
            }
        }
        panic!("{text} was not drawn");
    }

    pub(in super::super) fn tree(desk: &mut Desk, text: &str) -> Tree {
        Tree::new(&derivation(desk, text)).expect("a derivation")
    }

    #[test]
    fn points_are_instances_of_rules_that_decide_something() {
        let mut desk = desk("s ::= t  t ::= a b c  a ::= [xy]  b ::= a | 'z'  c ::= 'k'", 5);
        let tree = tree(&mut desk, "xyk");
        let shown = |point: &Point| {
            let name = desk.deriver.rule_name(point.symbol).expect("a rule");
            format!("{name}={}", String::from_utf8_lossy(tree.text_of(point)))
        };
        // `b` decides for `a`, so it is a point of its own. `s` is the same as `t`, and `c` is a literal.
        assert_eq!(tree.points.iter().map(shown).collect::<Vec<_>>(), ["a=x", "a=y", "b=y", "t=xyk"]);
    }

    #[test]
    fn a_text_without_decisions_is_a_point() {
        let mut desk = desk("s ::= 'k'", 5);
        let tree = tree(&mut desk, "k");
        assert_eq!((tree.points.len(), tree.points[0].len()), (1, 1));
        assert!(tree.draw_inner(&mut desk.random).is_some());
        assert!(Tree::new(&Derivation::default()).is_none());
    }

    #[test]
    fn the_whole_text_is_no_point_of_a_hybrid_if_there_are_others() {
        let mut desk = desk("s ::= a 'k'  a ::= [xy]", 5);
        let tree = tree(&mut desk, "xk");
        let drawn: Vec<_> = (0..3200).map(|_| tree.draw_inner(&mut desk.random).map(Point::len)).collect();
        assert!(drawn.iter().flatten().all(|&len| len == 1));
        // One of two points four times in a row: 1/16. The standard deviation is 14.
        assert!(drawn.iter().filter(|len| len.is_none()).count().abs_diff(200) < 80);
    }

    const SUMS: &str = "e ::= t ('+' t)*  t ::= [0-9] | '(' e ')' | 'sin' t | t '!'?";

    #[test]
    fn parts_that_fit_are_exact() {
        let mut desk = desk(SUMS, 12);
        let (mut drawn, mut spliced, mut options) = (Derivation::default(), Derivation::default(), Vec::new());
        let mut trees = Vec::new();
        while trees.len() < 12 {
            desk.draw(&mut drawn);
            trees.extend((drawn.text.len() > 6).then(|| Tree::new(&drawn)).flatten());
        }
        let (mut tight, mut all) = (0, 0);
        for (tree, other) in trees.iter().flat_map(|tree| trees.iter().map(move |other| (tree, other))) {
            for (point, part) in tree.points.iter().flat_map(|point| other.points.iter().map(move |part| (point, part)))
            {
                let len = tree.text.len() - point.len() + part.len();
                if point.symbol != part.symbol || len > 12 {
                    continue;
                }
                tree.splice(point, other.options_of(part).iter().copied(), &mut desk, &mut options, &mut spliced);
                let (from, to) = (point.text.0 as usize, point.text.1 as usize);
                assert_eq!(spliced.text, [&tree.text[..from], other.text_of(part), &tree.text[to..]].concat());
                (all, tight) = (all + 1, tight + usize::from(len == 12));
            }
        }
        assert!(all > 1000 && tight > 100, "{all} {tight}");
    }
}
