//! The strategies, a file each, and their list.

use crate::strategy::Strategy;

mod bias;
mod bias_only;
mod bytes;
mod evolve;
#[cfg(test)]
pub(crate) mod kit;
mod portfolio;
mod random;
mod saffron;
mod signals;
mod slackline;
mod treeline;

use bias_only::BiasOnly;
use bytes::Bytes;
use evolve::{Aim, Evolve};
use portfolio::Portfolio;
use random::AtRandom;
use saffron::Saffron;
pub use saffron::SaffronSettings;
use slackline::{slackline, slackline_mc};
use treeline::TreeLine;

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
    /// Returns a strategy of this kind. `paper` selects the published constants where the defaults differ.
    pub fn make(&self, paper: bool) -> Box<dyn Strategy> {
        (self.make)(paper)
    }
}

/// All strategies, the default first.
pub const STRATEGIES: &[Kind] = &[
    Kind {
        name: "portfolio",
        about: "several operators on good texts, chosen by what they yield",
        is_published: false,
        make: |_| Box::new(Portfolio::new()),
    },
    Kind { name: "random", about: "texts at random", is_published: false, make: |_| Box::new(AtRandom) },
    Kind {
        name: "bytes",
        about: "changed bytes, as PerfFuzz does (Lemieux et al. 2018)",
        is_published: true,
        make: |paper| Box::new(Bytes::new(paper)),
    },
    Kind {
        name: "bias-only",
        about: "texts at random, biased to pairs of choices that paid (Alsaeed & Young 2023)",
        is_published: true,
        make: |paper| Box::new(BiasOnly::new(paper)),
    },
    Kind {
        name: "treeline",
        about: "Monte Carlo tree search over derivations (Alsaeed & Young 2023)",
        is_published: true,
        make: |paper| Box::new(TreeLine::new(paper)),
    },
    Kind {
        name: "slackline",
        about: "parts of texts in others, in turn (Alsaeed & Young 2023)",
        is_published: true,
        make: slackline,
    },
    Kind {
        name: "slackline-mc",
        about: "the same, with texts chosen by score (Alsaeed & Young 2023)",
        is_published: true,
        make: slackline_mc,
    },
    Kind {
        name: "gramrand",
        about: "texts at random with a limit on depth, the baseline of SAFFRON (Le et al. 2019)",
        is_published: true,
        make: |paper| Box::new(Saffron::gramrand(paper)),
    },
    Kind {
        name: "saffron",
        about: "probabilities of alternatives adapted to costly texts (Le et al. 2019)",
        is_published: true,
        make: |paper| Box::new(Saffron::adaptive(paper)),
    },
    Kind {
        name: "evolve",
        about: "probabilities of alternatives that evolve on islands, after EvoGFuzz (Eberlein et al. 2020)",
        is_published: true,
        make: |paper| Box::new(Evolve::new(if paper { Aim::Published } else { Aim::Cost })),
    },
];

/// Strategies for searches whose goal is coverage and failures, where no text has a cost.
pub const FOR_COVERAGE: &[Kind] = &[
    Kind {
        name: "evolve",
        about: "probabilities of alternatives that evolve, after EvoGFuzz (Eberlein et al. 2020)",
        is_published: true,
        make: |paper| Box::new(Evolve::new(if paper { Aim::Published } else { Aim::Coverage })),
    },
    Kind {
        name: "common",
        about: "probabilities learned once, from the texts to begin with: the baseline of EvoGFuzz",
        is_published: false,
        make: |_| Box::new(Evolve::new(Aim::Common)),
    },
];

/// Returns a strategy by its name. `paper` selects the published constants where the defaults differ.
pub fn by_name(name: &str, paper: bool) -> Option<Box<dyn Strategy>> {
    STRATEGIES.iter().find(|kind| kind.name == name).map(|kind| kind.make(paper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_know_their_names() {
        for kind in STRATEGIES {
            assert_eq!(by_name(kind.name, false).expect("a strategy").name(), kind.name);
        }
        for kind in FOR_COVERAGE {
            assert_eq!(kind.make(false).name(), kind.name);
        }
        assert!(by_name("treline", true).is_none());
    }
}
