//! `gramjet check`: what is wrong with a grammar, its sizes, and what its inputs will look like.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use gramjet::Inputs;

use crate::args::{CheckArgs, EngineArgument};
use crate::engines::{self, Engine, Structure};
use crate::failure::Failure;
use crate::grammar;
use crate::limits::{self, Applied};
use crate::texts::write_output;
use crate::units::{display_size, plural};

/// The sample ends behind this many inputs, ...
const SAMPLE_INPUTS: usize = 1000;
/// ... this many bytes, ...
const SAMPLE_BYTES: usize = 64 << 20;
/// ... or this time.
const SAMPLE_TIME: Duration = Duration::from_millis(500);
/// Inputs of the sample are completed behind this many choice bytes.
const SAMPLE_CHOICES: u64 = 4 << 20;
/// So many names of recursive rules are shown.
const NAMES: usize = 12;

/// Checks a grammar.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let source = grammar::load(&args.grammar)?;
    // Prints the diagnostics.
    let structure = engines::structure(&source, &args.grammar)?;
    let mut engine = engines::prepare_silently(&source, &args.grammar, EngineArgument::Vm)?;
    let limits = limits::apply(&mut engine, &args.limits)?;
    let text = describe(&structure, &limits) + &sample(&mut engine)?;
    write_output(None, text.as_bytes())
}
