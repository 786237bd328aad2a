//! E5 and E6 for grammars with labels, and what is said of texts whose copies, numbers and checksums are wrong.

use gramjet_compiler::ast::dump;
use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_parse::{Budget, ParseError, Parser};
use gramjet_testkit::{Draw, Rng, Shape, amount, lowered, random_grammar};

use crate::kit::{check_inverse, compiled};
use crate::memory;

const VALUES: &str = "v ::= 'S' $u8(len(x)) x:[a-z]* | 'A' $u8(len(y)) y:v*";
const DEEP_VALUES: &str = "v ::= 'S' $u32be(len(x)) x:[a-z]* | 'A' $u32be(len(y)) y:v*";
const CHUNKS: &str = "s ::= '.PNG' chunk+  chunk ::= $u32be(len(b) - 4) b:(type [#x00-#xFF]*) $u32be(crc32(b))
    type ::= 'IDAT' | 'IEND' | [a-z]{4}";
const XML: &str = "e ::= '<' n:name '>' (e | text)* '</' $n '>' | '<' name '/>'  name ::= [a-z]+  text ::= [A-Z ]+";
const CSV: &str = "s ::= f:(c ',')* c #xA ((c ',') {count(f)} c #xA)*  c ::= [a-z0-9]*";
const HTTP: &str = "s ::= 'Content-Length: ' $dec(len(b)) #xD#xA#xD#xA b:[#x00-#xFF]*";

