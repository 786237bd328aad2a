//! What repeats in a sequence of siblings, and what can be left out: asked by repeating and removing parts of samples
//! (GLADE).

use std::collections::BTreeSet;
use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::asked::Asked;
use crate::classes::Symbol;
use crate::tree::{Forest, Kind};

/// A member of a sequence.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub symbol: Symbol,
    pub kind: Kind,
    pub span: Range<usize>,
}

/// A regular expression over symbols.
#[derive(Clone, Debug)]
pub(crate) enum Re {
    Piece(Piece),
    Seq(Vec<Re>),
    Optional(Box<Re>),
    Star(Box<Re>),
    Plus(Box<Re>),
}

impl Re {
    /// Whether it matches all of these symbols.
    pub fn matches(&self, symbols: &[Symbol]) -> bool {
        self.ends(symbols, &BTreeSet::from([0])).contains(&symbols.len())
    }

    fn ends(&self, symbols: &[Symbol], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        match self {
            Re::Piece(piece) => {
                starts.iter().filter(|&&at| symbols.get(at) == Some(&piece.symbol)).map(|at| at + 1).collect()
            }
            Re::Seq(parts) => parts.iter().fold(starts.clone(), |ends, part| part.ends(symbols, &ends)),
            Re::Optional(part) => part.ends(symbols, starts).union(starts).copied().collect(),
            Re::Star(part) => rounds(part, symbols, starts.clone()),
            Re::Plus(part) => rounds(part, symbols, part.ends(symbols, starts)),
        }
    }

    /// A text of it, made of the pieces.
    fn expand(&self, text: &[u8], random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
        let rounds = random.next_u64() as usize >> 8;
        match self {
            Re::Piece(piece) => out.extend(&text[piece.span.clone()]),
            Re::Seq(parts) => parts.iter().for_each(|part| part.expand(text, random, out)),
            Re::Optional(part) => (0..rounds % 2).for_each(|_| part.expand(text, random, out)),
            Re::Star(part) => (0..rounds % 4).for_each(|_| part.expand(text, random, out)),
            Re::Plus(part) => (0..=rounds % 3).for_each(|_| part.expand(text, random, out)),
        }
    }
}

