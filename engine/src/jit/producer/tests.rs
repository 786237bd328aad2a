//! Tests that need the inside of the JIT.

use super::*;
use gramjet::ChoiceSource;
use gramjet_compiler::{Options, SourceFile, compile};

#[test]
fn code_for_older_processors_does_the_same() {
    let text = "s ::= d w n ';' s | '[' t* ']'\nd ::= [0-9] | [0-9] d\nw ::= '' | (' ' | #x9) w
        n ::= '' | ([a-z] | [0-9] | '_' | '\\\\' [nt]) n\nt ::= [a-zA-Z0-9]{1,3} | [a-z]* ','";
    let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", text), &Options::default()) else {
        panic!("the grammar compiles")
    };
    let new = |ssse3, bmi1| {
        Jit::for_processor(&compiled, Limits::new(), Features { ssse3, bmi1 }, Unfolded::new(&compiled)).expect("code")
    };
    let mut old = new(false, false);
    let all = Features::detect();
    for (ssse3, bmi1) in [(all.ssse3, all.bmi1), (all.ssse3, false), (false, all.bmi1)] {
        let mut other = new(ssse3, bmi1);
        for depth in [Some(3), Some(6), Some(40), None] {
            let limits = Limits::new().max_depth(depth).max_choices(2000);
            old.set_limits(limits).expect("limits");
            other.set_limits(limits).expect("limits");
            let (mut a, mut b) = (Choices::random(9), Choices::random(9));
            for _ in 0..300 {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                assert_eq!(old.produce(&mut a, &mut left), other.produce(&mut b, &mut right));
                assert!(left == right, "{depth:?}");
            }
        }
    }
}

#[test]
fn large_code_is_refused() {
    let options = (0..3000).map(|index| format!("'{index}' s '<{index}>'")).collect::<Vec<_>>().join(" | ");
    let file = SourceFile::new("g.ebnf", format!("s ::= 'x' | {options}"));
    let Ok((compiled, _)) = compile(&file, &Options::default()) else { panic!("the grammar compiles") };
    let kept = KeptLimits::default();
    let assemble = |most| assemble(&compiled.residual, &compiled.pools, kept, Features::detect(), most).err();
    assert_eq!(assemble(1 << 20), None);
    assert_eq!(assemble(1 << 14), Some(NotCompiled::TooLarge { bytes: 1 << 14 }));
}

#[test]
fn only_code_that_is_asked_for_is_made() {
    let file = SourceFile::new("g.ebnf", "s ::= [ab] | '(' s s ')'");
    let Ok((compiled, _)) = compile(&file, &Options::default()) else { panic!("the grammar compiles") };
    let made = |limits: Limits| {
        let jit = Jit::with_limits(&compiled, limits).expect("machine code");
        jit.grammar.codes.each_ref().map(|code| code.get().is_some())
    };
    assert_eq!(made(Limits::new()), [true, false, false, false]);
    assert_eq!(made(Limits::new().max_depth(17u32)), [false, true, false, false]);
    // Unfolded.
    assert_eq!(made(Limits::new().max_depth(16u32)), [false; 4]);
    assert_eq!(made(Limits::new().max_len(50u64)), [false, false, true, false]);
}

/// Rules without a derivation have a height beyond all bounds.
#[test]
fn rules_that_nothing_leads_to_do_not_matter() {
    let finishing = |others: &str| {
        let file = SourceFile::new("g.ebnf", format!("s ::= [ab] | '(' s ')'\n{others}"));
        let Ok((compiled, _)) = compile(&file, &Options::default()) else { panic!("the grammar compiles") };
        Jit::new(&compiled).expect("machine code");
        let features = Features::detect();
        let draft = assemble(&compiled.residual, &compiled.pools, KeptLimits::default(), features, MAX_CODE);
        draft.unwrap_or_else(|refusal| panic!("{refusal}")).finishing
    };
    let tall: String =
        (0..500).map(|rule| format!("t{rule} ::= 'a' t{next} 'b' | 'c' t{next}\n", next = rule + 1)).collect();
    for others in ["u ::= 'x' u", "u ::= v v ::= u", &(tall + "t500 ::= 'd'")] {
        assert_eq!(finishing(others), finishing(""), "{others}");
    }
}

