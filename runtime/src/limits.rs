//! Bounds on one input: depth, length, choice bytes, memory.

/// Bounds that a producer keeps for each input. The default has no depth and no length limit, and the default bounds on
/// choice bytes ([`Limits::DEFAULT_MAX_CHOICES`]) and memory ([`Limits::DEFAULT_MAX_OUTPUT`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    max_depth: Option<u32>,
    max_len: Option<u64>,
    max_choices: u64,
    max_output: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::new()
    }
}

impl Limits {
    /// An input reads at most this many choice bytes (64 Mi) unless [`Limits::max_choices`] says otherwise; after them
    /// the machine finishes. This keeps a grammar whose expected output is infinite from using all memory.
    pub const DEFAULT_MAX_CHOICES: u64 = 1 << 26;

    /// After this many bytes of output (1 GiB) the machine finishes, unless [`Limits::max_output`] or a greater
    /// [`Limits::max_len`] says otherwise. Few choice bytes can stand for many long strings.
    pub const DEFAULT_MAX_OUTPUT: u64 = 1 << 30;

    /// The depth limit that the command line and generated producers use where neither the grammar nor the user sets a
    /// limit on depth or length: most grammars have no finite expected output length without one.
    pub const DEFAULT_MAX_DEPTH: u32 = 32;

    /// Returns limits without a bound on depth and length.
    pub const fn new() -> Limits {
        Limits::with(None, None)
    }

    /// Returns these limits on depth and length, and the default bounds on choice bytes and memory.
    pub const fn with(max_depth: Option<u32>, max_len: Option<u64>) -> Limits {
        let (max_choices, max_output) = (Limits::DEFAULT_MAX_CHOICES, Limits::DEFAULT_MAX_OUTPUT);
        Limits { max_depth, max_len, max_choices, max_output }
    }

    /// Sets the depth limit: rules deeper than `depth` rule references below the start rule are replaced by a string of
    /// their pool.
    #[must_use]
    pub fn max_depth(self, depth: impl Into<Option<u32>>) -> Limits {
        Limits { max_depth: depth.into(), ..self }
    }

    /// Sets the length limit: no output is longer than `bytes`.
    #[must_use]
    pub fn max_len(self, bytes: impl Into<Option<u64>>) -> Limits {
        Limits { max_len: bytes.into(), ..self }
    }

    /// Sets the bound on choice bytes: no input reads more than `bytes` of them; after them it is completed with
    /// shortest derivations.
    #[must_use]
    pub fn max_choices(self, bytes: u64) -> Limits {
        Limits { max_choices: bytes, ..self }
    }

    /// Sets the bound on memory: an input that has more than `bytes` is completed with shortest derivations. This is a
    /// guard, which costs no speed and is of no use as a limit on the length. It is checked when the output needs room,
    /// so *where* such an input is completed differs between engines, and the output is longer than the bound. Shorter
    /// outputs are not affected.
    #[must_use]
    pub fn max_output(self, bytes: u64) -> Limits {
        Limits { max_output: bytes, ..self }
    }

    /// Returns the depth limit.
    pub fn depth(&self) -> Option<u32> {
        self.max_depth
    }

    /// Returns the length limit in bytes.
    pub fn length(&self) -> Option<u64> {
        self.max_len
    }

    /// Returns the bound on choice bytes.
    pub fn choices(&self) -> u64 {
        self.max_choices
    }

    /// Returns the bound on memory: an output with more bytes was cut short. At least the length limit, if there is
    /// one.
    pub fn output(&self) -> u64 {
        match self.max_len {
            Some(max_len) if max_len > self.max_output => max_len,
            _ => self.max_output,
        }
    }

    /// Checks the limits against what the grammar needs at least.
    ///
    /// # Errors
    ///
    /// If `max_len` is smaller than `min_len`, the length of the start rule's shortest string, or if `max_depth` is
    /// given and the grammar has no pools (`pools_missing` names a rule whose minimum-depth strings are too long).
    pub fn check(&self, min_len: u64, pools_missing: Option<&str>) -> Result<(), LimitsError> {
        if let Some(max_len) = self.max_len
            && max_len < min_len
        {
            return Err(LimitsError::TooShort { max_len, min_len });
        }
        if let (Some(_), Some(rule)) = (self.max_depth, pools_missing) {
            return Err(LimitsError::NoPool { rule: rule.to_string() });
        }
        Ok(())
    }
}

/// Reason why limits cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitsError {
    /// The bound on the length is below the shortest string of the start rule.
    #[error(
        "a maximum length of {} is too small: the shortest input of this grammar has {}",
        bytes(*max_len), bytes(*min_len)
    )]
    TooShort {
        /// The bound asked for, in bytes.
        max_len: u64,
        /// The length of the shortest input, in bytes.
        min_len: u64,
    },
    /// A rule's minimum-depth strings are too long to be kept in a pool.
    #[error(
        "a maximum depth cannot be kept: the minimum-depth strings of rule `{rule}` are too long to be kept in a pool"
    )]
    NoPool {
        /// The rule.
        rule: String,
    },
}

/// Returns a number of bytes as text: `1 byte`, `2 bytes`.
fn bytes(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}
