//! The strategies of this crate, a file each, and what a list of strategies says of each.

use crate::strategy::Strategy;

#[cfg(test)]
pub(crate) mod kit;
mod portfolio;
mod random;

use portfolio::Portfolio;
use random::AtRandom;

/// A strategy that can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// Description of the strategy, in a few words.
    pub about: &'static str,
    /// Whether a publication gives its constants.
    pub is_published: bool,
    make: fn(bool) -> Box<dyn Strategy>,
}

impl Kind {
    /// Returns a kind of strategy with its name, a description of a few words, and a function that makes one. The
    /// function gets whether the published constants are asked for.
    pub const fn new(name: &'static str, about: &'static str, make: fn(bool) -> Box<dyn Strategy>) -> Kind {
        Kind { name, about, is_published: false, make }
    }

    /// Says that a publication gives its constants.
    pub const fn published(self) -> Kind {
        Kind { is_published: true, ..self }
    }

    /// Returns a strategy of this kind. `paper` selects the published constants where the defaults differ.
    pub fn make(&self, paper: bool) -> Box<dyn Strategy> {
        (self.make)(paper)
    }
}

/// The strategies of this crate, the default first.
pub const STRATEGIES: &[Kind] =
    &[
        Kind::new("portfolio", "several operators on good texts, chosen by what they yield", |_| {
            Box::new(Portfolio::new())
        }),
        Kind::new("random", "texts at random", |_| Box::new(AtRandom)),
    ];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_know_their_names() {
        for kind in STRATEGIES {
            assert_eq!(kind.make(false).name(), kind.name);
        }
    }
}
