//! The sections on inputs on which the program failed, and on those that were stopped by a limit.

use super::data::Failure;
use super::markup::{Column, count, seconds, table};
use super::text;

/// Failures that are shown.
const FAILURES: usize = 100;
/// Bytes of each text that are shown.
const TEXT: usize = 80;

/// The content of the section, if there are any.
pub(super) fn section(failures: &[Failure]) -> Option<String> {
    use Column::{Number, Text};
    let columns = [
        Text("Outcome"),
        Text("Place"),
        Text("Input"),
        Number("Bytes"),
        Number("Found"),
        Number("First after"),
        Number("Cost until then"),
        Text("Replay"),
    ];
    let shown = &failures[..failures.len().min(FAILURES)];
    let html = super::cut_note(shown.len(), failures.len(), "outcomes") + &table(&columns, shown.iter().map(row));
    (!shown.is_empty()).then_some(html)
}

fn row(failure: &Failure) -> Vec<String> {
    // Of a failure that was not counted, neither its time nor its cost is known.
    let is_counted = failure.count > 0;
    let known = |value: String| if is_counted { value } else { String::new() };
    let times = if failure.count == 1 { "once".to_string() } else { format!("{} times", count(failure.count)) };
    vec![
        format!("<b>{}</b>", text::line(&failure.outcome)),
        code(&text::line(&failure.place)),
        code(&text::start_of(&failure.text, TEXT)),
        count(failure.text.len() as u64),
        known(times),
        known(seconds(failure.seconds)),
        known(count(failure.cost)),
        code(&text::line(&failure.replay)),
    ]
}

/// Text of a program; the argument is HTML.
fn code(html: &str) -> String {
    if html.is_empty() { String::new() } else { format!("<code>{html}</code>") }
}
