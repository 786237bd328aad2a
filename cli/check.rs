//! `gramjet check`: what is wrong with a grammar, its sizes, and what its inputs will look like.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::{Duration, Instant};

use gramjet::Inputs;

use crate::args::CheckArgs;
use crate::engines::{self, Engine, Structure};
use crate::failure::Failure;
use crate::grammar;
use crate::limits;
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
/// So are those that have more bytes.
const SAMPLE_OUTPUT: u64 = SAMPLE_BYTES as u64;
/// So many names of recursive rules are shown.
const NAMES: usize = 12;

/// Checks a grammar.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let source = grammar::load(&args.grammar)?;
    // Prints the diagnostics.
    let (structure, mut engine) = engines::describe(&source, &args.grammar)?;
    let limits = limits::apply(&mut engine, &args.limits)?;
    let mut text = describe(&structure);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "limits     {limits}");
    text += &describe_sample(&sample(&mut engine)?);
    write_output(None, text.as_bytes())
}

fn describe(structure: &Structure) -> String {
    let mut recursive: Vec<&str> = structure.recursive.iter().map(String::as_str).take(NAMES).collect();
    let more = format!("and {} more", structure.recursive.len() - recursive.len());
    if structure.recursive.len() > recursive.len() {
        recursive.push(&more);
    }
    let recursion =
        if recursive.is_empty() { "none; the grammar has no recursion".to_string() } else { recursive.join(", ") };
    let pools = match &structure.rule_without_pool {
        None => String::new(),
        Some(rule) => format!("; none for `{rule}`, whose strings are too long, so no maximum depth can be kept"),
    };
    format!(
        "start      {}\n\
         rules      {}\n\
         recursive  {recursion}\n\
         nodes      {} lowered, {} optimised\n\
         pools      {}, {}{pools}\n\
         shortest   {}\n",
        structure.start,
        structure.rules,
        structure.nodes.0,
        structure.nodes.1,
        plural(structure.pools.0 as u64, "string"),
        plural(structure.pools.1 as u64, "byte"),
        plural(structure.min_len, "byte"),
    )
}

/// What a number of inputs look like.
#[derive(Debug, Default)]
struct Sample {
    /// Lengths in bytes, ascending.
    lengths: Vec<usize>,
    distinct: usize,
    choice_bytes: u64,
    /// How many inputs read all the choice bytes, or had all the bytes, that the sample allows.
    exhausted: usize,
}

/// Makes inputs until one of the bounds of a sample is reached.
fn sample(engine: &mut Engine) -> Result<Sample, Failure> {
    let limits = engine.limits();
    engine
        .set_limits(limits.max_choices(limits.choices().min(SAMPLE_CHOICES)).max_output(SAMPLE_OUTPUT))
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let mut inputs = Inputs::new(engine.producer(), 0);
    let mut sample = Sample::default();
    let mut distinct = HashSet::new();
    let mut bytes = 0;
    let start = Instant::now();
    while sample.lengths.len() < SAMPLE_INPUTS && bytes < SAMPLE_BYTES && start.elapsed() < SAMPLE_TIME {
        let mut input = Vec::new();
        let read = inputs.append_to(&mut input);
        sample.choice_bytes += read;
        sample.exhausted += usize::from(read >= SAMPLE_CHOICES || input.len() as u64 > engine.limits().output());
        sample.lengths.push(input.len());
        bytes += input.len();
        // A hash stands for the input, so that long inputs need not be kept.
        distinct.insert(BuildHasherDefault::<DefaultHasher>::default().hash_one(&input));
    }
    sample.lengths.sort_unstable();
    sample.distinct = distinct.len();
    Ok(sample)
}

fn describe_sample(sample: &Sample) -> String {
    let count = sample.lengths.len();
    let total: u64 = sample.lengths.iter().map(|&length| length as u64).sum();
    let (Some(&shortest), Some(&longest)) = (sample.lengths.first(), sample.lengths.last()) else {
        return String::new();
    };
    // Per byte, unless there is none.
    let choices = match total {
        0 => format!("{:.2} bytes per input", sample.choice_bytes as f64 / count as f64),
        total => format!("{:.2} bytes per byte of output", sample.choice_bytes as f64 / total as f64),
    };
    let mut text = format!(
        "lengths    mean {:.1} bytes, median {}, from {shortest} to {longest} (estimated from {}, {} of them distinct)\n\
         choices    {choices}\n",
        total as f64 / count as f64,
        sample.lengths[count / 2],
        plural(count as u64, "input"),
        sample.distinct,
    );
    if sample.exhausted > 0 {
        text += &format!(
            "warning    {} of {count} inputs read {} of choice bytes or had {} and were cut short: \
             the expected length may have no bound, set a maximum depth or length\n",
            sample.exhausted,
            display_size(SAMPLE_CHOICES),
            display_size(SAMPLE_OUTPUT),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_described() {
        let sample = Sample { lengths: vec![1, 2, 9], distinct: 3, choice_bytes: 24, exhausted: 0 };
        let text = describe_sample(&sample);
        assert!(text.contains("mean 4.0 bytes, median 2, from 1 to 9 (estimated from 3 inputs"), "{text}");
        assert!(text.contains("2.00 bytes per byte"), "{text}");
        assert!(describe_sample(&Sample { exhausted: 1, ..sample }).contains("warning"));
        assert_eq!(describe_sample(&Sample::default()), "");
        let empty = Sample { lengths: vec![0, 0], distinct: 1, choice_bytes: 3, exhausted: 0 };
        assert!(describe_sample(&empty).contains("1.50 bytes per input"));
    }
}
