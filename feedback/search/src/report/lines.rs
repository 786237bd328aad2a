//! The section on the source lines that were executed most.

use std::fmt::Write as _;

use super::data::{Excerpt, HotLine, Report};
use super::markup::{count, share};
use super::text;

/// Hot lines that are shown.
const LINES: usize = 30;
/// Hot lines whose excerpt is open at first, of those that are shown.
const OPEN: usize = 3;
/// Lines of an excerpt that are shown.
const EXCERPT: usize = 60;

/// Returns the content of the section, if there are lines: which input they are of, and the lines.
pub(super) fn section(report: &Report) -> Option<String> {
    let number = report.inputs.iter().position(|input| input.lines == report.lines);
    let of = number.map_or_else(String::new, |index| format!("<p class=note>These are of input {}.\n", index + 1));
    Some(of + &list(&report.lines)?)
}

/// Returns the lines with the source around them, if there are any.
pub(super) fn list(lines: &[HotLine]) -> Option<String> {
    let shown = &lines[..lines.len().min(LINES)];
    let html: String = shown.iter().enumerate().map(|(index, line)| article(index, line)).collect();
    (!shown.is_empty()).then(|| super::cut_note(shown.len(), lines.len(), "lines") + &html)
}

fn article(index: usize, line: &HotLine) -> String {
    let function = match line.function.as_str() {
        "" => String::new(),
        name => format!(" in <code>{}</code>", text::line(name)),
    };
    let title = format!(
        "<code>{}</code>{function}<span class=measures>{} <span class=dim>{} times</span></span>",
        text::line(&line.place),
        share(line.share),
        count(line.count),
    );
    match &line.excerpt {
        Some(excerpt) if !excerpt.lines.is_empty() => {
            let open = if index < OPEN { " open" } else { "" };
            format!("<details class=line{open}><summary>{title}</summary>\n{}</details>\n", source(excerpt))
        }
        _ => format!("<p class=line>{title}\n<span class=note>The source cannot be read.</span>\n"),
    }
}

/// Returns the lines of source with their numbers, the hot one marked.
fn source(excerpt: &Excerpt) -> String {
    // The hot line stays in the middle of what is shown.
    let hot = usize::try_from(excerpt.hot.saturating_sub(excerpt.first)).unwrap_or(0).min(excerpt.lines.len());
    let skipped = hot.saturating_sub(EXCERPT / 2);
    let mut html = String::from("<pre class=source>");
    for (index, line) in excerpt.lines.iter().enumerate().skip(skipped).take(EXCERPT) {
        let number = excerpt.first.saturating_add(index as u64);
        let class = if number == excerpt.hot { " class=hot" } else { "" };
        let _ = writeln!(html, "<span{class}><b>{number:>5} </b>{}</span>", text::code(line));
    }
    html + "</pre>\n"
}
