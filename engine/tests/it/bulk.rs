//! The bulk engine: its probabilities (E3), its blocks (E4), and what it does with hostile grammars (E6).

use std::collections::BTreeMap;
use std::sync::Arc;

use gramjet::{Inputs, Limits};
use gramjet_compiler::analysis::pools::pools;
use gramjet_compiler::ir::Ir;
use gramjet_compiler::sources::Sources;
use gramjet_compiler::{Compiled, reference};
use gramjet_engine::bulk::{Bulk, Effort, Framing, NotInBulk, Simd};
use gramjet_engine::reference::Reference;
use gramjet_testkit::amount;
use gramjet_testkit::form::System;
use gramjet_testkit::probability::{Drawing, distribution};
use gramjet_testkit::statistics::{chi_square, chi_square_bound};
use gramjet_testkit::{Rng, Shape, random_grammar};

use crate::kit::compiled;

const SHIPPED: [&str; 5] = ["expr", "json", "html", "css", "xml"];

fn shipped(name: &str) -> Compiled {
    let path = format!("{}/../grammars/{name}.ebnf", env!("CARGO_MANIFEST_DIR"));
    compiled(&path, &std::fs::read_to_string(&path).expect("a shipped grammar"))
}

fn bulk(compiled: &Compiled, limits: Limits) -> Bulk {
    Bulk::new(compiled, limits, Framing::default(), Effort::default()).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn depth(max_depth: impl Into<Option<u32>>) -> Limits {
    Limits::new().max_depth(max_depth)
}

/// Returns the first inputs of a run.
fn inputs(bulk: &mut Bulk, count: usize) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    while inputs.len() < count {
        let block = bulk.next_block();
        let mut start = 0;
        for &end in block.ends {
            inputs.push(block.bytes[start..end].to_vec());
            start = end;
        }
        assert_eq!(start, block.bytes.len());
    }
    inputs.truncate(count);
    inputs
}

/// Counts inputs and holds them against exact probabilities, with a significance of 1e-6.
fn check_distribution(name: &str, compiled: &Compiled, max_depth: Option<u32>, effort: Effort, count: u64) -> bool {
    let system = System::of_ir(&compiled.lowered);
    let limits = reference::Limits { max_depth, ..reference::Limits::default() };
    let exact = distribution(&system, &compiled.pools, limits, Drawing::Exact, 1e-7);
    if exact.len() < 2 || exact.values().sum::<f64>() < 1.0 - 1e-6 {
        return false;
    }
    let mut bulk = Bulk::new(compiled, depth(max_depth), Framing::default(), effort).expect("small tables");
    bulk.restart(42, 0);
    let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for input in inputs(&mut bulk, count as usize) {
        *counts.entry(input).or_default() += 1;
    }
    for input in counts.keys() {
        assert!(
            exact.contains_key(input),
            "{name} {max_depth:?}: {:?} is not derived",
            input.escape_ascii().to_string()
        );
    }
    let cells = exact.iter().map(|(input, &probability)| (counts.get(input).copied().unwrap_or(0), probability));
    let (statistic, freedom) = chi_square(cells, count);
    let bound = chi_square_bound(freedom);
    assert!(statistic <= bound, "{name} {max_depth:?}: chi-square {statistic} of {freedom}, at most {bound}");
    true
}

