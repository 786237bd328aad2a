//! Helpers that the tests share.

use gramjet_compiler::formats::ZeroWeights;
use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_parse::{Budget, Parser};

/// Compiles a grammar in gramjet's EBNF.
pub fn compiled(text: &str) -> Compiled {
    let file = SourceFile::new("g.ebnf", text);
    match compile(&file, &Options::default()) {
        Ok((compiled, _)) => compiled,
        Err(diagnostics) => panic!("{}", diagnostics.to_plain_text(&file)),
    }
}

/// Compiles a grammar that ships.
pub fn shipped(name: &str) -> Compiled {
    let path = format!("{}/../../grammars/{name}.ebnf", env!("CARGO_MANIFEST_DIR"));
    compiled(&std::fs::read_to_string(path).expect("a grammar that ships"))
}

/// Compiles a grammar that ships, with the alternatives that are only read.
pub fn shipped_to_read(name: &str) -> Compiled {
    let path = format!("{}/../../grammars/{name}.ebnf", env!("CARGO_MANIFEST_DIR"));
    to_read(&std::fs::read_to_string(path).expect("a grammar that ships"))
}

/// Compiles a grammar in gramjet's EBNF, with the alternatives that are only read.
pub fn to_read(text: &str) -> Compiled {
    let file = SourceFile::new("g.ebnf", text);
    let mut options = Options::default();
    options.reading.zero_weights = ZeroWeights::Keep;
    compile(&file, &options).expect("it compiles").0
}

/// Parses `text` and compares the output of the choice bytes with it; returns them. They are all read.
pub fn check_inverse(compiled: &Compiled, parser: &Parser, text: &[u8], about: &dyn Fn() -> String) -> Vec<u8> {
    let parsed = match parser.parse(text, &Budget::default()) {
        Ok(parsed) => parsed,
        Err(error) => panic!("{error}\n\"{}\"\n{}", text.escape_ascii(), about()),
    };
    let run = render(&compiled.lowered, &compiled.pools, Limits::default(), &parsed.choices);
    assert!(
        run.output == text,
        "another text\nexpected \"{}\"\nfound    \"{}\"\n{}",
        text.escape_ascii(),
        run.output.escape_ascii(),
        about()
    );
    assert_eq!(run.consumed, parsed.choices.len() as u64, "\"{}\"\n{}", text.escape_ascii(), about());
    parsed.choices
}

/// RFC 8259, for texts of any form.
pub const JSON: &str = r##"
json     ::= ws value ws
value    ::= object | array | string | number | 'true' | 'false' | 'null'
object   ::= '{' ws '}' | '{' member (',' member)* '}'
member   ::= ws string ws ':' ws value ws
array    ::= '[' ws ']' | '[' element (',' element)* ']'
element  ::= ws value ws
string   ::= '"' (unescaped | '\\' (["\\/bfnrt] | 'u' hex{4}))* '"'
unescaped ::= [#x20-#x21#x23-#x5B#x5D-#x10FFFF]
hex      ::= [0-9A-Fa-f]
number   ::= '-'? ('0' | [1-9] [0-9]*) ('.' [0-9]+)? ([eE] [+\-]? [0-9]+)?
ws       ::= [ \t\n\r]*
"##;
