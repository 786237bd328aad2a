//! The findings of `gramjet check` as JSON. `docs/lints.md` describes the form; fields are added, never changed or
//! removed, within a version of it.

use gramjet_compiler::diagnostics::{Diagnostic, Diagnostics, SourceFile, Span};
use serde::Serialize;

use super::found::Found;
use super::texts::OfLength;
use crate::arguments::grammar::ShapeArgs;

/// The version of the form.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    gramjet: &'static str,
    grammar: &'a str,
    compiles: bool,
    diagnostics: Vec<Finding<'a>>,
    not_shown: usize,
    facts: Option<Facts<'a>>,
}

#[derive(Serialize)]
struct Finding<'a> {
    severity: String,
    code: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
    #[serde(flatten)]
    place: Location<'a>,
    related: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Related<'a> {
    message: &'a str,
    #[serde(flatten)]
    place: Location<'a>,
}

/// Lines and columns count from 1, columns in characters; offsets count bytes from 0. All but the file are null for
/// what concerns the grammar as a whole.
#[derive(Serialize)]
struct Location<'a> {
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    span: Option<Offsets>,
}

#[derive(Serialize)]
struct Offsets {
    start: u32,
    end: u32,
}

#[derive(Serialize)]
struct Facts<'a> {
    start: &'a str,
    rules: usize,
    alternatives: usize,
    recursive: &'a [String],
    nodes: Nodes,
    pools: Pools<'a>,
    shortest: u64,
    shape: Option<String>,
    by_default: Option<&'a str>,
    limits: Limits,
    growth: Growth<'a>,
    sample: Sample,
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<&'a [OfLength]>,
}

#[derive(Serialize)]
struct Nodes {
    lowered: usize,
    optimised: usize,
}

#[derive(Serialize)]
struct Pools<'a> {
    strings: usize,
    bytes: usize,
    rule_without_pool: Option<&'a str>,
}

#[derive(Serialize)]
struct Limits {
    max_depth: Option<u32>,
    max_depth_is_default: bool,
    max_len: Option<u64>,
    max_choices: u64,
}

#[derive(Serialize)]
struct Growth<'a> {
    spectral_radius: f64,
    rules: &'a [String],
    expected_length: Option<f64>,
    expected_length_within_max_depth: Option<f64>,
}

#[derive(Serialize)]
struct Sample {
    inputs: usize,
    distinct: usize,
    mean: f64,
    median: usize,
    shortest: usize,
    longest: usize,
    choice_bytes: u64,
    cut_short: usize,
}

/// Returns the report on a grammar as text, whose diagnostics are about `file`.
pub fn text(
    grammar: &str,
    file: &SourceFile,
    diagnostics: &Diagnostics,
    found: Option<&Found<'_>>,
    shape: &ShapeArgs,
) -> String {
    let report = Report {
        schema: SCHEMA,
        gramjet: env!("CARGO_PKG_VERSION"),
        grammar,
        compiles: found.is_some(),
        diagnostics: diagnostics.iter().map(|diagnostic| finding(file, diagnostic)).collect(),
        not_shown: diagnostics.suppressed(),
        facts: found.map(|found| facts(found, shape)),
    };
    // Strings, numbers and lists of them can always be written.
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}

fn finding<'a>(file: &'a SourceFile, diagnostic: &'a Diagnostic) -> Finding<'a> {
    Finding {
        severity: diagnostic.severity.to_string(),
        code: diagnostic.code.name(),
        message: &diagnostic.message,
        hint: diagnostic.help.as_deref(),
        place: place(file, diagnostic.span),
        related: diagnostic
            .related
            .iter()
            .map(|(span, label)| Related { message: label, place: place(file, Some(*span)) })
            .collect(),
    }
}

fn place(file: &SourceFile, span: Option<Span>) -> Location<'_> {
    let start = span.map(|span| file.line_column(span.start));
    let end = span.map(|span| file.line_column(span.end));
    Location {
        file: file.name(),
        line: start.map(|start| start.0),
        column: start.map(|start| start.1),
        end_line: end.map(|end| end.0),
        end_column: end.map(|end| end.1),
        span: span.map(|span| Offsets { start: span.start, end: span.end }),
    }
}

fn facts<'a>(found: &'a Found<'_>, shape: &ShapeArgs) -> Facts<'a> {
    let structure = &found.structure;
    let (limits, max_depth_is_default) = (found.limits.limits(), found.limits.is_default_depth());
    let lengths = &found.sample.lengths;
    let total: u64 = lengths.iter().map(|&length| length as u64).sum();
    Facts {
        start: &structure.start,
        rules: structure.rules,
        alternatives: found.growth.alternatives,
        recursive: &structure.recursive,
        nodes: Nodes { lowered: structure.nodes.0, optimised: structure.nodes.1 },
        pools: Pools {
            strings: structure.pools.0,
            bytes: structure.pools.1,
            rule_without_pool: structure.rule_without_pool.as_deref(),
        },
        shortest: structure.min_len,
        shape: shape.shape.map(|shape| shape.to_string()),
        by_default: found.by_default.as_deref(),
        limits: Limits {
            max_depth: limits.depth(),
            max_depth_is_default,
            max_len: limits.length(),
            max_choices: limits.choices(),
        },
        growth: Growth {
            spectral_radius: found.growth.radius,
            rules: found.critical,
            expected_length: found.growth.length,
            expected_length_within_max_depth: found.growth.limited_length,
        },
        sample: Sample {
            inputs: lengths.len(),
            distinct: found.sample.distinct,
            mean: total as f64 / lengths.len().max(1) as f64,
            median: lengths.get(lengths.len() / 2).copied().unwrap_or(0),
            shortest: lengths.first().copied().unwrap_or(0),
            longest: lengths.last().copied().unwrap_or(0),
            choice_bytes: found.sample.choice_bytes,
            cut_short: found.sample.exhausted,
        },
        texts: found.texts.as_ref().map(|texts| &*texts.lengths),
    }
}