/// Grammars of each kind.
pub const GRAMMARS: &[&str] = &[
    VALUES,
    DEEP_VALUES,
    CHUNKS,
    XML,
    CSV,
    HTTP,
    "s ::= m+  m ::= 'm' $dec(len(b) + 3) b:([0-9a-f]*) ';;;'",
    "s ::= $u32le(crc32c(p)) p:([a-z]* $u8(sum8(q)) q:[A-Z]*) 'e'",
    "s ::= $u16be(fletcher16(p)) p:(($u16le(inet16(q)) q:[a-z]*)*) 'e'",
    "s ::= (n:[a-z]* $leb128(len(n)))* '.' $leb128(3 * len(b) + 100) b:[#x00-#xFF]*",
    "s ::= $hex(len(a) + len(b), 4) a:[a-z]* $HEX(len(b), 2) b:[a-z0-9]* $oct(len(a) + 2)",
    "s ::= h:('H' $u8(len(t)) $u16le(len(u))) t:[#x00-#xFF]* u:(a:[a-z] b:[a-z]* $b $a)",
    "s ::= $u8(count(r)) r:record* $u8(count(r) + 1)  record ::= $dec(len(x), 2) x:[0-9]* | '!'",
    "s ::= f:[ab]+ (',' $f){count(f)} ';' g:('x' | 'y'){2} (z:[a-z]* $z){count(g)}",
    "s ::= (a:[ab]* '-' $a){2,4} (b:'x'? $u8(count(b)))*",
    "s ::= s '+' t | t  t ::= n:[0-9]+ '=' $n | '(' $u8(len(x)) x:s ')'",
    "s ::= $u16be(2 * len(x) - 4) x:[a-z]* ';' | 'q' d:([\"'] | '\"\"\"') [a-z]* $d",
    "s ::= o:(k:[a-z]+ '{' s* '}' $k)+ $u8(xor8(o))",
    "s ::= $dec(count(r)) r:(a:[a-z]* ';' $a){2} q:(x:'p' | 'q')? $dec(count(q) + count(r))",
    "s ::= f:[ab]+ g:''{count(f)} '.' $dec(count(g))",
    "s ::= f:[ab]+ ';' g:'x'{count(f)} $u8(count(g)) ('y' $f){count(g)}",
    "p ::= $scope(v, s*)  s ::= 'let ' $define(v, n) '=' u ';' | '{' $scope(v, s*) '}' | u ';'  u ::= $use(v, '0') | [1-9]  n ::= [a-c]{1,2}",
    "e ::= '<' t:n $scope(a, (' ' $unique(a, n) '=' [x-z]*)*) ('/>' | '>' e* '</' $t '>')  n ::= [ab]{1,2}",
    "t ::= $scope(c, $unique(c, n) (',' $unique(c, n))* ';' ($use(c, '*') | '(' t ')')*)  n ::= [ab]",
    "s ::= $scope(k, o (',' o){2,}) s? | 'x'  o ::= $unique(k, 'a' | 'bb') | $unique(k, 'c') $unique(k, 'c')",
    "s ::= b:($scope(v, l, (d | s)*)) $dec(len(b)) $b | '.'  d ::= $define(v, [a-c]+) ':' $unique(l, [xy]) $use(v, 'a') $use(l, 'z')",
    "s ::= 'II' $u32le(offset(t)) d:[#x00-#x7F]* t:(e:($u16be(offset(d)) [a-z]*) $u8(offset(e)))",
    "s ::= l:(n:[a-z]* '=' $dec(len(n)) ';')* t:'T' $dec(offset(t, l), 5) ('@' $HEX(offset(l), 2))*",
    "s ::= $u16be(offset(x) + len(x)) r:[a-z]* x:([0-9]+ '.' $u8(offset(x, r))) ';' [a-z0-9]* s?",
    "s ::= $raw(sha256(b)) b:(n:[c-e]* $hex(md5(n)) s?)",
    "s ::= b:($HEX(sha1(x)) x:([a-z]* ('.' s)?)) ';' $raw(md5(b))",
    "s ::= $i8(len(x)) x:[a-z]* $i16le(count(x) + 3) $i64be(len(x)) ';'",
    "s ::= a:$dec(0..70000) b:($i16be(-300..300) | $leb128(1..20000))* ';' $a $i24le(count(b))",
    "s ::= a:(x:[a-z] y:[a-z]) $a h:[0-9]{1,3} ('y' $h){count(h)}",
    "s ::= h:($u8(len(h2)) h2:([a-z]* f:($oct(sum(h2, f as ' '), 6) #x00 ' ') [a-z]*) $u16be(inet16(h, self as #x00))) s? | 'x'",
    "s ::= h:(a:([a-z]* $raw(md5(a, self as #x00))) f:('<' ($HEX(crc32(h, f as #bFE), 8) | '!') '>' [a-z]*) $hex(crc16arc(a), 4))",
    "s ::= $bits(4: 4, 4: ceil(len(h) / 4), 3: 0..6, 13: 2 * len(d)) h:[a-z]* $bitsle(2: 1, 6: len(d), 8: count(h)) d:[A-Z]* ';'",
    "s ::= d:[A-Z]* $bits(12: len(d), 3: 5, 1: 0..1) ($bits(5: len(d), 9: len(h), 2: 3) | 'x') h:[a-z]* s?",
    "z ::= e:(o:'' 'PK' $u16le(len(n)) n:[a-z]+ d:[0-9]*)* c:$each(e, 'CD' $u32be(crc32(d)) $u8(len(n)) $u32le(offset(o)) $n) 'EE' $u16le(count(e)) $u32le(len(c)) $u32le(offset(c))",
    "s ::= r:(a:[ab]* '-' b:(s | 'x') ';'){1,3} '.' ($each(r, $b $a ',') | $each(r, $dec(len(a)) ':' ($a | 'y'))) $u8(count(r))",
    "p ::= o:(at:'' [0-9] ' obj ' [a-z]* ' end ')+ x:('xref ' $dec(count(o)) #xA $each(o, $dec(offset(at), 3) ' n' #xA)) 'start ' $dec(offset(x), 6)",
    "s ::= k:[a-c]{1,3} '/' m:(n:[a-z]+ '=' $k ';' s?){count(k)} $base64($each(m, $n ('-' $k){count(n)} $hex(md5(n)))) '.' $u8(len(k))",
    "c ::= 'C' k*  k ::= $u32be(len(d)) b:('IDAT' d:[#b00-#bFF]*) $u32be(crc32(b))",
    "s ::= f:('<' n:[ab]+ (x:'x'* '|' y:[cd]{2,4})) '>' $n ('-' $y){count(x)} $f $dec(len(n)) s?",
    "e ::= r:(o:('F' n:[a-c]+ ';' e?) $u8(len(o)))* '.' $each(r, $n $dec(offset(o), 3) $o)",
    "s ::= a:[a-z]* $pad(a, 4) $u8(len(b)) b:(n:[A-Z]* $fill(n, 7, '.') '!') $pad(b, 3, #bFF)",
    "s ::= (h:(n:[a-z]+ $fill(n, 5) $oct(len(d), 2)) d:[#b00-#bFF]* $pad(d, 8))* '.' $u16be(len(g)) g:[ab]*",
    "s ::= $u8(ceil(len(a) / 4)) a:[a-z]* ';' $dec(ceil((3 * count(a) + len(b)) / 2) + 1) b:[x-z]* 'k'{ceil(len(b) / 3)}",
    "s ::= $u16be(ceil((8 * len(x) - 3) / 3)) x:[a-z]* s? | $i8(ceil((offset(y) + 4) / 4)) [a-z]* y:'Y'",
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
            let max_len = [None, Some(40), Some(200), Some(1000)][number % 4];
            let text = render(&compiled.lowered, &compiled.pools, Limits { max_depth: None, max_len }, &choices).output;
            check_inverse(&compiled, &parser, &text, &|| format!("{grammar}\n{max_len:?} {choices:?}"));
            longest = longest.max(text.len());
        }
        assert!(longest > 4, "{grammar}: {longest}");
    }
}

