//! Labelled parts, and what follows from them, in the reference interpreter.

use std::ops::Range;

use gramjet_compiler::ast;
use gramjet_compiler::derived::Digest;
use gramjet_compiler::limits::Limits;
use gramjet_compiler::reference::render;
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_testkit::form::System;
use gramjet_testkit::labelled::replay;
use gramjet_testkit::{Rng, Shape, amount, lowered, random_grammar};

use crate::passes::limits;

pub fn compiled(grammar: &str) -> Compiled {
    let file = SourceFile::new("g.ebnf", grammar);
    match compile(&file, &Options::default()) {
        Ok((compiled, _)) => compiled,
        Err(diagnostics) => panic!("{grammar}: {diagnostics:?}"),
    }
}

pub fn text(grammar: &str, limits: Limits, choices: &[u8]) -> Vec<u8> {
    let compiled = compiled(grammar);
    render(&compiled.lowered, &compiled.pools, limits, choices).output
}

#[test]
fn parts_are_copied_measured_and_summed() {
    let free = Limits::default();
    let grammars: [(&str, &[u8], &[u8]); 34] = [
        ("s ::= '<' n:[a-z]+ '>' 'x' '</' $n '>'", &[0, 255, 128, 255, 255], b"<anz>x</anz>"),
        ("s ::= $u8(len(v)) v:[a-z]*", &[255, 0, 255, 0], b"\x02aa"),
        ("s ::= $dec(len(v) + 8) ':' v:[a-z]*", &[255, 0, 255, 0, 0], b"10:aa"),
        ("s ::= v:[a-z]* ';' $hex(2 * len(v), 4)", &[255, 0, 255, 0, 0], b"aa;0004"),
        ("s ::= $u16le(count(v)) v:('ab' | 'c')*", &[255, 0, 255, 255, 0], b"\x02\0cab"),
        ("s ::= v:([a-z]{2}) $u32be(crc32(v))", &[0, 64], b"ag\xEE\xE9\xBC\xE2"),
        ("s ::= $u8(xor8(b)) b:($u8(len(c)) c:('x'*))", &[255, 255, 0], b"\x02\x02xx"),
        ("s ::= f:[ab]+ (',' $f){count(f)}", &[0, 255, 255], b"ab,ab,ab"),
        ("s ::= 'ab' $u8(offset(x)) 'c' x:'d'", &[], b"ab\x04cd"),
        ("s ::= 'ab' x:'d' $dec(2 * offset(x) + len(x), 3)", &[], b"abd005"),
        ("s ::= 'ab' r:('q' $i16be(offset(x, r)) 'zz' x:'y')", &[], b"abq\0\x05zzy"),
        (
            "s ::= $dec(len(b)) ';' b:('e'* 'f') x:'g' $u8(offset(x)) $u8(offset(b))",
            &[255; 11],
            b"12;eeeeeeeeeeefg\x0F\x03",
        ),
        ("s ::= ('a' r:('q' x:'y' $u8(offset(x, r)) $u8(offset(r))))*", &[255, 255, 0], b"aqy\x01\x01aqy\x01\x06"),
        (
            "s ::= t  t ::= x:('-' $u32le(offset(x) + 4)) (t | 'e')",
            &[255, 255, 0],
            b"-\x04\0\0\0-\x09\0\0\0-\x0E\0\0\0e",
        ),
        ("s ::= v:'a'* ';' $hex(md5(v))", &[0], b";d41d8cd98f00b204e9800998ecf8427e"),
        ("s ::= $HEX(sha1(v)) v:('abc')", &[], b"A9993E364706816ABA3E25717850C26C9CD0D89Dabc"),
        ("s ::= v:'' $raw(md5(v)) 'x'", &[], b"\xD4\x1D\x8C\xD9\x8F\0\xB2\x04\xE9\x80\x09\x98\xEC\xF8\x42\x7Ex"),
        ("s ::= a:[ab]+ b:('<' $a '>') $b", &[0, 255, 255], b"ab<ab><ab>"),
        (
            "s ::= a:'a'* $u8(ceil(len(a) / 4)) $u8(2 * count(a) + ceil((3 * len(a) + 1) / 4))",
            &[255; 5],
            b"aaaaa\x02\x0E",
        ),
        ("s ::= a:'a'* 'x'{ceil(len(a) / 2) + 1} $u8(ceil((len(a) - 9) / 3))", &[255, 255, 255, 0], b"aaaxxx\0"),
        ("s ::= h:('ab' $u16be(sum(h, self as ' ')) 'c')", &[], b"ab\x01\x66c"),
        ("s ::= h:('ab' f:($oct(sum(h, f as ' '), 6) #x00 ' ') 'c')", &[], b"ab001046\0 c"),
        ("s ::= h:('a' $u8(xor8(h, self as #x01)) $u8(len(d)) $u8(xor8(d))) d:(x:'d' $x)", &[], b"ab\x02\0dd"),
        ("s ::= h:(f:($u8(sum8(h, f as #x00)) x:$u8(sum8(y))) y:'yz') ", &[], b"\xF3\xF3yz"),
        ("s ::= $bits(4: 4, 4: len(d), 2: 1, 6: 9) d:'d'*", &[255, 255, 0], b"B\x49dd"),
        ("s ::= d:'d'* $bitsle(4: 4, 4: len(d), 10: 600, 6: 9)", &[255, 255, 0], b"dd\x24\x58\x26"),
        ("s ::= d:'d'* $bits(4: 0..3, 4: len(d))", &[255, 0, 128], b"d\x21"),
        ("s ::= 'ab' $bits(3: 7, 13: offset(d)) d:'d'", &[], b"ab\xE0\x04d"),
        ("s ::= $bits(4: 4, 4: 5, 8: 0..63) $bits(3: 0..7, 13: 0..8191)", &[16, 0, 255], b"\x45\x04\0\xFF"),
        ("s ::= n:'n'* $pad(n, 4) 'e'", &[255, 255, 0], b"nn\0\0e"),
        ("s ::= n:'n'* $pad(n, 4, ' ') 'e'", &[255, 255, 255, 255, 0], b"nnnne"),
        ("s ::= n:'n'* 'm' $fill(n, 3, 'x')", &[255; 9], b"nnnm"),
        ("s ::= a:(n:('n' 'n'*) $fill(n, 3) 'm') $pad(a, 3, #bFF) $u8(len(a))", &[255, 0], b"nn\0m\xFF\xFF\x04"),
        ("s ::= 'xxxxx' a:'a'* $u8(ceil(offset(a) / 2) - 1)", &[0], b"xxxxx\x02"),
    ];
    for (grammar, choices, expected) in grammars {
        let found = text(grammar, free, choices);
        assert_eq!(found, expected, "{grammar}: {}", found.escape_ascii());
    }
}

