//! Numbers for texts that a search has seen, for as long as it runs.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

/// Returns a number for a text. It takes several bytes at a time, which the hash that files are named by does not.
pub(crate) fn digest(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}
