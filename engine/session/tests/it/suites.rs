//! Laws of suites, by brute force on small grammars.

use std::collections::BTreeSet;

use gramjet_compiler::limits::Limits;
use gramjet_compiler::shape::Weighting;
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_engine::Tracer;
use gramjet_engine::decisions::{Derivation, OpenSite};
use gramjet_parse::{Budget, Parser};
use gramjet_session::Random;
use gramjet_session::suite::cover::cover;
use gramjet_session::suite::paths::Paths;
use gramjet_session::suite::steps::Steps;

mod countings;
mod covers;
mod invalids;
mod others;

fn compiled(text: &str) -> Compiled {
    let file = SourceFile::new("g.ebnf", text);
    let options = Options { weighting: Weighting::Own, ..Options::default() };
    compile(&file, &options).unwrap_or_else(|errors| panic!("{}", errors.to_plain_text(&file))).0
}

fn shipped(name: &str) -> Compiled {
    compiled(gramjet_grammars::by_name(name).expect("it ships").text)
}

/// Returns the names of the paths of a text, by the derivation that the parser finds.
fn paths_of(compiled: &Compiled, longest: usize, text: &[u8]) -> BTreeSet<String> {
    let steps = Steps::new(compiled);
    let paths = Paths::new(&steps, longest).expect("few paths");
    let parsed = Parser::new(&compiled.lowered).parse(text, &Budget::default()).expect("it conforms");
    let (mut deriver, mut derivation) = (Tracer::new(compiled).deriver(None), Derivation::default());
    deriver.decode(&parsed.choices, &mut derivation);
    paths.of(&steps, &derivation, &deriver, None).iter().map(|&path| paths.told(path, &steps)).collect()
}

fn all_paths(compiled: &Compiled, longest: usize) -> BTreeSet<String> {
    let steps = Steps::new(compiled);
    let paths = Paths::new(&steps, longest).expect("few paths");
    (0..paths.len() as u32).map(|path| paths.told(path, &steps)).collect()
}
