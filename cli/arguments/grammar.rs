//! The options that say which grammar to use, how to read it, and the shape of its inputs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use gramjet_compiler::shape::Shape;
use gramjet_compiler::tokens::Indent;

use crate::arguments::values;
use crate::units;

/// The fact about a search that says whether alternatives of weight 0 belong to its language.
pub const ZERO_WEIGHTS: &str = "zero-weights";

/// Options that name the grammar, and say how to read it.
#[derive(Clone, Debug, Default, Args)]
pub struct GrammarArgs {
    /// A grammar file, `-` for standard input, or the name of a shipped grammar.
    #[arg(value_name = "GRAMMAR", value_hint = ValueHint::FilePath)]
    pub grammar: OsString,

    #[command(flatten)]
    pub how: HowArgs,
}

/// Options for reading a grammar, and for the shape of its inputs.
#[derive(Clone, Debug, Default, Args)]
pub struct HowArgs {
    /// The rule to start from, in place of the grammar's own start rule.
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,

    /// The notation of the grammar; by default the file's extension or its text decides.
    #[arg(long, value_name = "FORMAT", value_parser = values::format_names())]
    pub format: Option<String>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub shape: ShapeArgs,

    #[command(flatten)]
    pub end: EndOfHeadings,
}

/// The weights of alternatives and repetitions, in place of the grammar's own.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Shape of the inputs")]
pub struct ShapeArgs {
    /// Shape of the inputs: uniform, balanced, deep, or target-size=SIZE.
    ///
    /// `uniform` makes all alternatives equally probable; `balanced` finds weights with which derivations end and
    /// everything is reached; `deep` prefers long recursion; `target-size=4k` finds weights for inputs of 4000 bytes on
    /// average. Without this option the grammar's own weights count. A grammar that has neither weights nor a limit on
    /// the length gets the weights of `target-size=1k` if its inputs had less than 16 bytes or more than 16 KiB on
    /// average, or if more than a fifth were the shortest one.
    #[arg(long, value_name = "SHAPE", value_parser = units::parse_shape, conflicts_with = "weights")]
    pub shape: Option<Shape>,

    /// Take the weights from this file, which `gramjet weights` has written.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub weights: Option<PathBuf>,
}

/// Ends a help heading: Clap applies a heading to all arguments that follow it, including those of the command that
/// these arguments are part of.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = clap::builder::Resettable::Reset)]
pub struct EndOfHeadings {}

/// Options for reading a grammar, in the formats to which they matter.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading the grammar")]
pub struct ReadingArgs {
    /// Policy for separators between tokens, in formats with a lexer (ANTLR, and yacc with a file of lex): auto, space,
    /// none, or any.
    ///
    /// `auto` puts a separator only where the lexer would otherwise cut the text differently, `space` between all
    /// tokens, `none` nowhere; `any` allows whatever is hidden between any tokens. `parse`, `mutate` and `minimise`
    /// read grammars with `any` by default, other commands with `auto`.
    #[arg(long, value_name = "POLICY", value_parser = values::separator_policies())]
    pub separator_policy: Option<String>,

    /// The characters that complements of sets draw from, in formats with a lexer (ANTLR, and yacc with a file of lex).
    ///
    /// `readable`, the default, is printable ASCII and a few others; `ascii` is printable ASCII; `unicode` is all
    /// characters; `bytes` is those up to U+00FF; `all`, the default with `--separator-policy any`, is all characters,
    /// but mostly printable ASCII.
    #[arg(long, value_name = "ALPHABET", value_parser = values::alphabets())]
    pub alphabet: Option<String>,

    /// Way of reading tokens for indentation, in formats that leave them to code (ANTLR, Lark, tree-sitter): auto,
    /// none, or some of the settings below.
    ///
    /// `auto` finds them by their names, such as INDENT, _dedent and NEWLINE; with `none` they are read as any others.
    /// Else some of `unit=4` (spaces a level, or `tab`), `levels=8` (blocks within one another; deeper ones are left
    /// out) and `tokens=NEWLINE/INDENT/DEDENT` (the first may be empty), with commas between.
    #[arg(long, value_name = "HOW")]
    pub indent: Option<Indent>,

    /// A grammar, in any format, with a rule for each token, for formats that leave tokens to a lexer (yacc, Lark,
    /// tree-sitter, ANTLR). For yacc also a file of lex or flex (`.l`).
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,

    /// Treatment of alternatives of weight 0: drop or keep.
    ///
    /// With `drop` they do not exist. With `keep` texts may have them, and generated inputs hardly ever do. `parse`,
    /// `mutate`, `minimise` and `learn` take `keep` by default, as do `fuzz` and `search` with seeds. Other commands
    /// take `drop`, or `keep` with a file of weights that has them.
    #[arg(long, value_name = "SETTING", value_parser = values::zero_weights())]
    pub zero_weights: Option<String>,

    /// Refuse grammars that say something that a context-free grammar cannot, in place of leaving it out with a
    /// warning.
    #[arg(long)]
    pub strict: bool,
}

impl GrammarArgs {
    /// Returns the arguments for the same grammar, with the settings that a search has unless the user says otherwise.
    /// Without seeds all inputs are generated, so alternatives of weight 0 are left out, unless a file of weights has
    /// them. A search that goes on keeps the setting that it began with.
    #[must_use]
    pub fn for_search(&self, has_seeds: bool, begun_with: Option<String>) -> GrammarArgs {
        let mut args = self.for_texts();
        let usual = begun_with.or_else(|| has_seeds.then(|| "keep".to_string()));
        args.how.reading.zero_weights = self.how.reading.zero_weights.clone().or(usual);
        args
    }

    /// Returns the arguments for the same grammar, read for texts that it did not make, unless the user says otherwise.
    #[must_use]
    pub fn for_texts(&self) -> GrammarArgs {
        let mut args = self.clone();
        args.how.reading.separator_policy.get_or_insert_with(|| "any".to_string());
        args.how.reading.zero_weights.get_or_insert_with(|| "keep".to_string());
        args
    }
}
