//! The values of options that name something the compiler has: formats, stages, codes of diagnostics.

use clap::builder::{PossibleValue, PossibleValuesParser};
use gramjet_compiler::diagnostics::Code;
use gramjet_compiler::formats::ZeroWeights;
use gramjet_compiler::tokens::{Alphabet, SeparatorPolicy};
use gramjet_compiler::{formats, print};

/// Returns the values of `--format`.
pub fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(formats::ALL.iter().map(|format| format.name()))
}

/// Returns the notations that `gramjet convert` writes.
pub fn printer_names() -> PossibleValuesParser {
    PossibleValuesParser::new(print::ALL.iter().map(|printer| printer.name()))
}

/// Returns the values of `--separator-policy`.
pub fn separator_policies() -> PossibleValuesParser {
    PossibleValuesParser::new(SeparatorPolicy::ALL.iter().map(|&(name, _)| name))
}

/// Returns the values of `--alphabet`.
pub fn alphabets() -> PossibleValuesParser {
    PossibleValuesParser::new(Alphabet::ALL.iter().map(|&(name, _)| name))
}

/// Returns the values of `--zero-weights`.
pub fn zero_weights() -> PossibleValuesParser {
    PossibleValuesParser::new(ZeroWeights::ALL.iter().map(|&(name, _)| name))
}

/// Returns the stages of `gramjet dump`.
pub fn stage_names() -> PossibleValuesParser {
    let stages = gramjet_compiler::stages().into_iter();
    PossibleValuesParser::new(stages.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// Returns the values of `--explain`.
pub fn code_names() -> PossibleValuesParser {
    PossibleValuesParser::new(Code::ALL.iter().map(|code| PossibleValue::new(code.name()).help(code.explanation())))
}

/// Returns the values of `--deny` and `--allow`.
pub fn code_names_or_warnings() -> PossibleValuesParser {
    // `--explain` lists them with what they mean.
    let codes = Code::ALL.iter().map(|code| PossibleValue::new(code.name()).hide(true));
    PossibleValuesParser::new([PossibleValue::new("warnings")].into_iter().chain(codes))
}
