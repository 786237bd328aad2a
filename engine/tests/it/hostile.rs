//! E6: large grammars build fast, deep derivations end.

use std::fmt::Write;
use std::time::Instant;

use crate::kit::{SplitMix, compiled, engines, produce};
use gramjet::{Limits, Producer};
use gramjet_engine::jit::Jit;
use gramjet_engine::reference::Reference;
use gramjet_engine::vm::Vm;
use gramjet_testkit::amount;
use gramjet_testkit::emitted::CHAINS_IN_CHAINS;

/// Checks that building ends, and that the programs work. How long it took is printed.
fn check_build(name: &str, text: &str) {
    let compiled = compiled(name, text);
    let start = Instant::now();
    let mut engines = engines(&compiled);
    eprintln!("{name}: built in {:?}", start.elapsed());
    let mut reference = Reference::new(&compiled);
    let mut random = SplitMix(5);
    for depth in [None, Some(10)] {
        let limits = Limits::new().max_depth(depth);
        if limits.check(compiled.min_len(), compiled.rule_without_pool()).is_err() {
            continue;
        }
        reference.set_limits(limits).unwrap();
        for _ in 0..5 {
            let choices = random.choices(100);
            let expected = produce(&mut reference, &choices);
            for (engine, producer) in &mut engines {
                producer.set_limits(limits).unwrap();
                assert!(produce(producer, &choices) == expected, "{engine}, {name}");
            }
        }
    }
}

#[test]
fn many_alternatives() {
    let mut text = "s ::= t s?\nt ::= 'x'".to_string();
    for index in 0..70_000 {
        let _ = write!(text, " | '{index}' s");
    }
    check_build("alternatives.ebnf", &text);
}

#[test]
fn many_rules() {
    let mut text = String::new();
    let rules = amount::part(20_000);
    for index in 0..rules {
        let [a, b] = [7919, 104_729].map(|factor| (index * factor + 13) % rules);
        let _ =
            writeln!(text, "r{index} ::= 'a{index}' | [0-9] r{a} | r{a} '-' r{b} | '(' r{} ')'", (index + 1) % rules);
    }
    check_build("rules.ebnf", &text);
}

#[test]
fn long_chains() {
    let mut text = String::new();
    let count = amount::part(100_000);
    for index in 0..count {
        let _ = writeln!(text, "r{index} ::= r{} | 'x' r{}", index + 1, index + 1);
    }
    let _ = writeln!(text, "r{count} ::= 'end'");
    check_build("chain.ebnf", &text);
}

#[test]
fn nested_repetitions() {
    for bounds in ["{1,3}", "{0,2}", "{0,30}", "{1,}", "?"] {
        let text = format!("s ::= {}'x' | 'yy'{}", "(".repeat(60), format!("){bounds}").repeat(60));
        check_build("nested.ebnf", &text);
    }
}

#[test]
fn a_deep_derivation_needs_no_native_stack() {
    let compiled = compiled("deep.ebnf", "s ::= '(' s ')' | s s | ''");
    let (mut reference, mut vm) = (Reference::new(&compiled), Vm::new(&compiled));
    for producer in [&mut reference as &mut dyn Producer, &mut vm] {
        producer.set_limits(Limits::new()).unwrap();
    }
    // Nested two hundred thousand deep.
    let choices = vec![0xFF; 200_000];
    let nested: Vec<u8> = choices.iter().map(|_| 0x60).collect();
    for choices in [choices, nested] {
        assert!(produce(&mut reference, &choices) == produce(&mut vm, &choices));
    }
}

#[test]
#[ignore = "run by ci/test"]
fn a_stack_without_end_is_bounded() {
    let compiled = compiled("endless.ebnf", "s ::= '' | s s s 'x'");
    let mut vm = Vm::new(&compiled);
    vm.set_limits(Limits::new().max_choices(u64::MAX)).unwrap();
    struct Ones;
    impl gramjet::ChoiceSource for Ones {
        fn fill(&mut self, buffer: &mut [u8]) -> usize {
            buffer.fill(0xFF);
            buffer.len()
        }
    }
    let mut output = Vec::new();
    let read = vm.produce(&mut gramjet::Choices::from_source(&mut Ones), &mut output);
    assert!(read > 1 << 20 && output.iter().all(|&byte| byte == b'x'));
}

/// The part after rounds that are looked at together is copied only if it contains no other copy.
#[test]
fn chains_of_chains_grow_with_their_rules() {
    let code_len = |stages: usize| {
        let mut text = String::from("start ::= (");
        (1..=stages).for_each(|stage| text += &format!(" ',' d{stage} d{stage} e{stage} e{stage}"));
        text += ") | '()'\n";
        for stage in 1..=stages {
            text += &format!("e{stage} ::= {}\n", format!("('' | [ab] d{stage}) ").repeat(4));
            let rounds = "('' | [ab] ".repeat(7) + &format!("e{}", stage - 1) + &")".repeat(7);
            text += &format!("d{stage} ::= {rounds}\n");
        }
        let compiled = compiled("chains.ebnf", &(text + "e0 ::= '..' | [ab] '(' [cd]"));
        let limits = Limits::new().max_depth(16u32);
        Jit::with_limits(&compiled, limits).ok().map(|jit| (jit.code_len(), jit.listing().contains('@')))
    };
    if let (Some((two, true)), Some((four, true))) = (code_len(2), code_len(4)) {
        assert!(four < 3 * two, "{two} {four}");
    } else {
        assert!(!gramjet_engine::jit::is_available(), "{:?} {:?}", code_len(2), code_len(4));
    }
}

/// Small limits are unfolded, and code for that is small.
#[test]
fn unfolded_code_has_a_bound() {
    let Some(mut jit) = gramjet_engine::jit::is_available()
        .then(|| compiled("chains.ebnf", CHAINS_IN_CHAINS))
        .map(|it| Jit::new(&it).expect("machine code"))
    else {
        return;
    };
    let mut listing = |depth: u32| {
        jit.set_limits(Limits::new().max_depth(depth)).unwrap();
        assert!(jit.code_len() < 400 << 10, "{depth}: {} bytes", jit.code_len());
        jit.listing()
    };
    assert!(listing(3).contains("<d@3>") && listing(8).contains("<d@8>"));
    assert!(!listing(17).contains('@'));
    assert!(listing(16).len() < 4 << 20);
}
