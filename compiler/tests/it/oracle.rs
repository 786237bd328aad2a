//! Compares the reference interpreter with the kit's own implementation of the choice map.

use gramjet_compiler::ast;
use gramjet_compiler::reference::render;
use gramjet_testkit::form::System;
use gramjet_testkit::naive::replay;
use gramjet_testkit::{Rng, Shape, compiled, random_grammar};

use crate::passes::limits;

fn agree(seeds: std::ops::Range<u64>, shape: &Shape) {
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let grammar = random_grammar(&mut rng, shape);
        let compiled = compiled(&grammar);
        let system = System::of_grammar(&grammar);
        for _ in 0..8 {
            let choices = rng.choice_string(150);
            for limits in limits(&mut rng, compiled.min_len()) {
                let found = render(&compiled.lowered, &compiled.pools, limits, &choices);
                let (output, read) = replay(&system, &compiled.pools, limits, &choices);
                assert!(
                    (&found.output, found.consumed) == (&output, read),
                    "seed {seed}, {limits:?}, {choices:?}\nexpected {} ({read})\nfound    {} ({})\nof\n{}",
                    output.escape_ascii(),
                    found.output.escape_ascii(),
                    found.consumed,
                    ast::dump(&grammar)
                );
            }
        }
    }
}

#[test]
fn small_grammars() {
    agree(20_000..21_000, &Shape::ENUMERABLE);
}

#[test]
fn varied_grammars() {
    agree(30_000..30_300, &Shape::VARIED);
}
