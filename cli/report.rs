//! The compiler's reports on a grammar, for people: diagnostics with excerpts and carets, weights, growth. Excerpts are
//! cut out of the text first, so that a line of ten megabytes costs no more than one of ten bytes.

use std::io::Write;
use std::ops::Range;

use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use gramjet_compiler::diagnostics::{Diagnostic, Diagnostics, Severity, SourceFile, Span};
use gramjet_compiler::shape::{ByDefault, Facts};

use crate::failure::Failure;
use crate::terminal::{visible, visible_in_place};
use crate::units::plural;

/// An excerpt shows at most this number of bytes of a line before and after the place.
const AROUND: usize = 80;
/// A span is marked over at most this many bytes.
const MARKED: usize = 200;
/// A message longer than this is cut.
const MESSAGE: usize = 2000;
/// At most this number of other places is shown with a diagnostic.
const RELATED: usize = 8;

/// Prints all diagnostics to standard error, with colours if it is a terminal that wants them.
pub fn print(file: &SourceFile, diagnostics: &Diagnostics) {
    if diagnostics.is_empty() {
        return;
    }
    let mut stderr = std::io::stderr();
    let coloured = anstream::AutoStream::choice(&stderr) != anstream::ColorChoice::Never;
    // There is no other place to report a failure.
    let _ = stderr.write_all(text(file, diagnostics, coloured).as_bytes());
}

/// Returns a summary such as `2 errors, 1 warning`.
pub fn summary(diagnostics: &Diagnostics) -> String {
    let count = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count() as u64;
    let mut parts = Vec::new();
    for (severity, noun) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
        match count(severity) {
            0 => {}
            number => parts.push(plural(number, noun)),
        }
    }
    if diagnostics.suppressed() > 0 {
        parts.push(format!("{} that are not shown", diagnostics.suppressed()));
    }
    if parts.is_empty() { "no diagnostics".to_string() } else { parts.join(", ") }
}

/// Returns the failure of a grammar whose diagnostics were printed.
pub fn does_not_compile(file: &SourceFile, diagnostics: &Diagnostics) -> Failure {
    Failure::Grammar(format!("{} does not compile: {}", file.name(), summary(diagnostics)))
}

/// Returns the default weights chosen for a grammar that has none, and the option that changes this.
pub fn weights_by_default(decision: &ByDefault) -> String {
    let otherwise = if decision.is_shaped { " (otherwise: `--shape uniform`)" } else { "" };
    format!("{decision}{otherwise}")
}

/// Returns the spectral radius and the expected lengths.
pub fn growth(facts: &Facts) -> String {
    let unlimited = match facts.length {
        Some(length) => format!("expected length {} bytes", rounded(length)),
        None => "no bound on the expected length".to_string(),
    };
    let limited = match facts.limited_length {
        Some(length) => format!(", {} within the maximum depth", rounded(length)),
        None => String::new(),
    };
    format!("spectral radius {:.3}, {unlimited} without limits{limited}", facts.radius)
}

fn rounded(length: f64) -> String {
    if length < 1e9 { format!("{length:.1}") } else { format!("{length:.2e}") }
}

/// Returns all diagnostics as text.
fn text(file: &SourceFile, diagnostics: &Diagnostics, coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(DEFAULT_TERM_WIDTH.max(2 * AROUND));
    let lines = Lines::of(file.text());
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        text += &renderer.render(&groups(file, &lines, diagnostic));
        text.push_str("\n\n");
    }
    if diagnostics.suppressed() > 0 {
        let shown = diagnostics.iter().count();
        text += &format!("only the first {shown} are shown, there are {} more\n\n", diagnostics.suppressed());
    }
    text
}

fn groups<'a>(file: &'a SourceFile, lines: &Lines<'_>, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(visible(cut(&diagnostic.message))).id(diagnostic.code.name());
    let mut group = Group::with_title(title);
    group = match diagnostic.span {
        Some(span) => place(group, file, lines, span),
        None => group.element(Origin::path(visible(file.name()))),
    };
    let mut groups = vec![group];
    for (span, label) in diagnostic.related.iter().take(RELATED) {
        groups.push(place(Group::with_title(Level::NOTE.secondary_title(visible(cut(label)))), file, lines, *span));
    }
    if let Some(help) = &diagnostic.help {
        groups.push(Group::with_title(Level::HELP.secondary_title(visible(cut(help)))));
    }
    groups
}

/// Adds the excerpt around `span`.
fn place<'a>(group: Group<'a>, file: &'a SourceFile, lines: &Lines<'_>, span: Span) -> Group<'a> {
    let excerpt = lines.excerpt(span);
    let snippet = Snippet::source(visible_in_place(&excerpt.text))
        .line_start(excerpt.line)
        .annotation(AnnotationKind::Primary.span(excerpt.marked));
    if excerpt.cut {
        // The renderer would count columns from where the excerpt begins.
        let origin = Origin::path(visible(file.name())).line(excerpt.line).char_column(excerpt.column);
        group.element(origin).element(snippet)
    } else {
        group.element(snippet.path(visible(file.name())))
    }
}

fn cut(message: &str) -> &str {
    &message[..boundary_before(message, MESSAGE)]
}

