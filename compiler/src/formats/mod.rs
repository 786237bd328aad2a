//! Grammar formats: each translates text to an [`ast::Grammar`](crate::ast::Grammar) and does not depend on later
//! stages.
//!
//! A new format is one file here plus a line in [`ALL`].

use std::str::FromStr;

use crate::ast::Grammar;
use crate::check::closest;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity, SourceFile};
use crate::tokens::{self, Alphabet, Indent, SeparatorPolicy};

pub mod abnf;
pub mod bnf;
pub mod ebnf;
pub mod fuzzingbook;
pub mod g4;
pub mod gbnf;
pub mod gram;
pub mod gramatron;
pub mod iso;
pub mod json_schema;
pub mod lark;
pub mod nautilus;
pub mod peg;
pub mod peggy;
pub mod pest;
pub mod regex;
pub mod tree_sitter;
pub mod w3c;
pub mod yacc;

mod boundaries;
mod builder;
mod difference;
mod foreign;
mod given;
mod glance;
mod json_text;
mod keywords;
mod layout;
mod levels;
mod lex;
mod missing;
mod packrat;
mod pattern;
mod prune;
mod python;
mod recognise;
mod scanner;
mod yaml_text;

pub use pattern::pumps::{Promise, Pump, pumps};
pub use recognise::{Recognised, recognise};

/// The greatest number of expressions in a grammar. It bounds the memory for hostile files.
pub const MAX_EXPRESSIONS: usize = 1 << 20;

/// A notation for grammars.
pub trait Format: Sync {
    /// Returns the name that `--format` takes, such as `ebnf`.
    fn name(&self) -> &'static str;

    /// Returns the file extensions (without the dot) of this format.
    fn extensions(&self) -> &'static [&'static str];

    /// Returns true if the text looks like this format. Decides between formats that share an extension, and for files
    /// without an extension.
    fn looks_like(&self, text: &str) -> bool;

    /// Returns true if files of this name have this format, whatever they hold.
    fn is_called(&self, _name: &str) -> bool {
        false
    }

    /// Returns true if the text is in this format, whatever others it looks like. Decides for files whose extension is
    /// of no format.
    fn is_surely(&self, _text: &str) -> bool {
        false
    }

    /// Returns true if its grammars have a lexer, so that [`FormatOptions::separators`] and [`FormatOptions::alphabet`]
    /// apply.
    fn has_lexer(&self) -> bool {
        false
    }

    /// Returns true if its grammars have a lexer when this file of tokens is read with them.
    fn has_lexer_with(&self, _tokens: Option<&str>, _loader: &dyn Loader) -> bool {
        self.has_lexer()
    }

    /// Returns true if its grammars have tokens for the indentation of lines, so that [`FormatOptions::indent`]
    /// applies.
    fn has_layout(&self) -> bool {
        false
    }

    /// Returns true if the notation has weights for alternatives. For other notations, the weights are computed when
    /// the grammar is read.
    fn has_weights(&self) -> bool {
        false
    }

    /// Parses the file. Findings go into `diagnostics`. If one of them is an error, the grammar is not meaningful.
    ///
    /// A format implements this method, or [`Format::parse_within`] if it has options, a file of tokens or several
    /// files; each is made from the other.
    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        self.parse_within(file, &Surroundings::default(), diagnostics)
    }

    /// Parses the file with the user's options and the other files of the grammar.
    fn parse_within(
        &self,
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        refuse_tokens(self.name(), surroundings, diagnostics);
        self.parse(file, diagnostics)
    }
}

/// The user's options for reading a grammar.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormatOptions {
    /// Reports an omission as an error instead of a warning. A part is omitted if a context-free grammar cannot express
    /// it.
    pub strict: bool,
    /// The places of separators between tokens, in formats with a lexer.
    pub separators: SeparatorPolicy,
    /// The alphabet of complemented sets, in formats with a lexer. `None` takes [`SeparatorPolicy::alphabet`].
    pub alphabet: Option<Alphabet>,
    /// The tokens for the indentation of lines, in formats whose grammars leave indentation to code.
    pub indent: Indent,
    /// Treatment of alternatives of weight 0: whether they belong to the language.
    pub zero_weights: ZeroWeights,
}

/// Treatment of alternatives of weight 0: whether they belong to the language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZeroWeights {
    /// Alternatives that do not belong to the language, unless a file of weights says that they do.
    #[default]
    Unsaid,
    /// Alternatives that do not belong to the language: no input has them.
    Drop,
    /// Alternatives that belong to the language: texts may have them. Generated inputs hardly ever have them.
    Keep,
}

impl ZeroWeights {
    /// The settings that a user can name, and their names.
    pub const ALL: &'static [(&'static str, ZeroWeights)] = &[("drop", ZeroWeights::Drop), ("keep", ZeroWeights::Keep)];

    /// Returns the setting called `name`.
    pub fn by_name(name: &str) -> Option<ZeroWeights> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, setting)| setting)
    }
}

impl FromStr for ZeroWeights {
    type Err = String;

    fn from_str(name: &str) -> Result<ZeroWeights, String> {
        ZeroWeights::by_name(name).ok_or_else(|| tokens::unknown("setting of zero weights", name, ZeroWeights::ALL))
    }
}

impl FormatOptions {
    /// Returns options for texts that were not produced by the grammar: hidden text may stand wherever the lexer
    /// accepts it, sets contain any character, and texts may have alternatives of weight 0.
    pub fn of_others() -> FormatOptions {
        FormatOptions { separators: SeparatorPolicy::Any, zero_weights: ZeroWeights::Keep, ..FormatOptions::default() }
    }

