//! Sessions and languages.

mod families;
mod languages;
mod properties;
mod sessions;
mod shrinking;
mod stretches;
mod suites;
