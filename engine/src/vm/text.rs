//! Texts of up to 16 bytes, stored in as many so that one store emits them.

/// Up to [`Text::MAX`] bytes; the bytes behind them are zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Text {
    block: [u8; Text::MAX],
    len: u8,
}

impl Text {
    pub const EMPTY: Text = Text { block: [0; Text::MAX], len: 0 };

    /// A text has at most this many bytes.
    pub const MAX: usize = 16;

    /// These bytes; `None` if they are too many.
    pub fn new(bytes: &[u8]) -> Option<Text> {
        let mut text = Text { len: u8::try_from(bytes.len()).ok()?, ..Text::EMPTY };
        text.block.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(text)
    }

    /// Its bytes and those behind them.
    #[inline(always)]
    pub fn block(&self) -> &[u8; Text::MAX] {
        &self.block
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.block[..self.len()]
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Both texts, one after the other; `None` if they are too long together.
    pub fn then(&self, next: Text) -> Option<Text> {
        match (self.is_empty(), next.is_empty()) {
            (true, _) => Some(next),
            (_, true) => Some(*self),
            _ => Text::new(&[self.bytes(), next.bytes()].concat()),
        }
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"", self.bytes().escape_ascii())
    }
}
