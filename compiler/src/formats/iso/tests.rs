//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Iso;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Iso, text));
}

#[test]
fn the_notation() {
    check(
        "(* a (* nested *) comment *)\nletter = 'A' | \"B\" ; digit = \"0\" / '1' ! '2' .\n\
         all of it = letter, { letter | digit }, [ digit ], 3 * digit, (\"x\", \"\") ;\n\
         more = {digit}- , (/ digit /) (: letter :) , ? any character ? , ? ? ;\n\
         other = all  of it | letter digit letter-digit | ;\nletter-digit = letter - 'A', (letter | digit) - (\"B\" | '2');",
        expect![[r#"
            letter ::= "A" | "B"
            digit ::= "0" | "1" | "2"
            all of it ::= letter (letter | digit)* digit? digit{3} ("x" "")
            more ::= digit+ digit? letter* [#x20-~] ()
            other ::= all of it | letter digit letter-digit | ()
            letter-digit ::= [B] [01A]
            g:4:46: warning[not-context-free]: the special sequence `? any character ?` is read as printable ASCII
              | more = {digit}- , (/ digit /) (: letter :) , ? any character ? , ? ? ;
              |                                              ^^^^^^^^^^^^^^^^^
              help: write the characters out to say which
        "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "a = 'x ;\nb = ( 'x' ;\nc = 'x' ] ;\nd = ? ISO 646 character ? ;\ne = 3 'x' ;\nf = 'x'+ ;\ng = a - ;\nh : 'x' ;\ni = 'xy' - 'x' ;\nj = 'x' - 'x' ;",
        expect![[r#"
            a ::= ()
            c ::= ()
            d ::= ()
            e ::= ()
            f ::= ()
            g ::= ()
            i ::= []
            j ::= []
            g:1:5: error[syntax]: this literal is not closed
              | a = 'x ;
              |     ^^^^
              help: close it with `'` on the same line
            g:3:9: error[syntax]: expected `;`, found `]`
              | c = 'x' ] ;
              |         ^
              help: a rule is written `name = item, item | item ;`
            g:4:5: error[syntax]: the special sequence `? ISO 646 character ?` says nothing that could be derived
              | d = ? ISO 646 character ? ;
              |     ^^^^^^^^^^^^^^^^^^^^^
              help: its meaning is not in the grammar: replace it by a rule or by text
            g:5:7: error[syntax]: expected `*`, found a literal
              | e = 3 'x' ;
              |       ^^^
              help: a rule is written `name = item, item | item ;`
            g:6:8: error[syntax]: unexpected character `+`
              | f = 'x'+ ;
              |        ^
              help: one or more is `{item}-` or `item, {item}`
            g:7:7: error[syntax]: nothing is excepted here
              | g = a - ;
              |       ^
              help: `{item}-` is one or more; other exceptions name what is left out
            g:8:3: error[syntax]: unexpected character `:`
              | h : 'x' ;
              |   ^
              help: text stands in quotes
            g:9:5: error[class-difference]: this operand of a difference is not a class of single characters: it is a string of several characters
              | i = 'xy' - 'x' ;
              |     ^^^^
              help: both sides of `-` are classes, single characters, alternations of such, or rules that are
            g:10:5: error[empty-class]: nothing is left of this class
              | j = 'x' - 'x' ;
              |     ^^^^^^^^^
              help: every member of the left side is also in the right side
        "#]],
    );
}
