//! For each question that was asked of a symbol, the symbols that answer it with yes.

use std::collections::HashMap;

use super::hash::Mixing;
use super::symbols::{END, Sample, Symbol, Symbols};
use super::trial::{Question, member_len};
use crate::program::Program;

/// A set of symbols: a bit for each.
type Set = Box<[u64]>;

#[derive(Debug, Default)]
pub(super) struct Answers {
    yes: HashMap<Question, Set, Mixing>,
    /// The memory that the sets take, in bytes.
    size: usize,
}

impl Answers {
    /// Returns the memory that they take, about, in bytes.
    pub fn size(&self) -> usize {
        self.size + self.yes.capacity() * (size_of::<(Question, Set)>() + 1)
    }

    /// Returns the symbols, not the end, that answer all questions as a symbol does.
    pub fn alike(
        &mut self,
        program: &Program,
        symbols: &Symbols,
        questions: &[Question],
        symbol: Symbol,
    ) -> impl Iterator<Item = usize> {
        let (word, bit) = (usize::from(symbol) / 64, symbol % 64);
        let mut alike: Set = vec![u64::MAX; symbols.len().div_ceil(64)].into();
        for &question in questions {
            let yes = self.yes.entry(question).or_insert_with(|| {
                let yes = yes(program, symbols, question);
                self.size += size_of_val(&*yes) + 16;
                yes
            });
            // All bits are set if the answer is no.
            let no = (yes[word] >> bit & 1).wrapping_sub(1);
            alike.iter_mut().zip(yes).for_each(|(alike, yes)| *alike &= *yes ^ no);
        }
        (usize::from(END) + 1..symbols.len()).filter(move |other| alike[other / 64] >> (other % 64) & 1 == 1)
    }
}

fn yes(program: &Program, symbols: &Symbols, question: Question) -> Set {
    let mut yes: Set = vec![0; symbols.len().div_ceil(64)].into();
    for (number, sample) in symbols.samples.iter().enumerate() {
        yes[number / 64] |= u64::from(question.answer(program, sample)) << (number % 64);
    }
    yes
}

impl Question {
    fn answer(self, program: &Program, sample: &Sample) -> bool {
        match self {
            Question::Allows(state) => program.lookahead.allows(state, sample.byte),
            Question::Begins(state) => program.lookahead.begins(state, sample.byte),
            Question::Is(byte) => sample.byte == Some(byte),
            Question::In(class) => member_len(program, class, sample).is_some(),
            Question::Length(len) => sample.len() == len,
        }
    }
}
