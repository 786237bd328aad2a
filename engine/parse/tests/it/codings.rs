//! E5 and E6 for coded parts: what they stand for is read, in each form that a decoder takes.

use gramjet_compiler::ast::dump;
use gramjet_compiler::reference::{Limits, render};
use gramjet_parse::{Budget, ParseError, Parser};
use gramjet_testkit::{Rng, Shape, amount, lowered, random_grammar};

use crate::kit::{check_inverse, compiled};

/// Grammars with all kinds of coded parts.
const GRAMMARS: &[&str] = &[
    "s ::= '\"' $jsonstring([#x00-#x7F]* [à-ü]*) '\"' (',' s)?",
    "s ::= $base64([a-z]* s?) '.' | $base64url([#b00-#bFF]*) '.' | 'x'",
    "s ::= '[' $base32([a-z]*) '|' $base16($u8(len(x)) x:[A-Z]*) '|' $base16lower('k' | s) ']'",
    "s ::= $u32be(len(d)) $u32be(len(p)) p:$zlib(d:[a-c]*) $u32le(crc32(d)) $u32be(crc32(p))",
    "s ::= n:[a-z]+ '=' $percent($n '&' v:[#b00-#bFF]* $v) '&' $xmltext($n [<>&'a-c]*) '<' $n",
    "s ::= p:$gzip0($deflate(a:b:[ab]+)) $u8(len(b)) $hex(md5(a))",
    "s ::= $u16be(len(p)) p:$base16(a:$base64(b:[a-z]*)) $u8(len(b)) $u16le(len(a)) $hex(crc32(b), 8)",
    "s ::= 'B:' $chunked(h:[a-z]* ';' $dec(len(h)) [#b00-#bFF]*) 'E' $quotedprintable([#b00-#x7F]*) '.'",
    "s ::= '\"' $cstring((x:[#b00-#bFF] $x)*) '\"' $dec(offset(t), 3) t:$base16('a' u:'b' $u8(offset(u)))",
    "s ::= $u8(count(n)) n:($zlib('a'{50}))* m:'x'* ($percent('%aaaa')){count(m)} ';' k:'a' ($base16($k [a-c] s?))?",
    "s ::= 'x' | 'y' $base64(s) @ 3",
    "p ::= $scope(v, (d | '(' $percent($scope(v, d*)) ')' | u)*)  d ::= $unique(v, [a-c]) ';'  u ::= $use(v, '!') ','",
];

#[test]
fn random_choice_bytes_are_found_again() {
    for grammar in GRAMMARS {
        let compiled = compiled(grammar);
        let parser = Parser::new(&compiled.lowered);
        let mut rng = Rng::new(11);
        let mut longest = 0;
        for number in 0..200 {
            let choices = if number % 2 == 0 { rng.bytes(120) } else { rng.choice_string(200) };
            let max_len = [None, Some(60), Some(200), Some(1000)][number % 4];
            let text = render(&compiled.lowered, &compiled.pools, Limits { max_depth: None, max_len }, &choices).output;
            check_inverse(&compiled, &parser, &text, &|| format!("{grammar}\n{max_len:?} {choices:?}"));
            longest = longest.max(text.len());
        }
        assert!(longest > 4, "{grammar}: {longest}");
    }
}

/// Returns the text that the choice bytes of a text stand for, or the error.
fn read(grammar: &str, text: &[u8], repairs: bool) -> Result<Vec<u8>, String> {
    let compiled = compiled(grammar);
    let parser = Parser::new(&compiled.lowered);
    let budget = Budget::default();
    let parsed = if repairs { parser.repair(text, &budget) } else { parser.parse(text, &budget) };
    match parsed {
        Ok(parsed) => Ok(render(&compiled.lowered, &compiled.pools, Limits::default(), &parsed.choices).output),
        Err(ParseError::Mismatch(mismatch)) => Err(mismatch.to_string()),
        Err(other) => panic!("{grammar} {}: {other}", text.escape_ascii()),
    }
}

