//! Expressions of a grammar, reduced to mean numbers.

/// The probabilities of the options of each decision.
pub(crate) type Laws = Vec<Vec<f64>>;

/// An expression, reduced to mean numbers.
pub(crate) enum Term {
    /// A mean number of bytes.
    Bytes(f64),
    /// An instance of a rule.
    Rule(usize),
    /// One after the other.
    Seq(Vec<Term>),
    /// The options of a decision.
    Choice(usize, Vec<Term>),
    /// Rounds beyond a minimum. A decision chooses their number.
    Rounds(usize, Box<Term>, u32),
    /// A fixed number of rounds.
    Times(Box<Term>, u32),
}
