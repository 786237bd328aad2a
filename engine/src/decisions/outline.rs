//! The instances of rules in a text, in one number.

use gramjet::choices::SpanKind;

use super::Part;

/// A number for how many instances of each rule there are among some parts: texts that differ only in characters, or in
/// the order of their parts, have the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outline(u64);

impl Outline {
    /// Returns the outline of some parts.
    pub fn of(parts: &[Part]) -> Outline {
        let mut outline = Outline::default();
        let rules = parts.iter().filter(|part| part.kind == SpanKind::Rule);
        rules.for_each(|part| outline.add(weight(part.symbol)));
        outline
    }

    /// Adds a part with this weight. The order does not matter.
    #[inline]
    pub(super) fn add(&mut self, weight: u64) {
        self.0 = self.0.wrapping_add(weight);
    }

    /// Returns the outline after the old parts are replaced by the new ones.
    pub(super) fn exchange(self, old: Outline, new: Outline) -> Outline {
        Outline(self.0.wrapping_sub(old.0).wrapping_add(new.0))
    }
}

/// Returns for the symbol of a rule a number whose bits all depend on all of its bits, so that other symbols hardly
/// have the same sum: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn weight(symbol: u32) -> u64 {
    let mut bits = (u64::from(symbol) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// The weights of all rules, whose symbols come first.
#[derive(Debug)]
pub(crate) struct Weights(Vec<u64>);

impl Weights {
    pub(crate) fn new(rules: usize) -> Weights {
        Weights((0..rules as u32).map(weight).collect())
    }

    /// Returns the weight of a part with this symbol: 0 if it is no instance of a rule.
    #[inline]
    pub(super) fn of(&self, symbol: u32) -> u64 {
        self.0.get(symbol as usize).copied().unwrap_or(0)
    }
}
