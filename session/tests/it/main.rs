//! Sessions and languages.

mod languages;
mod sessions;