/// Debug builds compare the use of a stretch with the count.
#[test]
fn first_rounds_may_use_a_stretch_up() {
    for before in 34..44 {
        for min in [1, 4, 8] {
            let text = format!("s ::= {}[a-z]{{{min},}} ';' s?", "[a-z]".repeat(before));
            let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", text), &Options::default()) else {
                panic!("the grammar compiles")
            };
            assert!(Jit::new(&compiled).is_ok());
        }
    }
}

fn fits(text: &str, kept: KeptLimits, most: usize) -> bool {
    let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", text), &Options::default()) else {
        panic!("the grammar compiles")
    };
    let draft = assemble(&compiled.residual, &compiled.pools, kept, Features::detect(), most);
    assert!(matches!(draft, Ok(_) | Err(NotCompiled::TooLarge { .. })));
    draft.is_ok()
}

/// All references to a rule have its pool in common; it counts against the budget, whether or not there is a length
/// limit.
#[test]
fn pools_count_against_the_budget() {
    let text = format!("s ::= {} x ::= [a-p] [a-p] '{}' | '(' x x ')'", "x ".repeat(200), "l".repeat(1000));
    for length in [false, true] {
        let kept = KeptLimits { depth: true, length };
        assert!(fits(&text, kept, 400_000) && !fits(&text, kept, 200_000));
    }
}

#[test]
fn long_literals_and_large_classes_count_against_the_budget() {
    let literals: String = (10..99).map(|number| format!("'{}' s? ", number.to_string().repeat(1000))).collect();
    assert!(fits(&format!("s ::= {literals}"), KeptLimits::default(), 250_000));
    assert!(!fits(&format!("s ::= {literals}"), KeptLimits::default(), 150_000));
    // The same ones again cost no more than the code for them.
    assert!(fits(&format!("s ::= {}", literals.repeat(3)), KeptLimits::default(), 250_000));
    let class = |first: u32| (0..300).map(|member| format!("#x{:X}", first + 2 * member)).collect::<String>();
    let classes: String = (0..89).map(|number| format!("[{}] s? ", class(1000 + number))).collect();
    assert!(fits(&format!("s ::= {classes}"), KeptLimits::default(), 3_000_000));
    assert!(!fits(&format!("s ::= {classes}"), KeptLimits::default(), 100_000));
}

/// Code that is too large is not made in full first: the size is checked within functions, too.
#[test]
fn one_large_function_is_given_up_early() {
    let text =
        format!("s ::= {}", (1000..9000).map(|number| format!("'{number}' s '<{number}>' | ")).collect::<String>());
    assert!(!fits(&format!("{text} 'x'"), KeptLimits::default(), 1 << 16));
    let weighted: String = (0..3000).map(|number| format!("('a' @ {} | 'b' s @ 3000) ", number + 1)).collect();
    assert!(!fits(&format!("s ::= '' | {weighted}"), KeptLimits::default(), 1 << 16));
}