fn error(grammar: &str, text: &[u8]) -> String {
    match Parser::new(&compiled(grammar).lowered).parse(text, &Budget::default()) {
        Err(ParseError::Mismatch(mismatch)) => mismatch.to_string(),
        other => panic!("{grammar} {}: {other:?}", text.escape_ascii()),
    }
}

/// A grammar, a text, and beginning and end of each derived field in it.
type WithFields = (&'static str, &'static [u8], &'static [(usize, usize)]);

const FIELDS: &[WithFields] = &[
    ("s ::= $u16be(offset(t)) d:[a-z]* t:'T' $dec(offset(t, d), 2)", b"\0\x06abcdT04", &[(0, 2), (7, 9)]),
    (
        "s ::= n:[a-z]* ';' $pad(n, 4, '.') m:[A-Z]* '-' $fill(m, 9) $u8(len(n))",
        b"abcdef;..XYZ-\0\0\0\0\0\0\x06",
        &[(19, 20)],
    ),
    (
        "s ::= $bits(4: 5, 12: len(n)) n:[a-z]* '.' $bitsle(3: count(n), 5: ceil(len(n) / 2))",
        b"\x50\x05hello.\x1D",
        &[(0, 2), (8, 9)],
    ),
    ("s ::= h:(n:[a-z]* f:($oct(sum(h, f as ' '), 4) #x00) $u8(len(n))) 'x'", b"abc0000\0\x03x", &[(3, 7), (8, 9)]),
    (VALUES, b"A\x0AS\x03abcA\x03S\x01z", &[(1, 2), (3, 4), (8, 9), (10, 11)]),
    (XML, b"<ab><c>X</c><de>Y</de></ab>", &[(10, 11), (19, 21), (24, 26)]),
    (CHUNKS, b".PNG\0\0\0\x02IDAThi\xCB\xEA\x29\xA7\0\0\0\0IEND\xAE\x42\x60\x82", &[(14, 18), (26, 30)]),
    (HTTP, b"Content-Length: 5\r\n\r\nhello", &[(16, 17)]),
    ("s ::= $u16be(crc16xmodem(b)) b:($u8(len(c)) c:[a-z]*) '.'", b"\x51\x08\x03abc.", &[(0, 2)]),
    ("s ::= '<' $hex(len(a), 4) '>' a:[a-z]* '.' $leb128(len(a))", b"<0003>abc.\x03", &[(1, 5), (10, 11)]),
    ("s ::= $u8(count(r)) r:([a-z] ',')* ';'", b"\x03a,b,c,;", &[(0, 1)]),
    (
        "s ::= $raw(md5(a)) a:[a-z]* '.' $hex(md5(a))",
        b"0123456789abcdefxy.0123456789abcdef0123456789abcdef",
        &[(0, 16), (19, 51)],
    ),
];

#[test]
fn a_changed_byte_of_a_field_is_told_in_its_place() {
    for &(grammar, text, fields) in FIELDS {
        let compiled = compiled(grammar);
        let parser = Parser::new(&compiled.lowered);
        let text = &parser
            .repair(text, &Budget::default())
            .map(|parsed| render(&compiled.lowered, &compiled.pools, Limits::default(), &parsed.choices).output);
        let text = text.as_ref().unwrap_or_else(|error| panic!("{grammar}: {error}"));
        check_inverse(&compiled, &parser, text, &|| grammar.to_string());
        for &(from, to) in fields {
            for at in from..to {
                for other in [b'0', b'1', b'9', b'f', b'x', 0, 1, 2, 4, text[at] ^ 1] {
                    let mut changed = text.clone();
                    changed[at] = other;
                    if changed == *text {
                        continue;
                    }
                    let mismatch = match parser.parse(&changed, &Budget::default()) {
                        Err(ParseError::Mismatch(mismatch)) => mismatch,
                        Err(other) => panic!("{grammar} {at}: {other}"),
                        // Values can move from one list to another.
                        Ok(_) if grammar == VALUES => {
                            check_inverse(&compiled, &parser, &changed, &|| grammar.to_string());
                            continue;
                        }
                        Ok(_) => panic!("{grammar}: {}", changed.escape_ascii()),
                    };
                    let about = format!("{grammar}\n{}\n{mismatch}", changed.escape_ascii());
                    assert!((from..=to).contains(&mismatch.offset), "{at}: {about}");
                    // The right bytes are found again, unless what stands there is no such part or number.
                    let repaired = parser.repair(&changed, &Budget::default()).map(|parsed| {
                        render(&compiled.lowered, &compiled.pools, Limits::default(), &parsed.choices).output
                    });
                    let is_right =
                        repaired.as_ref().map_or([XML, HTTP].contains(&grammar), |repaired| repaired == text);
                    assert!(is_right, "{at}: {about}\n{repaired:?}");
                }
            }
        }
    }
}

#[test]
fn faults_are_told_with_place_and_value() {
    for (grammar, text, expected) in [
        (XML, &b"<div>A</dib>"[..], "byte 8: expected `div`, the copy of part `n`, found `dib`"),
        (XML, b"<a><b></a></b>", "byte 8: expected `b`, the copy of part `n`, found `a`"),
        (
            "s ::= $u32be(len(data)) data:[a-z]*",
            b"\0\0\0\x07abcde",
            "byte 0: expected 00000005, the length of part `data`, found 00000007",
        ),
        ("s ::= $dec(len(b)) ';' b:[a-z]*", b"12;abc", "byte 0: expected `3`, the length of part `b`, found `12`"),
        (
            "s ::= b:[a-z]* ';' $hex(crc32(b), 8)",
            b"abc;352441c3",
            "byte 4: expected `352441c2`, the crc32 of part `b`, found `352441c3`",
        ),
        (
            "s ::= $u8(count(r) + 1) r:[a-z]*",
            b"\x03abc",
            "byte 0: expected 04, the number of rounds of part `r` plus 1, found 03",
        ),
        (
            "s ::= $u32be(crc32(b)) b:(n:[a-z]* $u8(len(n)))",
            b"\0\0\0\0abc\x02",
            "byte 7: expected 03, the length of part `n`, found 02",
        ),
        (
            "s ::= $u16be(offset(t)) d:[a-z]* t:'T' $dec(offset(t, d), 2)",
            b"\0\x06abcdT05",
            "byte 7: expected `04`, the offset of part `t` from part `d`, found `05`",
        ),
        (
            "s ::= $u16be(offset(t)) d:[a-z]* t:'T' $dec(2 * offset(t, d) + len(d), 2)",
            b"\0\x05abcdT12",
            "byte 0: expected 0006, the offset of part `t`, found 0005",
        ),
        (
            "s ::= $dec(offset(t), 1) [a-z]* t:'T' [a-z]*",
            b"1Tabcdefghijkl",
            "byte 9: expected the end of the text, found `h`",
        ),
        (
            "s ::= b:[a-z]* ';' $hex(md5(b)) '.'",
            b";d41d8cd98f00b204e9800998ecf8427f.",
            "byte 1: expected `d41d8cd98f00b204e9800998ecf8427e`, the md5 of part `b`, found \
             `d41d8cd98f00b204e9800998ecf8427f`",
        ),
        (CSV, b"a,b\nc\n", "byte 5: expected [0-9a-z] or \",\", found the byte 0x0A"),
        (VALUES, b"A\x03S\x02ab", "byte 1: expected 04, the length of part `y`, found 03"),
    ] {
        assert_eq!(error(grammar, text), expected, "{grammar}");
    }
}

fn check_linear(grammar: &str, most: u64, text: &dyn Fn(usize) -> Vec<u8>) {
    let compiled = compiled(grammar);
    let parser = Parser::new(&compiled.lowered);
    for length in [1000, 10_000, 100_000] {
        let text = text(length);
        assert!(text.len() >= length / 2, "{}", text.len());
        check_inverse(&compiled, &parser, &text, &|| grammar.to_string());
        let steps = parser.parse(&text, &Budget::default()).expect("parsed before").work.steps;
        assert!(steps <= 16 * most * text.len() as u64, "{grammar} {}: {steps}", text.len());
    }
}

fn value(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind][..], &(content.len() as u32).to_be_bytes(), content].concat()
}

