//! The meaning of code in a grammar, as far as a grammar can express it.

use crate::charset::CharSet;

/// The name of the superclass whose lexers are those of ANTLR's own grammars.
pub(super) const ADAPTOR: &str = "LexerAdaptor";

/// The condition that a predicate checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A condition that all outputs satisfy.
    Always,
    /// A condition that no output satisfies. Alternatives that need it are left out.
    Never,
    /// After the next `skip` tokens comes one of these tokens, or the end of the text. If `negated`, none of them.
    Next { skip: usize, tokens: Vec<TokenName>, end: bool, negated: bool },
    /// After the next `skip` tokens, the next two are not `first` and one of `seconds`.
    NotPair { skip: usize, first: TokenName, seconds: Vec<TokenName> },
    /// A line break stands before the next token.
    LineBreak,
    /// No line break stands before the next token. In grammars with code, separators contain line breaks only where no
    /// other separator ends the token before.
    NoLineBreak,
    /// The last character that the lexer has matched is one of a set.
    Previous(CharSet),
}

/// The ways to name a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenName {
    /// By its literal.
    Text(String),
    /// By its name.
    Name(String),
}

/// An effect of a lexer's code in addition to its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    /// Token that it makes instead, if the mode that it leaves is nested in itself.
    Nested(&'static str),
    /// In a lexer rule it begins a set of characters instead.
    Argument,
}

/// Returns true if a name belongs to a token or lexer rule.
pub(super) fn is_lexical(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}
