//! The common parts of notations in which the first alternative that fits wins: parsing expression grammars (Ford,
//! "Parsing expression grammars: a recognition-based syntactic foundation", 2004).
//!
//! [`order`] finds choices whose order may lose texts. In grammars with text between parts, as pest has it, that is
//! reported. Grammars that say where blanks are go through [`scannerless`], which leaves out what the ordered reading
//! never matches where one character decides, and reports the rest.

pub(super) mod chars;
mod clean;
mod edges;
mod follow;
pub(super) mod order;
pub(super) mod parser;
pub(super) mod scannerless;
pub(super) mod tree;
mod words;
