//! `gramjet check`: what is wrong with a grammar, its sizes, and what its inputs will look like.

mod json;

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::{Duration, Instant};

use gramjet::Inputs;
use gramjet_compiler::diagnostics::{Code, Diagnostic, Severity};
use gramjet_compiler::shape::Facts;
use gramjet_compiler::{Diagnostics, Examined};

use crate::args::{CheckArgs, GrammarArgs, LimitArgs};
use crate::engines::{self, Engine, Structure};
use crate::failure::Failure;
use crate::grammar;
use crate::limits::{self, Applied};
use crate::report;
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

/// Checks a grammar, or explains a code.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    if let Some(name) = &args.explain {
        // The name is one of the codes: the arguments were checked.
        let page = Code::by_name(name).map_or("", Code::page);
        return write_output(None, format!("# {name}\n\n{page}").as_bytes());
    }
    // So is that there is a grammar.
    let grammar = args.grammar.clone().unwrap_or_default();
    let arguments = GrammarArgs { grammar, how: args.how.clone() };
    let source = told(args, None, grammar::load(&arguments))?;
    let examined = engines::examine(&source, &arguments);
    let (examined, diagnostics) = told(args, Some(source.file.name()), examined)?;
    let mut diagnostics = Levels::new(args).apply(diagnostics);
    if !args.json {
        report::print(&source.file, &diagnostics);
    }
    let found = examined.as_ref().map(|examined| Found::new(examined, &args.limits)).transpose();
    let (found, refusal) = match found {
        Ok(found) => (found, None),
        Err(refusal) => (None, Some(refusal)),
    };
    if let Some(refusal) = &refusal {
        diagnostics.push(Diagnostic::error(Code::ImpossibleLimit, None, refusal.to_string()));
    }
    let text = match (&found, args.json) {
        (_, true) => json::text(source.file.name(), &source.file, &diagnostics, found.as_ref(), &args.how.shape),
        (Some(found), false) => found.to_string(),
        (None, false) => String::new(),
    };
    write_output(None, text.as_bytes())?;
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    match (examined, diagnostics.has_errors()) {
        (None, _) => Err(engines::does_not_compile(&source, &diagnostics)),
        (Some(_), true) => {
            let summary = report::summary(&diagnostics);
            Err(Failure::Grammar(format!("{} has warnings that are denied: {summary}", source.file.name())))
        }
        (Some(_), false) => Ok(()),
    }
}

/// The result. With `--json`, that a file cannot be read is an object on standard output as all that is wrong with the grammar,
/// which is called `grammar` if it was read.
fn told<T>(args: &CheckArgs, grammar: Option<&str>, result: Result<T, Failure>) -> Result<T, Failure> {
    if let (true, Err(Failure::Unreadable(unreadable))) = (args.json, &result) {
        let grammar = grammar.unwrap_or(unreadable.source.name());
        let diagnostics = unreadable.diagnostics();
        let text = json::text(grammar, &unreadable.source, &diagnostics, None, &args.how.shape);
        write_output(None, text.as_bytes())?;
    }
    result
}

/// Which warnings are left out, and which are errors.
struct Levels<'a> {
    deny: &'a [String],
    allow: &'a [String],
}

impl<'a> Levels<'a> {
    fn new(args: &'a CheckArgs) -> Levels<'a> {
        Levels { deny: &args.deny, allow: &args.allow }
    }

    /// A code that is named counts more than `warnings`, and `deny` more than `allow`. Errors stay errors.
    fn apply(&self, diagnostics: Diagnostics) -> Diagnostics {
        let has = |list: &[String], name: &str| list.iter().any(|one| one == name);
        diagnostics.filter_map(|mut diagnostic| {
            if diagnostic.severity == Severity::Warning {
                let name = diagnostic.code.name();
                if has(self.deny, name) {
                    diagnostic.severity = Severity::Error;
                } else if has(self.allow, name) {
                    return None;
                } else if has(self.deny, WARNINGS) {
                    diagnostic.severity = Severity::Error;
                } else if has(self.allow, WARNINGS) {
                    return None;
                }
            }
            Some(diagnostic)
        })
    }
}

/// Stands for all warnings.
const WARNINGS: &str = "warnings";

/// What there is to say about a grammar that compiles.
struct Found<'a> {
    structure: Structure,
    growth: &'a Facts,
    critical: &'a [String],
    limits: Applied,
    /// What was decided on the weights if nobody asked for any and equal ones would not do.
    by_default: Option<String>,
    sample: Sample,
}

impl<'a> Found<'a> {
    /// Looks at what the grammar is and what it makes. It fails if the limits cannot be kept.
    fn new(examined: &'a Examined, limits: &LimitArgs) -> Result<Found<'a>, Failure> {
        let (structure, mut engine) = engines::describe(examined, limits);
        let limits = limits::apply(&mut engine, limits)?;
        let sample = sample(&mut engine)?;
        let by_default = examined.compiled.by_default.as_ref().map(engines::describe_default);
        Ok(Found { structure, growth: &examined.growth, critical: &examined.critical, limits, by_default, sample })
    }
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(&self.structure))?;
        writeln!(f, "limits     {}", self.limits)?;
        if let Some(decision) = &self.by_default {
            writeln!(f, "weights    {decision}")?;
        }
        writeln!(f, "growth     {}", describe_growth(self.growth))?;
        f.write_str(&describe_sample(&self.sample))
    }
}

/// The spectral radius and the expected lengths.
pub fn describe_growth(growth: &Facts) -> String {
    let unlimited = match growth.length {
        Some(length) => format!("expected length {} bytes", rounded(length)),
        None => "no bound on the expected length".to_string(),
    };
    let limited = match growth.limited_length {
        Some(length) => format!(", {} within the maximum depth", rounded(length)),
        None => String::new(),
    };
    format!("spectral radius {:.3}, {unlimited} without limits{limited}", growth.radius)
}

fn rounded(length: f64) -> String {
    if length < 1e9 { format!("{length:.1}") } else { format!("{length:.2e}") }
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
