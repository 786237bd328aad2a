//! Number of cases that a test takes: a few of them in `cargo test`, more in `ci/test`, all of them in a long run
//! (`ci/long`).
//!
//! `GRAMJET_TEST_SHARE` sets how many: with N, one of N random cases. In `cargo test`, where it is 25, lists of
//! grammars and options are shortened, too, and hostile texts are small: a recursion that is too deep for the stack may
//! only be found by `ci/test`.

use std::ops::Range;

/// Without `GRAMJET_TEST_SHARE`, a run takes one of this number of cases.
const SHARE: u64 = 25;

/// Returns the number of cases of which a run takes one.
fn share() -> u64 {
    let Some(text) = std::env::var_os("GRAMJET_TEST_SHARE") else { return SHARE };
    let share = text.to_str().and_then(|text| text.parse().ok()).filter(|&share| share > 0);
    share.unwrap_or_else(|| panic!("GRAMJET_TEST_SHARE must be a number from 1 on, not {text:?}"))
}

/// Returns true if this run takes all cases.
pub fn is_long() -> bool {
    share() == 1
}

/// Returns true if this run takes only a few cases: it is neither `ci/test` nor `ci/long`.
pub fn is_quick() -> bool {
    share() >= SHARE
}

/// Returns the number of cases to take of `all`; also for a bound that grows with the number of cases.
pub fn part(all: u64) -> u64 {
    all.div_ceil(share())
}

/// Returns the seeds to take of `all`.
pub fn seeds(all: Range<u64>) -> Range<u64> {
    all.start..all.start + part(all.end - all.start)
}

/// Returns some of the items, evenly: all of them but in quick runs, where one of `share` is taken.
pub fn some<T>(items: impl IntoIterator<Item = T>, share: usize) -> impl Iterator<Item = T> {
    items.into_iter().step_by(if is_quick() { share } else { 1 })
}