#[test]
fn inputs_have_their_exact_probabilities() {
    let tiny = Effort { records: 1024, work: 0 };
    let (mut checked, mut grammars) = (0, 0);
    let subjects = [
        ("classes.ebnf", "s ::= [a-c#xE9#x4E00-#x4E02#x1F600] [0-9] | #b00 | #bFF | [#b80-#b8F]"),
        ("weights.ebnf", "s ::= 'a' @ 1 | 'b' @ 2.5 | 'c' @ 0.004 | t @ 3  t ::= 'x' s? 'y' @ 0.3 | 'z' @ 0.7"),
        ("rounds.ebnf", "s ::= [ab]{0,3} 'x'{2} ('c' | 'd'){1,2}"),
        ("pools.ebnf", "s ::= t t  t ::= u u | '(' t ')'  u ::= [0-4] | 'a' | 'bc' | 'de' | '<' s '>'"),
        ("empty.ebnf", "s ::= '' | 'a'? 'b'?"),
        (
            "long.ebnf",
            "s ::= 'this literal is longer than what a record holds, by far' t t  t ::= '' | 'and so is this one, is it not'",
        ),
        (
            "codes.ebnf",
            "s ::= r | '!!!!!!!' s   r ::= [acegikmoqs] [#bF0-#bF1] [acegikmoqs] #b21 | [pq] 'zz' [pq] [pq] '!' '!'",
        ),
        ("nested.ebnf", "s ::= '(' s ')' | '[' s s ']' | 'x' | 'yy'"),
    ];
    for (name, text) in amount::some(subjects, 3) {
        grammars += 1;
        let compiled = compiled(name, text);
        for max_depth in [None, Some(0), Some(1), Some(2), Some(3)] {
            checked +=
                u32::from(check_distribution(name, &compiled, max_depth, Effort::default(), amount::part(100_000)));
            checked += u32::from(check_distribution(name, &compiled, max_depth, tiny, 20_000));
        }
    }
    assert!(checked > 6 * grammars, "{checked}");
}

#[test]
fn inputs_of_random_grammars_have_their_exact_probabilities() {
    let mut checked = 0;
    for seed in amount::seeds(0..150) {
        let shape = if seed % 3 == 0 { Shape::FINITE } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut Rng::new(seed + 7000), &shape);
        let compiled = gramjet_testkit::compiled(&grammar);
        if compiled.rule_without_pool().is_some() {
            continue;
        }
        let max_depth = [None, Some(0), Some(1), Some(2)][seed as usize % 4];
        if max_depth.is_none() && !matches!(seed % 3, 0) {
            continue;
        }
        let records = if seed % 2 == 0 { 2048 } else { 1 << 14 };
        let effort = Effort { records, work: 2 * records };
        checked += u32::from(check_distribution(&format!("seed {seed}"), &compiled, max_depth, effort, 20_000));
    }
    assert!(checked >= amount::part(40) as u32, "{checked}");
}

/// Returns the lowered form with a mark in front of each rule's body, by which its instances are counted.
fn marked(compiled: &Compiled) -> Compiled {
    let mut ir = compiled.lowered.same_rules();
    fn copy(from: &Ir, to: &mut Ir, node: gramjet_compiler::ir::NodeId) -> gramjet_compiler::ir::NodeId {
        let children = from.children(node).iter().map(|&child| copy(from, to, child)).collect();
        to.rebuild(from, node, children)
    }
    for (rule, body) in compiled.lowered.bodies() {
        let index = rule.index() as u16;
        let mark = ir.bytes([1, 0x20 + (index >> 5) as u8, 0x20 + (index & 31) as u8]);
        let body = copy(&compiled.lowered, &mut ir, body);
        let body = ir.seq([mark, body]);
        ir.set_body(rule, body);
    }
    let pools = pools(&ir);
    let ir = Arc::new(ir);
    let (sources, lowered) = (Sources::default().into(), ir.clone());
    Compiled { lowered, pools, residual: ir.into(), sources, max_depth: None, max_len: None, ..compiled.clone() }
}

/// Compares the means of two samples of numbers: Welch's statistic, which is about normal for large samples.
fn same_mean(a: &[f64], b: &[f64]) -> f64 {
    let moments = |sample: &[f64]| {
        let mean = sample.iter().sum::<f64>() / sample.len() as f64;
        let variance = sample.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (sample.len() - 1) as f64;
        (mean, variance / sample.len() as f64)
    };
    let ((mean_a, a), (mean_b, b)) = (moments(a), moments(b));
    if mean_a == mean_b { 0.0 } else { (mean_a - mean_b) / (a + b).sqrt() }
}

