//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Gbnf;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Gbnf, text));
}

#[test]
fn the_notation() {
    check(
        "# a comment\nroot ::= object | # here, too\n  \"null\" ws*\r\nobject ::=\n \"{\" (\n  pair (\",\" pair)*\n  | \"\" ){0,1} \"}\"\n\
         pair ::= [a-z_]+ \":\" [^\"\\\\\\x7F\\x00-\\x1F]{2} [-a] [a-] [\\]\\[^] [^]  . # end\nws ::= [ \\t\\r\\n] | \
         \"\\x41\\u00e9\\U0001F600\\\\\\\"\\n\" {2,} | (\"a\" | b-2 | )? | <think>* {3}{1,2}\nb-2 ::= \"x\"{ 2 , 5 }",
        expect![[r#"
            %start root
            root ::= object | "null" ws*
            object ::= "{" (pair ("," pair)* | "")? "}"
            pair ::= [_a-z]+ ":" [#x20!#x23-\[\]-~#x80-#xD7FF#xE000-#x10FFFF]{2} [\-a] [\-a] [\[\]\^] [#x00-#xD7FF#xE000-#x10FFFF] [#x00-#xD7FF#xE000-#x10FFFF]
            ws ::= [#x09#x0A#x0D#x20] | "Aé\u{1F600}\\\"\n"{2,} | ("a" | b-2 | ())? | "<think>"*{3}{1,2}
            b-2 ::= "x"{2,5}
        "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "root ::= \"a\nb ::= [a-\n",
        expect![[r#"
        %start root
        root ::= ()
        g:1:10: error[syntax]: this text is not closed
          | root ::= "a
          |          ^
          help: close it with `"`
    "#]],
    );
    check(
        "root ::= a b )\na ::= (\"x\" | \"y\"\nb ::= \"\\q\" \"\\x4\" \"\\uD800\" \"\\U00110000\"\nc ::= [z-a] []\nd ::= \"x\"{3,1} \"x\"{a} \"x\"{\n\
         e ::= * \"x\"\nf = \"x\"\ng ::= 'x' <[12]> !<a> ! b\nh ::= a\nb c\ni ::= \"x\" <a\n",
        expect![[r#"
            %start root
            root ::= a b
            a ::= ()
            b ::= ()
            c ::= ()
            d ::= ()
            e ::= ()
            g ::= ()
            h ::= ()
            i ::= ()
            g:1:14: error[syntax]: expected a rule, found `)`
              | root ::= a b )
              |              ^
              help: a rule is written `name ::= item item | item` on a line; it goes on behind `|` and within `( )`
            g:2:7: error[syntax]: this `(` is not closed
              | a ::= ("x" | "y"
              |       ^
              note: g:3:1: `)` is missing before this
              help: close it with `)`
            g:3:8: error[syntax]: this escape is unknown
              | b ::= "\q" "\x4" "\uD800" "\U00110000"
              |        ^^
              help: the escapes are `\n`, `\r`, `\t`, `\\`, `\"`, `\[`, `\]`, `\x41`, `\u0041` and `\U00000041`
            g:4:8: error[syntax]: this is no range
              | c ::= [z-a] []
              |        ^^^
              help: a range is two characters in ascending order, up to U+10FFFF
            g:5:10: error[syntax]: this is no number of rounds
              | d ::= "x"{3,1} "x"{a} "x"{
              |          ^^^^^
              help: write `{2}`, `{2,}` or `{2,5}`, with numbers up to 4294967295
            g:6:7: error[syntax]: expected an item, found `*`
              | e ::= * "x"
              |       ^
              help: items are names, texts such as `"a"`, classes such as `[a-z]`, `.` and `( )`
            g:8:7: error[syntax]: unexpected `'`
              | g ::= 'x' <[12]> !<a> ! b
              |       ^
              help: items are names, texts such as `"a"`, classes such as `[a-z]`, `.` and `( )`
            g:10:1: error[syntax]: expected a rule, or `|`, found `b`
              | b c
              | ^
              help: a rule is written `name ::= item item | item` on a line; it goes on behind `|` and within `( )`
            g:11:11: error[syntax]: this token is not closed
              | i ::= "x" <a
              |           ^
              help: close it with `>`
        "#]],
    );
}

#[test]
fn without_rules_there_is_no_start() {
    check("", expect![[""]]);
    check("# nothing\n", expect![[""]]);
    check(
        "r ::= \"x\"",
        expect![[r#"
        %start root
        r ::= "x"
    "#]],
    );
}