/// Grammars of all that can be written about labels.
const WRITTEN: [&str; 12] = [
    "s ::= h:([a-z] f:('<' $HEX(crc32(h, f as #x00), 8) '>') ('k' | 'l') g:('g' $raw(md5(g, self as #bFF)))) $dec(len(h))",
    "s ::= $bits(4: 4, 5: ceil(len(v) / 4), 7: 2 * len(v) + 1) v:[a-z]* $bitsle(2: 0..2, 6: count(v), 8: 3..5) $bits(7: 3, 1: 0..1)",
    "s ::= n:'n'* 'y' $pad(n, 4) a:(b:[a-z]+ $fill(b, 9, ' ')) $pad(a, 16, #bFE) $dec(len(a))",
    "s ::= $u8(ceil(len(v) / 8)) v:[a-z]* $dec(ceil((2 * len(v) + 3) / 4) - 1) ('x' | 'y'){ceil(count(v) / 2) + 1}",
    "s ::= '<' n:[a-z]+ '>' (s | 'x' | $n)* '</' $n '>' | a:b:'y' $a $b",
    "s ::= $u8(len(v)) v:([a-z]* s?) | $dec(2 * len(v) + count(w) - 1, 4) v:('x' 'y') w:'z'{2,9}",
    "s ::= $leb128(len(v) + 8) v:(a | 'b')  a ::= c:('q' @ 3 | 'r')* $hex(crc32(c), 8) 'k'{2 * count(c) + 1}",
    "s ::= x:[ab]* (',' y:[cd] ('e' | $x @ 2 | $y $y))* $u16le(len(x)) 'f'{count(x)}",
    "s ::= v:(a:[a-z]* '=' $u24be(len(a))) $u32be(adler32(v)) $u64le(inet16(v))",
    "s ::= v:[a-z]* $raw(sha256(v)) $hex(md5(v)) $i16be(len(v)) $HEX(sha1(w)) w:[xy]+",
    "s ::= $u32le(offset(y)) x:[a-z]* ('b' $dec(2 * offset(y, x) + len(x) + 3, 4))* y:[0-9]* $HEX(offset(y, x), 2)",
    "s ::= r:(('a' | 'b')? ';')+ ($HEX(sum8(r), 2) | $oct(count(r)) | ()) s?",
];

#[test]
fn what_is_printed_means_as_much() {
    check_printed(&WRITTEN);
}

#[test]
fn an_ir_with_labels_is_read_back() {
    check_read_back(&WRITTEN);
}