#[test]
fn other_forms_are_read_and_written_in_the_usual_one() {
    const JSON: &str = "s ::= '\"' $jsonstring([#x00-#x7F]* [à-ü]*) '\"'";
    const ZLIB: &str = "s ::= $u32be(len(p)) p:$zlib([a-z]*)";
    for (grammar, text, written) in [
        (JSON, &br#""\u0061\/\u00e9""#[..], "\"a/é\"".as_bytes()),
        ("s ::= $xmltext([<A]*)", b"&#60;&#x41;&lt;", b"&lt;A&lt;"),
        ("s ::= $base16('ab')", b"6162", b"6162"),
        // The text before the end of a line is as long as that after it.
        ("s ::= $quotedprintable([a-z]*) ('=' 'x')?", b"ab=\r\n", b"ab"),
        ("s ::= $base16lower('zz')", b"7A7a", b"7a7a"),
        ("s ::= $dec(len(d), 2) $chunked(d:[a-z]*)", b"042\r\nab\r\n2\r\ncd\r\n0\r\n\r\n", b"044\r\nabcd\r\n0\r\n\r\n"),
        // The same text by another compression, whose length is another.
        (
            ZLIB,
            b"\0\0\0\x0F\x78\x9C\x01\x04\0\xFB\xFFaaaa\x03\xCE\x01\x85",
            b"\0\0\0\x0A\x78\x01\x4B\x04\x02\0\x03\xCE\x01\x85",
        ),
    ] {
        let found = read(grammar, text, false);
        let found = found.unwrap_or_else(|error| panic!("{grammar}: {error}"));
        assert_eq!(found.escape_ascii().to_string(), written.escape_ascii().to_string(), "{grammar}");
    }
}

#[test]
fn faults_are_told_and_mended() {
    for (grammar, text, error, mended) in [
        ("s ::= 'a' $base64('x' [a-z]*) '.'", &b"aeE=."[..], "byte 1: expected a text in base64", None),
        // A wrong copy of a part outside, and a place that counts within.
        (
            "s ::= l:[a-z]+ '-' $base16($l)",
            b"ab-6163",
            "byte 3: expected a text in base16 that conforms (at byte 0 of it: expected `ab`, the copy of part `l`",
            Some(&b"ab-6162"[..]),
        ),
        (
            "s ::= 'abc' $base16('x' $u8(len(l)) l:[a-z]+)",
            b"abc78036162",
            "byte 3: expected a text in base16 that conforms (at byte 1 of it: expected 02",
            Some(b"abc78026162"),
        ),
        (
            "s ::= $base64([a-z]*) 'END'",
            b"YWJjYWJj*END",
            "byte 0: expected a text in base64, 8 bytes of which were read",
            None,
        ),
        ("s ::= 'a' $base16('x' [a-z]*) '.'", b"a7941.", "byte 1: expected a text in base16 that conforms", None),
        (
            "s ::= $base16($u8(len(d)) d:[a-z]*) '.'",
            b"056162.",
            "byte 0: expected a text in base16 that conforms",
            Some(&b"026162."[..]),
        ),
        (
            "s ::= $u8(len(d)) $base16(d:[a-z]*) $hex(crc32(d), 8) '.'",
            b"\x02616200000000.",
            "byte 5: expected `9e83486d`, the crc32 of part `d`, found `00000000`",
            Some(b"\x0261629e83486d."),
        ),
        (
            "s ::= $u8(len(d)) $base16(d:[a-z]*) '.'",
            b"\x036162.",
            "byte 0: expected 02, the length of part `d`, found 03",
            Some(b"\x026162."),
        ),
    ] {
        let found = read(grammar, text, false).expect_err(grammar);
        assert!(found.starts_with(error), "{grammar}: {found}");
        let repaired = read(grammar, text, true).ok();
        assert_eq!(repaired.as_deref(), mended, "{grammar}: {repaired:?}");
    }
}

#[test]
fn a_recursion_through_a_coding_is_read_where_it_reads_something() {
    for (grammar, text) in [
        ("s ::= $percent(s) | 'a'", &b"a"[..]),
        ("s ::= 'a' | $percent(s 'b')", b"abbb"),
        ("s ::= 'x' | $base16(s)", b"33373338"),
        ("s ::= $percent(s) 'b'* | 'a'", b"abbb"),
        ("s ::= $quotedprintable(s) 'b'* | 'a'", b"abbb"),
    ] {
        assert_eq!(read(grammar, text, false).as_deref(), Ok(text), "{grammar}");
    }
}

#[test]
fn random_grammars_with_codings_groups_and_mirrors_are_inverted() {
    let shapes = [Shape::CODED, Shape::CODED_NAMED, Shape::MIRRORED, Shape::MIRRORED_CODED_NAMED, Shape::GROUPED];
    are_inverted(amount::seeds(0..2000), &shapes);
}

#[test]
fn random_grammars_with_parameters_are_inverted() {
    are_inverted(amount::seeds(0..2000), &[Shape::CALLED]);
}

/// Checks that texts of random grammars, of these shapes in turn, are found again.
fn are_inverted(seeds: std::ops::Range<u64>, shapes: &[Shape]) {
    let (mut cases, mut texts) = (0, 0);
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let grammar = random_grammar(&mut rng, &shapes[seed as usize % shapes.len()]);
        let Some((ir, pools)) = lowered(&grammar) else { continue };
        let parser = Parser::new(&ir);
        for _ in 0..8 {
            let choices = rng.choice_string(40);
            let limits = Limits { max_depth: None, max_len: Some(ir.rule(ir.start()).facts.min_len + 150) };
            let text = render(&ir, &pools, limits, &choices).output;
            cases += 1;
            // Ambiguous grammars may cost more than a budget.
            let budget = Budget { max_steps: Some(1 << 22), ..Budget::default() };
            let parsed = match parser.parse(&text, &budget) {
                Ok(parsed) => parsed,
                // What is coded again and again without a change counts more than a text may have.
                Err(ParseError::Mismatch(mismatch)) if mismatch.message().contains("a shorter text") => continue,
                Err(ParseError::Mismatch(mismatch)) => {
                    panic!("seed {seed}: {mismatch}\n{}\n{}", text.escape_ascii(), dump(&grammar))
                }
                Err(_) => continue,
            };
            texts += 1;
            let again = render(&ir, &pools, Limits::default(), &parsed.choices).output;
            assert!(
                again == text,
                "seed {seed}: {}\n{}\n{}",
                again.escape_ascii(),
                text.escape_ascii(),
                dump(&grammar)
            );
        }
    }
    println!("{texts} of {cases} texts");
    assert!(texts > cases * 9 / 10, "{texts} of {cases}");
}

#[test]
fn hostile_grammars_with_codings_end_within_the_budget() {
    for (grammar, text) in [
        ("s ::= $percent(s) 'y' | 'x'", &b"xxxxxxxxxxyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"[..]),
        ("s ::= $percent(s) $percent(s) | 'x' | ''", &[b'x'; 300]),
        ("s ::= ($percent([a-z]*) | $cstring([a-z]*))* '.'", &[b'x'; 3000]),
        ("s ::= $base16(s s) | $base16(s) | 'x'", b"37383738373837383738373837383738"),
        ("s ::= $gzip($zlib($deflate(s))) | $deflate('a')", b"\x1F\x8B\x08\0\0\0\0\0\0\0\x03\0"),
    ] {
        let parser = Parser::new(&compiled(grammar).lowered);
        let budget = Budget { max_memory: 1 << 28, max_steps: Some(1 << 22) };
        // It ends.
        let _ = parser.parse(text, &budget);
    }
}
