//! libFuzzer's own mutations on choice bytes.

#![no_main]

use gramjet_libfuzzer_example::xml;

libfuzzer_sys::fuzz_target!(|text: gramjet::Doc<xml::Producer>| gramjet_planted::xml(&text));
