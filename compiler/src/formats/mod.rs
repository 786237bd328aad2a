//! Grammar formats: each turns text into an [`ast::Grammar`](crate::ast::Grammar) and knows nothing of what comes after.
//!
//! A new format is one file here plus a line in [`ALL`].

use crate::ast::Grammar;
use crate::check::closest;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity, SourceFile};
use crate::tokens::{Alphabet, Indent, SeparatorPolicy};

pub mod abnf;
pub mod bnf;
pub mod ebnf;
pub mod fuzzingbook;
pub mod g4;
pub mod gram;
pub mod gramatron;
pub mod iso;
pub mod lark;
pub mod nautilus;
pub mod pest;
pub mod regex;
pub mod tree_sitter;
pub mod yacc;

mod boundaries;
mod builder;
mod difference;
mod given;
mod glance;
mod json_text;
mod keywords;
mod layout;
mod missing;
mod pattern;
mod python;
mod scanner;

/// A grammar with more expressions than this is refused, so that a hostile file cannot take gigabytes.
pub const MAX_EXPRESSIONS: usize = 1 << 20;

/// A notation for grammars.
pub trait Format: Sync {
    /// The name that `--format` takes, such as `ebnf`.
    fn name(&self) -> &'static str;

    /// The file extensions (without the dot) that this format is known by.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether the text looks like this format; decides between formats that share an extension, and where there is none.
    fn looks_like(&self, text: &str) -> bool;

    /// Whether its grammars have a lexer, so that [`FormatOptions::separators`] and [`FormatOptions::alphabet`] matter.
    fn has_lexer(&self) -> bool {
        false
    }

    /// Whether its grammars have tokens for the indentation of lines, so that [`FormatOptions::indent`] matters.
    fn has_layout(&self) -> bool {
        false
    }

    /// Whether the notation can give alternatives weights. In notations without them, reading the grammar makes the weights.
    fn has_weights(&self) -> bool {
        false
    }

    /// Parses the file. What is wrong goes into `diagnostics`; the grammar returned is meaningful if none is an error.
    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar;

    /// The same for formats with options, or whose grammars may be spread over several files.
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

/// What the user may decide about how a grammar is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormatOptions {
    /// What is left out because a context-free grammar cannot say it is an error, not a warning.
    pub strict: bool,
    /// Where separators go between tokens, in formats with a lexer.
    pub separators: SeparatorPolicy,
    /// What sets that are written as complements draw from, in formats with a lexer; else [`SeparatorPolicy::alphabet`].
    pub alphabet: Option<Alphabet>,
    /// Which tokens stand for the indentation of lines, in formats whose grammars leave that to code.
    pub indent: Indent,
}

impl FormatOptions {
    /// For texts that were not made by the grammar: they hold what the lexer hides wherever it takes it, and any character.
    pub fn of_others() -> FormatOptions {
        FormatOptions { separators: SeparatorPolicy::Any, ..FormatOptions::default() }
    }

    /// What sets that are written as complements draw from.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet.unwrap_or(self.separators.alphabet())
    }
}

/// What a format knows besides the file.
#[derive(Clone, Copy)]
pub struct Surroundings<'s> {
    /// What the user has decided.
    pub options: FormatOptions,
    /// The start rule that the user has chosen.
    pub start: Option<&'s str>,
    /// The file with a grammar of what tokens derive, in formats whose grammars leave that out.
    pub tokens: Option<&'s str>,
    /// The other files.
    pub loader: &'s dyn Loader,
}

impl Default for Surroundings<'_> {
    fn default() -> Self {
        Surroundings { options: FormatOptions::default(), start: None, tokens: None, loader: &NoFiles }
    }
}

/// Gives formats the files that a grammar names.
pub trait Loader {
    /// The file called `name`, which stands beside the grammar file.
    ///
    /// # Errors
    ///
    /// Why there is none, in a few words.
    fn load(&self, name: &str) -> Result<SourceFile, String>;
}

/// A loader without files.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _: &str) -> Result<SourceFile, String> {
        Err("other files cannot be read from here".to_string())
    }
}

/// Every format, in the order in which their `looks_like` is asked.
pub const ALL: &[&dyn Format] = &[
    &tree_sitter::TreeSitter,
    &gramatron::Gramatron,
    &fuzzingbook::FuzzingBook,
    &nautilus::Nautilus,
    &yacc::Yacc,
    &g4::G4,
    &pest::Pest,
    &gram::Gram,
    &bnf::Bnf,
    &ebnf::Ebnf,
    &lark::Lark,
    &abnf::Abnf,
    &iso::Iso,
    &regex::Regex,
];

/// The format called `name`; `_` may stand for `-`, which the identifiers of Rust lack.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    let name = name.replace('_', "-");
    ALL.iter().copied().find(|format| format.name() == name)
}

/// The message on a name that no format has, with the one that may have been meant, or all.
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

/// The format of a file: of those with its extension, or of all if there is none, the first that the text looks like. If it
/// looks like none, the first with the extension, else our EBNF.
pub fn detect(file: &SourceFile) -> &'static dyn Format {
    let extension = file.name().rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let known = || ALL.iter().copied().filter(|format| format.extensions().contains(&extension.as_str()));
    let fits = |format: &&'static dyn Format| format.looks_like(file.text());
    match known().next() {
        Some(first) => known().find(fits).unwrap_or(first),
        None => ALL.iter().copied().find(fits).unwrap_or(&ebnf::Ebnf),
    }
}

/// Parses a file as the user has decided: what a context-free grammar cannot say is an error under [`FormatOptions::strict`].
pub fn read(
    format: &dyn Format,
    file: &SourceFile,
    surroundings: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) -> Grammar {
    let grammar = format.parse_within(file, surroundings, diagnostics);
    if surroundings.options.strict {
        *diagnostics = std::mem::take(diagnostics).filter_map(|mut diagnostic| {
            if diagnostic.code == Code::NotContextFree {
                diagnostic.severity = Severity::Error;
            }
            Some(diagnostic)
        });
    }
    grammar
}

/// Reports a file of tokens that is given to a format which has no use for it.
fn refuse_tokens(format: &str, surroundings: &Surroundings<'_>, diagnostics: &mut Diagnostics) {
    if surroundings.tokens.is_some() {
        let message = format!("grammars in the format `{format}` take no file of tokens");
        let help = "it says what tokens of `g4`, `lark`, `tree-sitter` and `yacc` derive; others have a place for that in the grammar";
        diagnostics.push(Diagnostic::error(Code::UnknownDirective, None, message).help(help));
    }
}

/// Whether the file is too large for [`Span`](crate::diagnostics::Span)s, which is reported.
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
