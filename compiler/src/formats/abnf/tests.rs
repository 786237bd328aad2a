//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Abnf;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Abnf, text));
}

fn check_errors(text: &str, expected: Expect) {
    expected.assert_eq(&testing::errors(&Abnf, text));
}

#[test]
fn elements() {
    check(
        "; a comment\r\nrule = 1*3other [\"opt\" / %s\"Case\"] *( %x41-5A / %d97.98 ) ; more\r\n   2DIGIT *other 3*other *4other %b1000001 %i\"-x\"\r\n\r\nOther = %x7f / %xE9\r\nother =/ RULE\r\n",
        expect![[r#"
            rule ::= Other{1,3} ([Oo] [Pp] [Tt] | "Case")? ([A-Z] | "ab")* DIGIT{2} Other* Other{3,} Other{0,4} "A" ("-" [Xx])
            Other ::= "\u{7F}" | #bE9 | rule
            DIGIT ::= [0-9]
        "#]],
    );
}

#[test]
fn numbers_beyond_a_byte_make_all_of_them_characters() {
    check(
        "a = %x80-FF %xE9.10FFFF OCTET %xD7FE-E001",
        expect![[r#"
            a ::= [#x80-#xFF] "é\u{10FFFF}" OCTET [#xD7FE#xD7FF#xE000#xE001]
            OCTET ::= [#b00-#bFF]
        "#]],
    );
}

#[test]
fn both_ends_of_a_range_are_code_points() {
    check_errors(
        "a = %x41-110000\nb = %x41-FFFFFFFFFF\nc = %d65-\n",
        expect![[r#"
        g:1:5: error[syntax]: this is more than a code point
          | a = %x41-110000
          |     ^^^^^^^^^^^
          help: values are bytes (0 to FF) or Unicode code points (up to 10FFFF)
        g:2:5: error[syntax]: this is more than a code point
          | b = %x41-FFFFFFFFFF
          |     ^^^^^^^^^^^^^^^
          help: values are bytes (0 to FF) or Unicode code points (up to 10FFFF)
        g:3:5: error[syntax]: a decimal number is missing here
          | c = %d65-
          |     ^^^^^
          help: such as `%x41`, `%x41-5A` or `%x41.42`
    "#]],
    );
}

#[test]
fn core_rules_are_added_where_they_are_used_and_not_defined() {
    check(
        "a = lwsp HexDig sp\nSP = \"_\"\nALPHA =/ \"-\"\nb = alpha",
        expect![[r#"
            a ::= LWSP HEXDIG SP
            SP ::= "_"
            ALPHA ::= [A-Z] | [a-z] | "-"
            b ::= ALPHA
            LWSP ::= (WSP | CRLF WSP)*
            HEXDIG ::= DIGIT | [Aa] | [Bb] | [Cc] | [Dd] | [Ee] | [Ff]
            WSP ::= SP | HTAB
            CRLF ::= CR LF
            DIGIT ::= [0-9]
            HTAB ::= "\t"
            CR ::= "\r"
            LF ::= "\n"
        "#]],
    );
}

#[test]
fn lists_of_http() {
    check(
        "a = #x 1#x 2#4x 0#1x\nx = \"x\"",
        expect![[r#"
            a ::= (x ([#x09#x20]* "," [#x09#x20]* x)*)? (x ([#x09#x20]* "," [#x09#x20]* x)*) (x ([#x09#x20]* "," [#x09#x20]* x){1,3}) (x ([#x09#x20]* "," [#x09#x20]* x){0})?
            x ::= [Xx]
        "#]],
    );
}

#[test]
fn prose() {
    check(
        "a = <b> 0<b> <B, see [X], Section 1.2> / c\nb = \"b\"\nc = <c, see\n  [Y]>\nc = %x63\n",
        expect![[r#"
            a ::= b b{0} b | c
            b ::= [Bb]
            c ::= "c"
        "#]],
    );
    check_errors(
        "a = <an octet of data> x\nx = <host, see [URI]>\n",
        expect![[r#"
            g:1:5: error[undefined-rule]: prose says nothing that could be derived: `<an octet of data>`
              | a = <an octet of data> x
              |     ^^^^^^^^^^^^^^^^^^
              help: add the rule to this file: prose that begins with the name of a rule and a comma stands for that rule, and a rule that is only prose gives way to another definition of its name
            g:2:5: error[undefined-rule]: prose says nothing that could be derived: `<host, see [URI]>`
              | x = <host, see [URI]>
              |     ^^^^^^^^^^^^^^^^^
              help: add the rule to this file: prose that begins with the name of a rule and a comma stands for that rule, and a rule that is only prose gives way to another definition of its name
        "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check_errors(
        "a = \"x\nb = ( \"x\" / \"y\"\nc = \"ok\" d = \"x\"\ne = \"x\" )\nf = | \"x\"\ng = %x %xFFFFFFFF %q %x5-1\nh = 5*2a\ni =\nj =/ \"x\"\nk = / a",
        expect![[r#"
            g:1:5: error[syntax]: this string is not closed
              | a = "x
              |     ^^
              help: close it with `"` on the same line; a quotation mark is `%x22` or `DQUOTE`
            g:2:5: error[syntax]: this group is not closed
              | b = ( "x" / "y"
              |     ^
              note: g:3:1: `)` is missing before this
              help: close it with `)`
            g:3:10: error[syntax]: this rule begins inside of a line
              | c = "ok" d = "x"
              |          ^
              help: each rule begins on a line of its own
            g:4:9: error[syntax]: unmatched `)`
              | e = "x" )
              |         ^
              help: there is no `(` before it in this rule; as text it is `")"`
            g:5:5: error[syntax]: unexpected character `|`
              | f = | "x"
              |     ^
              help: alternatives are separated by `/`
            g:6:5: error[syntax]: a hexadecimal number is missing here
              | g = %x %xFFFFFFFF %q %x5-1
              |     ^^
              help: such as `%x41`, `%x41-5A` or `%x41.42`
            g:7:5: error[syntax]: the bounds of this repetition are reversed
              | h = 5*2a
              |     ^^^
              help: the smaller bound comes first
            g:9:1: error[syntax]: expected an element, found `j`
              | j =/ "x"
              | ^
              help: an element is a name, a string, a number such as `%x41`, a group `(...)` or an option `[...]`
            g:9:1: error[syntax]: rule `j` is extended but not defined
              | j =/ "x"
              | ^
              help: one definition is written with `=`, others with `=/`
            g:10:5: error[syntax]: expected an element, found `/`
              | k = / a
              |     ^
              help: an element is a name, a string, a number such as `%x41`, a group `(...)` or an option `[...]`
        "#]],
    );
}

#[test]
fn a_broken_definition_of_an_extended_rule_is_told_once() {
    check(
        "a =/ \"x\"\na = (\n",
        expect![[r#"
        a ::= [Xx]
        g:3:1: error[syntax]: expected an element, found the end of the file
          | 
          | ^
          help: an element is a name, a string, a number such as `%x41`, a group `(...)` or an option `[...]`
    "#]],
    );
    check(
        "a =/ \"x\"\na = <prose>\na = \"y\"\n",
        expect![[r#"
        a ::= [Yy]
    "#]],
    );
}
