//! Words: items that are one byte each, and a repetition of one more, as a single op.

use gramjet_compiler::analysis::form::Repetition;
use gramjet_compiler::analysis::runs::{ByteItem, byte_item};
use gramjet_compiler::ir::{NodeId, Rounds};

use super::Builder;
use crate::vm::draft::Exit;
use crate::vm::program::Word;

/// The end of a sequence of items that can be a word, from the item with this number on.
struct Found {
    first: usize,
    word: Word,
}

/// A repetition of at most this number of rounds before its first site can be a word.
const MAX_MIN: u32 = 64;

impl Builder<'_> {
    /// Builds the sequence of `items` before `exit`.
    pub(super) fn sequence(&mut self, items: &[NodeId], level: u32, mut exit: Exit) -> Exit {
        let mut rest = items;
        while let [before @ .., last] = rest {
            (rest, exit) = match self.word_at_end(rest) {
                Some(Found { first, word }) => (&rest[..first], self.word(word, exit)),
                None => (before, self.node(*last, level, exit)),
            };
        }
        exit
    }

    fn word(&mut self, word: Word, exit: Exit) -> Exit {
        self.fresh = None;
        let op = self.tables.word(word, exit);
        Exit::to(self.emit(op))
    }

    /// Returns the byte that each choice byte emits, if the item is a site of single bytes.
    fn byte_table(&mut self, item: NodeId) -> Option<u32> {
        let bytes = byte_item(self.ir, item).filter(ByteItem::is_plain)?;
        Some(self.tables.table(bytes.table))
    }

    fn word_at_end(&mut self, items: &[NodeId]) -> Option<Found> {
        let ir = self.ir;
        let (&last, before) = items.split_last()?;
        let mut word = Word { heads: [0; Word::HEADS], count: 0, tail: 0, further: 0 };
        let mut first = items.len();
        if let Some(Rounds { item, min, max }) = ir.node(last).rounds()
            && min <= Word::HEADS as u32
            && let Some(table) = self.byte_table(item)
        {
            word.heads[Word::HEADS - min as usize..].fill(table);
            (word.count, word.tail) = (min, table);
            word.further = max.map_or(u64::MAX, |max| u64::from(max - min));
            first = before.len();
        }
        while (word.count as usize) < Word::HEADS
            && let Some(&item) = items[..first].last()
            && let Some(table) = self.byte_table(item)
        {
            word.count += 1;
            word.heads[Word::HEADS - word.count as usize] = table;
            first -= 1;
        }
        // One byte alone is a site like any other.
        let pays = word.count > 1 || word.further > 0;
        word.heads.rotate_left(Word::HEADS - word.count as usize);
        pays.then_some(Found { first, word })
    }

    /// Builds a repetition of single bytes, if it is one.
    pub(super) fn repeated_bytes(&mut self, repetition: &Repetition, exit: Exit) -> Option<Exit> {
        let &Repetition { min, max, ref bytes, .. } = repetition;
        let bytes = bytes.as_ref().filter(|bytes| bytes.is_plain() && min <= MAX_MIN)?;
        let table = self.tables.table(bytes.table);
        let mut further = max.map_or(u64::MAX, |max| u64::from(max - min));
        let (mut left, mut exit) = (min, exit);
        loop {
            let count = left.min(Word::HEADS as u32);
            exit = self.word(Word { heads: [table; Word::HEADS], count, tail: table, further }, exit);
            (left, further) = (left - count, 0);
            if left == 0 {
                return Some(exit);
            }
        }
    }
}
