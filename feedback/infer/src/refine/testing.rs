//! Functions that tests share.

use gramjet_compiler::ast::Grammar;
use gramjet_compiler::diagnostics::{Diagnostics, SourceFile};
use gramjet_compiler::formats;

/// Returns the grammar that a text of our EBNF is.
pub(crate) fn grammar(text: &str) -> Grammar {
    let mut diagnostics = Diagnostics::default();
    let format = formats::by_name("ebnf").expect("the format");
    let grammar = format.parse(&SourceFile::new("g.ebnf", text), &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{text}");
    grammar
}
