//! Textual stages: the printed text can be read back, and the same grammar gives the same text.

use gramjet_compiler::ir::{parse, print, verify};
use gramjet_compiler::limits::AssumedLimits;
use gramjet_compiler::passes::{NAMES, optimise_unfolded};
use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::{Options, SourceFile, ast, compile, dump, stages};
use gramjet_testkit::{Draw, Passes, Rng, Shape, compiled, passes, random_grammar};

#[test]
fn printed_ir_is_read_back() {
    for seed in gramjet_testkit::amount::seeds(0..2000) {
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut Rng::new(seed + 1000), &shape);
        let Passes { lowered, pools, results } = passes(&grammar, &Default::default());
        let choices = Rng::new(seed).bytes(200);
        let expected = render(&lowered, &pools, Limits::default(), &choices);
        let unfolded = optimise_unfolded(&lowered, &pools, 3, 10_000).map(|ir| ("unfold", ir));
        let within = Limits { max_depth: Some(3), max_len: None };
        let limited = render(&lowered, &pools, within, &choices);
        for (name, ir) in std::iter::once(("lower", lowered)).chain(results).chain(unfolded) {
            let expected = if ir.is_ordered() { &expected } else { &limited };
            assert_eq!(verify(&ir), Ok(()), "{name}");
            let text = print(&ir);
            let again = match parse(&text) {
                Ok(again) => again,
                Err(error) => panic!("{name}: {error:?} in\n{text}"),
            };
            assert_eq!(print(&again), text, "{name}");
            assert_eq!(verify(&again), Ok(()), "{name}\n{text}");
            assert_eq!(render(&again, &pools, Limits::default(), &choices), *expected, "{name}\n{text}");
        }
    }
}

#[test]
fn damaged_ir_text_is_refused_or_read() {
    let mut read = 0;
    for seed in gramjet_testkit::amount::seeds(0..15_000) {
        let mut rng = Rng::new(seed);
        let grammar = random_grammar(&mut rng, &Shape::ENUMERABLE);
        let mut text = print(&compiled(&grammar).residual).into_bytes();
        for _ in 0..1 + seed % 2 {
            let place = rng.below(text.len());
            match rng.below(3) {
                0 => drop(text.remove(place)),
                1 => text.insert(place, b"()<>\"@*[]09 \\"[rng.below(13)]),
                _ => text.truncate(place.max(20)),
            }
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        if let Ok(ir) = parse(&text) {
            read += 1;
            let _ = verify(&ir);
        }
    }
    assert!(read > gramjet_testkit::amount::part(100) as usize, "{read}");
}

#[test]
fn compilation_is_deterministic() {
    for seed in 0..100 {
        let make = || passes(&random_grammar(&mut Rng::new(seed), &Shape::VARIED), &Default::default());
        let (first, second) = (make(), make());
        assert_eq!(print(&first.lowered), print(&second.lowered));
        for ((name, first), (_, second)) in first.results.iter().zip(&second.results) {
            assert_eq!(print(first), print(second), "{name}");
        }
        for rule in first.lowered.rule_ids() {
            let (first, second) = (first.pools.get(rule), second.pools.get(rule));
            assert_eq!(first.map(|pool| pool.strings.to_vec()), second.map(|pool| pool.strings.to_vec()));
        }
    }
}

/// A dump of the Ast is a grammar in our EBNF. Compiling the dump gives the same as compiling the grammar.
#[test]
fn a_dumped_grammar_compiles_to_the_same() {
    let mut compared = 0;
    for seed in 0..300 {
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut Rng::new(seed + 3000), &shape);
        let file = SourceFile::new("dumped.ebnf", ast::dump(&grammar));
        // The EBNF cannot express every byte string in one literal.
        let Ok((from_text, _)) = compile(&file, &Options::default()) else { continue };
        let direct = compiled(&grammar);
        let choices = Rng::new(seed).bytes(300);
        let run = |compiled: &gramjet_compiler::Compiled| {
            render(&compiled.residual, &compiled.pools, Limits { max_depth: Some(4), max_len: None }, &choices)
        };
        assert_eq!(run(&from_text), run(&direct), "{}", file.text());
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn every_stage_has_a_dump() {
    let file = SourceFile::new("g.ebnf", "s ::= 'a' s | 'b' [cd]*\n");
    assert_eq!(stages()[3..3 + NAMES.len()], *NAMES);
    for (stage, about) in stages() {
        assert!(!about.is_empty() && !about.ends_with('.'));
        let limits = AssumedLimits { max_depth: Some(Some(3)), max_len: None };
        let (text, diagnostics) = dump(&file, &Options { limits, ..Options::default() }, stage);
        assert!(diagnostics.is_empty());
        let text = text.expect("a stage");
        assert!(text.contains('s') && text.ends_with('\n'), "{stage}: {text}");
    }
    assert_eq!(dump(&file, &Options::default(), "no such stage").0, None);
    let (text, _) = dump(&file, &Options::default(), "unfold");
    assert!(text.is_some_and(|text| text.starts_with("not unfolded: the depth limit is 32")));
    let unsound = SourceFile::new("g.ebnf", "s ::= 'a' t\n");
    for (stage, reached) in [("ast", true), ("ir", false)] {
        let (text, diagnostics) = dump(&unsound, &Options::default(), stage);
        assert!(text.is_some() == reached && diagnostics.has_errors());
    }
}
