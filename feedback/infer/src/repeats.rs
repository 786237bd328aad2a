//! Finds what repeats in a sequence of siblings, and what can be left out: the oracle is asked by repeating and
//! removing parts of samples (GLADE).

use std::collections::BTreeSet;
use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use crate::asked::Asked;
use crate::lex::{self, TokenKind, join};
use crate::places::Symbol;
use crate::tree::{Forest, NodeKind};

/// A member of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub symbol: Symbol,
    pub kind: NodeKind,
    pub span: Range<usize>,
}

/// A regular expression over symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Re {
    Piece(Piece),
    Seq(Vec<Re>),
    Optional(Box<Re>),
    Star(Box<Re>),
    Plus(Box<Re>),
}

impl Re {
    /// Returns the expression that is the sequence itself.
    pub fn plain(pieces: &[Piece]) -> Re {
        Re::Seq(pieces.iter().cloned().map(Re::Piece).collect())
    }

    /// Returns the expression with at least one round of each repetition.
    pub fn firm(&self) -> Re {
        match self {
            Re::Star(part) | Re::Plus(part) => Re::Plus(Box::new(part.firm())),
            Re::Seq(parts) => Re::Seq(parts.iter().map(Re::firm).collect()),
            Re::Optional(part) => Re::Optional(Box::new(part.firm())),
            Re::Piece(_) => self.clone(),
        }
    }

    /// Returns true if it is a single sequence.
    pub fn is_plain(&self) -> bool {
        match self {
            Re::Piece(_) => true,
            Re::Seq(parts) => parts.iter().all(Re::is_plain),
            Re::Optional(_) | Re::Star(_) | Re::Plus(_) => false,
        }
    }

    /// Returns true if it matches all of these symbols.
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
}

fn rounds(part: &Re, symbols: &[Symbol], mut all: BTreeSet<usize>) -> BTreeSet<usize> {
    let mut new = all.clone();
    while !new.is_empty() {
        new = part.ends(symbols, &new).difference(&all).copied().collect();
        all.extend(&new);
    }
    all
}

/// Sequences longer than this are only searched for short repetitions.
const LONG: usize = 48;

/// Finds what repeats in sequences of one sample.
pub(crate) struct Repeats<'a, 'o> {
    pub forest: &'a Forest,
    pub sample: usize,
    pub asked: &'a mut Asked<'o>,
}

