//! How messages list places and names.

use crate::diagnostics::Span;

/// The number of places that a message lists.
const SHOWN: usize = 3;

/// Returns the first items of a list, and how many others there are. `None` if there are no items.
pub(super) fn listed(items: impl ExactSizeIterator<Item = String>) -> Option<String> {
    let more = items.len().saturating_sub(SHOWN);
    let shown: Vec<String> = items.take(SHOWN).collect();
    match (more, shown.split_last()) {
        (_, None) => None,
        (0, Some((last, []))) => Some(last.clone()),
        (0, Some((last, others))) => Some(format!("{} and {last}", others.join(", "))),
        (more, Some(_)) => Some(format!("{} and {more} more", shown.join(", "))),
    }
}

/// The offsets at which the lines of a text begin.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn new(text: &str) -> Lines {
        Lines(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// Returns the number of the line, from 1, at a place.
    pub(super) fn number(&self, span: Span) -> usize {
        self.0.partition_point(|&start| start <= span.start as usize)
    }
}
