//! The limits of inputs. The compiler decides which are in force (`gramjet_compiler::limits`); this module checks
//! whether an engine can keep them, and tells the user.

use std::fmt;

use gramjet::{Limits, LimitsError};
use gramjet_compiler::limits::{self, Decided};

use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::units::plural;

/// Limits, with where they are from.
#[derive(Clone, Copy, Debug)]
pub struct Applied {
    limits: Limits,
    decided: Decided,
}

impl Applied {
    /// Returns the limits that are wanted where the grammar file has these.
    pub fn wanted(asked: &LimitArgs, file: limits::Limits) -> Applied {
        Applied::of(asked.assumed().or_default(file), asked.max_choices)
    }

    fn of(decided: Decided, max_choices: Option<u64>) -> Applied {
        let limits = Limits::with(decided.limits.max_depth, decided.limits.max_len);
        let limits = max_choices.map_or(limits, |choices| limits.max_choices(choices));
        Applied { limits, decided }
    }

    /// Sets the limits. A depth that the user has not asked for, and that the grammar cannot keep, is dropped.
    pub fn set(self, set: &mut dyn FnMut(Limits) -> Result<(), LimitsError>) -> Result<Applied, Failure> {
        let applied = match set(self.limits) {
            Ok(()) => return Ok(self),
            Err(error @ LimitsError::NoPool { .. }) if !self.decided.is_depth_asked => {
                say!("gramjet: going on without a maximum depth: {error}");
                let choices = Some(self.limits.choices()).filter(|&choices| choices != u64::MAX);
                Applied::of(self.decided.without_pools(), choices)
            }
            Err(error) => return Err(Failure::Usage(error.to_string())),
        };
        set(applied.limits).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(applied)
    }

    /// Returns the limits.
    pub fn limits(self) -> Limits {
        self.limits
    }

    /// Returns true if the depth is the default.
    pub fn is_default_depth(self) -> bool {
        self.decided.is_default_depth
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limits.depth() {
            None => f.write_str("no maximum depth")?,
            Some(depth) => write!(f, "maximum depth {depth}")?,
        }
        if self.decided.is_default_depth {
            f.write_str(" (default; `--max-depth none` switches it off)")?;
        }
        match self.limits.length() {
            None => f.write_str(", no maximum length")?,
            Some(length) => write!(f, ", maximum length {}", plural(length, "byte"))?,
        }
        match self.limits.choices() {
            u64::MAX => f.write_str(", any number of choice bytes"),
            choices => write!(f, ", at most {}", plural(choices, "choice byte")),
        }
    }
}
