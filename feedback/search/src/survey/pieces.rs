//! Pieces of texts, and what is put together of them.

use std::collections::{BTreeSet, HashSet};

use gramjet_compiler::formats::{Promise, Pump};
use gramjet_session::decisions::{Around, Stretch};

use crate::random::Random;

/// Texts that pieces are taken from, and the longest one, in bytes.
const TEXTS: usize = 256;
const LONGEST: usize = 256;
/// Pieces of texts that have grown fast.
const PREFERRED: usize = 32;
/// Bytes of a piece that is taken anywhere.
const SHORT: usize = 6;
/// Bytes that a text seldom may end with, or that begin something.
const JUNK: [&[u8]; 20] = [
    b"!", b"\0", b"\n", b" ", b"\"", b"'", b"<", b"(", b"{", b"[", b"\\", b"#", b"@", b"x", b"0", b"-", b"=", b";",
    b"\xff", b"\t",
];

/// Texts for regular expressions of the program that are tried alone, and of those the ones of one expression.
const PUMPS: usize = 512;
const PUMPS_ALIKE: usize = 4;

/// Texts, tokens and pieces.
#[derive(Debug)]
pub(super) struct Pieces {
    texts: Vec<Vec<u8>>,
    /// Tokens of the grammar, and single bytes.
    tokens: Vec<Vec<u8>>,
    preferred: Vec<Vec<u8>>,
    /// Texts for regular expressions of the program, the most promising ones first.
    pumps: Vec<Pump>,
    /// The text that the next one replaces.
    oldest: usize,
}

/// Returns bytes that a text may end with to make it fail.
pub(super) fn junk(random: &mut Random) -> Vec<u8> {
    JUNK[random.below(JUNK.len())].to_vec()
}

impl Pieces {
    /// Returns the pieces of these tokens and texts, and of texts for each regular expression of the program.
    pub(super) fn new(tokens: &[Box<[u8]>], texts: &[Vec<u8>], pumps: &[Vec<Pump>]) -> Pieces {
        let tokens = tokens.iter().filter(|token| token.len() <= LONGEST).map(|token| token.to_vec());
        let mut known = HashSet::new();
        let ranked = (0..PUMPS_ALIKE).flat_map(|rank| pumps.iter().filter_map(move |pumps| pumps.get(rank)));
        let mut best: Vec<Pump> = ranked.filter(|pump| known.insert(*pump)).cloned().collect();
        // Of equal promise, the first ones of each expression come first.
        best.sort_by_key(|pump| pump.promise);
        best.truncate(PUMPS);
        let mut pieces =
            Pieces { texts: Vec::new(), tokens: tokens.collect(), preferred: Vec::new(), pumps: best, oldest: 0 };
        texts.iter().for_each(|text| pieces.add(text));
        pieces
    }

    /// Returns texts that repeat a token or a byte, and have nothing else.
    pub(super) fn alone(&self) -> impl Iterator<Item = Stretch> {
        let junk = JUNK.iter().map(|junk| junk.to_vec());
        let all: BTreeSet<Vec<u8>> = self.tokens.iter().take(TEXTS).cloned().chain(junk).collect();
        all.into_iter().map(|each| plain(Around::default(), each))
    }

    /// Returns texts for regular expressions of the program, and nothing around them.
    pub(super) fn pumps(&self) -> impl Iterator<Item = Stretch> {
        self.pumps.iter().map(|pump| {
            let around = Around { before: pump.before.clone(), after: pump.after.clone() };
            plain(around, pump.each.clone())
        })
    }

    pub(super) fn has_pumps(&self) -> bool {
        !self.pumps.is_empty()
    }

