//! Which limits are in force: the command line's, else the grammar file's, else a default depth, since many grammars'
//! expected output is infinite without any.

use std::fmt;

use gramjet::{Limits, LimitsError};

use crate::args::LimitArgs;
use crate::engines::Engine;
use crate::failure::{Failure, say};
use crate::units::{Bound, plural};

/// Limits, and whether the depth is the default.
#[derive(Clone, Copy, Debug)]
pub struct Applied {
    limits: Limits,
    default_depth: bool,
}

/// The limits that are wanted where the grammar file has these, and whether the depth is the default.
pub fn wanted(directives: Limits, args: &LimitArgs) -> (Limits, bool) {
    let depth = args.max_depth.map_or(directives.depth(), Bound::number);
    let length = args.max_len.map_or(directives.length(), Bound::number);
    let choices = args.max_choices.unwrap_or(directives.choices());
    let default_depth = depth.is_none() && length.is_none() && args.max_depth.is_none();
    let depth = if default_depth { Some(Limits::DEFAULT_MAX_DEPTH) } else { depth };
    (Limits::new().max_depth(depth).max_len(length).max_choices(choices), default_depth)
}

/// Sets the engine's limits.
pub fn apply(engine: &mut Engine, args: &LimitArgs) -> Result<Applied, Failure> {
    let (limits, default_depth) = wanted(engine.asked(), args);
    let applied = match engine.set_limits(limits) {
        Ok(()) => return Ok(Applied { limits, default_depth }),
        Err(error) if !default_depth => return Err(Failure::Usage(error.to_string())),
        Err(error) => {
            // Nobody asked for this depth; the grammar is usable without.
            if let LimitsError::NoPool { .. } = error {
                say!("gramjet: going on without a maximum depth: {error}");
            }
            Applied { limits: limits.max_depth(None), default_depth: false }
        }
    };
    engine.set_limits(applied.limits).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(applied)
}

impl Applied {
    /// The limits, and whether the depth is the default.
    pub fn parts(&self) -> (Limits, bool) {
        (self.limits, self.default_depth)
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limits.depth() {
            None => f.write_str("no maximum depth")?,
            Some(depth) => write!(f, "maximum depth {depth}")?,
        }
        if self.default_depth {
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
