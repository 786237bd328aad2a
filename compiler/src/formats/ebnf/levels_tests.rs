//! Levels of operators.

use expect_test::{Expect, expect};

use super::Ebnf;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Ebnf, text));
}

#[test]
fn levels_stand_behind_alternatives() {
    check(
        "e ::= e '^' e %right 3 | e ('*' | '/') e @ 4 %left 2 | e '<' e %nonassoc 1 | '-' e %left 2 | [0-9] | '(' e ')'\n\
         %max-depth 9\nf ::= f '+' f %left 0 | e @ 2\ne.2 ::= f\n",
        expect![[r#"
            %max-depth 9
            e ::= e.3 "^" e.4 | e.5 ("*" | "/") e.4 @ 4 | e.5 "<" e.5 | "-" e.4 | [0-9] | "(" e ")"
            e.3 ::= [0-9] | "(" e ")"
            e.4 ::= e.3 "^" e.4 | "-" e.4 | [0-9] | "(" e ")"
            e.5 ::= e.3 "^" e.4 | e.5 ("*" | "/") e.4 @ 4 | "-" e.4 | [0-9] | "(" e ")"
            f ::= f "+" f.2 | e @ 2
            f.2 ::= e
            e.2 ::= f
        "#]],
    );
    // Alternatives without levels are taken by every operand, or take every operator.
    check(
        "e ::= e '+' e %left 1 | e '!' | 'not' e | 'x'",
        expect![[r#"
            e ::= e.2 "+" e.3 | e.4 "!" | "not" e | "x"
            e.2 ::= e.2 "+" e.4 | e.4 "!" | "x"
            e.3 ::= e.4 "!" | "not" e | "x"
            e.4 ::= e.4 "!" | "x"
        "#]],
    );
}

#[test]
fn rules_without_competing_operators_stay() {
    check(
        "e ::= e '+' t %left 1 | t  t ::= 'x' %left 7",
        expect![[r#"
            e ::= e "+" t | t
            t ::= "x"
        "#]],
    );
    check(
        "e ::= e '+' e | 'x'",
        expect![[r#"
        e ::= e "+" e | "x"
    "#]],
    );
}

#[test]
fn mistakes_are_reported() {
    check(
        "a ::= 'x' %left\nb ::= ('x' %left 1 | 'y')\nc ::= 'x' %right 1001 | 'y'\nd ::= 'x' %nonassoc x\n%left 2\ne ::= 'x' %left 1 'y'\n\
         f ::= 'x' %left 1 @ 2",
        expect![[r#"
            a ::= ()
            b ::= ()
            c ::= ()
            d ::= ()
            e ::= ()
            f ::= ()
            g:1:11: error[syntax]: this is not a level
              | a ::= 'x' %left
              |           ^^^^^
              help: a level is a whole number up to 1000, such as `%left 2`; higher ones bind tighter
            g:2:12: error[syntax]: a level within a group
              | b ::= ('x' %left 1 | 'y')
              |            ^^^^^
              help: levels belong to the alternatives of a rule
            g:3:18: error[syntax]: this is not a level
              | c ::= 'x' %right 1001 | 'y'
              |                  ^^^^
              help: a level is a whole number up to 1000, such as `%left 2`; higher ones bind tighter
            g:4:11: error[syntax]: this is not a level
              | d ::= 'x' %nonassoc x
              |           ^^^^^^^^^
              help: a level is a whole number up to 1000, such as `%left 2`; higher ones bind tighter
            g:5:1: error[unknown-directive]: unknown directive `%left`
              | %left 2
              | ^^^^^
              help: the directives are `%start`, `%max-depth`, `%max-len` and `%alphabet`
            g:6:19: error[syntax]: expected the next rule, found a literal
              | e ::= 'x' %left 1 'y'
              |                   ^^^
              help: an item is a literal, a class, a code point such as `#x41`, a name, or a group in parentheses
            g:7:19: error[syntax]: expected the next rule, found `@`
              | f ::= 'x' %left 1 @ 2
              |                   ^
              help: an item is a literal, a class, a code point such as `#x41`, a name, or a group in parentheses
        "#]],
    );
}
