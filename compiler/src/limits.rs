//! The limits of one output, and the choice of the limits in force: the user's, else those of the grammar file, else a
//! default depth. Without any limit, the expected output of many grammars is infinite.

/// The depth limit of producers if neither the grammar nor the user sets a depth or a length. The library has the same
/// number as `Limits::DEFAULT_MAX_DEPTH`; the compiler does not depend on the library.
pub const DEFAULT_MAX_DEPTH: u32 = 32;

/// Limits of one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The greatest depth. The start rule has depth 0. A deeper rule emits a string of its pool.
    pub max_depth: Option<u32>,
    /// The greatest length in bytes. Must not be smaller than the start rule's minimum.
    pub max_len: Option<u64>,
}

/// The limits that producers will have in place of the grammar file's. Mean lengths are computed under these limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssumedLimits {
    /// The depth limit in place of the file's. `Some(None)` means no limit.
    pub max_depth: Option<Option<u32>>,
    /// The length limit in place of the file's. `Some(None)` means no limit.
    pub max_len: Option<Option<u64>>,
}

/// The limits in force, and whether the depth is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The limits.
    pub limits: Limits,
    /// Whether the depth is the default, because none was asked for.
    pub is_default_depth: bool,
    /// Whether the user has asked for the depth.
    pub is_depth_asked: bool,
}

impl Decided {
    /// Returns the limits of a grammar that cannot keep a depth: it has a rule whose minimum-depth strings are too long
    /// for a pool. A depth that the user has asked for stays, and is refused later.
    #[must_use]
    pub fn without_pools(self) -> Decided {
        if self.is_depth_asked {
            return self;
        }
        Decided { limits: Limits { max_depth: None, ..self.limits }, is_default_depth: false, ..self }
    }
}

impl AssumedLimits {
    /// Returns the limits of a grammar file, replaced by these limits where set.
    pub fn over(self, file: Limits) -> Limits {
        Limits { max_depth: self.max_depth.unwrap_or(file.max_depth), max_len: self.max_len.unwrap_or(file.max_len) }
    }

    /// Returns the limits in force for a grammar file with the limits `file`. If there is no limit at all, the depth
    /// gets the default, unless the user has asked for no depth limit.
    pub fn or_default(self, file: Limits) -> Decided {
        let limits = self.over(file);
        let is_default_depth = limits == Limits::default() && self.max_depth.is_none();
        let max_depth = if is_default_depth { Some(DEFAULT_MAX_DEPTH) } else { limits.max_depth };
        let is_depth_asked = matches!(self.max_depth, Some(Some(_)));
        Decided { limits: Limits { max_depth, ..limits }, is_default_depth, is_depth_asked }
    }

    /// Returns the limits in force for a grammar file with the limits `file`, and with pools for all rules or without.
    /// All doors decide by this: the command, emitted Rust, sessions, C, Python and fuzzers.
    pub fn in_force(self, file: Limits, has_pools: bool) -> Decided {
        let decided = self.or_default(file);
        if has_pools { decided } else { decided.without_pools() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_then_the_file_then_the_default() {
        let decided = |asked: (Option<Option<u32>>, Option<Option<u64>>), file: (Option<u32>, Option<u64>)| {
            let asked = AssumedLimits { max_depth: asked.0, max_len: asked.1 };
            let Decided { limits, is_default_depth, .. } =
                asked.or_default(Limits { max_depth: file.0, max_len: file.1 });
            (limits.max_depth, limits.max_len, is_default_depth)
        };
        assert_eq!(decided((None, None), (None, None)), (Some(DEFAULT_MAX_DEPTH), None, true));
        assert_eq!(decided((None, None), (Some(5), None)), (Some(5), None, false));
        assert_eq!(decided((None, None), (None, Some(9))), (None, Some(9), false));
        assert_eq!(decided((None, Some(Some(7))), (None, None)), (None, Some(7), false));
        assert_eq!(decided((Some(Some(3)), Some(None)), (Some(5), Some(9))), (Some(3), None, false));
        assert_eq!(decided((Some(None), None), (None, None)), (None, None, false));
        assert_eq!(decided((None, Some(None)), (None, Some(9))), (Some(DEFAULT_MAX_DEPTH), None, true));
    }

    #[test]
    fn a_depth_that_cannot_be_kept_is_dropped_unless_the_user_has_asked_for_it() {
        let decided = |asked: Option<Option<u32>>, file: Option<u32>| {
            let asked = AssumedLimits { max_depth: asked, max_len: None };
            let decided = asked.in_force(Limits { max_depth: file, max_len: None }, false);
            (decided.limits.max_depth, decided.is_default_depth)
        };
        assert_eq!((decided(None, None), decided(None, Some(5))), ((None, false), (None, false)));
        assert_eq!((decided(Some(Some(7)), None), decided(Some(None), Some(5))), ((Some(7), false), (None, false)));
    }
}
