//! The changes that may make a text shorter: found from its spans, and ranked by the caller.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{Candidate, Change, Keeps};
use super::need::{Need, Range};
use crate::choices::{ChoiceSource, Span, SpanKind, TracedInput, Tracer};

/// Spans with the same text, one in the other.
struct Node {
    text: Range,
    parent: usize,
    /// The spans, outer ones first.
    spans: Vec<u32>,
    children: Vec<usize>,
}

/// Changes to look for: changes of whole parts first, then changes that know less of the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Whole parts, with a gain of a 64th of the text or more.
    Large,
    /// Whole parts.
    Parts,
    /// Any few bytes.
    Bytes,
    /// Other options, and parts at other places. By then it is known which bytes are needed.
    Options,
}

/// At most this number of candidates is made for one text.
const MOST: usize = 1 << 15;
/// Texts up to this length are small: all changes are tried at once.
const SMALL: usize = 80;
/// For texts of at most this many bytes a search begins with parts of any size.
const MEDIUM: usize = 512;
/// Bytes anywhere are removed only from texts up to this length, and at most `FEW` in a row.
const MAX_BYTES_TEXT: usize = 512;
pub(super) const FEW: usize = 8;
/// Parts move to other places in texts up to this length. A move removes at most `NEAR` bytes between two parts. Into a
/// part longer than `NEAR`, others move only next to its own parts.
const MAX_MOVED: usize = 48;
const NEAR: u32 = 4;
/// A move removes no bytes that are more likely to be needed than this rate.
const MAX_RATE: f64 = 4.0;
/// Longer texts are not parsed.
const MAX_PARSED: usize = 1 << 16;
/// The kept contents of a choice begin with one of this number of first parts.
const STARTS: usize = 3;
/// Each pair of parts is looked at up to this number of levels apart, then 2^n levels apart.
const LEVELS: usize = 24;

impl Reach {
    /// Returns the reach to begin with for a text.
    pub(super) fn first(len: usize) -> Reach {
        if len <= SMALL {
            Reach::Bytes
        } else if len <= MEDIUM {
            Reach::Parts
        } else {
            Reach::Large
        }
    }

    /// Returns the next reach.
    pub(super) fn further(self) -> Option<Reach> {
        match self {
            Reach::Large => Some(Reach::Parts),
            Reach::Parts => Some(Reach::Bytes),
            Reach::Bytes => Some(Reach::Options),
            Reach::Options => None,
        }
    }
}

/// Lists all changes that may make the text of `input` shorter.
pub(super) fn candidates(
    input: &TracedInput,
    tracer: &mut (impl Tracer + ?Sized),
    need: &Need,
    reach: Reach,
    list: &mut Vec<Candidate>,
) {
    list.clear();
    let len = input.output().len();
    let least = if reach == Reach::Large { (len / 64).max(1) as u32 } else { 1 };
    let parses = tracer.parses() && len <= MAX_PARSED;
    let mut finder = Finder { input, nodes: nodes(input), list, least, parses, lengths: BTreeMap::new(), need };
    match reach {
        Reach::Large | Reach::Parts => finder.parts(tracer),
        Reach::Bytes => {
            finder.parts(tracer);
            finder.together();
            if parses {
                finder.bytes();
            } else {
                finder.choices();
            }
        }
        Reach::Options => {
            finder.options(tracer);
            if parses && len <= MAX_MOVED {
                finder.moves();
                finder.doubles();
            }
        }
    }
}

struct Finder<'f> {
    input: &'f TracedInput,
    nodes: Vec<Node>,
    list: &'f mut Vec<Candidate>,
    least: u32,
    parses: bool,
    /// The length of the shortest text of a symbol at a depth.
    lengths: BTreeMap<(u32, u32), u32>,
    need: &'f Need,
}

fn len(range: Range) -> u32 {
    range.1 - range.0
}