/// Checks that the lowered grammars are printed and read back.
pub fn check_read_back(grammars: &[&str]) {
    for grammar in grammars {
        let lowered = compiled(grammar).lowered;
        let text = gramjet_compiler::ir::print(&lowered);
        let read = gramjet_compiler::ir::parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        assert_eq!(gramjet_compiler::ir::print(&read), text);
        gramjet_compiler::ir::verify(&read).expect("it is sound");
    }
}

/// Checks that grammars with mistakes get a diagnostic of this code at this place.
pub fn check_mistakes(mistakes: &[(&str, &str, &str)]) {
    for (grammar, code, place) in mistakes {
        let found = told(grammar);
        assert!(found.contains(&(code.to_string(), place.to_string())), "{grammar}: {found:?}");
    }
}

/// Checks that grammars mean as much in the notations that can say all of them.
pub fn check_printed(grammars: &[&str]) {
    let mut rng = gramjet_testkit::Rng::new(3);
    for &grammar in grammars {
        let original = compiled(grammar);
        for notation in ["ebnf", "fuzzingbook"] {
            let printer = gramjet_compiler::print::by_name(notation).expect("there is one");
            let mut diagnostics = gramjet_compiler::Diagnostics::default();
            let file = SourceFile::new("g.ebnf", grammar);
            let read = gramjet_compiler::formats::by_name("ebnf").expect("there is one").parse(&file, &mut diagnostics);
            let printed = printer.print(&read, &mut diagnostics).expect("it can be written");
            assert!(diagnostics.iter().next().is_none(), "{grammar}: {diagnostics:?}");
            let options = Options { format: gramjet_compiler::formats::by_name(notation), ..Options::default() };
            let again = match compile(&SourceFile::new("g", printed.as_str()), &options) {
                Ok((again, _)) => again,
                Err(diagnostics) => panic!("{printed}: {diagnostics:?}"),
            };
            for _ in 0..200 {
                let choices = rng.choice_string(60);
                let [found, expected] =
                    [&again, &original].map(|one| render(&one.lowered, &one.pools, Limits::default(), &choices).output);
                assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{printed}");
            }
        }
    }
}

#[test]
fn notations_without_labels_get_a_larger_language() {
    let grammar =
        "s ::= '<' n:[a-z]+ '>' $n ',' $u16be(len(n)) $dec(count(n), 3) $leb128(len(n)) 'x'{count(n)} $pad(n, 4)";
    let file = SourceFile::new("g.ebnf", grammar);
    for (notation, expected) in [
        ("abnf", "s = \"<\" 1*%x61-7A \">\" 1*%x61-7A \",\" 2%x00-FF 3%x30-39 (0*9%x80-FF %x00-7F) *%s\"x\" 0*3%x00\n"),
        ("antlr4", ""),
    ] {
        let Some(printer) = gramjet_compiler::print::by_name(notation) else { continue };
        let mut diagnostics = gramjet_compiler::Diagnostics::default();
        let read = gramjet_compiler::formats::by_name("ebnf").expect("there is one").parse(&file, &mut diagnostics);
        let printed = printer.print(&read, &mut diagnostics).expect("it can be written");
        assert_eq!(diagnostics.iter().filter(|one| one.message.contains("has no labels")).count(), 1);
        if !expected.is_empty() {
            assert_eq!(printed, expected);
        }
    }
}

/// Returns the codes of all diagnostics, with their places as text.
pub fn told(grammar: &str) -> Vec<(String, String)> {
    let file = SourceFile::new("g.ebnf", grammar);
    let diagnostics = match compile(&file, &Options::default()) {
        Ok((_, warnings)) => warnings,
        Err(diagnostics) => diagnostics,
    };
    let place = |span: gramjet_compiler::diagnostics::Span| grammar[span.start as usize..span.end as usize].to_string();
    diagnostics.iter().map(|one| (one.code.to_string(), one.span.map_or(String::new(), place))).collect()
}

