//! The automaton gives what the machine gives: the same choice bytes, and the same errors.

use std::borrow::Borrow;

use gramjet_compiler::Compiled;
use gramjet_compiler::ast;
use gramjet_compiler::reference::{Limits, render};
use gramjet_parse::{Budget, ParseError, Parser};
use gramjet_testkit::{Draw, Rng, Shape, compiled as compiled_ast, random_grammar};

use crate::kit::{JSON, compiled, shipped_to_read};

/// Number of texts that were compared, of those that conform, and of those that the automaton gave up.
#[derive(Debug, Default)]
pub struct Compared {
    pub texts: u32,
    pub conforming: u32,
    pub given_up: u32,
}

impl Compared {
    fn text(&mut self, parser: &Parser, text: &[u8], about: &dyn Fn() -> String) {
        // The automaton leaves the empty text to the machine.
        if text.is_empty() {
            return;
        }
        let budget = Budget { max_memory: 64 << 20, max_steps: Some(1 << 22) };
        self.texts += 1;
        let Some(result) = parser.parse_by_automaton(text, &budget) else {
            self.given_up += 1;
            return;
        };
        let result = result.map(|parsed| parsed.choices);
        self.conforming += u32::from(result.is_ok());
        let known = parser.parse_by_threads(text, &budget).map(|parsed| parsed.choices);
        if let Err(ParseError::Steps { .. } | ParseError::Memory { .. }) = known {
            return;
        }
        assert!(result == known, "\"{}\"\nfound    {result:?}\nexpected {known:?}\n{}", text.escape_ascii(), about());
        if !parser.has_labels() {
            let (checked, known) = (parser.check(text, &budget).map(|_| ()), known.map(|_| ()));
            assert!(checked == known, "\"{}\"\nchecked {checked:?}\n{}", text.escape_ascii(), about());
        }
    }

    /// Compares texts of the language, and others that are almost such texts.
    fn texts_of(&mut self, compiled: &Compiled, rng: &mut Rng, texts: usize, about: &dyn Fn() -> String) {
        let parser = Parser::new(&compiled.lowered);
        self.texts_by(&|| &parser, compiled, rng, texts, about);
    }

    /// Compares such texts by the parser that a function returns for each.
    pub fn texts_by<P: Borrow<Parser>>(
        &mut self,
        parser: &dyn Fn() -> P,
        compiled: &Compiled,
        rng: &mut Rng,
        texts: usize,
        about: &dyn Fn() -> String,
    ) {
        for number in 0..texts {
            let choices = rng.choice_string([40, 120, 400][number % 3]);
            let limits = Limits { max_depth: [None, Some(8)][number % 2], max_len: None };
            let text = render(&compiled.lowered, &compiled.pools, limits, &choices).output;
            // Long texts of ambiguous grammars take their time.
            if text.is_empty() || text.len() > 2000 {
                continue;
            }
            self.text(parser().borrow(), &text, about);
            for _ in 0..2 {
                self.text(parser().borrow(), &broken(rng, &text), about);
            }
        }
    }
}

/// Returns a text with one change.
fn broken(rng: &mut Rng, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let (at, other) = (rng.below(text.len()), rng.below(text.len()));
    match rng.below(5) {
        0 => text.truncate(at),
        1 => {
            text.remove(at);
        }
        2 => text[at] = text[other],
        3 => text[at] = rng.below(256) as u8,
        _ => text.insert(at, text[other]),
    }
    text
}

fn random_grammars(grammars: u64, texts: usize) {
    let mut compared = Compared::default();
    for seed in 0..grammars {
        let mut rng = Rng::new(seed + 700_000);
        let shape = [Shape::VARIED, Shape::ENUMERABLE, Shape::LONG, Shape::FINITE][seed as usize % 4];
        let grammar = random_grammar(&mut rng, &shape);
        let compiled = compiled_ast(&grammar);
        compared.texts_of(&compiled, &mut rng, texts, &|| format!("seed {seed}\n{}", ast::dump(&grammar)));
    }
    let Compared { texts, conforming, given_up } = compared;
    assert!(conforming > texts / 4 && conforming < texts * 3 / 4 && given_up < texts / 4, "{compared:?}");
}

#[test]
fn on_random_grammars() {
    random_grammars(400, 6);
}

#[test]
#[ignore = "takes minutes"]
fn on_random_grammars_in_a_long_run() {
    random_grammars(20_000, 12);
}

fn shipped_grammar(name: &str, texts: usize) {
    let compiled = shipped_to_read(name);
    let mut rng = Rng::new(name.bytes().map(u64::from).sum());
    let mut compared = Compared::default();
    compared.texts_of(&compiled, &mut rng, texts, &|| name.to_string());
    assert!(compared.given_up <= compared.texts / 10, "{compared:?}");
}

