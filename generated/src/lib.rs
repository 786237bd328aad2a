//! Producers for some of the grammars that ship with gramjet, made ahead of time by its Rust backend.
//!
//! Those of `expr` and `json` are checked in, to be read. A test compares them with what the backend makes of the
//! grammars today; to renew them, run `GRAMJET_BLESS=1 cargo test -p gramjet-compiler --test it generated`. The feature
//! `ahead-of-time` adds those of `css`, `html` and `xml`, which the build script makes.

use gramjet::Producer;

// The backend's formatting stays as it is.
/// Producer of the shipped grammar `expr`.
#[rustfmt::skip]
pub mod expr;
/// Producer of the shipped grammar `json`.
#[rustfmt::skip]
pub mod json;
#[cfg(feature = "ahead-of-time")]
include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// Returns the function that makes a producer of the shipped grammar called `name`, with the grammar's own limits, if
/// there is one.
pub fn producer(name: &str) -> Option<fn() -> Box<dyn Producer + Send>> {
    match name {
        #[cfg(feature = "ahead-of-time")]
        "css" => Some(|| Box::new(css::Producer::new())),
        "expr" => Some(|| Box::new(expr::Producer::new())),
        #[cfg(feature = "ahead-of-time")]
        "html" => Some(|| Box::new(html::Producer::new())),
        "json" => Some(|| Box::new(json::Producer::new())),
        #[cfg(feature = "ahead-of-time")]
        "xml" => Some(|| Box::new(xml::Producer::new())),
        _ => None,
    }
}