#[test]
fn the_usual_cases_take_linear_time() {
    check_linear(DEEP_VALUES, 10, &|length| {
        let mut deep = value(b'S', b"abc");
        while deep.len() < length / 2 {
            deep = value(b'A', &deep);
        }
        let flat = value(b'A', &[value(b'S', b"abcdef"), value(b'A', b"")].concat().repeat(length / 32));
        value(b'A', &[deep, flat].concat())
    });
    check_linear(XML, 12, &|length| {
        let depth = length / 20;
        let names = |number: usize| ["a", "bc", "def"][number % 3];
        let open: String = (0..depth).map(|number| format!("<{}>", names(number))).collect();
        let close: String = (0..depth).rev().map(|number| format!("</{}>", names(number))).collect();
        format!("{open}{}{close}", "<x>TEXT</x>A <y/>".repeat(length / 34)).into_bytes()
    });
    check_linear(CSV, 12, &|length| "ab,,12,c\n".repeat(length / 9).into_bytes());
    check_linear(CSV, 12, &|length| [b",".repeat(length / 2), b"\n".to_vec()].concat().repeat(2));
    check_linear("s ::= $u32le(offset(t)) [#x00-#x7F]* t:('T' [a-z]*)", 12, &|length| {
        [&(length as u32 / 2).to_le_bytes()[..], &b"T".repeat(length / 2 - 4), b"T", &b"a".repeat(length / 2)].concat()
    });
    check_linear(CHUNKS, 12, &|length| {
        let compiled = compiled(CHUNKS);
        let chunk = [&b"\0\0\0\x20IDAT"[..], &b"\0\0\0\x01IEND".repeat(4), b"\0\0\0\0"].concat();
        let text = [b".PNG".to_vec(), chunk.repeat(length / 44)].concat();
        let parsed = Parser::new(&compiled.lowered).repair(&text, &Budget::default()).expect("only sums are wrong");
        render(&compiled.lowered, &compiled.pools, Limits::default(), &parsed.choices).output
    });
}

