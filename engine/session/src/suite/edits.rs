//! Changes of a valid text by which it may cease to be valid.

use gramjet::choices::SpanKind;
use gramjet_compiler::ir::{Ir, NodeId};
use gramjet_engine::decisions::Deriver;

use super::lead::Led;
use super::tokens::{Stretch, Tokens, encoded, outside, stretch};
use crate::random::Random;

/// The kinds of changes, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A token or a character is left out.
    Deleted(Unit),
    /// A token or a character is written twice.
    Doubled(Unit),
    /// Two neighbours change places.
    Swapped(Unit),
    /// Another one is in its place.
    Replaced(Unit),
    /// Another one is put before it.
    Inserted(Unit),
    /// The text ends early.
    Truncated,
    /// In place of a member of a class, its neighbour that the class does not have.
    ClassEdge,
    /// A repetition has a round less than its fewest.
    TooFewRounds,
    /// A repetition has a round more than its most.
    TooManyRounds,
}

/// Units of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A literal, or members of classes next to each other.
    Token,
    /// A character.
    Character,
}

use Unit::{Character, Token};

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 14] = [
        Kind::Deleted(Token),
        Kind::Doubled(Token),
        Kind::Swapped(Token),
        Kind::Replaced(Token),
        Kind::Inserted(Token),
        Kind::Deleted(Character),
        Kind::Doubled(Character),
        Kind::Swapped(Character),
        Kind::Replaced(Character),
        Kind::Inserted(Character),
        Kind::Truncated,
        Kind::ClassEdge,
        Kind::TooFewRounds,
        Kind::TooManyRounds,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Deleted(Token) => "deleted-token",
            Kind::Doubled(Token) => "doubled-token",
            Kind::Swapped(Token) => "swapped-tokens",
            Kind::Replaced(Token) => "replaced-token",
            Kind::Inserted(Token) => "inserted-token",
            Kind::Deleted(Character) => "deleted-character",
            Kind::Doubled(Character) => "doubled-character",
            Kind::Swapped(Character) => "swapped-characters",
            Kind::Replaced(Character) => "replaced-character",
            Kind::Inserted(Character) => "inserted-character",
            Kind::Truncated => "truncated",
            Kind::ClassEdge => "class-edge",
            Kind::TooFewRounds => "too-few-rounds",
            Kind::TooManyRounds => "too-many-rounds",
        }
    }
}

/// A change: bytes in place of a stretch of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub at: usize,
    pub end: usize,
    pub by: Vec<u8>,
}

impl Edit {
    fn new((at, end): Stretch, by: Vec<u8>) -> Edit {
        Edit { at, end, by }
    }

    /// Returns the text with the change.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        [&text[..self.at], &self.by, &text[self.end..]].concat()
    }
}

/// The most bytes that rounds may have that are added.
const MOST_ADDED: usize = 1 << 12;

/// A valid text that is changed.
pub(super) struct Base<'b> {
    pub ir: &'b Ir,
    pub led: &'b Led,
    pub deriver: &'b Deriver,
    pub tokens: Tokens,
    characters: Vec<Stretch>,
    /// The literals of the grammar.
    literals: &'b [Box<[u8]>],
}

