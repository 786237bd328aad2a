//! Snapshots of expressions and diagnostics.

use expect_test::{Expect, expect};

use crate::formats::regex::Regex;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Regex, text));
}

#[test]
fn expressions() {
    check(
        "^a(b|cd)*[x-z]+?(?:q{2,3}|r?)\\.$\n",
        expect![[r#"
        regex ::= "a" ("b" | "cd")* [x-z]+ ("q"{2,3} | "r"?) "."
        g:1:1: warning[not-context-free]: a non-greedy repetition is read as a greedy one
          | ^a(b|cd)*[x-z]+?(?:q{2,3}|r?)\.$
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: what it draws may hold what ends it; write out what it must not hold
    "#]],
    );
    check(
        r"\d\w\s\D[\d.\W]\p{Greek}[^a-z]\u{1F600}\x41\/",
        expect![[r#"
        regex ::= [0-9] [0-9A-Z_a-z] [#x09-#x0D#x20] [#x09#x0A#x20-/:-~] [#x09#x0A#x20-@\[-\^`{-~] [#x370-#x373#x375-#x377#x37A-#x37D#x37F#x384#x386#x388-#x38A#x38C#x38E-#x3A1#x3A3-#x3E1#x3F0-#x3FF#x1D26-#x1D2A#x1D5D-#x1D61#x1D66-#x1D6A#x1DBF#x1F00-#x1F15#x1F18-#x1F1D#x1F20-#x1F45#x1F48-#x1F4D#x1F50-#x1F57#x1F59#x1F5B#x1F5D#x1F5F-#x1F7D#x1F80-#x1FB4#x1FB6-#x1FC4#x1FC6-#x1FD3#x1FD6-#x1FDB#x1FDD-#x1FEF#x1FF2-#x1FF4#x1FF6-#x1FFE#x2126#xAB65#x10140-#x1018E#x101A0#x1D200-#x1D245] [#x09#x0A#x20-`{-~] "\u{1F600}A/"
    "#]],
    );
    check(
        r"(?i)ab(?-i)c.(?s).[[a-e]&&[^b]](?-u:\xFF)",
        expect![[r#"
        regex ::= [Aa] [Bb] "c" [#x09#x20-~] [#x09#x0A#x20-~] [ac-e] #bFF
    "#]],
    );
}

#[test]
fn non_greedy_repetitions_do_not_hold_what_ends_them() {
    check(
        r"/\*(.|\n)*?\*/",
        expect![[r#"
        regex ::= "/*" ([#x09#x0A#x20-)+-~] | [*] [#x09#x0A#x20-)+-.0-~])* "*/"
    "#]],
    );
    // A bound counts characters, not rounds of two.
    check(
        r"x.{2}?ab",
        expect![[r#"
        regex ::= "x" [#x09#x20-~]{2} "ab"
    "#]],
    );
    check(
        r"x.{1,3}?ab",
        expect![[r#"
        regex ::= "x" [#x09#x20-`b-~]{1,3} "ab"
    "#]],
    );
    check(
        r#"".*?"|<<.+?(?:>|!)x"#,
        expect![[r#"
        regex ::= "\"" [#x09#x20!#x23-~]* "\"" | "<<" [#x09#x20"-=?-~]+ [!>] "x"
    "#]],
    );
    check(
        r#""""[^a]*?""""#,
        expect![[r#"
        regex ::= "\"\"\"" ([#x09#x0A#x20!#x23-`b-~] | ["] [#x09#x0A#x20!#x23-`b-~])* "\"\"\""
    "#]],
    );
    check(
        r"(ab)*?c",
        expect![[r#"
        regex ::= "ab"* "c"
        g:1:1: warning[not-context-free]: a non-greedy repetition is read as a greedy one
          | (ab)*?c
          | ^^^^^^^
          help: what it draws may hold what ends it; write out what it must not hold
    "#]],
    );
}

#[test]
fn what_is_left_out_and_what_is_not_understood() {
    check(
        r"a(?!b[)]|(c))d\bx$y(?<=z)++",
        expect![[r#"
        regex ::= "a" "d" () "x" () "y" ()
        g:1:1: warning[not-context-free]: a word boundary inside of a regular expression is left out
          | a(?!b[)]|(c))d\bx$y(?<=z)++
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: a grammar cannot ask what stands beside; write it out where it matters
        g:1:1: warning[not-context-free]: an anchor inside of a regular expression is left out
          | a(?!b[)]|(c))d\bx$y(?<=z)++
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: a grammar cannot ask what stands beside; write it out where it matters
        g:1:1: warning[not-context-free]: a look-ahead or look-behind is left out
          | a(?!b[)]|(c))d\bx$y(?<=z)++
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: a grammar cannot look ahead or behind; write out what it excludes
    "#]],
    );
    check(
        r"(a)\1",
        expect![[r#"
        g:1:1: error[syntax]: this regular expression refers back to a group
          | (a)\1
          | ^^^^^
          help: a grammar cannot repeat what it has drawn; write the group again, or list the alternatives
    "#]],
    );
    check(
        "(a",
        expect![[r#"
        g:1:1: error[syntax]: this is no regular expression: unclosed group
          | (a
          | ^^
          help: regular expressions are those of Rust's `regex`; a backslash makes a sign stand for itself
    "#]],
    );
    check(
        r"[^\s\S]",
        expect![[r#"
        g:1:1: error[empty-class]: this class has no members
          | [^\s\S]
          | ^^^^^^^
          help: add a member, or remove what needs one
    "#]],
    );
    check(
        r"a\qb",
        expect![[r#"
        g:1:1: error[syntax]: this regular expression has an unknown escape, `\q`
          | a\qb
          | ^^^^
          help: escapes of letters have meanings; a letter itself needs no backslash
    "#]],
    );
    check(
        "a{1,2}{3}x{,}{}",
        expect![[r#"
        regex ::= "a"{1,2}{3} "x{,}{}"
    "#]],
    );
}

#[test]
fn counts_without_a_lower_bound() {
    check(
        r"a{,2}b{,}c{1,,2}d{2,}",
        expect![[r#"
        regex ::= "a"{0,2} "b{,}c{1,,2}" "d"{2,}
    "#]],
    );
}
