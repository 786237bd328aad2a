//! Rules with parameters, which stand for labelled parts.

use gramjet_compiler::ast;
use gramjet_compiler::limits::Limits;
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_testkit::{Rng, Shape, amount, lowered, random_grammar};

use crate::labels::{agree, check_mistakes, check_printed, check_read_back, compiled, text};

/// Grammars of all that can be written about parameters.
const WRITTEN: [&str; 5] = [
    "s ::= n:[a-z]+ $call(close, n)  close(tag) ::= '</' $tag '>'",
    "s ::= none:'' $call(block, none)  block(in) ::= $call(line, in) ($in $call(line, in))*  line(in) ::= 'p' #x0A | 'if' #x0A deeper:($in ' '+) $call(block, deeper)",
    "s ::= a:[ab]* b:[cd]* $call(r, b, a)  r(a, b) ::= $dec(len(a)) ';' $u32be(len(b) + 2) ('x' | $b $call(r, a, b)){count(a)}",
    "s ::= e:(n:[a-c]+ ';')* $each(e, $call(row, n))  row(n) ::= '<' $u32be(crc32(n)) q:($n $n) $hex(len(q)) '>'",
    "s ::= k:[a-c]{2} $base64($call(r, k))  r(k) ::= $hex(len(k)) $percent($k '%') l:'x'",
];

#[test]
fn a_parameter_stands_for_the_part_that_is_given() {
    let grammars: [(&str, &[u8], &[u8]); 7] = [
        ("s ::= n:[ab]+ $call(c, n) $call(c, n)  c(t) ::= '/' $t", &[255, 255, 0], b"ba/ba/ba"),
        ("s ::= n:[ab]+ m:'x' $call(c, m, n)  c(n, m) ::= $n ',' $m", &[255, 0], b"bxx,b"),
        (
            "s ::= n:[ab]* $call(c, n)  c(t) ::= $dec(len(t)) $dec(count(t)) 'y'{count(t)}",
            &[255, 0, 255, 0, 0],
            b"aa22yy",
        ),
        ("s ::= n:[ab]+ $call(c, n)  c(t) ::= $u8(sum8(t)) $t", &[0, 0], b"aaa"),
        // A part is given on, and another instance of the rule has a part of its own.
        (
            "s ::= n:[ab] $call(c, n)  c(t) ::= $t | '<' m:($t 'x') $call(c, m) '>' $t",
            &[0, 255, 255, 0],
            b"a<ax<axxaxx>ax>a",
        ),
        // Parameters change places.
        ("s ::= n:'a' m:'b' $call(c, n, m)  c(x, y) ::= $x $y | '!' $call(c, y, x)", &[255, 255, 255, 0], b"ab!!!ba"),
        ("s ::= e:(n:[ab])* $each(e, $call(c, n))  c(t) ::= $t $t", &[255, 0, 255, 255, 0], b"abaabb"),
    ];
    for (grammar, choices, expected) in grammars {
        let found = text(grammar, Limits::default(), choices);
        assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{grammar}");
    }
}

