//! Coded parts in the reference interpreter.

use gramjet_compiler::coding::{Bytes, Coding};
use gramjet_compiler::limits::Limits;
use gramjet_testkit::{Draw, Rng};

use crate::labels::{check_printed, text, told};

#[test]
fn parts_are_coded_and_what_is_around_them_follows() {
    let grammars: [(&str, &[u8], &[u8]); 14] = [
        ("s ::= $base64('a' [a-z]*)", &[255, 10, 0], b"YWI="),
        (
            "s ::= $base16(x:[a-z] $u8(len(x))) $base16lower('Z') $base32('f') $base64url('fo')",
            &[0],
            b"61015aMY======Zm8",
        ),
        ("s ::= '\"' $jsonstring(#x22 #x5C #x0A #x01 'a') '\"'", &[], b"\"\\\"\\\\\\n\\u0001a\""),
        (
            "s ::= $percent('a b/~') $xmltext('<&>' #x0A) $cstring(#x00 '1\"?')",
            &[],
            b"a%20b%2F~&lt;&amp;&gt;&#10;\\0001\\\"\\077",
        ),
        ("s ::= $chunked('abc') $quotedprintable('a= ' #x0A)", &[], b"3\r\nabc\r\n0\r\n\r\na=3D =0A"),
        ("s ::= $dec(len(p)) ':' p:$base64($u8(len(d)) d:[a-z]*)", &[255, 10, 0], b"4:AWI="),
        ("s ::= $u8(len(d)) $base16(d:[a-z]*) $hex(crc32(d), 8)", &[255, 10, 0], b"\x016271beeff9"),
        ("s ::= x:[a-z] $base16($x '-' $x) $x", &[0], b"a612D61a"),
        ("s ::= $base16($base16('a') y:'b' $u8(offset(y))) 'c'", &[], b"36316202c"),
        ("s ::= 'ab' $base16('c' x:'d' $u8(offset(x)))", &[], b"ab636401"),
        ("s ::= $deflate0('ab')", &[], b"\x01\x02\0\xFD\xFFab"),
        ("s ::= $deflate('')", &[], b"\x03\0"),
        ("s ::= $zlib('aaaaaaaaaaaaaaaaaaaa')", &[], b"\x78\x01\x4B\xC4\x02\0\x4F\xA6\x07\x95"),
        (
            "s ::= $scope(k, $define(k, 'a') $base16($use(k, 'z') $define(k, 'b') $use(k, 'z')) $use(k, 'z'))",
            &[0, 0],
            b"a7A6262a",
        ),
    ];
    for (grammar, choices, expected) in grammars {
        let found = text(grammar, Limits::default(), choices);
        assert_eq!(found, expected, "{grammar}: {}", found.escape_ascii());
    }
}

/// Grammars of all that can be written about codings.
const WRITTEN: [&str; 4] = [
    "s ::= $base64('a'* s?) | p:$base64url(d:[a-z]*) $dec(len(p)) $u8(len(d)) $u32be(crc32(d))",
    "s ::= x:[a-z]+ $jsonstring($x [a-z#x22#x01]* | 'yy') $xmltext(y:'z' $y)",
    "s ::= $gzip0($deflate(a:b:[ab]{2,}) $u8(count(a)) $hex(md5(b))) ('x' | $percent('y'))*",
    "s ::= $scope(k, $unique(k, [ab]) $chunked($scope(k, $unique(k, 'a') (',' $unique(k, 'a'))*)) $use(k, 'c'))",
];

#[test]
fn what_is_printed_means_as_much() {
    check_printed(&WRITTEN);
}

#[test]
fn mistakes_are_told_with_their_places() {
    for (grammar, code, place) in [
        ("s ::= $zlib(d:'a') $d", "coded-label", "d"),
        ("s ::= $zlib(d:'a') $dec(len(d))", "coded-label", "d"),
        ("s ::= $zlib(d:'a'*) 'x'{count(d)}", "coded-label", "d"),
        ("s ::= $zlib(d:'a') $u8(offset(d))", "coded-label", "d"),
        ("s ::= d:'a' $zlib($u8(offset(d)))", "coded-label", "d"),
        ("s ::= $zlib($u8(len(d))) d:'a'", "coded-label", "d"),
        ("s ::= d:('x' $u8(len(e)) e:'e') $zlib($d)", "coded-label", "d"),
        ("s ::= d:t $zlib($u32be(crc32(d)))  t ::= e:'e' $e", "coded-label", "d"),
        ("s ::= $scope(k, d:'a' $zlib($declare(k, $d)) $use(k, 'b'))", "coded-label", "d"),
        ("s ::= $scope(k, $zlib($unique(k, 'a')) $unique(k, 'b'))", "unscoped-name", "$unique(k, 'a')"),
        ("s ::= $zlib(d:('x' $u8(len(d))))", "cyclic-label", "d"),
        ("s ::= $zlib(('x' d:'y')) $u8(len(d))", "undefined-label", "d"),
        ("s ::= $u8(len(d)) $zlib(d:'a'{300})", "narrow-field", "$u8(len(d))"),
        ("s ::= $zlip('a')", "syntax", "$zlip"),
        ("s ::= $zlib", "undefined-label", "zlib"),
        ("s ::= zlib:'a'", "syntax", "zlib"),
    ] {
        let found = told(grammar);
        assert!(found.contains(&(code.to_string(), place.to_string())), "{grammar}: {found:?}");
    }
}

/// No bytes are coded as more than is reserved for them, and no limit on the length is passed.
#[test]
fn coded_texts_are_within_their_bounds() {
    let mut rng = Rng::new(1);
    for coding in Coding::ALL {
        for round in 0..400 {
            let (len, few) = (rng.below(if round % 40 == 0 { 70_000 } else { 300 }), rng.below(4) as u32);
            let bytes: Vec<u8> = (0..len).map(|_| (rng.next_u64() as u8) >> (2 * few)).collect();
            let growth = coding.growth(Bytes::of(&bytes));
            let (mut coded, longest) = (Vec::new(), coding.longest(bytes.len() as u64, growth));
            coding.encode(&bytes, &mut coded);
            assert!(coded.len() as u64 <= longest, "{coding:?}: {} of {longest}", coded.len());
            assert!(Bytes::of(&coded).and(coding.alphabet(Bytes::of(&bytes))) == Bytes::of(&coded), "{coding:?}");
            let most = coding.most_within(longest, growth).expect("so many fit");
            assert!(most >= bytes.len() as u64 && coding.longest(most + 1, growth) > longest, "{coding:?}");
        }
        let grammar = format!("s ::= '<' ${}([#x00-#xFF]*) ('>' s)*", coding.name());
        for max_len in [30, 31, 32, 33, 100, 300] {
            let choices = rng.choice_string(400);
            let found = text(&grammar, Limits { max_len: Some(max_len), ..Limits::default() }, &choices);
            assert!(found.len() as u64 <= max_len, "{coding:?}: {} of {max_len}", found.len());
        }
    }
    // Fields bound the text before it is coded, and after it.
    for (grammar, len) in [
        ("s ::= $u8(len(d)) $base16(d:[a-z]*)", 511),
        ("s ::= $u8(len(p)) p:$base16([a-z]*)", 255),
        ("s ::= $u8(len(p)) p:$jsonstring([a-z]*)", 256),
        ("s ::= $u8(len(p)) p:$jsonstring([a-z#x22]*)", 128),
    ] {
        let found = text(grammar, Limits::default(), &[255; 2000]);
        assert_eq!(found.len(), len, "{grammar}: {}", found.escape_ascii());
    }
}
