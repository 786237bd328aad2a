//! Our EBNF.