/// Returns the last offset up to `offset` at which a character of `text` begins, or its end.
fn boundary_before(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&offset| text.is_char_boundary(offset)).unwrap_or(0)
}

/// A text with the offsets at which its lines start.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

/// A part of one line.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// The range to mark, in bytes of `text`.
    marked: Range<usize>,
    /// The line and the column in characters of the place in the whole file, from 1.
    line: usize,
    column: usize,
    /// Whether the beginning of the line is left out.
    cut: bool,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Lines<'a> {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Lines { text, starts: std::iter::once(0).chain(newlines.map(|(offset, _)| offset + 1)).collect() }
    }

    fn excerpt(&self, span: Span) -> Excerpt {
        let start = boundary_before(self.text, span.start as usize);
        let line = self.starts.partition_point(|&line_start| line_start <= start);
        let line_start = self.starts[line - 1];
        let line_end = self.starts.get(line).map_or(self.text.len(), |&next| next - 1);
        let line_end = line_end.max(start);
        let end = boundary_before(self.text, span.end as usize).clamp(start, line_end);
        let end = boundary_before(self.text, end.min(start + MARKED));
        let from = boundary_before(self.text, start.saturating_sub(AROUND)).max(line_start);
        let to = boundary_before(self.text, (end + AROUND).min(line_end));
        let (before, behind) = (if from > line_start { "…" } else { "" }, if to < line_end { "…" } else { "" });
        let shift = |offset: usize| offset - from + before.len();
        // A place at the end of a line has nothing to mark: one column after the line is marked instead.
        let text = format!("{before}{}{behind}", self.text[from..to].trim_end_matches('\r'));
        let marked = shift(start).min(text.len())..shift(end).min(text.len());
        let column = self.text[line_start..start].chars().count() + 1;
        Excerpt { text, marked, line, column, cut: from > line_start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use gramjet_compiler::diagnostics::Code;

    fn excerpt(text: &str, start: usize, end: usize) -> Excerpt {
        Lines::of(text).excerpt(Span::new(start, end))
    }

    #[test]
    fn excerpts() {
        let found = excerpt("ab\ncd ef\n", 6, 8);
        assert_eq!((found.text.as_str(), found.marked, found.line, found.column), ("cd ef", 3..5, 2, 4));
        let found = excerpt("", 0, 0);
        assert_eq!((found.text.as_str(), found.marked, found.line, found.column), ("", 0..0, 1, 1));
        let found = excerpt("a\r\n", 3, 9);
        assert_eq!((found.text.as_str(), found.marked, found.line, found.column), ("", 0..0, 2, 1));
        let found = excerpt("ä\nb", 1, 2);
        assert_eq!((found.line, found.column), (1, 1));
        let found = excerpt("ab", 7, 3);
        assert_eq!((found.marked, found.line, found.column), (2..2, 1, 3));
    }

    #[test]
    fn long_lines_are_cut_anywhere() {
        let long = "ä".repeat(1000);
        for start in 0..long.len() {
            for length in [0, 1, 5, 500] {
                let found = excerpt(&long, start, start + length);
                assert!(found.text.len() < 2 * AROUND + MARKED + 10 && found.marked.end <= found.text.len());
            }
        }
    }

    #[test]
    fn rendering() {
        let file = SourceFile::new("x.ebnf", "start = name;\nname = \"\u{1b}\" nme;\n");
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(
            Diagnostic::error(Code::UndefinedRule, Span::new(25, 28), "rule `nme` is not defined")
                .related(Span::new(14, 18), "this rule is similar")
                .help("did you mean `name`?"),
        );
        diagnostics.push(Diagnostic::warning(Code::NoRules, None, "nothing here"));
        expect![[r#"
            error[undefined-rule]: rule `nme` is not defined
             --> x.ebnf:2:12
              |
            2 | name = "␛" nme;
              |            ^^^
              |
            note: this rule is similar
             --> x.ebnf:2:1
              |
            2 | name = "␛" nme;
              | ^^^^
            help: did you mean `name`?

            warning[no-rules]: nothing here
            --> x.ebnf

        "#]]
        .assert_eq(&text(&file, &diagnostics, false));
        assert!(text(&file, &diagnostics, true).contains("\u{1b}[1m"));
        assert_eq!(summary(&diagnostics), "1 error, 1 warning");
    }

    #[test]
    fn a_huge_line_prints_little() {
        let file = SourceFile::new("x.ebnf", "a ".repeat(5_000_000));
        let mut diagnostics = Diagnostics::default();
        for at in 0..Diagnostics::MAX {
            diagnostics.push(Diagnostic::error(Code::Syntax, Span::new(at * 50_000, 10_000_000), "?"));
        }
        assert!(text(&file, &diagnostics, false).len() < 200_000);
        assert!(!text(&file, &diagnostics, false).contains("more"));
        for _ in 0..7 {
            diagnostics.push(Diagnostic::error(Code::Syntax, None, "?"));
        }
        assert!(text(&file, &diagnostics, false).ends_with("only the first 200 are shown, there are 7 more\n\n"));
        assert_eq!(summary(&diagnostics), "200 errors, 7 that are not shown");
    }
}
