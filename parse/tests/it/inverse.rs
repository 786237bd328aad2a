//! E5: what is parsed is produced again.

use gramjet_compiler::ast;
use gramjet_compiler::reference::{Limits, render};
use gramjet_parse::{Budget, Parser};
use gramjet_testkit::{Draw, Rng, Shape, compiled, random_grammar};

use crate::kit::{check_inverse, shipped};

fn random_grammars(grammars: u64, strings: usize) {
    let mut parsed = 0;
    for seed in 0..grammars {
        let mut rng = Rng::new(seed + 900_000);
        let shape = [Shape::VARIED, Shape::ENUMERABLE, Shape::LONG, Shape::FINITE][seed as usize % 4];
        let grammar = random_grammar(&mut rng, &shape);
        let compiled = compiled(&grammar);
        let parser = Parser::new(&compiled.lowered);
        for _ in 0..strings {
            let choices = rng.choice_string(120);
            // With pools, too: their strings are strings of the rules.
            let max_depth = [None, Some(rng.below(6) as u32)][rng.below(2)];
            let text = render(&compiled.lowered, &compiled.pools, Limits { max_depth, max_len: None }, &choices).output;
            // Random grammars are ambiguous, which costs up to the cube of the length.
            if text.len() > 300 {
                continue;
            }
            let again = check_inverse(&compiled, &parser, &text, &|| format!("seed {seed}\n{}", ast::dump(&grammar)));
            // The same text, the same choice bytes.
            let second = parser.parse(&text, &Budget::default()).expect("parsed before");
            assert!(second.choices == again);
            parsed += 1;
        }
    }
    assert!(parsed as u64 > grammars * strings as u64 / 2, "{parsed}");
}

#[test]
fn random_choice_strings_on_random_grammars() {
    random_grammars(400, 8);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_choice_strings_on_random_grammars() {
    random_grammars(20_000, 20);
}

fn shipped_grammar(name: &str, strings: usize) {
    let compiled = shipped(name);
    let parser = Parser::new(&compiled.lowered);
    let mut rng = Rng::new(name.bytes().map(u64::from).sum());
    for number in 0..strings {
        let len = [20, 200, 1000][number % 3];
        let choices = if number % 2 == 0 { rng.bytes(len) } else { rng.choice_string(len) };
        let max_depth = [Some(32), Some(rng.below(12) as u32), None][number % 3];
        let text = render(&compiled.lowered, &compiled.pools, Limits { max_depth, max_len: None }, &choices).output;
        check_inverse(&compiled, &parser, &text, &|| format!("{name} {choices:?}"));
    }
}

macro_rules! shipped {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn choice_strings() {
                super::shipped_grammar(stringify!($name), 1000);
            }

            #[test]
            #[ignore = "takes minutes"]
            fn many_choice_strings() {
                super::shipped_grammar(stringify!($name), 100_000);
            }
        }
    )*};
}
shipped!(css expr html json xml);
