//! The sections on inputs on which the program failed, and on those that were stopped by a limit.

use super::data::Failure;
use super::markup::{Column, count, seconds, table};
use super::text;

/// Failures that are shown.
const FAILURES: usize = 100;
/// Bytes of each text that are shown.
const TEXT: usize = 80;

/// A cell of the table, as HTML; empty if nothing is known.
type Cell = fn(&Failure) -> String;

/// Columns of the table of failures. Columns that say nothing of any failure are left out.
const COLUMNS: [(Column<'static>, Cell); 8] = [
    (Column::Text("Outcome"), |failure| format!("<b>{}</b>", text::line(&failure.outcome))),
    (Column::Text("Place"), |failure| code(&text::line(&failure.place))),
    (Column::Text("Input"), |failure| code(&text::start_of(&failure.text, TEXT))),
    (Column::Number("Bytes"), |failure| count(failure.text.len() as u64)),
    (Column::Number("Found"), |failure| times(failure.count)),
    (Column::Number("First after"), |failure| failure.seconds.map_or_else(String::new, seconds)),
    (Column::Number("Cost until then"), |failure| failure.cost.map_or_else(String::new, count)),
    (Column::Text("Replay"), |failure| code(&text::line(&failure.replay))),
];

/// Returns the content of the section, if there are any.
pub(super) fn section(failures: &[Failure]) -> Option<String> {
    let shown = &failures[..failures.len().min(FAILURES)];
    let is_filled = |cell: &Cell| shown.iter().any(|failure| !cell(failure).is_empty());
    let (columns, cells): (Vec<_>, Vec<_>) = COLUMNS.into_iter().filter(|(_, cell)| is_filled(cell)).unzip();
    let rows = shown.iter().map(|failure| cells.iter().map(|cell| cell(failure)).collect());
    let html = super::cut_note(shown.len(), failures.len(), "outcomes") + &table(&columns, rows);
    (!shown.is_empty()).then_some(html)
}

/// Returns how often it was found; empty if that was not counted.
fn times(number: u64) -> String {
    match number {
        0 => String::new(),
        1 => "once".to_string(),
        _ => format!("{} times", count(number)),
    }
}

/// Returns the text of a program; the argument is HTML.
fn code(html: &str) -> String {
    if html.is_empty() { String::new() } else { format!("<code>{html}</code>") }
}
