//! gramjet for C. The names are those of C; `include/gramjet.h` is made from this crate and says how handles are owned
//! and shared. `docs/c.md` describes how to build and link.

// The names of types are those of C.
#![allow(non_camel_case_types)]

mod bytes;
mod calls;
mod grammar;
mod session;

pub use bytes::{gramjet_bytes, gramjet_bytes_free};
pub use calls::{gramjet_last_error, gramjet_status, gramjet_version};
pub use grammar::{
    GRAMJET_UNLIMITED, gramjet_grammar, gramjet_grammar_compile, gramjet_grammar_engine, gramjet_grammar_free,
    gramjet_grammar_load, gramjet_grammar_min_len, gramjet_grammar_warnings, gramjet_options, gramjet_parse,
};
pub use session::{
    gramjet_generate, gramjet_last_mutation, gramjet_minimise, gramjet_mutate, gramjet_remember, gramjet_render,
    gramjet_session, gramjet_session_free, gramjet_session_new, gramjet_splice, gramjet_test,
};
