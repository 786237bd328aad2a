//! E6: hostile grammars end in a diagnostic or in a working grammar: soon, in bounded memory, without a panic or a
//! stack overflow.
//!
//! Each grammar is compiled in a process of its own, with its own weights and in a shape.

use std::time::Instant;

use gramjet_compiler::backend::rust::{EmitOptions, emit};
use gramjet_compiler::passes::{MAX_UNFOLDED_NODES, optimise_unfolded};
use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::shape::{Shape, Weighting};
use gramjet_compiler::{Compiled, Options, SourceFile, compile, examine};
use gramjet_testkit::Rng;
use gramjet_testkit::amount;
use gramjet_testkit::emitted::CHAINS_IN_CHAINS;

use crate::children::{self, Meter};

/// Returns a smaller count for debug builds, which verify the IR after each pass.
fn many(count: usize) -> usize {
    some(if cfg!(debug_assertions) { count / 20 } else { count })
}

/// Returns a smaller count for short runs.
fn some(count: usize) -> usize {
    amount::part(count as u64) as usize
}

/// A grammar's name and the function that makes its text.
type Hostile = (&'static str, fn() -> String);

/// Returns the hostile grammars.
fn grammars() -> Vec<Hostile> {
    vec![
        ("literal-10-mb", || format!("s ::= '{}'", "x".repeat(some(10_000_000)))),
        ("alternatives-10-mb", || format!("s ::= 'a'{}", "|'a'".repeat(many(2_500_000)))),
        ("sequence-10-mb", || format!("s ::= {}", "'ab' ".repeat(many(2_000_000)))),
        ("name-10-mb", || format!("{0} ::= 'x' | {0} 'y'", "n".repeat(some(5_000_000)))),
        ("groups-1e6", || format!("s ::= {}'x'{}", "(".repeat(1_000_000), ")".repeat(1_000_000))),
        ("groups-190-of-repetitions", || format!("s ::= {}'x'{}", "(".repeat(90), ")*".repeat(90))),
        ("groups-190-of-many-rounds", || format!("s ::= {}'x'{}", "(".repeat(90), "){2,3}".repeat(90))),
        ("groups-190-of-choices", || format!("s ::= {}'x'{}", "('y'|".repeat(90), ")".repeat(90))),
        ("alternatives-70000", || format!("s ::= 'a'{}", numbered(70_000, |i| format!(" | 'b{i}'")))),
        ("alternatives-with-weights", || {
            format!("s ::= 'a'{}", numbered(many(300_000), |i| format!(" | 'b' @ 0.{i:06}1")))
        }),
        ("alternatives-of-rules", || {
            format!(
                "s ::= r0{}\n{}",
                numbered(many(200_000), |i| format!(" | r{i}")),
                numbered(many(200_000), |i| format!("r{i} ::= 'x{i}'\n"))
            )
        }),
        ("unit-cycle", || cycle(many(300_000), |next| format!("{next} | 'x'"))),
        ("unit-cycle-without-end", || cycle(many(300_000), |next| next.to_string())),
        ("left-recursion", || cycle(many(200_000), |next| format!("{next} 'x' | 'y'"))),
        ("right-recursion", || cycle(many(200_000), |next| format!("'x' {next} | 'y'"))),
        ("nested-recursion", || cycle(many(200_000), |next| format!("'(' {next} ')' | {next} {next} | 'y'"))),
        // Each term is far from the one before in memory.
        ("scattered-recursion", || {
            let rules = many(170_000);
            numbered(rules, |i| format!("r{i} ::= 'a' r{} r{} | 'x'\n", i * 104_729 % rules, (i * 7919 + 1) % rules))
        }),
        ("nullable-cycle", || cycle(many(200_000), |next| format!("{next}* {next}?"))),
        ("nullable-self", || "s ::= (s | '' | s s | (s?)* )*".into()),
        ("all-to-all", || {
            numbered(many(12_000) / 20, |i| {
                format!("r{i} ::= 'x'{}\n", numbered(many(12_000) / 20, |j| format!(" | r{j} '{j}'")))
            })
        }),
        ("empty-chain-40", || chain(40, "", |next| format!("{next} {next}"))),
        ("empty-chain-24", || chain(if cfg!(debug_assertions) { 18 } else { 24 }, "", |next| format!("{next} {next}"))),
        ("empty-chain-of-repetitions", || chain(6, "", |next| format!("{next}{{1000}}"))),
        ("literal-chain-60", || chain(60, "x", |next| format!("{next} {next}"))),
        ("literal-chain-70", || chain(70, "x", |next| format!("{next} {next}"))),
        ("literal-chain-24", || {
            chain(if cfg!(debug_assertions) { 18 } else { 24 }, "x", |next| format!("{next} {next}"))
        }),
        ("choice-chain", || {
            chain(if cfg!(debug_assertions) { 18 } else { 24 }, "x", |next| {
                format!("{next} {next} | {next} 'a' {next}")
            })
        }),
        ("long-choice-chain", || chain(9, "x", |next| format!("{next} {next} {next} | {next} 'a' {next} {next}"))),
        ("rules-1e6-in-a-chain", || chain(many(600_000), "x", |next| format!("'y' {next}"))),
        ("rules-1e6-in-a-unit-chain", || chain(many(1_000_000), "x", |next| next.to_string())),
        ("rules-1e6-in-a-class-chain", || chain(many(600_000), "x", |next| format!("[ab] {next}"))),
        ("rules-8192-in-a-class-chain", || chain(8192, "x", |next| format!("[ab] {next}"))),
        ("rules-1e6-wide", || {
            format!(
                "s ::= {}\n{}",
                numbered(many(400_000), |i| format!("r{i} ")),
                numbered(many(400_000), |i| format!("r{i} ::= 'x' | 'y'\n"))
            )
        }),
        ("rules-undefined", || numbered(many(300_000), |i| format!("r{i} ::= u{i} r{}\n", i + 1))),
        ("rounds-4e9", || "s ::= 'x'{4000000000}".into()),
        ("rounds-4e9-at-most", || "s ::= 'x'{0,4000000000}".into()),
        ("rounds-4e9-of-nothing", || "s ::= ''{4000000000}".into()),
        ("rounds-4e9-of-optional", || "s ::= ('x'?){4000000000}".into()),
        ("rounds-4e9-of-rules", || "s ::= a{4000000000}\na ::= 'x' | s".into()),
        ("rounds-6e7", || format!("s ::= 'x'{{{}}}", many(60_000_000))),
        ("rounds-6e7-of-nothing", || format!("s ::= ''{{{}}}", many(60_000_000))),
        ("rounds-nested", || "s ::= ((([ab]{1000}){1000}){1000}){1000}".into()),
        ("rounds-nested-less", || "s ::= ([ab]{250}){250}".into()),
        ("pool-of-long-strings", || "s ::= a\na ::= [ab]{65000}".into()),
        ("pool-of-long-sequences", || format!("s ::= a\na ::= {}\nb ::= [ab]", "b ".repeat(65_000))),
        ("pools-of-long-strings", || {
            format!(
                "s ::= {}\n{}",
                numbered(many(2000), |i| format!("| r{i} ")),
                numbered(many(2000), |i| format!("r{i} ::= [ab]{{{}}}\n", 20_000 + i))
            )
        }),
        ("pools-of-long-alternatives", || {
            let long = "x".repeat(30_000);
            format!("s ::= a{}\na ::= 'z'{}", " a".repeat(1000), numbered(300, |i| format!("| '{long}{i}'")))
        }),
        ("classes-of-all-characters", || format!("s ::= {}", "[#x20-#x10FFFF] ".repeat(many(400_000)))),
        ("classes-of-many-ranges", || {
            format!("s ::= [{}]", numbered(many(300_000), |i| format!("#x{:X}", 0x10000 + 2 * i)))
        }),
        ("shared-tails", || {
            let tail = "(('a' | 'b') ['c'-'d']* )".repeat(20);
            format!("s ::= 'x' {tail}{}", format!(" | 'y' {tail}").repeat(many(5000)))
        }),
        ("small-rules-used-often", || {
            format!("s ::= {}\na ::= b b b b b b\nb ::= 'x' [ab] c\nc ::= 'y' | 'z' [cd]", "a ".repeat(many(100_000)))
        }),
        ("single-uses-wide", || chain(many(2000), "x", |next| format!("{} {next}", "'a' ['b'-'c'] ".repeat(100)))),
        // Rules up to the size limit of emitted Rust, and more.
        ("code-of-recursive-rules", || {
            cycle(some(2500), |next| format!("'(' {next} ')' @ 3.1 | {next} {next} @ 0.2 | 'yyy' @ 0.001 | '*' {next}"))
        }),
        ("code-of-repetitions", || cycle(some(5000), |next| format!("({next} 'a'){{2,9}} | 'y'"))),
        ("code-of-classes", || {
            format!("s ::= {}", numbered(some(24_000), |i| format!("[a-z#x{:X}-#xD000]", 0x100 + i)))
        }),
        ("code-of-too-many-classes", || {
            format!("s ::= {}", numbered(some(90_000), |i| format!("[^#x{:X}]", 0x10000 + i)))
        }),
        ("code-of-unrolled-rounds", || format!("s ::= {}", "('a' [a-z] | [0-9] 'bb' s?){8} ".repeat(some(2000)))),
        ("code-of-alternatives-alike", || {
            let items = "('x' | 'y' ['c'-'d']) ".repeat(24);
            format!("s ::= 'z'{}", numbered(250, |i| format!(" | [ab] {items} '{i}' s?")))
        }),
        ("code-of-pools", || {
            numbered(300, |i| format!("r{i} ::= [ab]{{{}}} r{}? r{}?\n", 100 + i, (i + 7) % 300, (3 * i + 1) % 300))
        }),
        ("code-of-long-pools", || {
            numbered(300, |i| format!("r{i} ::= [ab]{{{}}} r{}? r{}?\n", 1000 + i, (i + 7) % 300, (3 * i + 1) % 300))
        }),
        ("code-of-literals", || format!("s ::= 'a'{}", numbered(some(110_000), |i| format!(" | 'b{i}'")))),
        ("json-nesting", || format!("{{\"<s>\": {}", "[".repeat(1_000_000))),
        ("json-expansion", || format!("{{\"<start>\": [\"{}\", \"x\"]}}", "<start>".repeat(many(1_000_000)))),
    ]
}

fn numbered(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

/// Returns a cycle of rules: each refers to the next, the last to the first.
fn cycle(count: usize, body: impl Fn(&str) -> String) -> String {
    numbered(count, |i| format!("r{i} ::= {}\n", body(&format!("r{}", (i + 1) % count))))
}

/// Returns a chain of rules: each refers to the next, the last to a literal.
fn chain(count: usize, end: &str, body: impl Fn(&str) -> String) -> String {
    let rules = numbered(count, |i| format!("r{i} ::= {}\n", body(&format!("r{}", i + 1))));
    format!("{rules}r{count} ::= '{end}'\n")
}

/// Returns the grammar for this process, if it is a child, and its number.
fn wanted() -> Option<(String, SourceFile, usize)> {
    let wanted = children::wanted()?;
    let grammars = grammars();
    let number = grammars.iter().position(|(name, _)| *name == wanted).expect("a grammar's name");
    Some((wanted, SourceFile::new("g", grammars[number].1()), number))
}

/// Run by [`hostile_grammars`] in processes of their own.
#[test]
fn child() {
    let Some((wanted, file, _)) = wanted() else { return };
    let meter = Meter::start();
    let result = compile(&file, &Options::default());
    let outcome = match &result {
        Ok(_) => String::new(),
        Err(diagnostics) => {
            assert!(diagnostics.has_errors());
            diagnostics.to_plain_text(&file)
        }
    };
    meter.result(&wanted, &outcome);
    if let Ok((compiled, _)) = &result {
        emit_within_bounds(&wanted, compiled);
    }
    if let Ok((compiled, _)) = result {
        let begin = Instant::now();
        let choices = Rng::new(1).bytes(50);
        let min_len = compiled.min_len();
        for limits in [
            Limits { max_depth: None, max_len: Some(min_len) },
            Limits { max_depth: Some(3), max_len: Some(min_len + 50) },
            Limits { max_depth: Some(3), max_len: None },
            Limits { max_depth: None, max_len: Some(min_len + 1000) },
            Limits::default(),
        ] {
            let run = render(&compiled.lowered, &compiled.pools, limits, &choices);
            assert!(run.output.len() as u64 >= min_len);
            assert!(limits.max_len.is_none_or(|most| run.output.len() as u64 <= most));
        }
        println!("RESULT {wanted:30} {:6} ms to render five outputs", begin.elapsed().as_millis());
    }
}

/// Compiles to Rust, unless the grammar is refused.
fn emit_within_bounds(name: &str, compiled: &Compiled) {
    let options = EmitOptions::default();
    let meter = Meter::start();
    let outcome = match options.check(compiled) {
        Ok(()) => format!("emitted {} KiB", emit(compiled, &options).len() >> 10),
        Err(reason) => reason,
    };
    meter.result(name, &outcome);
}

#[test]
fn hostile_grammars() {
    children::run("hostile::child", amount::some(grammars(), 2).map(|(name, _)| name));
}

/// Run by [`hostile_grammars_in_shape`] in processes of their own: each shape, or in short runs one of them.
#[test]
fn child_in_shape() {
    let Some((wanted, file, number)) = wanted() else { return };
    let shapes = [Shape::Balanced, Shape::Deep, Shape::TargetSize(1000)];
    let first = number % shapes.len();
    let shapes = if amount::is_long() { &shapes[..] } else { &shapes[first..=first] };
    for &shape in shapes {
        let meter = Meter::start();
        let options = Options { weighting: Weighting::Shape(shape), ..Options::default() };
        let (Ok((_, diagnostics)) | Err(diagnostics)) = examine(&file, &options);
        meter.result(&wanted, &format!("{shape}: {}", diagnostics.to_plain_text(&file)));
    }
}

#[test]
fn hostile_grammars_in_shape() {
    children::run("hostile::child_in_shape", amount::some(grammars(), 4).map(|(name, _)| name));
}

/// Text is copied for every level, and again by every pass.
#[test]
fn unfolded_limits_copy_little() {
    let is_unfolded = |text: &str, max_depth| {
        let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", text), &Options::default()) else {
            panic!("the grammar compiles")
        };
        optimise_unfolded(&compiled.lowered, &compiled.pools, max_depth, MAX_UNFOLDED_NODES).is_some()
    };
    let literal = format!("s ::= 'x' | '{}' s", "l".repeat(100_000));
    let ranges: String =
        (0..3000).map(|range| format!("#x{:x}-#x{:x}", 0x4000 + 3 * range, 0x4001 + 3 * range)).collect();
    let ranges = format!("s ::= 'x' | [{ranges}] s");
    assert!(is_unfolded(&literal, 8) && !is_unfolded(&literal, 16));
    assert!(is_unfolded(&ranges, 8) && !is_unfolded(&ranges, 16));
    let pools = |count: usize| {
        let rules =
            (0..count).map(|rule| format!("p{rule} ::= [a-o] '{rule}{}' | '(' p{rule} ')'\n", "l".repeat(9000)));
        let names: String = (0..count).map(|rule| format!("p{rule} p{rule} ")).collect();
        format!("s ::= {names}\n{}", rules.collect::<String>())
    };
    assert!(is_unfolded(&pools(7), 0) && !is_unfolded(&pools(8), 0));
}

/// A stated depth limit is unfolded, and the result stays small.
#[test]
fn unfolded_rust_has_a_bound() {
    let emitted = |text: &str, max_depth, max_len| {
        let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", text), &Options::default()) else {
            panic!("the grammar compiles")
        };
        emit(&compiled, &EmitOptions { max_depth, max_len, ..EmitOptions::default() })
    };
    let list = "s ::= '' | [ab] s | '(' s ')'";
    assert!(emitted(list, Some(16), None).contains("mod unfolded"));
    for (depth, length) in [(None, None), (Some(17), None), (Some(3), Some(100)), (None, Some(100))] {
        assert!(!emitted(list, depth, length).contains("mod unfolded"));
    }
    // Each chain could copy the part after it, for every level.
    let depths = [2, 4, 8, 16].map(|depth| emitted(CHAINS_IN_CHAINS, Some(depth), None).len());
    assert!(depths[3] < 200_000, "{depths:?}");
    // Many references to pools with many strings.
    let pools: String = (0..4).map(|rule| format!("p{rule} ::= [a-z] [a-z] '{rule}' | '(' p{rule} ')'\n")).collect();
    let choice =
        |site: usize| (0..200).map(|option| format!("p{}", (site + option) % 4)).collect::<Vec<_>>().join(" | ");
    let sites: String = (0..30).map(|site| format!("({}) ", choice(site))).collect();
    let text = emitted(&format!("s ::= {sites}\n{pools}"), Some(0), None);
    assert!(text.len() < 4_000_000, "{}", text.len());
}
