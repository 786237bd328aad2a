//! Labelled parts, and what follows from them, in the reference interpreter.

use gramjet_compiler::limits::Limits;
use gramjet_compiler::reference::render;
use gramjet_compiler::{Compiled, Options, SourceFile, compile};

fn compiled(grammar: &str) -> Compiled {
    let file = SourceFile::new("g.ebnf", grammar);
    match compile(&file, &Options::default()) {
        Ok((compiled, _)) => compiled,
        Err(diagnostics) => panic!("{grammar}: {diagnostics:?}"),
    }
}

fn text(grammar: &str, limits: Limits, choices: &[u8]) -> Vec<u8> {
    let compiled = compiled(grammar);
    render(&compiled.lowered, &compiled.pools, limits, choices).output
}

#[test]
fn parts_are_copied_measured_and_summed() {
    let free = Limits::default();
    let grammars: [(&str, &[u8], &[u8]); 9] = [
        ("s ::= '<' n:[a-z]+ '>' 'x' '</' $n '>'", &[0, 255, 128, 255, 255], b"<anz>x</anz>"),
        ("s ::= $u8(len(v)) v:[a-z]*", &[255, 0, 255, 0], b"\x02aa"),
        ("s ::= $dec(len(v) + 8) ':' v:[a-z]*", &[255, 0, 255, 0, 0], b"10:aa"),
        ("s ::= v:[a-z]* ';' $hex(2 * len(v), 4)", &[255, 0, 255, 0, 0], b"aa;0004"),
        ("s ::= $u16le(count(v)) v:('ab' | 'c')*", &[255, 0, 255, 255, 0], b"\x02\0cab"),
        ("s ::= v:([a-z]{2}) $u32be(crc32(v))", &[0, 64], b"ag\xEE\xE9\xBC\xE2"),
        ("s ::= $u8(xor8(b)) b:($u8(len(c)) c:('x'*))", &[255, 255, 0], b"\x02\x02xx"),
        ("s ::= f:[ab]+ (',' $f){count(f)}", &[0, 255, 255], b"ab,ab,ab"),
        ("s ::= a:[ab]+ b:('<' $a '>') $b", &[0, 255, 255], b"ab<ab><ab>"),
    ];
    for (grammar, choices, expected) in grammars {
        let found = text(grammar, free, choices);
        assert_eq!(found, expected, "{grammar}: {}", found.escape_ascii());
    }
}
