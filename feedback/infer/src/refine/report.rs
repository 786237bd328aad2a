//! The input of a repair, and its results.

use std::fmt;
use std::sync::Arc;

use gramjet_compiler::ast::Grammar;
use gramjet_compiler::diagnostics::{Diagnostics, SourceFile};
use gramjet_compiler::formats;

use crate::refine::notation::{Notation, rewritten};
use crate::refine::source::{edited, whole};

/// A grammar with its text.
#[derive(Clone)]
pub struct Source {
    /// The text that edits change, unless the result is written in our EBNF.
    text: Option<String>,
    /// Notation and reader of a text that is not in our EBNF.
    other: Option<(Notation, Read)>,
    pub(crate) grammar: Grammar,
}

/// Reads a grammar; `None` if the text is none.
type Read = Arc<dyn Fn(&str) -> Option<Grammar> + Send + Sync>;

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let notation = self.other.as_ref().map(|(notation, _)| notation);
        f.debug_struct("Source").field("text", &self.text).field("notation", &notation).finish_non_exhaustive()
    }
}

impl Source {
    /// Returns a grammar that was read from a text in our EBNF, which edits can change.
    pub fn new(text: impl Into<String>, grammar: Grammar) -> Source {
        Source { text: Some(text.into()), other: None, grammar }
    }

    /// Returns a grammar that was read from a text in another notation. An edit writes the body of its rule anew; where
    /// it cannot, the result is written in our EBNF. `read` is how the text was read.
    pub fn in_notation(
        text: impl Into<String>,
        grammar: Grammar,
        notation: Notation,
        read: impl Fn(&str) -> Option<Grammar> + Send + Sync + 'static,
    ) -> Source {
        Source { text: Some(text.into()), other: Some((notation, Arc::new(read))), grammar }
    }

    /// Returns a grammar in a notation that edits cannot change: the result is written in our EBNF.
    pub fn converted(grammar: Grammar) -> Source {
        Source { text: None, other: None, grammar }
    }

    /// Returns a text in our EBNF.
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

    /// Returns the text of the grammar: the file's, or its own in our EBNF.
    pub fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| whole(&self.grammar))
    }

    /// Returns the grammar in our EBNF, without comments.
    pub fn as_ebnf(&self) -> String {
        whole(&self.grammar)
    }

    /// Returns the grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Returns the text after the edits that make the grammar into another one; `None` if the text cannot be edited
    /// like that.
    pub(crate) fn edited(&self, new: &Grammar) -> Option<String> {
        let text = self.text.as_deref()?;
        match &self.other {
            None => edited(text, &self.grammar, new),
            Some((notation, read)) => rewritten(text, *notation, (&self.grammar, new), &**read),
        }
    }

    /// Returns true if edits can change the text of the file.
    pub fn is_editable(&self) -> bool {
        self.text.is_some()
    }
}

/// Effect of an edit on the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The language has more texts.
    Widen,
    /// The language has fewer texts.
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
    /// Returns the share as a number from 0 to 1; 1 for a share of nothing.
    pub fn ratio(&self) -> f64 {
        if self.of == 0 { 1.0 } else { self.part as f64 / self.of as f64 }
    }
}

/// An edit with its evidence.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Effect on the language.
    pub direction: Direction,
    /// The rule that is edited.
    pub rule: String,
    /// Description of what is edited, in words, with expressions in our EBNF.
    pub what: String,
    /// Shares of the texts that the program accepts which the grammar reads before the edit, and after it.
    pub accepted: [Share; 2],
    /// Shares of the texts that the program rejects which the grammar reads before the edit, and after it.
    pub rejected: [Share; 2],
    /// Fresh texts that show what is new, or what is gone: how many of them the program accepts.
    pub fresh: Share,
    /// Texts that it is for: the program accepts them, or rejects them.
    pub examples: Vec<Vec<u8>>,
}

/// The edits of a rule, as one change with what speaks for it.
#[derive(Clone, Debug)]
pub struct Change {
    /// The rule.
    pub rule: String,
    /// Numbers of the edits in the report, from 0 on.
    pub edits: Vec<usize>,
    /// Number of samples that do not conform without the change.
    pub samples: usize,
    /// Number of texts that the program accepts and that do not conform without the change.
    pub accepted: usize,
    /// Number of texts that the program rejects and that conform without the change.
    pub rejected: usize,
    /// Whether the edited grammar has the change.
    pub is_applied: bool,
    /// Short texts that the change lets in: the program accepts them.
    pub lets_in: Vec<Vec<u8>>,
    /// Short texts that the change shuts out: the program rejects them.
    pub shuts_out: Vec<Vec<u8>>,
}

/// Choice of the changes that the edited grammar has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Apply {
    /// Changes that a sample or a rejected text needs; without samples, also those that many accepted texts need.
    Needed,
    /// All changes.
    All,
    /// The changes with these numbers in the report, from 1 on.
    These(Vec<usize>),
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
    /// The edits, in the order in which they were made.
    pub edits: Vec<Edit>,
    /// The edits as changes of rules, those first that most speaks for.
    pub changes: Vec<Change>,
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