impl<'b> Base<'b> {
    /// Returns a text to be changed.
    pub fn new(ir: &'b Ir, led: &'b Led, deriver: &'b Deriver, literals: &'b [Box<[u8]>]) -> Base<'b> {
        let (tokens, characters) = (Tokens::new(ir, led, deriver), characters(&led.derivation.text));
        Base { ir, led, deriver, tokens, characters, literals }
    }

    fn text(&self) -> &[u8] {
        &self.led.derivation.text
    }

    /// Draws a change of a kind; `None` if there is none at the place that was drawn.
    pub fn draw(&self, kind: Kind, random: &mut Random) -> Option<Edit> {
        match kind {
            Kind::Deleted(unit) => Some(Edit::new(one(self.units(unit), random)?, Vec::new())),
            Kind::Doubled(unit) => {
                let (from, to) = one(self.units(unit), random)?;
                Some(Edit::new((to, to), self.text()[from..to].to_vec()))
            }
            Kind::Swapped(unit) => {
                let units = self.units(unit);
                let at = random.below(units.len().checked_sub(1).filter(|&pairs| pairs > 0)?);
                let ((from, middle), (_, to)) = (units[at], units[at + 1]);
                let swapped = [&self.text()[middle..to], &self.text()[from..middle]].concat();
                Some(Edit::new((from, to), swapped))
            }
            Kind::Replaced(unit) => Some(Edit::new(one(self.units(unit), random)?, self.other(unit, random)?)),
            Kind::Inserted(unit) => {
                let at = random.below(self.units(unit).len() + 1);
                let at = self.units(unit).get(at).map_or(self.text().len(), |&(from, _)| from);
                Some(Edit::new((at, at), self.other(unit, random)?))
            }
            Kind::Truncated => {
                let (at, _) = one(&self.characters, random)?;
                Some(Edit::new((at, self.text().len()), Vec::new()))
            }
            Kind::ClassEdge => {
                let members = &self.tokens.members;
                let &(place, node) = members.get(random.below(members.len().max(1)))?;
                let set = self.ir.node(node).class()?;
                let outside = outside(set);
                let member = outside.get(random.below(outside.len().max(1)))?;
                Some(Edit::new(place, encoded(set, *member)))
            }
            Kind::TooFewRounds => self.fewer_rounds(self.repetition(random)?),
            Kind::TooManyRounds => self.more_rounds(self.repetition(random)?),
        }
    }

    fn units(&self, unit: Unit) -> &[Stretch] {
        match unit {
            Token => &self.tokens.tokens,
            Character => &self.characters,
        }
    }

    /// Returns another token or character of the grammar, or any readable character.
    fn other(&self, unit: Unit, random: &mut Random) -> Option<Vec<u8>> {
        match unit {
            Token => self.literals.get(random.below(self.literals.len().max(1))).map(|literal| literal.to_vec()),
            Character if random.below(2) == 0 && !self.literals.is_empty() => {
                let literal = &self.literals[random.below(self.literals.len())];
                let (from, to) = one(&characters(literal), random)?;
                Some(literal[from..to].to_vec())
            }
            Character => Some(vec![0x20 + random.below(0x5F) as u8]),
        }
    }

    /// Draws a repetition of the text, by the number of its part.
    fn repetition(&self, random: &mut Random) -> Option<usize> {
        let parts = &self.led.derivation.parts;
        let is_repetition = |&at: &usize| matches!(parts[at].kind, SpanKind::Repetition { .. });
        let repetitions: Vec<usize> = (0..parts.len()).filter(is_repetition).collect();
        repetitions.get(random.below(repetitions.len().max(1))).copied()
    }

    /// Returns the rounds of a repetition beyond its fewest.
    fn further(&self, part: usize) -> Vec<Stretch> {
        let rounds = self.led.derivation.within(part).filter(|part| part.kind == SpanKind::Round);
        rounds.map(stretch).collect()
    }

    /// Returns the first of the fewest rounds of a repetition, as far as its text can be told from the next one's.
    fn first_round(&self, part: usize) -> Option<(Stretch, u32, Option<u32>)> {
        let whole = &self.led.derivation.parts[part];
        let node = NodeId::new(self.deriver.node_of(whole.symbol)? as usize);
        let rounds = self.ir.node(node).rounds()?;
        let (from, to) = stretch(whole);
        let end = self.further(part).first().map_or(to, |&(from, _)| from);
        let item = self.ir.node(rounds.item);
        let first = match rounds.min {
            0 => None,
            1 => Some((from, end)),
            _ if item.class().is_some() => {
                self.tokens.members.iter().map(|(place, _)| *place).find(|&(at, _)| at == from)
            }
            min => item.literal().map(|bytes| (from, from + bytes.len())).or_else(|| {
                let fewest = self.led.derivation.within(part).take_while(|part| part.kind != SpanKind::Round);
                let fewest: Vec<Stretch> = fewest.map(stretch).collect();
                // Else a round has several parts.
                let is_one_each = item.instance().is_some() || item.choice().is_some();
                (is_one_each && fewest.len() == min as usize).then(|| fewest[0])
            }),
        };
        Some((first.unwrap_or((from, from)), rounds.min, rounds.max))
    }

    fn fewer_rounds(&self, part: usize) -> Option<Edit> {
        let (first, min, _) = self.first_round(part)?;
        (min > 0 && first.0 < first.1 && self.further(part).is_empty()).then(|| Edit::new(first, Vec::new()))
    }

    fn more_rounds(&self, part: usize) -> Option<Edit> {
        let ((from, to), min, max) = self.first_round(part)?;
        let further = self.further(part);
        let (from, to) = further.last().copied().unwrap_or((from, to));
        let missing = (max? - min) as usize + 1 - further.len();
        let added = self.text()[from..to].repeat(Some(missing).filter(|all| all * (to - from) <= MOST_ADDED)?);
        (from < to).then(|| Edit::new((to, to), added))
    }
}

fn one(units: &[Stretch], random: &mut Random) -> Option<Stretch> {
    units.get(random.below(units.len().max(1))).copied()
}

/// Returns the characters of a text; a byte that is part of none counts as one.
fn characters(text: &[u8]) -> Vec<Stretch> {
    let (mut characters, mut at) = (Vec::new(), 0);
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            characters.push((at, at + character.len_utf8()));
            at += character.len_utf8();
        }
        for _ in chunk.invalid() {
            characters.push((at, at + 1));
            at += 1;
        }
    }
    characters
}
