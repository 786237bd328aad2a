//! The window of choice bytes that a machine reads ahead of: the part of an input's choice bytes that is in memory.

use crate::choices::Choices;

/// Zeros follow the choice bytes: reading them leads to option 0 at every site.
const ZEROS: usize = 4096;

/// Hands out an input's choice bytes window by window, and counts what was read.
pub(crate) struct Windows<'m, 's> {
    choices: &'m mut Choices<'s>,
    /// How many choice bytes the input may still read, from the start of the window.
    left: u64,
    /// How many choice bytes the input read before the window.
    read: u64,
    /// Once the choice bytes run out: the last of them, then zeros.
    tail: Vec<u8>,
    /// How many bytes of the tail are choice bytes.
    tail_real: usize,
    in_tail: bool,
}

impl<'m, 's> Windows<'m, 's> {
    #[inline]
    pub(crate) fn new(choices: &'m mut Choices<'s>, max_choices: u64) -> Windows<'m, 's> {
        Windows { choices, left: max_choices, read: 0, tail: Vec::new(), tail_real: 0, in_tail: false }
    }

    /// The bytes of the window.
    #[inline]
    pub(crate) fn window(&self) -> &[u8] {
        if self.in_tail {
            return &self.tail;
        }
        let unread = self.choices.unread();
        &unread[..unread.len().min(usize::try_from(self.left).unwrap_or(usize::MAX))]
    }

    /// Counts the first `used` bytes of the window as read; the window begins behind them.
    #[inline]
    fn advance(&mut self, used: usize) {
        let real = if self.in_tail { used.min(self.tail_real) } else { used };
        self.choices.advance(real);
        self.read += real as u64;
        self.left -= real as u64;
        if self.in_tail {
            self.tail_real -= real;
            self.tail.drain(..used);
        }
    }

    /// Moves the window behind its first `used` bytes and makes it at least `count` bytes long.
    #[cold]
    pub(crate) fn refill(&mut self, used: usize, count: usize) {
        self.advance(used);
        if !self.in_tail {
            self.choices.demand(count.min(usize::try_from(self.left).unwrap_or(usize::MAX)));
            if self.window().len() >= count {
                return;
            }
            let rest = self.window().to_vec();
            self.tail_real = rest.len();
            self.tail = rest;
            self.in_tail = true;
        }
        self.tail.resize(self.tail_real + ZEROS + count, 0);
    }

    /// Counts the first `used` bytes of the window as read and leaves only zeros behind them.
    #[cold]
    pub(crate) fn finish(&mut self, used: usize) {
        self.advance(used);
        self.in_tail = true;
        self.tail_real = 0;
        self.tail.clear();
        self.tail.resize(ZEROS, 0);
    }

    /// Counts the first `used` bytes of the window as read; returns how many choice bytes the input read in all.
    #[inline]
    pub(crate) fn end(&mut self, used: usize) -> u64 {
        self.advance(used);
        self.read
    }
}
