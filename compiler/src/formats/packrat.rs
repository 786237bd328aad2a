//! The common parts of notations in which the first alternative that fits wins: parsing expression grammars (Ford,
//! "Parsing expression grammars: a recognition-based syntactic foundation", 2004).
//!
//! [`order`] finds choices whose order may lose texts. In grammars with text between parts, as pest has it, that is
//! reported. Grammars that say where blanks are go through [`scannerless`], which leaves out what the ordered reading
//! never matches where one character decides, and reports some of the rest.

use super::builder::Builder;
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

pub(super) mod chars;
mod clean;
mod edges;
mod follow;
pub(super) mod order;
pub(super) mod parser;
pub(super) mod scannerless;
pub(super) mod tree;
mod words;

/// Reads a file of a notation that says where blanks are.
pub(super) fn read(file: &SourceFile, dialect: &'static parser::Dialect, diagnostics: &mut Diagnostics) -> Grammar {
    if super::refuse_huge_file(file, diagnostics) {
        return Grammar::default();
    }
    let mut builder = Builder::new(diagnostics);
    let rules = parser::parse(file.text(), dialect, &mut builder);
    scannerless::translate(&rules, dialect, &mut builder)
}
