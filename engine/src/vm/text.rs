//! Texts of up to 15 bytes, stored with their length in 16 bytes so that one store emits them.

/// Up to 15 bytes; the last byte holds how many.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C, align(16))]
pub(super) struct Text([u8; 16]);

impl Text {
    pub const EMPTY: Text = Text([0; 16]);

    /// A text has at most this many bytes.
    pub const MAX: usize = 15;

    /// Returns these bytes as a text; `None` if they are too many.
    pub fn new(bytes: &[u8]) -> Option<Text> {
        let mut text = [0; 16];
        text[..Text::MAX].get_mut(..bytes.len())?.copy_from_slice(bytes);
        text[Text::MAX] = bytes.len() as u8;
        Some(Text(text))
    }

    /// Returns a character as UTF-8.
    pub fn of_char(character: char) -> Text {
        let mut text = [0; 16];
        let len = character.encode_utf8(&mut text).len();
        text[Text::MAX] = len as u8;
        Text(text)
    }

    /// Returns the bytes, followed by their length, for [`gramjet::rt::raw::Machine::put_short`].
    #[inline(always)]
    pub fn counted(&self) -> &[u8; 16] {
        &self.0
    }

    pub fn len(&self) -> usize {
        usize::from(self.0[Text::MAX])
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0[..self.len()]
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns both texts, one after the other; `None` if they are too long together.
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
