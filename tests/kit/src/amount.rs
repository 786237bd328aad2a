//! How many cases a test takes: all of them in a long run (`ci/long`), the first of them in others.
//!
//! Every test holds its law in both; a long run only looks at more cases.

use std::ops::Range;

/// A short run takes one of this number of cases.
const SHARE: u64 = 5;

/// Whether this is a long run: `GRAMJET_LONG` is set.
pub fn is_long() -> bool {
    std::env::var_os("GRAMJET_LONG").is_some()
}

/// The number of cases to take of `all`; also for a bound that grows with the number of cases.
pub fn part(all: u64) -> u64 {
    if is_long() { all } else { all.div_ceil(SHARE) }
}

/// The seeds to take of `all`.
pub fn seeds(all: Range<u64>) -> Range<u64> {
    all.start..all.start + part(all.end - all.start)
}
