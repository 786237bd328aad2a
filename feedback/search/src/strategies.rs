//! The strategies, a file each.

use crate::strategy::Strategy;

mod bias;
mod bias_only;
mod bytes;
#[cfg(test)]
mod kit;
mod portfolio;
mod random;
mod saffron;
mod signals;
mod slackline;
mod treeline;

/// A strategy by its name.
pub(crate) fn by_name(name: &str, paper: bool) -> Option<Box<dyn Strategy>> {
    Some(match name {
        "portfolio" => Box::new(portfolio::Portfolio::new()),
        "bias-only" => Box::new(bias_only::BiasOnly::new(paper)),
        "random" => Box::new(random::AtRandom),
        "bytes" => Box::new(bytes::Bytes::new(paper)),
        "slackline" => slackline::slackline(paper),
        "slackline-mc" => slackline::slackline_mc(paper),
        "gramrand" => Box::new(saffron::Saffron::gramrand(paper)),
        "saffron" => Box::new(saffron::Saffron::adaptive(paper)),
        "treeline" => Box::new(treeline::TreeLine::new(paper)),
        _ => return None,
    })
}
