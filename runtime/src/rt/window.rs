//! The window of choice bytes that a machine reads ahead of: the part of an input's choice bytes that is in memory.

use crate::choices::Choices;

/// Zeros follow the choice bytes: reading them leads to option 0 at every site.
const ZEROS: usize = 512;

/// Hands out an input's choice bytes window by window, and counts what was read.
pub(crate) struct Windows<'m, 's> {
    choices: &'m mut Choices<'s>,
    /// Number of choice bytes that the input may read, with those that inputs before it read.
    most: u64,
    /// Number of choice bytes that the input may still read, from the start of the window.
    left: u64,
    /// Once the choice bytes run out.
    tail: Option<Box<Tail>>,
}

/// The last choice bytes, then zeros.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    /// Number of bytes that are choice bytes.
    real: usize,
}

impl<'m, 's> Windows<'m, 's> {
    #[inline]
    pub(crate) fn new(choices: &'m mut Choices<'s>, max_choices: u64) -> Windows<'m, 's> {
        Windows { choices, most: max_choices, left: max_choices, tail: None }
    }

    /// Returns the bytes of the window.
    #[inline]
    pub(crate) fn window(&self) -> &[u8] {
        if let Some(tail) = &self.tail {
            return &tail.bytes;
        }
        let unread = self.choices.unread();
        &unread[..unread.len().min(usize::try_from(self.left).unwrap_or(usize::MAX))]
    }

    /// Counts the first `used` bytes of the window as read; the window begins after them.
    #[inline]
    fn advance(&mut self, used: usize) {
        let mut real = used;
        if let Some(tail) = &mut self.tail {
            real = used.min(tail.real);
            tail.real -= real;
            tail.bytes.drain(..used);
        }
        self.choices.advance(real);
        self.left -= real as u64;
    }

    /// Moves the window past its first `used` bytes and makes it at least `count` bytes long.
    #[cold]
    pub(crate) fn refill(&mut self, used: usize, count: usize) {
        self.advance(used);
        if self.tail.is_none() {
            self.choices.demand(count.min(usize::try_from(self.left).unwrap_or(usize::MAX)));
            if self.window().len() >= count {
                return;
            }
            let rest = self.window().to_vec();
            self.tail = Some(Box::new(Tail { real: rest.len(), bytes: rest }));
        }
        if let Some(tail) = &mut self.tail {
            tail.bytes.resize(tail.real + ZEROS + count, 0);
        }
    }

    /// Counts the first `used` bytes of the window as read and replaces the rest with zeros.
    #[cold]
    pub(crate) fn finish(&mut self, used: usize) {
        self.advance(used);
        self.tail = Some(Box::new(Tail { bytes: vec![0; ZEROS], real: 0 }));
    }

    /// Returns true if all of the window are choice bytes, so that a further input can begin in it.
    #[inline(always)]
    pub(crate) fn goes_on(&self) -> bool {
        self.tail.is_none()
    }

    /// Begins a further input after the first `used` bytes of the window, which are choice bytes, with the remaining
    /// ones.
    #[inline]
    pub(crate) fn next_input(&mut self, used: usize, max_choices: u64) {
        debug_assert!(self.goes_on());
        // `left` counts from the start of the window; most - left, the number of bytes read, does not change. The
        // window is no longer than an input may read, as that was true for the input before.
        let left = max_choices.saturating_add(used as u64);
        self.most = self.most.wrapping_sub(self.left).wrapping_add(left);
        self.left = left;
    }

    /// Counts the first `used` bytes of the window as read; returns how many choice bytes the input read in all.
    #[inline]
    pub(crate) fn end(&mut self, used: usize) -> u64 {
        let real = self.tail.as_ref().map_or(used, |tail| used.min(tail.real));
        self.choices.advance(real);
        self.left -= real as u64;
        self.most.wrapping_sub(self.left)
    }
}