    /// Returns the alphabet of complemented sets.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet.unwrap_or(self.separators.alphabet())
    }
}

/// The context of a format, besides the file.
#[derive(Clone, Copy)]
pub struct Surroundings<'s> {
    /// The user's options.
    pub options: FormatOptions,
    /// The start rule that the user has chosen.
    pub start: Option<&'s str>,
    /// The file with the definitions of tokens, in formats whose grammars leave them out.
    pub tokens: Option<&'s str>,
    /// The other files.
    pub loader: &'s dyn Loader,
}

impl Default for Surroundings<'_> {
    fn default() -> Self {
        Surroundings { options: FormatOptions::default(), start: None, tokens: None, loader: &NoFiles }
    }
}

/// Loads the files that a grammar names.
pub trait Loader {
    /// Returns the file called `name`, which is beside the grammar file.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be loaded, in a few words.
    fn load(&self, name: &str) -> Result<SourceFile, String>;

    /// Returns true if there is a file called `name`. What is built from the grammar does not depend on it.
    fn has(&self, name: &str) -> bool {
        self.load(name).is_ok()
    }
}

/// A loader without files.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _: &str) -> Result<SourceFile, String> {
        Err("other files cannot be read from here".to_string())
    }
}

/// Every format, in the order of the calls of `looks_like`.
pub const ALL: &[&dyn Format] = &[
    &json_schema::OpenApi,
    &json_schema::JsonSchema,
    &tree_sitter::TreeSitter,
    &gramatron::Gramatron,
    &fuzzingbook::FuzzingBook,
    &nautilus::Nautilus,
    &yacc::Yacc,
    &g4::G4,
    &pest::Pest,
    &peg::Peg,
    &peggy::Peggy,
    &gram::Gram,
    &bnf::Bnf,
    &gbnf::Gbnf,
    &ebnf::Ebnf,
    &w3c::W3c,
    &lark::Lark,
    &abnf::Abnf,
    &iso::Iso,
    &regex::Regex,
];

/// Returns the format called `name`. `_` may stand for `-`, which is not allowed in identifiers of Rust.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    let name = name.replace('_', "-");
    ALL.iter().copied().find(|format| format.name() == name)
}

/// Returns the message for an unknown format name, with the name that may have been intended, or all names.
pub fn unknown(name: &str) -> String {
    let shown = name.escape_debug();
    match closest(name, ALL.iter().map(|format| format.name())) {
        Some(similar) => format!("unknown grammar format `{shown}`; did you mean `{similar}`?"),
        None => {
            let known: Vec<&str> = ALL.iter().map(|format| format.name()).collect();
            format!("unknown grammar format `{shown}` (known: {})", known.join(", "))
        }
    }
}

/// Returns the format of a file, whether it is certain or not (see [`recognise`]).
pub fn detect(file: &SourceFile) -> &'static dyn Format {
    recognise(file).format
}

/// Finds the format of a file, unless one is `asked` for, and parses it as [`read`] does. Says so where the format is
/// not certain.
pub fn read_as(
    asked: Option<&'static dyn Format>,
    file: &SourceFile,
    surroundings: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) -> (&'static dyn Format, Grammar) {
    let Recognised { format, finding } =
        asked.map_or_else(|| recognise(file), |format| Recognised { format, finding: None });
    let is_refused = finding.as_ref().is_some_and(|finding| finding.severity == Severity::Error);
    finding.into_iter().for_each(|finding| diagnostics.push(finding));
    let grammar = if is_refused { Grammar::default() } else { read(format, file, surroundings, diagnostics) };
    (format, grammar)
}

/// Parses a file with the user's options. Under [`FormatOptions::strict`], parts that a context-free grammar cannot
/// express are errors.
pub fn read(
    format: &dyn Format,
    file: &SourceFile,
    surroundings: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) -> Grammar {
    let grammar = format.parse_within(file, surroundings, diagnostics);
    if surroundings.options.strict {
        *diagnostics = std::mem::take(diagnostics).filter_map(|mut diagnostic| {
            if matches!(diagnostic.code, Code::NotContextFree | Code::LooseSchema) {
                diagnostic.severity = Severity::Error;
            }
            Some(diagnostic)
        });
    }
    grammar
}

/// Reports a file of tokens for a format that does not use one.
fn refuse_tokens(format: &str, surroundings: &Surroundings<'_>, diagnostics: &mut Diagnostics) {
    if surroundings.tokens.is_some() {
        let message = format!("grammars in the format `{format}` take no file of tokens");
        let help = "it says what tokens of `g4`, `lark`, `tree-sitter` and `yacc` derive; others have a place for that in the grammar";
        diagnostics.push(Diagnostic::error(Code::UnknownDirective, None, message).help(help));
    }
}

/// Returns true if the file is too large for [`Span`](crate::diagnostics::Span)s. Reports that.
fn refuse_huge_file(file: &SourceFile, diagnostics: &mut Diagnostics) -> bool {
    let huge = u32::try_from(file.text().len()).is_err();
    if huge {
        diagnostics.push(Diagnostic::error(Code::TooLarge, None, "the file has more than 4 GiB"));
    }
    huge
}

#[cfg(test)]
mod budget_tests;
#[cfg(test)]
pub(crate) mod testing;
