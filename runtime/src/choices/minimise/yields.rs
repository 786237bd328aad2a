//! Yields that tests of each kind of change have had so far.

/// Kinds of changes whose tests hold about equally often in one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// Parts become as short as they can be.
    Shorter,
    /// A part takes the place of one around it with the same symbol.
    Hoisted,
    /// A part takes the place of one around it, with any symbols.
    Inner,
    /// Rounds of a repetition are taken out.
    Rounds,
    /// A range of text is taken out.
    Range,
    /// A range of a few bytes of text is taken out.
    Bytes,
    /// Choice bytes are taken out.
    Choices,
    /// Text appears that was not there.
    New,
}

/// For each kind how many tests have held, and how many were expected to.
#[derive(Clone, Debug, Default)]
pub(super) struct Yields([(f64, f64); ChangeKind::New as usize + 1]);

/// As if this number of tests had been expected to hold and had held.
const BEFORE: f64 = 6.0;
/// The share of the tests of new text that hold. How likely it is for a single one is not known so well.
const NEW_HOLDS: f64 = 1.0 / 30.0;

impl Yields {
    /// Returns how many tests of a kind hold for each one that is expected to.
    pub(super) fn factor(&self, kind: ChangeKind) -> f64 {
        let (held, expected) = self.0[kind as usize];
        match kind {
            ChangeKind::New => (held + 1.0) / (expected + 1.0),
            _ => ((held + BEFORE) / (expected + BEFORE)).min(1.0),
        }
    }

    /// Records a test that was expected to hold with this probability.
    pub(super) fn judge(&mut self, kind: ChangeKind, probability: f64, holds: bool) {
        let (held, expected) = &mut self.0[kind as usize];
        *expected += if kind == ChangeKind::New { NEW_HOLDS } else { probability };
        *held += f64::from(u8::from(holds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_yields_less_than_expected_is_trusted_less() {
        let mut yields = Yields::default();
        (0..10).for_each(|_| yields.judge(ChangeKind::Bytes, 0.6, false));
        assert!((yields.factor(ChangeKind::Bytes) - 0.5).abs() < 1e-9);
        assert!((yields.factor(ChangeKind::Rounds) - 1.0).abs() < 1e-9);
        // One that yields more than expected is no more certain.
        (0..10).for_each(|_| yields.judge(ChangeKind::Rounds, 0.1, true));
        assert!((yields.factor(ChangeKind::Rounds) - 1.0).abs() < 1e-9);
        (0..30).for_each(|_| yields.judge(ChangeKind::New, 0.5, false));
        assert!((yields.factor(ChangeKind::New) - 0.5).abs() < 1e-9);
    }
}
