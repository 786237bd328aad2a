//! The texts that the present process of the program has run on.

use std::collections::VecDeque;

/// At most this many texts, and this many bytes.
const TEXTS: usize = 4096;
const BYTES: usize = 16 << 20;

/// The last texts that a process has run on, the latest at the end. Nothing is allocated for each of them.
#[derive(Debug, Default)]
pub(crate) struct History {
    bytes: VecDeque<u8>,
    lengths: VecDeque<usize>,
    /// Whether processes run on several texts. Else nothing is kept.
    is_kept: bool,
}

impl History {
    /// Returns an empty history, of processes that run on several texts or on one.
    pub(crate) fn new(is_kept: bool) -> History {
        History { is_kept, ..History::default() }
    }

    /// Adds a text that a process has run on after this many `earlier` ones.
    pub(crate) fn push(&mut self, text: &[u8], earlier: u64) {
        if !self.is_kept {
            return;
        }
        if earlier == 0 {
            self.bytes.clear();
            self.lengths.clear();
        }
        while self.lengths.len() as u64 > earlier || self.is_full(text.len()) {
            let Some(first) = self.lengths.pop_front() else { break };
            self.bytes.drain(..first);
        }
        self.bytes.extend(text);
        self.lengths.push_back(text.len());
    }

    fn is_full(&self, more: usize) -> bool {
        self.lengths.len() >= TEXTS || self.bytes.len().saturating_add(more) > BYTES
    }

    /// Returns the texts, the latest at the end.
    pub(crate) fn texts(&self) -> Vec<Vec<u8>> {
        let mut begin = 0;
        let text = |&len: &usize| {
            let text = self.bytes.range(begin..begin + len).copied().collect();
            begin += len;
            text
        };
        self.lengths.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_has_the_texts_of_one_process() {
        let mut history = History::new(true);
        assert_eq!(history.texts(), [b""; 0]);
        for (earlier, text) in [(0, "a"), (1, "bb"), (0, "c"), (1, ""), (2, "dd")] {
            history.push(text.as_bytes(), earlier);
        }
        assert_eq!(history.texts(), [&b"c"[..], b"", b"dd"]);
        // Texts before the last one are not those of its process.
        history.push(b"e", 1);
        assert_eq!(history.texts(), [&b"dd"[..], b"e"]);
        let mut none = History::new(false);
        none.push(b"a", 0);
        assert_eq!(none.texts(), [b""; 0]);
    }

    #[test]
    fn a_history_is_bounded() {
        let mut history = History::new(true);
        for number in 0..TEXTS as u64 + 5 {
            history.push(number.to_string().as_bytes(), number);
        }
        let texts = history.texts();
        assert_eq!((texts.len(), &texts[0][..], &texts[TEXTS - 1][..]), (TEXTS, &b"5"[..], &b"4100"[..]));
        history.push(&[b'x'; BYTES], 5000);
        assert_eq!(history.texts().len(), 1);
        history.push(b"y", 5001);
        assert_eq!(history.texts(), [b"y"]);
    }
}