#[test]
fn mistakes_are_told_with_their_places() {
    let mistakes = [
        ("s ::= n:'a' $m", "undefined-label", "m"),
        ("s ::= (n:'a' | 'b') $n", "undefined-label", "n"),
        ("s ::= (n:'a' 'b')* $n", "undefined-label", "n"),
        ("s ::= (n:'a' 'b') (n:'c' 'd') $n", "duplicate-label", "n"),
        ("s ::= $dec(len(n)) (n:'a' 'b')", "late-label", "n"),
        ("s ::= (n:[ab]* 'b') $pad(n, 4)", "misplaced-padding", "$pad(n, 4)"),
        ("s ::= g:('a' n:'b') $u8(offset(g, n))", "late-label", "n"),
        ("s ::= ('x' | n:'a') $n", "undefined-label", "n"),
        ("s ::= n:'a' t  t ::= $n", "undefined-label", "n"),
        ("s ::= n:'a' n:'b' $n", "duplicate-label", "n"),
        ("s ::= n:'a' (n:'b' $n)", "duplicate-label", "n"),
        ("s ::= $n n:'a'", "late-label", "n"),
        ("s ::= ($dec(len(n)) ':')? n:'a'*", "late-label", "n"),
        ("s ::= 'x'{count(n)} n:'a'*", "late-label", "n"),
        ("s ::= a:$dec(len(c)) 'b'{len(a)} c:'c'*", "late-label", "a"),
        ("s ::= a:$dec(len(c)) c:'c'* $a", "late-label", "a"),
        ("s ::= n:('a' $n)", "cyclic-label", "n"),
        ("s ::= n:('a' $u8(len(n)))", "cyclic-label", "n"),
        ("s ::= a:($u32be(crc32(b)) 'x') b:($u32be(crc32(a)) 'y')", "cyclic-label", "a"),
        ("s ::= n:('a' $u8(count(m))) m:'b'{len(n)}", "cyclic-label", "m"),
        ("s ::= n:'a' $u8(count(n))", "no-repetition", "n"),
        ("s ::= $u8(len(n)) n:'a'{300}", "narrow-field", "$u8(len(n))"),
        ("s ::= n:'a' $u16be(crc32(n))", "syntax", "$u16be(crc32(n))"),
        ("s ::= n:'a' $dec(crc32(n))", "syntax", "$dec(crc32(n))"),
        ("s ::= n:'a' $u8(10 - len(n))", "syntax", "len"),
        ("s ::= n:'a' $u9(len(n))", "syntax", "$u9"),
        ("s ::= n:'a' $u64be(md5(n))", "syntax", "$u64be(md5(n))"),
        ("s ::= n:'a' $dec(sha1(n))", "syntax", "$dec(sha1(n))"),
        ("s ::= n:'a' $hex(sha256(n), 32)", "syntax", "$hex(sha256(n), 32)"),
        ("s ::= n:'a' $raw(len(n))", "syntax", "$raw(len(n))"),
        ("s ::= $bits(4: 5)", "syntax", "$bits(4: 5)"),
        ("s ::= $bits(4: 16, 4: 0)", "syntax", "16"),
        ("s ::= $bits(4: 9..16, 4: 0)", "syntax", "16"),
        ("s ::= $bits(4: 9..3, 4: 0)", "syntax", "9..3"),
        ("s ::= $bits(65: 0, 7: 0)", "syntax", "65"),
        ("s ::= $bits(0: 0, 8: 0)", "syntax", "0"),
        ("s ::= $bits(8)", "syntax", ")"),
        ("s ::= $bits(8: 0", "syntax", ""),
        ("s ::= n:'a' $bits(8: sum8(n))", "syntax", "sum8(n)"),
        ("s ::= n:'a' $bits(4: len(n), 12: 1..2000)", "syntax", "$bits(4: len(n), 12: 1..2000)"),
        ("s ::= $bits(12: 1..2000, 11: 1..2000, 1: 0)", "syntax", "$bits(12: 1..2000, 11: 1..2000, 1: 0)"),
        ("s ::= n:'a' $bits(4: len(m), 4: 0..7)", "undefined-label", "m"),
        ("s ::= n:'a'{20} $bits(4: len(n), 4: 0..7)", "narrow-field", "$bits(4: len(n), 4: 0..7)"),
        ("s ::= bits:'a' $bits", "syntax", "bits"),
        ("s ::= n:'a' $u16be(inet16(n, self as #x00))", "stray-blank", "n"),
        ("s ::= n:($u8(sum8(n, self as #x00))){2}", "stray-blank", "n"),
        ("s ::= n:('a' f:'b' $u8(sum8(n, f as #x00)))", "stray-blank", "f"),
        ("s ::= n:(f:($u8(sum8(f, n as #x00))))", "stray-blank", "n"),
        ("s ::= n:('a' $u8(sum8(n, f as #x00)))", "undefined-label", "f"),
        ("s ::= n:($u8(sum8(n, self as ' ')) $u8(xor8(n, self as ' ')))", "cyclic-label", "$u8(sum8(n, self as ' '))"),
        ("s ::= n:(m:($u8(sum8(n, self as ' '))) $u8(sum8(m)))", "cyclic-label", "($u8(sum8(n, self as ' ')))"),
        ("s ::= n:(m:('a' $u8(sum8(n, self as ' '))) $m)", "cyclic-label", "$u8(sum8(n, self as ' '))"),
        ("s ::= n:('a' $u8(sum8(n)))", "cyclic-label", "n"),
        ("s ::= n:('a' $u8(sum8(n, self ' ')))", "syntax", "' '"),
        ("s ::= n:('a' $u8(sum8(n, 3)))", "syntax", "3"),
        ("s ::= n:('a' $u8(len(n, self as ' ')))", "syntax", ","),
        ("s ::= self:'a' $self", "syntax", "self"),
        ("s ::= n:'a' ('b' $pad(n, 4))", "misplaced-padding", "$pad(n, 4)"),
        ("s ::= n:'a' $pad(n, 4)?", "misplaced-padding", "$pad(n, 4)"),
        ("s ::= $pad(n, 4) n:'a'", "misplaced-padding", "$pad(n, 4)"),
        ("s ::= n:'a' p:$pad(n, 4) $p", "misplaced-padding", "p"),
        ("s ::= n:m:'a' $pad(n, 4) $fill(m, 4)", "misplaced-padding", "$fill(m, 4)"),
        ("s ::= n:('a' $pad(n, 4))", "cyclic-label", "n"),
        ("s ::= n:$dec(len(m)) $pad(n, 4) m:'m'*", "late-label", "n"),
        ("s ::= n:'a'{5} $fill(n, 4)", "narrow-field", "$fill(n, 4)"),
        ("s ::= n:'a' $pad(m, 4)", "undefined-label", "m"),
        ("s ::= 'a' $pad(512)", "syntax", "512"),
        ("s ::= n:'a' $pad(n)", "syntax", ")"),
        ("s ::= n:'a' $pad(n, 0)", "syntax", "0"),
        ("s ::= n:'a' $pad(n, 4, 'ab')", "syntax", "'ab'"),
        ("s ::= n:'a' $pad(n, 4", "syntax", ""),
        ("s ::= fill:'a' $u8(len(fill))", "syntax", "fill"),
        ("s ::= n:'a' $u32be(ceil(crc32(n) / 2))", "syntax", "$u32be(ceil(crc32(n) / 2))"),
        ("s ::= n:'a' $u8(ceil(len(n) / 2) + ceil(len(n) / 3))", "syntax", "ceil(len(n) / 3)"),
        ("s ::= n:'a' $u8(ceil(ceil(len(n) / 2) / 3))", "syntax", "ceil"),
        ("s ::= n:'a' $u8(ceil(len(n) / 0))", "syntax", "0"),
        ("s ::= n:'a' $u8(ceil(len(n)))", "syntax", ")"),
        ("s ::= n:'a' $u8(9 - ceil(len(n) / 2))", "syntax", "ceil"),
        ("s ::= n:'a' $u8(1000000 * len(n) + ceil(len(n) / 1000))", "syntax", "1000000 * len(n) + ceil(len(n) / 1000)"),
        ("s ::= n:'a' $u8(ceil(8 / 8))", "syntax", "ceil(8 / 8)"),
        ("s ::= n:'a'{600} $u8(ceil(len(n) / 2))", "narrow-field", "$u8(ceil(len(n) / 2))"),
        ("s ::= n:'a' $raw(sha256(n) + 1)", "syntax", "$raw(sha256(n) + 1)"),
        ("s ::= $raw(1..2)", "syntax", "$raw"),
        ("s ::= n:'a' $dec(offset(n))", "syntax", "$dec(offset(n))"),
        ("s ::= n:'a'* $u8(offset(n) + count(n))", "syntax", "$u8(offset(n) + count(n))"),
        ("s ::= n:'a' $u8(base(n))", "syntax", "base"),
        ("s ::= n:'a' $u8(offset(n, ))", "syntax", ")"),
        ("s ::= n:'a' $u8(8 - offset(n))", "syntax", "offset"),
        ("s ::= n:'a' 'x'{offset(n)}", "syntax", "n"),
        ("s ::= n:'a' $u8(offset(m))", "undefined-label", "m"),
        ("s ::= n:'a' $u8(offset(n, m))", "undefined-label", "m"),
        ("s ::= n:'a' m:'b' $u8(offset(n, m))", "late-label", "m"),
        ("s ::= n:(m:'b' $u8(offset(n, m)))", "late-label", "m"),
        ("s ::= (m:'b' $u8(offset(m, n))) n:'a'", "late-label", "n"),
        ("s ::= $u8(offset(n)) 'a'{300} n:'b'", "narrow-field", "$u8(offset(n))"),
        ("s ::= n:'a' 'x'{md5(n)}", "syntax", "n"),
        ("s ::= a:($raw(md5(b)) 'x') b:($raw(md5(a)) 'y')", "cyclic-label", "a"),
        ("s ::= n:'a' $u8(length(n))", "syntax", "length"),
        ("s ::= n:'a' $u8(len(n), 3)", "syntax", "3"),
        ("s ::= n:'a' $u8", "syntax", "$u8"),
        ("s ::= n:'a' 'x'{crc32(n)}", "syntax", "n"),
    ];
    check_mistakes(&mistakes);
}