/// Returns the greatest distance of the empirical distributions of two samples, over what it exceeds with probability
/// 1e-6 (Smirnov 1939).
fn distance(a: &mut [f64], b: &mut [f64]) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let share =
        |sample: &[f64], value: f64| sample.partition_point(|&other| other <= value) as f64 / sample.len() as f64;
    let greatest = a.iter().chain(b.iter()).map(|&value| (share(a, value) - share(b, value)).abs()).fold(0.0, f64::max);
    let (n, m) = (a.len() as f64, b.len() as f64);
    greatest / ((2e6f64.ln() / 2.0).sqrt() * ((n + m) / (n * m)).sqrt())
}

#[test]
fn lengths_and_rules_are_those_of_the_reference() {
    const COUNT: usize = 4000;
    for name in amount::some(SHIPPED, 3) {
        let marked = marked(&shipped(name));
        for max_depth in [6, 24] {
            let limits = depth(max_depth);
            let in_bulk = inputs(&mut bulk(&marked, limits), COUNT);
            let mut reference = Reference::new(&marked);
            gramjet::Producer::set_limits(&mut reference, limits).expect("a limit that can be kept");
            let replayed: Vec<Vec<u8>> = Inputs::new(reference, 5).take(COUNT).collect();
            let lengths = |inputs: &[Vec<u8>]| inputs.iter().map(|input| input.len() as f64).collect::<Vec<f64>>();
            let ratio = distance(&mut lengths(&in_bulk), &mut lengths(&replayed));
            assert!(ratio < 1.0, "{name} {max_depth}: lengths differ by {ratio} of the bound");
            let rules = marked.lowered.rules().len();
            let counts = |inputs: &[Vec<u8>]| {
                let mut counts = vec![vec![0.0; inputs.len()]; rules];
                for (number, input) in inputs.iter().enumerate() {
                    for at in (0..input.len()).filter(|&at| input[at] == 1) {
                        let rule = usize::from(input[at + 1] - 0x20) << 5 | usize::from(input[at + 2] - 0x20);
                        counts[rule][number] += 1.0;
                    }
                }
                counts
            };
            for (rule, (a, b)) in counts(&in_bulk).iter().zip(&counts(&replayed)).enumerate() {
                // Where an instance is rare its number is not near enough to normal.
                if a.iter().chain(b).filter(|&&count| count > 0.0).count() > 100 {
                    let deviate = same_mean(a, b);
                    let rule = &marked.lowered.rules()[rule].name;
                    assert!(deviate.abs() < 6.0, "{name} {max_depth}: rule {rule} differs by {deviate} deviations");
                }
            }
        }
    }
}

#[test]
fn all_processors_make_the_same_bytes() {
    let binary = "s ::= r+  r ::= [#b00-#bFF] | [#x80-#xFFFF] [a-zA-Z0-9_] | [bdfhjlnprtvxz] s? | 'x'{3} | [aeiou#b01#b03#b05#b07#b09]";
    let mut subjects: Vec<(String, Compiled)> = vec![("binary".into(), compiled("binary.ebnf", binary))];
    subjects.extend(SHIPPED.iter().map(|name| (name.to_string(), shipped(name))));
    for (name, compiled) in amount::some(subjects, 2) {
        for max_depth in [4, 40] {
            let made = bulk(&compiled, depth(max_depth));
            let run = |simd| {
                let mut bulk = made.fork().with_simd(simd);
                bulk.restart(9, 3);
                (0..20)
                    .map(|_| {
                        let block = bulk.next_block();
                        (block.bytes.to_vec(), block.ends.to_vec())
                    })
                    .collect::<Vec<_>>()
            };
            let portable = run(Simd::Portable);
            for simd in [Simd::Avx2, Simd::Avx512] {
                assert!(run(simd) == portable, "{name} {max_depth} {simd:?}");
            }
            // Any block is made without the others.
            let mut one = made.fork();
            one.restart(9, 11);
            assert!(one.next_block().bytes == portable[8].0, "{name} {max_depth}");
        }
    }
}

