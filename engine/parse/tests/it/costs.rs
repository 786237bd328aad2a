//! The cost of parsing, in steps and bytes of memory: linear where it can be, bounded where it cannot. Never in time.

use std::collections::BTreeMap;

use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_parse::{Budget, ParseError, Parser};

use crate::kit::{JSON, check_inverse, compiled};
use crate::memory;

/// Returns the steps for texts of each length.
fn steps(grammar: &str, text: &dyn Fn(usize) -> Vec<u8>, lengths: [usize; 3]) -> BTreeMap<usize, u64> {
    let compiled = compiled(grammar);
    let parser = Parser::new(&compiled.lowered);
    let of = |length| {
        let text = text(length);
        check_inverse(&compiled, &parser, &text, &|| grammar.to_string());
        (text.len(), parser.parse(&text, &Budget::default()).expect("parsed before").work.steps)
    };
    lengths.into_iter().map(of).collect()
}

/// Checks that the steps per byte do not grow with the length, and are at most `most`. Of the shortest texts they can
/// be fewer, as the automaton gives up left recursion of more than a thousand levels with several operators.
fn check_linear(grammar: &str, most: u64, text: &dyn Fn(usize) -> Vec<u8>) {
    let steps = steps(grammar, text, [1000, 10_000, 100_000]);
    let per_byte: Vec<f64> = steps.iter().map(|(&length, &steps)| steps as f64 / length as f64).collect();
    assert!(per_byte.iter().all(|&steps| steps <= most as f64), "{grammar}\n{steps:?}");
    assert!(per_byte[2] < per_byte[1] * 1.1, "{grammar}\n{steps:?}");
}

/// Returns a JSON text of about `length` bytes, with everything in it.
fn json(length: usize) -> Vec<u8> {
    let item = r#"{"id": 17, "name": "été \"\u00e9\\", "list": [1.5e-3, true, [], {}, [[null]]], "x":-0}"#;
    let items = vec![item; length / item.len() + 1];
    format!("[\n  {}\n]", items.join(",\n  ")).into_bytes()
}

#[test]
fn grammars_of_programming_languages_are_linear() {
    check_linear(JSON, 12, &json);
    let nested = |length: usize| [b"[".repeat(length / 2), b"]".repeat(length / 2)].concat();
    check_linear(JSON, 12, &nested);
    let sum = |length: usize| b"1+(2*x-3)*4-f/".repeat(length / 14).into_iter().chain(*b"5").collect();
    check_linear(
        "e ::= e '+' t | e '-' t | t  t ::= t '*' f | t '/' f | f  f ::= '(' e ')' | [0-9]+ | [a-z]+",
        20,
        &sum,
    );
}

#[test]
fn recursion_on_either_side_is_linear() {
    let letters = |length: usize| b"a".repeat(length);
    check_linear("s ::= s 'a' | 'a'", 8, &letters);
    check_linear("s ::= 'a' s | 'a'", 8, &letters);
    check_linear("s ::= 'a' s | ''", 8, &letters);
    // One byte of look-ahead does not show that an `x` is not the last: Leo's chains do.
    let list = |length: usize| [b"a".repeat(length), b"ab".to_vec()].concat();
    check_linear("s ::= x 'ab'  x ::= 'a' x | 'a'", 12, &list);
    check_linear("s ::= x 'ab'  x ::= 'a' y | 'a'  y ::= x", 14, &list);
}

#[test]
fn repetitions_are_linear_whatever_their_bounds() {
    let letters = |length: usize| b"a".repeat(length);
    check_linear("s ::= 'a'*", 8, &letters);
    check_linear("s ::= 'a'{7,}", 8, &letters);
    check_linear("s ::= 'a'{7,1000000}", 8, &letters);
    check_linear("s ::= ('a'?){0,1000000}", 14, &letters);
    check_linear("s ::= x{5,}  x ::= 'a' | ''", 14, &letters);
}

/// Memory does not grow with a text whose choices are certain as far as it was read.
#[test]
fn what_is_certain_takes_no_memory() {
    let parser = Parser::new(&compiled(JSON).lowered);
    let text = json(2_000_000);
    let budget = Budget { max_memory: 12 << 20, ..Budget::default() };
    let parsed = parser.parse(&text, &budget).expect("within the budget");
    assert!(parsed.choices.len() > 1_000_000 && parsed.choices.len() < 8 << 20);
}

