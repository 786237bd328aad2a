//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Gramatron;
use crate::diagnostics::SourceFile;
use crate::formats::{self, Format, testing};

fn check(text: &str, expected: Expect) {
    assert_eq!(formats::detect(&SourceFile::new("g.json", text)).name(), Gramatron.name());
    expected.assert_eq(&testing::parsed(&Gramatron, text));
}

#[test]
fn source_grammars() {
    check(
        r#"{"ARGS": ["'()'", "'(' EXPR ')' NEWLINE", "' '"], "EXPR": ["'<'EXPR", "ARGS"], "NEWLINE": ["'\\n'", "\"a'b\""],
            "PROGRAM": ["EXPR"]}"#,
        expect![[r#"
            %start PROGRAM
            ARGS ::= "()" | "(" EXPR ")" NEWLINE | " "
            EXPR ::= "<" EXPR | ARGS
            NEWLINE ::= "\n" | "a'b"
            PROGRAM ::= EXPR
        "#]],
    );
    check(
        r#"{"A": ["'x' B"], "B": ["'y'"], "Start": ["B"]}"#,
        expect![[r#"
        %start B
        A ::= "x" B
        B ::= "y"
    "#]],
    );
}

#[test]
fn automata() {
    check(
        r#"{"init_state": 0, "final_state": "2", "numstates": 3,
            "pda": {"0": [["0_1", "1", "let "], ["0_2", 2, "\\n"]], "1": [["1_1", 0, "x"]]}}"#,
        expect![[r#"
            %start s0
            s0 ::= "let " s1 | "\n" s2
            s1 ::= "x" s0
            s2 ::= ()
        "#]],
    );
}

#[test]
fn errors() {
    check(
        r#"{"A": ["'x"], "B": "x", "C": [5], "D": []}"#,
        expect![[r#"
        A ::= ()
        C ::= ()
        D ::= ()
        g:1:8: error[syntax]: a terminal is not closed
          | {"A": ["'x"], "B": "x", "C": [5], "D": []}
          |        ^^^^
          help: a rule is written `"NAME": ["'text' OTHER", ...]`
        g:1:20: error[syntax]: the alternatives of a rule are a list, this is a string
          | {"A": ["'x"], "B": "x", "C": [5], "D": []}
          |                    ^^^
          help: a rule is written `"NAME": ["'text' OTHER", ...]`
        g:1:31: error[syntax]: an alternative is a string, this is a number
          | {"A": ["'x"], "B": "x", "C": [5], "D": []}
          |                               ^
          help: a rule is written `"NAME": ["'text' OTHER", ...]`
        g:1:40: error[syntax]: rule `D` has no alternatives
          | {"A": ["'x"], "B": "x", "C": [5], "D": []}
          |                                        ^^
          help: the empty string is `["''"]`
    "#]],
    );
    check(
        r#"{"init_state": 0, "pda": {"0": [["0_1", "1", "let "]]}}"#,
        expect![[r#"
        g:1:1: error[syntax]: the automaton has no initial state, no final state or no transitions
          | {"init_state": 0, "pda": {"0": [["0_1", "1", "let "]]}}
          | ^
          help: an automaton is `{"init_state": 0, "final_state": 1, "numstates": 2, "pda": {"0": [["0_1", 1, "text"]]}}`
    "#]],
    );
    check(
        r#"{"init_state": 0, "final_state": 0, "pda": {"0": [["0_1", "1"]], "1": 5}}"#,
        expect![[r#"
        %start s0
        s0 ::= ()
        s1 ::= ()
        g:1:51: error[syntax]: a transition is a list of three
          | {"init_state": 0, "final_state": 0, "pda": {"0": [["0_1", "1"]], "1": 5}}
          |                                                   ^^^^^^^^^^^^
          help: an automaton is `{"init_state": 0, "final_state": 1, "numstates": 2, "pda": {"0": [["0_1", 1, "text"]]}}`
        g:1:71: error[syntax]: the transitions of a state are a list
          | te": 0, "final_state": 0, "pda": {"0": [["0_1", "1"]], "1": 5}}
          |                                                             ^
          help: an automaton is `{"init_state": 0, "final_state": 1, "numstates": 2, "pda": {"0": [["0_1", 1, "text"]]}}`
    "#]],
    );
}
