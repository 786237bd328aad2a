//! The bytes of labelled parts, wherever they stand.

/// The parts of a text: they stand in the text, or in others.
#[derive(Clone, Copy)]
pub(super) struct Texts<'t> {
    pub text: &'t [u8],
    /// The bytes of other texts, as if they came after this one.
    pub more: &'t [u8],
}

impl<'t> Texts<'t> {
    /// No bytes.
    pub const NONE: Texts<'static> = Texts { text: &[], more: &[] };

    /// Returns the bytes between two places.
    pub fn part(self, from: u32, to: u32) -> &'t [u8] {
        let (from, to) = (from as usize, to as usize);
        match self.text.get(from..to) {
            Some(part) => part,
            None => &self.more[from - self.text.len()..to - self.text.len()],
        }
    }
}
