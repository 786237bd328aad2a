//! Mirrors: parts that are derived once for each round of a repetition.

use gramjet_compiler::ast;
use gramjet_compiler::reference::Limits;
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_testkit::{Rng, Shape, amount, lowered, random_grammar};

use crate::labels::{agree, check_mistakes, check_printed, check_read_back, compiled, text, told};

/// Grammars of all that can be written about mirrors.
const WRITTEN: [&str; 5] = [
    "s ::= e:(n:[a-z]+ ';')* $each(e, '<' $n $dec(len(n)) '>') $u8(count(e))",
    "s ::= k:[ab] e:(n:[a-z] m:[0-9]* (s | 'x')){1,3} d:($each(e, $k $m) | $each(e, 'y' @ 3 | $u32be(crc32(n)))) $dec(len(d))",
    "s ::= e:(x:(a:[a-z]* $a) ';'){2} ('(' $each(e, $x (b:$x $b | 'z')) ')')*",
    "s ::= c:[ab]* e:(at:'' p:$percent(d:[%a]*) $pad(at, 2)){count(c)} $each(e, $u16le(offset(at)) $u8(len(d)) $p)",
    "s ::= $base64(e:(n:[a-c])+ $each(e, $n $hex(offset(n), 2) $fill(q, 3) ','))",
];

#[test]
fn rounds_are_mirrored() {
    let grammars: [(&str, &[u8], &[u8]); 6] = [
        ("s ::= e:(n:[ab]+)* '|' $each(e, $n ',')", &[255, 0, 255, 255, 0, 255, 255, 0, 0], b"abb|ab,b,"),
        ("s ::= e:('f' n:[ab]){2} $each(e, $n $u8(offset(n)))", &[0, 255], b"fafba\x01b\x03"),
        ("s ::= k:'k'* e:(n:[ab]){count(k)} $each(e, $n $n)", &[255, 255, 0, 0, 255], b"kkabaabb"),
        ("s ::= e:(n:[ab]) {1} ($each(e, $n) '.'){2}", &[255], b"bb.b."),
        ("s ::= e:(n:[ab] 'x'){0,2} ('-' $each(e, $n) | $each(e, $n $n))", &[255, 0, 255, 255, 0], b"axbxaabb"),
        ("s ::= e:(n:[ab])* d:$each(e, 'x' | $n) $u8(len(d))", &[255, 0, 255, 255, 0, 0, 255], b"abxb\x02"),
    ];
    for (grammar, choices, expected) in grammars {
        let found = text(grammar, Limits::default(), choices);
        assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{grammar}");
    }
}

#[test]
fn a_round_pays_for_its_mirror() {
    let grammar = "s ::= e:(n:[a-z]+)* $each(e, $n $n '!')";
    for max_len in 0..40 {
        let limits = Limits { max_depth: None, max_len: Some(max_len) };
        let found = text(grammar, limits, &[255; 60]).len() as u64;
        // A round of one letter needs four bytes, and each further letter three.
        let expected = if max_len < 4 { 0 } else { max_len - (max_len - 4) % 3 };
        assert_eq!(found, expected, "{max_len}");
    }
    // A longer part of a round makes the mirrors of other rounds no longer.
    let grammar = "s ::= e:(n:[a-z]+ m:$n){2} $each(e, $m)";
    for max_len in 6..30 {
        let limits = Limits { max_depth: None, max_len: Some(max_len) };
        let found = text(grammar, limits, &[255; 60]).len() as u64;
        assert_eq!(found, max_len - max_len % 3, "{max_len}");
    }
    // A mirror alone counts rounds within a group of the round.
    let counted = "s ::= e:(g:('<' n:'a'{2,} '>')){1} $each(e, $oct(count(n), 1))";
    assert_eq!(text(counted, Limits::default(), &[255; 60]), b"<aaaaaaa>7");
    // A field of the mirror bounds the part of the round.
    let found = text("s ::= e:(n:[a-z]+)+ $each(e, $oct(len(n), 1))", Limits::default(), &[255; 40]);
    assert!(found.len() > 14 && found.iter().rev().take_while(|byte| byte.is_ascii_digit()).all(|&byte| byte <= b'7'));
}

#[test]
fn what_is_printed_means_as_much() {
    let sound: Vec<&str> =
        WRITTEN.into_iter().filter(|grammar| told(grammar).iter().all(|(_, place)| place.is_empty())).collect();
    assert!(sound.len() >= 4, "{:?}", WRITTEN.map(told));
    check_printed(&sound);
    check_read_back(&sound);
}

