//! Which limits are in force: the command line's, else the grammar file's, else a default depth, since many grammars'
//! expected output is infinite without any.

use std::fmt;

use gramjet::{Limits, LimitsError};
use gramjet_compiler::limits::Decided;

use crate::args::LimitArgs;
use crate::engines::Engine;
use crate::failure::{Failure, say};
use crate::units::plural;

/// Limits, and whether the depth is the default.
#[derive(Clone, Copy, Debug)]
pub struct Applied {
    limits: Limits,
    default_depth: bool,
}

/// The limits that are wanted where the grammar file has these, and whether the depth is the default.
pub fn wanted(directives: Limits, args: &LimitArgs) -> (Limits, bool) {
    let file = gramjet_compiler::limits::Limits { max_depth: directives.depth(), max_len: directives.length() };
    let Decided { limits, is_default_depth } = args.assumed().or_default(file);
    let choices = args.max_choices.unwrap_or(directives.choices());
    (Limits::with(limits.max_depth, limits.max_len).max_choices(choices), is_default_depth)
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
