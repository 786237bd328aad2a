//! The rules in the text of an RFC: they are found by their shape, amid prose, figures and the marks of pages.

use super::parser;
use crate::ast::{Grammar, Name};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::Set;

use blocks::Block;
use places::{Lines, listed};
use rows::{Kind, Row};

mod blocks;
mod open;
mod places;
mod repeated;
mod rows;
mod start;

/// Returns true if a text is that of an RFC or of an Internet-Draft: it says so at its top, or has pages.
pub(super) fn is_rfc(text: &str) -> bool {
    const TOP: usize = 60;
    let says_so = |line: &str| {
        let line = line.trim_start_matches(['\u{FEFF}', '\u{C}']).trim().to_ascii_lowercase();
        let is_draft = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
        line.starts_with("request for comments:")
            || line.strip_prefix("internet-draft").is_some_and(is_draft) && !line.contains('=')
    };
    text.lines().take(TOP).any(|line| line.len() < 200 && says_so(line)) || rows::has_pages(text)
}

/// Returns true if rules of ABNF stand in the text of an RFC.
pub(super) fn has_rules(text: &str) -> bool {
    let rows = rows::rows(text);
    let is_sure = |block: &Block| blocks::is_surely_abnf(&rows[block.first..block.end]);
    blocks::blocks(&rows).iter().any(is_sure)
}

/// Parses the rules in the text of an RFC. What needs prose, or rules that the text does not have, is left out, unless
/// `start` needs it.
pub(super) fn parse(text: &str, start: Option<&str>, diagnostics: &mut Diagnostics) -> Grammar {
    let rows = rows::rows(text);
    let blocks = blocks::blocks(&rows);
    let (taken, refused): (Vec<&Block>, Vec<&Block>) = blocks.iter().partition(|block| block.end > block.first);
    if taken.is_empty() {
        diagnostics.push(no_rules(&rows, &refused));
        return Grammar::default();
    }
    let only_rules = without_prose(text, &rows, &taken);
    let count = taken.iter().map(|block| blocks::name(&rows[block.first])).collect::<Set<String>>().len();
    let mut grammar = parser::parse_rfc(&only_rules, diagnostics);
    if diagnostics.has_errors() {
        return grammar;
    }
    let lines = Lines::new(text);
    let repeated = repeated::merge(&mut grammar.rules, &lines);
    repeated.into_iter().for_each(|finding| diagnostics.push(finding));
    open::leave_out(&mut grammar, start, diagnostics);
    diagnostics.push(said(&rows, count, &refused, grammar.start.as_ref()));
    // A text of rules for several purposes has many that one start rule does not reach.
    grammar.with_own(|_| false)
}

/// Returns the text with blanks in place of everything that is no rule, so that places stay the same.
fn without_prose(text: &str, rows: &[Row<'_>], taken: &[&Block]) -> String {
    let mut kept = String::with_capacity(text.len());
    for row in taken.iter().flat_map(|block| &rows[block.first..block.end]) {
        if row.kind == Kind::Text {
            kept.extend(std::iter::repeat_n(' ', row.start.saturating_sub(kept.len() + 1)));
            // A line begins where the one before it ends.
            kept.extend((kept.len() < row.start).then_some('\n'));
            kept.push_str(row.text);
        }
    }
    kept
}

/// Returns the error that there are no rules.
fn no_rules(rows: &[Row<'_>], refused: &[&Block]) -> Diagnostic {
    let message = "the text of this RFC has no rule of ABNF that can be read";
    let help = match places(rows, refused) {
        Some(places) => format!(
            "what looks like rules but is not read begins in {places}; alternatives are separated by `/`, not by the \
             `|` of older RFCs"
        ),
        None => "a rule is written `name = elements`, at the beginning of a line".to_string(),
    };
    let span = refused.first().map(|block| span(&rows[block.first]));
    Diagnostic::error(Code::NoRules, span, message).help(help)
}

/// Returns the line that says how much of the text has been taken.
fn said(rows: &[Row<'_>], taken: usize, refused: &[&Block], start: Option<&Name>) -> Diagnostic {
    let rules = if taken == 1 { "1 rule is".to_string() } else { format!("{taken} rules are") };
    let left =
        places(rows, refused).map_or(String::new(), |places| format!(", with what looks like rules in {places}"));
    let start = start.map_or(String::new(), |name| format!("; the start is `{}`, which reaches most rules", name.text));
    let message = format!("{rules} taken from the text of an RFC, and the prose is left out{left}{start}");
    let help = "`--start NAME` takes another start; a rule in a line that is left out can be copied to a file";
    let span = refused.first().map(|block| span(&rows[block.first]));
    Diagnostic::warning(Code::Notation, span, message).help(help)
}

/// Returns the lines in which blocks begin, the first of them by number. `None` if there are no blocks.
fn places(rows: &[Row<'_>], blocks: &[&Block]) -> Option<String> {
    listed(blocks.iter().map(|block| rows[block.first].line.to_string())).map(|list| match blocks.len() {
        1 => format!("line {list}"),
        _ => format!("lines {list}"),
    })
}

fn span(row: &Row<'_>) -> Span {
    let indent = row.text.len() - row.words().len();
    Span::new(row.start + indent, row.start + row.text.len())
}

#[cfg(test)]
mod tests;
