//! Grammars of Peggy and of its predecessor PEG.js: parsing expression grammars with code in JavaScript, which is left
//! out.

use super::packrat::parser::Dialect;
use super::{Format, glance, packrat};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

/// The `peggy` format.
pub struct Peggy;

const DIALECT: Dialect = Dialect {
    defines: &["="],
    comments: &["//"],
    has_empty: false,
    has_captures: false,
    has_octal: false,
    last: '\u{FFFF}',
    form: "name = term term / term",
};

impl Format for Peggy {
    fn name(&self) -> &'static str {
        "peggy"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["peggy", "pegjs"]
    }

    /// Looks for rules `name = ...` of which some have ordered choices, labels or code, and no mark that ends them.
    fn looks_like(&self, text: &str) -> bool {
        let is_rule = |line: &str| {
            let name = line.split_once('=').map(|(name, _)| name.trim());
            // A name for messages may follow the name of the rule.
            name.is_some_and(|name| {
                name.split_once([' ', '"'])
                    .map_or(glance::is_word(name), |(name, rest)| glance::is_word(name) && rest.contains('"'))
            })
        };
        let has_rules = glance::lines(text).any(|line| is_rule(line) || glance::is_word(line));
        let is_choice = |line: &str| {
            line.starts_with("/ ") || line.contains("\" / ") || line.contains("' / ") || line.contains("] / ")
        };
        let has_code =
            || text.contains("{ return ") || glance::lines(text).any(|line| line.starts_with('=') && line.len() > 1);
        has_rules
            && !glance::defines(text, "::=")
            && !glance::lines(text).any(|line| line.ends_with(';') && !line.contains("return"))
            && !["%x", "%d", "%s\"", " ~ ", "1*", "*(", "=/"].iter().any(|mark| text.contains(mark))
            && (has_code()
                || glance::lines(text).filter(|line| line.starts_with("/ ")).count() > 0
                    && glance::lines(text).any(is_choice)
                    && text.contains('['))
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        packrat::read(file, &DIALECT, diagnostics)
    }
}

#[cfg(test)]
mod tests;
