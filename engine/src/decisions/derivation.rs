//! Texts with the decisions that derive them, and their parts.

use gramjet::choices::SpanKind;

use super::Outline;

/// A part of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub kind: SpanKind,
    /// Parts of the same symbol can replace each other.
    pub symbol: u32,
    /// The depth of the rule instance that it is or is in: 0 for the start rule.
    pub depth: u32,
    /// Beginning and end of its decisions.
    pub decisions: (u32, u32),
    /// Beginning and end of its text.
    pub text: (u32, u32),
    /// The number of the first later part that is not within this one.
    pub next: u32,
}

impl Part {
    /// Returns the length of its text in bytes.
    pub fn len(&self) -> usize {
        (self.text.1 - self.text.0) as usize
    }

    /// Returns true if its text is empty.
    pub fn is_empty(&self) -> bool {
        self.text.0 == self.text.1
    }
}

/// A decided site of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The number of the node in the grammar.
    pub place: u32,
    /// The option taken.
    pub option: u32,
    /// The number of options that were offered.
    pub offered: u32,
    /// The bytes that the text might still have beyond the fewest that were to come; the greatest value if it had no
    /// limit.
    pub room: u32,
}

/// A text with the decisions that derive it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derivation {
    /// The text.
    pub text: Vec<u8>,
    /// The decisions, in order.
    pub decisions: Vec<Decision>,
    /// The parts, in the order in which they begin, outer ones first. Empty if it was made without them; a part that
    /// was drawn without them lists only itself.
    pub parts: Vec<Part>,
    /// The outline of all parts.
    pub outline: Outline,
}

impl Derivation {
    /// Returns true if it is a text of the language, with its parts or without.
    pub fn is_of_language(&self) -> bool {
        !self.parts.is_empty() || self.outline != Outline::default() || !self.decisions.is_empty()
    }

    /// Returns the options taken, in order.
    pub fn options(&self) -> impl Iterator<Item = u32> {
        self.decisions.iter().map(|decision| decision.option)
    }

    /// Returns the options of a part, in order.
    pub fn options_of(&self, part: &Part) -> impl Iterator<Item = u32> {
        let (from, to) = part.decisions;
        self.decisions[from as usize..to as usize].iter().map(|decision| decision.option)
    }

    /// Returns the parts directly within the one with this number, in order.
    pub fn within(&self, outer: usize) -> impl Iterator<Item = &Part> {
        let end = self.parts[outer].next as usize;
        let mut at = outer + 1;
        std::iter::from_fn(move || {
            let part = (at < end).then(|| &self.parts[at])?;
            at = part.next as usize;
            Some(part)
        })
    }

    /// Returns the text of a part.
    #[inline]
    pub fn text_of(&self, part: &Part) -> &[u8] {
        &self.text[part.text.0 as usize..part.text.1 as usize]
    }

    /// Writes the options to `options`, with others in place of those of a part.
    pub fn replaced(&self, part: &Part, by: impl Iterator<Item = u32>, options: &mut Vec<u32>) {
        let (from, to) = part.decisions;
        options.clear();
        options.extend(self.options().take(from as usize));
        options.extend(by);
        options.extend(self.options().skip(to as usize));
    }

    /// Clears the derivation: nothing is left.
    pub fn clear(&mut self) {
        self.text.clear();
        self.decisions.clear();
        self.parts.clear();
        self.outline = Outline::default();
    }
}