/// Leaf functions that push, chains of functions without a guard, derivations that are high.
#[test]
fn finishing_keeps_to_its_bound() {
    let others: String = (10..40).map(|number| format!(" | '{number}' [0-9]")).collect();
    let leaf = format!("l ::= {}[a-c] '.' 'x'?{} | '#'", "(".repeat(8), "){0,2}".repeat(8));
    let chain: String = (1..9)
        .map(|rule| format!("c{rule} ::= 'x'{others} | '((((' c{0} ')' | '((((' c{0} ']'\n", rule + 1))
        .chain([format!("c9 ::= 'y'{others}")])
        .collect();
    let high: String = (1..50).map(|rule| format!("h{rule} ::= '(' h{0} ')' | '<' h{0} '>'\n", rule + 1)).collect();
    struct Ones;
    impl ChoiceSource for Ones {
        fn fill(&mut self, buffer: &mut [u8]) -> usize {
            buffer.fill(0xFF);
            buffer.len()
        }
    }
    let mut most = 0;
    for text in [
        "s ::= 'x' | '(' s ')' | '[' s ']'".to_string(),
        format!("s ::= 'x' | '((((' l s ')' | '[[[[[' s l ']'\n{leaf}"),
        format!("s ::= 'x' | '(((((' c1 s ')' | '((((((' c1 s ']'\n{chain}"),
        format!("s ::= '(' h1 ')' | '<' h1 '>'\n{high}h50 ::= 'x' | s"),
        format!("s ::= 'x' | '((((' (h1 | l){{3}} s ')' | '[[[[[' s l ']'\n{leaf}\n{high}h50 ::= 'x' | s"),
        format!("s ::= 'x' | n:l '((((' m:l $m s ')' $n | '[[[[[' s l ']'\n{leaf}"),
    ] {
        let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", text.clone()), &Options::default()) else {
            panic!("the grammar compiles")
        };
        let kinds = [Limits::new(), Limits::new().max_depth(1 << 30), Limits::new().max_len(1 << 40)];
        for kind in kinds.map(|kind| kind.max_choices(u64::MAX)) {
            let mut jit = Jit::new(&compiled).expect("code").with_stack(0);
            jit.set_limits(kind).expect("limits");
            let (mut ones, mut output) = (Ones, Vec::new());
            let mut choices = Choices::from_source(&mut ones);
            let (input, cursor) = Input::new(&mut choices, jit.limits, &mut output);
            let mut context = Context::new(&jit.code, input, cursor, jit.slack, (0, None));
            // The region is gone to at once.
            context.stack_low = usize::MAX;
            let ends = jit.code.run(&mut context, jit.depth);
            // SAFETY: the code has left these pointers.
            unsafe { context.end(ends.choice, ends.output) };
            let used = context.used_for_finishing();
            assert!(used > 0 && used <= jit.code.finishing, "{used} of {} used by {text}", jit.code.finishing);
            most = most.max(used * 100 / jit.code.finishing);
        }
    }
    assert!(most > 50, "{most} % of what is kept");
}

#[test]
fn without_another_stack_the_machine_finishes_on_its_callers() {
    let Ok((compiled, _)) =
        compile(&SourceFile::new("g.ebnf", "s ::= 'x' | '(' s ')' | '[' s ']'"), &Options::default())
    else {
        panic!("the grammar compiles")
    };
    let work = std::thread::Builder::new().stack_size(384 << 10).spawn(move || {
        crate::jit::stack::tests::REFUSED.set(true);
        let mut jit = Jit::new(&compiled).expect("code");
        jit.set_limits(Limits::new()).expect("limits");
        for _ in 0..2 {
            let mut output = Vec::new();
            let read = jit.produce(&mut Choices::replay(&[0xFF; 1_000_000]), &mut output) as usize;
            assert!((10_000..100_000).contains(&read), "{read}");
            assert_eq!(output, ["[".repeat(read), "x".into(), "]".repeat(read)].concat().into_bytes());
        }
        assert!(jit.other.is_none());
    });
    work.expect("a thread").join().expect("no panic");
}