#[test]
fn json_says_as_much() {
    let grammar = r#"{"<s>": [["<", {"label": "n", "expansion": ["<a>"], "min": 1}, ">", {"choice": [["x"], [{"copy": "n"}]]},
        {"number": "u16be(len(n) + 1)"}, {"number": "fill(n, 9, ' ')"}, {"expansion": ["k"], "times": "count(n)"}]], "<a>": ["a", "b"]}"#;
    let file = SourceFile::new("g.json", grammar);
    let Ok((json, _)) = compile(&file, &Options::default()) else { panic!("{grammar}") };
    let ebnf =
        compiled("s ::= '<' n:a+ '>' ('x' | $n) $u16be(len(n) + 1) $fill(n, 9, ' ') 'k'{count(n)}  a ::= 'a' | 'b'");
    assert_eq!(json.fingerprints.choices, ebnf.fingerprints.choices);
    for mistake in [
        r#"{"label": "n"}"#,
        r#"{"number": "u16be(len(n)"}"#,
        r#"{"copy": 3}"#,
        r#"{"expansion": ["a"], "min": 2, "max": 1}"#,
    ] {
        let grammar = format!(r#"{{"<s>": [["x", {mistake}, "y"]]}}"#);
        let result = compile(&SourceFile::new("g.json", grammar.as_str()), &Options::default());
        assert!(result.is_err_and(|errors| errors.iter().all(|one| one.span.is_some())), "{grammar}");
    }
}

