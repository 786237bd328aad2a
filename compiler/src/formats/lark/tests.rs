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
            DECIMAL ::= [0-9]+ "." [0-9]* | "." [0-9]+
            _EXP ::= [Ee] [+\-]? [0-9]+
            NAME ::= [A-HJ-Z_a-hj-oq-z] [0-9A-Z_a-z]* @ 50 | [Ii] NAME.word.2 @ 2 | [p] NAME.word.3 @ 1
            NAME.word.3 ::= [0-9A-Z_a-qs-z] [0-9A-Z_a-z]* @ 62 | [r] ([0-9A-Z_a-hj-z] [0-9A-Z_a-z]* @ 62 | [i] ([0-9A-Z_a-mo-z] [0-9A-Z_a-z]* @ 62 | [n] ([0-9A-Z_a-su-z] [0-9A-Z_a-z]* @ 62 | [t] NAME.word.4 @ 1 | () @ 63) @ 1 | () @ 63) @ 1 | () @ 63) @ 1 | () @ 63
            NAME.word.4 ::= [0-9A-Z_a-z] [0-9A-Z_a-z]*
            NAME.word.2 ::= [0-9A-MO-Z_a-mo-z] [0-9A-Z_a-z]* @ 61 | [Nn] NAME.word.4 @ 2 | () @ 63
        "#]],
    );
}

