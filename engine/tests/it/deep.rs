//! Deep recursion of machine code and of the table interpreter.

use std::backtrace::Backtrace;
use std::hint::black_box;

use gramjet::{ChoiceSource, Choices, Limits, Producer};
use gramjet_engine::jit::Jit;
use gramjet_engine::vm::Vm;

use crate::kit::{compiled, produce};

/// Nesting that is neither a tail loop nor goes away by inlining.
const NESTED: &str = "s ::= 'x' | '(' s ')' | '[' s ']'";

fn nested(levels: usize) -> (Vec<u8>, Vec<u8>) {
    // Options 1 and 2 in turn, then option 0.
    let choices: Vec<u8> = (0..levels).map(|level| if level % 2 == 0 { 0x80 } else { 0xFF }).collect();
    let open = (0..levels).map(|level| if level % 2 == 0 { b'(' } else { b'[' });
    let close = (0..levels).rev().map(|level| if level % 2 == 0 { b')' } else { b']' });
    (choices, open.chain([b'x']).chain(close).collect())
}

#[test]
fn a_million_levels_on_a_small_stack() {
    let levels = 1_000_000;
    let (choices, expected) = nested(levels);
    let compiled = compiled("nested.ebnf", NESTED);
    // Less than an input may use of its caller's stack and the test's own frames would leave little.
    let work = std::thread::Builder::new().stack_size(320 << 10).spawn(move || {
        let mut jit = Jit::new(&compiled).expect("machine code");
        for limits in [
            Limits::new().max_depth(levels as u32),
            Limits::new(),
            Limits::new().max_depth(levels as u32).max_len(expected.len() as u64 + 10),
            Limits::new().max_len(expected.len() as u64 + 10),
        ] {
            jit.set_limits(limits).expect("limits that can be kept");
            let (output, read) = produce(&mut jit, &choices);
            assert!(output == expected && read == levels as u64, "{limits:?}: {} bytes, {read} read", output.len());
        }
        // Beyond the limit stands a string of the pool, which is "x".
        jit.set_limits(Limits::new().max_depth(999_998)).expect("a limit that can be kept");
        let (output, read) = produce(&mut jit, &choices);
        assert_eq!((output.len(), read), (2 * 999_999 + 1, 999_999));
    });
    work.expect("a thread").join().expect("no panic");
}

/// Scopes of labels are open on all levels.
#[test]
fn many_levels_of_labelled_parts() {
    let copies = "s ::= 'x' | n:[ab] '(' s ')' $n";
    let numbers = "s ::= 'x' | '[' n:('y' | s) ']' $dec(len(n))";
    for (levels, grammar, round) in [(200_000, copies, &[0x90, 0xC0][..]), (2_000, numbers, &[0x90])] {
        let compiled = compiled("deep.ebnf", grammar);
        let (mut vm, mut jit) = (Vm::new(&compiled), Jit::new(&compiled).expect("machine code"));
        let limits = Limits::new().max_len(1 << 25);
        vm.set_limits(limits).expect("a limit that can be kept");
        jit.set_limits(limits).expect("a limit that can be kept");
        let choices = round.repeat(levels);
        let (expected, found) = (produce(&mut vm, &choices), produce(&mut jit, &choices));
        assert!(expected == found, "{} and {} bytes", expected.0.len(), found.0.len());
        assert!(found.0.len() > 2 * levels, "{}", found.0.len());
    }
}

#[test]
fn where_the_stack_ends_the_machine_finishes() {
    let compiled = compiled("nested.ebnf", NESTED);
    let mut jit = Jit::new(&compiled).expect("machine code").with_stack(1 << 20);
    jit.set_limits(Limits::new()).unwrap();
    let (choices, _) = nested(3_000_000);
    // Twice: what one input used up is there for the next.
    for _ in 0..2 {
        let (output, read) = produce(&mut jit, &choices);
        assert!(read > 10_000 && read < 3_000_000, "{read}");
        let (_, expected) = nested(read as usize);
        assert!(output == expected, "{} bytes for {read} levels", output.len());
    }
}

/// Both have a stack of 1 GiB.
#[test]
#[ignore = "run by ci/test"]
fn the_interpreter_goes_as_deep_as_machine_code() {
    let compiled = compiled("nested.ebnf", NESTED);
    // With a quarter of it the interpreter would finish.
    let (choices, expected) = nested(34_000_000);
    let mut vm = Vm::new(&compiled);
    vm.set_limits(Limits::new()).unwrap();
    let (output, read) = produce(&mut vm, &choices);
    assert!(output == expected && read == choices.len() as u64, "{} bytes, {read} read", output.len());
}

#[test]
fn many_deep_parts_of_one_input() {
    let text = "l ::= s | s ';' l\ns ::= 'x' | '(' s ')' | '[' s ']'";
    let mut jit = Jit::new(&compiled("lists.ebnf", text)).expect("machine code");
    jit.set_limits(Limits::new()).unwrap();
    let (choices, part) = nested(60_000);
    let mut all = Vec::new();
    let mut expected = Vec::new();
    for number in 0..4u8 {
        all.push(if number < 3 { 0xFF } else { 0 });
        all.extend_from_slice(&choices);
        all.push(0);
        expected.extend_from_slice(&part);
        expected.extend((number < 3).then_some(b';'));
    }
    let mut output = Vec::new();
    let read = jit.produce(&mut Choices::replay(&all), &mut output);
    assert!(output == expected && read == all.len() as u64, "{} of {}", output.len(), expected.len());
}

/// Choice sources run on the stack of the caller, wherever machine code is.
#[test]
fn a_choice_source_has_the_stack_of_the_caller() {
    struct Deep {
        left: usize,
        panics: bool,
    }
    impl ChoiceSource for Deep {
        fn fill(&mut self, buffer: &mut [u8]) -> usize {
            let frame = black_box([self.left as u8; 700 << 10]);
            assert!(self.left > 0 || !self.panics, "{} {}", frame.len(), Backtrace::force_capture());
            let len = buffer.len().min(self.left).min(1000);
            self.left -= len;
            buffer[..len].fill(0xFF);
            len
        }
    }
    let compiled = compiled("nested.ebnf", NESTED);
    // The stack of machine code ends before the choice bytes do.
    let work = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let mut jit = Jit::new(&compiled).expect("machine code").with_stack(512 << 10);
        jit.set_limits(Limits::new()).unwrap();
        let mut output = Vec::new();
        let mut source = Deep { left: 300_000, panics: false };
        let read = jit.produce(&mut Choices::from_source(&mut source), &mut output) as usize;
        assert!(read > 30_000 && read < 300_000, "{read}");
        assert_eq!(output.len(), 2 * read + 1);
        let mut source = Deep { left: 30_000, panics: true };
        let mut choices = Choices::from_source(&mut source);
        output.clear();
        let panicking = std::panic::AssertUnwindSafe(|| jit.produce(&mut choices, &mut output));
        assert!(std::panic::catch_unwind(panicking).is_err());
        assert!(output.is_empty());
    });
    work.expect("a thread").join().expect("no panic");
}