/// Compares the reference with the kit's machine: 6 choice strings under 4 limits for each seed whose grammar is sound.
/// Returns the number of cases.
pub fn agree(seeds: Range<u64>, shape: &Shape) -> u64 {
    let mut cases = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let grammar = random_grammar(&mut rng, shape);

        let Some((ir, pools)) = lowered(&grammar) else { continue };
        let system = System::of_grammar(&grammar);
        let min_len = ir.rule(ir.start()).facts.min_len;
        assert_eq!(system.facts(system.start).min_len, min_len, "seed {seed}\n{}", ast::dump(&grammar));
        for _ in 0..6 {
            let choices = rng.choice_string(60);
            for limits in limits(&mut rng, min_len) {
                // Copies of recursive parts double the text with each byte.
                let most = if limits.max_len.is_none() { 5 } else { 60 };
                let choices = &choices[..choices.len().min(most)];
                let found = render(&ir, &pools, limits, choices);
                if found.output.len() > 2000 {
                    continue;
                }
                let (text, read) = replay(&system, &pools, limits, choices);
                let output = text.settled();
                let case = || {
                    let grammar = ast::dump(&grammar);
                    let (expected, found) = (output.escape_ascii(), found.output.escape_ascii());
                    format!(
                        "seed {seed}, {limits:?}, {choices:?}\nexpected {expected}\nfound    {found}\nof\n{grammar}"
                    )
                };
                assert!(found.output == output, "{}", case());
                assert!(found.consumed == read, "{} instead of {read} choice bytes\n{}", found.consumed, case());
                assert_eq!(text.fault(&found.output), None, "{}", case());
                let is_short = limits.max_len.is_none_or(|bound| found.output.len() as u64 <= bound);
                assert!(is_short, "too long\n{}", case());
                cases += 1;
            }
        }
    }
    cases
}

#[test]
fn the_reference_agrees_with_the_oracle() {
    let seeds = amount::seeds(0..5_000);
    let asked = 24 * (seeds.end - seeds.start);
    let cases = agree(seeds, &Shape::LABELLED);
    println!("{cases} of {asked} cases");
    assert!(cases > asked / 2);
}

/// Enough of the random grammars that are sound have each construct.
#[test]
fn random_grammars_have_all_that_follows_from_parts() {
    let constructs =
        ["$bits(", "$bitsle(", "ceil(", "$pad(", "$fill(", "self as #b", " as #b", "offset(", "count(", "{len("];
    let mut found = [0; 10];
    for seed in 0..4_000 {
        let grammar = random_grammar(&mut Rng::new(seed), &Shape::LABELLED);
        if lowered(&grammar).is_some() {
            let text = ast::dump(&grammar);
            constructs.iter().zip(&mut found).for_each(|(word, found)| *found += usize::from(text.contains(word)));
        }
    }
    assert!(found.iter().all(|&found| found > 20), "{constructs:?} {found:?}");
}