    /// Returns a text in which one for a regular expression of the program takes the place of a part.
    pub(super) fn with_pump(&self, text: &[u8], parts: &[(usize, usize)], random: &mut Random) -> Stretch {
        let few = self.pumps.iter().take_while(|pump| pump.promise < Promise::Plain).count();
        let among = if few > 0 && random.below(4) > 0 { few } else { self.pumps.len() };
        let pump = &self.pumps[random.below(among)];
        let (from, to) =
            if parts.is_empty() { span(text.len(), SHORT, random) } else { parts[random.below(parts.len())] };
        let rest = if random.below(2) == 0 { &text[to..] } else { &[] };
        let around = Around { before: [&text[..from], &pump.before].concat(), after: [&pump.after, rest].concat() };
        plain(around, pump.each.clone())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Adds a text to take pieces from.
    pub(super) fn add(&mut self, text: &[u8]) {
        let text = text[..text.len().min(LONGEST)].to_vec();
        if text.is_empty() {
            return;
        }
        if self.texts.len() < TEXTS {
            self.texts.push(text);
        } else {
            self.texts[self.oldest] = text;
            self.oldest = (self.oldest + 1) % TEXTS;
        }
    }

    /// Adds the pieces of a text that grows fast.
    pub(super) fn prefer(&mut self, stretch: &Stretch) {
        let pieces = [&stretch.each.before, &stretch.around.before, &stretch.around.after, &stretch.inner];
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty() && piece.len() <= LONGEST) {
            if !self.preferred.contains(piece) {
                self.preferred.push(piece.clone());
            }
        }
        let more = self.preferred.len().saturating_sub(PREFERRED);
        self.preferred.drain(..more);
    }

    /// Returns one of the texts.
    pub(super) fn text(&self, random: &mut Random) -> Vec<u8> {
        if self.texts.is_empty() { Vec::new() } else { self.texts[random.below(self.texts.len())].clone() }
    }

    /// Returns a piece: a token, a few bytes of a text, one byte, or a piece that has grown fast.
    fn piece(&self, random: &mut Random) -> Vec<u8> {
        match random.below(8) {
            0 | 1 if !self.tokens.is_empty() => self.tokens[random.below(self.tokens.len())].clone(),
            2 if !self.preferred.is_empty() => self.preferred[random.below(self.preferred.len())].clone(),
            3 => junk(random),
            4 | 5 => {
                let text = self.text(random);
                let (from, to) = span(text.len(), SHORT, random);
                text[from..to].to_vec()
            }
            _ => {
                let text = self.text(random);
                if text.is_empty() { junk(random) } else { vec![text[random.below(text.len())]] }
            }
        }
    }

    /// Returns a text that repeats a piece of this one, at its place or between other pieces.
    pub(super) fn pumped(&self, text: &[u8], parts: &[(usize, usize)], random: &mut Random) -> Stretch {
        let (from, to) = if !parts.is_empty() && random.below(2) == 0 {
            parts[random.below(parts.len())]
        } else {
            span(text.len(), SHORT, random)
        };
        let mut each = text[from..to].to_vec();
        if each.is_empty() || random.below(4) == 0 {
            each = self.piece(random);
        }
        let around = Around { before: text[..from].to_vec(), after: text[to..].to_vec() };
        let mut stretch = plain(around, each);
        for _ in 0..random.below(3) {
            stretch = self.varied(stretch, random);
        }
        stretch
    }

    /// Returns a text with one thing changed.
    pub(super) fn varied(&self, mut stretch: Stretch, random: &mut Random) -> Stretch {
        match random.below(16) {
            0..=2 => stretch.around.after = Vec::new(),
            3 | 4 => stretch.around.after = junk(random),
            5 => stretch.around.after.extend(junk(random)),
            6 => stretch.around.after = self.piece(random),
            7 => stretch.around.before = Vec::new(),
            8 => {
                let text = self.text(random);
                stretch.around.before = text[..random.below(text.len() + 1)].to_vec();
            }
            9 => stretch.around.before = self.piece(random),
            10 => stretch.each.before = self.piece(random),
            11 => {
                let piece = self.piece(random);
                let at = random.below(stretch.each.before.len() + 1);
                stretch.each.before.splice(at..at, piece);
            }
            12 => {
                let (from, to) = span(stretch.each.before.len(), SHORT, random);
                stretch.each.before.drain(from..to);
            }
            13 => (stretch.inner, stretch.each.after) = (self.piece(random), self.piece(random)),
            14 => (stretch.inner, stretch.each.after) = (Vec::new(), Vec::new()),
            _ => stretch.inner = self.piece(random),
        }
        stretch.is_nested = !stretch.each.after.is_empty();
        stretch
    }
}

fn plain(around: Around, each: Vec<u8>) -> Stretch {
    let each = Around { before: each, after: Vec::new() };
    Stretch { rule: String::new(), is_nested: false, around, each, inner: Vec::new() }
}

/// Returns a random range of at most `most` bytes within `len` bytes: its beginning and its end.
fn span(len: usize, most: usize, random: &mut Random) -> (usize, usize) {
    if len == 0 {
        return (0, 0);
    }
    let from = random.below(len);
    let longest = most.min(len - from);
    (from, from + 1 + random.below(longest))
}