#[test]
fn blocks_can_be_taken_in_any_selection() {
    let made = bulk(&shipped("json"), depth(16));
    let mut all = made.fork();
    all.restart(3, 0);
    let blocks: Vec<Vec<u8>> = (0..40).map(|_| all.next_block().bytes.to_vec()).collect();
    let mut some = made.fork();
    some.restart(3, 0);
    let mut numbers = [0, 1, 5, 6, 7, 20, 21, 22, 23, 24, 25, 39].into_iter();
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    let mut taken = Vec::new();
    while let Some(number) = some.take_block(&mut || numbers.next(), &|| false, &mut text, &mut ends) {
        assert!(text == blocks[number as usize]);
        assert_eq!(ends.len() as u64, made.block_inputs());
        taken.push(number);
    }
    assert_eq!(taken, [0, 1, 5, 6, 7, 20, 21, 22, 23, 24, 25, 39]);
}

#[test]
fn inputs_stand_in_their_frames() {
    let compiled = compiled("frames.ebnf", "s ::= '' | [a-z]+ | '(' s ')'");
    let framing = |before, behind: &[u8]| Framing { before, behind: behind.to_vec() };
    let bare = inputs(&mut bulk(&compiled, depth(8)), 5000);
    assert!(bare.iter().any(Vec::is_empty));
    for framing in [framing(0, b"\n"), framing(4, b""), framing(2, b"--")] {
        let mut bulk = Bulk::new(&compiled, depth(8), framing.clone(), Effort::default()).expect("small tables");
        let mut seen = 0;
        while seen < 5000 {
            let block = bulk.next_block();
            let mut start = 0;
            for &end in block.ends {
                assert_eq!(block.bytes[start..start + framing.before], vec![0; framing.before]);
                assert!(
                    block.bytes[start + framing.before..end]
                        .iter()
                        .all(|byte| b"()abcdefghijklmnopqrstuvwxyz".contains(byte))
                );
                assert!(block.bytes[end..].starts_with(&framing.behind));
                start = end + framing.behind.len();
                seen += 1;
            }
            assert_eq!(start, block.bytes.len());
        }
    }
    let long = framing(20, b"more than fits");
    assert_eq!(Bulk::new(&compiled, depth(8), long, Effort::default()).err(), Some(NotInBulk::Framing));
}

#[test]
fn what_does_not_fit_is_refused() {
    let refusal =
        |compiled: &Compiled, limits| Bulk::new(compiled, limits, Framing::default(), Effort::default()).err();
    let nested = compiled("nested.ebnf", "s ::= 'x' | '(' s ')'");
    assert_eq!(refusal(&nested, Limits::new().max_len(100)), Some(NotInBulk::MaxLen));
    assert_eq!(refusal(&nested, depth(u32::MAX)), Some(NotInBulk::MaxDepth));
    let wide: Vec<String> = (0..70_000).map(|number| format!("'{number}'")).collect();
    let wide = compiled("wide.ebnf", &format!("s ::= {}", wide.join(" | ")));
    assert_eq!(refusal(&wide, depth(3)), Some(NotInBulk::TooLarge));
}

#[test]
fn hostile_grammars_end() {
    // Without a limit its mean length is infinite: inputs are completed after the bound.
    let nested = compiled("nested.ebnf", "s ::= 'x' | '(' s s ')' | '[' s s s ']'");
    let mut bulk =
        Bulk::new(&nested, Limits::new().max_output(1 << 16), Framing::default(), Effort::default()).unwrap();
    let made = inputs(&mut bulk, 60);
    assert!(made.iter().any(|input| input.len() > 1 << 16));
    for input in &made {
        let mut open = Vec::new();
        for &byte in input {
            match byte {
                b'(' | b'[' => open.push(byte),
                b')' => assert_eq!(open.pop(), Some(b'(')),
                b']' => assert_eq!(open.pop(), Some(b'[')),
                _ => assert_eq!(byte, b'x'),
            }
        }
        assert!(open.is_empty() && input.len() < 1 << 18);
    }
    let subjects = [
        ("counted", "s ::= ('a' | 'b'){1000} [xyz]{0,100000} 'c'{70000}"),
        ("completed", "s ::= 'x' | 'y' | '(' s s s ')' | '[' s s s ']' | '<' s s s s '>'"),
        ("silent", "s ::= s s s | '' | t  t ::= s s"),
        ("all", "s ::= [#b00-#bFF]{4} | #b00 #b01 #b7F #b80 #bFE #bFF"),
        ("left", "s ::= s 'a' | s s | 'b' | ''"),
        ("one", "s ::= ''"),
        ("powers", "s ::= a a  a ::= b b  b ::= c c  c ::= d d  d ::= e e  e ::= f f  f ::= g g  g ::= '' | 'x' s"),
        ("cycle", "s ::= s | t | 'x'  t ::= s | s s s s | ''"),
    ];
    for (name, text) in amount::some(subjects, 3) {
        let compiled = compiled(&format!("{name}.ebnf"), text);
        for max_depth in [None, Some(0), Some(1), Some(5), Some(100)] {
            let limits = depth(max_depth).max_output(1 << 16).max_choices(1 << 20);
            match Bulk::new(&compiled, limits, Framing::default(), Effort::default()) {
                Ok(mut bulk) => drop(inputs(&mut bulk, 20)),
                Err(refusal) => assert!(matches!(refusal, NotInBulk::TooLarge | NotInBulk::NoPool), "{name} {refusal}"),
            }
        }
    }
}

