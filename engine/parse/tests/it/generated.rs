//! Texts that a producer made are read without the options that are only read.

use std::cell::Cell;

use gramjet_compiler::Compiled;
use gramjet_compiler::ir::{Ir, NodeId};
use gramjet_compiler::machine::{Machine, Part, Recorder};
use gramjet_compiler::reference::{Limits, render};
use gramjet_parse::Parser;
use gramjet_testkit::Rng;

use crate::kit::{check_inverse, compiled, shipped, shipped_to_read, to_read};

/// Notices options that are only read.
struct Read<'r>(&'r Ir, &'r Cell<u32>);

impl Recorder for Read<'_> {
    fn option(&mut self, choice: NodeId, option: u32) {
        let is_only_read = self.0.node(choice).choice().is_some_and(|choice| choice.is_only_read(option as usize));
        self.1.set(self.1.get() + u32::from(is_only_read));
    }
}

/// Returns how many options of a derivation are only read.
fn only_read(compiled: &Compiled, choices: &[u8]) -> u32 {
    let (mut bytes, mut output, found) = (choices.iter().copied(), Vec::new(), Cell::new(0));
    let ir = &compiled.lowered;
    let recorder = Read(ir, &found);
    let machine =
        Machine::new(ir, &compiled.pools, Limits::default(), u64::MAX, || bytes.next(), &mut output, recorder);
    machine.derive(Part::Rule(ir.start()), 0, &mut Vec::new());
    found.get()
}

/// A rule whose instances two alternatives share lets the later one come first.
#[test]
fn alternatives_that_share_parts() {
    let grammar = "
        x    ::= a | b @ 0
        a    ::= l rest
        rest ::= size | 'e' | f 'e' rest
        size ::= 'C' '3' 'e' rst 'e' o{3}
        rst  ::= (f 'e')*
        b    ::= l (f 'e')* 'e' [a-z]*
        l    ::= 'l'
        f    ::= n '3'
        n    ::= 'D' | t @ 0
        t    ::= [A-Z]
        o    ::= [a-z]";
    let read = to_read(grammar);
    let parser = Parser::new(&read.lowered);
    let choices = check_inverse(&read, &parser, b"lC3eeabc", &|| String::new());
    assert_eq!(only_read(&read, &choices), 0);
    // Only the other alternative has this text.
    let choices = check_inverse(&read, &parser, b"lX3eez", &|| String::new());
    assert!(only_read(&read, &choices) > 0);
}

/// What is empty only by an option that is only read is not left out.
#[test]
fn empty_parts_are_read_as_they_are_made() {
    let read = to_read("s ::= a 'x' a  a ::= b | '' @ 0  b ::= c*  c ::= 'c'");
    let made = compiled("s ::= a 'x' a  a ::= b  b ::= c*  c ::= 'c'");
    let parser = Parser::new(&read.lowered);
    for text in ["cxc", "ccxc"] {
        let choices = check_inverse(&read, &parser, text.as_bytes(), &|| String::new());
        assert_eq!(only_read(&read, &choices), 0, "{text}");
    }
    for text in ["x", "cx", "xcc"] {
        check_inverse(&read, &parser, text.as_bytes(), &|| String::new());
        check_inverse(&made, &Parser::new(&made.lowered), text.as_bytes(), &|| String::new());
    }
}

#[test]
fn outputs_of_grammars_that_ship() {
    for name in ["cron", "sh", "solidity", "dot", "json", "semver_range"] {
        let (made, read) = (shipped(name), shipped_to_read(name));
        let parser = Parser::new(&read.lowered);
        let mut rng = Rng::new(3);
        for _ in 0..30 {
            let choices = rng.bytes(2000);
            let limits = Limits { max_depth: Some(20), max_len: None };
            let text = render(&made.lowered, &made.pools, limits, &choices).output;
            if text.len() <= Parser::MAX_GENERATED {
                let choices = check_inverse(&read, &parser, &text, &|| name.to_string());
                assert_eq!(only_read(&read, &choices), 0, "{name}: {}", text.escape_ascii());
            }
        }
    }
}
