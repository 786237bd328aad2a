//! Numbers of texts, and all texts in the order of their lengths.

use gramjet_session::suite::counts::{Counts, Uncountable};

use super::*;

/// Returns all texts over an alphabet with up to a number of characters, by length.
fn strings(alphabet: &str, most: usize) -> Vec<Vec<String>> {
    let mut all = vec![vec![String::new()]];
    for len in 1..=most {
        let longer = |text: &String| alphabet.chars().map(|last| format!("{text}{last}")).collect::<Vec<_>>();
        all.push(all[len - 1].iter().flat_map(longer).collect());
    }
    all
}

/// Grammars, the characters of their texts, and whether a text has one derivation.
const GRAMMARS: [(&str, &str, bool); 7] = [
    ("list ::= '[' (item (',' item)*)? ']'  item ::= '0' | list", "[,]0", true),
    ("s ::= 'a' s 'b' | 'c'? 'a'{1,3}", "abc", true),
    ("e ::= e '+' e | 'x' | '(' e ')'", "+x()", false),
    ("s ::= a b c  a ::= 'x'*  b ::= '' | 'x' | 'y'{2}  c ::= ('z' | '')*", "xyz", false),
    ("s ::= ('a' | 'b' 'a'?){2,} 'c'{0,4}", "abc", false),
    ("s ::= ('a'{0,2}){0,3} | 'bb'", "ab", false),
    ("s ::= [ab]{2} t  t ::= 'c' | 'd' u  u ::= t? 'e'", "abcde", true),
];

#[test]
fn enumerations_are_all_strings_that_the_parser_takes() {
    for (text, alphabet, has_one_derivation) in GRAMMARS {
        let grammar = compiled(text);
        let parser = Parser::new(&grammar.lowered);
        let mut counts = Counts::new(&grammar).expect("countable");
        for (len, strings) in strings(alphabet, 6).iter().enumerate() {
            let accepted: BTreeSet<Vec<u8>> = strings
                .iter()
                .map(|text| text.as_bytes().to_vec())
                .filter(|text| parser.parse(text, &Budget::default()).is_ok())
                .collect();
            let count = counts.of(len as u64).expect("few").saturated();
            let (mut listed, mut made) = (BTreeSet::new(), Vec::new());
            for number in 0..count {
                counts.text(len as u64, number, &mut made);
                listed.insert(made.clone());
            }
            assert_eq!(listed, accepted, "{text}: {len}");
            assert!(count as usize == listed.len() || !has_one_derivation, "{text}: {len}");
        }
    }
}

#[test]
fn numbers_of_derivations_are_those_of_a_formula() {
    // The ways of putting parentheses around sums: Catalan's numbers.
    let sums = compiled("e ::= e '+' e | 'x'");
    let mut counts = Counts::new(&sums).expect("countable");
    let catalan: Vec<u64> = (0..6).map(|n| counts.of(2 * n + 1).expect("few").saturated()).collect();
    assert_eq!(catalan, [1, 1, 2, 5, 14, 42]);
    assert!(counts.of(4).expect("few").is_zero());
    let letters = compiled("s ::= [a-z]*");
    let mut counts = Counts::new(&letters).expect("countable");
    assert_eq!(counts.of(30).expect("few").to_string(), "2813198901284745919258621029615971520741376");
    assert_eq!(counts.longest(), None);
    let characters = compiled("s ::= [#x41#xE9#x4E00#x1F600]{2}");
    let mut counts = Counts::new(&characters).expect("countable");
    let by_len: Vec<u64> = (0..10).map(|len| counts.of(len).expect("few").saturated()).collect();
    assert_eq!((by_len, counts.longest()), (vec![0, 0, 1, 2, 3, 4, 3, 2, 1, 0], Some(8)));
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let refusal = |text: &str| Counts::new(&compiled(text)).expect_err("refused");
    assert_eq!(refusal("s ::= $u8(len(d)) d:[a-z]*"), Uncountable::Labels);
    let Uncountable::Infinite { rule } = refusal("s ::= 'a' t  t ::= u | 'x'  u ::= v? t v?  v ::= 'y'") else {
        panic!("a text has infinitely many derivations")
    };
    assert!(rule == "t" || rule == "u", "{rule}");
    let large = compiled("s ::= [a-z]*");
    let mut counts = Counts::new(&large).expect("countable");
    assert!(matches!(counts.of(1 << 40), Err(Uncountable::TooMuch { .. })));
}

#[test]
fn short_texts_of_a_shipped_grammar_are_those_that_the_parser_takes() {
    let json = shipped("json");
    let (parser, mut counts) = (Parser::new(&json.lowered), Counts::new(&json).expect("countable"));
    let (mut listed, mut text) = (BTreeSet::new(), Vec::new());
    for number in 0..counts.of(2).expect("few").saturated() {
        counts.text(2, number, &mut text);
        listed.insert(text.clone());
    }
    let all = (0..=255u8).flat_map(|first| (0..=255u8).map(move |second| vec![first, second]));
    let accepted: BTreeSet<Vec<u8>> = all.filter(|text| parser.parse(text, &Budget::default()).is_ok()).collect();
    assert_eq!(listed, accepted);
    assert!(accepted.contains(&b"[]"[..]) && accepted.contains(&b"-7"[..]) && accepted.len() > 150);
}
