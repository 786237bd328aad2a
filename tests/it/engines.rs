//! E1: every engine gives the output of the reference interpreter and reads as many choice bytes, on the suite and on
//! random grammars. E4: an input of a run does not depend on who computes it.

use gramjet::{BLOCK_INPUTS, Batch, ChoiceSource, Choices, Inputs, Limits, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::reference::{self, render};
use gramjet_emitted_tests::ALL;
use gramjet_engine::jit::{self, Jit};
use gramjet_engine::vm::Vm;
use gramjet_engine::{EngineKind, Fastest};
use gramjet_testkit::amount::{part, seeds};
use gramjet_testkit::emitted::{Subject, random_subjects, subjects};
use gramjet_testkit::suite::run_suite;
use gramjet_testkit::{Draw, Rng, Shape, compiled, random_grammar};

fn limits_of(limits: reference::Limits) -> Limits {
    Limits::new().max_depth(limits.max_depth).max_len(limits.max_len)
}

/// Returns the output of a producer for these limits and choice bytes, after other output that it must not change.
fn produced(producer: &mut dyn Producer, limits: reference::Limits, choices: &[u8]) -> (Vec<u8>, u64) {
    producer.set_limits(limits_of(limits)).expect("limits that can be kept");
    let mut output = b"before".to_vec();
    let mut source = Choices::replay(choices);
    let read = producer.produce(&mut source, &mut output);
    assert_eq!(output[..6], *b"before");
    (output.split_off(6), read)
}

fn emitted(name: &str, forbid_unsafe: bool) -> Box<dyn Producer> {
    let found = ALL.iter().find(|emitted| emitted.name == name && emitted.forbid_unsafe == forbid_unsafe);
    (found.expect("an emitted grammar").producer)()
}

/// Returns the engines that make their code when they are given a grammar, all that this build has.
fn listed(compiled: &Compiled) -> Vec<(&'static str, Box<dyn Producer>)> {
    let kinds = EngineKind::ALL.into_iter().filter(|kind| *kind != EngineKind::Auto && kind.is_available());
    let made = kinds.map(|kind| (kind.name(), kind.make(compiled).unwrap_or_else(|refusal| panic!("{refusal}"))));
    made.map(|(name, engine)| (name, Box::new(engine) as Box<dyn Producer>)).collect()
}

/// Returns the engines that make their code when they are given a grammar, and the code that was emitted for a subject.
fn engines(name: &str, compiled: &Compiled) -> Vec<(&'static str, Box<dyn Producer>)> {
    let emitted = [("rust", emitted(name, false)), ("rust without unsafe", emitted(name, true))];
    listed(compiled).into_iter().chain(emitted).collect()
}

#[test]
fn every_engine_runs_the_suite() {
    for kind in EngineKind::ALL.into_iter().filter(|kind| kind.is_available()) {
        run_suite(&mut |case, limits, choices| {
            let mut engine = kind.make(&case.compiled).unwrap_or_else(|refusal| panic!("{refusal}"));
            produced(&mut engine, limits, choices)
        });
    }
}

#[test]
fn the_vm_that_counts_levels_runs_the_suite() {
    run_suite(&mut |case, limits, choices| produced(&mut Vm::without_unfolding(&case.compiled), limits, choices));
}

/// Returns the JIT whose code counts levels at run time; where there is none, the table interpreter, as everywhere.
fn counting_jit(compiled: &Compiled) -> Box<dyn Producer> {
    or_vm(Jit::without_unfolding(compiled), compiled)
}

fn or_vm(jit: Result<Jit, jit::NotCompiled>, compiled: &Compiled) -> Box<dyn Producer> {
    match jit {
        Ok(jit) => Box::new(jit),
        Err(problem) => {
            assert!(!jit::is_available(), "{problem}");
            Box::new(Vm::new(compiled))
        }
    }
}

#[test]
fn the_jit_that_counts_levels_runs_the_suite() {
    run_suite(&mut |case, limits, choices| produced(&mut counting_jit(&case.compiled), limits, choices));
}

#[test]
fn emitted_rust_runs_the_suite() {
    run_suite(&mut |case, limits, choices| produced(&mut emitted(&case.name, false), limits, choices));
}

#[test]
fn emitted_rust_without_unsafe_runs_the_suite() {
    run_suite(&mut |case, limits, choices| produced(&mut emitted(&case.name, true), limits, choices));
}

/// Holds engines against the reference on random choice strings and limits, every other time the depth limit that is
/// `stated`; returns how many bytes they agreed on.
fn agree(
    name: &str,
    compiled: &Compiled,
    stated: Option<u32>,
    rng: &mut Rng,
    runs: usize,
    engines: &mut [(&str, Box<dyn Producer>)],
) -> usize {
    let mut agreed = 0;
    let has_pools = compiled.rule_without_pool().is_none();
    for _ in 0..runs {
        let choices = rng.choice_string(300);
        let depth = [2, 5, 30][rng.below(3)];
        let drawn = Some(rng.below(depth) as u32).filter(|_| has_pools);
        let max_depth = stated.filter(|_| rng.percent(50)).or(drawn);
        let max_len = Some(compiled.min_len() + rng.below(60) as u64);
        for (max_depth, max_len) in [(None, None), (max_depth, None), (None, max_len), (max_depth, max_len)] {
            let limits = reference::Limits { max_depth, max_len };
            let expected = render(&compiled.lowered, &compiled.pools, limits, &choices);
            for (engine, producer) in engines.iter_mut() {
                let (output, read) = produced(&mut **producer, limits, &choices);
                assert!(
                    (&output, read) == (&expected.output, expected.consumed),
                    "{engine} on {name}, {limits:?}, {choices:?}\nexpected \"{}\" {}\nfound    \"{}\" {read}\nof\n{}\n{}",
                    expected.output.escape_ascii(),
                    expected.consumed,
                    output.escape_ascii(),
                    gramjet_compiler::ir::print(&compiled.lowered),
                    gramjet_compiler::ir::print(&compiled.residual)
                );
                agreed += output.len();
            }
        }
    }
    agreed
}

#[test]
fn all_engines_agree_on_emitted_grammars() {
    let mut rng = Rng::new(5);
    for subject in subjects() {
        let runs = match subject.name.split('-').next() {
            Some("random") => part(40),
            Some("chains") => part(400),
            _ => part(8),
        };
        let mut engines = engines(&subject.name, &subject.compiled);
        engines.push(("jit that counts levels", counting_jit(&subject.compiled)));
        agree(&subject.name, &subject.compiled, subject.max_depth, &mut rng, runs as usize, &mut engines);
    }
}

/// An engine that begins with limits is one whose limits were set; what no output can keep is not begun with.
#[test]
fn engines_begin_with_limits() {
    let mut rng = Rng::new(31);
    for subject in random_subjects() {
        let compiled = &subject.compiled;
        let depth = Some(rng.below(20) as u32).filter(|_| compiled.rule_without_pool().is_none());
        for (depth, length) in [(None, None), (depth, None), (depth, Some(compiled.min_len() + 40))] {
            let limits = Limits::new().max_depth(depth).max_len(length);
            let begun: [Box<dyn Producer>; 2] =
                [Box::new(Vm::with_limits(compiled, limits)), Box::new(Fastest::with_limits(compiled, limits))];
            for mut producer in begun {
                assert_eq!(producer.limits(), limits);
                let choices = rng.choice_string(300);
                let mut output = Vec::new();
                let read = producer.produce(&mut Choices::replay(&choices), &mut output);
                let asked = reference::Limits { max_depth: depth, max_len: length };
                let expected = render(&compiled.lowered, &compiled.pools, asked, &choices);
                assert!((output, read) == (expected.output, expected.consumed), "{}, {limits:?}", subject.name);
            }
        }
        let too_short = compiled.min_len().checked_sub(1).map(|len| Limits::new().max_len(len));
        let too_deep = compiled.rule_without_pool().map(|_| Limits::new().max_depth(5u32));
        for impossible in [too_short, too_deep].into_iter().flatten() {
            assert_eq!(Vm::with_limits(compiled, impossible).limits(), Vm::new(compiled).limits());
            assert_eq!(Fastest::with_limits(compiled, impossible).limits(), Fastest::new(compiled).limits());
        }
    }
}

/// Returns the engines that need no build step.
fn engines_at_run_time(compiled: &Compiled) -> Vec<(&'static str, Box<dyn Producer>)> {
    let counting: [(&str, Box<dyn Producer>); 2] = [
        ("vm that counts levels", Box::new(Vm::without_unfolding(compiled))),
        ("jit that counts levels", counting_jit(compiled)),
    ];
    listed(compiled).into_iter().filter(|(name, _)| *name != EngineKind::Reference.name()).chain(counting).collect()
}

/// Holds engines against the reference on random grammars.
fn engines_agree(
    seeds: std::ops::Range<u64>,
    shape: &Shape,
    runs: usize,
    engines: impl Fn(&Compiled) -> Vec<(&'static str, Box<dyn Producer>)>,
) {
    let mut agreed = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let compiled = compiled(&random_grammar(&mut rng, shape));
        agreed += agree(&format!("seed {seed}"), &compiled, None, &mut rng, runs, &mut engines(&compiled));
    }
    assert!(agreed > part(100_000) as usize, "{agreed}");
}

// 80 000 and 24 000 cases (grammar, limits, choice string) for each engine in a long run.
#[test]
fn engines_agree_on_small_grammars() {
    engines_agree(seeds(50_000..52_000), &Shape::ENUMERABLE, 10, engines_at_run_time);
}

#[test]
fn engines_agree_on_varied_grammars() {
    engines_agree(seeds(60_000..60_500), &Shape::VARIED, 12, engines_at_run_time);
}

#[test]
#[ignore = "takes minutes"]
fn the_engines_agree_in_a_long_run() {
    engines_agree(100_000..110_000, &Shape::ENUMERABLE, 15, engines_at_run_time);
    engines_agree(200_000..206_000, &Shape::VARIED, 20, engines_at_run_time);
}

/// Returns the first `count` inputs from input `from` on, each with what it read.
fn inputs(producer: Box<dyn Producer>, seed: u64, from_block: u64, count: u64) -> Vec<(Vec<u8>, u64)> {
    let mut inputs = Inputs::new(producer, seed);
    if from_block > 0 {
        inputs.seek_block(from_block);
    }
    assert_eq!(inputs.position(), from_block * BLOCK_INPUTS);
    let mut next = || {
        let mut output = Vec::new();
        let read = inputs.append_to(&mut output);
        (output, read)
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn inputs_depend_on_seed_and_number_alone() {
    let limits = Limits::new().max_depth(6u32).max_len(400u64);
    for subject in random_subjects().filter(|subject| subject.compiled.rule_without_pool().is_none()).take(30) {
        let limits = limits.max_len(limits.length().map(|len| len.max(subject.compiled.min_len())));
        let names: Vec<&str> = engines(&subject.name, &subject.compiled).into_iter().map(|(name, _)| name).collect();
        let make = |engine: usize| {
            let mut producer = engines(&subject.name, &subject.compiled).swap_remove(engine).1;
            producer.set_limits(limits).expect("limits that can be kept");
            producer
        };
        let count = BLOCK_INPUTS * 2 + 50;
        let whole = inputs(make(0), 9, 0, count);
        for (engine, name) in names.iter().enumerate() {
            assert!(inputs(make(engine), 9, 0, count) == whole, "{name}, {}", subject.name);
            for block in [2, 1] {
                let rest = &whole[(block * BLOCK_INPUTS) as usize..];
                let found = inputs(make(engine), 9, block, rest.len() as u64);
                assert!(found == rest, "{name}, block {block}, {}", subject.name);
            }
        }
        assert!(whole.iter().all(|(output, _)| limits.length().is_none_or(|most| output.len() as u64 <= most)));
        let other = inputs(make(1), 10, 0, count);
        assert!(
            whole.iter().all(|(_, read)| *read == 0) || other != whole,
            "{}: another seed, the same run",
            subject.name
        );
    }
}

#[test]
fn a_bound_on_choice_bytes_is_the_end_of_the_choice_bytes() {
    let mut rng = Rng::new(11);
    for subject in random_subjects() {
        for (_, mut producer) in engines(&subject.name, &subject.compiled) {
            for most in [0, 1, 2, 3, 7, 50] {
                let choices = rng.bytes(100);
                let cut = render(
                    &subject.compiled.lowered,
                    &subject.compiled.pools,
                    reference::Limits::default(),
                    &choices[..most],
                );
                producer.set_limits(Limits::new().max_choices(most as u64)).expect("limits that can be kept");
                let mut output = Vec::new();
                let read = producer.produce(&mut Choices::replay(&choices), &mut output);
                assert_eq!((output, read), (cut.output, cut.consumed), "{}, {most}", subject.name);
            }
        }
    }
}

/// Returns some of the random grammars that can keep a limit on depth, all in a long run.
fn some_with_pools() -> impl Iterator<Item = Subject> {
    let subjects: Vec<Subject> = random_subjects().collect();
    let step = subjects.len() / part(subjects.len() as u64) as usize;
    subjects.into_iter().step_by(step).filter(|subject| subject.compiled.rule_without_pool().is_none())
}

/// A batch is what as many single calls make, whatever ends it and wherever the choice bytes run out.
#[test]
fn batches_are_the_inputs_one_by_one() {
    let mut rng = Rng::new(12);
    for subject in some_with_pools() {
        let fastest: (&str, Box<dyn Producer>) = ("fastest", Box::new(Fastest::new(&subject.compiled)));
        let engines = engines(&subject.name, &subject.compiled).into_iter().chain([fastest]);
        let bytes: &'static [u8] = rng.bytes(400).leak();
        for (_, mut producer) in engines {
            let cases: [(u64, Option<u32>, usize, &[u8]); 4] = [
                (3, None, 60, b", "),
                (40, Some(4), 5000, b""),
                (1 << 20, Some(6), 20_000, b", "),
                (1 << 20, Some(6), 20_000, b"longer than a word"),
            ];
            for (most, depth, full, separator) in cases {
                producer.set_limits(Limits::new().max_choices(most).max_depth(depth)).expect("limits that can be kept");
                for (mut one, mut other) in
                    [(Choices::replay(bytes), Choices::replay(bytes)), (Choices::random(most), Choices::random(most))]
                {
                    let (mut expected, mut expected_ends, mut expected_read) = (b"before".to_vec(), Vec::new(), 0);
                    while expected_ends.len() < 50 && expected.len() < full {
                        expected_read += producer.produce(&mut one, &mut expected);
                        expected.extend(separator);
                        expected_ends.push(expected.len());
                    }
                    let (mut found, mut ends) = (b"before".to_vec(), Vec::new());
                    let mut batch = Batch::new(50, &mut ends).until_full(full).separator(separator);
                    let read = producer.produce_batch(&mut other, &mut found, &mut batch);
                    assert!(found == expected, "{}, {most}", subject.name);
                    assert_eq!((ends, read), (expected_ends, expected_read), "{}, {most}", subject.name);
                    assert_eq!(one.next_byte(), other.next_byte(), "{}, {most}", subject.name);
                }
            }
        }
    }
}

/// Nesting far beyond a thread's stack: every engine goes on to the end.
#[test]
fn deep_nesting_does_not_overflow() {
    let (name, levels) = ("length-of-recursion", 300_000);
    let choices = vec![0xFF; levels];
    let expected = [b"(".repeat(levels), b"x".to_vec(), b")".repeat(levels)].concat();
    let case = subjects().into_iter().find(|subject| subject.name == name).expect("a case of the suite");
    for (engine, mut producer) in engines(name, &case.compiled) {
        let limits = reference::Limits::default();
        let (output, read) = produced(&mut *producer, limits, &choices);
        assert!(output == expected && read == levels as u64, "{engine}: {} bytes, {read} read", output.len());
    }
}

/// Hands out some bytes, then panics.
struct Failing(usize);

impl ChoiceSource for Failing {
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        assert!(self.0 > 0, "the source fails");
        let count = self.0.min(buffer.len());
        buffer[..count].fill(0xFF);
        self.0 -= count;
        count
    }
}

/// A choice source that panics leaves the inputs before it, nothing of its own, and an engine that works.
#[test]
fn a_source_that_panics_leaves_whole_inputs() {
    let subject = subjects().into_iter().find(|subject| subject.name == "length-of-recursion").expect("a case");
    let engines = engines(&subject.name, &subject.compiled).into_iter();
    for (engine, mut producer) in engines.filter(|(name, _)| *name != EngineKind::Reference.name()) {
        producer.set_limits(Limits::new()).expect("limits that can be kept");
        for (bytes, most) in [(0, u64::MAX), (5000, u64::MAX), (5000, 40)] {
            producer.set_limits(Limits::new().max_choices(most)).expect("limits that can be kept");
            let mut source = Failing(bytes);
            let (mut output, mut ends) = (b"before".to_vec(), Vec::new());
            let run = std::panic::AssertUnwindSafe(|| {
                let mut choices = Choices::from_source(&mut source);
                producer.produce_batch(&mut choices, &mut output, &mut Batch::new(1 << 20, &mut ends))
            });
            assert!(std::panic::catch_unwind(run).is_err(), "{engine}");
            assert_eq!(output.len(), ends.last().copied().unwrap_or(6), "{engine}");
            assert_eq!(ends.is_empty(), most == u64::MAX, "{engine}");
        }
        let (output, _) = produced(&mut *producer, reference::Limits::default(), &[0xFF]);
        assert_eq!(output, b"(x)", "{engine}");
    }
}
