//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Bnf;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Bnf, text));
}

#[test]
fn quoted_literals_in_brackets() {
    check(
        "# comment\n<postal address> ::= <name> \",\" (<zip>|'none')? [\"!\"] {<x>}\n  | <empty>\n<name> ::= \"\\\\\" | '\"' | \"\\\"q\" | \"\\\"\n<name> ::= \"\\n\\d\" ;\n<zip> ::= \"1\"+ | \"\" |\n<x> ::= word \"x\"\n",
        expect![[r#"
            postal address ::= name "," (zip | "none")? "!"? x* | ()
            name ::= "\\" | "\"" | "\"q" | "\\" | "\n\\d"
            zip ::= "1"+ | "" | ()
            x ::= "word" "x"
        "#]],
    );
}

#[test]
fn bare_literals_in_brackets() {
    check(
        "<expr> ::= <expr> + <term> | <term>\n<term>::=(<expr>)|<digit><term>|x<term>|-1|ε\n<digit> ::= 0 | 1|2\n",
        expect![[r#"
            expr ::= expr "+" term | term
            term ::= "(" expr ")" | digit term | "x" term | "-" "1" | ()
            digit ::= "0" | "1" | "2"
        "#]],
    );
}

#[test]
fn names_without_brackets() {
    check(
        "expr -> expr \"+\" term | term\nterm -> NUMBER | \"(\" expr \")\" | epsilon\nNUMBER -> \"1\"\n",
        expect![[r#"
            expr ::= expr "+" term | term
            term ::= NUMBER | "(" expr ")" | ()
            NUMBER ::= "1"
        "#]],
    );
    check(
        "S = a S b | ε\n  | T\nT = c T | d .\n",
        expect![[r#"
        S ::= "a" S "b" | () | T
        T ::= "c" T | "d" "."
    "#]],
    );
    check(
        "s := t\nt := 'x' missing\n",
        expect![[r#"
        s ::= t
        t ::= "x" missing
    "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "<a> ::= \"x\n<b> ::= (\"x\" | \"y\"\n<c> ::= \"x\" )\n<d> ::= * \"x\"\n<e> ::= \"x\" $ \"y\"\nf ::= \"x\"\n",
        expect![[r#"
            a ::= "x"
            b ::= ()
            c ::= "x"
            d ::= ()
            e ::= ()
            f ::= "x"
            g:1:9: error[syntax]: this literal is not closed
              | <a> ::= "x
              |         ^^
              help: close it with `"` on the same line; a line break is `\n`
            g:2:9: error[syntax]: this group is not closed
              | <b> ::= ("x" | "y"
              |         ^
              note: g:3:1: `)` is missing before this
              help: close it with `)`; as text it is `"("`
            g:3:13: error[syntax]: unmatched `)`
              | <c> ::= "x" )
              |             ^
              help: nothing was opened before it in this rule; as text it is `")"`
            g:4:9: error[syntax]: there is nothing to repeat here
              | <d> ::= * "x"
              |         ^
              help: a repetition mark follows an item; as text it is `"*"`
            g:5:13: error[syntax]: unexpected `$`
              | <e> ::= "x" $ "y"
              |             ^
              help: text stands in quotes here; a rule begins on a new line
        "#]],
    );
}

/// As in a generator's `parser-based` grammars: signs outside of quotes begin comments anywhere.
#[test]
fn comments_where_text_stands_in_quotes() {
    check(
        "# first\nlist : /* nothing */\n  | list item ; # last\nitem : \"#\" \"/*\" /* a\n  second : \"line\" */ \";\" // the end\n  ;\nother : \"/\" ; /* end */\n",
        expect![[r##"
            list ::= () | list item
            item ::= "#" "/*" ";"
            other ::= "/"
        "##]],
    );
    let bare = "<a> ::= # | /* | <b>\n<b> ::= x\n";
    check(
        bare,
        expect![[r##"
        a ::= "#" | "/*" | b
        b ::= "x"
    "##]],
    );
}
