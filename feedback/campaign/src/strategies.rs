//! The strategies of publications, a file each, and the list of all strategies.
//!
//! They use only what `gramjet-search` exports, as strategies of a caller do, and no other part of this crate knows
//! them: a search gets its strategy from the caller.

use gramjet_search::{Kind, STRATEGIES};

mod bias;
mod bias_only;
mod bytes;
mod evolve;
#[cfg(test)]
pub(crate) mod kit;
mod saffron;
mod signals;
mod slackline;
mod treeline;

use bias_only::BiasOnly;
use bytes::Bytes;
use evolve::{Aim, Evolve};
use saffron::Saffron;
pub use saffron::SaffronSettings;
use slackline::{slackline, slackline_mc};
use treeline::TreeLine;

/// The published strategies.
pub const PUBLISHED: &[Kind] = &[
    Kind::new("bytes", "changed bytes, as PerfFuzz does (Lemieux et al. 2018)", |paper| Box::new(Bytes::new(paper)))
        .published(),
    Kind::new("bias-only", "texts at random, biased to pairs of choices that paid (Alsaeed & Young 2023)", |paper| {
        Box::new(BiasOnly::new(paper))
    })
    .published(),
    Kind::new("treeline", "Monte Carlo tree search over derivations (Alsaeed & Young 2023)", |paper| {
        Box::new(TreeLine::new(paper))
    })
    .published(),
    Kind::new("slackline", "parts of texts in others, in turn (Alsaeed & Young 2023)", slackline).published(),
    Kind::new("slackline-mc", "the same, with texts chosen by score (Alsaeed & Young 2023)", slackline_mc).published(),
    Kind::new("gramrand", "texts at random with a limit on depth, the baseline of SAFFRON (Le et al. 2019)", |paper| {
        Box::new(Saffron::gramrand(paper))
    })
    .published(),
    Kind::new("saffron", "probabilities of alternatives adapted to costly texts (Le et al. 2019)", |paper| {
        Box::new(Saffron::adaptive(paper))
    })
    .published(),
    Kind::new(
        "evolve",
        "probabilities of alternatives that evolve on islands, after EvoGFuzz (Eberlein et al. 2020)",
        |paper| Box::new(Evolve::new(if paper { Aim::Published } else { Aim::Cost })),
    )
    .published(),
];

/// Strategies for searches whose goal is coverage and failures, where no text has a cost.
pub const FOR_COVERAGE: &[Kind] = &[
    Kind::new("evolve", "probabilities of alternatives that evolve, after EvoGFuzz (Eberlein et al. 2020)", |paper| {
        Box::new(Evolve::new(if paper { Aim::Published } else { Aim::Coverage }))
    })
    .published(),
    Kind::new("common", "probabilities learned once, from the texts to begin with: the baseline of EvoGFuzz", |_| {
        Box::new(Evolve::new(Aim::Common))
    }),
];

/// Strategies by which the guided search draws some of its texts: learned probabilities, and those that evolve.
pub const DRAWN: [&Kind; 2] = [&FOR_COVERAGE[1], &FOR_COVERAGE[0]];

/// Returns all strategies: those of `gramjet-search`, the default first, and the published ones.
pub fn all() -> impl Iterator<Item = &'static Kind> {
    STRATEGIES.iter().chain(PUBLISHED)
}

/// Returns a strategy by its name.
pub fn by_name(name: &str) -> Option<&'static Kind> {
    all().find(|kind| kind.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_know_their_names() {
        for kind in PUBLISHED.iter().chain(FOR_COVERAGE) {
            assert_eq!(kind.make(false).name(), kind.name);
        }
        assert_eq!(by_name("treeline").expect("a strategy").name, "treeline");
        assert!(by_name("treline").is_none());
    }

    #[test]
    fn a_language_of_which_all_texts_were_run_is_exhausted() {
        for name in ["slackline-mc", "treeline"] {
            let mut search = kit::search("s ::= [ab]{3}", kit::strategy(name, false), 3, 1);
            let mut runs = 0;
            while !search.is_exhausted() {
                kit::run(&mut search, 1, kit::count_of(b'b'));
                runs += 1;
                assert!(runs < 100, "{name}");
            }
            assert_eq!(search.best().map(|best| best.cost), Some(3), "{name}");
        }
    }

    /// The published strategies learn from each text before they propose the next one.
    #[test]
    fn only_strategies_without_a_published_order_are_ahead() {
        let ahead =
            |paper| all().filter(|kind| kind.make(paper).proposes_ahead()).map(|kind| kind.name).collect::<Vec<_>>();
        assert_eq!(ahead(false), ["portfolio", "random", "gramrand"]);
        assert_eq!(ahead(true), ahead(false));
    }
}