/// Grammars that ship, with the alternatives that are only read.
#[test]
fn on_grammars_that_ship() {
    for name in ["css", "javascript", "json", "lua", "python", "xml"] {
        shipped_grammar(name, 40);
    }
}

#[test]
#[ignore = "takes minutes"]
fn on_all_grammars_that_ship_in_a_long_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../grammars");
    for file in std::fs::read_dir(folder).expect("the grammars").flatten() {
        if let Some(name) = file.file_name().to_string_lossy().strip_suffix(".ebnf") {
            shipped_grammar(name, 2000);
        }
    }
}

/// Characters of all lengths, beside bytes that are none.
#[test]
fn on_characters_and_bytes() {
    for grammar in [
        "%alphabet unicode\ns ::= (wide | 'é' | '日本' | x)* x ::= 'x' [#x80-#xFF] wide ::= [#x61-#xE9#x4E00-#x10FFFF]",
        "%alphabet bytes\ns ::= (wide | 'é' | '日本' | x)* x ::= 'x' [#x80-#xFF] wide ::= [#x61-#xE9]",
    ] {
        let compiled = compiled(grammar);
        let mut compared = Compared::default();
        compared.texts_of(&compiled, &mut Rng::new(8), 300, &|| grammar.to_string());
        assert!(compared.conforming > 100 && compared.given_up == 0, "{compared:?}");
    }
}

/// Where the choices are certain, the log is emptied; where they are open up to the end, it is kept.
#[test]
fn on_long_texts() {
    let item = r#"{"id": 17, "name": "été \"\u00e9\\", "list": [1.5e-3, true, [], {}, [[null]]], "x":-0}"#;
    let text = format!("[\n  {}\n]", vec![item; 3000].join(",\n  ")).into_bytes();
    for parser in [Parser::new(&compiled(JSON).lowered), Parser::new(&shipped_to_read("json").lowered)] {
        let mut compared = Compared::default();
        compared.text(&parser, &text, &String::new);
        compared.text(&parser, &text[..text.len() - 10], &String::new);
        assert!(compared.given_up == 0 && compared.conforming == 1, "{compared:?}");
    }
}

/// The frame of a counted repetition ends with two counts at one position, the second time by its own recursion.
#[test]
fn on_repetitions_that_end_twice() {
    let grammar = "r0 ::= r0 @ 0.5 | '' @ 0.3 | r1 'b'
        r1 ::= 'b' r1 'a' @ 10 | 'b'* | r2
        r2 ::= 'a' [b]{1,3} 'b' | r2 | ([b] r2 'ab' | r2 'aa' | '' | 'ba'{0,2} r1 'b') [a]{1,3}
             | ('a' r1 'b' | [a] 'b' r0 | r0 r1{2,} '') ''";
    let parser = Parser::new(&compiled(grammar).lowered);
    let mut compared = Compared::default();
    compared.text(&parser, b"bbabbbbaaaabaab", &String::new);
    assert_eq!((compared.conforming, compared.given_up), (1, 0));
}

/// The choices of left recursion are as deep as the text is long. If each level were gone through at each position,
/// this test would take minutes.
#[test]
fn on_long_left_recursion() {
    for grammar in
        ["s ::= s 'a' | 'a'", "s ::= t 'b'?  t ::= t 'a' | 'a'", "s ::= x 'a' | 'a'  x ::= s y  y ::= '' | 'b'"]
    {
        let parser = Parser::new(&compiled(grammar).lowered);
        Compared::default().text(&parser, &b"a".repeat(300_000), &|| grammar.to_string());
    }
}

/// Chains of ends, and recursion on all sides.
#[test]
fn on_recursion() {
    for grammar in [
        "s ::= s 'a' | 'a'",
        "s ::= 'a' s | 'a'",
        "s ::= 'a' s | ''",
        "s ::= x 'ab'  x ::= 'a' x | 'a'",
        "s ::= x 'ab'  x ::= 'a' y | 'a'  y ::= x",
        "s ::= l  l ::= i w l w | i w  i ::= 'a' | 'b'  w ::= 'b'?",
        "s ::= s s | 'a' | 'b'",
        "s ::= ('a' | 'aa' | x){2,5} 'b'?  x ::= 'a' s",
        "e ::= e '+' t | t  t ::= t '*' f | f  f ::= 'a' e | 'a' | 'b'",
    ] {
        let compiled = compiled(grammar);
        let parser = Parser::new(&compiled.lowered);
        let mut compared = Compared::default();
        for len in 1..30 {
            let text = b"a".repeat(len);
            compared.text(&parser, &text, &|| grammar.to_string());
            compared.text(&parser, &[text, b"b".to_vec()].concat(), &|| grammar.to_string());
        }
        compared.texts_of(&compiled, &mut Rng::new(4), 40, &|| grammar.to_string());
        assert!(compared.conforming > 20 && compared.given_up < compared.texts / 2, "{grammar} {compared:?}");
    }
}
