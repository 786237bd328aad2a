//! Short texts: what an exit emits. Each stands once in one table of bytes, so that an exit refers to it in little room.

use std::collections::HashMap;

/// Up to [`Text::MAX`] bytes of [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Text {
    pub start: u32,
    pub len: u8,
}

impl Text {
    pub const EMPTY: Text = Text { start: 0, len: 0 };

    /// A text has at most this many bytes, and as many may be read from its start.
    pub const MAX: usize = 32;
}

/// The texts of a program under construction. The map is never iterated.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    known: HashMap<Box<[u8]>, u32>,
}

impl Texts {
    /// The text of these bytes, which must not be more than [`Text::MAX`].
    pub fn text(&mut self, bytes: &[u8]) -> Text {
        debug_assert!(bytes.len() <= Text::MAX);
        if bytes.is_empty() {
            return Text::EMPTY;
        }
        let len = bytes.len() as u8;
        if let Some(&start) = self.known.get(bytes) {
            return Text { start, len };
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.known.insert(bytes.into(), start);
        Text { start, len }
    }

    pub fn bytes(&self, text: Text) -> &[u8] {
        &self.bytes[text.start as usize..][..usize::from(text.len)]
    }

    /// Both texts, one after the other; `None` if they are too long together.
    pub fn joined(&mut self, first: Text, second: Text) -> Option<Text> {
        match (first.len, second.len) {
            (0, _) => Some(second),
            (_, 0) => Some(first),
            (a, b) if usize::from(a) + usize::from(b) > Text::MAX => None,
            _ => Some(self.text(&[self.bytes(first), self.bytes(second)].concat())),
        }
    }

    /// All bytes, followed by as many as may be read behind the last text.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend_from_slice(&[0; Text::MAX]);
        self.bytes
    }
}
