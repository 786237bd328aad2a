//! Hostile texts are read quickly. Mutated grammars cause no panics, and valid ones survive a dump.

use super::Ebnf;
use crate::formats::testing;

#[test]
fn hostile_texts() {
    let length = gramjet_testkit::amount::part(4_000_000) as usize;
    let fill = |unit: &str| unit.repeat(length / unit.len());
    // More expressions than a grammar may have.
    let overfill = |unit: &str| unit.repeat(10_000_000 / unit.len());
    let survives = |text: String, expected| testing::survives(&Ebnf, &text, expected);
    survives("(".repeat(1_000_000), "expected a rule, found `(`");
    survives(format!("a ::= {}", "(".repeat(1_000_000)), "too-deep");
    survives(format!("a ::= 'x'{}", "*".repeat(1_000_000)), "too-deep");
    survives(format!("a ::= 'x'{}", fill("*")), "too-deep");
    survives(format!("a ::= {}", overfill("a ")), "too-large");
    survives(format!("a ::= {}", overfill("|")), "too-large");
    survives(format!("a ::= {}", overfill("''")), "too-large");
    survives(format!("a ::= {}", overfill("('x''y')|")), "too-large");
    survives(format!("a ::= 'x' - {}", overfill("'y' - ")), "too-large");
    survives(format!("a ::= [{}", fill("ab")), "this class is not closed");
    survives(format!("a ::= '{}", fill("ab")), "this literal is not closed");
    survives(format!("a ::= '{}", fill("\\q")), "unknown escape");
    survives(format!("a ::= {}", fill("[")), "this class is not closed");
    survives(format!("a ::= {}", fill("'\n")), "this literal is not closed");
    survives(fill("a ::= $ "), "unexpected character `$`");
    survives(fill("a ::= "), "is defined twice");
    survives(fill("[1]"), "expected a rule, found a class");
    survives(fill("\n[1] a "), "expected a rule, found a class");
    survives(format!("a ::= {}", overfill("\n[1] a ")), "too-large");
    survives(fill("/* "), "this comment is not closed");
    survives(fill("-- "), "no-rules");
    survives(fill("\0"), "unexpected character U+0000");
    survives(fill("%"), "unknown directive");
    survives(fill("%\n"), "unknown directive");
    survives(format!("a ::= #x{}", fill("F")), "not a Unicode scalar value");
    survives(format!("a ::= 'x'{{{}", fill("9")), "not a number of rounds");
    survives(format!("a ::= 'x' @ {}", fill("9")), "not a weight");
    survives(fill("n"), "expected a rule");
    survives(format!("a ::= {}", fill("n")), "is not defined");
}

#[test]
fn hostile_differences() {
    // A long chain of names, each used in the next difference, against recursion over rules.
    let chain: String = (0..100_000).map(|i| format!("r{i} ::= r{} - 'x'\n", i + 1)).collect();
    testing::survives(&Ebnf, &(chain.clone() + "r100000 ::= [w-x]"), "");
    testing::survives(&Ebnf, &(chain.clone() + "r100000 ::= 'x'"), "nothing is left of this class");
    testing::survives(&Ebnf, &(chain + "r100000 ::= r0"), "class-difference");
    // Each rule adds a character to all characters before it.
    let growing: String = (0..100_000).map(|i| format!("r{i} ::= r{} | #x{:X}\n", i + 1, 0x10_000 + 2 * i)).collect();
    testing::survives(&Ebnf, &format!("{growing}r100000 ::= 'x'\ns ::= r0 - 'x'"), "too-large");
}

const SAMPLES: &[&str] = &[
    "%start a\n%max-depth 9\n%alphabet ascii\na ::= 'x' b{2,3} @ 2 | ( | [^a-z#x41-#x5A]) c-d* -- text\nb ::= Char - ('a' | #x62)\n[12] Char ::= [a-z] | \"\\u{E9}\\n\"\nc-d ::= a? b+ /* no */ ;",
    "%alphabet bytes\nblob ::= #b00 len [#b80-#bFF]{4} [^#b00]* @ 0.5 | Low - 'x' | '' @ 3\nlen ::= ((('a' | 'b') 'c')+ | len2)? \nlen2 ::= [\\]\\-a-f] - [b-c] - 'f'\nLow ::= [a-z]",
];
const TOKENS: &[&str] = &[
    "::=",
    "a",
    "'",
    "\"",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "|",
    "*",
    "-",
    " - ",
    "@",
    "@ 2",
    "%",
    "\n%start ",
    "#x",
    "#b",
    "\\",
    "\\u{",
    "^",
    "\n",
    "/*",
    "*/",
    "--",
    "[1] ",
    "é",
    "\0",
    ";",
    "[^",
    "{2,",
    "9999999999",
    ".",
    "((((((((",
];

#[test]
fn mutated_grammars_never_panic_and_dumps_are_read_back() {
    let mut sound = 0;
    testing::mutations(SAMPLES, TOKENS, 20_000, |text| {
        let (read, dump) = testing::everything(&Ebnf, text);
        if read {
            sound += 1;
            assert_eq!(testing::parsed(&Ebnf, &dump), dump, "{text}");
        }
    });
    assert!(sound > 500, "{sound} mutations were grammars");
}
