//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Lark;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Lark, text));
}

fn check_errors(text: &str, expected: Expect) {
    expected.assert_eq(&testing::errors(&Lark, text));
}

#[test]
fn rules_terminals_and_separators() {
    check(
        r#"
// a comment
?start: (assign | "print" expr ["," expr])+  -> all
      | -> nothing  # more
!assign.2: NAME "=" expr ";"
?expr: NUMBER | NAME | expr "+" expr | "(" (expr // more
   )? ")" | "in"i NAME ~ 2..3 | STRING~2
STRING: /"[^"[\]]*?"/s
%import common.CNAME -> NAME
%import common (NUMBER, WS)
%ignore WS
%ignore /#[^\n]*/
"#,
        expect![[r#"
            %start start
            start ::= (assign | (" " "print") expr ((" " ",") expr)?)+ | ()
            assign ::= (" " NAME) "=" expr (" " ";")
            expr ::= " " NUMBER | " " NAME | expr (" " "+") expr | "(" expr? (" " ")") | (" " ([Ii] [Nn])) (" " NAME){2,3} | (" " STRING){2}
            STRING ::= "\"" [#x09#x0A#x20!#x23-Z\\\^-~]* "\""
            WS ::= [#x09#x0A#x0C#x0D#x20]+
            NUMBER ::= FLOAT | INT
            INT ::= [0-9]+
            FLOAT ::= INT _EXP | DECIMAL _EXP?
            _EXP ::= [Ee] [+\-]? [0-9]+
            DECIMAL ::= [0-9]+ "." [0-9]* | "." [0-9]+
            NAME ::= [A-HJ-Z_a-hj-oq-z] [0-9A-Z_a-z]* @ 50 | [Ii] NAME.word.2 @ 2 | [p] NAME.word.3 @ 1
            NAME.word.3 ::= [0-9A-Z_a-qs-z] [0-9A-Z_a-z]* @ 62 | [r] ([0-9A-Z_a-hj-z] [0-9A-Z_a-z]* @ 62 | [i] ([0-9A-Z_a-mo-z] [0-9A-Z_a-z]* @ 62 | [n] ([0-9A-Z_a-su-z] [0-9A-Z_a-z]* @ 62 | [t] NAME.word.4 @ 1 | () @ 63) @ 1 | () @ 63) @ 1 | () @ 63) @ 1 | () @ 63
            NAME.word.4 ::= [0-9A-Z_a-z] [0-9A-Z_a-z]*
            NAME.word.2 ::= [0-9A-MO-Z_a-mo-z] [0-9A-Z_a-z]* @ 61 | [Nn] NAME.word.4 @ 2 | () @ 63
        "#]],
    );
}

#[test]
fn templates() {
    check(
        "start: _list{item, \",\"} _list{_list{item,\"+\"}, /[;!]/} both{start}\n_list{x, sep}: x (sep x)* | _other{x, sep}\n_other{y, s}: \"<\" y s\nitem: A\nA: \"a\"..\"c\" B?\nB: \"b\"\nboth{x}: x | item\n",
        expect![[r#"
            %start start
            start ::= _list.1 _list.2 both.3
            item ::= A
            _list.1 ::= item ("," item)* | _other.4
            _list.2 ::= _list.5 ([!;] _list.5)* | _other.6
            both.3 ::= start | item
            _other.4 ::= "<" item ","
            _list.5 ::= item ("+" item)* | _other.7
            _other.6 ::= "<" _list.5 [!;]
            _other.7 ::= "<" item "+"
            A ::= [a-c] B?
            B ::= "b"
        "#]],
    );
}

#[test]
fn extensions() {
    check(
        "start: a B\na: \"x\"\n%extend a: \"y\" | \"z\"\n%override B: \"o\"\n%import common.INT -> B\n%declare C _D\n",
        expect![[r#"
            %start start
            start ::= a B
            a ::= "x" | ("y" | "z")
            B ::= "o"
            g:6:1: warning[not-context-free]: declared without a definition: C _D
              | %declare C _D
              | ^^^^^^^^^^^^^
              help: what it is comes from code; define it as a terminal
        "#]],
    );
}

#[test]
fn errors() {
    check_errors(
        "start: \"x\na: ( \"y\" | \"z\"\nb: $\nc \"x\"\nd: e{\"x\"} f{a}\nf{x, y}: x y\nT: f{A, A}\n%import python.NAME\n%foo\ng: /x\nh: \"x\" ~ 3..2\ni: \"z\"..\"a\"\nj: /(/\nl{x}: l{(x x)} | l{x}\nm: l{a}\n",
        expect![[r#"
            g:1:8: error[syntax]: this text is not closed
              | start: "x
              |        ^^
              help: close it with `"` on the same line; a line break is `\n`
            g:3:2: error[syntax]: expected an item, found `:`
              | b: $
              |  ^
              help: an item is a name, text in double quotes, `/pattern/`, `( )` or `[ ]`
            g:5:4: error[undefined-rule]: there is no template `e`
              | d: e{"x"} f{a}
              |    ^^^^^^
              help: a template is written `name{parameter}: item parameter`
            g:7:4: error[syntax]: a terminal uses a template
              | T: f{A, A}
              |    ^^^^^^^
              help: write out what the template stands for
            g:8:1: error[undefined-rule]: `NAME` cannot be imported from `python`
              | %import python.NAME
              | ^^^^^^^^^^^^^^^^^^^
              help: terminals of Lark's `common` are known; define others in this file
            g:9:1: error[unknown-directive]: unknown directive `%foo`
              | %foo
              | ^^^^
              help: the directives are `%import`, `%ignore`, `%declare`, `%override` and `%extend`
            g:10:4: error[syntax]: this pattern is not closed
              | g: /x
              |    ^^
              help: close it with `/` on the same line; a slash in it is `\/`
            g:11:4: error[syntax]: this is no number of rounds
              | h: "x" ~ 3..2
              |    ^^^^^^^^^^
              help: write `item ~ 3` or `item ~ 2..5`
            g:12:4: error[syntax]: this is no range of characters
              | i: "z".."a"
              |    ^^^^^^^^
              help: a range is `"a".."z"`, the smaller end first
            g:13:4: error[syntax]: this is no regular expression: unclosed group
              | j: /(/
              |    ^^^
              help: regular expressions are those of Rust's `regex`; a backslash makes a sign stand for itself
            g:14:7: error[too-large]: the arguments of `l` are too large
              | l{x}: l{(x x)} | l{x}
              |       ^^^^^^^^
              help: a template must not use itself with ever larger arguments
        "#]],
    );
}

#[test]
fn hyphens_and_counts_of_python() {
    check(
        r"start: /[+--][--\/][a-c-e][\w-.][]-a][^-]x{,2}/",
        expect![[r#"
        %start start
        start ::= [+-\-] [\--/] [\-a-ce] [\-.0-9A-Z_a-z] [\]-a] [#x09#x0A#x20-,.-~] "x"{0,2}
    "#]],
    );
}

#[test]
fn names_are_no_keywords() {
    check(
        "start: \"if\"i NAME | ELSE NAME | NAME \"iffy\" /[a-z]+x/\nNAME: /[a-z]+/\nELSE: \"else\"\nNUMBER: /[0-9]+/\n%ignore \" \"\n",
        expect![[r#"
            %start start
            start ::= ([Ii] [Ff]) (" " NAME) | ELSE (" " NAME) | NAME (" " "iffy") (" " ([a-z]+ "x"))
            ELSE ::= "else"
            NUMBER ::= [0-9]+
            NAME ::= [a-df-hj-z] [a-z]* @ 24 | [e] NAME.word.2 @ 1 | [i] NAME.word.3 @ 1
            NAME.word.3 ::= [a-eg-z] [a-z]* @ 25 | [f] ([a-eg-z] [a-z]* @ 25 | [f] ([a-xz] [a-z]* @ 25 | [y] NAME.word.4 @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26
            NAME.word.4 ::= [a-z] [a-z]*
            NAME.word.2 ::= [a-km-z] [a-z]* @ 25 | [l] ([a-rt-z] [a-z]* @ 25 | [s] ([a-df-z] [a-z]* @ 25 | [e] NAME.word.4 @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26
        "#]],
    );
}