fn rounds(part: &Re, symbols: &[Symbol], mut all: BTreeSet<usize>) -> BTreeSet<usize> {
    loop {
        let more: BTreeSet<usize> = part.ends(symbols, &all).difference(&all).copied().collect();
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// Finds what repeats in sequences of one sample.
pub(crate) struct Repeats<'a, 'o> {
    pub forest: &'a Forest,
    pub sample: usize,
    pub asked: &'a mut Asked<'o>,
}

impl Repeats<'_, '_> {
    /// The expression for a sequence. What the oracle does not accept in combination is not generalised.
    pub fn of(&mut self, pieces: &[Piece], random: &mut Xoshiro256PlusPlus) -> Re {
        let plain = Re::Seq(pieces.iter().cloned().map(Re::Piece).collect());
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return plain };
        let found = self.general(pieces, true);
        let span = first.span.start..last.span.end;
        let rejected = (0..16).filter(|_| {
            let mut part = Vec::new();
            found.expand(&self.forest.texts[self.sample], random, &mut part);
            !part.is_empty() && !self.asked.accepts(&self.forest.with(self.sample, &span, &part))
        });
        if rejected.count() > 1 { plain } else { found }
    }

    fn general(&mut self, pieces: &[Piece], is_whole: bool) -> Re {
        if let Some(found) = self.repetition(pieces, is_whole).or_else(|| self.option(pieces, is_whole)) {
            return found;
        }
        match pieces {
            [piece] => Re::Piece(piece.clone()),
            _ => Re::Seq(pieces.iter().cloned().map(Re::Piece).collect()),
        }
    }

    fn repetition(&mut self, pieces: &[Piece], is_whole: bool) -> Option<Re> {
        for window in windows(pieces) {
            if !is_whole && window.len() == pieces.len() || is_single_token(&pieces[window.clone()]) {
                continue;
            }
            let span = pieces[window.start].span.start..pieces[window.end - 1].span.end;
            let part = self.forest.texts[self.sample][span.clone()].to_vec();
            let is_repeated = [2, 3]
                .iter()
                .all(|&rounds| self.asked.accepts(&self.forest.with(self.sample, &span, &part.repeat(rounds))));
            let (start, end) = rounds_around(pieces, &window);
            let all = pieces[start].span.start..pieces[end - 1].span.end;
            if !is_repeated {
                continue;
            }
            let can_go = self.asked.accepts(&self.forest.with(self.sample, &all, b""));
            if !can_go && end - start == window.len() {
                continue;
            }
            let inner = Box::new(self.general(&pieces[window], false));
            let middle = if can_go { Re::Star(inner) } else { Re::Plus(inner) };
            return Some(self.around(pieces, start..end, middle));
        }
        None
    }

    fn option(&mut self, pieces: &[Piece], is_whole: bool) -> Option<Re> {
        for window in windows(pieces) {
            if window.len() == pieces.len() && (!is_whole || pieces.len() > 1) {
                continue;
            }
            let span = pieces[window.start].span.start..pieces[window.end - 1].span.end;
            if !is_whole || window.len() < pieces.len() {
                let joins = joins(&self.forest.texts[self.sample], &span);
                if !joins && self.asked.accepts(&self.forest.with(self.sample, &span, b"")) {
                    let inner = Box::new(self.general(&pieces[window.clone()], false));
                    return Some(self.around(pieces, window, Re::Optional(inner)));
                }
            }
        }
        None
    }

    /// What is found in a window, and what stands around it.
    fn around(&mut self, pieces: &[Piece], window: Range<usize>, middle: Re) -> Re {
        let mut parts = Vec::new();
        for part in [&pieces[..window.start], &pieces[window.end..]] {
            let re = if part.is_empty() { Re::Seq(Vec::new()) } else { self.general(part, true) };
            parts.push(re);
        }
        let after = parts.pop().expect("there are two");
        let flat = |re: Re| if let Re::Seq(parts) = re { parts } else { vec![re] };
        Re::Seq([flat(parts.remove(0)), vec![middle], flat(after)].concat())
    }
}

/// Whether what stands around a span would become one token.
fn joins(text: &[u8], span: &Range<usize>) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    is_part(span.start.checked_sub(1).and_then(|at| text.get(at))) && is_part(text.get(span.end))
}

/// A number or a word, which repeats as a token, if at all.
fn is_single_token(pieces: &[Piece]) -> bool {
    matches!(pieces, [piece] if matches!(piece.kind, Kind::Digits | Kind::Word | Kind::Space | Kind::Line | Kind::Bubble))
}

/// All windows, the shortest first, and among these first those that begin with what separates.
fn windows(pieces: &[Piece]) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    for len in 1..=pieces.len().min(16) {
        let starts = 0..=pieces.len() - len;
        let separates = |at: &usize| matches!(pieces[*at].symbol, Symbol::Marks(_) | Symbol::Blank(_));
        let (first, second): (Vec<usize>, Vec<usize>) = starts.partition(separates);
        windows.extend(first.into_iter().chain(second).map(|at| at..at + len));
    }
    windows
}

/// The window with its repetitions before and after it.
fn rounds_around(pieces: &[Piece], window: &Range<usize>) -> (usize, usize) {
    let len = window.len();
    let is_round = |at: usize| (0..len).all(|by| pieces[at + by].symbol == pieces[window.start + by].symbol);
    let (mut start, mut end) = (window.start, window.end);
    while start >= len && is_round(start - len) {
        start -= len;
    }
    while end + len <= pieces.len() && is_round(end) {
        end += len;
    }
    (start, end)
}
