//! Puts words into kept texts, at places that can hold them.

use gramjet_session::{Budget, Parts, Session};
use rustc_hash::FxHashSet;

use crate::random::Random;

/// Effort for one text.
const BUDGET: Budget = Budget { max_memory: 64 << 20, max_steps: Some(1 << 18) };
/// The number of places that are tried before a text is given up.
const TRIES: usize = 8;
/// The number of places that are drawn for that, most of which may be known to hold no such word.
const DRAWN: usize = 64;
/// The number of pairs of words and symbols that are remembered; then all are forgotten.
const REMEMBERED: usize = 1 << 18;

/// Words, and which parts of texts cannot be one.
#[derive(Debug)]
pub(super) struct Putter {
    words: Vec<Vec<u8>>,
    /// Words and symbols of parts that are never this word. What is around a part has no say in that.
    refused: FxHashSet<(usize, u32)>,
    /// The last text, and its parts.
    whole: Vec<u8>,
    parts: Vec<Parts>,
}

impl Putter {
    /// Returns a putter for these words; `None` if there are none.
    pub(super) fn new(words: &[Vec<u8>]) -> Option<Putter> {
        (!words.is_empty()).then(|| Putter {
            words: words.to_vec(),
            refused: FxHashSet::default(),
            whole: Vec::new(),
            parts: Vec::new(),
        })
    }

    /// Writes a text of the language with a word in place of a part of this one. Returns false if no place was found.
    pub(super) fn put(
        &mut self,
        whole: &[u8],
        max_len: usize,
        session: &mut Session,
        random: &mut Random,
        text: &mut Vec<u8>,
    ) -> bool {
        if self.whole != whole || self.parts.is_empty() {
            self.whole = whole.to_vec();
            self.parts = session.parts(whole).unwrap_or_default();
        }
        if self.parts.is_empty() {
            return false;
        }
        let mut left = TRIES;
        for _ in 0..DRAWN {
            let number = random.below(self.words.len());
            // A symbol with many parts, such as a character, is drawn as often as any other.
            let of_symbol = &self.parts[random.below(self.parts.len())];
            let range = of_symbol.ranges[random.below(of_symbol.ranges.len())].clone();
            let word = &self.words[number];
            let pair = (number, of_symbol.symbol);
            if whole[range.clone()] == **word
                || whole.len() - range.len() + word.len() > max_len
                || self.refused.contains(&pair)
            {
                continue;
            }
            text.clear();
            text.extend_from_slice(&whole[..range.start]);
            text.extend_from_slice(word);
            text.extend_from_slice(&whole[range.end..]);
            if session.language().parse_within(text, &BUDGET).is_ok() {
                return true;
            }
            if self.refused.len() >= REMEMBERED {
                self.refused.clear();
            }
            self.refused.insert(pair);
            left -= 1;
            if left == 0 {
                return false;
            }
        }
        false
    }
}