#[test]
fn hostile_grammars_with_labels_end_within_the_budget() {
    for grammar in [
        "s ::= s s | a  a ::= n:'a'+ $n | 'a' | ''",
        "s ::= s 'b' | x:('a'?)* s $u8(count(x)) | 'a'",
        "s ::= n:s $n | 'a' | ''",
        "s ::= x:('a'?)* y:('a'?)* ('a'?){count(x)} $y 'a'*",
        "s ::= $u64be(count(x)) x:('a'?)* (''){count(x)}",
        "s ::= $u64be(len(x)) x:s* (z:'a'?){count(y)} y:'a'*",
        "s ::= (n:'a'+ m:'a'+ $n $m)*",
        "s ::= x:'a'* $u32be(crc32(x)) s | 'a'",
        "s ::= $dec(len(x)) $dec(len(y)) x:[0-9a]* y:s*",
    ] {
        if grammar.contains("count(y)} y:") {
            continue;
        }
        let parser = Parser::new(&compiled(grammar).lowered);
        for text in
            [b"a".repeat(3000), b"1".repeat(3000), [&[0, 0, 0, 0, 0, 0, 0x7F, 0xFF][..], &b"a".repeat(500)].concat()]
        {
            let before = memory::begin();
            let most = 32 << 20;
            let budget = Budget { max_memory: most, max_steps: Some(1 << 19) };
            let result = parser.parse(&text, &budget);
            let peak = memory::peak() - before;
            assert!(peak < most + most / 8, "{grammar}: {peak}, {}", result.is_ok());
        }
    }
}