#[test]
fn tables_are_the_same_each_time() {
    let compiled = shipped("json");
    let first = inputs(&mut bulk(&compiled, depth(12)), 3000);
    assert!(inputs(&mut bulk(&compiled, depth(12)), 3000) == first);
}

/// Each part of the work makes more bytes a step: a sketch, the default, several times the default.
#[test]
fn more_work_makes_more_bytes_a_step() {
    let compiled = shipped("html");
    let mean_step = |effort| {
        let framing = Framing { before: 0, behind: b"\n".to_vec() };
        Bulk::new(&compiled, depth(8), framing, effort).expect("tables that fit").mean_step()
    };
    let [sketch, default, more] = [Effort::SKETCH, Effort::default(), Effort::times(4)].map(mean_step);
    assert!(1.1 * sketch < default, "{sketch} {default}");
    assert!(1.1 * default < more, "{default} {more}");
}

/// With a far limit most steps are made far below what is left of the depth at first; plans are judged by those, too.
#[test]
fn far_limits_make_as_many_bytes_a_step() {
    let compiled = shipped("expr");
    for max_depth in [32, 100, 128, 200] {
        let step = bulk(&compiled, depth(max_depth)).mean_step();
        assert!(step > 2.0, "{max_depth}: {step}");
    }
}

/// Where tables stay small, the caches are no reason to stop: more work makes them finer.
#[test]
fn small_tables_are_made_finer() {
    let compiled = compiled(
        "small.ebnf",
        "s ::= a a a a a a a a b\na ::= '' | 'x' c\nb ::= '' | 'yy'\nc ::= '' | 'z' d\nd ::= '' | '!'",
    );
    let [default, more] = [1, 16].map(|factor| {
        let bulk = Bulk::new(&compiled, depth(8), Framing::default(), Effort::times(factor)).expect("small tables");
        bulk.mean_step()
    });
    assert!(more > 1.03 * default, "{default} {more}");
}

#[test]
fn buffers_are_filled_with_whole_inputs() {
    let compiled = compiled("fill.ebnf", "s ::= '' | [a-z]+ | '(' s ')' | 'thirty bytes of one literal...'");
    let framing = Framing { before: 0, behind: b"\n".to_vec() };
    let made = Bulk::new(&compiled, depth(8), framing, Effort::default()).expect("small tables");
    let mut blocks = made.fork();
    let expected: Vec<u8> = (0..3).flat_map(|_| blocks.next_block().bytes.to_vec()).collect();
    let mut filling = made.fork();
    let (mut found, mut ends) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; 1000];
    while found.len() < expected.len() {
        ends.clear();
        let used = filling.fill(&mut buffer, &mut ends);
        assert!(used > 900 && ends.iter().all(|&end| buffer[end] == b'\n'), "{used}");
        assert_eq!(ends.last().map(|end| end + 1), Some(used));
        found.extend_from_slice(&buffer[..used]);
    }
    assert!(found[..expected.len()] == expected);
    assert_eq!(filling.fill(&mut [], &mut ends), 0);
}
