//! The grammars for which Rust is emitted and compiled when the tests are built.

use gramjet_compiler::{Compiled, Options, SourceFile, compile};

use crate::suite::cases;
use crate::{Rng, Shape, compiled, random_grammar};

/// A grammar by name.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Unique among the subjects: the name of the suite's case, or `random-` and the seed.
    pub name: String,
    /// The grammar.
    pub compiled: Compiled,
    /// The depth limit that the emitted producers begin with: it is stated, and so it is unfolded.
    pub max_depth: Option<u32>,
}

impl Subject {
    /// Returns a subject. A depth limit of `levels` is stated if the grammar can keep one.
    fn new(name: String, compiled: Compiled, levels: u32) -> Subject {
        let max_depth = compiled.rule_without_pool().is_none().then_some(levels);
        Subject { name, compiled, max_depth }
    }
}

/// Number of subjects that are random grammars.
pub const RANDOM: u64 = 80;

/// Returns the suite's grammars, those with chains, then the random ones.
pub fn subjects() -> Vec<Subject> {
    let suite = cases().iter().enumerate();
    let suite = suite.map(|(number, case)| Subject::new(case.name.clone(), case.compiled.clone(), number as u32 % 5));
    suite.chain(subjects_with_chains()).chain(random_subjects()).collect()
}

/// Right recursion over single bytes, which an unfolded limit leaves a chain of as many rounds as there are levels, and
/// choices among choices, at some depths.
const CHAINS: &str = "
    s ::= w x ';' y n z '.' | '(' s ')'
    w ::= '' | (' ' | #x9) w
    x ::= d | d x
    d ::= '7' | '3' | '5' | '0'
    y ::= '' | [a-z] y | y2
    y2 ::= '' | ([A-Z] | '_') y2
    z ::= d | d v
    v ::= '' | d v
    n ::= '' | '!' | '<br>' | k | 'a longer string' | ('p' | 'qq') | l
    k ::= 'a' | 'bcd' | '' | 'a string of 22 bytes.'
    l ::= [0-9] ([0-9] ([0-9] ([0-9] [0-9]?)?)?)? | [0-9] m
    m ::= 'x' | 'x' m @ 3
";

/// Rules that only chains lead to.
const LOOKED_THROUGH: &str = "
    s ::= ('' | [ab] e) ';' ('' | [ab] e) '!'
    e ::= '' | [ab] ('!' | 'q' ('' | [ab] e) '#' s | s '?' s | 'z' ('' | [cd] e) 'k')
";

/// Chains that are followed by others, many times in each rule.
pub const CHAINS_IN_CHAINS: &str =
    "d ::= '' | [ab] ('!' | 'q' ('' | [ab] d) ('' | [ab] d) | ('' | [ab] d) ('' | [ab] d) '?')";

/// Returns the subjects that are there for chains.
pub fn subjects_with_chains() -> impl Iterator<Item = Subject> {
    let chains = [0, 1, 2, 3, 4, 5, 7, 10].map(|levels| (CHAINS, levels));
    let others = [2, 3, 6].map(|levels| (LOOKED_THROUGH, levels)).into_iter();
    let others = others.chain([2, 4].map(|levels| (CHAINS_IN_CHAINS, levels)));
    chains.into_iter().chain(others).enumerate().map(|(number, (text, levels))| {
        let file = SourceFile::new("chains.ebnf", text);
        let Ok((compiled, _)) = compile(&file, &Options::default()) else { panic!("the grammar compiles") };
        Subject::new(format!("chains-{number}"), compiled, levels)
    })
}

/// Returns the subjects that are random grammars.
pub fn random_subjects() -> impl Iterator<Item = Subject> {
    (0..RANDOM).map(|seed| {
        let shape = match seed {
            60.. => Shape::LONG,
            _ if seed % 2 == 0 => Shape::VARIED,
            _ => Shape::ENUMERABLE,
        };
        let grammar = random_grammar(&mut Rng::new(seed + 777), &shape);
        Subject::new(format!("random-{seed}"), compiled(&grammar), seed as u32 % 5)
    })
}
