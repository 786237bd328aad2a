//! Pieces of HTML, and numbers as a reader wants them.

use std::fmt::Write as _;

/// Returns a text for an attribute or an element, with what HTML has a meaning for escaped.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Returns a whole number with its digits in groups of three.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push('\u{202F}');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a number in a few characters, such as `1.5M`.
pub(super) fn short(number: f64) -> String {
    const UNITS: [(f64, &str); 6] = [(1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    // A number that is rounded to 1000 of a unit is 1 of the next.
    let unit = UNITS.into_iter().find(|(unit, _)| number >= unit * 0.9999999);
    let (divisor, name) = unit.unwrap_or((1.0, ""));
    let scaled = number / divisor;
    let decimals = if name.is_empty() && scaled < 0.01 { 6 } else { 2 };
    let digits = format!("{scaled:.decimals$}");
    format!("{}{name}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns a time in seconds.
pub(super) fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".to_string();
    }
    match seconds {
        ..0.001 => "0\u{A0}s".to_string(),
        ..1.0 => format!("{seconds:.3}\u{A0}s"),
        ..59.95 => format!("{seconds:.1}\u{A0}s"),
        ..3599.5 => format!("{}\u{A0}min {:02}\u{A0}s", seconds.round() as u64 / 60, seconds.round() as u64 % 60),
        _ => format!(
            "{}\u{A0}h {:02}\u{A0}min",
            (seconds / 60.0).round() as u64 / 60,
            (seconds / 60.0).round() as u64 % 60
        ),
    }
}

/// Returns a share, from 0 to 1, in per cent.
pub(super) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1}\u{A0}%", share.clamp(0.0, 1.0) * 100.0) } else { "unknown".to_string() }
}

/// Returns a share, as a number with a bar.
pub(super) fn share(share: f64) -> String {
    let width = if share.is_finite() { share.clamp(0.0, 1.0) * 100.0 } else { 0.0 };
    format!("<span class=share><span class=bar><i style=\"width:{width:.1}%\"></i></span>{}</span>", percent(share))
}

/// A column of a table.
pub(super) enum Column<'c> {
    /// Column of text.
    Text(&'c str),
    /// Column of numbers.
    Number(&'c str),
}

/// Returns a table, which can be scrolled if it is wider than the page. The cells are HTML.
pub(super) fn table(columns: &[Column<'_>], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut html = String::from("<div class=scroll tabindex=0><table><thead><tr>");
    for column in columns {
        let (class, name) = column.class_and_name();
        let _ = write!(html, "<th scope=col{class}>{}", escape(name));
    }
    html.push_str("<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (column, cell) in columns.iter().zip(row) {
            let _ = write!(html, "<td{}>{cell}", column.class_and_name().0);
        }
        html.push('\n');
    }
    html.push_str("</table></div>\n");
    html
}

impl<'c> Column<'c> {
    fn class_and_name(&self) -> (&'static str, &'c str) {
        match self {
            Column::Text(name) => ("", name),
            Column::Number(name) => (" class=number", name),
        }
    }
}

/// Returns a part of the page that can be opened. The title and the content are HTML.
pub(super) fn folded(title: &str, content: &str) -> String {
    format!("<details><summary>{title}</summary>\n{content}</details>\n")
}

/// Returns a list of names and values, which are HTML.
pub(super) fn facts(facts: &[(String, String)]) -> String {
    let rows = facts.iter().map(|(name, value)| format!("<div><dt>{name}<dd>{value}</div>\n"));
    format!("<dl class=facts>{}</dl>\n", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(count(0), "0");
        assert_eq!(count(u64::MAX), "18\u{202F}446\u{202F}744\u{202F}073\u{202F}709\u{202F}551\u{202F}615");
        let numbers = [0.0, 0.25, 999.0, 1000.0, 1536.0, 2e6, u64::MAX as f64, 0.00002];
        assert_eq!(numbers.map(short).join(" "), "0 0.25 999 1k 1.54k 2M 18.45E 0.00002");
        let times = [0.0, 0.25, 59.94, 59.96, 3599.4, 3599.6, f64::NAN, -1.0];
        let expected = "0 s, 0.250 s, 59.9 s, 1 min 00 s, 59 min 59 s, 1 h 00 min, unknown, unknown";
        assert_eq!(times.map(seconds).join(", ").replace('\u{A0}', " "), expected);
        assert_eq!([0.123, 7.0, f64::NAN].map(percent).join(" ").replace('\u{A0}', ""), "12.3% 100.0% unknown");
    }
}
