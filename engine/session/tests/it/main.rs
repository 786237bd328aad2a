//! Sessions and languages.

mod languages;
mod properties;
mod sessions;
mod shrinking;
mod stretches;
mod suites;