fn nodes(input: &TracedInput) -> Vec<Node> {
    let end = input.choices().len() as u32;
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<(u32, usize)> = Vec::new();
    for (number, span) in (0..).zip(&input.trace().spans) {
        while open.last().is_some_and(|&(next, _)| next <= number) {
            open.pop();
        }
        // A part whose choice bytes were cut off cannot change; an empty one gets no shorter.
        if span.output.0 >= span.output.1 || span.choices.1 > end {
            continue;
        }
        let parent = open.last().map(|&(_, node)| node);
        let node = match parent {
            Some(parent) if nodes[parent].text == span.output => {
                nodes[parent].spans.push(number);
                parent
            }
            _ => {
                let node = nodes.len();
                nodes.push(Node {
                    text: span.output,
                    parent: parent.unwrap_or(usize::MAX),
                    spans: vec![number],
                    children: Vec::new(),
                });
                if let Some(parent) = parent {
                    nodes[parent].children.push(node);
                }
                node
            }
        };
        open.push((span.next, node));
    }
    nodes
}

/// All choice bytes are missing.
struct NoChoices;

impl ChoiceSource for NoChoices {
    fn fill(&mut self, _buffer: &mut [u8]) -> usize {
        0
    }
}

impl Finder<'_> {
    fn push(&mut self, replaced: Range, kept: Range, added: u32, change: Change) {
        let removed = len(replaced) - len(kept);
        if removed >= added.saturating_add(self.least) && self.list.len() < MOST {
            self.list.push(Candidate {
                replaced,
                kept,
                gain: removed - added,
                takes_all: false,
                change,
                lacks: None,
                compared: 0,
                has_failed: false,
            });
        }
    }

    fn shortest_len(&mut self, tracer: &mut (impl Tracer + ?Sized), span: &Span) -> u32 {
        *self.lengths.entry((span.symbol, span.depth)).or_insert_with(|| {
            let mut zeros = Vec::new();
            let len = tracer.draw(span.symbol, span.depth, u64::MAX, &mut NoChoices, 0, &mut zeros);
            len.and_then(|len| u32::try_from(len).ok()).unwrap_or(u32::MAX)
        })
    }

    /// Shortens parts as far as possible, replaces the parts around them with them, and removes them.
    fn parts(&mut self, tracer: &mut (impl Tracer + ?Sized)) {
        let spans = &self.input.trace().spans;
        for number in 0..self.nodes.len() {
            let text = self.nodes[number].text;
            if len(text) < self.least {
                continue;
            }
            let mut known = BTreeSet::new();
            for &member in &self.nodes[number].spans.clone() {
                let span = &spans[member as usize];
                if span.kind == SpanKind::Round {
                    continue;
                }
                let shortest = self.shortest_len(tracer, span);
                if known.insert((shortest, tracer.shortest(span.symbol, span.depth))) {
                    let nothing = (text.0, text.0);
                    self.push(text, nothing, shortest, Change::Shorten(Box::new([member])));
                }
            }
            self.hoists(number);
            self.cuts(number);
        }
    }

    fn hoists(&mut self, inner: usize) {
        let mut outer = self.nodes[inner].parent;
        let mut level = 1_usize;
        while let Some(around) = self.nodes.get(outer) {
            if level <= LEVELS || level.is_power_of_two() {
                let change = match self.same_symbol(around, &self.nodes[inner]) {
                    Some((outer, inner)) => Some(Change::Hoist { outer, inner }),
                    None => self.parses.then(|| Change::Text(Box::new([]))),
                };
                let (replaced, kept) = (around.text, self.nodes[inner].text);
                outer = around.parent;
                if let Some(change) = change {
                    self.push(replaced, kept, 0, change);
                }
            } else {
                outer = around.parent;
            }
            level += 1;
        }
    }

    fn same_symbol(&self, outer: &Node, inner: &Node) -> Option<(u32, u32)> {
        let spans = &self.input.trace().spans;
        let is_part = |number: &&u32| spans[**number as usize].kind != SpanKind::Round;
        for &outer in outer.spans.iter().filter(is_part) {
            let symbol = spans[outer as usize].symbol;
            let like = inner.spans.iter().filter(is_part).find(|&&inner| spans[inner as usize].symbol == symbol);
            if let Some(&inner) = like {
                return Some((outer, inner));
            }
        }
        None
    }

    /// Removes neighbouring children, with the text before or after them.
    fn cuts(&mut self, parent: usize) {
        let children = std::mem::take(&mut self.nodes[parent].children);
        let count = children.len();
        for first in 0..count {
            let mut last = first;
            while last < count {
                self.cut(parent, &children, first, last);
                // All numbers of children up to eight, then powers of two.
                let many = last - first + 1;
                last = first + if many < FEW { many } else { 2 * many - 1 };
            }
            if first > 0 && count - first > FEW {
                self.cut(parent, &children, first, count - 1);
            }
        }
        self.nodes[parent].children = children;
    }

    fn cut(&mut self, parent: usize, children: &[usize], first: usize, last: usize) {
        let (from, to) = (self.nodes[children[first]].text, self.nodes[children[last]].text);
        if let Some(change) = self.rounds(children[first], children[last]) {
            self.push((from.0, to.1), (from.0, from.0), 0, change);
            return;
        }
        if !self.parses {
            return;
        }
        let mut ranges = vec![(from.0, to.1)];
        let next = children.get(last + 1).map(|&next| self.nodes[next].text.0);
        let before = first.checked_sub(1).map(|before| self.nodes[children[before]].text.1);
        ranges.extend(next.map(|next| (from.0, next)));
        ranges.extend(before.map(|before| (before, to.1)));
        // Up to the beginning or the end of the parent.
        let whole = self.nodes[parent].text;
        ranges.extend([(whole.0, to.1), (from.0, whole.1)]);
        ranges.sort_unstable();
        ranges.dedup();
        for range in ranges {
            if range != whole {
                self.push(range, (range.0, range.0), 0, Change::Text(Box::new([])));
            }
        }
    }

    /// Returns the change that takes out the rounds of a repetition from one to another, if they are rounds of the
    /// same.
    fn rounds(&self, first: usize, last: usize) -> Option<Change> {
        let round = |node: usize| {
            let spans = self.nodes[node].spans.iter().copied();
            spans.into_iter().find(|&span| self.input.trace().spans[span as usize].kind == SpanKind::Round)
        };
        let (first, last) = (round(first)?, round(last)?);
        let of = |round: u32| {
            let at = self.input.rounds.binary_search_by_key(&round, |&(round, _)| round).ok()?;
            Some(self.input.rounds[at].1)
        };
        let repetition = of(first)?;
        (of(last)? == repetition).then_some(Change::Rounds { first, last, repetition })
    }

    /// Lists changes that change parts with the same text together.
    fn together(&mut self) {
        let text = self.input.output();
        let mut groups: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let group = groups.entry(&text[node.text.0 as usize..node.text.1 as usize]).or_default();
            if group.last().is_none_or(|&last| self.nodes[last].text.1 <= node.text.0) {
                group.push(number);
            }
        }
        let nodes = std::mem::take(&mut self.nodes);
        for (_, group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
            let all: Vec<&Node> = group.iter().map(|&node| &nodes[node]).collect();
            self.group(&all);
        }
        self.nodes = nodes;
    }

    fn group(&mut self, group: &[&Node]) {
        let spans = &self.input.trace().spans;
        let (first, places) = (group[0].text, group.len() as u32);
        let nothing = (first.0, first.0);
        for &member in &group[0].spans {
            let Span { kind, symbol, .. } = spans[member as usize];
            let like = |node: &&Node| node.spans.iter().copied().find(|&span| spans[span as usize].symbol == symbol);
            let alike: Vec<u32> = group.iter().filter_map(like).collect();
            if kind != SpanKind::Round && alike.len() == group.len() {
                let shortest = self.lengths.get(&(symbol, spans[member as usize].depth)).copied().unwrap_or(0);
                if shortest < len(first) {
                    self.push(first, nothing, shortest, Change::Shorten(alike.into()));
                }
            }
        }
        if self.parses && len(first) <= 32 {
            let starts: Box<[u32]> = group.iter().map(|node| node.text.0).collect();
            for from in first.0..first.1 {
                for to in from + 1..=first.1 {
                    let before = self.list.len();
                    self.push((from, to), (from, from), 0, Change::Text(starts.clone()));
                    for candidate in &mut self.list[before..] {
                        candidate.gain *= places;
                        candidate.takes_all = (from, to) == first;
                    }
                }
            }
        }
    }

    /// Lists changes that take a few bytes out of the text, anywhere.
    fn bytes(&mut self) {
        let end = self.input.output().len();
        if end > MAX_BYTES_TEXT {
            return;
        }
        for from in 0..end as u32 {
            for to in from + 1..=(from + FEW as u32).min(end as u32) {
                self.push((from, to), (from, from), 0, Change::Text(Box::new([])));
            }
        }
    }

    /// Removes a few choice bytes anywhere, whatever they derive, and sets one before them to zero, if there are not
    /// many.
    fn choices(&mut self) {
        let end = self.input.choices().len() as u32;
        let all = end <= 96;
        for from in 0..end {
            let mut to = from + 1;
            while to <= end {
                self.push_choices(Change::Choices { from, to, zero: None });
                let many = to - from;
                to += if all || many < FEW as u32 { 1 } else { many };
            }
        }
        let chosen = |at: &u32| self.input.choices()[*at as usize] > 0;
        let places: Vec<u32> = (0..end).filter(chosen).collect();
        for &zero in &places {
            self.push_choices(Change::Choices { from: end, to: end, zero: Some(zero) });
        }
        if end <= 40 {
            for &zero in &places {
                for from in zero + 1..end {
                    for to in from + 1..=end {
                        self.push_choices(Change::Choices { from, to, zero: Some(zero) });
                    }
                }
            }
        }
    }

    /// Adds a change whose text is known only after it was tried.
    fn push_choices(&mut self, change: Change) {
        if self.list.len() < MOST {
            self.list.push(Candidate {
                replaced: (0, 0),
                kept: (0, 0),
                gain: 0,
                takes_all: false,
                change,
                lacks: None,
                compared: 0,
                has_failed: false,
            });
        }
    }

    /// Gives choices other options, with the contents of the old ones.
    fn options(&mut self, tracer: &mut (impl Tracer + ?Sized)) {
        const OPTIONS: u32 = 64;
        let spans = &self.input.trace().spans;
        for (number, span) in (0..).zip(spans) {
            if span.kind != SpanKind::Choice || span.choices.1 as usize > self.input.choices().len() {
                continue;
            }
            for option in 0..tracer.options(span.symbol).min(OPTIONS) {
                // The kept contents begin with one of the first parts, or within the first one.
                let mut starts = BTreeSet::new();
                let (mut beside, mut within) = (number + 1, number + 1);
                for _ in 0..STARTS {
                    starts.extend([beside, within]);
                    beside = spans.get(beside as usize).map_or(span.next, |span| span.next);
                    within += 1;
                }
                for from in starts.into_iter().filter(|&from| from < span.next) {
                    for keeps in [Keeps::Needed, Keeps::InOrder, Keeps::All] {
                        self.push_choices(Change::Refit { span: number, option, from, keeps });
                    }
                }
            }
        }
    }
}

