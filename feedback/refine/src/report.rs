//! What goes into a repair and what comes out of it.

use gramjet_compiler::ast::Grammar;
use gramjet_compiler::diagnostics::{Diagnostics, SourceFile};
use gramjet_compiler::formats;

use crate::source::whole;

/// A grammar with its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text that edits change: that of the file, if it is in our EBNF.
    pub(crate) text: Option<String>,
    pub(crate) grammar: Grammar,
}

impl Source {
    /// A grammar that was read from a text in our EBNF, which edits can change.
    pub fn new(text: impl Into<String>, grammar: Grammar) -> Source {
        Source { text: Some(text.into()), grammar }
    }

    /// A grammar in another notation: the result is written in our EBNF.
    pub fn converted(grammar: Grammar) -> Source {
        Source { text: None, grammar }
    }

    /// A text in our EBNF.
    ///
    /// # Errors
    ///
    /// The diagnostics, if it is none.
    pub fn ebnf(name: &str, text: &str) -> Result<Source, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let file = SourceFile::new(name, text);
        let grammar = match formats::by_name("ebnf") {
            Some(format) => format.parse(&file, &mut diagnostics),
            None => Grammar::default(),
        };
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(Source::new(text, grammar)) }
    }

    /// Its text: the file's, or its own in our EBNF.
    pub fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| whole(&self.grammar))
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Whether edits can change the text of the file.
    pub fn is_editable(&self) -> bool {
        self.text.is_some()
    }
}

/// What an edit does to the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It has more texts.
    Widen,
    /// It has fewer texts.
    Tighten,
}

/// A part of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The part.
    pub part: usize,
    /// The number.
    pub of: usize,
}

impl Share {
    /// From 0 to 1; 1 of nothing.
    pub fn ratio(&self) -> f64 {
        if self.of == 0 { 1.0 } else { self.part as f64 / self.of as f64 }
    }
}

/// An edit with its evidence.
#[derive(Clone, Debug)]
pub struct Edit {
    /// What it does to the language.
    pub direction: Direction,
    /// The rule that is edited.
    pub rule: String,
    /// What is edited, in words, with expressions in our EBNF.
    pub what: String,
    /// Of the texts that the program accepts, those that the grammar reads before the edit, and after it.
    pub accepted: [Share; 2],
    /// The same of texts that the program rejects.
    pub rejected: [Share; 2],
    /// Fresh texts that show what is new, or what is gone: how many of them the program accepts.
    pub fresh: Share,
    /// Texts that it is for: the program accepts them, or rejects them.
    pub examples: Vec<Vec<u8>>,
}

/// The edited grammar.
#[derive(Clone, Debug)]
pub struct Edited {
    /// Its text.
    pub text: String,
    /// Whether the text is that of the source but for the edits, with its comments. Else it is written anew, in our
    /// EBNF.
    pub is_in_place: bool,
    /// The grammar itself.
    pub grammar: Grammar,
}

/// The result of a repair.
#[derive(Clone, Debug)]
pub struct Report {
    /// The edits, in order.
    pub edits: Vec<Edit>,
    /// The grammar after the edits.
    pub edited: Edited,
    /// The share of generated texts that the program accepts, before the edits and after them. The second is unknown if
    /// there were no more answers.
    pub precision: [Option<Share>; 2],
    /// Texts that the program accepts and the edited grammar does not read.
    pub unread: Vec<Vec<u8>>,
    /// Small texts of the edited grammar that the program rejects.
    pub rejected: Vec<Vec<u8>>,
    /// Rounds that were made.
    pub rounds: u32,
    /// Whether the search ended by itself.
    pub is_complete: bool,
}
