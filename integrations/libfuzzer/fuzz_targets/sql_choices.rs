//! libFuzzer's own mutations on choice bytes.

#![no_main]

use gramjet_libfuzzer_example::sql;

libfuzzer_sys::fuzz_target!(|text: gramjet::Doc<sql::Producer>| gramjet_planted::sql(&text));