impl Finder<'_> {
    /// Moves a part into one near it, which makes the text between them superfluous.
    fn moves(&mut self) {
        for number in 0..self.nodes.len() {
            for other in 0..self.nodes.len() {
                let (part, target) = (self.nodes[number].text, self.nodes[other].text);
                let (hull, gap) = match part.0 >= target.1 {
                    true => ((target.0, part.1), (target.1, part.0)),
                    false => ((part.0, target.1), (part.1, target.0)),
                };
                if gap.0 >= gap.1 || len(gap) > NEAR || self.need.rate(gap) > MAX_RATE {
                    continue;
                }
                let edges = self.nodes[other].children.iter().map(|&child| self.nodes[child].text);
                let mut places: Vec<u32> = edges.flat_map(|(from, to)| [from, to]).collect();
                if len(target) <= NEAR {
                    places.extend(target.0 + 1..target.1);
                }
                places.sort_unstable();
                places.dedup();
                for at in places {
                    self.push(gap, (gap.0, gap.0), 0, Change::Move { hull, target, at, part });
                }
            }
        }
    }

    /// Replaces a part with two of another kind.
    fn doubles(&mut self) {
        for number in 0..self.nodes.len() {
            for other in 0..self.nodes.len() {
                let (whole, copied) = (self.nodes[number].text, self.nodes[other].text);
                // Two copies of the same byte are rarely the solution.
                if len(copied) > 1 && 2 * len(copied) < len(whole) {
                    self.push(whole, (whole.0, whole.0), 2 * len(copied), Change::Double(copied));
                }
            }
        }
    }
}
