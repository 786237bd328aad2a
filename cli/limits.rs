//! The limits of inputs. The compiler decides which are in force (`gramjet_compiler::limits`); this module checks
//! whether an engine can keep them, and tells the user.

use std::fmt;

use gramjet::{Limits, LimitsError};
use gramjet_compiler::limits::{self, Decided};

use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::units::plural;

/// Limits, and whether the depth is the default.
#[derive(Clone, Copy, Debug)]
pub struct Applied {
    limits: Limits,
    is_default_depth: bool,
}

impl Applied {
    /// Returns the limits that are wanted where the grammar file has these.
    pub fn wanted(asked: &LimitArgs, file: limits::Limits) -> Applied {
        let Decided { limits, is_default_depth } = asked.assumed().or_default(file);
        let limits = Limits::with(limits.max_depth, limits.max_len);
        let limits = asked.max_choices.map_or(limits, |choices| limits.max_choices(choices));
        Applied { limits, is_default_depth }
    }

    /// Sets the limits. A default depth that the grammar cannot keep is dropped.
    pub fn set(self, set: &mut dyn FnMut(Limits) -> Result<(), LimitsError>) -> Result<Applied, Failure> {
        let applied = match set(self.limits) {
            Ok(()) => return Ok(self),
            Err(error) if !self.is_default_depth => return Err(Failure::Usage(error.to_string())),
            Err(error) => {
                if let LimitsError::NoPool { .. } = error {
                    say!("gramjet: going on without a maximum depth: {error}");
                }
                Applied { limits: self.limits.max_depth(None), is_default_depth: false }
            }
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
        self.is_default_depth
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limits.depth() {
            None => f.write_str("no maximum depth")?,
            Some(depth) => write!(f, "maximum depth {depth}")?,
        }
        if self.is_default_depth {
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