/// As Lark reads it: a rule that begins with a bar may be empty.
#[test]
fn nothing_before_the_first_bar_is_an_alternative() {
    check(
        "start: a (| \"c\") b\na: | \"x\"\nb:\n  | \"y\"\n  | \"z\"\n",
        expect![[r#"
            %start start
            start ::= a (() | "c") b
            a ::= () | "x"
            b ::= () | "y" | "z"
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
            g:8:1: error[missing-file]: `python.lark`, from which this imports, cannot be read: other files cannot be read from here
              | %import python.NAME
              | ^^^^^^^^^^^^^^^^^^^
              help: modules are files beside the grammar; of those that come with Lark `common` and `unicode` are known
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

fn check_with(text: &str, files: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&testing::parsed_with(&Lark, text, files));
}

#[test]
fn imports_from_files() {
    check_with(
        "start: item other+ late{X} | Y\n%import .lib.parts.item\n%import .lib.parts (late, X) \n%import .lib.parts.X -> Y\n\
         %import flat.other\nnumber: \"own\" item\n%extend item: number\n%import unicode.WS\n%ignore WS\n",
        &[
            (
                "lib/parts.lark",
                "item: number | \"(\" item \")\" | inner\nnumber: INT\n%import common.INT\n%import .deep.inner\nlate{x}: \"<\" x \">\"\nX: \"x\" DIGIT\n\
                 DIGIT: \"0\"\nunused: missing\n",
            ),
            ("lib/deep.lark", "inner: \"deep\" | X\nX: /[!?]/\n"),
            ("flat.lark", "other: _other\n_other: \"o\" INT\nINT: \"7\"\n"),
        ],
        expect![[r#"
            %start start
            item ::= (number.of.lib.parts | "(" item ")" | inner.of.lib.parts) | number
            start ::= item other+ late.1 | Y
            number ::= "own" item
            other ::= _other.of.flat
            _other.of.flat ::= "o" INT.of.flat
            inner.of.lib.parts ::= inner.of.lib.deep
            inner.of.lib.deep ::= "deep" | X.of.lib.deep
            number.of.lib.parts ::= INT.of.lib.parts
            late.1 ::= "<" X ">"
            Y ::= X
            WS ::= [#x09#x0A#x0C#x0D#x20#xA0]+
            INT.of.flat ::= "7"
            X ::= "x" DIGIT.of.lib.parts
            DIGIT.of.lib.parts ::= "0"
            X.of.lib.deep ::= [!?]
            INT.of.lib.parts ::= [0-689] [0-9]* @ 9 | [7] INT.of.lib.parts.word.2 @ 1
            INT.of.lib.parts.word.2 ::= [0-9] [0-9]*
        "#]],
    );
    check_with(
        "start: a b c\n%import .none.a\n%import .bad.b\n%import .bad.c\n%import ...d\n%import .bad\n",
        &[("bad.lark", "b: \"x\nd: b\n")],
        expect![[r#"
            %start start
            start ::= a b c
            g:1:8: error[undefined-rule]: rule `a` is not defined
              | start: a b c
              |        ^
              help: the only rule has no similar name; every rule must be defined in this file
            g:1:10: error[undefined-rule]: rule `b` is not defined
              | start: a b c
              |          ^
              help: the only rule has no similar name; every rule must be defined in this file
            g:1:12: error[undefined-rule]: rule `c` is not defined
              | start: a b c
              |            ^
              help: the only rule has no similar name; every rule must be defined in this file
            g:2:1: error[missing-file]: `none.lark`, from which this imports, cannot be read: there is none
              | %import .none.a
              | ^^^^^^^^^^^^^^^
              help: modules are files beside the grammar; of those that come with Lark `common` and `unicode` are known
            g:3:1: error[undefined-rule]: `b` cannot be imported from `bad`
              | %import .bad.b
              | ^^^^^^^^^^^^^^
              help: the module does not define it; a path is written `.folder.file.NAME`, with the full stop in front for a file beside this one
            g:4:1: error[undefined-rule]: `c` cannot be imported from `bad`
              | %import .bad.c
              | ^^^^^^^^^^^^^^
              help: the module does not define it; a path is written `.folder.file.NAME`, with the full stop in front for a file beside this one
            g:5:13: error[syntax]: expected the name of a module, found U+000A
              | %import ...d
              |             ^
              help: a rule is written `name: item item | item`, a terminal `NAME: "text"`
            g:6:13: error[syntax]: expected the name of what is imported, found U+000A
              | %import .bad
              |             ^
              help: a rule is written `name: item item | item`, a terminal `NAME: "text"`
            g: error[syntax]: bad.lark:1:4: this text is not closed
              help: close it with `"` on the same line; a line break is `\n`
        "#]],
    );
}

#[test]
fn declared_terminals() {
    check_with(
        "start: line+ [_END]\nline: NAME | block | _OPEN\nblock: \":\" _OPEN line _CLOSE\nNAME: /[a-z]+/\n%declare _OPEN _CLOSE _END UNUSED\n",
        &[],
        expect![[r#"
            %start start
            start ::= line+
            line ::= NAME
            NAME ::= [a-z]+
            g:5:10: warning[not-context-free]: what needs the declared terminal `_OPEN` is left out
              | %declare _OPEN _CLOSE _END UNUSED
              |          ^^^^^
              help: code makes it: say what it is by a rule of its name in a file of tokens
            g:5:16: warning[not-context-free]: what needs the declared terminal `_CLOSE` is left out
              | %declare _OPEN _CLOSE _END UNUSED
              |                ^^^^^^
              help: code makes it: say what it is by a rule of its name in a file of tokens
            g:5:23: warning[not-context-free]: what needs the declared terminal `_END` is left out
              | %declare _OPEN _CLOSE _END UNUSED
              |                       ^^^^
              help: code makes it: say what it is by a rule of its name in a file of tokens
        "#]],
    );
    check_with(
        "start: A\n%declare A\n",
        &[],
        expect![[r#"
        g:2:10: error[undefined-rule]: rule `start` needs the declared terminal `A`, of which nothing is known
          | %declare A
          |          ^
          help: code makes it: say what it is by a rule of its name in a file of tokens
        g:2:10: warning[not-context-free]: what needs the declared terminal `A` is left out
          | %declare A
          |          ^
          help: code makes it: say what it is by a rule of its name in a file of tokens
    "#]],
    );
    check_with(
        "start: (NAME _OPEN line _CLOSE)+\nline: NAME | \"if\" letter\nletter: \"x\"\n%declare NAME _OPEN _CLOSE\n%ignore \" \"\n",
        &[(
            "tokens.ebnf",
            "NAME ::= letter+\nletter ::= [a-z]\n_OPEN ::= '{'\n_CLOSE ::= '}' | letter '!'\nOTHER ::= 'o'\n",
        )],
        expect![[r#"
            %start start
            start ::= (NAME _OPEN line (" " _CLOSE))+
            line ::= NAME | "if" letter
            letter ::= " " "x"
            _CLOSE ::= "}" | tokens.letter "!"
            _OPEN ::= "{"
            tokens.letter ::= [a-z]
            NAME ::= [a-hj-wyz] [a-z]* @ 24 | [i] NAME.word.2 @ 1 | [x] NAME.word.3 @ 1
            NAME.word.3 ::= [a-z] [a-z]*
            NAME.word.2 ::= [a-eg-z] [a-z]* @ 25 | [f] NAME.word.3 @ 1 | () @ 26
        "#]],
    );
    check_with(
        "start: A\n%declare A\n",
        &[("tokens.ebnf", "A ::= b\n")],
        expect![[r#"
        g: error[undefined-rule]: tokens.ebnf:1:7: rule `b` is not defined
    "#]],
    );
}

#[test]
fn looks_of_terminals() {
    check(
        "start: (STRING | OP NAME | ZERO | COMMENT | BACK | /a(?=[b-d])[a-z]/ NAME)+\n\
         STRING: \"'\" _INNER \"'\"\n_INNER: /.*?/ /(?<!\\\\)(\\\\\\\\)*?/\nOP: /[+*]|[?](?![a-z])/\nNAME: /[a-z]+/\n\
         ZERO: \"0\"+ /(?![1-9])/\nCOMMENT: \"/*\" /(.|\\n)*?/ \"*/\"\nBACK: /[ab]+(?<!a)c/\n",
        expect![[r#"
            %start start
            start ::= (STRING | OP NAME | ZERO | COMMENT | BACK | pattern.1 NAME)+
            STRING ::= ['] ([#x09#x20-&(-\[\]-~] | [\\] [#x09#x20-~])* [']
            OP ::= [*+?]
            NAME ::= [a-z]+
            ZERO ::= [0] [0]*
            COMMENT ::= [/] [*] [#x09#x0A#x20-)+-~]* [*] ([*] | [#x09#x0A#x20-)+-.0-~] [#x09#x0A#x20-)+-~]* [*])* [/]
            BACK ::= [a]* [b] ([b] | [a] [a]* [b])* [c]
            pattern.1 ::= [a] [b-d]
        "#]],
    );
}

#[test]
fn non_greedy_repetitions_end_where_what_follows_can() {
    check(
        "start: A B C D E F G H\nA: /(ab)+?c*/\nB: /x+?y?/\nC: /(<[^=]*?>)+/\nD: /a(bc)*?bd|a/\nE: /(ab)*?/ \"a\" /b*/ \"c\"\n\
         F: /[a-z]*x/ /(.){,2}?/ \"c\"\nG: /x/ /.*?/ \"y\" /.*?/ \"z\"\nH: \"[\" /.+?/ \"]\" /[imsx]?/\n",
        expect![[r#"
            %start start
            start ::= A B C D E F G H
            A ::= [a] [b] [c]*
            B ::= [x] (() | [y])
            C ::= ("<" [#x09#x0A#x20-<?-~]* ">")+
            D ::= [a] (() | [b] ([c] [b])* [d])
            E ::= [a] ([b] [a])* ([c] | [b] ([c] | [b] [b]* [c]))
            F ::= [a-wyz]* [x] ([x] | [abd-wyz] ([x] | [abd-wyz] ([x] | [abd-wyz] [a-wyz]* [x])) | ([c] | [abd-wyz] ([c] | [abd-wyz] [c])) ([x] | [a-wyz] [a-wyz]* [x]))* ([#x09#x20-`{-~] [c] | [#x09#x20-`{-~] [#x09#x20-bd-~] [c] | [abd-wyz] [#x09#x20-`{-~] [c] | [c] | [abd-wyz] ([c] | [abd-wyz] [c]))
            G ::= [x] [#x09#x20-xz-~]* [y] [#x09#x20-y{-~]* [z]
            H ::= [\[] [#x09#x20-~] [#x09#x20-\\\^-~]* [\]] (() | [imsx])
        "#]],
    );
}

#[test]
fn looks_of_terminals_beyond_their_ends() {
    check(
        "start: A B | C\nA: /a(?=b)|c/\nB: \"b\"\nC: /(?=[a-z])[a-z0-9]*/\n",
        expect![[r#"
        %start start
        start ::= A B | C
        A ::= [ac]
        B ::= "b"
        C ::= [a-c] C.word.2 @ 3 | [d-z] [0-9a-z]* @ 23
        C.word.2 ::= [0-9a-z] [0-9a-z]*
        g:2:1: warning[not-context-free]: a look-ahead beyond the end of a token is left out
          | A: /a(?=b)|c/
          | ^
          help: the token that follows is not known; write in the rules what may follow
    "#]],
    );
    check(
        "start: \"b\" A | C\nA: /(?<=b)a|c/\nC: /[a-z0-9]*(?<=[a-z])/\n",
        expect![[r#"
        %start start
        start ::= "b" A | C
        A ::= [ac]
        C ::= [0-9a-c] C.word.2 @ 13 | [d-z] C.word.3 @ 23
        C.word.3 ::= [a-z]* ([0-9] C.word.2 @ 10 | () @ 10)
        C.word.2 ::= [0-9]* [a-z] C.word.3
        g:2:1: warning[not-context-free]: a look-behind beyond the beginning of a token is left out
          | A: /(?<=b)a|c/
          | ^
          help: the token in front is not known; write out what it excludes
    "#]],
    );
    check(
        "start: F \"(\"\nF: /(?!if)[a-z]{2}(?=[(])/ | /x+(?=yz|[+]+)y?/\n",
        expect![[r#"
        %start start
        start ::= F "("
        F ::= [x] (() | [x] [x]*) | [a-hj-wyz] [a-z] | [i] [a-eg-z] | [x] ([a-wyz] | [x] [x]* [y])
        g:2:1: warning[not-context-free]: a look-ahead beyond the end of a token is left out
          | F: /(?!if)[a-z]{2}(?=[(])/ | /x+(?=yz|[+]+)y?/
          | ^
          help: the token that follows is not known; write in the rules what may follow
    "#]],
    );
}

#[test]
fn word_boundaries_in_what_is_excluded() {
    check(
        "start: A B C\nA: /(?!if\\b|or\\b)[a-z]{1,3}/\nB: /(?!(?:[ij]+|k)\\b)[i-l]+-?/\nC: /(?!-\\b)[-a]+/\n",
        expect![[r#"
            %start start
            start ::= A B C
            A ::= [a-hj-np-z] | [i] | [o] | [a-hj-np-z] [a-z] | [i] [a-eg-z] | [o] [a-qs-z] | [i] [f] [a-z] | [o] [r] [a-z] | ([a-hj-np-z] [a-z] | [i] [a-eg-z] | [o] [a-qs-z]) [a-z]
            B ::= [i-l]+ "-"?
            C ::= [a] [\-a]*
            g:3:4: warning[not-context-free]: a look-ahead or look-behind is left out
              | B: /(?!(?:[ij]+|k)\b)[i-l]+-?/
              |    ^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: a grammar cannot look ahead or behind; write out what it excludes
            g:4:4: warning[not-context-free]: a word boundary inside of a regular expression is left out
              | C: /(?!-\b)[-a]+/
              |    ^^^^^^^^^^^^^^
              help: a grammar cannot ask what stands beside; write it out where it matters
        "#]],
    );
}

#[test]
fn looks_of_all_terminals_take_a_bounded_time() {
    let pattern = |number: usize| format!("T{number}: /((?!a[b-d]{{3}}x)[a-e]?(?<!de)[a-x]){{4}}{number}/\n");
    let grammar = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("T{number}")).collect();
        format!("start: {}\n{}", names.join(" "), (0..count).map(pattern).collect::<String>())
    };
    assert!(!testing::errors(&Lark, &grammar(1)).contains("a look-ahead or look-behind is left out"));
    testing::survives(&Lark, &grammar(400), "a look-ahead or look-behind is left out");
}

#[test]
fn terminals_that_modules_declare() {
    check_with(
        "start: a b\n%import .m (a, b)\n",
        &[("m.lark", "a: \"x\" | X\n%extend a: \"z\"\n%import .n.c -> b\n%declare X\n"), ("n.lark", "c: \"c\"\n")],
        expect![[r#"
            %start start
            start ::= a b
            b ::= c.of.n
            c.of.n ::= "c"
            a ::= "x" | "z"
            g:2:1: warning[not-context-free]: what needs the declared terminal `X` is left out
              | %import .m (a, b)
              | ^^^^^^^^^^^^^^^^^
              help: code makes it: say what it is by a rule of its name in a file of tokens
        "#]],
    );
}

#[test]
fn priorities_of_terminals() {
    check(
        "start: (HEX | WORD | \"if\" | LAST)+\nHEX.2: /0x[0-9a-f]/\nWORD: /[0-9a-z]{3}/\nLAST.1: /[a-z]{2}/\n%ignore \" \"\n",
        expect![[r#"
            %start start
            start ::= (" " HEX | " " WORD | " " "if" | " " LAST)+
            HEX ::= "0x" [0-9a-f]
            LAST ::= [a-z]{2}
            WORD ::= [0] WORD.word.2 @ 1 | [1-9a-z] WORD.word.3 @ 35
            WORD.word.3 ::= [0-9a-z] WORD.word.4
            WORD.word.4 ::= [0-9a-z]
            WORD.word.2 ::= [0-9a-wyz] WORD.word.4 @ 35 | [x] [g-z] @ 1
        "#]],
    );
}
