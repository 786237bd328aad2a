//! The strategies, a file each.

use crate::strategy::Strategy;

mod portfolio;
#[cfg(test)]
mod kit;
mod random;

/// A strategy by its name.
pub(crate) fn by_name(name: &str, _paper: bool) -> Option<Box<dyn Strategy>> {
    Some(match name {
        "portfolio" => Box::new(portfolio::Portfolio::new()),
        "random" => Box::new(random::AtRandom),
        _ => return None,
    })
}
