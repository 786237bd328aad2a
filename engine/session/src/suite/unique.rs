//! Texts of which no two are equal, within bounded memory; and all texts of a small language, one by one.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _};

use gramjet::Limits;
use gramjet_compiler::Compiled;
use gramjet_compiler::ir::{NodeId, Site};
use gramjet_compiler::limits;
use gramjet_compiler::machine::{Decide, Decided, Machine, Nothing, Part};

/// Answer to the question whether a text is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// No text before was equal.
    New,
    /// A text before was equal.
    Known,
    /// There is no room to remember the text.
    Full,
}

/// Remembers texts by their hashes of 128 bits. Two texts with one hash count as equal, so no text is new twice.
#[derive(Clone, Debug)]
pub struct Known {
    hashes: HashSet<u128, BuildHasherDefault<DefaultHasher>>,
    most: usize,
}

impl Known {
    /// The most texts that are remembered by default: they take 570 MB.
    pub const MOST: usize = 7 << 22;

    /// Returns a memory for at most this many texts.
    pub fn new(most: usize) -> Known {
        Known { hashes: HashSet::default(), most }
    }

    /// Remembers a text.
    pub fn add(&mut self, text: &[u8]) -> Novelty {
        let hash = hash(text);
        if self.hashes.contains(&hash) {
            return Novelty::Known;
        }
        if self.hashes.len() >= self.most {
            return Novelty::Full;
        }
        self.hashes.insert(hash);
        Novelty::New
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
}

fn hash(text: &[u8]) -> u128 {
    let half = |first: u8| {
        let mut hasher = DefaultHasher::new();
        first.hash(&mut hasher);
        hasher.write(text);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// Bounds of [`every`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// The most derivations.
    pub derivations: u64,
    /// The most bytes of all their texts together.
    pub bytes: u64,
    /// The most decisions of all of them together.
    pub decisions: u64,
}

impl Default for Most {
    fn default() -> Most {
        Most { derivations: 1 << 17, bytes: 1 << 26, decisions: 1 << 26 }
    }
}

/// Derives every text of a grammar within limits, in the order of its choices, and calls `found` for each; a text of
/// several derivations comes several times. Stops when `found` returns false. Returns true if that were all.
pub fn every(compiled: &Compiled, limits: Limits, most: Most, found: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let ir = &compiled.lowered;
    let bounds = limits::Limits { max_depth: limits.depth(), max_len: limits.length() };
    let (mut counting, mut text, mut tasks, mut bytes) = (Counting::default(), Vec::new(), Vec::new(), 0);
    for _ in 0..most.derivations {
        text.clear();
        counting.at = 0;
        let machine = Machine::new(ir, &compiled.pools, bounds, limits.output(), &mut counting, &mut text, Nothing);
        let read = machine.derive(Part::Rule(ir.start()), 0, &mut tasks).read;
        bytes += text.len() as u64;
        // Beyond the limits, a text would be another one.
        let is_whole = read <= limits.choices() && text.len() as u64 <= limits.output();
        if is_whole && !found(&text) {
            return false;
        }
        if !counting.advance() {
            return true;
        }
        if bytes > most.bytes || counting.decisions > most.decisions {
            return false;
        }
    }
    false
}

/// Options of a derivation, each with the number of those that are offered: counts through all derivations.
#[derive(Default)]
struct Counting {
    options: Vec<(u32, u32)>,
    at: usize,
    /// The number of decisions of all derivations so far.
    decisions: u64,
}

impl Counting {
    /// Moves on to the next derivation, if there is one.
    fn advance(&mut self) -> bool {
        self.options.truncate(self.at);
        while let Some((option, offered)) = self.options.pop() {
            if option + 1 < offered {
                self.options.push((option + 1, offered));
                return true;
            }
        }
        false
    }
}

impl Decide for &mut Counting {
    fn decide(&mut self, _node: NodeId, site: Site<'_>) -> Decided {
        if self.at == self.options.len() {
            self.options.push((0, site.options()));
        }
        self.at += 1;
        self.decisions += 1;
        Decided { option: self.options[self.at - 1].0, missing: 0 }
    }
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::{Options, SourceFile, compile};

    use super::*;

    fn texts(grammar: &str, limits: Limits, most: Most) -> (Vec<String>, bool) {
        let file = SourceFile::new("g.ebnf", grammar);
        let (compiled, _) = compile(&file, &Options::default()).expect("a grammar");
        let mut texts = Vec::new();
        let all = every(&compiled, limits, most, &mut |text| {
            texts.push(String::from_utf8_lossy(text).into_owned());
            true
        });
        (texts, all)
    }

    #[test]
    fn every_text_of_a_finite_language_comes() {
        let (found, all) = texts("a ::= [ab] 'x'{0,2} | 'c' b  b ::= '1' | '2'", Limits::new(), Most::default());
        assert!(all);
        let mut sorted = found.clone();
        sorted.sort();
        assert_eq!(sorted, ["a", "ax", "axx", "b", "bx", "bxx", "c1", "c2"]);
    }

    #[test]
    fn limits_make_a_language_finite() {
        let lists = "list ::= '[' (list (',' list)*)? ']'";
        let (found, all) = texts(lists, Limits::new().max_len(7), Most::default());
        assert!(all && found.len() == 4, "{found:?}");
        let (found, all) = texts(lists, Limits::new().max_len(60), Most { derivations: 100, ..Most::default() });
        assert!(!all && found.len() == 100);
        let (_, all) = texts("a ::= 'x'*", Limits::new(), Most { bytes: 1000, ..Most::default() });
        assert!(!all);
        let (found, all) = texts("a ::= a | 'x'", Limits::new(), Most { decisions: 1000, ..Most::default() });
        assert!(!all && found.len() < 50, "{}", found.len());
    }

    #[test]
    fn known_texts_are_known_and_memory_is_bounded() {
        let mut known = Known::new(2);
        assert_eq!(known.add(b"a"), Novelty::New);
        assert_eq!(known.add(b"a"), Novelty::Known);
        assert_eq!(known.add(b""), Novelty::New);
        assert_eq!((known.add(b"b"), known.add(b"a")), (Novelty::Full, Novelty::Known));
        assert_eq!(known.len(), 2);
    }
}