#[test]
fn mistakes_are_told_with_their_places() {
    let mistakes = [
        ("s ::= e:(n:'a')* $each(f, $n)", "undefined-label", "f"),
        ("s ::= e:(n:'a')* $each(e, $m)", "undefined-label", "m"),
        ("s ::= e:(n:'a' | 'b')* $each(e, $n)", "undefined-label", "n"),
        ("s ::= e:t* $each(e, $n)  t ::= n:'a'", "undefined-label", "n"),
        ("s ::= $each(e, $n) e:(n:'a')*", "late-label", "e"),
        ("s ::= e:(n:'a' $each(e, $n))*", "cyclic-label", "e"),
        ("s ::= e:'a' $each(e, 'b')", "no-repetition", "e"),
        ("s ::= e:(n:'a')* x:[ab]* $each(e, $n $x)", "late-label", "x"),
        ("s ::= e:(n:'a')* ( x:[ab]* $each(e, $n 'y'{count(x)}))", "late-label", "x"),
        ("s ::= e:(n:'a')* $each(e, $dec(count(e)))", "late-label", "e"),
        ("s ::= e:(n:'a')* f:(m:'b')* $each(e, $each(f, $m))", "late-label", "f"),
        ("s ::= e:(n:'a' | 'b')* m:'c' f:(m:'d')* $each(f, $m)", "duplicate-label", "m"),
        ("s ::= $base64(e:(n:'a')*) $each(e, $n)", "coded-label", "e"),
        ("s ::= e:(n:[ab]){300} $each(e, $n) $u8(count(e))", "narrow-field", "$u8(count(e))"),
        ("s ::= e:(c:$u32be(crc32(d)) x:'x')* d:$each(e, $c)", "cyclic-label", "e"),
        ("s ::= e:(n:'a')* $each", "undefined-label", "each"),
        ("s ::= e:(n:'a')* $each(e)", "syntax", "e"),
        ("s ::= e:(n:'a')* $each(e, $n", "syntax", ""),
        ("s ::= each:'a' $each", "syntax", "each"),
    ];
    check_mistakes(&mistakes);
}

#[test]
fn notations_without_mirrors_get_the_parts_of_the_rounds() {
    let grammar = "s ::= e:(n:[a-z]{1,6} ';')* ' ' $each(e, $n)";
    let mut diagnostics = gramjet_compiler::Diagnostics::default();
    let file = SourceFile::new("g.ebnf", grammar);
    let read = gramjet_compiler::formats::by_name("ebnf").expect("there is one").parse(&file, &mut diagnostics);
    let printer = gramjet_compiler::print::by_name("abnf").expect("there is one");
    let printed = printer.print(&read, &mut diagnostics).expect("it can be written");
    assert_eq!(printed, "s = *(1*6%x61-7A \";\") \" \" *(1*6%x61-7A)\n");
}

#[test]
fn json_says_as_much() {
    let grammar = r#"{"<s>": [[{"label": "e", "expansion": [{"label": "n", "expansion": ["<a>"], "min": 1}, ";"], "min": 0},
        {"each": "e", "expansion": ["<", {"copy": "n"}, ">"]}]], "<a>": ["a", "b"]}"#;
    let file = SourceFile::new("g.json", grammar);
    let Ok((json, _)) = compile(&file, &Options::default()) else { panic!("{grammar}") };
    let ebnf = compiled("s ::= e:(n:a+ ';')* $each(e, '<' $n '>')  a ::= 'a' | 'b'");
    assert_eq!(json.fingerprints.choices, ebnf.fingerprints.choices);
}

#[test]
fn the_reference_agrees_with_the_oracle() {
    let seeds = amount::seeds(0..3_000);
    let asked = 24 * (seeds.end - seeds.start);
    let cases = agree(seeds.clone(), &Shape::MIRRORED) + agree(seeds.clone(), &Shape::MIRRORED_CODED_NAMED);
    println!("{cases} of {} cases", 2 * asked);
    assert!(cases > asked / 2);
    let has_mirror = |seed| {
        let grammar = random_grammar(&mut Rng::new(seed), &Shape::MIRRORED);
        ast::dump(&grammar).contains("$each(") && lowered(&grammar).is_some()
    };
    let with_mirrors = seeds.clone().filter(|&seed| has_mirror(seed)).count() as u64;
    println!("{with_mirrors} grammars with mirrors");
    assert!(with_mirrors > (seeds.end - seeds.start) / 20);
}
