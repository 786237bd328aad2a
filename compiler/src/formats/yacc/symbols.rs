//! The symbols of alternatives.

use crate::diagnostics::Span;

/// A symbol of an alternative, before rules and tokens are distinguished.
pub(super) enum Symbol {
    Name(String, Span),
    Text(Vec<u8>, Span),
}

/// The symbols of an alternative.
#[derive(Default)]
pub(super) struct Symbols {
    pub(super) symbols: Vec<Symbol>,
    /// The token after `%prec`.
    pub(super) prec: Option<Symbol>,
}