/// Returns a random sequence whose labels are these, and others within it. `depth` bounds the nesting.
fn sequence(rng: &mut Rng, outer: &[String], depth: usize, next: &mut usize) -> String {
    let own: Vec<String> = (0..1 + rng.below(2)).map(|number| format!("l{}", *next + number)).collect();
    *next += own.len();
    let seen: Vec<String> = outer.iter().chain(&own).cloned().collect();
    let mut items: Vec<String> = Vec::new();
    for label in &own {
        let part = match rng.below(7) {
            0 => "[ab]*".to_string(),
            1 => "[a-c]+".to_string(),
            2 => "('a' | 'bc' | '')*".to_string(),
            3 => "t{1,3}".to_string(),
            4 if depth > 0 => format!("({})", sequence(rng, &[], depth - 1, next)),
            5 if !outer.is_empty() => format!("('x' | ${}){{2}}", outer[rng.below(outer.len())]),
            _ => "t?".to_string(),
        };
        items.push(format!("{label}:{part}"));
    }
    for _ in 0..1 + rng.below(4) {
        let label = &seen[rng.below(seen.len())];
        let form = ["u8", "u16le", "dec", "hex", "leb128"][rng.below(5)];
        let measure = ["len", "len", "count"][rng.below(3)];
        let item = match rng.below(9) {
            0 => format!("${label}"),
            1 => format!("${form}({measure}({label}))"),
            2 => format!("${form}(2 * len({label}) + {measure}({label}) + 1)"),
            3 => format!("$u32be(crc32({label}))"),
            4 => format!("('y' | ${label})?"),
            5 => format!("(',' ${label} | [ab]){{count({label})}}"),
            6 if depth > 0 => format!("({} | 'z')", sequence(rng, &seen, depth - 1, next)),
            7 => "s?".to_string(),
            _ => "';'".to_string(),
        };
        let place = rng.below(items.len() + 1);
        items.insert(place, item);
    }
    items.join(" ")
}

