//! Mutations along the structure of choice bytes.

#![no_main]

use gramjet_libfuzzer_example::sql;

gramjet_engine::fuzz_mutator!(sql::Producer, "../../tests/planted/rust/grammars/sql.ebnf");

libfuzzer_sys::fuzz_target!(|text: gramjet::Doc<sql::Producer>| gramjet_planted::sql(&text));
