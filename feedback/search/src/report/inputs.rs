//! The section on the inputs of highest cost.

use super::data::{Input, Report, Smaller, Span};
use super::lines;
use super::markup::{self, Column, count, facts, folded, seconds, share, table};
use super::palette::SERIES;
use super::text::{self, Mark};

/// Inputs that are shown.
const INPUTS: usize = 50;
/// Inputs that are open at first, of those that are shown.
const OPEN: usize = 3;
/// Bytes of a text that are shown.
const TEXT: usize = 4096;
/// Bytes of a derivation tree that are shown.
const DERIVATION: usize = 20_000;
/// Spans of an input that are shown.
const SPANS: usize = 12;

/// Returns the content of the section, if there are inputs.
pub(super) fn section(report: &Report) -> Option<String> {
    let shown = &report.inputs[..report.inputs.len().min(INPUTS)];
    let html: String = shown.iter().enumerate().map(|(index, input)| article(report, index, input)).collect();
    (!shown.is_empty()).then(|| super::cut_note(shown.len(), report.inputs.len(), "inputs") + &html)
}

fn article(report: &Report, index: usize, input: &Input) -> String {
    let open = if index < OPEN { " open" } else { "" };
    let name = text::line(&input.name);
    let title = format!("<b>{}.</b> cost <b>{}</b> <span class=dim>{name}</span>", index + 1, count(input.cost));
    let spans = largest(&input.spans);
    let content = [
        origin(input),
        format!("<pre class=text>{}</pre>\n", text::block(start(&input.text), &marks(&spans))),
        text_note(input.text.len()),
        note(&input.note),
        legend(&spans, input.spans.len()),
        hot_lines(report, input),
        derivation(&input.derivation),
        input.smaller.as_ref().map_or_else(String::new, smaller),
        super::replay(&input.replay),
    ];
    format!("<details class=input{open}><summary>{title}</summary>\n{}</details>\n", content.concat())
}

/// Returns a line that says where an input comes from.
fn origin(input: &Input) -> String {
    let mut known = vec![("length".to_string(), format!("{} bytes", count(input.text.len() as u64)))];
    if !input.strategy.is_empty() {
        known.push(("found after".to_string(), seconds(input.seconds)));
        known.push(("by".to_string(), text::line(&input.strategy)));
    }
    facts(&known)
}

/// Returns an input that costs nearly as much.
fn smaller(smaller: &Smaller) -> String {
    let known = [
        ("smaller text, length".to_string(), format!("{} bytes", count(smaller.text.len() as u64))),
        ("cost".to_string(), count(smaller.cost)),
        ("file".to_string(), text::line(&smaller.name)),
    ];
    let text = format!("<pre class=text>{}</pre>\n", text::block(start(&smaller.text), &[]));
    facts(&known) + &text + &text_note(smaller.text.len())
}

fn start(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(TEXT)]
}

fn text_note(len: usize) -> String {
    if len <= TEXT {
        return String::new();
    }
    format!("<p class=note>These are the first {} of {} bytes.\n", count(TEXT as u64), count(len as u64))
}

/// Returns the spans with the largest shares, the largest first. Each has the number of its place, which decides its
/// colour.
fn largest(spans: &[Span]) -> Vec<(usize, &Span)> {
    let mut ordered: Vec<&Span> = spans.iter().collect();
    ordered.sort_by(|one, other| other.share.total_cmp(&one.share).then(one.bytes.start.cmp(&other.bytes.start)));
    ordered.truncate(SPANS);
    let mut places: Vec<&str> = Vec::new();
    let mut number = |place| {
        places.iter().position(|known| *known == place).unwrap_or_else(|| {
            places.push(place);
            places.len() - 1
        })
    };
    ordered.into_iter().map(|span| (number(span.place.as_str()).min(SERIES.len() - 1), span)).collect()
}

fn marks(spans: &[(usize, &Span)]) -> Vec<Mark> {
    let mark = |(index, (series, span)): (usize, &(usize, &Span))| Mark {
        bytes: span.bytes.clone(),
        series: *series,
        number: index + 1,
        title: format!("{}: {}", span.place, markup::percent(span.share)),
    };
    spans.iter().enumerate().map(mark).collect()
}

/// Returns the table that explains the marks.
fn legend(spans: &[(usize, &Span)], all: usize) -> String {
    if spans.is_empty() {
        return String::new();
    }
    let columns =
        [Column::Number("Mark"), Column::Text("Share of cost"), Column::Text("Makes hot"), Column::Text("Bytes")];
    let rows = spans.iter().enumerate().map(|(index, (series, span))| {
        vec![
            format!("<mark class=series-{series}>{}</mark>", index + 1),
            share(span.share),
            format!("<code>{}</code>", text::line(&span.place)),
            format!("{} to {}", span.bytes.start, span.bytes.end),
        ]
    });
    super::cut_note(spans.len(), all, "spans") + &table(&columns, rows)
}

fn note(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!("<p class=note>{}\n", text::line(note)) }
}

/// Returns the lines that an input makes hot, unless they have a section of their own.
fn hot_lines(report: &Report, input: &Input) -> String {
    if input.lines == report.lines {
        return String::new();
    }
    lines::list(&input.lines).map_or_else(String::new, |list| folded("Hot lines", &list))
}

fn derivation(tree: &str) -> String {
    if tree.is_empty() {
        return String::new();
    }
    let end = (0..=tree.len().min(DERIVATION)).rev().find(|end| tree.is_char_boundary(*end)).unwrap_or(0);
    let note = if end < tree.len() { "<p class=note>The rest of the tree is left out.\n" } else { "" };
    folded("Derivation tree", &format!("<pre>{}</pre>\n{note}", text::lines(&tree[..end])))
}
