//! The text is read in the format that it looks like.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| gramjet_fuzz::read_any(text));
