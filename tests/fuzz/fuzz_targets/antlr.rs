//! The first byte is passed over, as the other targets choose the format with it; the rest is a grammar of ANTLR.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (u8, &str)| gramjet_fuzz::read("g4", data.1));
