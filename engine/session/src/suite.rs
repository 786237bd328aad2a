//! Suites of texts for people who test parsers: small, complete in a stated way, each text different and with a reason.
//!
//! | wanted | found |
//! |---|---|
//! | texts of which no two are equal | [`unique`] |
//! | texts that together have every path of successive alternatives | [`cover`] |
//! | all texts in the order of their lengths, and how many there are | [`counts`] |
//! | texts that are not in the language, one change away from it | [`invalid`], [`edits`] |
//! | texts at boundaries; pairs of options of a rule | [`boundary`], [`pairs`] |
//! | the steps and paths themselves, and those of texts from elsewhere | [`steps`], [`paths`], [`corpus`] |

pub mod boundary;
mod case;
pub mod corpus;
pub mod counts;
pub mod cover;
pub mod edits;
mod forms;
pub mod invalid;
mod lead;
mod natural;
pub mod pairs;
pub mod paths;
pub mod steps;
mod tokens;
pub mod unique;
mod walk;

pub use case::Case;
pub use natural::Natural;