/// Where finishing may take more than the caller's stack should bear, there is no machine code without another stack.
#[test]
fn high_derivations_without_another_stack_are_interpreted() {
    let rules: String =
        (0..10_000).map(|rule| format!("h{rule} ::= '(' h{0} ')' | '<' h{0} '>'\n", rule + 1)).collect();
    let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", rules + "h10000 ::= 'x' | h0"), &Options::default())
    else {
        panic!("the grammar compiles")
    };
    let work = std::thread::Builder::new().stack_size(384 << 10).spawn(move || {
        let mut jit = Jit::new(&compiled).expect("code");
        let mut vm = Vm::new(&compiled);
        jit.set_limits(Limits::new()).expect("limits");
        vm.set_limits(Limits::new()).expect("limits");
        let bytes = [0x7F, 0x80, 0xFF].repeat(20_000);
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let read = vm.produce(&mut Choices::replay(&bytes), &mut expected);
        assert_eq!(jit.produce(&mut Choices::replay(&bytes), &mut found), read);
        assert!(found == expected && jit.other.is_none());
        crate::jit::stack::tests::REFUSED.set(true);
        found.clear();
        assert_eq!(jit.produce(&mut Choices::replay(&bytes), &mut found), read);
        assert!(found == expected && jit.other.is_some());
    });
    work.expect("a thread").join().expect("no panic");
}

/// Another disassembler reads the code of many grammars alike, in all variants, also for older processors.
#[cfg(feature = "listing")]
#[test]
fn instructions_are_listed_as_another_disassembler_has_them() {
    use gramjet_testkit::emitted::{random_subjects, subjects_with_chains};
    use gramjet_testkit::{Rng, Shape, compiled, lowered, random_grammar};
    use iced_x86::{Decoder, DecoderOptions, Formatter as _, NasmFormatter};

    let mut formatter = NasmFormatter::new();
    let mut expected = String::new();
    let mut count = 0;
    let context_free = random_subjects().chain(subjects_with_chains()).map(|subject| (subject.name, subject.compiled));
    let labelled = (0..40).filter_map(|seed| {
        let grammar = random_grammar(&mut Rng::new(seed), &[Shape::LABELLED, Shape::CODED_NAMED][seed as usize % 2]);
        lowered(&grammar).map(|_| (format!("labelled-{seed}"), compiled(&grammar)))
    });
    let copies = "s ::= n:[a-z]+ $n ($n | 'x' @ 3) m:[0-9]* ('' | $m) (',' $m)* $m $m s?";
    let Ok((copies, _)) = compile(&SourceFile::new("g.ebnf", copies), &Options::default()) else {
        panic!("the grammar compiles")
    };
    for (name, compiled) in context_free.chain(labelled).chain([("copies".to_string(), copies)]) {
        let all = Features::detect();
        for features in [all, Features { ssse3: false, bmi1: false }] {
            for limits in [Limits::new(), Limits::new().max_depth(40u32), Limits::new().max_len(50u64)] {
                let jit = Jit::for_processor(&compiled, limits, features, Unfolded::new(&compiled)).expect("code");
                let code = jit.code.instructions();
                let listed = listing::decoded(code);
                let mut others = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
                for own in &listed {
                    let other = others.decode();
                    assert_eq!(other.ip(), own.at as u64, "{name}: {} {}", own.mnemonic, own.operands);
                    expected.clear();
                    formatter.format(&other, &mut expected);
                    let text = format!("{} {}", own.mnemonic, own.operands);
                    // It says which jumps are short ones, and pads the target with zeros.
                    match own.target {
                        Some(target) => assert_eq!(other.near_branch_target(), target, "{expected}"),
                        None => assert_eq!(text.trim_end(), expected),
                    }
                    count += 1;
                }
                assert!(!others.can_decode());
            }
        }
    }
    assert!(count > 50_000, "{count}");
}

/// Any bytes are listed, each once.
#[cfg(feature = "listing")]
#[test]
fn bytes_that_are_no_instructions_are_listed_as_data() {
    let mut state = 7_u32;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(100_000)
    .collect();
    for len in (0..64).chain([bytes.len()]) {
        let listed = listing::decoded(&bytes[..len]);
        assert!(listed.is_sorted_by(|a, b| a.at < b.at) && listed.iter().all(|own| own.at < len));
    }
    let listed = listing::decoded(&[0x06, 0x90, 0xE8, 0x01]);
    let listed: Vec<String> = listed.iter().map(|own| format!("{} {}", own.mnemonic, own.operands)).collect();
    assert_eq!(listed, ["db 6", "nop ", "db 0E8h", "db 1"]);
}
