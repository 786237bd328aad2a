//! Texts that are broken in some bytes: most of them are not in the language. They show how a subject treats mistakes.

use crate::corpus::Corpus;
use crate::havoc::{self, Blocks, change};
use crate::random::Random;

/// At most 16 changes are made at once: two to a power that is less than this.
const MOST_STACKED: usize = 5;
/// One text in this number is the beginning of one and the end of another.
const CROSSED: usize = 8;
/// One change in this number puts a token of the grammar somewhere.
const TOKENS: usize = 3;

/// Breaks kept texts.
#[derive(Clone, Debug)]
pub(crate) struct Breaker {
    tokens: Vec<Box<[u8]>>,
    /// Broken texts that were kept.
    pub(crate) corpus: Corpus,
}

/// A kept text that is broken further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    /// A text of the language.
    Conforming(usize),
    /// A broken one.
    Broken(usize),
}

impl Breaker {
    /// Returns a breaker that knows the tokens of a grammar.
    pub(crate) fn new(tokens: &[Box<[u8]>]) -> Breaker {
        Breaker { tokens: tokens.to_vec(), corpus: Corpus::default() }
    }

    /// Returns a text to break: a broken one as often as one of the language.
    pub(crate) fn pick(&mut self, conforming: &mut Corpus, random: &mut Random) -> Option<Whole> {
        let broken = if random.below(2) == 0 { self.corpus.pick(random).map(Whole::Broken) } else { None };
        broken.or_else(|| conforming.pick(random).map(Whole::Conforming))
    }

    /// Writes a broken text of at least one byte.
    pub(crate) fn make(
        &self,
        whole: Whole,
        conforming: &Corpus,
        max_len: usize,
        random: &mut Random,
        text: &mut Vec<u8>,
    ) {
        let texts = |number: Whole| match number {
            Whole::Conforming(number) => &conforming.entries()[number].text,
            Whole::Broken(number) => &self.corpus.entries()[number].text,
        };
        text.clone_from(texts(whole));
        let all = conforming.entries().len() + self.corpus.entries().len();
        if random.below(CROSSED) == 0 {
            let other = random.below(all);
            let other = match other.checked_sub(conforming.entries().len()) {
                None => Whole::Conforming(other),
                Some(other) => Whole::Broken(other),
            };
            cross(text, texts(other), random);
        }
        if text.is_empty() {
            text.push(random.below(256) as u8);
        }
        let blocks = Blocks { most: max_len.max(1), ranges: 1 };
        for _ in 0..1usize << random.below(MOST_STACKED) {
            if !self.tokens.is_empty() && random.below(TOKENS) == 0 {
                put(text, &self.tokens[random.below(self.tokens.len())], random);
            } else {
                change(random.below(havoc::OPERATORS), text, blocks, random);
            }
        }
        text.truncate(max_len.max(1));
    }
}

/// Puts the end of another text in place of the end of this one.
fn cross(text: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    text.truncate(random.below(text.len() + 1));
    text.extend_from_slice(&other[random.below(other.len() + 1)..]);
}

/// Inserts a token, or overwrites what stands there.
fn put(text: &mut Vec<u8>, token: &[u8], random: &mut Random) {
    let at = random.below(text.len() + 1);
    let end = if random.below(2) == 0 { at } else { text.len().min(at + token.len()) };
    text.splice(at..end, token.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_texts_have_tokens_and_parts_of_kept_texts_and_keep_the_limit() {
        let mut conforming = Corpus::default();
        let mut random = Random::new(1);
        let mut breaker = Breaker::new(&[Box::from(*b"<token>")]);
        assert_eq!(breaker.pick(&mut conforming, &mut random), None);
        conforming.keep(b"0123456789", 0, vec![], vec![]);
        conforming.keep(b"", 0, vec![], vec![]);
        breaker.corpus.keep(b"abcdefghij", 0, vec![], vec![]);
        let mut made = Vec::new();
        for _ in 0..20_000 {
            let whole = breaker.pick(&mut conforming, &mut random).expect("there are some");
            let mut text = Vec::new();
            breaker.make(whole, &conforming, 20, &mut random, &mut text);
            assert!((1..=20).contains(&text.len()), "{text:?}");
            made.push(String::from_utf8_lossy(&text).into_owned());
        }
        let counts = [&["<token>"][..], &["01", "ij"], &["2345678"], &["bcdefg"]]
            .map(|parts| made.iter().filter(|text| parts.iter().all(|part| text.contains(part))).count());
        // A whole token, parts of two texts, and long parts of each.
        assert!(counts[0] > 2000 && counts[1] > 20 && counts[2] > 200 && counts[3] > 600, "{counts:?}");
    }
}