#[test]
fn the_reference_agrees_with_the_oracle_on_names() {
    let seeds = amount::seeds(0..3_000);
    let asked = 24 * (seeds.end - seeds.start);
    let cases = agree(seeds.clone(), &Shape::NAMED) + agree(seeds, &Shape::LABELLED_NAMED);
    println!("{cases} of {} cases", 2 * asked);
    assert!(cases > asked * 3 / 2);
}

#[test]
fn the_reference_agrees_with_the_oracle_on_codings() {
    let seeds = amount::seeds(0..3_000);
    let asked = 24 * (seeds.end - seeds.start);
    let cases = agree(seeds.clone(), &Shape::CODED) + agree(seeds, &Shape::CODED_NAMED);
    println!("{cases} of {} cases", 2 * asked);
    assert!(cases > asked / 2);
}

#[test]
fn the_reference_agrees_with_the_oracle_on_groups() {
    let seeds = amount::seeds(0..4_000);
    let asked = 24 * (seeds.end - seeds.start);
    let cases = agree(seeds, &Shape::GROUPED);
    println!("{cases} of {asked} cases");
    assert!(cases > asked / 4);
}

/// More than a million cases in all.
mod long {
    use super::*;

    fn agree_in_a_long_run(shape: &Shape) {
        let cases = agree(100_000..110_000, shape);
        println!("{cases} cases");
        assert!(cases > 30_000);
    }

    macro_rules! long {
        ($($name:ident $shape:ident)*) => {
            $(
                #[test]
                #[ignore = "it takes minutes"]
                fn $name() {
                    agree_in_a_long_run(&Shape::$shape);
                }
            )*
        };
    }

    long! {
        labels_in_a_long_run LABELLED
        names_in_a_long_run NAMED
        labels_and_names_in_a_long_run LABELLED_NAMED
        codings_in_a_long_run CODED
        codings_and_names_in_a_long_run CODED_NAMED
        groups_in_a_long_run GROUPED
        mirrors_in_a_long_run MIRRORED
        mirrors_codings_and_names_in_a_long_run MIRRORED_CODED_NAMED
        parameters_in_a_long_run CALLED
        all_in_a_long_run CALLED_MIXED
    }
}

#[test]
fn numbers_in_rounds_that_there_never_are_bound_nothing() {
    for grammar in ["s ::= ($oct(len(m), 1)){0} m:'a'*", "s ::= m:'a'* (l:'b'{len(m)} $oct(len(l), 1)){0}"] {
        let found = text(grammar, Limits::default(), &[255; 40]);
        assert_eq!(found, vec![b'a'; 40], "{grammar}");
    }
}

/// Where a group has ended, its labels are not seen any more, but a number in it still waits for a later part.
#[test]
fn numbers_in_groups_bound_later_parts() {
    let grammars = [
        "s ::= (l:'b'* $dec(len(l) + len(m), 1)) m:'a'*",
        "s ::= (l:'b'* $bits(4: count(l), 4: count(m) + len(l))) m:'a'*",
    ];
    for (number, grammar) in grammars.into_iter().enumerate() {
        let most = [9, 15][number];
        for rounds in 0..=most {
            let choices = [vec![255; rounds], vec![0], vec![255; 40]].concat();
            let found = text(grammar, Limits::default(), &choices);
            assert_eq!(found.len(), most + 1, "{grammar}: {}", found.escape_ascii());
            let told = [found[rounds] - b'0' * u8::from(number == 0), found[rounds] & 15][number];
            assert_eq!(usize::from(told), most, "{grammar}: {}", found.escape_ascii());
        }
    }
}

/// A number bounds a later part in rounds of a group that were not taken, too, also where the group has ended.
#[test]
fn numbers_in_rounds_not_taken_bound_later_parts() {
    for grammar in ["s ::= ('b' $dec(len(m), 1)*) m:'a'*", "s ::= (l:'b' $dec(len(m) + len(l) - 1, 1){0,2}) m:'a'*"] {
        for rounds in [0, 1] {
            let choices = [vec![255; rounds], vec![0], vec![255; 40]].concat();
            let found = text(grammar, Limits::default(), &choices);
            let expected = if rounds == 0 { "baaaaaaaaa" } else { "b9aaaaaaaaa" };
            assert_eq!(found.escape_ascii().to_string(), expected, "{grammar}");
        }
    }
}

