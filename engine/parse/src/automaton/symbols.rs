//! The symbols that the automaton reads: classes of bytes and characters that the grammar does not tell apart.
//!
//! A position of the text has one symbol: the class of its byte, or, where a character of several bytes begins, the
//! class of this character. Each byte of a literal is a class by itself.

use std::collections::HashMap;

use gramjet_compiler::charset::{CharSet, Unit};

use super::hash::Mixing;
use crate::machine::first_character;
use crate::program::Program;

/// The number of a symbol.
pub(super) type Symbol = u16;

/// The end of the text.
pub(super) const END: Symbol = 0;

/// A member of a symbol. The other members are like it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// `None` at the end of the text.
    pub byte: Option<u8>,
    /// The character that begins, and its length in bytes.
    pub character: Option<(u32, u8)>,
}

impl Sample {
    /// Returns the length of the character in bytes.
    pub fn len(&self) -> u8 {
        self.character.map_or(1, |(_, len)| len)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Symbols {
    bytes: [Symbol; 256],
    /// The first members of ranges of characters above U+007F, and their symbols.
    characters: Vec<(u32, Symbol)>,
    pub samples: Vec<Sample>,
}

/// The most ends of ranges in all classes together. There are not many more symbols, and their numbers have 16 bits.
const MOST_BOUNDS: usize = 1 << 15;

/// The most questions whether a class has a member.
const MOST_COMPARISONS: usize = 1 << 25;

/// Properties of a byte or a character that the grammar can see.
#[derive(PartialEq, Eq, Hash)]
struct Look {
    /// Whether it is a byte that is no character.
    is_part: bool,
    /// For a character: the symbol of its first byte, and its length.
    lead: Option<(Symbol, u8)>,
    literal: Option<u8>,
    members: Vec<bool>,
}

impl Symbols {
    /// Returns the symbols of a program. `None` if there could be too many symbols for their numbers, or too much to
    /// compare.
    pub fn new(program: &Program) -> Option<Symbols> {
        let mut numbers = HashMap::default();
        let sets: Vec<&CharSet> = distinct(program);
        let bounds: usize = sets.iter().map(|set| 2 * set.ranges().len()).sum();
        if bounds > MOST_BOUNDS || bounds * sets.len() > MOST_COMPARISONS {
            return None;
        }
        let mut symbols = Symbols {
            bytes: [END; 256],
            characters: Vec::new(),
            samples: vec![Sample { byte: None, character: None }],
        };
        let firsts: Vec<[bool; 256]> = sets.iter().map(|set| first_bytes(set)).collect();
        let mut in_literals = [false; 256];
        program.bytes.iter().for_each(|&byte| in_literals[usize::from(byte)] = true);
        for byte in 0..=255u8 {
            let literal = in_literals[usize::from(byte)].then_some(byte);
            let members = firsts.iter().map(|firsts| firsts[usize::from(byte)]).collect();
            let character = byte.is_ascii().then_some((u32::from(byte), 1));
            let sample = Sample { byte: Some(byte), character };
            let look = Look { is_part: !byte.is_ascii(), lead: None, literal, members };
            symbols.bytes[usize::from(byte)] = symbols.number(&mut numbers, look, sample);
        }
        symbols.add_characters(&mut numbers, &sets);
        Some(symbols)
    }

    fn add_characters(&mut self, numbers: &mut HashMap<Look, Symbol, Mixing>, sets: &[&CharSet]) {
        let wide: Vec<&CharSet> = sets.iter().copied().filter(|set| set.unit() == Unit::Char).collect();
        let mut firsts: Vec<u32> =
            wide.iter().flat_map(|set| set.ranges()).flat_map(|&(low, high)| [low, high + 1]).collect();
        // The first characters with each first byte.
        firsts.extend((0x80..0x800).step_by(0x40));
        firsts.extend([0x800].into_iter().chain((0x1000..0x1_0000).step_by(0x1000)));
        firsts.extend([0x1_0000].into_iter().chain((0x4_0000..0x11_0000).step_by(0x4_0000)));
        firsts.sort_unstable();
        firsts.dedup();
        for first in firsts {
            let Some(character) = char::from_u32(first).filter(|character| !character.is_ascii()) else { continue };
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let (byte, len) = (bytes[0], bytes.len() as u8);
            let lead = Some((self.bytes[usize::from(byte)], len));
            let members = wide.iter().map(|set| set.contains(first)).collect();
            let sample = Sample { byte: Some(byte), character: Some((first, len)) };
            let symbol = self.number(numbers, Look { is_part: false, lead, literal: None, members }, sample);
            self.characters.push((first, symbol));
        }
    }

    fn number(&mut self, numbers: &mut HashMap<Look, Symbol, Mixing>, look: Look, sample: Sample) -> Symbol {
        *numbers.entry(look).or_insert_with(|| {
            self.samples.push(sample);
            self.samples.len() as Symbol - 1
        })
    }

    /// Returns the memory that they take in bytes.
    pub fn size(&self) -> usize {
        size_of::<Symbols>() + size_of_val(&*self.characters) + size_of_val(&*self.samples)
    }

    /// Returns how many symbols there are.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Returns the symbol at a position of a text.
    #[inline]
    pub fn at(&self, text: &[u8], position: usize) -> Symbol {
        let Some(&byte) = text.get(position) else { return END };
        self.of_byte(byte).or_else(|| self.character(&text[position..])).unwrap_or(self.bytes[usize::from(byte)])
    }

    /// Returns the symbol of a byte with which no character of several bytes begins.
    #[inline]
    pub fn of_byte(&self, byte: u8) -> Option<Symbol> {
        (byte < 0xC2).then(|| self.bytes[usize::from(byte)])
    }

    fn character(&self, text: &[u8]) -> Option<Symbol> {
        let (character, _) = first_character(text)?;
        let place = self.characters.partition_point(|&(first, _)| first <= character);
        Some(self.characters[place - 1].1)
    }
}

/// Returns the different sets of a grammar's classes.
fn distinct(program: &Program) -> Vec<&CharSet> {
    let mut sets: Vec<&CharSet> = program.classes.iter().map(|class| &class.set).collect();
    sets.sort_unstable_by(|a, b| (a.unit(), a.ranges()).cmp(&(b.unit(), b.ranges())));
    sets.dedup();
    sets
}

/// Returns the bytes that members of a set are, or begin with.
fn first_bytes(set: &CharSet) -> [bool; 256] {
    let mut bytes = [false; 256];
    for &(low, high) in set.ranges() {
        // They ascend with the members.
        let first = |member| usize::from(set.encode(member).as_ref()[0]);
        bytes[first(low)..=first(high)].fill(true);
    }
    bytes
}
