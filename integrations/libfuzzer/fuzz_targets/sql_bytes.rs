//! libFuzzer on bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| gramjet_planted::sql(text));
