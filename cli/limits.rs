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

/// Sets the engine's limits.
pub fn apply(engine: &mut Engine, args: &LimitArgs) -> Result<Applied, Failure> {
    let directives = engine.asked();
    let depth = args.max_depth.map_or(directives.depth(), Bound::number);
    let length = args.max_len.map_or(directives.length(), Bound::number);
    let choices = args.max_choices.unwrap_or(directives.choices());
    let default_depth = depth.is_none() && length.is_none() && args.max_depth.is_none();
    let limits = Limits::new().max_depth(depth).max_len(length).max_choices(choices);
    let applied = if default_depth {
        let limited = limits.max_depth(Limits::DEFAULT_MAX_DEPTH);
        match engine.set_limits(limited) {
            Ok(()) => return Ok(Applied { limits: limited, default_depth }),
            // Nobody asked for this depth; the grammar is usable without.
            Err(error @ LimitsError::NoPool { .. }) => say!("gramjet: going on without a maximum depth: {error}"),
            Err(_) => {}
        }
        Applied { limits, default_depth: false }
    } else {
        Applied { limits, default_depth }
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
        write!(f, ", at most {}", plural(self.limits.choices(), "choice byte"))
    }
}