impl Repeats<'_, '_> {
    /// Returns the expression for a sequence. What the oracle does not accept in combination is not generalised.
    pub fn of(&mut self, pieces: &[Piece], random: &mut Xoshiro256PlusPlus) -> Re {
        let plain = Re::plain(pieces);
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return plain };
        let found = self.general(pieces, true);
        let span = first.span.start..last.span.end;
        let rejected = (0..16).filter(|_| {
            let mut part = Vec::new();
            self.expand(&found, random, &mut part);
            !part.is_empty() && !self.accepts(&span, &part)
        });
        let symbols: Vec<Symbol> = pieces.iter().map(|piece| piece.symbol).collect();
        if rejected.count() > 1 || !found.matches(&symbols) { plain } else { found }
    }

    /// Writes a text of the expression, made of the pieces.
    fn expand(&self, re: &Re, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
        let number = random.next_u64() as usize >> 8;
        match re {
            Re::Piece(piece) => self.append(out, &piece.span),
            Re::Seq(parts) => parts.iter().for_each(|part| self.expand(part, random, out)),
            Re::Optional(part) => (0..number % 2).for_each(|_| self.expand(part, random, out)),
            Re::Star(part) => (0..number % 4).for_each(|_| self.expand(part, random, out)),
            Re::Plus(part) => (0..=number % 3).for_each(|_| self.expand(part, random, out)),
        }
    }

    fn append(&self, out: &mut Vec<u8>, span: &Range<usize>) {
        let part = &self.forest.samples[self.sample].text[span.clone()];
        if self.forest.has_joints && join(out, part) {
            out.push(b' ');
        }
        out.extend(part);
    }

    fn accepts(&mut self, span: &Range<usize>, part: &[u8]) -> bool {
        let text = self.forest.with(self.sample, span, part);
        self.asked.accepts(&text)
    }

    fn general(&mut self, pieces: &[Piece], is_whole: bool) -> Re {
        if let Some(found) = self.repetition(pieces, is_whole).or_else(|| self.option(pieces)) {
            return found;
        }
        match pieces {
            [piece] => Re::Piece(piece.clone()),
            _ => Re::plain(pieces),
        }
    }

    fn repetition(&mut self, pieces: &[Piece], is_whole: bool) -> Option<Re> {
        for window in windows(pieces) {
            let is_all = window.len() == pieces.len();
            if !is_whole && is_all || self.is_single_token(&pieces[window.clone()]) {
                continue;
            }
            let span = pieces[window.start].span.start..pieces[window.end - 1].span.end;
            let is_repeated = [2, 3].iter().all(|&rounds| {
                let mut part = Vec::new();
                (0..rounds).for_each(|_| self.append(&mut part, &span));
                // Rounds that become one token, such as `"a""b"`, are not rounds.
                let tokens = |text: &[u8]| lex::tokens(text, self.forest.quotes);
                let count = |text: &[u8]| tokens(text).iter().filter(|token| !token.kind.is_blank()).count();
                let once = count(&self.forest.samples[self.sample].text[span.clone()]);
                count(&part) == rounds * once && self.accepts(&span, &part)
            });
            if !is_repeated {
                continue;
            }
            let (start, end) = rounds_around(pieces, &window);
            let can_go = self.can_go(&(pieces[start].span.start..pieces[end - 1].span.end));
            if !can_go && end - start == window.len() && is_leaf(&pieces[window.clone()]) {
                continue;
            }
            let inner = Box::new(self.general(&pieces[window], false));
            let middle = if can_go { Re::Star(inner) } else { Re::Plus(inner) };
            return Some(self.around(pieces, start..end, middle));
        }
        None
    }

    fn option(&mut self, pieces: &[Piece]) -> Option<Re> {
        for window in windows(pieces) {
            // White space was tried before.
            let is_blank = pieces[window.clone()].iter().all(|piece| piece.kind.is_blank());
            if window.len() == pieces.len() || is_blank {
                continue;
            }
            let span = pieces[window.start].span.start..pieces[window.end - 1].span.end;
            if self.can_go(&span) {
                let inner = Box::new(self.general(&pieces[window.clone()], false));
                return Some(self.around(pieces, window, Re::Optional(inner)));
            }
        }
        None
    }

    /// Returns true if a part can be left out.
    fn can_go(&mut self, span: &Range<usize>) -> bool {
        let text = &self.forest.samples[self.sample].text;
        let joins = join(&text[..span.start], &text[span.end..]);
        if joins && !self.forest.has_joints {
            return false;
        }
        self.accepts(span, if joins { b" " } else { b"" })
    }

    /// Returns what is found in a window, and what stands around it.
    fn around(&mut self, pieces: &[Piece], window: Range<usize>, middle: Re) -> Re {
        let flat = |re: Re| if let Re::Seq(parts) = re { parts } else { vec![re] };
        let mut side = |part: &[Piece]| if part.is_empty() { Vec::new() } else { flat(self.general(part, true)) };
        let before = side(&pieces[..window.start]);
        let after = side(&pieces[window.end..]);
        Re::Seq([before, vec![middle], after].concat())
    }

    /// Returns true for a number or a word, which repeats as a token, if at all.
    fn is_single_token(&self, pieces: &[Piece]) -> bool {
        match pieces {
            [piece] => match piece.kind {
                NodeKind::Token(TokenKind::Number | TokenKind::Word) => !self.forest.has_joints,
                NodeKind::Token(kind) => kind.is_blank(),
                NodeKind::Bubble => !self.forest.has_joints,
                // Something separates segments.
                NodeKind::Segment => true,
                _ => false,
            },
            _ => false,
        }
    }
}

fn is_leaf(pieces: &[Piece]) -> bool {
    matches!(pieces, [piece] if matches!(piece.kind, NodeKind::Token(_) | NodeKind::Bubble))
}

/// Returns all windows, the shortest first, and among these first those that begin with what separates.
fn windows(pieces: &[Piece]) -> Vec<Range<usize>> {
    let longest = if pieces.len() > LONG { 4 } else { 16 };
    let mut windows = Vec::new();
    for len in 1..=pieces.len().min(longest) {
        let starts = 0..=pieces.len() - len;
        let separates = |at: &usize| matches!(pieces[*at].symbol, Symbol::Marks(_) | Symbol::Blank(_));
        let (first, second): (Vec<usize>, Vec<usize>) = starts.partition(separates);
        windows.extend(first.into_iter().chain(second).map(|at| at..at + len));
    }
    windows
}

/// Returns the window with its repetitions before and after it.
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
