//! Mutations along the structure of choice bytes.

#![no_main]

use gramjet_libfuzzer_example::xml;

gramjet_engine::fuzz_mutator!(xml::Producer, "../../grammars/xml.ebnf");

libfuzzer_sys::fuzz_target!(|text: gramjet::Doc<xml::Producer>| gramjet_planted::xml(&text));