#[test]
fn hostile_grammars_end_within_the_budget() {
    let text = b"a".repeat(10_000);
    for grammar in [
        "s ::= s s | 'a' | ''",
        "s ::= s s s | s s | 'a'",
        "s ::= x*  x ::= s | 'a'",
        "s ::= (x x? x? x? x? x?)*  x ::= 'a' s 'a' | 'a' | ''",
        "s ::= (x{5,})+  x ::= 'a' | ''",
        "s ::= s s | s s s | t  t ::= s | 'a' t 'a' | 'a'",
    ] {
        let compiled = compiled(grammar);
        let parser = Parser::new(&compiled.lowered);
        let budget = Budget { max_memory: 64 << 20, max_steps: Some(1 << 22) };
        match parser.parse(&text, &budget) {
            Err(ParseError::Steps { offset, .. } | ParseError::Memory { offset, .. }) => {
                assert!(offset > 100, "{grammar}")
            }
            Err(other) => panic!("{grammar}: {other}"),
            Ok(_) => {}
        }
        // Short texts are parsed, and a wrong one is reported.
        check_inverse(&compiled, &parser, &text[..60], &|| grammar.to_string());
        let wrong = parser.parse(b"aaaab", &budget).expect_err("it does not conform");
        assert!(wrong.to_string().starts_with("byte 4: "), "{wrong}");
    }
}

#[test]
fn rules_that_derive_themselves_are_no_loops() {
    for grammar in [
        "a ::= a | 'x'",
        "a ::= b | 'x'  b ::= a | b",
        "a ::= n a n | 'x'  n ::= '' | a?",
        "a ::= (a*)* | 'x'",
        "a ::= ((''){3} a?)+ 'x'?",
        "a ::= (b{0,1000000}){2,9}  b ::= 'x'?",
    ] {
        let compiled = compiled(grammar);
        let parser = Parser::new(&compiled.lowered);
        check_inverse(&compiled, &parser, b"x", &|| grammar.to_string());
    }
}

#[test]
fn deep_nesting_needs_no_stack() {
    let compiled = compiled("s ::= '(' s ')' | 'x' s 'y'? | ''");
    let parser = Parser::new(&compiled.lowered);
    let levels = 300_000;
    let text = [b"(".repeat(levels), b"x".repeat(levels), b")".repeat(levels)].concat();
    check_inverse(&compiled, &parser, &text, &String::new);
}

#[test]
fn wide_sites_and_large_sets() {
    let options: String = (0..70_000).map(|number| format!(" | 'k{number};'")).collect();
    let compiled = compiled(&format!("s ::= (k c)*  c ::= [#x20-#x10FFFF]  k ::= 'none'{options}"));
    let parser = Parser::new(&compiled.lowered);
    check_inverse(&compiled, &parser, "k69999;\u{10FFFF}k7; none\u{7FF}k0;\u{E000}".as_bytes(), &String::new);
}

/// Texts that cost more than their budget let the parser try no automaton for a while. Whether a later text is within
/// its budget does not depend on them. This text is, by the automaton alone.
#[test]
fn a_budget_does_not_depend_on_earlier_texts() {
    let parser = Parser::new(&compiled(JSON).lowered);
    let text = json(1000);
    let budget = |most| Budget { max_steps: Some(most), ..Budget::default() };
    for _ in 0..4 {
        assert!(matches!(parser.parse(&text, &budget(1)), Err(ParseError::Steps { .. })));
    }
    let most = 2 * text.len() as u64;
    assert!(matches!(parser.parse_by_threads(&text, &budget(most)), Err(ParseError::Steps { .. })));
    for _ in 0..4 {
        parser.parse(&text, &budget(most)).expect("within the budget");
    }
}

/// The budget bounds all memory allocated at any time, not only the memory in use.
#[test]
fn memory_stays_within_the_budget() {
    for grammar in ["s ::= s s | 'a' | ''", "s ::= (x{5,})+  x ::= 'a' | ''", "s ::= 'a' s 'a' | 'a' s 'b' | 'a' | ''"]
    {
        let parser = Parser::new(&compiled(grammar).lowered);
        for len in [3000, 300_000] {
            let text = b"a".repeat(len);
            let most = 32 << 20;
            let budget = Budget { max_memory: most, max_steps: Some(1 << 24) };
            let before = memory::begin();
            let result = parser.parse(&text, &budget);
            let peak = memory::peak() - before;
            assert!(peak < most + most / 8, "{grammar} {len}: {peak}, {}", result.is_ok());
        }
    }
    // Each level of left recursion writes its choices at the first byte: one of them, and many.
    for grammar in ["s ::= s '+' [0-9] | [0-9]", "s ::= n{200} s '+1' | '1'  n ::= 'a' | ''"] {
        let parser = Parser::new(&compiled(grammar).lowered);
        let text = [b"1".as_slice(), &b"+1".repeat(1_000_000)].concat();
        let most = 24 << 20;
        let before = memory::begin();
        let result = parser.parse(&text, &Budget { max_memory: most, max_steps: None });
        let peak = memory::peak() - before;
        assert!(peak < most + most / 8, "{grammar}: {peak}, {}", result.is_ok());
    }
    // Zeros that stay undecided.
    let parser = Parser::new(&compiled("s ::= e | e '!'  e ::= (x{30,} ',')*  x ::= 'a' | ''").lowered);
    let text = [b",".repeat(1_000_000).as_slice(), b"!"].concat();
    let most = 32 << 20;
    let before = memory::begin();
    let result = parser.parse(&text, &Budget { max_memory: most, max_steps: None });
    let peak = memory::peak() - before;
    assert!(peak < most + most / 8, "{peak}, {}", result.is_ok());
}