/// E5 on random grammars with labels. They are ambiguous more often than not.
#[test]
fn random_grammars_with_labels_are_inverted() {
    let (mut grammars, mut texts) = (0, 0);
    for seed in 0..1500 {
        let mut rng = Rng::new(seed + 40_000);
        let body = sequence(&mut rng, &[], 2, &mut 0);
        let grammar = format!("s ::= '.' | {body}\nt ::= [ab] | '<' n:[ab]* '>' $n | 'd' $u8(len(m)) m:[a-d]*");
        let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", &*grammar), &Options::default()) else { continue };
        grammars += 1;
        let parser = Parser::new(&compiled.lowered);
        for number in 0..6 {
            let choices = if number % 2 == 0 { rng.bytes(40) } else { rng.choice_string(60) };
            let limits = Limits { max_depth: None, max_len: [None, Some(12), Some(60)][number % 3] };
            let text = render(&compiled.lowered, &compiled.pools, limits, &choices).output;
            if text.len() < 200 {
                check_inverse(&compiled, &parser, &text, &|| format!("seed {seed}\n{grammar}\n{limits:?} {choices:?}"));
                texts += 1;
            }
        }
    }
    assert!(grammars > 200 && texts > 1000, "{grammars} {texts}");
}

/// E5 on random grammars with names.
#[test]
fn random_grammars_with_names_are_inverted() {
    let (mut grammars, mut texts, mut given_up) = (0, 0, 0);
    let budget = Budget { max_steps: Some(1 << 17), ..Budget::default() };
    for seed in amount::seeds(0..10_000) {
        let mut rng = Rng::new(seed);
        let shape = if seed % 2 == 0 { Shape::NAMED } else { Shape::LABELLED_NAMED };
        let grammar = random_grammar(&mut rng, &shape);
        if lowered(&grammar).is_none() {
            continue;
        }
        grammars += 1;
        let compiled = gramjet_testkit::compiled(&grammar);
        let parser = Parser::new(&compiled.lowered);
        for number in 0..6 {
            let choices = if number % 2 == 0 { rng.bytes(40) } else { rng.choice_string(60) };
            let limits = Limits { max_depth: None, max_len: [None, Some(12), Some(60)][number % 3] };
            let text = render(&compiled.lowered, &compiled.pools, limits, &choices).output;
            if text.len() < 200 {
                // Some are as ambiguous as can be.
                if let Err(ParseError::Steps { .. }) = parser.parse(&text, &budget) {
                    given_up += 1;
                    continue;
                }
                let case = || format!("seed {seed} {limits:?} {choices:?}\n{}", dump(&grammar));
                check_inverse(&compiled, &parser, &text, &case);
                texts += 1;
            }
        }
    }
    println!("{texts} texts of {grammars} grammars, {given_up} given up");
    assert!(texts > 3 * grammars && texts > 10 * given_up, "{grammars} {texts} {given_up}");
}

/// Returns a text with what names make of it.
fn mended(grammar: &str, text: &str) -> String {
    let compiled = compiled(grammar);
    let parsed = Parser::new(&compiled.lowered).repair(text.as_bytes(), &Budget::default());
    let choices = parsed.unwrap_or_else(|error| panic!("{grammar} {text}: {error}")).choices;
    let made = render(&compiled.lowered, &compiled.pools, Limits::default(), &choices);
    String::from_utf8(made.output).expect("it is a text")
}

/// Returns a text with what follows from parts made right.
fn mended_bytes(grammar: &str, text: &[u8]) -> Vec<u8> {
    let compiled = compiled(grammar);
    let parsed = Parser::new(&compiled.lowered).repair(text, &Budget::default()).expect("it can be mended");
    render(&compiled.lowered, &compiled.pools, Limits::default(), &parsed.choices).output
}

#[test]
fn a_wrong_checksum_does_not_make_bytes_places() {
    let grammar = "s ::= ('p'* $u16le(offset(e)) 'y'*)* e:('q' [a-z]*) $u8(sum8(e))";
    let wrong = b"p\x0f\0\x0f\0yyp\x0f\0ppp\x0f\0qa\xff";
    let right = b"p\x0f\0\x0f\0yyp\x0f\0ppp\x0f\0qa\xd2";
    assert_eq!(mended_bytes(grammar, wrong).escape_ascii().to_string(), right.escape_ascii().to_string());
    assert_eq!(error(grammar, wrong), "byte 17: expected D2, the sum8 of part `e`, found FF");
}

