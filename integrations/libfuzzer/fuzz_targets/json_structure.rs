//! Mutations along the structure of choice bytes.

#![no_main]

use gramjet_libfuzzer_example::json;

gramjet_engine::fuzz_mutator!(json::Producer, "../../grammars/json.ebnf");

libfuzzer_sys::fuzz_target!(|text: gramjet::Doc<json::Producer>| gramjet_planted::json(&text));
