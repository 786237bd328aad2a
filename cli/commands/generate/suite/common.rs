//! The arguments that suites share, and what follows from them.

use gramjet::Limits;
use gramjet_compiler::limits;
use gramjet_parse::Parser;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::commands::generate::destination::OutputArgs;
use crate::failure::Failure;
use crate::prepared::Prepared;
use crate::source::Source;

/// Arguments that are not only those of suites.
pub struct Common<'a> {
    /// The grammar.
    pub grammar: &'a GrammarArgs,
    /// The limits of a text.
    pub limits: &'a LimitArgs,
    /// The destination.
    pub output: &'a OutputArgs,
    /// The seed.
    pub seed: u64,
    /// The number of texts, if it was given.
    pub count: Option<u64>,
}

/// Returns the parser of texts of the grammar, which can be more than those that are made.
pub fn parser(prepared: &Prepared, common: &Common<'_>) -> Result<Parser, Failure> {
    let source = &prepared.source;
    let source = Source { file: source.file.clone(), shipped: source.shipped, loader: source.loader.clone() };
    let reading = Prepared::new(source, &common.grammar.for_texts(), &LimitArgs::default())?.with_own_weights();
    Ok(Parser::new(&reading.compiled()?.lowered))
}

/// Returns the limits as the compiler writes them.
pub fn bounds(limits: Limits) -> limits::Limits {
    limits::Limits { max_depth: limits.depth(), max_len: limits.length() }
}

/// Returns the limits of a text, if the grammar can keep them.
pub fn kept(prepared: &Prepared) -> Result<Limits, Failure> {
    let compiled = prepared.compile()?;
    let limits = prepared.wanted().limits();
    limits.check(compiled.min_len(), None).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(limits)
}
