//! E2: every pass keeps the language and the choice map.

use gramjet_compiler::ast;
use gramjet_compiler::ir::print;
use gramjet_compiler::passes::{Budget, NAMES, optimise_unfolded};
use gramjet_compiler::reference::{Limits, Run, render};
use gramjet_testkit::amount;
use gramjet_testkit::form::System;
use gramjet_testkit::language::language;
use gramjet_testkit::{Draw, Passes, Rng, Shape, passes, random_grammar};

/// Returns budgets. Small ones leave rules, large ones leave only the recursive ones.
fn budgets() -> [Budget; 3] {
    [Budget::default(), Budget { copied_nodes: 3, moved_nodes: 6 }, Budget { copied_nodes: 400, moved_nodes: 2000 }]
}

#[test]
fn languages_stay() {
    let mut compared = 0;
    for seed in amount::seeds(0..1250) {
        let grammar = random_grammar(&mut Rng::new(seed), &Shape::ENUMERABLE);
        let written = language(&System::of_grammar(&grammar), 5, 400);
        let Some(written) = written else { continue };
        let Passes { lowered, results, .. } = passes(&grammar, &budgets()[seed as usize % 3]);
        assert!(results.iter().map(|(name, _)| name).eq(NAMES.iter().map(|(name, _)| name)));
        for (name, ir) in std::iter::once(("lower", lowered)).chain(results) {
            let found = language(&System::of_ir(&ir), 5, 400);
            assert!(found.as_ref() == Some(&written), "{name} of\n{}{}", ast::dump(&grammar), print(&ir));
        }
        compared += usize::from(written.len() > 3);
    }
    println!("{compared} languages of more than 3 strings");
    assert!(compared > amount::part(500) as usize);
}

/// Returns the limits to run a grammar with: none, depth, length, both.
pub fn limits(rng: &mut Rng, min_len: u64) -> [Limits; 4] {
    let max_depth = Some(rng.below(6) as u32);
    let max_len = Some(min_len + rng.below(40) as u64);
    let deep = Some(rng.below(30) as u32);
    [
        Limits::default(),
        Limits { max_depth, max_len: None },
        Limits { max_depth: None, max_len },
        Limits { max_depth: if rng.percent(50) { max_depth } else { deep }, max_len },
    ]
}

fn choice_maps_stay(seeds: std::ops::Range<u64>, shape: &Shape) {
    let mut lengths = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let grammar = random_grammar(&mut rng, shape);
        let Passes { lowered, pools, results } = passes(&grammar, &budgets()[seed as usize % 3]);
        let min_len = lowered.rule(lowered.start()).facts.min_len;
        for _ in 0..6 {
            let choices = rng.choice_string(200);
            for limits in limits(&mut rng, min_len) {
                let expected = render(&lowered, &pools, limits, &choices);
                lengths += expected.output.len();
                for (name, ir) in &results {
                    let found: Run = render(ir, &pools, limits, &choices);
                    assert!(
                        found == expected,
                        "{name} (seed {seed}), {limits:?}, {choices:?}\nexpected {:?}\nfound    {:?}\nof\n{}\n{}",
                        expected.output.escape_ascii().to_string(),
                        found.output.escape_ascii().to_string(),
                        ast::dump(&grammar),
                        print(ir)
                    );
                }
            }
        }
    }
    println!("{lengths} bytes");
    assert!(lengths > amount::part(500_000) as usize);
}

/// Uses new grammars in every run. A failure is minimised and printed with its seed, which repeats it.
#[test]
fn choice_maps_of_fresh_grammars_stay() {
    arbtest::arbtest(|unstructured| {
        let grammar = random_grammar(unstructured, &Shape::ENUMERABLE);
        let Passes { lowered, pools, results } = passes(&grammar, &Budget::default());
        let max_depth = [None, Some(0), Some(1), Some(3)][unstructured.choose_index(4)?];
        let len = lowered.rule(lowered.start()).facts.min_len + unstructured.int_in_range(0..=20)?;
        let limits = Limits { max_depth, max_len: Some(len).filter(|len| len % 2 == 0) };
        let choices = unstructured.bytes(unstructured.len().min(100))?;
        let expected = render(&lowered, &pools, limits, choices);
        for (name, ir) in &results {
            let found = render(ir, &pools, limits, choices);
            assert_eq!(found, expected, "{name}, {limits:?}, {choices:?}\n{}", ast::dump(&grammar));
        }
        Ok(())
    })
    .size_min(200)
    .budget_ms(1000);
}

#[test]
fn choice_maps_of_small_grammars_stay() {
    choice_maps_stay(amount::seeds(0..7500), &Shape::ENUMERABLE);
}

#[test]
fn choice_maps_of_varied_grammars_stay() {
    choice_maps_stay(amount::seeds(10_000..11_500), &Shape::VARIED);
}

/// Checks the law of unfolding: without limits, the result does the same as the grammar under the depth limit.
fn unfolded_limits_stay(seeds: std::ops::Range<u64>, shape: &Shape) {
    let (mut lengths, mut refused) = (0, 0);
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let Passes { lowered, pools, .. } = passes(&random_grammar(&mut rng, shape), &Budget::default());
        for max_depth in [0, 1, 2, 3, 4, 8] {
            let Some(unfolded) = optimise_unfolded(&lowered, &pools, max_depth, 20_000) else {
                refused += 1;
                continue;
            };
            for _ in 0..6 {
                let choices = rng.choice_string(200);
                let limits = Limits { max_depth: Some(max_depth), max_len: None };
                let expected = render(&lowered, &pools, limits, &choices);
                let found = render(&unfolded, &pools, Limits::default(), &choices);
                lengths += expected.output.len();
                assert!(
                    found == expected,
                    "seed {seed}, depth {max_depth}, {choices:?}\nexpected {:?}\nfound    {:?}\nof\n{}\n{}",
                    expected.output.escape_ascii().to_string(),
                    found.output.escape_ascii().to_string(),
                    print(&lowered),
                    print(&unfolded)
                );
            }
        }
    }
    println!("{lengths} bytes, {refused} refused");
    let (least, most) = (amount::part(100_000) as usize, amount::part(1000) as usize);
    assert!(lengths > least && refused < most, "{lengths} bytes, {refused} refused");
}

#[test]
fn unfolded_limits_of_small_grammars_stay() {
    unfolded_limits_stay(amount::seeds(0..3500), &Shape::ENUMERABLE);
}

#[test]
fn unfolded_limits_of_varied_grammars_stay() {
    unfolded_limits_stay(amount::seeds(10_000..11_000), &Shape::VARIED);
}

#[test]
fn every_pass_stands_in_the_table() {
    let page = include_str!("../../../docs/ir.md");
    for (name, _) in NAMES {
        assert!(page.contains(&format!("| {name} |")), "the pass `{name}` is not in docs/ir.md");
    }
}
