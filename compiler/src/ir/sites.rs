//! How a site without limits reads its option from choice bytes, and the inverse (the choice map, items 3 and 4).

use super::{Ir, Node, NodeId, Slots};

/// A site of which all options are offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Site<'i> {
    /// So many equally probable options, at least two.
    Even(u32),
    /// Options with different weights.
    Weighted(&'i Slots),
}

impl Ir {
    /// The site of a node: of a choice, of a class, or of every round of a repetition behind its minimum; `None` if the
    /// node itself has none.
    pub fn site_of(&self, node: NodeId) -> Option<Site<'_>> {
        match self.node(node) {
            Node::Choice(choice) => Some(match &choice.slots {
                Some(slots) => Site::Weighted(slots),
                None => Site::Even(choice.options.len() as u32),
            }),
            Node::Class(set) => Some(Site::Even(set.len())),
            Node::Repeat { min, max, .. } if max.is_none_or(|max| max > *min) => Some(Site::Even(2)),
            _ => None,
        }
    }
}

impl Site<'_> {
    /// How many choice bytes it reads: 1, 2 or 3.
    pub fn width(&self) -> u32 {
        match *self {
            Site::Even(..=256) => 1,
            Site::Even(..=65536) => 2,
            Site::Even(_) => 3,
            Site::Weighted(slots) => slots.bits() / 8,
        }
    }

    /// The smallest value, read as a little-endian number of [`Site::width`] bytes, that takes `option`.
    pub fn value_of(&self, option: u32) -> u32 {
        match *self {
            Site::Even(count) => {
                let values = 1u64 << (8 * self.width());
                (u64::from(option) * values).div_ceil(u64::from(count)) as u32
            }
            Site::Weighted(_) if option == 0 => 0,
            Site::Weighted(slots) => slots.ends()[option as usize - 1],
        }
    }

    /// The option that a value takes.
    pub fn option_of(&self, value: u32) -> u32 {
        match *self {
            Site::Even(count) => ((u64::from(value) * u64::from(count)) >> (8 * self.width())) as u32,
            Site::Weighted(slots) => slots.option_of(value) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_the_smallest_value() {
        let check = |site: Site<'_>, options: u32| {
            let values = 1u64 << (8 * site.width());
            for option in (0..options).step_by((options as usize / 1000).max(1)).chain([options - 1]) {
                let value = site.value_of(option);
                assert!(u64::from(value) < values);
                assert_eq!(site.option_of(value), option, "{site:?}");
                assert!(value == 0 || site.option_of(value - 1) < option, "{site:?} {option}");
            }
        };
        for count in [2, 3, 10, 255, 256, 257, 1000, 65_535, 65_536, 65_537, 1_112_064, 1 << 24] {
            check(Site::Even(count), count);
        }
        for weights in [vec![1.0, 3.0], vec![1e-9, 1.0, 0.2], [vec![1e-9; 300], vec![1.0]].concat()] {
            let slots = Slots::from_weights(&weights).expect("fewer options than slots");
            check(Site::Weighted(&slots), weights.len() as u32);
        }
    }
}
