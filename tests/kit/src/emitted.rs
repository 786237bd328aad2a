//! The grammars for which Rust is emitted and compiled when the tests are built.

use gramjet_compiler::Compiled;

use crate::suite::cases;
use crate::{Rng, Shape, compiled, random_grammar};

/// A grammar by name.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Unique among the subjects: the name of the suite's case, or `random-` and the seed.
    pub name: String,
    /// The grammar.
    pub compiled: Compiled,
}

/// How many of the subjects are random grammars.
pub const RANDOM: u64 = 80;

/// The suite's grammars, then the random ones.
pub fn subjects() -> Vec<Subject> {
    let suite = cases().iter().map(|case| Subject { name: case.name.clone(), compiled: case.compiled.clone() });
    suite.chain(random_subjects()).collect()
}

/// The random ones.
pub fn random_subjects() -> impl Iterator<Item = Subject> {
    (0..RANDOM).map(|seed| {
        let shape = match seed {
            60.. => Shape::LONG,
            _ if seed % 2 == 0 => Shape::VARIED,
            _ => Shape::ENUMERABLE,
        };
        let grammar = random_grammar(&mut Rng::new(seed + 777), &shape);
        Subject { name: format!("random-{seed}"), compiled: compiled(&grammar) }
    })
}