/// A choice that is open to the end, such as which of two alternatives the first element belongs to, takes little more
/// memory than its choice bytes.
#[test]
fn what_stays_open_is_kept_as_choice_bytes() {
    let compiled = compiled("s ::= '[' e ']' | '[' e ',' e ']' | e  e ::= ([a-z] | '[' e ']')*");
    let parser = Parser::new(&compiled.lowered);
    let text = [b"[".as_slice(), &b"a[bc]".repeat(200_000), b",d]"].concat();
    let budget = Budget { max_memory: 24 << 20, max_steps: None };
    let parsed = parser.parse(&text, &budget).expect("it is within the budget");
    assert!(parsed.choices == check_inverse(&compiled, &parser, &text, &String::new));
}

/// Look-ahead is made in time that is linear in the number of options, even if each of many options changes the sets of
/// all. With a pass over the options for each change, this test takes minutes.
#[test]
fn wide_choices_are_made_ready_at_once() {
    let options: String = (0..40_000).map(|number| format!(" | r{} 'k{number}'", number % 200)).collect();
    let letter = |number: usize| char::from(b'a' + (number % 20) as u8);
    let rule = |number: usize| format!("r{number} ::= '{}' | 'z' r{}\n", letter(number), (number + 1) % 200);
    let rules: String = (0..200).map(rule).collect();
    let compiled = compiled(&format!("s ::= 'none'{options}\n{rules}"));
    let parser = Parser::new(&compiled.lowered);
    check_inverse(&compiled, &parser, b"zztk39997", &String::new);
}

/// The levels of operators make what would be ambiguous linear.
#[test]
fn operators_with_levels_are_linear() {
    let grammar =
        "grammar G; e : e '^'<assoc=right> e | e ('*'|'/') e | e ('+'|'-') e | '-' e | e '?' e ':' e | [0-9] ;";
    let grammar = grammar.replace("[0-9]", "D") + " D : [0-9] ;";
    let (compiled, _) = compile(&SourceFile::new("g.g4", grammar), &Options::default()).expect("it compiles");
    let parser = Parser::new(&compiled.lowered);
    let per_byte = |terms: usize, operators: &[u8]| {
        let text: Vec<u8> =
            (0..terms).flat_map(|term| [operators[term * 7 % 11 % operators.len()], b'1']).skip(1).collect();
        parser.parse(&text, &Budget::default()).expect("it conforms").work.steps as f64 / text.len() as f64
    };
    for operators in [&b"+"[..], b"^", b"+*", b"^*/+-"] {
        let (shorter, longer) = (per_byte(10_000, operators), per_byte(100_000, operators));
        assert!(longer < shorter * 1.1 && longer < 60.0, "{shorter} {longer} {operators:?}");
    }
}

#[test]
fn checks_keep_nothing_of_a_text() {
    let parser = Parser::new(&compiled(JSON).lowered);
    let check = |text: &[u8]| parser.check(text, &Budget::default());
    assert!(check(&json(10_000)).is_ok());
    let long = json(1_000_000);
    let before = memory::begin();
    assert!(check(&long).is_ok());
    let more = memory::peak() - before;
    assert!(more < 1 << 14, "{more} bytes");
}

/// Options that are only read can make a text too ambiguous that conforms without them.
#[test]
fn a_check_gives_up_no_text_that_is_parsed() {
    let lowered = compiled("s ::= 'a'+ | p @ 0  p ::= 'a' p 'a' | 'b' p 'b' | 'a' | 'b'").lowered;
    let text = b"a".repeat(5001);
    let budget = Budget { max_steps: Some(1 << 20), ..Budget::default() };
    assert!(Parser::new(&lowered).parse(&text, &budget).is_ok());
    assert!(Parser::new(&lowered).check(&text, &budget).is_ok());
}

/// Neither does the message about a text that does not conform need memory for all of it.
#[test]
fn a_rejected_text_takes_no_memory_for_what_is_certain() {
    let parser = Parser::new(&compiled(JSON).lowered);
    let text = [&json(2_000_000)[..], b" 1"].concat();
    let budget = Budget { max_memory: 12 << 20, ..Budget::default() };
    let error = parser.check(&text, &budget).expect_err("two values");
    assert!(matches!(error, ParseError::Mismatch(_)), "{error}");
}
