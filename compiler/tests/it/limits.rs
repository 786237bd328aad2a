//! The guarantees of limits and of the end of the choice bytes, checked on outputs and traces.

use gramjet_compiler::reference::{Limits, Trace, render, run};
use gramjet_compiler::{Options, SourceFile, ast, compile};
use gramjet_testkit::{Passes, Rng, Shape, compiled, passes, random_grammar};

use crate::passes::limits;

#[test]
fn outputs_keep_to_their_limits() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed + 100_000);
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut rng, &shape);
        let compiled = compiled(&grammar);
        for _ in 0..5 {
            let choices = rng.choice_string(200);
            for limits in limits(&mut rng, compiled.min_len()) {
                let run = render(&compiled.lowered, &compiled.pools, limits, &choices);
                let len = run.output.len() as u64;
                assert!(len >= compiled.min_len(), "{}", ast::dump(&grammar));
                assert!(limits.max_len.is_none_or(|most| len <= most), "{limits:?}\n{}", ast::dump(&grammar));
                assert!(run.consumed <= choices.len() as u64);
                // Bytes that were not read decide nothing, and the bytes that were read are sufficient.
                let read = &choices[..run.consumed as usize];
                let mut longer = read.to_vec();
                longer.extend(rng.bytes(10));
                if (run.consumed as usize) < choices.len() {
                    assert_eq!(render(&compiled.lowered, &compiled.pools, limits, &longer), run);
                }
                assert_eq!(render(&compiled.lowered, &compiled.pools, limits, read), run);
            }
        }
    }
}

#[test]
fn without_choice_bytes_the_output_is_a_shortest() {
    for seed in 0..1000 {
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut Rng::new(seed + 200_000), &shape);
        let compiled = compiled(&grammar);
        let min_len = compiled.min_len();
        let free = render(&compiled.lowered, &compiled.pools, Limits::default(), &[]);
        assert_eq!((free.output.len() as u64, free.consumed), (min_len, 0), "{}", ast::dump(&grammar));
        // If the length leaves only the shortest output, the choice bytes do not matter. Zeros give the same.
        for max_depth in [None, Some(0), Some(2)] {
            let tight = Limits { max_depth, max_len: Some(min_len) };
            let found = render(&compiled.lowered, &compiled.pools, tight, &Rng::new(seed).bytes(300));
            assert_eq!(found.output.len() as u64, min_len, "{}", ast::dump(&grammar));
        }
        let zeros = render(&compiled.lowered, &compiled.pools, Limits::default(), &[0; 5000]);
        assert_eq!(zeros.output, free.output, "{}", ast::dump(&grammar));
    }
}

#[test]
fn traces_tell_what_happened() {
    let (mut pooled, mut sites) = (0, 0);
    for seed in 0..600 {
        let mut rng = Rng::new(seed + 300_000);
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut rng, &shape);
        let Passes { lowered, pools, .. } = passes(&grammar, &Default::default());
        let min_len = lowered.rule(lowered.start()).facts.min_len;
        let choices = rng.choice_string(200);
        for limits in limits(&mut rng, min_len) {
            let mut trace = Trace::default();
            let mut output = b"before".to_vec();
            let mut bytes = choices.iter().copied();
            let consumed = run(&lowered, &pools, limits, &mut || bytes.next(), &mut output, Some(&mut trace));
            let output = output.split_off(6);
            let plain = render(&lowered, &pools, limits, &choices);
            assert_eq!((&plain.output, plain.consumed), (&output, consumed), "a trace changes nothing");
            let context = || format!("{limits:?} {choices:?}\n{}", ast::dump(&grammar));

            let first = &trace.instances[0];
            assert_eq!((first.rule, first.depth, first.pooled), (lowered.start(), 0, false));
            assert_eq!((first.choices.clone(), first.output.clone()), (0..consumed, 0..output.len() as u64));
            // Instances nest: each lies within the instance that refers to it, one level deeper, and begins at or after
            // the end of its left neighbour.
            let mut open: Vec<usize> = Vec::new();
            for (number, instance) in trace.instances.iter().enumerate() {
                while open.len() > instance.depth as usize {
                    let left = &trace.instances[open.pop().expect("not empty")];
                    assert!(left.output.end <= instance.output.start && left.choices.end <= instance.choices.start);
                }
                assert_eq!(open.len(), instance.depth as usize, "a level without an instance: {}", context());
                if let Some(&parent) = open.last() {
                    let parent = &trace.instances[parent];
                    assert!(!parent.pooled, "{}", context());
                    for (inner, outer) in [(&instance.choices, &parent.choices), (&instance.output, &parent.output)] {
                        assert!(outer.start <= inner.start && inner.end <= outer.end, "{}", context());
                    }
                }
                open.push(number);
                let beyond = limits.max_depth.is_some_and(|max_depth| instance.depth > max_depth);
                assert!(!instance.pooled || beyond);
                let string = &output[instance.output.start as usize..instance.output.end as usize];
                let pool = pools.get(instance.rule).expect("strings are short here");
                if instance.pooled {
                    pooled += 1;
                    assert!(pool.strings.iter().any(|pooled| **pooled == *string), "{}", context());
                } else if beyond {
                    // No string of the pool fitted, so this is a part of a shortest derivation, which reads nothing.
                    assert_eq!(string.len() as u64, lowered.rule(instance.rule).facts.min_len, "{}", context());
                    assert!(instance.choices.is_empty(), "{}", context());
                    assert!(limits.max_len.is_some());
                }
            }
            // Sites are in order and cover all bytes that were read.
            assert!(trace.sites.is_sorted_by_key(|site| site.at));
            let mut at = 0;
            for site in &trace.sites {
                assert_eq!(site.at, at, "{}", context());
                assert!(site.option < site.offered && site.offered > 1, "{}", context());
                let weighted = match lowered.node(site.node) {
                    gramjet_compiler::ir::Node::Choice(choice) => choice.slots.as_ref().map(|slots| slots.bits() / 8),
                    _ => None,
                };
                let width = weighted.unwrap_or(match site.offered {
                    ..=256 => 1,
                    257..=65536 => 2,
                    _ => 3,
                });
                at = (at + u64::from(width)).min(choices.len() as u64);
                sites += 1;
            }
            assert_eq!(at, consumed, "{}", context());
        }
    }
    assert!(pooled > 1000 && sites > 10_000, "{pooled} {sites}");
}

#[test]
fn derivations_without_bound_are_refused_with_their_size() {
    let refused = |end: &str, levels: usize| {
        let rules: String = (0..levels).map(|i| format!("r{i} ::= r{0} r{0}\n", i + 1)).collect();
        let file = SourceFile::new("g.ebnf", format!("{rules}r{levels} ::= '{end}'\n"));
        compile(&file, &Options::default()).expect_err("it has no bound").to_plain_text(&file)
    };
    assert!(refused("x", 30).contains(" 536870912 bytes"), "{}", refused("x", 30));
    assert!(refused("x", 90).contains(" 2^64 or more bytes"), "{}", refused("x", 90));
    assert!(refused("", 90).contains(" 2^64 or more steps"), "{}", refused("", 90));
}
