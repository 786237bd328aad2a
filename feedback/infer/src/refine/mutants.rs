//! Mutants of texts: by bytes, by tokens, and by the parts of their derivations.

use std::ops::Range;

use gramjet_compiler::ast::Grammar;
use gramjet_session::Random;

use crate::refine::reader::Derivation;

/// Makes mutants of texts.
pub(crate) struct Mutants {
    /// Literals and members of small classes of the grammar, and tokens of texts.
    tokens: Vec<Vec<u8>>,
}

/// At most this many tokens are kept.
const MOST_TOKENS: usize = 4096;

/// The members of a class are tokens if there are no more.
const FEW_MEMBERS: u32 = 8;

/// Marks of programming languages and data formats.
const MARKS: &[u8] = b" -+.,:;=()[]{}<>\"'/*&|!?#@$%^~_\\\n\t0";

/// Mutants have at most this many bytes more than their text.
const MOST_GROWTH: usize = 256;

impl Mutants {
    /// Returns mutants with the literals of a grammar.
    pub(crate) fn new(grammar: &Grammar) -> Mutants {
        let mut mutants = Mutants { tokens: Vec::new() };
        for rule in &grammar.rules {
            rule.body.each(&mut |expr| {
                expr.as_bytes().into_iter().for_each(|bytes| mutants.add(bytes));
                for set in expr.as_class().into_iter().filter(|set| set.len() <= FEW_MEMBERS) {
                    set.iter().for_each(|member| mutants.add(set.encode(member).as_ref()));
                }
            });
        }
        mutants
    }

    /// Takes the tokens of a text, too.
    pub(crate) fn learn(&mut self, text: &[u8]) {
        for token in tokens(text) {
            self.add(&text[token]);
        }
    }

    fn add(&mut self, token: &[u8]) {
        if !token.is_empty() && self.tokens.len() < MOST_TOKENS && !self.tokens.iter().any(|known| known == token) {
            self.tokens.push(token.to_vec());
        }
    }

    /// Returns a mutant of a text. Parts of `other` may take the place of its own.
    pub(crate) fn make(&self, text: &Derivation, other: &Derivation, random: &mut Random) -> Vec<u8> {
        let mutant = match random.below(10) {
            0..=2 => by_bytes(&text.text, random),
            3..=5 => self.by_tokens(&text.text, random),
            _ => by_parts(text, other, random),
        };
        match random.below(4) {
            0 if mutant.len() <= text.text.len() + MOST_GROWTH => by_bytes(&mutant, random),
            1 => self.by_tokens(&mutant, random),
            _ => mutant,
        }
    }

    fn by_tokens(&self, text: &[u8], random: &mut Random) -> Vec<u8> {
        let found = tokens(text);
        if found.is_empty() {
            return self.any(random).to_vec();
        }
        let one = found[random.below(found.len())].clone();
        let other = found[random.below(found.len())].clone();
        match random.below(6) {
            0 => spliced(text, one, b""),
            1 => spliced(text, one.end..one.end, &text[one.clone()]),
            2 => spliced(text, one.end..one.end, &text[other]),
            3 => swapped(text, one, other),
            4 => spliced(text, one, self.any(random)),
            _ => {
                let at = if random.below(2) == 0 { one.start } else { one.end };
                spliced(text, at..at, self.any(random))
            }
        }
    }

    fn any(&self, random: &mut Random) -> &[u8] {
        match self.tokens.len() {
            0 => b" ",
            len => &self.tokens[random.below(len)],
        }
    }
}

fn by_bytes(text: &[u8], random: &mut Random) -> Vec<u8> {
    let at = random.below(text.len() + 1);
    let end = text.len().min(at + 1 + random.below(3));
    // A byte of the text, of ASCII, or any.
    let byte = match random.below(8) {
        0..=2 if !text.is_empty() => text[random.below(text.len())],
        3..=5 => MARKS[random.below(MARKS.len())],
        7 => random.below(256) as u8,
        _ => b' ' + random.below(95) as u8,
    };
    match random.below(5) {
        0 => spliced(text, at..end, b""),
        1 => spliced(text, at..at, &[byte]),
        2 => spliced(text, at..text.len().min(at + 1), &[byte]),
        3 => spliced(text, end..end, &text[at..end]),
        _ => swapped(text, at..text.len().min(at + 1), text.len().min(at + 1)..text.len().min(at + 2)),
    }
}

fn by_parts(text: &Derivation, other: &Derivation, random: &mut Random) -> Vec<u8> {
    let own: Vec<&Range<usize>> = text.parts.iter().map(|part| &part.range).filter(|range| !range.is_empty()).collect();
    if own.is_empty() {
        return by_bytes(&text.text, random);
    }
    let one = own[random.below(own.len())].clone();
    let second = own[random.below(own.len())].clone();
    let foreign = other.parts.get(random.below(other.parts.len().max(1)));
    let foreign = foreign.map_or(&b""[..], |part| &other.text[part.range.clone()]);
    let text = &text.text;
    let short = &foreign[..foreign.len().min(MOST_GROWTH)];
    match random.below(7) {
        0 => spliced(text, one, b""),
        1 | 2 => spliced(text, one.end..one.end, &text[one.start..one.end.min(one.start + MOST_GROWTH)]),
        3 => spliced(text, one, &text[second]),
        4 => spliced(text, one, short),
        5 => spliced(text, one.end..one.end, short),
        _ => swapped(text, one, second),
    }
}

/// Returns the text with other bytes in a range.
pub(crate) fn spliced(text: &[u8], range: Range<usize>, with: &[u8]) -> Vec<u8> {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// Returns the text with two ranges swapped; as it is if they overlap.
fn swapped(text: &[u8], one: Range<usize>, other: Range<usize>) -> Vec<u8> {
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    if first.end > second.start {
        return text.to_vec();
    }
    let between = &text[first.end..second.start];
    [&text[..first.start], &text[second.clone()], between, &text[first.clone()], &text[second.end..]].concat()
}

/// Returns the words, blanks and single marks of a text.
pub(crate) fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => 1,
        b' ' | b'\t' | b'\n' | b'\r' => 2,
        _ => 0,
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, &byte) in text.iter().enumerate() {
        match found.last_mut().filter(|last| kind(byte) > 0 && kind(text[last.end - 1]) == kind(byte)) {
            Some(last) => last.end = at + 1,
            None => found.push(at..at + 1),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::refine::reader::Reader;
    use crate::refine::testing::grammar;

    #[test]
    fn texts_fall_into_tokens() {
        let text = b"ab1+(c  \"d\")";
        let found: Vec<&[u8]> = tokens(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, [&b"ab1"[..], b"+", b"(", b"c", b"  ", b"\"", b"d", b"\"", b")"]);
    }

    #[test]
    fn mutants_are_near_their_text_and_many() {
        let grammar = grammar("list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9]+ | 'null' | list\n");
        let (reader, mutants) = (Reader::new(&grammar).expect("a grammar"), Mutants::new(&grammar));
        let one = reader.derivation(b"[1,[22,null],3]").expect("it conforms");
        let other = reader.derivation(b"[[],456]").expect("it conforms");
        let mut random = Random::new(7);
        let made: BTreeSet<Vec<u8>> = (0..2000).map(|_| mutants.make(&one, &other, &mut random)).collect();
        assert!(made.len() > 800, "{}", made.len());
        for expected in [&b"[1,[22,null]3]"[..], b"[1,[22,null][22,null],3]", b"[1,[456,null],3]", b"[1,,[22,null],3]"]
        {
            assert!(made.contains(expected), "{}", expected.escape_ascii());
        }
    }
}
