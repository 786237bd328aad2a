//! libFuzzer's own mutations on choice bytes.

#![no_main]

use gramjet_libfuzzer_example::json;

libfuzzer_sys::fuzz_target!(|text: gramjet::Doc<json::Producer>| gramjet_planted::json(&text));
