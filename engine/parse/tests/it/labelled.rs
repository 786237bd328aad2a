//! E5 and E6 for the grammars of `tests/labelled`, which are as large as those of real formats, and for shipped ones.

use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::shape::{Shape, Weighting};
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_parse::Parser;
use gramjet_testkit::{Rng, amount};

use crate::kit::check_inverse;

/// The number of texts of a grammar in a long run.
const ALL: u64 = 100_000;

/// The grammars that ship.
const SHIPPED: [&str; 3] = ["png", "tar", "zip"];

const SHAPES: [Weighting; 4] = [
    Weighting::Own,
    Weighting::Shape(Shape::TargetSize(1000)),
    Weighting::Shape(Shape::Deep),
    Weighting::Shape(Shape::Balanced),
];

fn compiled(name: &str, weighting: &Weighting) -> Compiled {
    let folder = if SHIPPED.contains(&name) { "grammars" } else { "tests/labelled" };
    let path = format!("{}/../../{folder}/{name}.ebnf", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a grammar of the tests");
    let options = Options { weighting: weighting.clone(), ..Options::default() };
    compile(&SourceFile::new("g.ebnf", text), &options).expect("it compiles").0
}

/// Parses texts of all shapes and limits. Enough have more than some bytes.
fn check(name: &str, all: u64) {
    let mut long = 0;
    for (number, weighting) in SHAPES.iter().enumerate() {
        let compiled = compiled(name, weighting);
        let parser = Parser::new(&compiled.lowered);
        let least = compiled.lowered.rule(compiled.lowered.start()).facts.min_len;
        let mut rng = Rng::new(number as u64);
        for text in 0..amount::part(all / SHAPES.len() as u64) {
            let choices = rng.bytes([40, 200, 1000, 3000][text as usize % 4]);
            let max_len = [None, Some(2000), Some(300), Some(60)][text as usize / 4 % 4];
            let max_len = max_len.map(|max_len: u64| max_len.max(least));
            let max_depth = [None, Some(6)][text as usize / 16 % 2];
            let limits = Limits { max_depth, max_len };
            let text = render(&compiled.lowered, &compiled.pools, limits, &choices).output;
            check_inverse(&compiled, &parser, &text, &|| format!("{name} {weighting:?} {limits:?}"));
            long += u64::from(text.len() > 10);
        }
    }
    assert!(long * 10 > amount::part(all), "{long}");
}

#[test]
fn documents_with_names_are_found_again() {
    check("xml", ALL);
}

#[test]
fn tables_with_equal_columns_are_found_again() {
    check("csv", ALL);
}

#[test]
fn values_with_lengths_are_found_again() {
    check("values", ALL);
}

#[test]
fn texts_in_codings_are_found_again() {
    check("codings", ALL / 5);
}

#[test]
fn images_are_found_again() {
    check("png", ALL / 20);
}

#[test]
fn archives_with_checksums_are_found_again() {
    check("tar", ALL / 20);
}

#[test]
fn archives_with_directories_are_found_again() {
    check("zip", ALL / 50);
}

#[test]
fn headers_with_bit_fields_are_found_again() {
    check("ipv4", ALL);
}
