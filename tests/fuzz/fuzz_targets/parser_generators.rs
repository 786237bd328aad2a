//! The first byte chooses the format, the rest is the text.
#![no_main]

use libfuzzer_sys::fuzz_target;

const FORMATS: [&str; 7] = ["w3c", "lark", "pest", "tree-sitter", "yacc", "peggy", "peg"];

fuzz_target!(|data: (u8, &str)| {
    let (choice, text) = data;
    gramjet_fuzz::read(FORMATS[usize::from(choice) % FORMATS.len()], text);
});