#[test]
fn rounds_and_fields_follow_from_parts_of_several_sequences() {
    let free = Limits::default();
    let short = Limits { max_len: Some(9), ..free };
    let grammars: [(&str, Limits, &[u8], &[u8]); 7] = [
        // Rounds of a part that is as many rounds as another part says.
        ("s ::= a:[ab]+ b:'x'{len(a)} $dec(count(b))", free, &[0, 255, 0], b"aaxx2"),
        // Empty rounds count, too.
        ("s ::= a:[ab]+ b:''{len(a)} $dec(count(b))", free, &[0, 255, 0], b"aa2"),
        // A part with two labels.
        ("s ::= a:b:[ab]{2,} $dec(count(a)) $dec(count(b))", free, &[0, 0, 255, 0], b"aaa33"),
        // A number that measures a part within its own sequence, and one after that.
        ("s ::= (a:[ab]+ $u8(len(a) + len(b))) b:[ab]+", free, &[0, 255, 0, 0, 0], b"aa\x03a"),
        ("s ::= (a:[ab]+ $u8(sum8(b)) $a) b:[ab]+", free, &[0, 0, 0, 0], b"a\x61aa"),
        // A copy bounds its part by the field that measures the copy.
        ("s ::= a:'x'* b:($a $a) $oct(len(b), 1)", free, &[255; 9], b"xxxxxxxxx6"),
        // What a part needs as others are longer is paid once.
        ("s ::= a:[ab]+ b:$a $b c:[ab]*", short, &[0, 255, 0, 0, 255, 0, 255, 0, 255, 0], b"aaaaaaaaa"),
    ];
    for (grammar, limits, choices, expected) in grammars {
        let found = text(grammar, limits, choices);
        assert_eq!(found, expected, "{grammar}: {}", found.escape_ascii());
    }
}

/// A text with offsets is no longer than the least of their fields allows.
#[test]
fn offsets_bound_texts() {
    for (grammar, longest) in [
        ("s ::= $u8(offset(x)) [ab]* x:'c' [ab]*", 255),
        ("s ::= $i8(offset(x)) [ab]* x:'c' [ab]*", 127),
        ("s ::= $u8(2 * offset(x) + len(y) - 5) y:[ab]* x:'c' [ab]*", 86),
        ("s ::= $dec(offset(x), 2) ([ab] | t)* x:'c'  t ::= y:'y' $u8(offset(y) + 200)", 55),
    ] {
        let found = text(grammar, Limits::default(), &[255; 2000]);
        assert_eq!(found.len(), longest, "{grammar}: {}", found.escape_ascii());
        let short = Limits { max_len: Some(50), ..Limits::default() };
        assert_eq!(text(grammar, short, &[255; 2000]).len(), 50, "{grammar}");
    }
}

#[test]
fn both_implementations_of_digests_agree() {
    for digest in Digest::ALL {
        for len in [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000] {
            let bytes: Vec<u8> = (0..len).map(|byte| (byte * 7 % 251) as u8).collect();
            let expected = gramjet_testkit::digests::of(digest.name(), &bytes);
            assert_eq!(digest.of(&bytes), expected, "{} of {len}", digest.name());
        }
    }
}

#[test]
fn cyclic_lengths_are_refused() {
    let file = SourceFile::new("g.ebnf", "s ::= a:$dec(len(b)) b:$dec(len(a))");
    let refused = compile(&file, &Options::default()).expect_err("lengths follow from each other");
    assert!(refused.to_plain_text(&file).contains("the length of the part `a` follows from itself"));
}

/// A part has the room of its padding, and no more than it is filled up to.
#[test]
fn padded_parts_take_the_room_of_their_padding() {
    let most = [255; 100];
    for (grammar, max_len, expected) in [
        ("s ::= n:'n'* $pad(n, 4) 'e'", Some(10), &b"nnnnnnnne"[..]),
        ("s ::= n:('n' 'n'*) $pad(n, 4) 'e'", Some(5), b"nnnne"),
        ("s ::= n:'n'* $fill(n, 6) 'e'", None, b"nnnnnne"),
        ("s ::= n:'n'* $fill(n, 6) $n 'e'", Some(9), b"nn\0\0\0\0nne"),
        ("s ::= a:(n:('n' 'n'*) $pad(n, 4)) $a $dec(len(a))", Some(19), b"nnnnnnnnnnnnnnnn8"),
        ("s ::= a:(n:'n'* 'x' $pad(n, 8)) $u8(len(a) + 247)", None, b"x\xF8"),
    ] {
        let found = text(grammar, Limits { max_len, ..Limits::default() }, &most);
        assert_eq!(found, expected, "{grammar}: {}", found.escape_ascii());
    }
}
