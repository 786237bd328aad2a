//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Ebnf;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Ebnf, text));
}

fn check_errors(text: &str, expected: Expect) {
    expected.assert_eq(&testing::errors(&Ebnf, text));
}

#[test]
fn the_notation_of_w3c() {
    check(
        r#"
[1]   document  ::= prolog element Misc*
[2]   Char      ::= #x9 | #xA | [#x20-#xD7FF] | [#x10000-#x10FFFF] /* any Unicode character */
[22a] prolog    ::= XMLDecl? (doctype Misc*)? -- to the end
      element   ::= "<" 'a' ">" | ('<' ) '''' ;
      Misc      ::= [a-zA-Z0-9_.-]+ [^<&"'] [-+] [#@]
      PubidChar ::= #x20 | #xD | [a-zA-Z0-9] | [-'()+,./:=?;!*#@$_%]
"#,
        expect![[r#"
            document ::= prolog element Misc*
            Char ::= "\t" | "\n" | [#x20-#xD7FF] | [#x10000-#x10FFFF]
            prolog ::= XMLDecl? (doctype Misc*)?
            element ::= "<" "a" ">" | "<" "" ""
            Misc ::= [\-.0-9A-Z_a-z]+ [#x09#x0A#x0D#x20!#x23-%(-;=-#xD7FF#xE000-#xFFFD#x10000-#x10FFFF] [+\-] [#x23@]
            PubidChar ::= " " | "\r" | [0-9A-Za-z] | [!#x23-%'-/:;=?@_]
        "#]],
    );
}

#[test]
fn numbers_of_productions_and_classes_of_digits() {
    check(
        "a ::= 'x' | [12]\nb ::= [0-9] [12]\n[13] c ::= 'x'\nd ::= [1]\n[2]\ne ::= ''",
        expect![[r#"
        a ::= "x" | [12]
        b ::= [0-9] [12]
        c ::= "x"
        d ::= [1] [2]
        e ::= ""
    "#]],
    );
}

#[test]
fn empty_alternatives() {
    check(
        "a ::= \nb ::= ( | 'x') () ''\nc ::= | 'y' |\nd ::= 'z' | ;\ne ::=",
        expect![[r#"
        a ::= ()
        b ::= (() | "x") () ""
        c ::= () | "y" | ()
        d ::= "z" | ()
        e ::= ()
    "#]],
    );
}

#[test]
fn weights_bind_looser_than_sequences() {
    check(
        "a ::= 'x' b @ 3 | 'y' @ 0.25 | @ 0 | ('p' @ 1e3 | 'q' @ 2.5e-1)*\nb ::= 'only' @ 7",
        expect![[r#"
        a ::= "x" b @ 3 | "y" @ 0.25 | () @ 0 | ("p" @ 1000 | "q" @ 0.25)*
        b ::= "only" @ 7
    "#]],
    );
}

#[test]
fn repetition() {
    check(
        "a ::= 'x'{3} b{2,} [a-z]{ 2 , 5 } ('p' 'q'){0,1} 'z'?*+ b{1} b{0} b{0,} b{1,}\nb ::= 'b'",
        expect![[r#"
        a ::= "x"{3} b{2,} [a-z]{2,5} ("p" "q")? "z"?*+ b{1} b{0} b* b+
        b ::= "b"
    "#]],
    );
}

#[test]
fn bytes_and_escapes() {
    check(
        "a ::= #bFF #b41 #xE9 [#b80-#bFF] [a-#bFF] [^#b00-#bFE] '\\x1b\\n\\r\\t\\\\\\'\\\"\\0\\u{1F600}' [\\]\\[\\-\\^\\\\\\x7F\\u{e9}]",
        expect![[r#"
            a ::= #bFF "A" "é" [#b80-#bFF] [#b61-#bFF] [#bFF] "\u{1B}\n\r\t\\'\"\0\u{1F600}" [\-\[-\^#x7F#xE9]
        "#]],
    );
}

#[test]
fn regular_expressions() {
    check(
        "a ::= /[a-z/]+(?:x|yz)?\\/\\d/ 'q' (/b/i | c)* /* comment */\nc ::= /a/ - /b/ /\".*?\"/",
        expect![[r#"
            a ::= ([/a-z]+ ("x" | "yz")? "/" [0-9]) "q" ([Bb] | c)*
            c ::= [a] ("\"" [#x09#x20!#x23-~]* "\"")
        "#]],
    );
    check_errors(
        "a ::= /(/\nb ::= /x/q\nc ::= /x\nd ::= /a\\b/ 'x' - /ab/",
        expect![[r#"
        g:1:7: error[syntax]: this is no regular expression: unclosed group
          | a ::= /(/
          |       ^^^
          help: regular expressions are those of Rust's `regex`; a backslash makes a sign stand for itself
        g:2:7: error[syntax]: unknown flag `q` of a regular expression
          | b ::= /x/q
          |       ^^^^
          help: the flags are `i`, `m`, `s` and `x`
        g:3:7: error[syntax]: this regular expression is not closed
          | c ::= /x
          |       ^^
          help: close it with `/` on the same line, a slash in it is `\/`; comments are `/* ... */`, text that the rule should produce stands in quotes
        g:4:7: warning[not-context-free]: a word boundary inside of a regular expression is left out
          | d ::= /a\b/ 'x' - /ab/
          |       ^^^^^
          help: a grammar cannot ask what stands beside; write it out where it matters
        g:4:19: error[class-difference]: this operand of a difference is not a class of single characters: it is a string of several characters
          | d ::= /a\b/ 'x' - /ab/
          |                   ^^^^
          help: both sides of `-` are classes, single characters, alternations of such, or rules that are
    "#]],
    );
}

#[test]
fn alphabets() {
    check(
        "a ::= [^a-z] [^]",
        expect![[r#"
        a ::= [#x09#x0A#x0D#x20-`{-#xD7FF#xE000-#xFFFD#x10000-#x10FFFF] [#x09#x0A#x0D#x20-#xD7FF#xE000-#xFFFD#x10000-#x10FFFF]
    "#]],
    );
    check(
        "%alphabet ascii\na ::= [^a-z] [^é]",
        expect![[r#"
        a ::= [#x09#x0A#x0D#x20-`{-~] [#x09#x0A#x0D#x20-~]
    "#]],
    );
    check(
        "%alphabet unicode\na ::= [^a-z]",
        expect![[r#"
        a ::= [#x00-`{-#xD7FF#xE000-#x10FFFF]
    "#]],
    );
    check(
        "%alphabet bytes\na ::= [^a-z] [a-z]",
        expect![[r#"
        a ::= [#b00-#b60#b7B-#bFF] [a-z]
    "#]],
    );
}

#[test]
fn directives() {
    check(
        "%start b\n%max-depth 12 -- levels\n  %max-len 4096 /* bytes */\na ::= b\n%start a\nb ::= 'x'",
        expect![[r#"
        %start a
        %max-depth 12
        %max-len 4096
        a ::= b
        b ::= "x"
    "#]],
    );
}

#[test]
fn names() {
    check(
        "a-b ::= _c.d-1 größe\n_c.d-1 ::= 'x'\ngröße ::= x - 'y'\nα ::= x- 'y' x-'y' x--comment\nx ::= [a-z]-- comment",
        expect![[r#"
        a-b ::= _c.d-1 größe
        _c.d-1 ::= "x"
        größe ::= [a-xz]
        α ::= [a-xz] [a-xz] x--comment
        x ::= [a-z]
    "#]],
    );
}

#[test]
fn differences() {
    check(
        "a ::= Char - 'a' (Char - [b-y]) - ('z' | #x41)\n\
         b ::= 'x' Later - (Later - 'x') 'y'\n\
         c ::= [#b00-#bFF] - [a-z] [a-z] - #b61\n\
         Char ::= letter | digit\nletter ::= [a-z] | upper\nupper ::= [A-Z] - 'Q'\ndigit ::= [0-9]\n\
         Later ::= ('x' | ('y')) | 'z' | Later2\nLater2 ::= [^#x0-#xFFFD] - #x10FFFF",
        expect![[r#"
            a ::= [0-9A-PR-Zb-z] [0-9B-PR-Za]
            b ::= "x" [x] "y"
            c ::= [#b00-#b60#b7B-#bFF] [b-z]
            Char ::= letter | digit
            letter ::= [a-z] | upper
            upper ::= [A-PR-Z]
            digit ::= [0-9]
            Later ::= ("x" | "y") | "z" | Later2
            Later2 ::= [#x10000-#x10FFFE]
        "#]],
    );
}

#[test]
fn choices_are_not_merged() {
    check(
        "a ::= 'a' | 'b' | [cd]",
        expect![[r#"
        a ::= "a" | "b" | [cd]
    "#]],
    );
}

#[test]
fn texts_that_are_something_else() {
    check(
        "\u{FEFF}a ::= 'x'",
        expect![[r#"
        a ::= "x"
    "#]],
    );
    check("", expect![[""]]);
    check(
        "a ::= 'x' /* b ::= 'y'",
        expect![[r#"
        a ::= "x"
        g:1:11: error[syntax]: this comment is not closed
          | a ::= 'x' /* b ::= 'y'
          |           ^^
          help: close it with `*/`
    "#]],
    );
    check_errors(
        "\0\0\0",
        expect![[r#"
        g:1:1: error[syntax]: unexpected character U+0000
          | 
          | ^
          help: a grammar is UTF-8 text; this looks like a binary file or like UTF-16
    "#]],
    );
    check_errors(
        "a\0 ::= 'x'\nb ::= <c>\nc ::= ‘x’ / 3",
        expect![[r#"
        g:1:1: error[syntax]: expected a rule, found `a`
          | a  ::= 'x'
          | ^
          help: a rule is written `name ::= expression`
        g:1:2: error[syntax]: unexpected character U+0000
          | a  ::= 'x'
          |  ^
          help: a grammar is UTF-8 text; this looks like a binary file or like UTF-16
        g:2:7: error[syntax]: unexpected character `<`
          | b ::= <c>
          |       ^
          help: a rule is written `name ::= expression`
        g:3:7: error[syntax]: unexpected character U+2018
          | c ::= ‘x’ / 3
          |       ^
          help: literals stand in straight quotes: `'...'` or `"..."`
    "#]],
    );
    check_errors(
        "a = 'x';\nb := 'y'\n",
        expect![[r#"
        g:1:1: error[syntax]: expected a rule, found `a`
          | a = 'x';
          | ^
          help: a rule is written `name ::= expression`
        g:1:3: error[syntax]: unexpected character `=`
          | a = 'x';
          |   ^
          help: a rule is written `name ::= expression`
    "#]],
    );
    check_errors(
        "a ::= b ::=\n::= 'x'",
        expect![[r#"
        g:2:1: error[syntax]: expected an item, found `::=`
          | ::= 'x'
          | ^^^
          help: a rule is written `name ::= expression`; names begin with a letter or `_`
    "#]],
    );
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth| format!("a ::= {}'x'{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(testing::errors(&Ebnf, &nested(200)), "\n");
    assert!(testing::errors(&Ebnf, &nested(201)).contains("too-deep"));
    // A repeated sequence nests by two: the sequence and the repetition.
    let repeated = |depth| format!("a ::= 'x'{}", "*".repeat(depth));
    assert_eq!(testing::errors(&Ebnf, &repeated(199)), "\n");
    check_errors(
        &format!("{}\nb ::= ?", repeated(200)),
        expect![[r#"
        g:1:7: error[too-deep]: this is nested more than 200 levels deep
          | a ::= 'x'***************************************************************************************************************
          |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: move the inner part into a rule of its own
        g:2:7: error[syntax]: there is nothing to repeat here
          | b ::= ?
          |       ^
          help: a repetition mark follows an item; as text it is in quotes, such as `'*'`
    "#]],
    );
    let mixed = |depth| format!("a ::= {}'x'{}", "('y' ".repeat(depth), ")*".repeat(depth));
    assert_eq!(testing::errors(&Ebnf, &mixed(99)), "\n");
    assert!(testing::errors(&Ebnf, &mixed(100)).contains("too-deep"));
}
