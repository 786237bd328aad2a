//! The coverage of a run. An interpreter makes its inputs again and records the rules and alternatives that they reach.
//! The figures are therefore true of the inputs written, whichever engine made them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use gramjet::{Inputs, Limits};
use gramjet_compiler::Compiled;
use gramjet_compiler::diagnostics::SourceFile;
use gramjet_engine::coverage::{Coverage, Covering};
use serde::Serialize;

use crate::failure::{Failure, say};
use crate::output::whole::write_output;
use crate::plan::Plan;

/// The version of the form of the JSON file.
const SCHEMA: u32 = 1;
/// At most this number of rules and alternatives that were not reached is named.
const NAMED: usize = 8;

/// Returns an interpreter that makes the inputs of a run again and records their coverage.
pub fn covering(compiled: &Compiled, limits: Limits) -> Result<Covering, Failure> {
    let mut covering = Covering::new(compiled);
    gramjet::Producer::set_limits(&mut covering, limits).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(covering)
}

/// Covers the first `inputs` inputs of a plan with `jobs` threads. It ends early when everything has been reached.
pub fn of_run(covering: &Covering, plan: &Plan, seed: u64, inputs: u64, jobs: usize) -> Coverage {
    let whole = Mutex::new(covering.clone());
    let is_complete = AtomicBool::new(false);
    let blocks = inputs.div_ceil(plan.block_inputs);
    let jobs = (jobs as u64).min(blocks).max(1);
    let cover = |job: u64| {
        let mut own = covering.clone();
        let mut output = Vec::new();
        for ordinal in (job..blocks).step_by(jobs as usize) {
            if is_complete.load(Ordering::Relaxed) {
                return;
            }
            let mut run = Inputs::new(own, seed);
            run.seek_block(plan.block(ordinal));
            for _ in 0..plan.block_inputs.min(inputs - ordinal * plan.block_inputs) {
                output.clear();
                run.append_to(&mut output);
            }
            own = run.into_producer();
            let mut whole = whole.lock().unwrap_or_else(PoisonError::into_inner);
            if whole.add(&own) && whole.coverage().is_complete() {
                is_complete.store(true, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for job in 1..jobs {
            let cover = &cover;
            // With fewer threads than asked for, the blocks of the others are covered below.
            let spawned = std::thread::Builder::new().spawn_scoped(scope, move || cover(job));
            if spawned.is_err() {
                cover(job);
            }
        }
        cover(0);
    });
    whole.into_inner().unwrap_or_else(PoisonError::into_inner).coverage()
}

/// Prints the coverage on standard error, and writes it to `path`.
pub fn report(coverage: &Coverage, file: &SourceFile, inputs: u64, path: Option<&Path>) -> Result<(), Failure> {
    let (rules, alternatives) = (coverage.rules(), coverage.alternatives());
    say!("gramjet: coverage: {}, {}", share(rules, "rules"), share(alternatives, "alternatives"));
    let missing = missing(coverage, file);
    for line in missing.iter().take(NAMED) {
        say!("gramjet: not reached: {line}");
    }
    if missing.len() > NAMED {
        say!("gramjet: not reached: {} more", missing.len() - NAMED);
    }
    match path {
        Some(path) => write_output(Some(path), json(coverage, file, inputs).as_bytes()),
        None => Ok(()),
    }
}

fn share((reached, total): (usize, usize), noun: &str) -> String {
    // Less than all is never 100 %.
    let percent = if total == 0 { 100.0 } else { (reached as f64 * 1000.0 / total as f64).floor() / 10.0 };
    format!("{reached} of {total} {noun} ({percent:.1} %)")
}

/// Returns the rules that were not reached, and the alternatives of other rules that were not taken.
fn missing(coverage: &Coverage, file: &SourceFile) -> Vec<String> {
    let mut lines = Vec::new();
    let mut known = BTreeSet::new();
    let mut add = |line: String| {
        if known.insert(line.clone()) {
            lines.push(line);
        }
    };
    let by_told = coverage.by_told();
    for rule in &coverage.rules {
        if !rule.is_reached {
            // Another rule that was made of the same one may have been.
            if !by_told[rule.told.as_str()] {
                add(format!("rule `{}`", rule.told));
            }
            continue;
        }
        for alternative in rule.choices.iter().flat_map(|choice| &choice.alternatives) {
            if !alternative.is_reached {
                let (line, column) = file.line_column(alternative.span.start);
                add(format!("an alternative of `{}` at {}:{line}:{column}", rule.told, file.name()));
            }
        }
    }
    lines
}

#[derive(Serialize)]
struct File<'a> {
    schema: u32,
    grammar: &'a str,
    inputs: u64,
    rules: Count,
    alternatives: Count,
    by_rule: Vec<Rule<'a>>,
}

#[derive(Serialize)]
struct Count {
    reached: usize,
    total: usize,
}

#[derive(Serialize)]
struct Rule<'a> {
    rule: &'a str,
    told: &'a str,
    reached: bool,
    choices: Vec<Choice>,
}

#[derive(Serialize)]
struct Choice {
    place: u32,
    alternatives: Vec<Alternative>,
}

#[derive(Serialize)]
struct Alternative {
    alternative: u32,
    line: usize,
    column: usize,
    reached: bool,
}

fn json(coverage: &Coverage, file: &SourceFile, inputs: u64) -> String {
    let count = |(reached, total): (usize, usize)| Count { reached, total };
    let by_rule = coverage.rules.iter().map(|rule| Rule {
        rule: &rule.name,
        told: &rule.told,
        reached: rule.is_reached,
        choices: rule
            .choices
            .iter()
            .map(|choice| Choice {
                place: choice.place,
                alternatives: choice
                    .alternatives
                    .iter()
                    .map(|alternative| {
                        let (line, column) = file.line_column(alternative.span.start);
                        Alternative { alternative: alternative.number, line, column, reached: alternative.is_reached }
                    })
                    .collect(),
            })
            .collect(),
    });
    let report = File {
        schema: SCHEMA,
        grammar: file.name(),
        inputs,
        rules: count(coverage.rules()),
        alternatives: count(coverage.alternatives()),
        by_rule: by_rule.collect(),
    };
    // Strings, numbers and lists of them can always be written.
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}