#[test]
fn a_part_pays_for_what_follows_from_it_in_other_rules() {
    let grammar = "s ::= n:[a-z]* $call(c, n)  c(t) ::= $call(d, t) $t  d(t) ::= $t '!' | $t '?'";
    for max_len in 1..40 {
        let limits = Limits { max_depth: None, max_len: Some(max_len) };
        let found = text(grammar, limits, &[255; 60]).len() as u64;
        assert_eq!(found, max_len - (max_len - 1) % 3, "{max_len}");
    }
    // Indentation is paid for by each line that follows.
    let blocks = "s ::= n:'' $call(b, n)  b(in) ::= $call(l, in) ($in $call(l, in)){2}     l(in) ::= 'p' | 'i' d:($in ' ') $call(b, d)";
    for max_len in 3..60 {
        let limits = Limits { max_depth: None, max_len: Some(max_len) };
        assert!(text(blocks, limits, &[255; 80]).len() as u64 <= max_len, "{max_len}");
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    check_mistakes(&[
        ("s ::= c  c(t) ::= $t", "parameters", "c"),
        ("s ::= n:'a' $call(c, n, n)  c(t) ::= $t", "parameters", "$call(c, n, n)"),
        ("s ::= n:'a' $call(c, n)  c ::= 'x'", "parameters", "$call(c, n)"),
        ("s(t) ::= $t", "parameters", "t"),
        ("s ::= n:'a' $call(c, n)  c(t, t) ::= $t", "duplicate-label", "t"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= t:'x' $t", "duplicate-label", "t"),
        ("s ::= $call(c, n) n:'a'  c(t) ::= $t", "late-label", "n"),
        ("s ::= n:('a' $call(c, n))  c(t) ::= $t", "cyclic-label", "n"),
        ("s ::= n:'a' $call(c, m)  c(t) ::= $t", "undefined-label", "m"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= $n", "undefined-label", "n"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= $dec(count(t))", "no-repetition", "n"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= $dec(offset(t), 3)", "parameters", "t"),
        ("s ::= n:'a'* $call(c, n)  c(t) ::= $each(t, 'x')", "parameters", "t"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= $u8(len(t))", "narrow-field", "$u8(len(t))"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= q:($t) $u16be(len(q))", "narrow-field", "$u16be(len(q))"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= q:$t $fill(q, 8)", "narrow-field", "$fill(q, 8)"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= $t $pad(t, 4)", "misplaced-padding", "$pad(t, 4)"),
        ("s ::= n:'a' $call(c, n)  c(t) ::= f:($u8(sum(t, f as ' ')))", "parameters", "t"),
        ("s ::= n:'a' $scope(k, $call(c, n))  c(t) ::= $declare(k, $t) $use(k, 'x')", "parameters", "t"),
        ("s ::= $base64(n:'a') $call(c, n)  c(t) ::= $t", "coded-label", "n"),
        ("s ::= n:(m:'a'* $u8(len(m))) $base64($call(c, n))  c(t) ::= $t", "coded-label", "n"),
        ("s ::= n:(m:'a'* $u8(len(m))) $call(c, n)  c(t) ::= $base64($t)", "coded-label", "t"),
    ]);
}

#[test]
fn what_is_printed_means_as_much() {
    check_printed(&WRITTEN);
    check_read_back(&WRITTEN);
}

#[test]
fn json_says_as_much() {
    let grammar = r#"{"<s>": [[{"label": "n", "expansion": ["<a>"], "min": 1}, {"call": "<c>", "with": ["n"]}]],
        "<c>": {"parameters": ["t"], "alternatives": [["<", {"copy": "t"}, ">"], "x"]}, "<a>": ["a", "b"]}"#;
    let file = SourceFile::new("g.json", grammar);
    let Ok((json, _)) = compile(&file, &Options::default()) else { panic!("{grammar}") };
    let ebnf = compiled("s ::= n:a+ $call(c, n)  c(t) ::= '<' $t '>' | 'x'  a ::= 'a' | 'b'");
    assert_eq!(json.fingerprints.choices, ebnf.fingerprints.choices);
}

#[test]
fn rules_that_are_too_deep_are_refused() {
    let chain = |rules: usize| {
        let rule = |number: usize| format!("r{number}(t) ::= $call(r{}, t) $t  ", number + 1);
        let all: String = (0..rules).map(rule).collect();
        format!("s ::= n:'a' $call(r0, n)  {all}r{rules}(t) ::= $t 'x'")
    };
    assert_eq!(text(&chain(300), Limits::default(), &[]).len(), 303);
    let file = SourceFile::new("g.ebnf", chain(1000));
    let Err(diagnostics) = compile(&file, &Options::default()) else { panic!("it is not refused") };
    assert!(diagnostics.iter().any(|found| found.message.contains("rules deep")), "{diagnostics:?}");
    // Parts of ever other lengths: each reference is another one.
    let rule = |number: usize| {
        let next = number + 1;
        format!("r{number}(p) ::= a:($p $p) b:($p $p 'x') $call(r{next}, a) $call(r{next}, b)  ")
    };
    let all: String = (0..40).map(rule).collect();
    let file = SourceFile::new("g.ebnf", format!("s ::= 'ok' | n:'a' $call(r0, n)  {all}r40(p) ::= 'x'"));
    let Err(diagnostics) = compile(&file, &Options::default()) else { panic!("it is not refused") };
    assert!(diagnostics.iter().any(|found| found.message.contains("too many references")), "{diagnostics:?}");
    let names: Vec<String> = (0..101).map(|number| format!("p{number}")).collect();
    let labels = vec!["n"; 101].join(", ");
    let many = format!("s ::= n:'a' $call(r, {labels})  r({}) ::= $p0", names.join(", "));
    let Err(diagnostics) = compile(&SourceFile::new("g.ebnf", many), &Options::default()) else {
        panic!("it is not refused")
    };
    assert!(diagnostics.iter().any(|found| found.message.contains("101 parameters")), "{diagnostics:?}");
}

#[test]
fn the_reference_agrees_with_the_oracle() {
    let seeds = amount::seeds(0..4_000);
    let asked = 24 * (seeds.end - seeds.start);
    let cases = agree(seeds.clone(), &Shape::CALLED) + agree(seeds.clone(), &Shape::CALLED_MIXED);
    println!("{cases} of {} cases", 2 * asked);
    assert!(cases > asked / 2);
    let has_call = |seed| {
        let grammar = random_grammar(&mut Rng::new(seed), &Shape::CALLED);
        ast::dump(&grammar).contains("$call(") && lowered(&grammar).is_some()
    };
    let with_calls = seeds.clone().filter(|&seed| has_call(seed)).count() as u64;
    println!("{with_calls} grammars with calls");
    assert!(with_calls > (seeds.end - seeds.start) / 20);
}
