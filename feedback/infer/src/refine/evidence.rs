//! Texts that the program accepts and the grammar does not: found among mutants, made smaller, told apart by where and
//! how the parser fails.

use std::collections::{BTreeMap, BTreeSet};

use gramjet_compiler::diagnostics::SourceFile;
use gramjet_session::{Language, Mismatch, Random, Session, Settings, hash};

use crate::refine::mutants::Mutants;
use crate::refine::reader::{Derivation, Reader};

/// Question to the program whether it accepts a text.
pub(crate) type Ask<'a> = dyn FnMut(&[u8]) -> Option<bool> + 'a;

/// At most this many texts are kept that fail in the same way.
const MOST_ALIKE: usize = 10;

/// At most this many of them are made smaller: that takes most questions.
const MOST_SMALL: usize = 2;

/// At most this many texts are kept.
const MOST: usize = 120;

/// Texts are made smaller by at most this many questions.
const SHRINKS: u32 = 60;

/// Longer texts are no evidence: each is parsed by many grammars.
const LONGEST: usize = 1 << 14;

/// Longer texts are not made smaller: parsing them many times would take long.
const MOST_SHRUNK: usize = 1 << 11;

/// Texts that the grammar lacks.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// All of them.
    pub(crate) texts: Vec<Vec<u8>>,
    /// The smaller forms of some, one or more for each way to fail.
    pub(crate) small: Vec<Vec<u8>>,
    known: BTreeSet<u64>,
    alike: BTreeMap<Failure, usize>,
}

/// Place where the parser fails, and the bytes there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Failure {
    within: Option<String>,
    found: Option<u8>,
    /// Byte that comes next, if that is a digit or a letter: a program may take a point alone, too, but a fraction is
    /// what its texts have.
    next: Option<u8>,
}

impl Failure {
    fn of(mismatch: &Mismatch, text: &[u8]) -> Failure {
        let next = text.get(mismatch.offset + 1).copied();
        Failure {
            within: mismatch.within.as_ref().map(|(rule, _)| rule.clone()),
            found: mismatch.found.map(kind),
            next: next.map(kind).filter(|&kind| [b'0', b'a', 0x80].contains(&kind)),
        }
    }
}

/// Returns a byte that stands for those that fail alike, as digits do, and letters.
pub(crate) fn kind(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => b'0',
        b'a'..=b'z' | b'A'..=b'Z' => b'a',
        0x80.. => 0x80,
        other => other,
    }
}

impl Evidence {
    /// Takes a text that the program accepts, if the grammar does not read it; says whether it was taken.
    pub(crate) fn take(&mut self, text: &[u8], reader: &Reader, bytes: &mut Bytes, ask: &mut Ask<'_>) -> Option<bool> {
        if text.len() > LONGEST {
            return Some(false);
        }
        let Some(failure) = reader.mismatch(text).map(|found| Failure::of(&found, text)) else { return Some(false) };
        if self.texts.len() >= MOST || !self.known.insert(hash(text)) {
            return Some(false);
        }
        let alike = self.alike.entry(failure.clone()).or_insert(0);
        if *alike >= MOST_ALIKE {
            return Some(false);
        }
        *alike += 1;
        let is_first = *alike <= MOST_SMALL;
        self.texts.push(text.to_vec());
        if is_first && text.len() <= MOST_SHRUNK {
            let small = bytes.shrink(text, SHRINKS, &mut |text| {
                let is_alike = reader.mismatch(text).is_some_and(|mismatch| Failure::of(&mismatch, text) == failure);
                is_alike.then(|| ask(text))
            })?;
            if self.known.insert(hash(&small)) {
                self.texts.push(small.clone());
            }
            if !self.small.contains(&small) {
                self.small.push(small);
            }
        }
        Some(true)
    }

    /// Returns true if there is no room for more.
    pub(crate) fn is_full(&self) -> bool {
        self.texts.len() >= MOST
    }

    /// Forgets the texts that a grammar reads. With this one the others may fail in other ways, so that there may be
    /// room for texts that were refused before.
    pub(crate) fn drop_read(&mut self, reader: &Reader) {
        self.texts.retain(|text| !reader.reads(text));
        self.small.retain(|text| !reader.reads(text));
        self.known = self.texts.iter().map(|text| hash(text)).collect();
        self.alike.clear();
        // A text that was made smaller fails like the one of which it was made.
        for text in self.texts.iter().filter(|text| !self.small.contains(text)) {
            if let Some(mismatch) = reader.mismatch(text) {
                *self.alike.entry(Failure::of(&mismatch, text)).or_insert(0) += 1;
            }
        }
    }
}

/// Makes any text smaller, byte by byte.
pub(crate) struct Bytes(Session);

impl Bytes {
    pub(crate) fn new() -> Bytes {
        let file = SourceFile::new("bytes.ebnf", "text ::= [#b00-#bFF]*\n");
        let language = Language::compile(&file, &Settings { own_weights: true, ..Settings::default() });
        Bytes(Session::new(&language.expect("a grammar that compiles"), 0))
    }

    /// Returns the smallest text found for which `test` holds, as it does for this one; `None` if there are no more
    /// answers. `test` returns `None` for no more answers, and `Some(None)` for a text that is not asked about.
    fn shrink(
        &mut self,
        text: &[u8],
        tests: u32,
        test: &mut dyn FnMut(&[u8]) -> Option<Option<bool>>,
    ) -> Option<Vec<u8>> {
        let Some(mut trim) = self.0.trim(text, 8 * tests) else { return Some(text.to_vec()) };
        let mut left = tests;
        while left > 0
            && let Some(smaller) = trim.propose()
        {
            let holds = match test(smaller) {
                // Not asked.
                None => false,
                Some(answer) => {
                    left -= 1;
                    answer?
                }
            };
            trim.judge(holds);
        }
        Some(trim.text().to_vec())
    }
}

/// Looks for texts that a grammar lacks among mutants of texts that the program accepts.
pub(crate) struct Hunt<'h> {
    pub(crate) reader: &'h Reader,
    pub(crate) mutants: &'h Mutants,
    pub(crate) bases: &'h [Derivation],
    /// The number of questions.
    pub(crate) tests: u64,
}

impl Hunt<'_> {
    /// Hunts; `None` if there are no more answers.
    pub(crate) fn run(
        &self,
        evidence: &mut Evidence,
        bytes: &mut Bytes,
        random: &mut Random,
        ask: &mut Ask<'_>,
    ) -> Option<()> {
        if self.bases.is_empty() {
            return Some(());
        }
        let (mut tests, mut idle) = (0, 0);
        // Mutants that conform are not asked about, so there is a bound on them, too.
        while tests < self.tests && idle < 50 * self.tests && !evidence.is_full() {
            let base = &self.bases[random.below(self.bases.len())];
            let other = &self.bases[random.below(self.bases.len())];
            let mutant = self.mutants.make(base, other, random);
            idle += 1;
            if evidence.known.contains(&hash(&mutant)) || self.reader.reads(&mutant) {
                continue;
            }
            tests += 1;
            if ask(&mutant)? {
                evidence.take(&mutant, self.reader, bytes, ask)?;
            }
        }
        Some(())
    }
}
