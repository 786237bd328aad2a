//! The paths of texts from elsewhere, and a small set of these texts that has all of them.

use gramjet_compiler::Compiled;
use gramjet_engine::Tracer;
use gramjet_engine::decisions::{Derivation, Deriver};
use gramjet_parse::{Budget, ParseError, Parser};

use super::paths::{Paths, TooMany};
use super::steps::Steps;

/// Texts with their paths.
pub struct Corpus {
    steps: Steps,
    paths: Paths,
    parser: Parser,
    deriver: Deriver,
    /// The paths of each text, ascending, and its length in bytes.
    texts: Vec<(Vec<u32>, usize)>,
}

impl Corpus {
    /// Returns an empty corpus of a grammar, for paths of at most `longest` steps.
    ///
    /// # Errors
    ///
    /// If there are too many paths.
    pub fn new(compiled: &Compiled, longest: usize) -> Result<Corpus, TooMany> {
        let steps = Steps::new(compiled);
        Ok(Corpus {
            paths: Paths::new(&steps, longest)?,
            steps,
            parser: Parser::new(&compiled.lowered),
            deriver: Tracer::new(compiled).deriver(None),
            texts: Vec::new(),
        })
    }

    /// Adds a text, by the derivation that the parser finds.
    ///
    /// # Errors
    ///
    /// If it does not conform, or takes more than the budget.
    pub fn add(&mut self, text: &[u8], budget: &Budget) -> Result<(), ParseError> {
        let parsed = self.parser.parse(text, budget)?;
        let mut derivation = Derivation::default();
        self.deriver.decode(&parsed.choices, &mut derivation);
        self.texts.push((self.paths.of(&self.steps, &derivation, &self.deriver, None), text.len()));
        Ok(())
    }

    /// Returns the number of paths that the grammar allows.
    pub fn all(&self) -> usize {
        self.paths.len()
    }

    /// Returns the number of texts that have each path.
    fn counts(&self, texts: impl Iterator<Item = usize>) -> Vec<u32> {
        let mut counts = vec![0; self.paths.len()];
        texts.flat_map(|text| &self.texts[text].0).for_each(|&path| counts[path as usize] += 1);
        counts
    }

    /// Returns the number of paths that some text has.
    pub fn covered(&self) -> usize {
        self.counts(0..self.texts.len()).iter().filter(|&&count| count > 0).count()
    }

    /// Returns the paths that no text has, in the order of the grammar, short ones first.
    pub fn missing(&self) -> Vec<String> {
        let counts = self.counts(0..self.texts.len());
        let missing = (0..counts.len() as u32).filter(|&path| counts[path as usize] == 0);
        missing.map(|path| self.paths.told(path, &self.steps)).collect()
    }

    /// Returns the number of paths that each text has and none before it.
    pub fn added(&self) -> Vec<usize> {
        let mut known = vec![false; self.paths.len()];
        let mut new = |path: &&u32| !std::mem::replace(&mut known[**path as usize], true);
        self.texts.iter().map(|(paths, _)| paths.iter().filter(&mut new).count()).collect()
    }

    /// Returns the numbers of a few texts that have all paths that all have, none of which can be left out: again and
    /// again the one that adds most, of those the shortest.
    pub fn distilled(&self) -> Vec<usize> {
        let (mut known, mut kept) = (vec![false; self.paths.len()], Vec::new());
        // What a text adds only becomes less, so it is counted anew only where it could be the most.
        let gain =
            |known: &[bool], text: usize| self.texts[text].0.iter().filter(|&&path| !known[path as usize]).count();
        let order = |text: usize, gain: usize| (gain, std::cmp::Reverse((self.texts[text].1, text)));
        let mut open: std::collections::BinaryHeap<_> =
            (0..self.texts.len()).map(|text| (order(text, self.texts[text].0.len()), text)).collect();
        while let Some(((before, _), text)) = open.pop() {
            let now = gain(&known, text);
            if now == 0 {
                continue;
            }
            if now < before {
                open.push((order(text, now), text));
                continue;
            }
            self.texts[text].0.iter().for_each(|&path| known[path as usize] = true);
            kept.push(text);
        }
        self.without_needless(kept)
    }

    /// Leaves out texts whose paths the others have, those first that were taken first.
    fn without_needless(&self, mut kept: Vec<usize>) -> Vec<usize> {
        let mut counts = self.counts(kept.iter().copied());
        kept.retain(|&text| {
            let paths = &self.texts[text].0;
            let is_needed = paths.iter().any(|&path| counts[path as usize] == 1);
            if !is_needed {
                paths.iter().for_each(|&path| counts[path as usize] -= 1);
            }
            is_needed
        });
        kept.sort_unstable();
        kept
    }
}
