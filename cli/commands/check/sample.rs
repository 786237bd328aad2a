//! A sample of the inputs of a grammar: their lengths, how many differ, how many choice bytes they read.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::{Duration, Instant};

use gramjet::Inputs;

use crate::engine::Engine;
use crate::failure::Failure;
use crate::units::{display_size, plural};

/// The sample ends after this number of inputs, ...
const SAMPLE_INPUTS: usize = 1000;
/// ... this many bytes, ...
const SAMPLE_BYTES: usize = 64 << 20;
/// ... or this time.
const SAMPLE_TIME: Duration = Duration::from_millis(500);
/// Inputs of the sample are completed after this number of choice bytes.
const SAMPLE_CHOICES: u64 = 4 << 20;
/// Inputs of the sample are completed after this number of bytes.
const SAMPLE_OUTPUT: u64 = SAMPLE_BYTES as u64;

/// The lengths and the number of different ones of some inputs.
#[derive(Debug, Default)]
pub struct Sample {
    /// Lengths in bytes, ascending.
    pub lengths: Vec<usize>,
    /// Number of different inputs.
    pub distinct: usize,
    /// Number of choice bytes that the inputs read.
    pub choice_bytes: u64,
    /// Number of inputs that read all the choice bytes, or had all the bytes, that the sample allows.
    pub exhausted: usize,
}

/// Makes inputs until one of the bounds of a sample is reached.
pub fn sample(engine: &mut Engine) -> Result<Sample, Failure> {
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

/// Returns the sample for people.
pub fn describe_sample(sample: &Sample) -> String {
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