#[test]
fn names_that_are_not_seen_are_mended() {
    let uses = "s ::= (u '.')+  u ::= $use(v, [5-9]) t | 'd' $define(v, [a-z]+)  t ::= [A-C]";
    // What stands where none is seen, and the nearest one that is.
    assert_eq!(mended(uses, "xA.yB.zC."), "5A.5B.5C.");
    assert_eq!(mended(uses, "yB."), "5B.");
    assert_eq!(mended(uses, "dx.pxyC."), "dx.xC.");
    let declared = "s ::= (n:[a-z] '=' $use(v, '0') $declare(v, $n) ';')+";
    assert_eq!(mended(declared, "a=q;b=q;"), "a=0;b=a;");
    let unique = "s ::= $scope(k, ($unique(k, [a-z]) ';')+)";
    assert_eq!(mended(unique, "a;b;a;a;"), "a;b;a1;a2;");
}

#[test]
fn names_are_parsed_in_linear_time() {
    // To give a name again and to take it are two derivations of one text.
    check_linear("s ::= (t '=1;')*  t ::= $define(v, [a-c]) | $use(v, 'x')", 200, &|len| b"a=1;b=1;".repeat(len / 8));
    // The number that makes a name unique is not looked for from 1 on each time.
    check_linear("s ::= $scope(k, (u ';')*)  u ::= $unique(k, 'a')", 200, &|len| {
        let names = (0..len / 6).map(|number| if number == 0 { "a;".to_string() } else { format!("a{number};") });
        names.collect::<String>().into_bytes()
    });
    // Names that are seen already, in a scope that they are not unique in.
    check_linear("s ::= n:[ab] $scope(k, (',' ($declare(k, $n) | ''))* '.') $use(k, '0')?", 400, &|len| {
        [&b"a"[..], &b",".repeat(len), b"."].concat()
    });
    // Names of scopes that have ended are not looked through.
    check_linear("s ::= ('{' $scope(v, $define(v, [a-z])) '}?' $use(v, [a-z]))*", 200, &|len| b"{x}?x".repeat(len / 5));
}

/// A grammar whose text grows when its copies are made right.
const COPIES: &str = "s ::= a:[x]* b:($a $a $a $a) c:($b $b $b $b) d:($c $c $c $c) e:($d $d $d $d)
    f:($e $e $e $e) g:($f $f $f $f) h:($g $g $g $g) ';' [a-z]*";

#[test]
fn a_repaired_text_keeps_what_was_right() {
    let compiled = compiled(COPIES);
    let parser = Parser::new(&compiled.lowered);
    let repair = |text: &[u8], max_memory| parser.repair(text, &Budget { max_memory, max_steps: None });
    let parsed = repair(b"xxxxx;hello", 1 << 30).expect("the copies are made right");
    let text = render(&compiled.lowered, &compiled.pools, Limits::default(), &parsed.choices).output;
    assert!(text.ends_with(b"x;hello") && text.len() > 100_000, "{}", text.len());
    let error = repair(b"xxxxx;hello", 4 << 20).expect_err("the text is too long");
    assert!(matches!(error, ParseError::Memory { .. }), "{error}");
}

#[test]
fn a_repair_that_would_change_other_parts_is_refused() {
    let compiled = compiled("s ::= a:'x'* ('u' $u8(len(a)) | 'v')");
    let parser = Parser::new(&compiled.lowered);
    for (rounds, is_repaired) in [(200, true), (300, false)] {
        let text = ["x".repeat(rounds), "v".to_string()].concat();
        let result = parser.repair(text.as_bytes(), &Budget::default());
        assert_eq!(result.is_ok(), is_repaired, "{rounds}: {result:?}");
    }
}

#[test]
fn many_ambiguous_lengths_end_within_the_budget() {
    let parser = Parser::new(&compiled("s ::= a:'x'* b:'x'* c:'x'* $a $b $c").lowered);
    let before = memory::begin();
    let result = parser.parse(&b"x".repeat(600), &Budget::default());
    let peak = memory::peak() - before;
    assert!(peak < 1 << 30, "{peak}: {result:?}");
}
