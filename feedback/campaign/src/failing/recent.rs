//! The last texts of a strategy, and the file that keeps them for the next search in the folder.

use std::collections::VecDeque;

/// At most this many texts of each thread, and this many bytes.
const TEXTS: usize = 1000;
const BYTES: usize = 1 << 20;

/// The last texts, the latest at the end.
#[derive(Clone, Debug)]
pub struct Recent {
    texts: VecDeque<Vec<u8>>,
    bytes: usize,
    threads: usize,
}

impl Default for Recent {
    /// Returns the recent texts of one thread: none so far.
    fn default() -> Recent {
        Recent::of(1)
    }
}

impl Recent {
    /// Returns the recent texts of several threads: none so far.
    pub fn of(threads: usize) -> Recent {
        Recent { texts: VecDeque::new(), bytes: 0, threads }
    }

    /// Adds a text, in place of the first ones if there are too many. The latest is always there.
    pub fn push(&mut self, text: &[u8]) {
        let mut memory = Vec::new();
        while self.is_full(text.len()) {
            let Some(first) = self.texts.pop_front() else { break };
            self.bytes -= first.len();
            memory = first;
        }
        memory.clear();
        memory.extend_from_slice(text);
        self.bytes += text.len();
        self.texts.push_back(memory);
    }

    fn is_full(&self, more: usize) -> bool {
        let most = (TEXTS.saturating_mul(self.threads), BYTES.saturating_mul(self.threads));
        self.texts.len() >= most.0 || self.bytes.saturating_add(more) > most.1
    }

    /// Adds texts.
    pub fn extend(&mut self, others: &Recent) {
        others.texts.iter().for_each(|text| self.push(text));
    }

    /// Returns the texts.
    pub fn texts(&mut self) -> &[Vec<u8>] {
        self.texts.make_contiguous()
    }

    /// Returns the texts for a file: the length of each text on a line of its own, and the text after it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in &self.texts {
            bytes.extend(format!("{}\n", text.len()).into_bytes());
            bytes.extend_from_slice(text);
        }
        bytes
    }

    /// Adds the texts of a file, up to the first that is damaged.
    pub fn read(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let length = std::str::from_utf8(&bytes[..end]).ok().and_then(|length| length.parse::<usize>().ok());
            let Some((text, rest)) = length.and_then(|length| bytes[end + 1..].split_at_checked(length)) else {
                return;
            };
            self.push(text);
            bytes = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_texts_are_kept_within_bounds() {
        let mut recent = Recent::default();
        for number in 0..TEXTS + 5 {
            recent.push(number.to_string().as_bytes());
        }
        assert_eq!((recent.texts().len(), &recent.texts()[0][..]), (TEXTS, &b"5"[..]));
        recent.push(&[b'x'; BYTES - 8]);
        assert_eq!(recent.texts().len(), 3);
        recent.push(&[b'x'; BYTES + 1]);
        assert_eq!((recent.texts().len(), recent.bytes), (1, BYTES + 1));
        recent.push(b"y");
        assert_eq!((recent.bytes, recent.texts()), (1, &[b"y".to_vec()][..]));
    }

    #[test]
    fn texts_survive_in_a_file() {
        let (mut recent, mut other) = (Recent::of(2), Recent::default());
        [&b"1\n2"[..], b"", b"\xFF\n"].iter().for_each(|text| recent.push(text));
        let bytes = recent.to_bytes();
        other.read(&bytes);
        assert_eq!(other.texts(), recent.texts());
        let mut damaged = Recent::default();
        damaged.read(&bytes[..bytes.len() - 1]);
        damaged.read(b"18446744073709551615\nx");
        damaged.read(b"no number\nx");
        assert_eq!(damaged.texts(), &recent.texts()[..2]);
        other.extend(&recent);
        assert_eq!(other.texts().len(), 6);
    }
}
