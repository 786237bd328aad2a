//! Ranges of numbers: their texts are the numbers as the forms write them, all equally probable.
//!
//! The numbers are written here by other means than the compiler's: by `format!` and by the bytes of integers.

use std::collections::BTreeMap;

use gramjet_compiler::ast::{Alternative, Expr};
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::formats::{self, Format, ebnf::Ebnf};
use gramjet_compiler::limits::Limits;
use gramjet_compiler::reference::render;
use gramjet_compiler::{Diagnostics, Options, SourceFile, compile};
use gramjet_testkit::{Draw, Rng};

/// A form, and how a number is written in it.
type Written = (&'static str, fn(i128) -> Vec<u8>);

/// The forms, with a width of digits where `,` stands in them.
const FORMS: [Written; 30] = [
    ("u8()", |number| (number as u8).to_be_bytes().to_vec()),
    ("i8()", |number| (number as i8).to_be_bytes().to_vec()),
    ("u16be()", |number| (number as u16).to_be_bytes().to_vec()),
    ("u16le()", |number| (number as u16).to_le_bytes().to_vec()),
    ("i16be()", |number| (number as i16).to_be_bytes().to_vec()),
    ("i16le()", |number| (number as i16).to_le_bytes().to_vec()),
    ("u24be()", |number| (number as u32).to_be_bytes()[1..].to_vec()),
    ("u24le()", |number| (number as u32).to_le_bytes()[..3].to_vec()),
    ("i24be()", |number| (number as i32).to_be_bytes()[1..].to_vec()),
    ("i24le()", |number| (number as i32).to_le_bytes()[..3].to_vec()),
    ("u32be()", |number| (number as u32).to_be_bytes().to_vec()),
    ("u32le()", |number| (number as u32).to_le_bytes().to_vec()),
    ("i32be()", |number| (number as i32).to_be_bytes().to_vec()),
    ("i32le()", |number| (number as i32).to_le_bytes().to_vec()),
    ("u64be()", |number| (number as u64).to_be_bytes().to_vec()),
    ("u64le()", |number| (number as u64).to_le_bytes().to_vec()),
    ("i64be()", |number| (number as i64).to_be_bytes().to_vec()),
    ("i64le()", |number| (number as i64).to_le_bytes().to_vec()),
    ("dec()", |number| format!("{number}").into_bytes()),
    ("hex()", |number| format!("{number:x}").into_bytes()),
    ("HEX()", |number| format!("{number:X}").into_bytes()),
    ("oct()", |number| format!("{number:o}").into_bytes()),
    ("dec(, 3)", |number| format!("{number:03}").into_bytes()),
    ("dec(, 6)", |number| format!("{number:06}").into_bytes()),
    ("dec(, 25)", |number| format!("{number:025}").into_bytes()),
    ("hex(, 2)", |number| format!("{number:02x}").into_bytes()),
    ("hex(, 16)", |number| format!("{number:016x}").into_bytes()),
    ("HEX(, 4)", |number| format!("{number:04X}").into_bytes()),
    ("oct(, 3)", |number| format!("{number:03o}").into_bytes()),
    ("leb128()", |number| {
        let groups = (1..10).find(|groups| number >> (7 * groups) == 0).unwrap_or(10);
        (0..groups)
            .map(|group| (number >> (7 * group)) as u8 & 0x7F | if group + 1 < groups { 0x80 } else { 0 })
            .collect()
    }),
];

/// Returns the least and the greatest number of a form.
fn ends(form: &str) -> (i128, i128) {
    let (name, width) = form.split_once('(').expect("a form");
    let width: Option<u32> = width.trim_matches([',', ' ', ')']).parse().ok();
    let digits =
        |base: i128, width: Option<u32>| width.map_or(i128::MAX, |width| base.pow(width) - 1).min(u64::MAX.into());
    if let Some(bits) = name.get(1..).and_then(|rest| rest.trim_end_matches(['b', 'l', 'e']).parse::<u32>().ok()) {
        return match name.starts_with('i') {
            true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        };
    }
    match name {
        "dec" => (-digits(10, width.map(|width| width - 1)).min(1 << 63), digits(10, width)),
        "oct" => (0, digits(8, width)),
        "leb128" => (0, u64::MAX.into()),
        _ => (0, digits(16, width)),
    }
}

fn written(form: &str, first: i128, last: i128) -> String {
    form.replacen('(', &format!("({first}..{last}"), 1)
}

fn read(form: &str, first: i128, last: i128) -> Expr {
    let text = format!("s ::= ${}", written(form, first, last));
    let mut diagnostics = Diagnostics::default();
    let grammar = Ebnf.parse(&SourceFile::new("g.ebnf", text.as_str()), &mut diagnostics);
    assert_eq!(diagnostics.iter().count(), 0, "{text}: {diagnostics:?}");
    grammar.rules[0].body.clone()
}

/// The kinds of expressions that a range is made of.
enum Made<'e> {
    Bytes(&'e [u8]),
    Class(&'e CharSet),
    All(Vec<&'e Expr>),
    One(&'e [Alternative]),
}

fn made(expr: &Expr) -> Made<'_> {
    let rounds = expr.as_repeat().map(|rounds| {
        assert_eq!(Some(rounds.min), rounds.max);
        vec![rounds.item; rounds.min as usize]
    });
    let items = rounds.or(expr.as_seq().map(|items| items.iter().collect()));
    let known = items.map(Made::All).or(expr.as_bytes().map(Made::Bytes)).or(expr.as_class().map(Made::Class));
    known.or(expr.as_choice().map(Made::One)).expect("a range is made of classes")
}

/// Returns the shares of the alternatives of a choice.
fn shares(alternatives: &[Alternative]) -> impl Iterator<Item = (f64, &Expr)> {
    let weight = |one: &Alternative| one.weight.map_or(1.0, |weight| weight.value);
    let sum: f64 = alternatives.iter().map(weight).sum();
    alternatives.iter().map(move |one| (weight(one) / sum, &one.expr))
}

/// Returns the texts of an expression, with their probabilities.
fn texts(expr: &Expr) -> BTreeMap<Vec<u8>, f64> {
    let after = |texts: BTreeMap<Vec<u8>, f64>, more: &BTreeMap<Vec<u8>, f64>| {
        let pairs = texts.iter().flat_map(|one| more.iter().map(move |other| (one, other)));
        pairs.map(|((a, p), (b, q))| ([&a[..], b].concat(), p * q)).collect()
    };
    let nothing = || BTreeMap::from([(Vec::new(), 1.0)]);
    match made(expr) {
        Made::Bytes(bytes) => BTreeMap::from([(bytes.to_vec(), 1.0)]),
        Made::Class(set) => {
            set.iter().map(|member| (set.encode(member).as_ref().to_vec(), 1.0 / f64::from(set.len()))).collect()
        }
        Made::All(items) => items.into_iter().map(texts).fold(nothing(), |all, more| after(all, &more)),
        Made::One(alternatives) => {
            let mut all = BTreeMap::new();
            for (share, expr) in shares(alternatives) {
                for (text, probability) in texts(expr) {
                    assert_eq!(all.insert(text, probability * share), None, "a text has two derivations");
                }
            }
            all
        }
    }
}

/// Returns the number of texts of an expression, and the probability of one: the same for all, but for rounding.
fn count(expr: &Expr) -> (f64, f64) {
    match made(expr) {
        Made::Bytes(_) => (1.0, 1.0),
        Made::Class(set) => (set.len().into(), 1.0 / f64::from(set.len())),
        Made::All(items) => items.into_iter().map(count).fold((1.0, 1.0), |(n, p), (m, q)| (n * m, p * q)),
        Made::One(alternatives) => {
            let all: Vec<(f64, f64)> =
                shares(alternatives).map(|(share, expr)| (count(expr).0, share * count(expr).1)).collect();
            let alike = |&(_, p): &(f64, f64)| (p / all[0].1 - 1.0).abs() < 1e-9;
            assert!(all.iter().all(alike), "{all:?}");
            (all.iter().map(|(n, _)| n).sum(), all[0].1)
        }
    }
}

/// Returns the rests of a text after an expression.
fn rests<'t>(expr: &Expr, text: &'t [u8]) -> Vec<&'t [u8]> {
    match made(expr) {
        Made::Bytes(bytes) => text.strip_prefix(bytes).into_iter().collect(),
        // Members are single bytes here.
        Made::Class(set) => {
            let rest = text.split_first().filter(|&(&first, _)| set.contains(first.into()));
            rest.map(|(_, rest)| rest).into_iter().collect()
        }
        Made::All(items) => {
            items.iter().fold(vec![text], |open, item| open.into_iter().flat_map(|text| rests(item, text)).collect())
        }
        Made::One(alternatives) => alternatives.iter().flat_map(|one| rests(&one.expr, text)).collect(),
    }
}

#[test]
fn small_ranges_are_all_their_numbers_alike() {
    let mut rng = Rng::new(7);
    let mut ranges = 0;
    for (form, write) in FORMS {
        let (least, greatest) = ends(form);
        let near = [least, -256, -128, -10, -1, 0, 1, 9, 16, 63, 99, 127, 255, 256, 999, 4095, 16_383, 65_535, 1 << 21];
        let near = near.into_iter().chain([greatest, greatest - 300]);
        for start in near {
            for _ in 0..6 {
                let first = start + rng.below(40) as i128 - 20;
                let last = first + [0, 1, rng.below(20), rng.below(300), rng.below(1200)][rng.below(5)] as i128;
                let (first, last) = (first.clamp(least, greatest), last.clamp(least, greatest));
                let expected: BTreeMap<Vec<u8>, f64> =
                    (first..=last).map(|number| (write(number), 1.0 / (last - first + 1) as f64)).collect();
                let found = texts(&read(form, first, last));
                assert!(found.keys().eq(expected.keys()), "{}", written(form, first, last));
                for (text, probability) in &found {
                    let ratio = probability / expected[text];
                    assert!((ratio - 1.0).abs() < 1e-9, "{} {text:?}: {ratio}", written(form, first, last));
                }
                ranges += 1;
            }
        }
    }
    assert!(ranges > 3000);
}

#[test]
fn large_ranges_end_where_they_should() {
    let mut rng = Rng::new(8);
    for (form, write) in FORMS {
        let (least, greatest) = ends(form);
        for number in 0..200 {
            let mut random = || {
                let bits = rng.below(65) as u32;
                let bytes = rng.bytes(8).try_into().expect("eight bytes");
                let number = i128::from(u64::from_le_bytes(bytes)) >> bits;
                (if rng.below(3) == 0 { -number } else { number }).clamp(least, greatest)
            };
            let (a, b) = if number == 0 { (least, greatest) } else { (random(), random()) };
            let (first, last) = (a.min(b), a.max(b));
            let range = read(form, first, last);
            let name = written(form, first, last);
            let (found, probability) = count(&range);
            let expected = (last - first + 1) as f64;
            assert!((found / expected - 1.0).abs() < 1e-9, "{name}: {found}");
            assert!((probability * expected - 1.0).abs() < 1e-9, "{name}: {probability}");
            let middle = first + (last - first) / 3;
            for (number, is_in) in [(first, true), (last, true), (middle, true), (first - 1, false), (last + 1, false)]
            {
                if (least..=greatest).contains(&number) {
                    let text = write(number);
                    let derivations = rests(&range, &text).into_iter().filter(|rest| rest.is_empty()).count();
                    assert_eq!(derivations, usize::from(is_in), "{name}: {number}");
                }
            }
        }
    }
}

/// Returns all texts of bit fields with these widths and ranges, by strings of bits.
fn packed(fields: &[(usize, u64, u64)], is_lowest_first: bool) -> Vec<Vec<u8>> {
    let mut all = vec![String::new()];
    for &(width, first, last) in fields {
        let digits = |number: u64| {
            let bits = format!("{number:0width$b}");
            if is_lowest_first { bits.chars().rev().collect::<String>() } else { bits }
        };
        all =
            all.iter().flat_map(|bits| (first..=last).map(move |number| format!("{bits}{}", digits(number)))).collect();
    }
    let byte = |bits: &[u8]| {
        let bits: String = bits.iter().map(|&bit| char::from(bit)).collect();
        let bits = if is_lowest_first { bits.chars().rev().collect() } else { bits };
        u8::from_str_radix(&bits, 2).expect("eight bits")
    };
    all.iter().map(|bits| bits.as_bytes().chunks(8).map(byte).collect()).collect()
}

#[test]
fn bit_fields_are_all_combinations_of_their_ranges_alike() {
    let mut rng = Rng::new(9);
    let (mut made, mut refused) = (0, 0);
    for number in 0..1500 {
        let (mut fields, mut rest, mut combinations) = (Vec::new(), 8 * rng.between(1, 4), 1);
        while rest > 0 {
            let width = rng.between(1, rest.min(11));
            rest -= width;
            let most = (1 << width) - 1;
            let (first, last) = match rng.below(4) {
                0 => (0, most),
                1 => (rng.below(most + 1), most),
                2 => (0, rng.below(most + 1)),
                _ => (rng.below(most + 1), rng.below(most + 1)),
            };
            let (first, last) = (first.min(last) as u64, first.max(last) as u64);
            let last = if combinations * (last - first + 1) > 1024 { first } else { last };
            combinations *= last - first + 1;
            fields.push((width, first, last));
        }
        let is_lowest_first = number % 2 == 1;
        let field = |&(width, first, last): &(usize, u64, u64)| match first == last {
            true => format!("{width}: {first}"),
            false => format!("{width}: {first}..{last}"),
        };
        let shown = fields.iter().map(field).collect::<Vec<_>>().join(", ");
        let text = format!("s ::= ${}({shown})", if is_lowest_first { "bitsle" } else { "bits" });
        let mut diagnostics = Diagnostics::default();
        let grammar = Ebnf.parse(&SourceFile::new("g.ebnf", text.as_str()), &mut diagnostics);
        if diagnostics.iter().next().is_some() {
            refused += 1;
            continue;
        }
        made += 1;
        let expected: BTreeMap<Vec<u8>, f64> =
            packed(&fields, is_lowest_first).into_iter().map(|text| (text, 1.0 / combinations as f64)).collect();
        let found = texts(&grammar.rules[0].body);
        assert!(found.keys().eq(expected.keys()), "{text}");
        let is_alike = |text: &Vec<u8>| (found[text] / expected[text] - 1.0).abs() < 1e-9;
        assert!(found.keys().all(is_alike), "{text}");
    }
    assert!(made > 1000 && refused > 0, "{made} {refused}");
}

fn output(name: &str, grammar: &str, choices: &[u8]) -> Vec<u8> {
    match compile(&SourceFile::new(name, grammar), &Options::default()) {
        Ok((compiled, _)) => render(&compiled.lowered, &compiled.pools, Limits::default(), choices).output,
        Err(diagnostics) => panic!("{grammar}: {diagnostics:?}"),
    }
}

/// Option 0 is the number nearest to 0 with the fewest bytes.
#[test]
fn without_choices_a_range_is_its_plainest_number() {
    let plainest: [(&str, &[u8]); 7] = [
        ("$dec(-10..10)", b"0"),
        ("$dec(-30..-10)", b"-10"),
        ("$dec(7..65535)", b"7"),
        ("$i16be(-5..300)", &[0, 0]),
        ("$u32le(7..70000)", &[7, 0, 0, 0]),
        ("$leb128(200..1000)", &[0xC8, 1]),
        ("$hex(0..255, 2)", b"00"),
    ];
    for (range, expected) in plainest {
        assert_eq!(output("g.ebnf", &format!("s ::= {range}"), &[]), expected, "{range}");
    }
}

#[test]
fn json_and_what_is_printed_say_as_much() {
    for range in ["u8(1..255)", "dec(-10..1234)", "hex(5..300, 4)", "leb128(0..1000)", "i24le(-5..70000)"] {
        let ebnf = format!("s ::= 'a' ${range} 'b'");
        let json = format!(r#"{{"<s>": [["a", {{"number": "{range}"}}, "b"]]}}"#);
        let file = SourceFile::new("g.ebnf", ebnf.as_str());
        let read = Ebnf.parse(&file, &mut Diagnostics::default());
        let printer = gramjet_compiler::print::by_name("ebnf").expect("there is one");
        let printed = printer.print(&read, &mut Diagnostics::default()).expect("it can be written");
        let mut rng = Rng::new(9);
        for _ in 0..50 {
            let choices = rng.bytes(20);
            let expected = output("g.ebnf", &ebnf, &choices);
            assert_eq!(output("g.json", &json, &choices), expected, "{range}");
            assert_eq!(output("g.ebnf", &printed, &choices), expected, "{printed}");
        }
    }
    let twice = r#"{"<s>": [[{"label": "n", "expansion": [{"number": "u8(1..3)"}]}, {"copy": "n"}]]}"#;
    assert_eq!(output("g.json", twice, &[255]), [3, 3]);
}

#[test]
fn mistakes_in_ranges_are_told_with_their_places() {
    let mistakes = [
        ("$u8(9..3)", "9..3", "there are no numbers in this range"),
        ("$u8(0..300)", "300", "300 does not fit into `u8`"),
        ("$i8(-129..0)", "-129", "-129 does not fit into `i8`"),
        ("$u16be(-1..3)", "-1", "`u16be` cannot be negative"),
        ("$hex(-1..3)", "-1", "`hex` cannot be negative"),
        ("$leb128(-1..3)", "-1", "`leb128` cannot be negative"),
        ("$dec(0..1000, 3)", "1000", "1000 does not fit into 3 places of `dec`"),
        ("$dec(-100..0, 3)", "-100", "-100 does not fit into 3 places of `dec`"),
        ("$u8(1..x)", "x", "this is not a whole number"),
        ("$dec(1..18446744073709551616)", "18446744073709551616", "this is not a whole number"),
        ("$u8(1..2, 3)", "3", "`u8` has no width of digits"),
        ("$u8(1..2", "", "this range is not closed"),
        ("$u9(1..2)", "$u9", "unknown form of a number `u9`"),
    ];
    for (range, place, message) in mistakes {
        let text = format!("s ::= {range}");
        let mut diagnostics = Diagnostics::default();
        let _ = Ebnf.parse(&SourceFile::new("g.ebnf", text.as_str()), &mut diagnostics);
        let first = diagnostics.iter().next().unwrap_or_else(|| panic!("{range}"));
        let span = first.span.expect("a place");
        assert_eq!((&text[span.start as usize..span.end as usize], &first.message[..]), (place, message), "{range}");
        assert!(first.help.is_some(), "{range}");
        let json = format!(r#"{{"<s>": [["a", {{"number": "{}"}}]]}}"#, &range[1..]);
        let mut diagnostics = Diagnostics::default();
        let format = formats::by_name("fuzzingbook").expect("there is one");
        format.parse(&SourceFile::new("g.json", json), &mut diagnostics);
        assert!(diagnostics.has_errors(), "{range}");
    }
}
